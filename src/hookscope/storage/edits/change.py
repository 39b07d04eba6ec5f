"""A Change: a file's bytes, name or permissions, before and after. Applied all or nothing, and reversible."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hookscope.model.failure import Refusal
from hookscope.model.hook import Edit
from hookscope.model.host import Host
from hookscope.model.machine import broken_link_error, is_within, read_or_none
from hookscope.model.text import error_reason
from hookscope.model.trust import is_folder_trusted
from hookscope.storage.edits.atomic_files import (
    NEW_MODE,
    OPEN_MODE,
    BeforeReplace,
    CannotWrite,
    ChangeError,
    Stale,
    WriteStep,
    change_mode,
    locked,
    mode_or_none,
    no_step,
    real_path,
    remove_file,
    rename_file,
    replace_file,
)
from hookscope.storage.edits.json5_edit import with_settings
from hookscope.storage.edits.pending_writes import read_settled, wait_until_written
from hookscope.values import dataclass

ANY_WRITE = 0o222


def check_replaceable(change: Change, real: Path) -> None:
    """Raise CannotWrite for a file that is read-only or has other names.

    The system would replace a read-only file in a writable folder. Replacing one of several hard links would
    leave the old text under the other names.
    """
    _check_folder_writable(change, real)
    if change.old is None or change.modes is not None or change.renamed_to is not None:
        return
    facts = os.stat(real)
    if not facts.st_mode & ANY_WRITE or not os.access(real, os.W_OK):
        raise CannotWrite(
            f"{change.path} is read-only. Nothing was written. `chmod u+w` on it allows the change."
        )
    if change.new is not None and facts.st_nlink > 1:
        raise CannotWrite(
            f"{change.path} has {facts.st_nlink} names (hard links), and replacing it would leave the others "
            "with the old text. Nothing was written. Make it a file of its own, or edit it by hand."
        )


def _check_folder_writable(change: Change, real: Path) -> None:
    """Raise CannotWrite for a read-only folder, even for root: the owner made it so on purpose."""
    folder = real.parent
    if os.path.isdir(folder) and not os.stat(folder).st_mode & ANY_WRITE:
        raise CannotWrite(
            f"{folder} is read-only. {change.path} was not written. "
            "`chmod u+w` on the folder allows the change."
        )


HUNK_LINE = re.compile(r"( [-+])(\d+)")  # in its first line
PATIENCE = 10.0  # seconds to wait for another of our processes, each of which takes milliseconds


@dataclass(frozen=True, slots=True)
class Change:
    """A planned change of files. Creating one writes nothing."""

    path: Path  # as its user names it; a link is followed only when it is written
    meaning: str
    old: bytes | None  # None: there is no such file
    new: bytes | None
    renamed_to: Path | None = None  # the file's new name, in the same folder; its bytes stay
    modes: tuple[int, int] | None = None  # its permission bits before and after; bytes are ignored
    other_changes: tuple[Change, ...] = ()  # other files: all are written, or none; undone together
    created_folders: tuple[Path, ...] = ()  # folders created with the files, and removed with them if empty
    is_code: bool = False  # the umask decides who may read a new file; else only its user

    @property
    def parts(self) -> tuple[Change, ...]:
        """The changes of single files, in order."""
        return (replace(self, other_changes=(), created_folders=()), *self.other_changes)

    @property
    def paths(self) -> frozenset[Path]:
        """The old and the new name of each file."""
        names = (name for part in self.parts for name in (part.path, part.renamed_to))
        return frozenset(name for name in names if name is not None)

    @property
    def is_noop(self) -> bool:
        """True if there is nothing to write."""
        if self.other_changes:
            return all(part.is_noop for part in self.parts)
        return (
            self.old == self.new
            and self.renamed_to is None
            and (self.modes is None or len(set(self.modes)) == 1)
        )

    def preview(self) -> str:
        """Return a unified diff; empty if nothing changes. It may contain control characters."""
        if self.other_changes:
            return "".join(part.preview() for part in self.parts)
        if self.is_noop:
            return ""
        if self.renamed_to is not None or self.modes is not None:
            return self._name_or_mode_diff()
        old, new = split_lines(self.old), split_lines(self.new)
        before, after = count_equal_ends(old, new)
        return self.diff(old[before : len(old) - after], new[before : len(new) - after], before)

    def diff(self, old: Sequence[str], new: Sequence[str], before: int) -> str:
        """Return a unified diff of these lines, which follow `before` equal lines."""
        name = self.path.name
        names = (
            ("/dev/null" if self.old is None else f"a/{name}"),
            ("/dev/null" if self.new is None else f"b/{name}"),
        )
        diff = difflib.unified_diff(old, new, *names, n=1)
        marked = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)
        return "".join(_moved_down(line, before) for line in marked)

    def _name_or_mode_diff(self) -> str:
        """Return a new name or new permissions in git's format."""
        new_path = self.renamed_to or self.path
        lines = [f"--- a/{self.path.name}", f"+++ b/{new_path.name}"]
        if self.renamed_to is not None:
            lines += [f"rename from {self.path.name}", f"rename to {new_path.name}"]
        if self.modes is not None:
            lines += [f"{word} mode {mode:o}" for word, mode in zip(("old", "new"), self.modes, strict=True)]
        return "\n".join(lines) + "\n"

    def undo(self) -> Change:
        """Return the reverse of this change."""
        if self.other_changes:
            first, *rest = (part.undo() for part in reversed(self.parts))
            return replace(
                first,
                meaning=f"undo: {self.meaning}",
                other_changes=tuple(rest),
                created_folders=self.created_folders,
            )
        meaning, modes = f"undo: {self.meaning}", self.modes[::-1] if self.modes else None
        if self.renamed_to is not None:
            return Change(self.renamed_to, meaning, self.new, self.old, renamed_to=self.path)
        return Change(
            self.path, meaning, old=self.new, new=self.old, modes=modes, created_folders=self.created_folders
        )


@dataclass(frozen=True, slots=True)
class Applied:
    """A change that is on disk."""

    in_place: bool = False  # written into the existing file, which a crash could have damaged


def change_of(file: Path, edits: Sequence[Edit]) -> Change:
    """Return the change that several edits, applied in order, make to a file.

    Raises:
        CannotEdit: an edit does not fit the file's content.
        CannotWrite: the file cannot be read, or another program is writing it.
        ValueError: an edit is for another file.
    """
    if other := [edit.file for edit in edits if edit.file != file]:
        raise ValueError(f"an edit is for {other[0]}, not for {file}")
    old = read_settled(file)
    return Change(file.absolute(), ", ".join(edit.meaning for edit in edits), old, with_settings(old, edits))


def combined_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return the changes in order, with several changes of one file's bytes combined."""
    kept: list[Change] = []
    last: dict[Path, int] = {}  # the index of the last change of each path
    for change in changes:
        before = kept[last[change.path]] if change.path in last else None
        if before is not None and _is_plain(change) and _is_plain(before):
            meaning = f"{before.meaning}, {change.meaning}"
            kept[last[change.path]] = Change(change.path, meaning, before.old, change.new)
        else:
            last |= dict.fromkeys(change.paths, len(kept))
            kept.append(change)
    return tuple(change for change in kept if not change.is_noop)


def _is_plain(change: Change) -> bool:
    return change.renamed_to is None and change.modes is None and not change.other_changes


def read_current(file: Path) -> bytes | None:
    """Return a file's bytes, through links; None if it does not exist. Raises CannotWrite if unreadable."""
    try:
        return read_or_none(file)
    except OSError as error:
        raise CannotWrite(f"Cannot read {file}: {_reason(error, file)}. Nothing was written.") from None


def apply_change(change: Change, *, timeout: float = PATIENCE, step: WriteStep = no_step) -> Applied:
    """Write the change, or raise and leave the file unchanged.

    A link stays a link: its target is written. Missing folders are created for a new file. Other programs do
    not take our lock, so the file is read again right before it is replaced. If the system can exchange two
    files, the replaced file is read again, and put back if another program has changed it. Elsewhere a change
    made in the microseconds between the two can be lost.

    Args:
        timeout: seconds to wait for the lock.
        step: called before each step; for tests.

    Raises:
        Stale: the content of the file is not `change.old`.
        CannotWrite: the system refuses, or the lock is not available in time.
    """
    if change.other_changes or change.created_folders:
        return _apply_together(change, timeout, step)
    real = real_path(change.path) if change.renamed_to is None else change.path  # a link is renamed itself

    def check(at: Path) -> None:
        wait_until_written(at)
        if not _is_before(change, at):
            raise Stale(
                f"{change.path} has changed since it was read; nothing was written. Check it and try again."
            )

    try:
        if (error := broken_link_error(change.path)) is not None and change.renamed_to is None:
            raise error
        check(real)
        if change.is_noop:
            return Applied()
        check_replaceable(change, real)
        if change.old is None:
            real.parent.mkdir(parents=True, exist_ok=True)
        with locked(real, timeout):
            return Applied(_write(change, real, check, step))
    except OSError as error:
        why = _reason(error, change.path)
        raise CannotWrite(f"Cannot write {change.path}: {why}. Nothing was written.") from error


def _write(change: Change, real: Path, check: BeforeReplace, step: WriteStep) -> bool:
    """Rename, change, remove or replace the file; `check` is called last. Return True if written in place."""
    if change.renamed_to is not None:
        rename_file(real, change.renamed_to, check=check, step=step)
    elif change.modes is not None:
        change_mode(real, change.modes[1], check=check, step=step)
    elif change.new is None:
        remove_file(real, check=check, step=step)
    else:
        mode = OPEN_MODE if change.is_code and change.old is None else NEW_MODE
        return replace_file(real, change.new, mode=mode, check=check, step=step)
    return False


def _apply_together(change: Change, timeout: float, step: WriteStep) -> Applied:
    """Apply every part or none: parts already written are reverted if a later one fails."""
    done: list[Change] = []
    in_place = False
    try:
        for part in change.parts:
            if not is_applied(part.undo()):  # write no part if another cannot be written
                raise Stale(f"{part.path} has changed since it was read; nothing was written.")
        for part in change.parts:
            in_place = apply_change(part, timeout=timeout, step=step).in_place or in_place
            done.append(part)
    except BaseException:
        for part in reversed(done):
            with suppress(ChangeError):
                apply_change(part.undo(), timeout=timeout)
        raise
    finally:
        remove_empty(change.created_folders)  # folders with new files stay
    return Applied(in_place)


def is_applied(change: Change) -> bool:
    """Return whether each file is as this change left it. Raises CannotWrite if one cannot be read."""
    if change.other_changes:
        return all(is_applied(part) for part in change.parts)
    try:
        return _is_before(change.undo(), real_path(change.renamed_to or change.path))
    except OSError as error:
        raise CannotWrite(
            f"Cannot read {change.path}: {_reason(error, change.path)}. Nothing was written."
        ) from None


def _is_before(change: Change, real: Path) -> bool:
    if change.modes is not None:
        return mode_or_none(real) == change.modes[0]
    is_name_taken = change.renamed_to is not None and os.path.lexists(change.renamed_to)
    limit = len(change.old) + 1 if change.old is not None else 1
    return not is_name_taken and read_or_none(real, limit) == change.old


def missing_folders(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the missing folders above these paths, highest first."""
    above = {folder for path in paths for folder in path.parents}
    return tuple(sorted(folder for folder in above if not os.path.lexists(folder)))


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove each of these folders that is empty, deepest first. Failures are ignored."""
    for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()


def _reason(error: OSError, named: Path) -> str:
    """Return the system's reason, with the file of the error unless that is `named`."""
    other = error.filename and str(error.filename) != str(named)
    return error_reason(error) + (f" ({error.filename})" if other else "")


def split_lines(side: bytes | str | None) -> list[str]:
    """Return lines as editors do: only a line feed ends one."""
    text = side if isinstance(side, str) else (side or b"").decode("utf-8", "replace")
    return [line + "\n" for line in text.split("\n")[:-1]] + [last for last in text.split("\n")[-1:] if last]


def count_equal_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many equal lines a diff omits at the beginning, and how many at the end."""
    most = min(len(old), len(new))
    before = next((at for at in range(most) if old[at] != new[at]), most)
    most -= before
    behind = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    return max(before - 1, 0), max(behind - 1, 0)  # one is shown beside a change


def _moved_down(line: str, offset: int) -> str:
    """Return a diff line; in the header of a hunk, `offset` is added to the line numbers."""
    return (
        HUNK_LINE.sub(lambda match: f"{match[1]}{int(match[2]) + offset}", line)
        if line.startswith("@@ ")
        else line
    )


WriteChange = Callable[[Change], None]  # applies it, or raises Refusal


def check_links(changes: Iterable[Change], host: Host) -> None:
    """Raise Refusal if a link in the workspace leads a file out of the workspace, to an untrusted folder.

    The link's author may be somebody else. The question before a folder is trusted names the real folder.
    """
    workspace = real_path(host.workspace)
    for path in (path for change in changes for path in change.paths):
        real = real_path(path)
        if not is_within(path, host.workspace) or is_within(real, workspace):
            continue
        if not is_folder_trusted(real.parent, host):
            raise Refusal(
                f"{host.machine.short(path)} leads out of the workspace, to {real}. Nothing was written.",
                "Use the path in that folder, or `hookscope trust` the folder, so that links may lead there.",
            )


def write_user_file(change: Change) -> None:
    """Apply a change. Raises Refusal, with the file unchanged."""
    try:
        apply_change(change)
    except ChangeError as error:
        raise Refusal(str(error)) from None

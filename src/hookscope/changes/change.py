"""A Change: one file's bytes before and after. Seen as a diff, applied once, undone by its mirror image."""

import difflib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from hookscope.core.hooks import Edit

from .errors import CannotWrite, Stale
from .files import Step, locked, no_step, read_or_none, real_path, remove_file, replace_file
from .settings_edit import edited_all

PATIENCE = 10.0  # seconds to wait for another of our processes, each of which takes milliseconds


@dataclass(frozen=True, slots=True)
class Change:
    """What would be written where. Making one writes nothing."""

    path: Path  # as its user names it; a link is followed only when it is written
    meaning: str
    old: bytes | None  # None: there is no such file
    new: bytes | None

    def preview(self) -> str:
        """The change as a unified diff; empty where nothing changes. It is foreign text, controls and all."""
        before = "/dev/null" if self.old is None else f"a/{self.path.name}"
        after = "/dev/null" if self.new is None else f"b/{self.path.name}"
        diff = difflib.unified_diff(_lines(self.old), _lines(self.new), before, after, n=1)
        marked = (line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff)
        return "".join(marked)

    def undo(self) -> "Change":
        """The same change the other way round."""
        return Change(self.path, f"undo: {self.meaning}", old=self.new, new=self.old)


@dataclass(frozen=True, slots=True)
class Applied:
    """A change is on disk."""

    in_place: bool = False  # written into the file that was there: a crash in between could have damaged it


def change_of(file: Path, edits: Sequence[Edit]) -> Change:
    """What several edits make of a file as it is now, the one after the other.

    Raises:
        CannotEdit: the file has something where an edit does not fit.
        CannotWrite: it cannot be read.
        ValueError: an edit is of another file.
    """
    if other := [edit.file for edit in edits if edit.file != file]:
        raise ValueError(f"an edit of {other[0]} is none of {file}")
    old = read_now(file)
    return Change(file.absolute(), ", ".join(edit.meaning for edit in edits), old, edited_all(old, edits))


def read_now(file: Path) -> bytes | None:
    """The bytes of a user's file, links followed; None where there is none.

    Raises CannotWrite where the system does not let us read it.
    """
    try:
        return read_or_none(file)
    except OSError as error:
        raise CannotWrite(f"Cannot read {file}: {_why(error)}. Nothing was written.") from None


def apply(
    change: Change, *, patience: float = PATIENCE, step: Step = no_step, lock: Path | None = None
) -> Applied:
    """Write the change, or raise and leave the file as it is.

    A link stays a link: what it leads to is written. Missing folders are made for a file that is new.
    Others do not take our lock, so the file is read again right before it is replaced; an edit of theirs in
    the microseconds after that could be lost.

    Args:
        patience: seconds to wait for the lock.
        step: called before each of `files.STEPS`; for tests.
        lock: the file of the lock, where none may stay beside the file: its folder is to be left as it was.

    Raises:
        Stale: the file is not `change.old`.
        CannotWrite: the system does not allow it, or the lock is not given in time.
    """
    real = real_path(change.path)

    def check() -> None:
        if read_or_none(real) != change.old:
            raise Stale(
                f"{change.path} has changed since it was read; nothing was written. Look at it and try again."
            )

    try:
        check()  # before anything is made beside it
        if change.new == change.old:
            return Applied()
        if change.old is None:
            real.parent.mkdir(parents=True, exist_ok=True)
        with locked(real, patience, lock):
            if change.new is None:
                remove_file(real, check=check, step=step)
                return Applied()
            return Applied(replace_file(real, change.new, check=check, step=step))
    except OSError as error:
        raise CannotWrite(
            f"Cannot write {change.path}: {_why(error)}. The preview shows what to change by hand."
        ) from error


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove those of these folders that are empty, deepest first. One that is not, or cannot be, stays."""
    for folder in sorted(folders, key=lambda folder: len(folder.parts), reverse=True):
        with suppress(OSError):
            folder.rmdir()


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower() + (f" ({error.filename})" if error.filename else "")


def _lines(side: bytes | None) -> list[str]:
    """Lines as editors see them: only a line feed ends one."""
    text = (side or b"").decode("utf-8", "replace")
    return [line + "\n" for line in text.split("\n")[:-1]] + [last for last in text.split("\n")[-1:] if last]

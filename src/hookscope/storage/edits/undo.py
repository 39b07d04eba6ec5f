"""The undo stack: the last changes, newest last, kept in files so that a later process can undo them."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.formats.positions import KeyPath
from hookscope.model.machine import path_from_text, path_to_text, read_or_none
from hookscope.model.text import error_reason
from hookscope.storage.edits.atomic_files import CannotEdit, CannotWrite, locked, replace_file
from hookscope.storage.edits.change import PATIENCE, Applied, Change, apply_change, is_applied, read_current
from hookscope.storage.edits.document_values import MISSING, child_of, is_identical
from hookscope.storage.edits.json5_edit import parse_settings, with_setting, without_setting
from hookscope.storage.edits.pending_writes import read_settled
from hookscope.values import dataclass

MOST_KEPT = 50  # changes
TEXTS = (".md", ".yaml", ".yml")  # files whose lines are restored; in all others, values are


@dataclass(frozen=True, slots=True)
class UndoStack:
    """The last changes, each a numbered JSON file in one folder. Safe for several processes.

    Unreadable files are skipped, and returned by `newest`. The files contain whole settings, so only their
    user may read them.
    """

    folder: Path

    def push(self, change: Change) -> None:
        """Store an applied change. Raises CannotWrite if that fails."""
        with _recording(self.folder):
            files = _files_oldest_first(self.folder)
            number = _number(files[-1]) + 1 if files else 1
            replace_file(self.folder / f"{number}.json", _stored(change))
            for oldest in files[: 1 - MOST_KEPT]:
                oldest.unlink()

    def peek(self) -> Change | None:
        """Return the newest change as applied: `.undo().preview()` shows its undo."""
        return self.newest()[0]

    def newest(self) -> tuple[Change | None, tuple[Path, ...]]:
        """Return the newest readable change, and the unreadable files of newer ones."""
        unreadable: list[Path] = []
        for file, change in _newest_first(self.folder):
            if change is not None:
                return change, tuple(unreadable)
            unreadable.append(file)
        return None, tuple(unreadable)

    def undo(self, change: Change, inverse: Change | None = None) -> Applied:
        """Undo a stored change, and forget it. Callers pass the change from `peek` that they showed.

        Raises Stale, and keeps the change, if its file has changed since. `inverse` replaces the plain
        reverse: the result of `inverse_change`, confirmed by the user.
        """
        applied = apply_change(inverse or change.undo())
        self.forget(change)
        return applied

    def forget(self, change: Change) -> None:
        """Drop the newest stored change that equals this one."""
        with _recording(self.folder):
            equal = (file for file, other in _newest_first(self.folder) if other == change)
            if file := next(equal, None):
                file.unlink()


def inverse_change(change: Change) -> Change:
    """Return the undo of a change in a file that has changed since. Other programs' changes stay.

    If nothing of the change is left, `old` and `new` are equal.

    Raises:
        CannotEdit: the result is ambiguous, or the file is gone.
        CannotWrite: the file cannot be read.
    """
    meaning = f"undo: {change.meaning}"
    if change.other_changes:
        if is_applied(change.undo()):
            return Change(change.path, meaning, None, None)
        made = (part.path for part in change.parts if part.old is None and not is_applied(part))
        if (other := next(made, None)) is not None:
            raise CannotEdit(f"{other} has changed since that edit; nothing was undone")
        first, *others = (
            part.undo() if is_applied(part) else inverse_change(part) for part in reversed(change.parts)
        )
        return replace(
            first, meaning=meaning, other_changes=tuple(others), created_folders=change.created_folders
        )
    if change.renamed_to is not None or change.modes is not None:
        raise CannotEdit(f"{change.renamed_to or change.path} has changed since that edit: nothing is undone")
    now = read_current(change.path) if change.path.suffix.lower() in TEXTS else read_settled(change.path)
    if now is None and change.old is None:
        return Change(change.path, meaning, None, None)
    if now is None or change.new is None:
        raise CannotEdit(f"{change.path} does not exist, or the change removed it")
    if change.path.suffix.lower() in TEXTS:
        if change.old is None:
            raise CannotEdit(f"{change.path} has changed since it was created; nothing was undone")
        return Change(change.path, meaning, now, _with_old_lines(now, change.old, change.new))
    old, new, present = (parse_settings(side or b"") for side in (change.old, change.new, now))
    return Change(change.path, meaning, now, _with_old_values(now, (), old, new, present))


def _with_old_lines(now: bytes, old: bytes, new: bytes) -> bytes:
    """Return the text with its old lines, if the new ones occur exactly once."""
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    head = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    ours = b"".join(after[head : len(after) - tail])
    if not ours or now.count(ours) != 1:
        raise CannotEdit("The changed lines are no longer in the file, or occur more than once")
    return now.replace(ours, b"".join(before[head : len(before) - tail]))


def _with_old_values(source: bytes, path: KeyPath, old: object, new: object, current: object) -> bytes:
    """Return the source with the old values at or below `path`, where the change's values are unchanged."""
    if is_identical(old, new):
        return source
    if is_identical(current, new) and old is MISSING:  # an object that the change added, still unchanged
        return without_setting(source, path)
    if isinstance(new, dict) and isinstance(current, dict) and (old is MISSING or isinstance(old, dict)):
        for key in {**new, **(old if isinstance(old, dict) else {})}:
            parts = (child_of(side, key) for side in (old, new, current))
            source = _with_old_values(source, (*path, key), *parts)
        return source
    return with_setting(source, path, old) if is_identical(current, new) else source


# The files


@contextmanager
def _recording(folder: Path) -> Iterator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder / "stack", PATIENCE):
            yield
    except OSError as error:
        raise CannotWrite(
            f"Cannot record the change in {folder}: {error_reason(error)}. "
            "Set HOOKSCOPE_STATE_DIR to a folder that can be written."
        ) from error


def _files_oldest_first(folder: Path) -> list[Path]:
    return sorted((file for file in folder.glob("*.json") if file.stem.isdecimal()), key=_number)


def _number(file: Path) -> int:
    return int(file.stem)


def _newest_first(folder: Path) -> Iterator[tuple[Path, Change | None]]:
    """Yield every file with its change; None if it is damaged or unreadable."""
    for file in reversed(_files_oldest_first(folder)):
        try:
            stored = read_or_none(file)
            change = None if stored is None else _loaded(json.loads(stored))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            yield file, None
        else:
            if change is not None:  # else another process has just undone it
                yield file, change


def _stored(change: Change) -> bytes:
    return json.dumps(_entry(change), indent=2).encode() + b"\n"


def _entry(change: Change) -> dict[str, Any]:
    old, new = (None if side is None else b64encode(side).decode() for side in (change.old, change.new))
    entry: dict[str, Any] = {
        "path": path_to_text(change.path),
        "meaning": change.meaning,
        "old": old,
        "new": new,
    }
    if change.renamed_to is not None:
        entry["to"] = path_to_text(change.renamed_to)
    if change.modes is not None:
        entry["modes"] = list(change.modes)
    if change.other_changes:
        entry["more"] = [_entry(part) for part in change.other_changes]
    if change.created_folders:
        entry["made"] = [path_to_text(folder) for folder in change.created_folders]
    return entry


def _loaded(entry: Mapping[str, Any]) -> Change:
    """Return a stored change. Raises ValueError, KeyError or TypeError for an invalid document."""
    old, new = (None if side is None else b64decode(side) for side in (entry["old"], entry["new"]))
    to, modes = entry.get("to"), entry.get("modes")
    return Change(
        path_from_text(entry["path"]),
        str(entry["meaning"]),
        old,
        new,
        renamed_to=None if to is None else path_from_text(to),
        modes=None if modes is None else (int(modes[0]), int(modes[1])),
        other_changes=tuple(_loaded(part) for part in entry.get("more", ())),
        created_folders=tuple(path_from_text(folder) for folder in entry.get("made", ())),
    )

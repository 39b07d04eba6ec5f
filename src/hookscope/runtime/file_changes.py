"""Changes of copied files as bounded diffs, and changes of their originals."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import Literal

from hookscope.model.run import FileChange, TouchedFile
from hookscope.model.run import OriginalsCheck as Compared
from hookscope.values import dataclass

MAX_SCANNED = 200_000  # files and folders; a handler may create any number
MAX_LISTED = 200
MAX_DIFF_SIZE = 64 * 1024  # bytes of a file that is shown as a diff
READ_SIZE = 1024 * 1024  # bytes read at once
MAX_DIFF_LINES = 1_000  # lines of such a file: the time of a diff grows with their square


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Identifies a file's content: equal fingerprints, equal content."""

    size: int
    digest: bytes = b""  # empty for a link, a device, a socket, a pipe
    link: str | None = None  # the target of a link


@dataclass(frozen=True, slots=True)
class CopyChanges:
    """The changes to the copies, in order of their paths."""

    listed: tuple[FileChange, ...] = ()
    more: int = 0  # changes that are not listed
    unreadable: int = 0  # folders that were not or not fully read: more may have changed


@dataclass(frozen=True, slots=True)
class _CopyScan:
    files: dict[str, os.stat_result]
    unreadable: int


def open_regular_file(path: str) -> BufferedReader:
    """Open a regular file. Raises OSError for a link or anything else; never waits for a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is no longer a regular file")
    return os.fdopen(descriptor, "rb")


def fingerprint_of(path: str, status: os.stat_result) -> Fingerprint:
    """Return the fingerprint of a path. Raises OSError if it is unreadable."""
    if stat.S_ISLNK(status.st_mode):
        return Fingerprint(status.st_size, link=os.readlink(path))
    if not stat.S_ISREG(status.st_mode):
        return Fingerprint(0)
    digest = sha256()
    with open_regular_file(path) as file:
        while portion := file.read(READ_SIZE):
            digest.update(portion)
    return Fingerprint(status.st_size, digest.digest())


def changes_since(
    areas: Sequence[str], fingerprints: Mapping[str, Fingerprint], original_of: Callable[[str], str]
) -> CopyChanges:
    """Return how the copies differ from the fingerprints in size and content. Modes and times are ignored.

    Files without a fingerprint count as written. Unreadable copies are made readable. Never raises because
    of a file.
    """
    found = _scan_copies(areas)
    kinds: dict[str, Literal["written", "changed", "deleted"]] = {}
    for path, status in found.files.items():
        if (known := fingerprints.get(path)) is None:
            kinds[path] = "written"
        elif _differs(path, status, known):
            kinds[path] = "changed"
    for path in fingerprints.keys() - found.files.keys():
        if not found.unreadable or not os.path.lexists(path):  # else it may be in an unread folder
            kinds[path] = "deleted"
    ordered = sorted((original_of(path).split("/"), path) for path in kinds)  # as paths are ordered
    listed = tuple(
        _file_change(
            Path("/".join(original)),
            path,
            kinds[path],
            fingerprints.get(path),
            found.files.get(path),
            original_of,
        )
        for original, path in ordered[:MAX_LISTED]
    )
    return CopyChanges(listed, len(ordered) - len(listed), found.unreadable)


def _scan_copies(areas: Sequence[str]) -> _CopyScan:
    """Return everything except folders, with its status. Links are not followed."""
    files: dict[str, os.stat_result] = {}
    waiting, looked, unseen = list(areas), 0, 0
    while waiting:
        if looked > MAX_SCANNED:
            return _CopyScan(files, unseen + len(waiting))
        folder = waiting.pop()
        try:
            make_readable(folder)
            with os.scandir(folder) as listing:
                for entry in listing:
                    looked += 1
                    if looked > MAX_SCANNED:
                        unseen += 1
                        break
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        files[entry.path] = entry.stat(follow_symlinks=False)
        except OSError:  # the path is too long, or a process still changes it
            unseen += 1
    return _CopyScan(files, unseen)


def make_readable(path: str, *, dir_fd: int | None = None) -> None:
    """Make a file readable for its owner, or a folder readable and writable. Raises OSError.

    A sufficient mode is not set again, because that would count as a change to a handler's folder.
    """
    mode = os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_mode
    wanted = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
    if not stat.S_ISLNK(mode) and mode & wanted != wanted:
        os.chmod(path, stat.S_IMODE(mode) | wanted, dir_fd=dir_fd)


def _differs(path: str, status: os.stat_result, known: Fingerprint) -> bool:
    if status.st_size != known.size:
        return True
    try:
        if stat.S_ISREG(status.st_mode):
            make_readable(path)
        return fingerprint_of(path, status) != known
    except OSError:
        return True


def _file_change(
    original: Path,
    path: str,
    kind: Literal["written", "changed", "deleted"],
    known: Fingerprint | None,
    status: os.stat_result | None,
    original_of: Callable[[str], str],
) -> FileChange:
    before = _text_before(original, known) if known else ""
    after = _text_after(path, status) if status else ""
    names = (f"a/{original.name}" if known else "/dev/null", f"b/{original.name}" if status else "/dev/null")
    diff = "" if before is None or after is None else _diff(before, after, *names)
    return FileChange(
        original,
        kind,
        before=known.size if known else None,
        after=status.st_size if status else None,
        diff=original_of(diff),
        digest=_digest(path, status) if status else "",
    )


def _digest(path: str, status: os.stat_result) -> str:
    """Return a hash that also distinguishes binary files of equal size."""
    if not stat.S_ISREG(status.st_mode):
        return ""
    try:
        make_readable(path)
        return fingerprint_of(path, status).digest.hex()
    except OSError:
        return ""


def _text_before(original: Path, known: Fingerprint) -> str | None:
    """Return the text that was copied, read from the original; None if it has changed or is not text."""
    if known.link is not None:
        return known.link
    content = _content(str(original), known.size)
    return _text(content) if content is not None and sha256(content).digest() == known.digest else None


def _text_after(path: str, status: os.stat_result) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        with suppress(OSError):
            return os.readlink(path)
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    with suppress(OSError):
        make_readable(path)
    content = _content(path, status.st_size)
    return None if content is None else _text(content)


def _content(path: str, size: int) -> bytes | None:
    if size > MAX_DIFF_SIZE:
        return None
    try:
        with open_regular_file(path) as file:
            return file.read(MAX_DIFF_SIZE)
    except OSError:
        return None


def _text(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text or text.count("\n") > MAX_DIFF_LINES else text


def _diff(before: str, after: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(_lines(before), _lines(after), old, new, n=1)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Split a text into lines as editors do: only a line feed ends a line."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


MAX_LISTED_ORIGINALS = 50


@dataclass(frozen=True, slots=True)
class _FileState:
    """The state of a file. Equal states mean equal content: nothing can set the change time back."""

    mode: int
    node: int
    size: int = 0
    written: int = 0  # nanoseconds
    changed: int = 0

    @classmethod
    def of(cls, status: os.stat_result) -> _FileState:
        """Return the state. For a folder, size and times are ignored: its names are compared instead."""
        if stat.S_ISDIR(status.st_mode):
            return cls(status.st_mode, status.st_ino)
        times = status.st_mtime_ns, status.st_ctime_ns
        return cls(status.st_mode, status.st_ino, status.st_size, *times)


class OriginalsWatch:
    """The files, links and folders that were seen while copying, except `excluded`."""

    def __init__(self, excluded: Collection[str]) -> None:
        self._excluded = tuple(excluded)
        self._states: dict[str, _FileState] = {}
        self._folder_names: dict[
            str, tuple[int, frozenset[str]]
        ] = {}  # folder → its change time, names in it

    def add(self, path: str, status: os.stat_result) -> None:
        """Note the state of a file, a link or a folder."""
        self._states[path] = _FileState.of(status)

    def add_folder(self, path: str, status: os.stat_result, names: Sequence[str]) -> None:
        """Note all names in a folder. `status` was read before them."""
        self._folder_names[path] = status.st_ctime_ns, frozenset(names)

    def compare(self, user_path: Callable[[str], str]) -> Compared:
        """Compare all noted files with the disk. `user_path` returns a path as the user wrote it."""
        changed = sorted(self._changed())
        listed = tuple(
            TouchedFile(Path(user_path(path)), kind) for path, kind in changed[:MAX_LISTED_ORIGINALS]
        )
        return Compared(len(self._states), listed, len(changed) - len(listed))

    def _changed(self) -> Iterator[tuple[str, Literal["written", "changed", "deleted"]]]:
        for path, then in self._states.items():
            try:
                now = _FileState.of(os.lstat(path))
            except FileNotFoundError:
                yield path, "deleted"
            except OSError:
                yield path, "changed"
            else:
                if now != then:
                    yield path, "changed"
        for folder in self._folder_names:
            yield from ((path, "written") for path in self._new_paths(folder))

    def _new_paths(self, folder: str) -> Iterator[str]:
        then, names = self._folder_names[folder]
        try:
            if os.lstat(folder).st_ctime_ns == then:
                return
            now = os.listdir(folder)
        except OSError:  # `_changed` has reported the folder, if it was noted
            return
        yield from (
            path for name in now if name not in names and self._is_watched(path := f"{folder}/{name}")
        )

    def _is_watched(self, path: str) -> bool:
        """Return True unless the path is an excluded folder, or a folder above one."""
        return not any(ours == path or ours.startswith(f"{path}/") for ours in self._excluded)

"""What became of copied files: which were written, changed and deleted, as diffs within bounds."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from io import BufferedReader
from pathlib import Path
from typing import Literal

from hookscope.core.copies import FileChange
from hookscope.values import dataclass

LOOKED_AT = 200_000  # files and folders; a handler can make more than anybody can wait for
LISTED = 200
TEXT = 64 * 1024  # bytes of a file that has a diff
PORTION = 1024 * 1024  # bytes read at once
LINES = 1_000  # of it: the time of a diff grows with their square


@dataclass(frozen=True, slots=True)
class Print:
    """What stands for the content of a file: equal prints, equal content."""

    size: int
    digest: bytes = b""  # empty for a link, a device, a socket, a pipe
    link: str | None = None  # where a link leads


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes in order of their paths."""

    listed: tuple[FileChange, ...] = ()
    more: int = 0  # changes that are not listed
    unseen: int = 0  # folders that could not be looked into, or were too many: more may have changed


@dataclass(frozen=True, slots=True)
class _Found:
    files: dict[str, os.stat_result]
    unseen: int


def open_file(path: str) -> BufferedReader:
    """A file to read. Raises OSError for a link and for what is no file; never waits for a pipe."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("no file any more")
    return os.fdopen(descriptor, "rb")


def print_of(path: str, status: os.stat_result) -> Print:
    """The print of what lies there. Raises OSError where it cannot be read."""
    if stat.S_ISLNK(status.st_mode):
        return Print(status.st_size, link=os.readlink(path))
    if not stat.S_ISREG(status.st_mode):
        return Print(0)
    digest = sha256()
    with open_file(path) as file:
        while portion := file.read(PORTION):
            digest.update(portion)
    return Print(status.st_size, digest.digest())


def changes_of(
    areas: Sequence[str], prints: Mapping[str, Print], original_of: Callable[[str], str]
) -> Changes:
    """What differs from the prints, by size and content; modes and times do not count.

    The mode of what cannot be read is changed: these are copies. Files that are new beside the prints are
    written ones. Never raises for what lies there.
    """
    found = _look(areas)
    kinds: dict[str, Literal["written", "changed", "deleted"]] = {}
    for path, status in found.files.items():
        if (known := prints.get(path)) is None:
            kinds[path] = "written"
        elif _differs(path, status, known):
            kinds[path] = "changed"
    for path in prints.keys() - found.files.keys():
        if not found.unseen or not os.path.lexists(path):  # else it may be among the unseen
            kinds[path] = "deleted"
    ordered = sorted((original_of(path).split("/"), path) for path in kinds)  # as paths are ordered
    listed = tuple(
        _change(
            Path("/".join(original)), path, kinds[path], prints.get(path), found.files.get(path), original_of
        )
        for original, path in ordered[:LISTED]
    )
    return Changes(listed, len(ordered) - len(listed), found.unseen)


def _look(areas: Sequence[str]) -> _Found:
    """All that is no folder, with its status. Links are not followed."""
    files: dict[str, os.stat_result] = {}
    waiting, looked, unseen = list(areas), 0, 0
    while waiting:
        if looked > LOOKED_AT:
            return _Found(files, unseen + len(waiting))
        folder = waiting.pop()
        try:
            make_readable(folder)
            with os.scandir(folder) as listing:
                for entry in listing:
                    looked += 1
                    if looked > LOOKED_AT:
                        unseen += 1
                        break
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        files[entry.path] = entry.stat(follow_symlinks=False)
        except OSError:  # its path is too long, or somebody is still at work here
            unseen += 1
    return _Found(files, unseen)


def make_readable(path: str, *, dir_fd: int | None = None) -> None:
    """Let its user read a file of theirs; a folder, list and empty it. Raises OSError.

    What can be read already is not touched: a handler's folder would count as changed.
    """
    mode = os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_mode
    wanted = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
    if not stat.S_ISLNK(mode) and mode & wanted != wanted:
        os.chmod(path, stat.S_IMODE(mode) | wanted, dir_fd=dir_fd)


def _differs(path: str, status: os.stat_result, known: Print) -> bool:
    if status.st_size != known.size:
        return True
    try:
        if stat.S_ISREG(status.st_mode):
            make_readable(path)
        return print_of(path, status) != known
    except OSError:
        return True


def _change(
    original: Path,
    path: str,
    kind: Literal["written", "changed", "deleted"],
    known: Print | None,
    status: os.stat_result | None,
    original_of: Callable[[str], str],
) -> FileChange:
    before = _text_before(original, known) if known else ""
    after = _text_after(path, status) if status else ""
    names = (
        f"a/{original.name}" if known else "/dev/null",
        f"b/{original.name}" if status else "/dev/null",
    )
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
    """Also tells apart what is as long as before, and no text."""
    if not stat.S_ISREG(status.st_mode):
        return ""
    try:
        make_readable(path)
        return print_of(path, status).digest.hex()
    except OSError:
        return ""


def _text_before(original: Path, known: Print) -> str | None:
    """The text that was copied, from the original: it is taken only while it still is that text."""
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
    if size > TEXT:
        return None
    try:
        with open_file(path) as file:
            return file.read(TEXT)
    except OSError:
        return None


def _text(content: bytes) -> str | None:
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text or text.count("\n") > LINES else text


def _diff(before: str, after: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(_lines(before), _lines(after), old, new, n=1)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _lines(text: str) -> list[str]:
    """Lines as editors see them: only a line feed ends one."""
    *whole, last = text.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])

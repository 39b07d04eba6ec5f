"""The machine as rules see it. Knows no host; the only file of core that touches the disk.

Everything that decides about hooks reads the world through `Surroundings`: so an assumed world
(what-if) needs no rules of its own, and a test can say what the world is.
"""

import errno
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import NamedTuple, Protocol

from hookscope.values import dataclass

NAMES_OF_PLATFORMS = {"linux": "linux", "darwin": "darwin", "win32": "win32", "cygwin": "win32"}


class Child(NamedTuple):
    """One name in a folder: what it is without following a link, and where a link leads."""

    name: str
    path: Path
    linked: bool
    folder: bool  # a folder, or a link to one


class Facts(NamedTuple):
    """What is known of one path, links followed."""

    folder: bool
    file: bool  # a regular file
    size: int  # bytes
    links: int  # hard links; 1 is the ordinary case
    linked: bool  # the path itself is a symbolic link
    foreign: bool  # it belongs to another user than the one who looks


class Files(Protocol):
    """Read-only disk. One object serves one look: it may remember what it has seen."""

    def children(self, folder: Path) -> list[Child]:
        """The folder's names in byte order, as Node lists them. Raises OSError."""
        ...

    def names(self, folder: Path) -> list[str]:
        """The folder's names in no particular order. Raises OSError."""
        ...

    def facts(self, path: Path) -> Facts | None:
        """None where there is nothing, or nothing that may be looked at."""
        ...

    def read(self, path: Path, limit: int = -1) -> bytes:
        """The file's content, or its first `limit` bytes. Raises OSError."""
        ...

    def real(self, path: Path) -> Path:
        """The path with every link resolved; unchanged where it leads nowhere."""
        ...

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> "Program":
        """Where a program is found; with `folders_too` a folder of its name is taken for one."""
        ...


class Program(NamedTuple):
    """Where a program was found, if it was."""

    path: str | None  # the first file of that name that may be run
    unrunnable: str | None  # a file of that name that may not: the usual near miss


class RealFiles:
    """The disk itself."""

    def __init__(self) -> None:
        self._programs: dict[tuple[str, tuple[str, ...], bool], Program] = {}
        self._user = os.getuid() if hasattr(os, "getuid") else 0  # Windows has neither: all is the user's

    def children(self, folder: Path) -> list[Child]:
        with os.scandir(_nameable(folder)) as entries:
            found = [(os.fsencode(entry.name), entry) for entry in entries]
        found.sort(key=lambda pair: pair[0])
        return [
            Child(entry.name, Path(entry.path), entry.is_symlink(), _leads_to_folder(entry))
            for _, entry in found
        ]

    def names(self, folder: Path) -> list[str]:
        return os.listdir(_nameable(folder))

    def facts(self, path: Path) -> Facts | None:
        try:
            here = os.lstat(path)
            linked = stat.S_ISLNK(here.st_mode)
            there = os.stat(path) if linked else here
        except (OSError, ValueError):
            return None
        mode = there.st_mode
        foreign = there.st_uid != self._user
        return Facts(stat.S_ISDIR(mode), stat.S_ISREG(mode), there.st_size, there.st_nlink, linked, foreign)

    def read(self, path: Path, limit: int = -1) -> bytes:
        with open(_nameable(path), "rb") as file:
            if limit < 0 or os.fstat(file.fileno()).st_size <= limit:
                return file.read()  # not `read(limit)`: that makes room for all of the limit first
            return file.read(limit)

    def real(self, path: Path) -> Path:
        try:
            return Path(os.path.realpath(path))
        except (OSError, ValueError):  # a null byte in it, or too long
            return path

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> Program:
        asked = (name, folders, folders_too)
        if asked not in self._programs:
            self._programs[asked] = _find_program(name, folders, folders_too)
        return self._programs[asked]


Signature = tuple[int, ...]  # times of change first
TICK = 50_000_000  # nanoseconds; file systems count in coarser steps than one


class NotedFiles(RealFiles):
    """The disk, and what of it a look has touched: so that the next one knows whether it must look again.

    A file counts as it was while its times, size, number and mode are; a folder while nothing came or
    went in it; a program's name while no folder of the search path has changed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._noted: dict[str, Signature | None] = {}
        now = int(datetime.now(UTC).timestamp() * 1e9)
        self._settled = now - TICK  # what has changed since may change again within the same tick

    def children(self, folder: Path) -> list[Child]:
        self._note(folder)
        return super().children(folder)

    def names(self, folder: Path) -> list[str]:
        self._note(folder)
        return super().names(folder)

    def facts(self, path: Path) -> Facts | None:
        self._note(path)
        return super().facts(path)

    def read(self, path: Path, limit: int = -1) -> bytes:
        self._note(path)
        return super().read(path, limit)

    def real(self, path: Path) -> Path:
        self._note(path)
        return super().real(path)

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> Program:
        for folder in folders:
            self._note(Path(folder))
        found = super().program(name, folders, folders_too=folders_too)
        for path in (found.path, found.unrunnable):
            if path is not None:
                self._note(Path(path))  # its mode may change, and its folder does not notice
        return found

    def _note(self, path: Path) -> None:
        text = str(path)
        if text not in self._noted:
            self._noted[text] = _signature(text)

    def unchanged(self) -> bool:
        """Is everything that was touched as it was then, as far as times can tell."""
        for path, known in self._noted.items():
            if _signature(path) != known or (known is not None and max(known[:2]) > self._settled):
                return False
        return True


def _signature(path: str) -> Signature | None:
    """None where there is nothing. Of a link: its own, and that of what it leads to."""
    try:
        here = os.lstat(path)
        known = (here.st_mtime_ns, here.st_ctime_ns, here.st_size, here.st_ino, here.st_mode)
        if stat.S_ISLNK(here.st_mode):
            there = os.stat(path)
            return (*known, there.st_mtime_ns, there.st_ctime_ns, there.st_size, there.st_ino, there.st_mode)
        return known
    except (OSError, ValueError):
        return None


def _nameable(path: Path) -> Path:
    """Settings may name what no disk can hold: to a reader that is as good as absent."""
    if "\0" in str(path):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    return path


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _find_program(name: str, folders: tuple[str, ...], folders_too: bool) -> Program:
    unrunnable = None
    for folder in folders:
        path = os.path.join(folder, name)
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            continue
        if (stat.S_ISREG(mode) or (folders_too and stat.S_ISDIR(mode))) and os.access(path, os.X_OK):
            return Program(path, unrunnable)
        unrunnable = unrunnable or path
    return Program(None, unrunnable)


@cache
def _folders_of(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split(os.pathsep) if part)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine: the real one, or one that is partly assumed."""

    platform: str  # linux, darwin, win32: the names that hooks use
    env: Mapping[str, str]
    cwd: Path
    home: Path
    files: Files = field(default_factory=RealFiles)
    assumed: frozenset[str] = frozenset()  # what is not the real machine's: "os", "env", "home", …

    def search_path(self) -> tuple[str, ...]:
        """The folders of PATH, without empty entries."""
        return _folders_of(self.env.get("PATH", ""))

    def absolute(self, text: str | Path, base: Path | None = None) -> Path:
        """A path as a user writes it: `~` is home, relative ones count from `base`, else from cwd.

        `..` is folded as text; links are not resolved.
        """
        path = str(text)
        if path == "~" or path.startswith(("~/", "~" + os.sep)):
            path = str(self.home) + path[1:]
        return Path(os.path.normpath(os.path.join(base or self.cwd, path)))

    def short(self, path: Path) -> str:
        """The path for people: below home it starts with `~`, below cwd with `./`."""
        for base, sign in ((self.cwd, "."), (self.home, "~")):
            if path == base:
                return sign
            if path.is_relative_to(base) and base != Path(base.anchor):
                return f"{sign}/{path.relative_to(base)}"
        return str(path)


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # somebody removed it under our feet
        return Path(os.path.abspath(os.sep))


def real_surroundings(home: Path | None = None) -> Surroundings:
    """This machine, now. `home` stands in for the user's own home where it is given."""
    assumed = frozenset({"home"}) if home is not None else frozenset[str]()
    return Surroundings(
        platform=NAMES_OF_PLATFORMS.get(sys.platform, sys.platform),
        env=dict(os.environ),
        cwd=_current_folder(),
        home=Path(os.path.abspath(home)) if home is not None else Path.home(),
        assumed=assumed,
    )

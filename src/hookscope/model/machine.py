"""The machine as the rules see it.

platform, environment, home and disk; real, or partly assumed for a what-if.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cache
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple, Protocol

from hookscope.model.regular_file import read_regular
from hookscope.values import dataclass

PLATFORM_NAMES = {"linux": "linux", "darwin": "darwin", "win32": "win32", "cygwin": "win32"}


PathStats = tuple[os.stat_result, os.stat_result | None]  # of a path, and of what it leads to


class FolderItem(NamedTuple):
    """One name in a folder: what it is without following a link, and where a link leads."""

    name: str
    path: Path
    linked: bool
    folder: bool  # a folder, or a link to one


class PathFacts(NamedTuple):
    """What is known of one path, links followed."""

    folder: bool
    file: bool  # a regular file
    size: int  # bytes
    links: int  # hard links; 1 is the ordinary case
    linked: bool  # the path itself is a symbolic link
    foreign: bool  # it belongs to another user than the one who looks


class Files(Protocol):
    """Read-only disk. One object serves one look: it may remember what it has seen."""

    def children(self, folder: Path) -> list[FolderItem]:
        """The folder's names in byte order, as Node lists them. Raises OSError."""
        ...

    def names(self, folder: Path) -> list[str]:
        """The folder's names in no particular order. Raises OSError."""
        ...

    def facts(self, path: Path) -> PathFacts | None:
        """None where there is nothing, or nothing that may be looked at."""
        ...

    def trouble(self, path: Path) -> OSError | None:
        """Why it is not known what is at the path; None where it can be looked at, or nothing is there."""
        ...

    def read(self, path: Path, limit: int = -1) -> bytes:
        """The file's content, or its first `limit` bytes. Raises OSError, of what is no regular file too."""
        ...

    def real(self, path: Path) -> Path:
        """The path with every link resolved; unchanged where it leads nowhere."""
        ...

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> FoundProgram:
        """Where a program is found; with `folders_too` a folder of its name is taken for one."""
        ...


class FoundProgram(NamedTuple):
    """Where a program was found, if it was."""

    path: str | None  # the first file of that name that may be run
    unrunnable: str | None  # a file of that name that may not: the usual near miss


class RealFiles:
    """The disk itself."""

    def __init__(self) -> None:
        self._programs: dict[tuple[str, tuple[str, ...], bool], FoundProgram] = {}
        self._user = os.getuid() if hasattr(os, "getuid") else 0  # Windows has neither: all is the user's

    def children(self, folder: Path) -> list[FolderItem]:
        with os.scandir(_checked_path(folder)) as entries:
            found = [(os.fsencode(entry.name), entry) for entry in entries]
        found.sort(key=itemgetter(0))
        return [
            FolderItem(entry.name, folder / entry.name, entry.is_symlink(), _leads_to_folder(entry))
            for _, entry in found
        ]

    def names(self, folder: Path) -> list[str]:
        return os.listdir(_checked_path(folder))

    def facts(self, path: Path) -> PathFacts | None:
        here, there = self.stats(str(path)) or (None, None)
        if there is None:
            return None
        mode = there.st_mode
        foreign = there.st_uid != self._user
        linked = there is not here
        return PathFacts(
            stat.S_ISDIR(mode), stat.S_ISREG(mode), there.st_size, there.st_nlink, linked, foreign
        )

    def stats(self, path: str) -> PathStats | None:
        """What facts are made of."""
        return path_stats(path)

    def trouble(self, path: Path) -> OSError | None:
        try:
            os.stat(path)
        except FileNotFoundError:
            return broken_link_error(path)
        except ValueError:  # no disk can hold such a name
            return None
        except OSError as error:
            return error
        return None

    def read(self, path: Path, limit: int = -1) -> bytes:
        return read_regular(path, limit)

    def real(self, path: Path) -> Path:
        try:
            return Path(os.path.realpath(path))
        except (OSError, ValueError):  # a null byte in it, or too long
            return path

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> FoundProgram:
        asked = (name, folders, folders_too)
        if asked not in self._programs:
            self._programs[asked] = _find_program(name, folders, folders_too)
        return self._programs[asked]


def path_stats(path: str) -> PathStats | None:
    """None where there is nothing. The two are one where the path is no link."""
    try:
        here = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISLNK(here.st_mode):
        return here, here
    try:
        return here, os.stat(path)
    except OSError:
        return here, None


def read_or_none(path: Path, limit: int = -1) -> bytes | None:
    """The bytes of a file, or its first `limit` bytes; None where there is no such file.

    Raises OSError for everything else, also for a link that leads nowhere.
    """
    try:
        return read_regular(path, limit)
    except FileNotFoundError:
        if (error := broken_link_error(path)) is not None:
            raise error from None
        return None


def broken_link_error(path: str | Path) -> OSError | None:
    """Why it is not known whether a file exists: it, or the nearest folder above it, is a link that leads
    nowhere. None where it is there, or there plainly is no such file.
    """
    named = Path(path)
    for place in (named, *named.parents):
        try:
            linked = stat.S_ISLNK(os.lstat(place).st_mode)
        except (FileNotFoundError, ValueError):
            continue
        except OSError as error:
            return error
        if linked and not os.path.exists(place):
            return OSError(errno.ENOENT, "a link that leads nowhere", str(place))
        return None
    return None


def _checked_path(path: Path) -> Path:
    """Settings may name what no disk can hold: to a reader that is as good as absent."""
    if "\0" in str(path):
        raise _not_there(path)
    return path


def _not_there(path: Path) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def is_within(path: Path, folder: Path) -> bool:
    """Is a path this folder, or below it: `is_relative_to` without taking both to pieces."""
    inner, outer = os.path.normcase(path), os.path.normcase(folder)
    return inner == outer or inner.startswith(outer if outer.endswith(os.sep) else outer + os.sep)


def file_identity(path: str | Path) -> tuple[int, int] | None:
    """What tells the file or folder that a name leads to from every other one; None where there is none."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def path_to_text(path: Path) -> str:
    """The path as a text that is the same in every locale: what files keep for other processes."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def path_from_text(text: str) -> Path:
    """The path that `lasting` has made a text of."""
    try:
        return Path(os.fsdecode(text.encode("utf-8", "surrogateescape")))
    except UnicodeEncodeError:  # nobody of us has written it
        return Path(text)


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _find_program(name: str, folders: tuple[str, ...], folders_too: bool) -> FoundProgram:
    unrunnable = None
    for folder in folders:
        path = os.path.join(folder, name)
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            continue
        if (stat.S_ISREG(mode) or (folders_too and stat.S_ISDIR(mode))) and os.access(path, os.X_OK):
            return FoundProgram(path, unrunnable)
        unrunnable = unrunnable or path
    return FoundProgram(None, unrunnable)


@cache
def _path_folders(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split(os.pathsep) if part)


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine: the real one, or one that is partly assumed."""

    platform: str  # linux, darwin, win32: the names that hooks use
    env: Mapping[str, str]
    cwd: Path
    home: Path
    files: Files = field(default_factory=RealFiles)
    assumed: frozenset[str] = frozenset()  # what is not the real machine's: "os", "env", "home", …

    def search_path(self) -> tuple[str, ...]:
        """The folders of PATH, without empty entries."""
        return _path_folders(self.env.get("PATH", ""))

    def path_entries(self) -> tuple[str, ...]:
        """What stands in PATH, empty entries included; one empty one where there is none."""
        return tuple(self.env.get("PATH", "").split(os.pathsep))

    def absolute(self, text: str | Path, base: Path | None = None) -> Path:
        """A path as a user writes it: `~` is home, relative ones count from `base`, else from cwd.

        `..` is folded as text; links are not resolved.
        """
        return Path(os.path.normpath(self._unfolded(text, base)))

    def real(self, text: str | Path) -> Path:
        """As `absolute`, with links resolved: `..` behind a link is the folder above what it leads to."""
        return self.files.real(Path(self._unfolded(text)))

    def _unfolded(self, text: str | Path, base: Path | None = None) -> str:
        path = str(text)
        if path == "~" or path.startswith(("~/", "~" + os.sep)):
            path = str(self.home) + path[1:]
        return os.path.join(base or self.cwd, path)

    def short(self, path: Path) -> str:
        """The path for people: below home it starts with `~`, below cwd with `./`."""
        text = str(path)
        for base, sign in ((str(self.cwd), "."), (str(self.home), "~")):
            if text == base:
                return sign
            if text.startswith(base + os.sep):  # not below the root: that ends with one
                return f"{sign}/{text[len(base) + 1 :]}"
        return text


def user_homes() -> frozenset[Path]:
    """The user's home folders: the one that HOME names and the one of the user database."""
    homes = {os.path.abspath(Path.home())}
    if sys.platform != "win32":
        import pwd

        with suppress(KeyError):  # a container's user that no database knows
            homes.add(os.path.abspath(pwd.getpwuid(os.getuid()).pw_dir))
    return frozenset(map(Path, homes))


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # somebody removed it under our feet
        return Path(os.path.abspath(os.sep))


def real_machine(home: Path | None = None) -> Machine:
    """This machine, now. `home` stands in for the user's own home where it is given."""
    assumed = frozenset({"home"}) if home is not None else frozenset[str]()
    return Machine(
        platform=PLATFORM_NAMES.get(sys.platform, sys.platform),
        env=dict(os.environ),
        cwd=_current_folder(),
        home=Path(os.path.abspath(home)) if home is not None else Path.home(),
        assumed=assumed,
    )


NODE_MODULES = "node_modules"


def node_package_folders(package: str, folder: Path) -> Iterator[Path]:
    """Where Node looks for a package that something in this folder imports, the nearest place first."""
    return (above / NODE_MODULES / package for above in (folder, *folder.parents))

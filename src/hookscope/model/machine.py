"""The machine as the rules see it: platform, environment, home and disk.

It is the real machine, or one that a what-if partly assumes.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from functools import cache
from operator import attrgetter, eq, itemgetter
from pathlib import Path
from typing import NamedTuple, Protocol

from hookscope.model.regular_file import read_regular
from hookscope.values import dataclass

PLATFORM_NAMES = {"linux": "linux", "darwin": "darwin", "win32": "win32", "cygwin": "win32"}


PathStats = tuple[os.stat_result, os.stat_result | None]  # of a path and of its target


class FolderItem(NamedTuple):
    """One name in a folder, without following links, and whether it leads to a folder."""

    name: str
    path: Path
    linked: bool
    folder: bool  # a folder, or a link to one


class PathFacts(NamedTuple):
    """Facts about one path, with links followed."""

    folder: bool
    file: bool  # a regular file
    size: int  # bytes
    links: int  # hard links, usually 1
    linked: bool  # the path itself is a symbolic link
    foreign: bool  # another user owns it


class Files(Protocol):
    """Read-only access to the disk. One object serves one scan and may cache what it read."""

    def children(self, folder: Path) -> list[FolderItem]:
        """Return the folder's items in byte order, as Node lists them. Raises OSError."""
        ...

    def names(self, folder: Path) -> list[str]:
        """Return the folder's names in no particular order. Raises OSError."""
        ...

    def facts(self, path: Path) -> PathFacts | None:
        """Return the facts of a path; None if it does not exist or cannot be read."""
        ...

    def access_error(self, path: Path) -> OSError | None:
        """Return the error that hides what is at a path; None if it is readable or absent."""
        ...

    def read(self, path: Path, limit: int = -1) -> bytes:
        """Return a file's content or first `limit` bytes. Raises OSError, also for non-regular files."""
        ...

    def real(self, path: Path) -> Path:
        """Return the path with all links resolved; unchanged if it cannot be resolved."""
        ...

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> FoundProgram:
        """Return where a program is found; `folders_too` accepts folders of that name."""
        ...


def is_file(path: Path, files: Files) -> bool:
    """Return whether a path leads to a regular file."""
    facts = files.facts(path)
    return facts is not None and facts.file


def names_in(folder: Path, files: Files) -> frozenset[str]:
    """Return the names in a folder; none if it cannot be read."""
    try:
        return frozenset(files.names(folder))
    except OSError:
        return frozenset()


class FoundProgram(NamedTuple):
    """The location of a program, if it was found."""

    path: str | None  # the first file of that name that may be run
    unrunnable: str | None  # a file of that name that is not executable


class RealFiles:
    """The real disk."""

    def __init__(self) -> None:
        self._programs: dict[tuple[str, tuple[str, ...], bool], FoundProgram] = {}
        self._user = os.getuid() if hasattr(os, "getuid") else 0  # Windows: everything is the user's

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
        own, target = self.stats(str(path)) or (None, None)
        if target is None:
            return None
        mode = target.st_mode
        foreign = target.st_uid != self._user
        linked = target is not own
        return PathFacts(
            stat.S_ISDIR(mode), stat.S_ISREG(mode), target.st_size, target.st_nlink, linked, foreign
        )

    def stats(self, path: str) -> PathStats | None:
        """Return the stat results that `facts` reads."""
        return path_stats(path)

    def access_error(self, path: Path) -> OSError | None:
        try:
            os.stat(path)
        except FileNotFoundError:
            return broken_link_error(path)
        except ValueError:  # an impossible name
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
        query = (name, folders, folders_too)
        if query not in self._programs:
            self._programs[query] = _find_program(name, folders, folders_too)
        return self._programs[query]


def path_stats(path: str) -> PathStats | None:
    """Return the stat results of a path and of its target, one object if it is no link; None if absent."""
    try:
        own = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISLNK(own.st_mode):
        return own, own
    try:
        return own, os.stat(path)
    except OSError:
        return own, None


def read_or_none(path: Path, limit: int = -1) -> bytes | None:
    """Return the content of a file or its first `limit` bytes; None if it does not exist.

    Raises OSError for every other failure, including a broken link.
    """
    try:
        return read_regular(path, limit)
    except FileNotFoundError:
        if (error := broken_link_error(path)) is not None:
            raise error from None
        return None


def broken_link_error(path: str | Path) -> OSError | None:
    """Return an error if the path, or its nearest existing parent, is a broken link.

    Then it is unknown whether the file exists. None if it exists or is plainly absent.
    """
    start = Path(path)
    for folder in (start, *start.parents):
        try:
            linked = stat.S_ISLNK(os.lstat(folder).st_mode)
        except (FileNotFoundError, ValueError):
            continue
        except OSError as error:
            return error
        if linked and not os.path.exists(folder):
            return OSError(errno.ENOENT, "a broken link", str(folder))
        return None
    return None


def walk_folders(
    folder: Path, skips: Callable[[str], bool] = lambda name: False
) -> Iterator[tuple[str, list[str]]]:
    """Yield this folder and all below it, parents first, each with the sorted names of its files.

    Folders are skipped if `skips` returns True for their name, if they are links, or if they are unreadable.
    `os.walk` is recursive before Python 3.12, and folders may be nested deeper than Python's recursion limit.
    """
    waiting = [os.fspath(folder)]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
        except (OSError, ValueError):  # ValueError: a null byte in its name
            continue
        folders = {entry.name: entry for entry in entries if _leads_to_folder(entry)}
        yield path, [entry.name for entry in reversed(entries) if entry.name not in folders]
        waiting += [entry.path for name, entry in folders.items() if not (entry.is_symlink() or skips(name))]


def _checked_path(path: Path) -> Path:
    """Raise FileNotFoundError for a path with a null byte, which settings may contain."""
    if "\0" in str(path):
        raise _not_there(path)
    return path


def _not_there(path: Path) -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))


def is_within(path: Path, folder: Path) -> bool:
    """Return whether a path is this folder or below it; faster than `is_relative_to`."""
    inner, outer = os.path.normcase(path), os.path.normcase(folder)
    return inner == outer or inner.startswith(outer if outer.endswith(os.sep) else outer + os.sep)


def file_identity(path: str | Path) -> tuple[int, int] | None:
    """Return the device and inode of the file that a name leads to, or None."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def file_stamp(path: str | Path) -> tuple[int, ...]:
    """Return numbers that change when the file is written or replaced; none if it cannot be read."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ino


def modified_at(path: Path) -> float:
    """Return when a file was written, in seconds since 1970; 0 if it cannot be read."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def path_to_text(path: Path) -> str:
    """Return the path as text that is the same in every locale, for other processes to read."""
    return os.fsencode(path).decode("utf-8", "surrogateescape")


def path_from_text(text: str) -> Path:
    """Return the path that `path_to_text` wrote as text."""
    try:
        return Path(os.fsdecode(text.encode("utf-8", "surrogateescape")))
    except UnicodeEncodeError:  # not written by `path_to_text`
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
    """The machine: the real one, or a partly assumed one."""

    platform: str  # linux, darwin, win32: the names that hooks use
    env: Mapping[str, str]
    cwd: Path
    home: Path
    files: Files = field(default_factory=RealFiles)
    assumed: frozenset[str] = frozenset()  # assumed parts: "os", "env", "home", …

    def search_path(self) -> tuple[str, ...]:
        """Return the folders of PATH without empty entries."""
        return _path_folders(self.env.get("PATH", ""))

    def path_entries(self) -> tuple[str, ...]:
        """Return the entries of PATH, empty ones included; one empty entry if PATH is not set."""
        return tuple(self.env.get("PATH", "").split(os.pathsep))

    def absolute(self, text: str | Path, base: Path | None = None) -> Path:
        """Return a user's path as an absolute one: `~` is home; relative to `base` or cwd.

        `..` is resolved as text, without resolving links.
        """
        return Path(os.path.normpath(self._unfolded(text, base)))

    def real(self, text: str | Path) -> Path:
        """Return the absolute path with links resolved; `..` after a link is the parent of its target."""
        return self.files.real(Path(self._unfolded(text)))

    def _unfolded(self, text: str | Path, base: Path | None = None) -> str:
        path = str(text)
        if path == "~" or path.startswith(("~/", "~" + os.sep)):
            path = str(self.home) + path[1:]
        return os.path.join(base or self.cwd, path)

    def short(self, path: Path) -> str:
        """Return the path for display: `~` is home, `./` the current folder."""
        text = str(path)
        for base, sign in ((str(self.cwd), "."), (str(self.home), "~")):
            if text == base:
                return sign
            if text.startswith(base + os.sep):  # not for the root, which ends with one
                return f"{sign}/{text[len(base) + 1 :]}"
        return text


def user_homes() -> frozenset[Path]:
    """Return the user's home folders: HOME and the entry of the user database."""
    homes = {os.path.abspath(Path.home())}
    if sys.platform != "win32":
        import pwd

        with suppress(KeyError):  # a container's user without an entry
            homes.add(os.path.abspath(pwd.getpwuid(os.getuid()).pw_dir))
    return frozenset(map(Path, homes))


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError:  # it was removed meanwhile
        return Path(os.path.abspath(os.sep))


def real_machine(home: Path | None = None) -> Machine:
    """Return this machine as it is now, with `home` in place of the user's home if given."""
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
    """Return where Node searches for a package imported from this folder, nearest first."""
    return (above / NODE_MODULES / package for above in (folder, *folder.parents))


Signature = tuple[int, ...]  # times of change first
TICK = 50_000_000  # nanoseconds; the resolution of file times is coarse
signature_fields = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_mode")


class ScanStopped(Exception):
    """Raised by `TrackedFiles` when a scan continues after it was stopped."""


class TrackedFiles(RealFiles):
    """Files that record every path that was read.

    A file is unchanged if its times, size, inode and mode are; a folder if no item was added or
    removed; a program lookup if no folder of the search path changed. Facts are cached from first
    use until `stop_caching`.

    `stopped` is called before each access; once it returns True, ScanStopped is raised.
    """

    def __init__(self, stopped: Callable[[], bool] = bool) -> None:
        super().__init__()
        self._stopped = stopped
        self._signatures: dict[str, Signature | None] = {}
        self._stats: dict[str, PathStats | None] | None = {}
        self._checks: ChangeChecks | None = None
        now = int(datetime.now(UTC).timestamp() * 1e9)
        self._reliable_before = now - TICK  # later changes may repeat within one tick, unnoticed

    def children(self, folder: Path) -> list[FolderItem]:
        self._track(str(folder))
        return super().children(folder)

    def names(self, folder: Path) -> list[str]:
        self._track(str(folder))
        return super().names(folder)

    def stats(self, path: str) -> PathStats | None:
        known = self._stats
        if self._stopped():
            raise ScanStopped
        if known is None:
            self._track(path)
            return path_stats(path)
        if path not in known:
            known[path] = stats = path_stats(path)
            self._signatures.setdefault(path, _signature(stats))
        return known[path]

    def access_error(self, path: Path) -> OSError | None:
        self._track(str(path))
        return super().access_error(path)

    def read(self, path: Path, limit: int = -1) -> bytes:
        self._track(str(path))
        return super().read(path, limit)

    def real(self, path: Path) -> Path:
        self._track(str(path))
        return super().real(path)

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> FoundProgram:
        if (name, folders, folders_too) in self._programs:
            return self._programs[name, folders, folders_too]
        for folder in folders:
            self._track(str(Path(folder)))
        found = super().program(name, folders, folders_too=folders_too)
        for path in (found.path, found.unrunnable):
            if path is not None:
                self._track(str(Path(path)))  # a mode change does not change its folder
        return found

    def _track(self, path: str) -> None:
        if self._stopped():
            raise ScanStopped
        if path not in self._signatures:
            self._signatures[path] = _signature(path_stats(path))

    def stop_caching(self) -> None:
        """Stop caching facts: the scan is over."""
        self._stats = None

    def unchanged(self) -> bool:
        """Return whether every path is unchanged, as far as its times show."""
        if self._checks is None or self._checks.path_count != len(self._signatures):
            self._checks = _change_checks(dict(self._signatures))
        return self._checks.latest_change <= self._reliable_before and self._checks.all_unchanged()


class ChangeChecks(NamedTuple):
    """The checks that detect a change since a scan."""

    path_count: int  # number of tracked paths
    latest_change: int  # the latest change time
    paths: list[bytes]  # neither links nor absent
    signatures: list[Signature]  # of those
    other_signatures: dict[str, Signature | None]

    def all_unchanged(self) -> bool:
        try:
            if not all(map(eq, map(signature_fields, map(os.lstat, self.paths)), self.signatures)):
                return False
        except OSError:
            return False
        return all(_signature(path_stats(path)) == known for path, known in self.other_signatures.items())


def _change_checks(signatures: dict[str, Signature | None]) -> ChangeChecks:
    """Return the checks. An absent file needs none: its folder changes when the file appears."""
    plain = {path: known for path, known in signatures.items() if known and not stat.S_ISLNK(known[4])}
    others = {
        path: known
        for path, known in signatures.items()
        if path not in plain and (known is not None or os.path.dirname(path) not in plain)
    }
    latest = max((max(known[:2]) for known in signatures.values() if known), default=0)
    return ChangeChecks(len(signatures), latest, list(map(os.fsencode, plain)), list(plain.values()), others)


def _signature(stats: PathStats | None) -> Signature | None:
    """Return the signature of a path, and of a link's target; None if it does not exist."""
    if stats is None:
        return None
    link, target = stats
    own: Signature = signature_fields(link)
    return own if target is link or target is None else own + signature_fields(target)

"""The disk, and what of it a look has touched: so that the next one knows whether it must look again."""

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter, eq
from pathlib import Path
from typing import NamedTuple

from hookscope.core.surroundings import FolderItem, Program, RealFiles, Stats, stats_of

Signature = tuple[int, ...]  # times of change first
TICK = 50_000_000  # nanoseconds; file systems count in coarser steps than one
signed = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_mode")


class ScanStopped(Exception):
    """Raised by `NotedFiles` to whoever still reads through them once the scan was told to stop."""


class NotedFiles(RealFiles):
    """Files that note what is asked of them.

    A file counts as it was while its times, size, number and mode are; a folder while nothing came or
    went in it; a program's name while no folder of the search path has changed. Until `forget`, facts are
    those of the first time that somebody asked.

    `stopped` is asked before each access: once it is true, ScanStopped is raised.
    """

    def __init__(self, stopped: Callable[[], bool] = bool) -> None:
        super().__init__()
        self._stopped = stopped
        self._noted: dict[str, Signature | None] = {}
        self._stats: dict[str, Stats | None] | None = {}
        self._checks: Checks | None = None
        now = int(datetime.now(UTC).timestamp() * 1e9)
        self._settled = now - TICK  # what has changed since may change again within the same tick

    def children(self, folder: Path) -> list[FolderItem]:
        self._note(str(folder))
        return super().children(folder)

    def names(self, folder: Path) -> list[str]:
        self._note(str(folder))
        return super().names(folder)

    def stats(self, path: str) -> Stats | None:
        known = self._stats
        if self._stopped():
            raise ScanStopped
        if known is None:
            self._note(path)
            return stats_of(path)
        if path not in known:
            known[path] = stats = stats_of(path)
            self._noted.setdefault(path, _signature(stats))
        return known[path]

    def trouble(self, path: Path) -> OSError | None:
        self._note(str(path))
        return super().trouble(path)

    def read(self, path: Path, limit: int = -1) -> bytes:
        self._note(str(path))
        return super().read(path, limit)

    def real(self, path: Path) -> Path:
        self._note(str(path))
        return super().real(path)

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> Program:
        if (name, folders, folders_too) in self._programs:
            return self._programs[name, folders, folders_too]
        for folder in folders:
            self._note(str(Path(folder)))
        found = super().program(name, folders, folders_too=folders_too)
        for path in (found.path, found.unrunnable):
            if path is not None:
                self._note(str(Path(path)))  # its mode may change, and its folder does not notice
        return found

    def _note(self, path: str) -> None:
        if self._stopped():
            raise ScanStopped
        if path not in self._noted:
            self._noted[path] = _signature(stats_of(path))

    def forget(self) -> None:
        """The look is over: from now on facts are those of the moment."""
        self._stats = None

    def unchanged(self) -> bool:
        """Is everything that was touched as it was then, as far as times can tell."""
        if self._checks is None or self._checks.noted != len(self._noted):
            self._checks = _checks_of(dict(self._noted))
        return self._checks.latest <= self._settled and self._checks.hold()


class Checks(NamedTuple):
    """What is asked of the disk to know whether anything has changed."""

    noted: int  # of how many paths
    latest: int  # the last change that was seen
    paths: list[bytes]  # neither links nor absent
    signatures: list[Signature]  # of those
    others: dict[str, Signature | None]

    def hold(self) -> bool:
        try:
            if not all(map(eq, map(signed, map(os.lstat, self.paths)), self.signatures)):
                return False
        except OSError:
            return False
        return all(_signature(stats_of(path)) == known for path, known in self.others.items())


def _checks_of(noted: dict[str, Signature | None]) -> Checks:
    """A name that was absent is absent for as long as its folder has not changed."""
    plain = {path: known for path, known in noted.items() if known and not stat.S_ISLNK(known[4])}
    others = {
        path: known
        for path, known in noted.items()
        if path not in plain and (known is not None or os.path.dirname(path) not in plain)
    }
    latest = max((max(known[:2]) for known in noted.values() if known), default=0)
    return Checks(len(noted), latest, list(map(os.fsencode, plain)), list(plain.values()), others)


def _signature(stats: Stats | None) -> Signature | None:
    """None where there is nothing. Of a link: its own, and that of what it leads to."""
    if stats is None:
        return None
    here, there = stats
    own: Signature = signed(here)
    return own if there is here or there is None else own + signed(there)

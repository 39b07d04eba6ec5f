"""The disk, with a record.

Every path that a scan read, so that the next scan knows whether anything changed.
"""

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter, eq
from pathlib import Path
from typing import NamedTuple

from hookscope.model.machine import FolderItem, FoundProgram, PathStats, RealFiles, path_stats

Signature = tuple[int, ...]  # times of change first
TICK = 50_000_000  # nanoseconds; file systems count in coarser steps than one
signature_fields = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_mode")


class ScanStopped(Exception):
    """Raised by `NotedFiles` to whoever still reads through them once the scan was told to stop."""


class TrackedFiles(RealFiles):
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
        self._stats: dict[str, PathStats | None] | None = {}
        self._checks: ChangeChecks | None = None
        now = int(datetime.now(UTC).timestamp() * 1e9)
        self._settled = now - TICK  # what has changed since may change again within the same tick

    def children(self, folder: Path) -> list[FolderItem]:
        self._note(str(folder))
        return super().children(folder)

    def names(self, folder: Path) -> list[str]:
        self._note(str(folder))
        return super().names(folder)

    def stats(self, path: str) -> PathStats | None:
        known = self._stats
        if self._stopped():
            raise ScanStopped
        if known is None:
            self._note(path)
            return path_stats(path)
        if path not in known:
            known[path] = stats = path_stats(path)
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

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> FoundProgram:
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
            self._noted[path] = _signature(path_stats(path))

    def forget(self) -> None:
        """The look is over: from now on facts are those of the moment."""
        self._stats = None

    def unchanged(self) -> bool:
        """Is everything that was touched as it was then, as far as times can tell."""
        if self._checks is None or self._checks.noted != len(self._noted):
            self._checks = _change_checks(dict(self._noted))
        return self._checks.latest <= self._settled and self._checks.hold()


class ChangeChecks(NamedTuple):
    """What is asked of the disk to know whether anything has changed."""

    noted: int  # of how many paths
    latest: int  # the last change that was seen
    paths: list[bytes]  # neither links nor absent
    signatures: list[Signature]  # of those
    others: dict[str, Signature | None]

    def hold(self) -> bool:
        try:
            if not all(map(eq, map(signature_fields, map(os.lstat, self.paths)), self.signatures)):
                return False
        except OSError:
            return False
        return all(_signature(path_stats(path)) == known for path, known in self.others.items())


def _change_checks(noted: dict[str, Signature | None]) -> ChangeChecks:
    """A name that was absent is absent for as long as its folder has not changed."""
    plain = {path: known for path, known in noted.items() if known and not stat.S_ISLNK(known[4])}
    others = {
        path: known
        for path, known in noted.items()
        if path not in plain and (known is not None or os.path.dirname(path) not in plain)
    }
    latest = max((max(known[:2]) for known in noted.values() if known), default=0)
    return ChangeChecks(len(noted), latest, list(map(os.fsencode, plain)), list(plain.values()), others)


def _signature(stats: PathStats | None) -> Signature | None:
    """None where there is nothing. Of a link: its own, and that of what it leads to."""
    if stats is None:
        return None
    here, there = stats
    own: Signature = signature_fields(here)
    return own if there is here or there is None else own + signature_fields(there)

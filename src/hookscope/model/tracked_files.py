"""Disk access that records every path a scan read, to detect changes before the next scan."""

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from operator import attrgetter, eq
from pathlib import Path
from typing import NamedTuple

from hookscope.model.machine import FolderItem, FoundProgram, PathStats, RealFiles, path_stats

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
        """Return whether every path is unchanged, as far as times can tell."""
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
    """Return the checks; an absent name needs none as long as its folder is unchanged."""
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

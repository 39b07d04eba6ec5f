"""What the originals of copied files were like before handlers ran, and which of them have changed since."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Literal

from hookscope.core.copies import Originals as Compared
from hookscope.core.copies import TouchedFile
from hookscope.values import dataclass

LISTED = 50


@dataclass(frozen=True, slots=True)
class _State:
    """Equal states, equal content: whoever writes a file sets its change time, and cannot set it back."""

    mode: int
    node: int
    size: int = 0
    written: int = 0  # nanoseconds
    changed: int = 0

    @classmethod
    def of(cls, status: os.stat_result) -> _State:
        """Of a folder the mode alone: its names are compared instead."""
        if stat.S_ISDIR(status.st_mode):
            return cls(status.st_mode, status.st_ino)
        times = status.st_mtime_ns, status.st_ctime_ns
        return cls(status.st_mode, status.st_ino, status.st_size, *times)


class Originals:
    """The files, links and folders that were seen while they were copied. What is `apart` is not watched."""

    def __init__(self, apart: Collection[str]) -> None:
        self._apart = tuple(apart)
        self._seen: dict[str, _State] = {}
        self._names: dict[str, tuple[int, frozenset[str]]] = {}  # folder → its change time, what was in it

    def see(self, path: str, status: os.stat_result) -> None:
        """Note the state of a file, a link or a folder."""
        self._seen[path] = _State.of(status)

    def see_folder(self, path: str, status: os.stat_result, names: Sequence[str]) -> None:
        """Note all names in a folder. `status` is older than they are."""
        self._names[path] = status.st_ctime_ns, frozenset(names)

    def compared(self, named: Callable[[str], str]) -> Compared:
        """Compare each of them with what is there now. `named` gives a path as its user named it."""
        changed = sorted(self._changed())
        listed = tuple(TouchedFile(Path(named(path)), kind) for path, kind in changed[:LISTED])
        return Compared(len(self._seen), listed, len(changed) - len(listed))

    def _changed(self) -> Iterator[tuple[str, Literal["written", "changed", "deleted"]]]:
        for path, then in self._seen.items():
            try:
                now = _State.of(os.lstat(path))
            except FileNotFoundError:
                yield path, "deleted"
            except OSError:
                yield path, "changed"
            else:
                if now != then:
                    yield path, "changed"
        for folder in self._names:
            yield from ((path, "written") for path in self._new(folder))

    def _new(self, folder: str) -> Iterator[str]:
        then, names = self._names[folder]
        try:
            if os.lstat(folder).st_ctime_ns == then:
                return
            now = os.listdir(folder)
        except OSError:  # it is among the changed or the deleted, or above what is compared
            return
        yield from (path for name in now if name not in names and self._counts(path := f"{folder}/{name}"))

    def _counts(self, path: str) -> bool:
        """False for what is apart, and for the folders that lead there."""
        return not any(ours == path or ours.startswith(f"{path}/") for ours in self._apart)

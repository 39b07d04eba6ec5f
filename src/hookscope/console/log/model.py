"""What the log keeps and what it shows of it. Pure: no widget, no clock."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import field
from datetime import datetime
from itertools import islice

from hookscope.values import dataclass

KEPT = 20_000
LEVELS = ("debug", "info", "warn", "error")
SAME = {"warning": "warn", "information": "info", "err": "error", "critical": "error"}
SEARCHED = 4_000  # characters of an entry that a filter looks at


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One thing that happened."""

    at: datetime
    kind: str  # fire, state, reload, config, …
    subject: str  # what it is about: a hook, a file
    text: str
    level: str = "info"
    run: int | None = None  # the run it tells of
    real: str | None = None  # the id of the real event that it is


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entries are shown. Everything that was asked for must hold; `level` means that or worse."""

    words: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    level: str | None = None
    run: int | None = None

    def __bool__(self) -> bool:
        return self != Filter()

    def takes(self, entry: LogEntry) -> bool:
        """Is this entry to be shown?"""
        if self.kinds and not any(entry.kind.lower().startswith(kind) for kind in self.kinds):
            return False
        if self.level is not None and not at_least(entry.level, self.level):
            return False
        if self.run is not None and entry.run != self.run:
            return False
        if not self.words:
            return True
        text = f"{entry.kind} {entry.subject[:SEARCHED]} {entry.text[:SEARCHED]}".lower()
        return all(word in text for word in self.words)


def parse_filter(text: str) -> Filter:
    """`kind:fire level:warn run:7 words`; a word stands for any text that holds it."""
    words, kinds, level, run = [], [], None, None
    for part in text.lower().split():
        name, colon, value = part.partition(":")
        if colon and value and name == "kind":
            kinds += value.split(",")
        elif colon and value and name == "level":
            level = SAME.get(value, value)
        elif name == "run" and value.isascii() and value.isdigit():
            run = int(value[:9])
        else:
            words.append(part)
    return Filter(tuple(words), tuple(kind for kind in kinds if kind), level, run)


def at_least(level: str, wanted: str) -> bool:
    """Is a level that one or worse? Levels that nobody knows equal themselves only."""
    level = SAME.get(level.lower(), level.lower())
    if level in LEVELS and wanted in LEVELS:
        return LEVELS.index(level) >= LEVELS.index(wanted)
    return level.startswith(wanted)


@dataclass(slots=True)
class Ring:
    """The last entries. Each has a number that it keeps; the oldest leave first."""

    kept: int = KEPT
    first: int = 0  # the number of the oldest entry that is left
    _entries: deque[LogEntry] = field(default_factory=deque)

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def end(self) -> int:
        """The number that the next entry will get."""
        return self.first + len(self._entries)

    def add(self, entries: Iterable[LogEntry]) -> int:
        """Take entries in; the number of the first of them."""
        start = self.end
        self._entries.extend(entries)
        while len(self._entries) > self.kept:
            self._entries.popleft()
            self.first += 1
        return start

    def copy(self) -> Ring:
        """The ring as it is now; what comes later is not in it."""
        return Ring(self.kept, self.first, self._entries.copy())

    def get(self, number: int) -> LogEntry:
        """The entry of that number. Raises IndexError where it has left."""
        if number < self.first:
            raise IndexError(number)
        return self._entries[number - self.first]

    def numbered(self, start: int, end: int | None = None) -> Iterable[tuple[int, LogEntry]]:
        """The entries from a number on, with their numbers."""
        start = max(start, self.first)
        last = None if end is None else max(end - self.first, 0)
        return enumerate(islice(self._entries, start - self.first, last), start)


class Index:
    """The numbers of the entries that a filter takes, in order. It leaves out; it never deletes.

    It shows the ring as it was at the last `refresh`.
    """

    def __init__(self, ring: Ring, takes: Callable[[LogEntry], bool] | None = None) -> None:
        self.ring = ring
        self._takes = takes  # None: all, and no list of numbers is kept
        self._first = self._end = ring.first
        self._numbers: list[int] = []
        self._gone = 0  # how many at the head of the list have left the ring
        self.refresh()

    def __len__(self) -> int:
        return self._end - self._first if self._takes is None else len(self._numbers) - self._gone

    def refresh(self) -> int:
        """Take in what is new; how many lines have left at the top."""
        takes, ring = self._takes, self.ring
        if takes is None:
            dropped = min(ring.first, self._end) - self._first
        else:
            self._numbers += [number for number, entry in ring.numbered(self._end) if takes(entry)]
            gone = bisect_left(self._numbers, ring.first)
            dropped, self._gone = gone - self._gone, gone
            if gone > ring.kept:
                del self._numbers[:gone]
                self._gone = 0
        self._first, self._end = ring.first, ring.end
        return dropped

    def number(self, line: int) -> int:
        """The number of the entry on a line."""
        return self._first + line if self._takes is None else self._numbers[self._gone + line]

    def line(self, number: int) -> int:
        """The line of that entry, or of the first after it."""
        if self._takes is None:
            return max(number - self._first, 0)
        return max(bisect_left(self._numbers, number) - self._gone, 0)

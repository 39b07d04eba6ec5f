"""The entries of the log: a ring of the last ones, filters, and an index of the matches. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from datetime import datetime
from typing import Any

from hookscope.console.state.hook_rows import has_letters, name_distance
from hookscope.console.theme.text_styles import word_width
from hookscope.values import dataclass

MOST_ENTRIES = 100_000
RING_SLACK = 1_024  # dropped entries before the list is shortened
LOG_LEVELS = ("debug", "info", "warn", "error")
LEVEL_ALIASES = {"warning": "warn", "information": "info", "err": "error", "critical": "error"}
SEARCHED_CHARACTERS = 4_000  # characters of an entry that filters search
RUN_KINDS = ("fire", "run")  # of the entry of a run: while it runs, and when it has ended
MOST_RANKED = 2_000  # matching entries that are compared to select the best one


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of the log."""

    at: datetime
    kind: str  # fire (a run that has started), step (a handler), run (a run that has ended), real, scan, …
    subject: str  # a hook, a file, an event key
    text: str
    level: str = "info"
    run: int | None = None  # the number of its run
    real: str | None = None  # the id of its real event
    event: str = ""  # the key of its event
    hooks: tuple[str, ...] = ()  # the hooks that it concerns
    session: str = ""  # the session key of its event
    # The text that filters search, computed once: each letter reads it in all entries.
    search_text: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        subject, text = self.subject[:SEARCHED_CHARACTERS], self.text[:SEARCHED_CHARACTERS]
        object.__setattr__(self, "search_text", f"{self.kind} {subject} {text}".lower())

    @property
    def outcome(self) -> str:
        """`failed` or `ok` for entries of runs; else empty."""
        level = LEVEL_ALIASES.get(self.level, self.level)
        return {"error": "failed", "info": "ok"}.get(level, "") if self.run is not None else ""

    @property
    def origin(self) -> str:
        """`real` for the host's own events, `fired` for entries of runs; else empty."""
        return "real" if self.kind == "real" else "fired" if self.run is not None else ""


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which entries to show. All conditions must hold; `level` means this level or worse.

    `event` and `hook` are whole names, or beginnings that end in `*`, in lower case. If the filter is
    `fuzzy`, it also matches entries whose subject has all letters of the words, in this order.
    """

    words: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    level: str | None = None
    run: int | None = None
    event: str | None = None
    hook: str | None = None
    outcome: str | None = None
    origin: str | None = None
    fuzzy: bool = False

    def __bool__(self) -> bool:
        return self != LogFilter()

    def matches(self, entry: LogEntry) -> bool:
        if self.kinds and not any(entry.kind.lower().startswith(kind) for kind in self.kinds):
            return False
        if self.level is not None and not is_at_least(entry.level, self.level):
            return False
        if self.run is not None and entry.run != self.run:
            return False
        if self.event is not None and not is_name(entry.event, self.event):
            return False
        if self.hook is not None and not any(is_name(hook, self.hook) for hook in entry.hooks):
            return False
        if self.outcome not in (None, entry.outcome) or self.origin not in (None, entry.origin):
            return False
        if any(word in entry.search_text for word in self.excluded):
            return False
        if all(word in entry.search_text for word in self.words):
            return True
        return self.fuzzy and has_letters(entry.subject.casefold(), "".join(self.words))

    def predicate(self) -> Callable[[LogEntry], bool]:
        """Return a faster form of `matches`, for very many entries."""
        if self == LogFilter(self.words) and len(self.words) == 1:
            return WordFilter(*self.words)
        return self.matches

    def narrows(self, other: LogFilter) -> bool:
        """Return True if everything that this filter matches surely matches the other."""
        return (
            not self.fuzzy
            and all(any(word in own_word for own_word in self.words) for word in other.words)
            and all(any(own in word for own in self.excluded) for word in other.excluded)
            and other.kinds in ((), self.kinds)
            and other.level in (None, self.level)
            and other.run in (None, self.run)
            and other.event in (None, self.event)
            and other.hook in (None, self.hook)
            and other.outcome in (None, self.outcome)
            and other.origin in (None, self.origin)
        )


def is_name(name: str, wanted: str) -> bool:
    """Return True if a name is the wanted one, ignoring case, or begins like `wanted*`."""
    name = name.lower()
    return name.startswith(wanted[:-1]) if wanted.endswith("*") else name == wanted


@dataclass(frozen=True, slots=True)
class LogChips:
    """The filters that keys and clicks turn on; None: all. Each has a chip above the log."""

    event: str | None = None
    hook: str | None = None
    outcome: str | None = None
    origin: str | None = None

    def __bool__(self) -> bool:
        return self != LogChips()

    def added_to(self, typed: LogFilter) -> LogFilter:
        """Return the typed filter with the conditions of these chips, which override typed ones."""
        return replace(
            typed,
            event=typed.event if self.event is None else self.event.lower(),
            hook=typed.hook if self.hook is None else self.hook.lower(),
            outcome=self.outcome or typed.outcome,
            origin=self.origin or typed.origin,
        )

    def turned(self, name: str, entry: LogEntry | None) -> LogChips:
        """Return the chips after `name` was turned to its next value.

        Outcome and origin have fixed values. Event and hook take theirs from the selected entry.
        """
        if name in CHIP_VALUES:
            values: tuple[str | None, ...] = CHIP_VALUES[name]
        elif name == "event":
            values = (entry.event,) if entry is not None and entry.event else ()
        else:
            values = entry.hooks if entry is not None else ()
        now: str | None = getattr(self, name)
        places = (None, *values, None)
        after = places[places.index(now) + 1] if now in places else None
        return replace(self, **{name: after})


CHIP_VALUES = {"outcome": ("failed", "ok"), "origin": ("real", "fired")}


@dataclass(frozen=True, slots=True)
class WordFilter:
    """Matches entries that contain one word: the common case, tested on all entries at each letter."""

    word: str

    def __call__(self, entry: LogEntry) -> bool:
        return self.word in entry.search_text


def matching_numbers(takes: Callable[[LogEntry], bool], entries: Iterable[tuple[int, LogEntry]]) -> list[int]:
    """Return the numbers of the matching entries. For one word, it avoids a call for each entry."""
    if isinstance(takes, WordFilter):
        word = takes.word
        return [number for number, entry in entries if word in entry.search_text]
    return [number for number, entry in entries if takes(entry)]


@dataclass(slots=True)
class FoldedRuns:
    """The runs whose handlers are hidden: a run folds when it ends."""

    rows: dict[int, int] = field(default_factory=dict)  # run → number of its entry
    with_handlers: set[int] = field(default_factory=set)
    folded: set[int] = field(default_factory=set)

    def add_to(self, ring: LogRing, entry: LogEntry) -> int:
        """Add an entry, and return its number. The end of a run takes the place of its start."""
        run = entry.run
        number = self.rows.get(run, -1) if run is not None and entry.kind == "run" else -1
        if number >= ring.first and ring.get(number).kind == "fire":
            ring.replace(number, replace(entry, at=ring.get(number).at))
        else:
            number = ring.add([entry])
        if run is not None and entry.kind == "step":
            self.with_handlers.add(run)
        elif run is not None and entry.kind in RUN_KINDS:
            self.rows[run] = number
        if run is not None and entry.kind == "run":
            self.folded.add(run)
        return number

    def shows(self, entry: LogEntry) -> bool:
        """Return False for a handler of a folded run."""
        return entry.kind != "step" or entry.run not in self.folded

    def sign(self, entry: LogEntry) -> str:
        """Return the fold sign of an entry; empty if it is not the entry of a run with handlers."""
        if entry.kind not in RUN_KINDS or entry.run not in self.with_handlers:
            return ""
        return "▸" if entry.run in self.folded else "▾"


def parse_log_filter(text: str) -> LogFilter:
    """Parse `kind:fire level:warn run:7 event:NAME hook:NAME outcome:failed from:real words !words`.

    A word matches anywhere in the text; an entry with a `!word` is excluded.
    """
    words, excluded, kinds, run = [], [], [], None
    named: dict[str, Any] = {}
    for part in text.lower().split():
        name, colon, value = part.partition(":")
        if colon and value and name == "kind":
            kinds += value.split(",")
        elif colon and value and name in FILTER_NAMES:
            named[FILTER_NAMES[name]] = LEVEL_ALIASES.get(value, value) if name == "level" else value
        elif name == "run" and value.isascii() and value.isdigit():
            run = int(value[:9])
        elif part.startswith("!"):
            excluded += [part[1:]] if part[1:] else []
        else:
            words.append(part)
    return LogFilter(tuple(words), tuple(excluded), tuple(kind for kind in kinds if kind), run=run, **named)


FILTER_NAMES = {"level": "level", "event": "event", "hook": "hook", "outcome": "outcome", "from": "origin"}


def is_at_least(level: str, wanted: str) -> bool:
    """Return True if `level` is `wanted` or worse. An unknown level matches only by its beginning."""
    level = LEVEL_ALIASES.get(level.lower(), level.lower())
    if level in LOG_LEVELS and wanted in LOG_LEVELS:
        return LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted)
    return level.startswith(wanted)


@dataclass(slots=True)
class LogRing:
    """The last entries. Each keeps its number; the oldest are dropped first."""

    kept: int = MOST_ENTRIES
    first: int = 0  # the number of the oldest entry that remains
    _entries: list[LogEntry] = field(default_factory=list)
    _gone: int = 0  # how many at the start of the list were dropped
    widest_subject: int = 0  # cells of the widest subject so far, dropped entries included

    def __len__(self) -> int:
        return len(self._entries) - self._gone

    @property
    def end(self) -> int:
        """The number of the next entry."""
        return self.first + len(self)

    def add(self, entries: Iterable[LogEntry]) -> int:
        """Add entries and return the number of the first."""
        start, before = self.end, len(self._entries)
        self._entries.extend(entries)
        widths = (word_width(entry.subject) for entry in self._entries[before:])
        self.widest_subject = max(self.widest_subject, *widths, 0)
        leaving = max(len(self) - self.kept, 0)
        self._gone += leaving
        self.first += leaving
        if self._gone > RING_SLACK:
            del self._entries[: self._gone]
            self._gone = 0
        return start

    def replace(self, number: int, entry: LogEntry) -> None:
        """Put another entry in the place of a remaining one."""
        self._entries[number - self.first + self._gone] = entry

    def copy(self) -> LogRing:
        """Return a copy of the ring, without later entries."""
        return LogRing(self.kept, self.first, self._entries[self._gone :], 0, self.widest_subject)

    def get(self, number: int) -> LogEntry:
        """Return the entry with that number. Raises IndexError if it was dropped."""
        if number < self.first:
            raise IndexError(number)
        return self._entries[number - self.first + self._gone]

    def those(self, numbers: Iterable[int]) -> Iterable[tuple[int, LogEntry]]:
        """Return the remaining entries with these numbers, as (number, entry)."""
        entries, first, before = self._entries, self.first, self._gone - self.first
        return ((number, entries[number + before]) for number in numbers if number >= first)

    def numbered(self, start: int, end: int | None = None) -> Iterable[tuple[int, LogEntry]]:
        """Return the entries from a number on, as (number, entry)."""
        start = max(start, self.first)
        before = self._gone - self.first
        last = None if end is None else max(end + before, self._gone)
        return enumerate(self._entries[start + before : last], start)


class LogIndex:
    """The numbers of the matching entries, in order. It hides entries and never deletes any.

    It shows the ring as of the last `refresh`.
    """

    def __init__(
        self,
        ring: LogRing,
        takes: Callable[[LogEntry], bool],
        *,
        among: LogIndex | None = None,
        most: int | None = None,
    ) -> None:
        """Check all entries now.

        Args:
            takes: the filter.
            among: an index of the same ring that matches at least as much: only its entries are checked.
            most: how many entries to check now; `refresh` continues while the index is `behind`.
        """
        self.ring = ring
        self._takes = takes
        self._end = ring.first
        self._numbers: list[int] = []
        self._gone = 0  # how many at the start of the list were dropped from the ring
        self._pool: list[int] = []  # numbers to check before the rest of the ring
        self._checked = 0  # how many of these were checked
        if among is not None and not among.behind:
            self._pool, self._end = among._numbers[among._gone :], among._end
        self.refresh(most)

    def __len__(self) -> int:
        return len(self._numbers) - self._gone

    @property
    def behind(self) -> bool:
        """Whether there are unchecked entries."""
        return self._checked < len(self._pool) or self._end < self.ring.end

    def refresh(self, most: int | None = None) -> int:
        """Check at most `most` new entries; return how many lines were dropped at the top."""
        takes, ring = self._takes, self.ring
        most = len(ring) + len(self._pool) if most is None else most
        pool = self._pool[self._checked : self._checked + most]
        self._checked += len(pool)
        if self._checked == len(self._pool):
            self._pool, self._checked = [], 0
        first = ring.first
        self._numbers += matching_numbers(takes, ring.those(pool))
        if not self._pool:
            start = max(self._end, first)
            end = min(start + most - len(pool), ring.end)
            self._numbers += matching_numbers(takes, ring.numbered(start, end))
            self._end = end
        dropped_numbers = bisect_left(self._numbers, first)
        dropped, self._gone = dropped_numbers - self._gone, dropped_numbers
        if dropped_numbers > ring.kept:
            del self._numbers[:dropped_numbers]
            self._gone = 0
        return dropped

    def recheck(self, number: int) -> None:
        """Check the entries from this number on again: the filter, or an entry, has changed there."""
        del self._numbers[max(bisect_left(self._numbers, number), self._gone) :]
        self._end = min(self._end, max(number, self.ring.first))

    def number(self, line: int) -> int:
        """Return the number of the entry on a line."""
        return self._numbers[self._gone + line]

    def line(self, number: int) -> int:
        """Return the line of that entry, or of the next one."""
        return max(bisect_left(self._numbers, number) - self._gone, 0)

    def best_line(self, words: str, most: int = MOST_RANKED) -> int:
        """Return the line of the newest entry whose subject matches the words best, of the last `most`."""
        end = len(self)
        lines = range(end - 1, max(end - most, 0) - 1, -1)
        subjects = ((name_distance(self.ring.get(self.number(line)).subject, words), line) for line in lines)
        return min(subjects, key=lambda one: one[0], default=(0, 0))[1]

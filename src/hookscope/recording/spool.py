"""Reads the spool that taps write: all of it, its end, or new events as they arrive. Changes nothing."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime
from hashlib import blake2s
from pathlib import Path
from typing import IO, Any, Literal

from hookscope.model.hook_event import from_iso
from hookscope.model.regular_file import open_regular
from hookscope.model.run import EventKind
from hookscope.values import dataclass

SPOOL_FILE, OLD_SPOOL_FILE = "events.jsonl", "events.jsonl.1"
SPOOL_FILES = (SPOOL_FILE, OLD_SPOOL_FILE, f"{SPOOL_FILE}.lock")
# bytes of a spool file that is read; taps begin a new file at an eighth of this
LARGEST_SPOOL = 64 * 1_048_576
LONGEST_LINE = 1_048_576  # bytes of a line; taps write at most a quarter of this
BYTES_AT_ONCE = 4 * 1_048_576  # bytes of one read at the end of a spool
HEAD_BYTES = 512  # bytes that identify a file
RECORDED_KINDS = ("folder", "stream", "plugin", "loaded")
EVENT_KEY = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]{1,500}")

RecordedKind = Literal["folder", "stream", "plugin", "loaded"]


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One line of a spool: a real event of the host, or `loaded`: the host has loaded the tap."""

    id: str  # derived from its content, so it stays the same if the line moves
    at: datetime  # when the tap received it
    kind: RecordedKind
    key: str = ""
    session: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    ctx: Mapping[str, Any] = field(default_factory=dict)
    host: str = ""  # the dialect under which the tap was installed
    language: str = ""
    pid: int = 0
    number: int = 0  # of the events of that process
    # members of context and ctx that were not recorded: the host's settings
    excluded_members: tuple[str, ...] = ()
    cut: int = 0  # the number of shortened values


def parse_spool_line(line: bytes) -> RecordedEvent | None:
    """Return the event of a line; None for anything that no tap has written."""
    try:
        document = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    if (
        not isinstance(document, dict)
        or document.get("tap") != 1
        or document.get("kind") not in RECORDED_KINDS
    ):
        return None
    try:
        at = from_iso(_text_member(document, "at"))
    except ValueError:
        return None
    key = _text_member(document, "key")
    if at.tzinfo is None or (document["kind"] != "loaded" and EVENT_KEY.fullmatch(key) is None):
        return None
    names = document.get("left_out")
    return RecordedEvent(
        id=blake2s(line.strip(), digest_size=8).hexdigest(),
        at=at,
        kind=document["kind"],
        key=key,
        session=_text_member(document, "session"),
        context=_mapping_member(document, "context"),
        meta=_mapping_member(document, "meta"),
        ctx=_mapping_member(document, "ctx"),
        host=_text_member(document, "host"),
        language=_text_member(document, "language"),
        pid=_number_member(document, "pid"),
        number=_number_member(document, "seq"),
        excluded_members=tuple(str(name) for name in names) if isinstance(names, list) else (),
        cut=_number_member(document, "cut"),
    )


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _text_member(document: Mapping[str, Any], name: str) -> str:
    value = document.get(name)
    return value if isinstance(value, str) else ""


def _mapping_member(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = document.get(name)
    return value if isinstance(value, dict) else {}


def _number_member(document: Mapping[str, Any], name: str) -> int:
    value = document.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


@dataclass(slots=True)
class SpoolReader:
    """Reads all of a spool, oldest first. Iterate it once; `skipped` counts invalid lines."""

    folder: Path
    skipped: int = 0

    def __iter__(self) -> Iterator[RecordedEvent]:
        """Yield events. Raises OSError if an existing file cannot be read."""
        for name in (OLD_SPOOL_FILE, SPOOL_FILE):
            try:
                file = open_regular(self.folder / name)
            except (FileNotFoundError, NotADirectoryError):
                continue
            with file:
                if os.fstat(file.fileno()).st_size > LARGEST_SPOOL:
                    why = f"larger than {LARGEST_SPOOL // 2**20} MiB, which no tap writes"
                    raise OSError(errno.EFBIG, why, str(self.folder / name))
                yield from self._events_in(file)

    def _events_in(self, file: IO[bytes]) -> Iterator[RecordedEvent]:
        whole = True  # whether the next piece begins a line
        while piece := file.readline(LONGEST_LINE):
            ends = piece.endswith(b"\n")
            event = parse_spool_line(piece) if whole and ends else None
            if event is not None:
                yield event
            elif ends and piece.strip():  # a line that is being written has no end yet
                self.skipped += 1
            whole = ends


def newest_events(folder: Path, limit: int, key: str | None = None) -> tuple[tuple[RecordedEvent, ...], int]:
    """Return the newest events, oldest first, and the number of invalid lines. Raises OSError."""
    reading = SpoolReader(folder)
    events = (event for event in reading if event.kind != "loaded" and key in (None, event.key))
    found = deque(events, maxlen=limit)
    return tuple(found), reading.skipped


def events_by_id(folder: Path, name: str) -> tuple[RecordedEvent, ...]:
    """Return the events whose id starts with a text. Raises OSError."""
    return tuple(
        event for event in SpoolReader(folder) if event.kind != "loaded" and event.id.startswith(name)
    )


@dataclass(slots=True)
class SpoolNews:
    """New events since the last read."""

    events: list[RecordedEvent] = field(default_factory=list)
    skipped: int = 0  # lines that are not events
    missed: bool = False  # the spool was rotated twice since: some events are lost


class SpoolTail:
    """Follows the end of a spool across its rotations. For one thread; keeps no file open.

    A file is identified by its first line: names change, and inodes are reused.
    """

    def __init__(self, folder: Path) -> None:
        """Start at the current end of the spool."""
        self.folder = folder
        self._in_long_line = False  # inside a line that is too long to be an event
        # of the old file, once all of it was read or it turned out to be foreign
        self._old = self._head_of(OLD_SPOOL_FILE)
        self._head = self._head_of(SPOOL_FILE)  # of the file that is being read; empty: nothing was read yet
        self._at = self._end() if self._head else 0

    def read_new(self) -> SpoolNews:
        """Return new events, of at most BYTES_AT_ONCE bytes: call again if there were any.

        A file that cannot be read now is read the next time.
        """
        news = SpoolNews()
        if not (self._head and self._head_of(SPOOL_FILE) == self._head):
            old = self._head_of(OLD_SPOOL_FILE)
            if old and old != self._head and old != self._old:  # a file created and rotated meanwhile
                news.missed = bool(self._head)
                self._begin(old)
            if old and old == self._head and self._read(OLD_SPOOL_FILE, news):
                return news  # there is more of it
            self._old = old
            self._begin(b"")
        self._read(SPOOL_FILE, news)
        if self._at and not self._head:
            self._head = self._head_of(SPOOL_FILE)
        return news

    def _begin(self, head: bytes) -> None:
        self._head, self._at, self._in_long_line = head, 0, False

    def _head_of(self, name: str) -> bytes:
        """Return the first line, or enough of it to identify the file; empty if there is none yet."""
        try:
            with open_regular(self.folder / name) as file:
                head = file.readline(HEAD_BYTES)
        except OSError:
            return b""
        return head if head.endswith(b"\n") or len(head) == HEAD_BYTES else b""

    def _end(self) -> int:
        """Return the offset after the last whole line."""
        try:
            with open_regular(self.folder / SPOOL_FILE) as file:
                size = file.seek(0, os.SEEK_END)
                start = file.seek(max(0, size - LONGEST_LINE))
                return start + file.read(size - start).rfind(b"\n") + 1
        except OSError:
            return 0

    def _read(self, name: str, news: SpoolNews) -> bool:
        """Read from our position; return whether there is more."""
        try:
            with open_regular(self.folder / name) as file:
                file.seek(self._at)
                data = file.read(BYTES_AT_ONCE)
        except OSError:
            return False
        end = data.rfind(b"\n") + 1
        if not end and len(data) > LONGEST_LINE:
            news.skipped += not self._in_long_line
            self._in_long_line = True
            self._at += len(data)
            return True
        for line in data[:end].split(b"\n")[:-1]:
            if self._in_long_line:  # the end of the long line
                self._in_long_line = False
                continue
            event = parse_spool_line(line) if len(line) <= LONGEST_LINE else None
            if event is not None:
                news.events.append(event)
            elif line.strip():
                news.skipped += 1
        self._at += end
        return len(data) == BYTES_AT_ONCE and end > 0


def open_spool(
    folder: Path, limit: int, key: str | None = None
) -> tuple[tuple[RecordedEvent, ...], SpoolTail]:
    """Return the newest events, of one key if given, and a tail of all later ones. Raises OSError."""
    tail = SpoolTail(folder)
    events, _ = newest_events(folder, limit, key)
    known = {event.id for event in events}
    between = [
        event
        for event in tail.read_new().events
        if event.id not in known and event.kind != "loaded" and key in (None, event.key)
    ]
    return (*events, *between)[-limit:], tail


POLL_SECONDS = 0.25  # seconds between two reads; a read without news takes half a kilobyte
POLL_SECONDS_WITHOUT_SPOOL = 2.0  # the same while there is no spool
EVENTS_BEFORE = 20  # earlier events that are reported first
EVENTS_AT_ONCE = 1_000  # events reported at once; only the newest if there are more


@dataclass(frozen=True, slots=True)
class ArrivedEvents:
    """New real events, oldest first, and the numbers of those that are not reported."""

    events: tuple[RecordedEvent, ...]
    dropped: int = 0  # earlier events that are not reported, because too many arrived at once
    skipped: int = 0  # lines that are not events
    missed: bool = False  # some events arrived and were lost between two reads


OnArrival = Callable[[ArrivedEvents], object]


class SpoolFollower:
    """Follows one spool in its own thread, and reports from it. `close` ends the thread."""

    def __init__(self, on_arrival: OnArrival) -> None:
        self._on_arrival = on_arrival
        self._folder: Path | None = None
        self._stop = threading.Event()

    def follow(self, folder: Path) -> None:
        """Report events of this spool from now on, its newest events first. No effect for the same spool."""
        if folder == self._folder:
            return
        self.close()
        self._folder, self._stop = folder, threading.Event()
        arguments = (folder, self._stop)
        threading.Thread(target=self._run, args=arguments, name="spool", daemon=True).start()

    def close(self) -> None:
        """Stop reporting."""
        self._stop.set()
        self._folder = None

    def _run(self, folder: Path, stop: threading.Event) -> None:
        try:
            before, tail = open_spool(folder, EVENTS_BEFORE)
        except OSError:  # unreadable; `tap status` reports it
            return
        self._report(ArrivedEvents(before), stop)
        while not stop.wait(POLL_SECONDS if os.path.isdir(folder) else POLL_SECONDS_WITHOUT_SPOOL):
            news = tail.read_new()
            events = tuple(news.events[-EVENTS_AT_ONCE:])
            dropped = len(news.events) - len(events)
            self._report(ArrivedEvents(events, dropped, news.skipped, news.missed), stop)

    def _report(self, arrived: ArrivedEvents, stop: threading.Event) -> None:
        if (arrived.events or arrived.skipped or arrived.missed) and not stop.is_set():
            self._on_arrival(arrived)


@dataclass(frozen=True, slots=True)
class EventCount:
    """A received event: how often, first and last time, and the number of sessions."""

    key: str
    kind: EventKind
    count: int
    first: datetime
    last: datetime


def count_events(
    events: Iterable[RecordedEvent],
) -> tuple[tuple[EventCount, ...], datetime | None, datetime | None]:
    """Return the received events, the time of the tap's last load, and that of the oldest line."""
    seen: dict[tuple[EventKind, str], EventCount] = {}
    loaded = oldest = None
    for event in events:
        oldest = min(oldest or event.at, event.at)
        if event.kind == "loaded":
            loaded = max(loaded or event.at, event.at)
            continue
        before = seen.get((event.kind, event.key))
        if before is None:
            seen[event.kind, event.key] = EventCount(event.key, event.kind, 1, event.at, event.at)
        else:
            seen[event.kind, event.key] = replace(
                before,
                count=before.count + 1,
                first=min(before.first, event.at),
                last=max(before.last, event.at),
            )
    return tuple(sorted(seen.values(), key=lambda one: (-one.count, one.key))), loaded, oldest

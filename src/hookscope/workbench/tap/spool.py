"""What taps wrote: read from the end, from the beginning, or as it comes. Nobody else's file is changed."""

from __future__ import annotations

import errno
import json
import os
import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from hashlib import blake2s
from pathlib import Path
from typing import IO, Any, Literal

from hookscope.core.event import from_iso
from hookscope.core.regular_file import open_regular
from hookscope.values import dataclass

FILE, OLD = "events.jsonl", "events.jsonl.1"
SPOOLED = (FILE, OLD, f"{FILE}.lock")
LARGEST = 64 * 1_048_576  # bytes of a spool file that is read; taps begin a new one at an eighth of that
LONGEST = 1_048_576  # bytes of a line; taps write a quarter of that at most
AT_ONCE = 4 * 1_048_576  # bytes that one look at the end of a spool reads
HEAD = 512  # bytes by which a file is known
KINDS = ("folder", "stream", "plugin", "loaded")
KEY = re.compile(r"[^\s\x00-\x1f\x7f-\x9f]{1,500}")

Kind = Literal["folder", "stream", "plugin", "loaded"]


@dataclass(frozen=True, slots=True)
class Heard:
    """One line of a spool: an event that a host really sent, or `loaded`: it has loaded the tap."""

    id: str  # of its content, so it is the same wherever the line has moved
    at: datetime  # when it was heard
    kind: Kind
    key: str = ""
    session: str = ""
    context: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    ctx: Mapping[str, Any] = field(default_factory=dict)
    host: str = ""  # the dialect under which the tap was installed
    language: str = ""
    pid: int = 0
    number: int = 0  # of the events of that process
    left_out: tuple[str, ...] = ()  # members of context and ctx that were not recorded: the host's settings
    cut: int = 0  # how often something was made shorter


def parsed(line: bytes) -> Heard | None:
    """A line as an event; None for anything that no tap has written."""
    try:
        told = json.loads(line, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("tap") != 1 or told.get("kind") not in KINDS:
        return None
    try:
        at = from_iso(_text(told, "at"))
    except ValueError:
        return None
    key = _text(told, "key")
    if at.tzinfo is None or (told["kind"] != "loaded" and KEY.fullmatch(key) is None):
        return None
    names = told.get("left_out")
    return Heard(
        id=blake2s(line.strip(), digest_size=8).hexdigest(),
        at=at,
        kind=told["kind"],
        key=key,
        session=_text(told, "session"),
        context=_members(told, "context"),
        meta=_members(told, "meta"),
        ctx=_members(told, "ctx"),
        host=_text(told, "host"),
        language=_text(told, "language"),
        pid=_number(told, "pid"),
        number=_number(told, "seq"),
        left_out=tuple(str(name) for name in names) if isinstance(names, list) else (),
        cut=_number(told, "cut"),
    )


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _text(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def _members(told: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = told.get(name)
    return value if isinstance(value, dict) else {}


def _number(told: Mapping[str, Any], name: str) -> int:
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


@dataclass(slots=True)
class Reading:
    """All of a spool, oldest first. Iterate it once; `skipped` counts the lines that were no events."""

    folder: Path
    skipped: int = 0

    def __iter__(self) -> Iterator[Heard]:
        """Raises OSError where a file that is there cannot be read."""
        for name in (OLD, FILE):
            try:
                file = open_regular(self.folder / name)
            except (FileNotFoundError, NotADirectoryError):
                continue
            with file:
                if os.fstat(file.fileno()).st_size > LARGEST:
                    why = f"larger than {LARGEST // 2**20} MiB, which no tap writes"
                    raise OSError(errno.EFBIG, why, str(self.folder / name))
                yield from self._of(file)

    def _of(self, file: IO[bytes]) -> Iterator[Heard]:
        whole = True  # does the next piece begin a line
        while piece := file.readline(LONGEST):
            ends = piece.endswith(b"\n")
            heard = parsed(piece) if whole and ends else None
            if heard is not None:
                yield heard
            elif ends and piece.strip():  # what is being written has no end yet
                self.skipped += 1
            whole = ends


def last(folder: Path, limit: int, key: str | None = None) -> tuple[tuple[Heard, ...], int]:
    """The newest events, oldest of them first, and how many lines of the spool were no events.

    Raises OSError.
    """
    reading = Reading(folder)
    events = (heard for heard in reading if heard.kind != "loaded" and key in (None, heard.key))
    found = deque(events, maxlen=limit)
    return tuple(found), reading.skipped


def named(folder: Path, name: str) -> tuple[Heard, ...]:
    """The events whose id begins so. Raises OSError."""
    return tuple(heard for heard in Reading(folder) if heard.kind != "loaded" and heard.id.startswith(name))


@dataclass(slots=True)
class News:
    """What came since the last time."""

    events: list[Heard] = field(default_factory=list)
    skipped: int = 0  # lines that were no events
    missed: bool = False  # the spool was turned twice since: some are gone


class Tail:
    """Follows the end of a spool through its turns. For one thread; keeps no file open.

    A file is known by its beginning: names change, and numbers of removed files are given out again.
    """

    def __init__(self, folder: Path) -> None:
        """From the end as it is now."""
        self.folder = folder
        self._inside = False  # of a line that is too long to be one
        self._old = self._head_of(OLD)  # of the old file when all of it was read, or was none of ours
        self._head = self._head_of(FILE)  # of the file that is being read; empty: nothing of it was read
        self._at = self._end() if self._head else 0

    def news(self) -> News:
        """What was written since, AT_ONCE bytes of it at most: call again where events came.

        A file that cannot be read now is read the next time.
        """
        news = News()
        if not (self._head and self._head_of(FILE) == self._head):
            old = self._head_of(OLD)
            if old and old != self._head and old != self._old:  # one that came and was turned meanwhile
                news.missed = bool(self._head)
                self._begin(old)
            if old and old == self._head and self._read(OLD, news):
                return news  # there is more of it
            self._old = old
            self._begin(b"")
        self._read(FILE, news)
        if self._at and not self._head:
            self._head = self._head_of(FILE)
        return news

    def _begin(self, head: bytes) -> None:
        self._head, self._at, self._inside = head, 0, False

    def _head_of(self, name: str) -> bytes:
        """The first line, or as much of it as tells it apart; empty where there is none yet."""
        try:
            with open_regular(self.folder / name) as file:
                head = file.readline(HEAD)
        except OSError:
            return b""
        return head if head.endswith(b"\n") or len(head) == HEAD else b""

    def _end(self) -> int:
        """Behind the last whole line."""
        try:
            with open_regular(self.folder / FILE) as file:
                size = file.seek(0, os.SEEK_END)
                start = file.seek(max(0, size - LONGEST))
                return start + file.read(size - start).rfind(b"\n") + 1
        except OSError:
            return 0

    def _read(self, name: str, news: News) -> bool:
        """Take in what stands behind our place; is there more."""
        try:
            with open_regular(self.folder / name) as file:
                file.seek(self._at)
                data = file.read(AT_ONCE)
        except OSError:
            return False
        end = data.rfind(b"\n") + 1
        if not end and len(data) > LONGEST:
            news.skipped += not self._inside
            self._inside = True
            self._at += len(data)
            return True
        for line in data[:end].split(b"\n")[:-1]:
            if self._inside:  # its end
                self._inside = False
                continue
            heard = parsed(line) if len(line) <= LONGEST else None
            if heard is not None:
                news.events.append(heard)
            elif line.strip():
                news.skipped += 1
        self._at += end
        return len(data) == AT_ONCE and end > 0


def opened(folder: Path, limit: int, key: str | None = None) -> tuple[tuple[Heard, ...], Tail]:
    """The newest events, of that key alone where one is given, and a tail of all that comes behind them.

    Raises OSError.
    """
    tail = Tail(folder)
    events, _ = last(folder, limit, key)
    known = {heard.id for heard in events}
    between = [
        heard
        for heard in tail.news().events
        if heard.id not in known and heard.kind != "loaded" and key in (None, heard.key)
    ]
    return (*events, *between)[-limit:], tail

"""Stores each event as one line of JSON in a file of bounded size.

`tap` never raises, prints, waits or changes the event. This file needs only the standard library.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

# Filled in by `hookscope tap install`. Without a folder, nothing is recorded.
SPOOL = ""  # the spool's folder, absolute or relative to this file
HOST = ""  # the dialect for which it was installed

FILE = "events.jsonl"
FILE_SIZE = 8 * 1024 * 1024  # bytes; then the file is renamed to `events.jsonl.1`
LINE = 256 * 1024  # bytes; of a longer event, only the name is kept
CHARACTERS = 100_000  # of one event
VALUE = 20  # characters that each value counts as, in addition to its text
TEXT = 20_000  # characters of one text
NAME = 500  # characters of a key or a session
ITEMS = 200  # of one list or mapping
DEPTH = 12
STALE = 10  # seconds after which a lock is taken for that of an ended process
SAFE = 2**53 - 1  # larger integers become strings, because JavaScript would round them
BIGGEST = 256  # bits; larger numbers take long to print
SECRET = re.compile(
    r"(?:(?<!continuation)(?<!continuation[_-])token|secret|password|passwd|passphrase|authorization|cookie"
    r"|credential|(?:api|private|secret|access)[_-]?key)s?\Z",
    re.IGNORECASE,
)

# Variables whose values are masked in all texts, and texts that look like a secret.
VARIABLE = re.compile(
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIAL|COOKIE|DSN|_AUTH|(?<!PUBLIC)_KEY)S?(?:_\d+)?\Z",
    re.IGNORECASE,
)
LOOKS = re.compile(
    r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|(?<![\w-])[sr]k[-_](?=[A-Za-z_-]*\d)[\w-]{16,}"
    r"|\bxox[a-z]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
)
SHORTEST = 8  # characters; shorter values are not masked
BEYOND = 4_096  # characters after the end of a truncated text that are searched too

Keys = tuple[str, ...]
Above = tuple[int, ...]

_sequence = 0
_hidden: Sequence[tuple[str, str]] = ()  # names and values of secrets at the time of this event


def tap(describe: Callable[[], dict[str, Any]], leave_out: Sequence[str] = ()) -> None:
    """Record the event that `describe` returns, without these members of context and ctx, which only repeat
    the host's settings. Workers of Hookscope record nothing, because their events are in the journal."""
    global _sequence, _hidden
    if not SPOOL or "HOOKSCOPE_HOST_STATE" in os.environ:
        return
    with suppress(Exception):  # a failure must not affect the host
        _sequence += 1
        _hidden = _secrets()
        event = describe()
        if event["kind"] == "loaded" or isinstance(event["key"], str):
            _append(_line_of(event, leave_out))


def _line_of(event: dict[str, Any], leave_out: Sequence[str]) -> bytes:
    whole = _line(event, _Copy(leave_out))
    if len(whole) <= LINE:
        return whole
    name = {key: value for key, value in event.items() if key not in ("context", "meta", "ctx")}
    return _line(name, _Copy((), 1))


def _line(event: dict[str, Any], copy: _Copy) -> bytes:
    now = datetime.datetime.now(datetime.timezone.utc)
    line: dict[str, Any] = {"tap": 1, "at": _moment(now), "kind": event["kind"]}
    for name in ("key", "type", "action", "session"):
        value = event.get(name)
        if isinstance(value, str):
            line[name] = _own_words(value, NAME)
    for name in ("timestamp", "context", "meta", "ctx"):
        if event.get(name) is not None:
            line[name] = copy.of(event[name])
    line.update(host=HOST, language="python", pid=os.getpid(), seq=_sequence)
    if copy.left_out:
        line["left_out"] = copy.left_out
    if copy.cut:
        line["cut"] = copy.cut
    return json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _moment(value: datetime.datetime) -> str:
    """Return a time as text in UTC; a time without a zone is local time."""
    in_utc = value.astimezone(datetime.timezone.utc)
    return in_utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Copy:
    """Makes JSON copies of bounded size. Functions are omitted."""

    def __init__(self, leave_out: Sequence[str], cut: int = 0) -> None:
        self.cut = cut  # how often something was truncated
        self.left_out: list[str] = []
        self._leave_out = leave_out
        self._left = CHARACTERS

    def of(self, value: Any, keys: Keys = (), above: Above = (), secret: bool = False) -> Any:
        """Return a copy. `keys`: its path; `above`: IDs of its containers; `secret`: below a secret key."""
        self._left -= VALUE
        try:
            return self._of(value, keys, above, secret)
        except Exception:  # a foreign object may raise anything
            return self._short("<unreadable>")

    def _of(self, value: Any, keys: Keys, above: Above, secret: bool) -> Any:
        if isinstance(value, str):
            return "${SECRET:" + _variable_of(keys) + "}" if secret and value else self._text(value)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            if -SAFE <= value <= SAFE:
                return int(value)
            return str(int(value)) if value.bit_length() <= BIGGEST else self._short("<number>")
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else str(value)
        if isinstance(value, datetime.datetime):
            return _moment(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._short(f"<{len(value)} bytes>")
        if isinstance(value, BaseException):
            return {"name": type(value).__name__, "message": self._text(str(value))}
        if id(value) in above:
            return self._short("<cycle>")
        if len(above) >= DEPTH:
            return self._short("<deeper>")
        above = (*above, id(value))
        if isinstance(value, Mapping):
            return self._members(value.items(), keys, above, secret)
        if isinstance(value, (list, tuple, set, frozenset)):
            return self._list(value, len(value), keys, above, secret)
        members = getattr(value, "__dict__", None)  # of an object; other values become strings
        if isinstance(members, dict) and not callable(value):
            return self._members(members.items(), keys, above, secret)
        return self._text(str(value))

    def _list(self, items: Iterable[Any], length: int, keys: Keys, above: Above, secret: bool) -> Any:
        made: list[Any] = []
        for item in items:
            if len(made) >= ITEMS or self._left <= 0:
                break
            made.append(None if callable(item) else self.of(item, (*keys, str(len(made))), above, secret))
        self.cut += len(made) < length
        return made

    def _members(self, pairs: Iterable[tuple[Any, Any]], keys: Keys, above: Above, secret: bool) -> Any:
        made: dict[str, Any] = {}
        for key, value in pairs:
            if len(made) >= ITEMS or self._left <= 0:
                self.cut += 1
                break
            name = _own_words(str(key), NAME) if isinstance(key, (str, int)) else "<key>"
            self._left -= len(name)
            if not keys and name in self._leave_out:
                self.left_out.append(name)
            elif not callable(value):
                below = secret or SECRET.search(name) is not None
                made[name] = self.of(value, (*keys, name), above, below)
        return made

    def _text(self, value: str) -> str:
        room = max(0, min(TEXT, self._left))
        self._left -= min(len(value), room)
        whole = len(value) <= room
        return _own_words(value) if whole else self._short(f"{_own_words(value, room)}…")

    def _short(self, value: str) -> str:
        self.cut += 1
        return value


def _own_words(value: str, room: int | None = None) -> str:
    """Return the text, truncated to `room` characters, with secrets masked. `${SECRET:` gets a space, so that
    the text does not request a secret when the event is fired again."""
    text = value if room is None else value[: room + BEYOND]
    text = text.replace("${SECRET:", "$ {SECRET:")
    for name, secret in _hidden:
        if secret in text:
            text = text.replace(secret, "${SECRET:" + name + "}")
    return LOOKS.sub("${SECRET:VALUE}", text)[:room]


def _secrets() -> list[tuple[str, str]]:
    """Return secret variables as (name, value) in all spellings of the values, the longest value first."""
    found: set[tuple[str, str]] = set()
    for name, value in os.environ.items():
        if VARIABLE.search(name):
            forms = (value, json.dumps(value)[1:-1], *map(str.strip, value.splitlines()))
            found.update((re.sub(r"\W", "_", name), form) for form in forms if len(form) >= SHORTEST)
    return sorted(found, key=lambda one: -len(one[1]))


def _variable_of(keys: Keys) -> str:
    """Return the variable for the secret when the event is fired again: AUTH_API_KEY for auth.apiKey."""
    words = re.sub(r"([a-z\d])([A-Z])", r"\1_\2", "_".join(keys))
    return re.sub(r"\W+", "_", words)[-60:].upper()


# The file


@cache
def _file() -> str:
    return os.path.join(os.path.dirname(os.path.realpath(__file__)), SPOOL, FILE)


def _append(text: bytes) -> None:
    file = _file()
    handle = _opened(file)
    try:
        state = os.fstat(handle)
        if state.st_size + len(text) > FILE_SIZE and _turned(file, state.st_ino):
            os.close(handle)
            handle = _opened(file)
            state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode) or state.st_size + len(text) > 2 * FILE_SIZE:
            return
        # One write, which the system appends even if others write. A line that a kill has cut off is ended.
        os.write(handle, b"\n" + text if _torn(handle, state.st_size) else text)
    finally:
        os.close(handle)


def _opened(file: str) -> int:
    """Open the file. Raises if its folder does not exist: on another machine, nothing is recorded."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
    return os.open(file, flags, 0o600)


def _torn(handle: int, size: int) -> bool:
    """Return whether the file ends within a line, and is not just being written by another process."""
    ended = size == 0 or os.pread(handle, 1, size - 1) in (b"", b"\n")
    return not ended and os.fstat(handle).st_size == size


def _turned(file: str, inode: int) -> bool:
    """Rename the full file. Return False if another process is just doing so."""
    lock = f"{file}.lock"
    try:
        os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if time.time() - os.stat(lock).st_mtime > STALE:
            os.unlink(lock)
        return False
    try:
        if os.stat(file).st_ino == inode:
            os.rename(file, f"{file}.1")
        return True
    finally:
        os.unlink(lock)

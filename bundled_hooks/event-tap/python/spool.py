"""One line of JSON for every event, in a file of bounded size.

Nothing here raises, prints, waits or touches the event. It needs the standard library alone.
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

# Filled in by `hookscope tap install`. Without a folder nothing is recorded.
SPOOL = ""  # the spool's folder: absolute, or as seen from this file
HOST = ""  # the dialect under which it was installed

FILE = "events.jsonl"
FILE_SIZE = 8 * 1024 * 1024  # bytes; then the file becomes the old one, `events.jsonl.1`
LINE = 256 * 1024  # bytes; of a longer event only the name is kept
CHARACTERS = 100_000  # of one event
VALUE = 20  # characters that each value counts for, beside those of its text
TEXT = 20_000  # characters of one text
NAME = 500  # characters of a key or a session
ITEMS = 200  # of one list or mapping
DEPTH = 12
STALE = 10  # seconds after which a lock belongs to somebody who died
SAFE = 2**53 - 1  # larger whole numbers are texts, as JavaScript would lose their end
BIGGEST = 256  # bits; longer numbers take long to print
SECRET = re.compile(
    r"(?:(?<!continuation)(?<!continuation[_-])token|secret|password|passwd|passphrase|authorization|cookie"
    r"|credential|(?:api|private|secret|access)[_-]?key)s?\Z",
    re.IGNORECASE,
)

# Variables whose values are masked wherever a text has them, and values that look like a secret.
VARIABLE = re.compile(
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIAL|COOKIE|DSN|_AUTH|(?<!PUBLIC)_KEY)S?(?:_\d+)?\Z",
    re.IGNORECASE,
)
LOOKS = re.compile(
    r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|(?<![\w-])[sr]k[-_](?=[A-Za-z_-]*\d)[\w-]{16,}"
    r"|\bxox[a-z]-[\w-]{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|\Z)"
)
SHORTEST = 8  # characters of a value that is masked
BEYOND = 4_096  # characters behind the end of a text that is cut, which are searched too

Keys = tuple[str, ...]
Above = tuple[int, ...]

_sequence = 0
_hidden: Sequence[tuple[str, str]] = ()  # names and values of secrets, as of this event


def tap(heard: Callable[[], dict[str, Any]], leave_out: Sequence[str] = ()) -> None:
    """Record what `heard` returns, without those members of context and ctx that only repeat the host's
    settings. What Hookscope fires is on record already, so its workers are passed over."""
    global _sequence, _hidden
    if not SPOOL or "HOOKSCOPE_HOST_STATE" in os.environ:
        return
    with suppress(Exception):  # the host must not feel that it is listened to
        _sequence += 1
        _hidden = _secrets()
        event = heard()
        if event["kind"] == "loaded" or isinstance(event["key"], str):
            _append(_line_of(event, leave_out))


def _line_of(heard: dict[str, Any], leave_out: Sequence[str]) -> bytes:
    whole = _line(heard, _Copy(leave_out))
    if len(whole) <= LINE:
        return whole
    name = {key: value for key, value in heard.items() if key not in ("context", "meta", "ctx")}
    return _line(name, _Copy((), 1))


def _line(heard: dict[str, Any], copy: _Copy) -> bytes:
    now = datetime.datetime.now(datetime.timezone.utc)
    told: dict[str, Any] = {"tap": 1, "at": _moment(now), "kind": heard["kind"]}
    for name in ("key", "type", "action", "session"):
        value = heard.get(name)
        if isinstance(value, str):
            told[name] = _own_words(value, NAME)
    for name in ("timestamp", "context", "meta", "ctx"):
        if heard.get(name) is not None:
            told[name] = copy.of(heard[name])
    told.update(host=HOST, language="python", pid=os.getpid(), seq=_sequence)
    if copy.left_out:
        told["left_out"] = copy.left_out
    if copy.cut:
        told["cut"] = copy.cut
    return json.dumps(told, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _moment(value: datetime.datetime) -> str:
    """A moment without a zone is this machine's."""
    in_utc = value.astimezone(datetime.timezone.utc)
    return in_utc.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class _Copy:
    """Makes copies as JSON can hold them, of bounded size. Functions are left out."""

    def __init__(self, leave_out: Sequence[str], cut: int = 0) -> None:
        self.cut = cut  # how often something was made shorter
        self.left_out: list[str] = []
        self._leave_out = leave_out
        self._left = CHARACTERS

    def of(self, value: Any, keys: Keys = (), above: Above = (), secret: bool = False) -> Any:
        """`keys` lead to the value, `above` are the ids of what it lies in; `secret`: a key says so."""
        self._left -= VALUE
        try:
            return self._of(value, keys, above, secret)
        except Exception:  # a foreign object may fail at anything
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
        members = getattr(value, "__dict__", None)  # of an object; what has none is a text
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
    """A text as it was, but for secrets, and that it cannot ask for one when the event is fired again. With
    `room`, so many characters of it."""
    text = value if room is None else value[: room + BEYOND]
    text = text.replace("${SECRET:", "$ {SECRET:")
    for name, secret in _hidden:
        if secret in text:
            text = text.replace(secret, "${SECRET:" + name + "}")
    return LOOKS.sub("${SECRET:VALUE}", text)[:room]


def _secrets() -> list[tuple[str, str]]:
    """Values of this process's variables as they may be written, the longest first."""
    found: set[tuple[str, str]] = set()
    for name, value in os.environ.items():
        if VARIABLE.search(name):
            forms = (value, json.dumps(value)[1:-1], *map(str.strip, value.splitlines()))
            found.update((re.sub(r"\W", "_", name), form) for form in forms if len(form) >= SHORTEST)
    return sorted(found, key=lambda one: -len(one[1]))


def _variable_of(keys: Keys) -> str:
    """The variable that stands for a secret when the event is fired again: of `auth.apiKey`, AUTH_API_KEY."""
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
        # One write, which the system puts at the end whoever else writes. A line cut off by a kill is ended.
        os.write(handle, b"\n" + text if _torn(handle, state.st_size) else text)
    finally:
        os.close(handle)


def _opened(file: str) -> int:
    """Raises where the folder is not there: on another machine nothing is recorded, and no folder is made."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NONBLOCK", 0)
    return os.open(file, flags, 0o600)


def _torn(handle: int, size: int) -> bool:
    """Does the file end within a line. While somebody writes it does too, and grows."""
    ended = size == 0 or os.pread(handle, 1, size - 1) in (b"", b"\n")
    return not ended and os.fstat(handle).st_size == size


def _turned(file: str, inode: int) -> bool:
    """Make the full file the old one. False where another process is just doing so."""
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

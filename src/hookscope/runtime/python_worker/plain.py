"""Any value as JSON's own types: what does not fit is named by its type, and said.

A handler may leave anything in an event: sets, open files, cycles, a hundred megabytes. What comes
out here can be packed into a frame, compared, stored and shown. Limited in depth, items and bytes.
"""

from __future__ import annotations

import os
from datetime import date
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any, Iterable, Iterator  # noqa: UP035  (3.9)

DEPTH = 64  # far below the interpreter's own limit, far above what people write
ITEMS = 200_000
BYTES = 4 * 1024 * 1024  # of JSON: an event and an answer together stay below the protocol's limit
# Of an event, each for itself, so that one of them cannot crowd out the others. Together below 6 MiB.
CONTEXT = 3 * 1024 * 1024
MESSAGES = 2 * 1024 * 1024
MESSAGE = 256 * 1024
MEMBER = 64 * 1024  # of its type, action, session key and timestamp
COUNT = 20_000  # messages
LAST = 1_000  # of them, where there are more; and their share of MESSAGES
LAST_BYTES = 512 * 1024
NOTES = 12  # then they are counted only
VOWELS = tuple("aeiouAEIOU")
DIGITS = 4096  # bits of a number: CPython refuses to print much longer ones


_name_of = type.__dict__["__name__"].__get__


def plain(value: Any, name: str = "", size: int = BYTES) -> tuple[Any, list[str]]:
    """A copy made of JSON's types only, and one sentence for each thing that had to be changed.

    `name` is what the sentences call the value; `size` is how many bytes of JSON it may take.
    Never raises, whatever classes of the handler's are in there.
    """
    cleaner = _Cleaner(size)
    copy = cleaner.clean(value, name, 0)
    return copy, cleaner.sentences()


def plain_event(document: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """As `plain`, for an event's document: all its keys are always there, whatever one of them holds."""
    copy: dict[str, Any] = {}
    notes: list[str] = []
    for name, value in document.items():
        if name == "messages" and issubclass(type(value), (list, tuple)):
            cleaner = _Cleaner(MESSAGES)
            copy[name], more = cleaner.messages(value), cleaner.sentences()
        else:
            copy[name], more = plain(value, name, CONTEXT if name == "context" else MEMBER)
        notes += more
    return copy, notes


class _Cleaner:
    def __init__(self, size: int) -> None:
        self._size = size
        self._left = size
        self._items = ITEMS
        self._notes: list[str] = []
        self._uncounted = 0
        self._open: set[int] = set()  # the containers around the present one: meeting one is a cycle

    def sentences(self) -> list[str]:
        more = [f"and {self._uncounted:,} more such changes"] if self._uncounted else []
        return self._notes + more

    def messages(self, value: Any) -> list[Any]:
        """The first ones and the last, as many as there is room for: what a later handler pushes is seen.

        A long one is cut and leaves room for the others.
        """
        kind: Any = list if issubclass(type(value), list) else tuple
        self._open.add(id(value))
        count = kind.__len__(value)
        item = kind.__getitem__
        most = count if count <= COUNT else COUNT - LAST
        self._left -= LAST_BYTES
        kept = [self._message(item(value, index), index) for index in self._while_room(range(most), 1)]
        self._left = max(self._left, 0) + LAST_BYTES
        rest = range(count - 1, max(len(kept), count - LAST) - 1, -1)
        last = [self._message(item(value, index), index) for index in self._while_room(rest, MESSAGE)]
        if len(kept) + len(last) < count:
            also = f" and the last {len(last):,}" if last else ""
            self._say("messages", f"is cut short: of {count:,} the first {len(kept):,}{also} are kept")
        return kept + last[::-1]

    def _while_room(self, indices: Iterable[int], least: int) -> Iterator[int]:
        """`least`: of the last ones none is cut for want of room, or it would seem to be a new one."""
        for index in indices:
            if self._left < least:
                return
            yield index

    def _message(self, item: Any, index: int) -> Any:
        room = self._left
        self._left = min(room, MESSAGE)
        rest = room - self._left
        cleaned = self.clean(item, f"messages[{index}]", 1)
        self._left += rest
        return cleaned

    def clean(self, value: Any, path: str, depth: int) -> Any:
        try:
            return self._clean(value, path, depth)
        except BaseException as error:  # a hostile class may raise anything, at any touch
            return self._named(f"unreadable {_kind(value)}", path, f"could not be read ({_kind(error)})")

    def _clean(self, value: Any, path: str, depth: int) -> Any:
        self._items -= 1
        if value is None or value is True or value is False:
            self._left -= 5
            return value
        if isinstance(value, str):
            return self._text(str.__str__(value), path)
        if isinstance(value, int):
            return self._number(int.__int__(value), path)
        if isinstance(value, float):
            return self._fraction(float.__float__(value), path)
        if isinstance(value, (dict, list, tuple, set, frozenset)):
            return self._container(value, path, depth)
        if isinstance(value, (date, os.PathLike)):
            text = value.isoformat() if isinstance(value, date) else os.fspath(value)
            self._say(path, f"is {_one(value)}, shown as text")
            return self._text(str(text), path)
        if isinstance(value, (bytes, bytearray, memoryview)):
            return self._named(f"{_kind(value)}, {len(value):,} bytes", path, f"is {_kind(value)}, not text")
        return self._named(_kind(value), path, f"is {_one(value)}, which JSON cannot hold")

    def _text(self, text: str, path: str) -> str:
        room = max(self._left, 0)
        if len(text) > room:
            self._say(path, f"was cut: {len(text) - room:,} characters are left out")
            text = text[:room]
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            self._say(path, "holds half a character (a lone surrogate), shown as ?")
            text = text.encode("utf-8", "replace").decode("utf-8")
        cost = len(encode_basestring_ascii(text)) + 1
        if cost > self._left + 3:  # escapes make it longer: six bytes for one character at worst, or twelve
            self._say(path, "was cut: it is too long")
            text = text[: self._left // 12]
            cost = len(encode_basestring_ascii(text)) + 1
        self._left -= cost
        return text

    def _number(self, number: int, path: str) -> Any:
        if number.bit_length() > DIGITS:
            return self._named(f"int of {number.bit_length():,} bits", path, "is too large a number")
        self._left -= number.bit_length() // 3 + 3
        return number

    def _fraction(self, number: float, path: str) -> Any:
        if not isfinite(number):
            return self._named(f"float {number!r}", path, f"is {number!r}, which JSON cannot hold")
        self._left -= 25
        return number

    def _container(self, value: Any, path: str, depth: int) -> Any:
        if id(value) in self._open:
            return self._named(f"cycle: {_kind(value)}", path, "holds itself")
        if depth >= DEPTH:
            return self._named(f"{_kind(value)}, too deep", path, f"is nested more than {DEPTH} deep")
        self._open.add(id(value))
        try:
            self._left -= 2
            if isinstance(value, dict):
                return self._members(value, path, depth)
            if isinstance(value, list):
                return self._elements(list(list.__iter__(value)), path, depth)
            if isinstance(value, tuple):
                return self._elements(list(tuple.__iter__(value)), path, depth)
            self._say(path, f"is {_one(value)}, shown as a list")
            return sorted(self._elements(list(value), path, depth), key=repr)  # sets have no order
        finally:
            self._open.discard(id(value))

    def _members(self, value: Any, path: str, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key, item in list(dict.items(value)):
            if self._full(path):
                break
            name = self._key(key, path)
            members[name] = self.clean(item, f"{path}.{name}" if path else name, depth + 1)
        return members

    def _elements(self, value: list[Any], path: str, depth: int) -> list[Any]:
        elements: list[Any] = []
        for item in value:
            if self._full(path):
                break
            elements.append(self.clean(item, f"{path}[{len(elements)}]", depth + 1))
        return elements

    def _key(self, key: Any, path: str) -> str:
        if isinstance(key, str):
            return self._text(str.__str__(key), f"a name in {path}" if path else "a name")
        self._say(path, f"has {_one(key)} for a name")
        if key is None or isinstance(key, (bool, int, float)):
            return self._text(repr(key), path)
        return self._text(f"<{_kind(key)}>", path)

    def _full(self, path: str) -> bool:
        if self._left > 0 and self._items > 0:
            return False
        self._say(path, f"is cut short: more than {self._size:,} bytes or {ITEMS:,} items")
        return True

    def _named(self, kind: str, path: str, what: str) -> str:
        self._say(path, what)
        self._left -= len(kind) + 4
        return f"<{kind}>"

    def _say(self, path: str, what: str) -> None:
        if len(self._notes) < NOTES:
            self._notes.append(f"{path[:200] or 'it'} {what}")
        else:
            self._uncounted += 1


def _kind(value: Any) -> str:
    """The type's name, whatever its metaclass says of it."""
    return str(_name_of(type(value)))[:80]


def _one(value: Any) -> str:
    """One of its type, with the article: an object, a set."""
    kind = _kind(value)
    return f"{'an' if kind.startswith(VOWELS) else 'a'} {kind}"

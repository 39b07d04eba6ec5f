"""Where the parts of a JSON text stand. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import JSONDecoder
from typing import NamedTuple, NoReturn

SPACE = re.compile(r"[ \t\n\r]*")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


# Numbers stay text: they are shown as they were written.
SCANNER = JSONDecoder(parse_int=str, parse_float=str, parse_constant=_no_constant)


class Member(NamedTuple):
    """One member of an object, or one item of a list."""

    name: str | int
    start: int  # of its key; of an item, of its value
    at: int  # of its value
    end: int


def members(text: str, at: int) -> Iterator[Member]:
    """The members of the object, or the items of the list, that begins there. The text is valid."""
    is_object = text[at] == "{"
    start, index = after_space(text, at + 1), 0
    while text[start] not in "}]":
        name: str | int = index
        value = start
        if is_object:
            name, end = SCANNER.raw_decode(text, start)
            value = after_space(text, after_space(text, end) + 1)
        _, end = SCANNER.raw_decode(text, value)
        yield Member(name, start, value, end)
        index += 1
        start = after_space(text, end)
        if text[start] == ",":
            start = after_space(text, start + 1)


def offset_of(text: str, path: Sequence[str | int]) -> int | None:
    """Where the member of this path begins in a valid text; None where there is none. The last one counts."""
    at, start = after_space(text, 0), None
    for step in path:
        if text[at : at + 1] not in ("{", "["):
            return None
        found = [member for member in members(text, at) if member.name == step]
        if not found:
            return None
        start, at = found[-1].start, found[-1].at
    return start


def line_of(text: str, offset: int) -> int:
    """The line that a character stands in, from 1."""
    return text.count("\n", 0, offset) + 1


def offset_at(text: str, row: int, column: int) -> int:
    """The character at a row and a column, both from 0."""
    start = 0
    for _ in range(row):
        start = text.find("\n", start) + 1
    return start + column


def column_of(text: str, offset: int) -> int:
    """The column of a character, from 1."""
    return offset - text.rfind("\n", 0, offset)


def after_space(text: str, at: int) -> int:
    """The first character from there on that is no space."""
    space = SPACE.match(text, at)
    return space.end() if space else at

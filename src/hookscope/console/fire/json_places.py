"""Where the parts of a JSON text stand. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from json import JSONDecoder
from typing import NamedTuple, NoReturn, TypeAlias

Path: TypeAlias = tuple[str | int, ...]

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


def offsets_of(text: str, paths: Iterable[Path]) -> dict[Path, int]:
    """Where the members of these paths begin in a valid text; of several of one name, the last. One pass."""
    wanted: dict[str | int, list[Path]] = {}
    for path in paths:
        wanted.setdefault(path[0], []).append(path)
    return _offsets(text, after_space(text, 0), wanted, 0) if wanted else {}


def _offsets(text: str, at: int, wanted: Mapping[str | int, list[Path]], depth: int) -> dict[Path, int]:
    if text[at : at + 1] not in ("{", "["):
        return {}
    last = {member.name: member for member in members(text, at) if member.name in wanted}
    found: dict[Path, int] = {}
    for name, member in last.items():
        deeper: dict[str | int, list[Path]] = {}
        for path in wanted[name]:
            if len(path) == depth + 1:
                found[path] = member.start
            else:
                deeper.setdefault(path[depth + 1], []).append(path)
        if deeper:
            found |= _offsets(text, member.at, deeper, depth + 1)
    return found


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

"""Read, compare and change parsed documents (plain data) at one path. Pure: nothing is modified in place."""

from collections.abc import Callable
from typing import Final

from hookscope.formats.positions import FormatError, KeyPath
from hookscope.storage.edits.atomic_files import CannotEdit


class Missing:
    """The type of MISSING alone."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
"""Where a path leads to nothing; `None` is a value that documents have."""


def child_of(value: object, step: str | int) -> object:
    """What one step leads to, or MISSING. A text is no index and a number no key."""
    if isinstance(value, dict) and isinstance(step, str):
        return value.get(step, MISSING)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        found: object = value[step]
        return found
    return MISSING


def value_at(value: object, path: KeyPath) -> object:
    """What a path leads to, or MISSING."""
    for step in path:
        value = child_of(value, step)
    return value


def depth_reached(value: object, path: KeyPath) -> int:
    """How many steps of the path lead to something."""
    for count, step in enumerate(path):
        value = child_of(value, step)
        if value is MISSING:
            return count
    return len(path)


def is_identical(one: object, other: object) -> bool:
    """Equal in value and type, all the way down: `true` is not `1`, and NaN is itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_identical(part, other[key]) for key, part in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_identical, one, other))
    return one == other or (one != one and other != other)


def verified_bytes(text: str, meaning: object, read: Callable[[bytes], object], line: str = "") -> bytes:
    """The text as bytes, once it was read again and means this. Raises CannotEdit, which names the `line`."""
    source = text.encode()
    try:
        is_verified = is_identical(read(source), meaning)
    except FormatError:
        is_verified = False
    if not is_verified:
        raise CannotEdit("The edit would change more than it should", line)
    return source


def with_value(document: object, path: KeyPath, value: object) -> object:
    """The whole with another value at a path; a missing object on the way is made."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    below = child_of(document, step)
    part = with_value({} if below is MISSING else below, rest, value)
    if isinstance(document, list):
        return [part if index == step else old for index, old in enumerate(document)]
    return {**document, step: part} if isinstance(document, dict) else document


def without_member(document: object, path: KeyPath) -> object:
    """The whole without one member of an object. The path leads to one."""
    parent = value_at(document, path[:-1])
    if not isinstance(parent, dict):
        return document
    return with_value(document, path[:-1], {key: part for key, part in parent.items() if key != path[-1]})

"""Read, compare and change parsed documents (plain data) at one path. Pure: inputs are not modified."""

from collections.abc import Callable
from typing import Final

from hookscope.formats.positions import FormatError, KeyPath
from hookscope.storage.edits.atomic_files import CannotEdit


class Missing:
    """The type of MISSING."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
"""The value at a path that does not exist; `None` is a value that documents have."""


def child_of(value: object, step: str | int) -> object:
    """Return the value at one step, or MISSING. A string is not an index, and a number is not a key."""
    if isinstance(value, dict) and isinstance(step, str):
        return value.get(step, MISSING)
    if isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value):
        found: object = value[step]
        return found
    return MISSING


def value_at(value: object, path: KeyPath) -> object:
    """Return the value at a path, or MISSING."""
    for step in path:
        value = child_of(value, step)
    return value


def depth_reached(value: object, path: KeyPath) -> int:
    """Return how many steps of the path exist."""
    for count, step in enumerate(path):
        value = child_of(value, step)
        if value is MISSING:
            return count
    return len(path)


def is_identical(one: object, other: object) -> bool:
    """Return True if both are equal in value and type, recursively: `true` is not `1`; NaN equals itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_identical(part, other[key]) for key, part in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(is_identical, one, other))
    return one == other or (one != one and other != other)


def verified_bytes(text: str, meaning: object, read: Callable[[bytes], object], line: str = "") -> bytes:
    """Return the text as bytes. Raises CannotEdit with `line` unless `read` returns `meaning` for them."""
    source = text.encode()
    try:
        is_verified = is_identical(read(source), meaning)
    except FormatError:
        is_verified = False
    if not is_verified:
        raise CannotEdit("The edit would change more than it should", line)
    return source


def with_value(document: object, path: KeyPath, value: object) -> object:
    """Return the document with another value at a path; missing objects are created."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    below = child_of(document, step)
    part = with_value({} if below is MISSING else below, rest, value)
    if isinstance(document, list):
        return [part if index == step else old for index, old in enumerate(document)]
    return {**document, step: part} if isinstance(document, dict) else document


def without_member(document: object, path: KeyPath) -> object:
    """Return the document without one existing member of an object."""
    parent = value_at(document, path[:-1])
    if not isinstance(parent, dict):
        return document
    return with_value(document, path[:-1], {key: part for key, part in parent.items() if key != path[-1]})

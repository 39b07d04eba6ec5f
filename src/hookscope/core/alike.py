"""When two plain values are one and the same: as JSON has it, not as Python compares."""

from collections.abc import Mapping
from typing import Any


def alike(one: Any, other: Any) -> bool:
    """Are they the same value: `true` is no `1`, and `1` and `1.0` are one number.

    Lists and tuples are both lists; the order of a mapping's names means nothing. NaN is itself.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(alike(part, other[name]) for name, part in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other or (one != one and other != other))

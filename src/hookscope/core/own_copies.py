"""Copies of an event that share nothing with it."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

ATOMS = frozenset({str, int, float, bool, type(None)})


class _NotPlain(Exception):
    """It holds something besides JSON's own types, or one thing in two places."""


def own_copy(event: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that shares nothing with the event. Raises whatever a stranger's `__deepcopy__` raises.

    What is JSON takes a third of `deepcopy`'s time: every event is copied, and some for every handler.
    """
    try:
        return _copied_members(dict(event), set())
    except Exception:  # _NotPlain, or what a stranger's type does: then `deepcopy` knows better
        return deepcopy(dict(event))


def _copied(value: Any, seen: set[int]) -> Any:
    if type(value) is dict:
        return _copied_members(value, seen)
    if type(value) is not list:
        raise _NotPlain
    _once(value, seen)
    return [item if type(item) in ATOMS else _copied(item, seen) for item in value]


def _copied_members(members: dict[str, Any], seen: set[int]) -> dict[str, Any]:
    _once(members, seen)
    copy = {}
    for name, value in members.items():
        if type(name) is not str:
            raise _NotPlain
        copy[name] = value if type(value) in ATOMS else _copied(value, seen)
    return copy


def _once(value: object, seen: set[int]) -> None:
    """A thing in two places stays one thing in the copy, and only `deepcopy` knows of what holds itself."""
    if id(value) in seen:
        raise _NotPlain
    seen.add(id(value))

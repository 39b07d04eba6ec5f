"""Copies of an event that share nothing with it."""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

ATOMS = frozenset({str, int, float, bool, type(None)})


class _NotPlain(Exception):
    """It holds something besides JSON's own types, or one thing in two places."""


def own_copy(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """A copy that shares nothing with the event; None where something in it cannot be copied."""
    for copier in (_plain_copy, deepcopy):
        try:
            return copier(dict(event))
        except Exception:  # _NotPlain, or whatever a stranger's `__deepcopy__` raises
            continue
    return None


def _plain_copy(event: dict[str, Any]) -> dict[str, Any]:
    """What is JSON takes a third of `deepcopy`'s time, which every handler of a hook would take."""
    return _copied_members(event, set())


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

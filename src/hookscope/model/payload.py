"""What handlers receive and return as JSON: the two arguments of a call, independent copies, equality."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

EVENT, CTX, METHODS, SYNC, NULLS, REQUESTS = "event", "ctx", "methods", "sync", "nulls", "asked"
FROZEN = "frozen"
REPLACED = "replaced"  # of the event's objects: those that a handler put others in the place of
CANCEL = "cancel"
PROMISE = "promise"  # in `asked`: a handler that must answer at once gave a promise, which is ignored
NULL = "null"  # in `asked`: it answered null in so many words, which some events tell from no answer


class Arguments(dict[str, Any]):
    """The two arguments as one view, which lanes carry as JSON.

    `event` is what handlers may change; `ctx` the plain members of the second argument; `methods` the
    names of those that are functions (`cancel`, `getSandbox`, `getSkill`); `sync` says that a promise is
    no answer; `nulls` that null is one, where a language tells it from nothing; `asked` collects what
    handlers asked their host for, in order. `frozen` is there where whoever changes the event throws, in
    languages that know such a thing.
    """


def make_arguments(
    event: Any,
    ctx: Mapping[str, Any],
    *,
    methods: Iterable[str] = (),
    sync: bool = False,
    nulls: bool = False,
    frozen: bool = False,
) -> Arguments:
    """A fresh view. `event` is not copied."""
    view = Arguments(event=event, ctx=dict(ctx), methods=list(methods), sync=sync, nulls=nulls, asked=[])
    if frozen:
        view[FROZEN] = True
    return view


def requests_in(view: object) -> tuple[str, ...]:
    """What handlers have asked so far; nothing where the view is none of two arguments."""
    asked = view.get(REQUESTS) if isinstance(view, Arguments) else None
    return tuple(map(str, asked)) if asked and isinstance(asked, list) else ()


ATOMS = frozenset({str, int, float, bool, type(None)})


class _NotPlain(Exception):
    """It holds something besides JSON's own types, or one thing in two places."""


def independent_copy(event: Mapping[str, Any]) -> dict[str, Any]:
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
    _check_unshared(value, seen)
    return [item if type(item) in ATOMS else _copied(item, seen) for item in value]


def _copied_members(members: dict[str, Any], seen: set[int]) -> dict[str, Any]:
    _check_unshared(members, seen)
    copy = {}
    for name, value in members.items():
        if type(name) is not str:
            raise _NotPlain
        copy[name] = value if type(value) in ATOMS else _copied(value, seen)
    return copy


def _check_unshared(value: object, seen: set[int]) -> None:
    """A thing in two places stays one thing in the copy, and only `deepcopy` knows of what holds itself."""
    if id(value) in seen:
        raise _NotPlain
    seen.add(id(value))


def json_equal(one: Any, other: Any) -> bool:
    """Are they the same value: `true` is no `1`, and `1` and `1.0` are one number.

    Lists and tuples are both lists; the order of a mapping's names means nothing. NaN is itself.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(json_equal(part, other[name]) for name, part in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(json_equal, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    return bool(one == other or (one != one and other != other))

"""The JSON payloads of handlers: the two arguments of a call, independent copies, equality."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

EVENT, CTX, METHODS, SYNC, NULLS, REQUESTS = "event", "ctx", "methods", "sync", "nulls", "asked"
FROZEN = "frozen"
REPLACED = "replaced"  # objects of the event that a handler replaced
CANCEL = "cancel"
PROMISE = "promise"  # in `asked`: a synchronous handler returned a promise, which is ignored
NULL = "null"  # in `asked`: it explicitly returned null, which differs from no answer


class Arguments(dict[str, Any]):
    """The two arguments of a handler as one payload, which executors carry as JSON.

    `event`: what handlers may change. `ctx`: the plain members of the second argument. `methods`:
    the names of its functions (`cancel`, `getSandbox`, `getSkill`). `sync`: a promise is not an answer.
    `nulls`: null is an answer, in languages that distinguish it from nothing. `asked`: the
    handlers' requests to the host, in order. `frozen`: present if changing the event throws, in
    languages that support that.
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
    """Return a new payload. `event` is not copied."""
    payload = Arguments(event=event, ctx=dict(ctx), methods=list(methods), sync=sync, nulls=nulls, asked=[])
    if frozen:
        payload[FROZEN] = True
    return payload


def requests_in(payload: object) -> tuple[str, ...]:
    """Return the handlers' requests so far; none if the payload is not an Arguments."""
    requests = payload.get(REQUESTS) if isinstance(payload, Arguments) else None
    return tuple(map(str, requests)) if requests and isinstance(requests, list) else ()


ATOMS = frozenset({str, int, float, bool, type(None)})


class _NotPlain(Exception):
    """The value has a type that JSON lacks, or contains one object twice."""


def independent_copy(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy that shares nothing with the event.

    Raises whatever a foreign `__deepcopy__` raises. JSON values take a third of `deepcopy`'s time;
    every event is copied, and some events for every handler.
    """
    try:
        return _copied_members(dict(event), set())
    except Exception:  # _NotPlain, or any error of a foreign type
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
    """Raise _NotPlain for an object that was seen already: only `deepcopy` keeps it one object."""
    if id(value) in seen:
        raise _NotPlain
    seen.add(id(value))


def mapping_or_empty(value: object) -> Mapping[str, Any]:
    """Return the value if it is a mapping, else an empty mapping."""
    return value if isinstance(value, Mapping) else {}


def strings_in_list(value: object) -> list[str]:
    """Return the strings in a list; none for any other value."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def texts_in(value: object) -> Iterator[str]:
    """Yield the texts in nested mappings and lists, without keys."""
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from texts_in(item)
        case list() | tuple():
            for item in value:
                yield from texts_in(item)


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """Return a copy of nested mappings and lists with each text replaced by `change(text)`. Keys stay."""
    match value:
        case str():
            return change(value)
        case Mapping():
            return {name: with_texts(item, change) for name, item in value.items()}
        case list() | tuple():
            return [with_texts(item, change) for item in value]
        case _:
            return value


def json_equal(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal: `true` is not `1`; `1` and `1.0` are.

    Tuples count as lists, the order of keys is ignored, and NaN equals itself.
    """
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return left.keys() == right.keys() and all(
            json_equal(part, right[name]) for name, part in left.items()
        )
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(map(json_equal, left, right))
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return bool(left == right or (left != left and right != right))

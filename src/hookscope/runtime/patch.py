"""What changed between two JSON documents, as an RFC 6902 patch, in time that grows with their size only;
and a patch laid on a document again.

The library for this finds moves, and takes three seconds for a list of a thousand that a handler
turned round: as long the console would stand still. Here a list is compared from both ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from itertools import islice
from typing import Any, TypeAlias

from hookscope.core.runs import Patch

Operation: TypeAlias = dict[str, Any]

MANY = 200  # operations: a patch of more is read by nobody, and names whole members instead

# For comparing: in Python 1 equals True and 1.0, in JSON they differ.
_text = json.JSONEncoder(sort_keys=True).encode


def same(one: Any, other: Any) -> bool:
    """Are these the same JSON value?"""
    return bool(one == other) and _text(one) == _text(other)


def patch_of(before: Any, after: Any) -> Patch:
    """The patch from one document to the other; () where nothing changed. It shares values with `after`."""
    patch = tuple(islice(_changes("", before, after), MANY + 1))
    return patch if len(patch) <= MANY else tuple(_whole_members(before, after))


class NoPatch(ValueError):
    """A patch that does not fit its document, or is none of ours: what is wrong with it."""


def applied(document: Any, patch: Patch) -> Any:
    """The document that a patch of `patch_of` leads to. The given one stays as it is. Raises NoPatch."""
    after = deepcopy(document)
    for operation in patch:
        match operation:
            case {"op": "replace", "path": "", "value": value}:
                after = deepcopy(value)
            case {"op": "add" | "remove" | "replace" as what, "path": str(path)} if path.startswith("/"):
                value = deepcopy(operation.get("value"))
                _do(after, what, [_name(part) for part in path[1:].split("/")], value)
            case _:
                raise NoPatch(f"{operation!r} is no operation that is known here")
    return after


def _do(document: Any, what: str, names: list[str], value: Any) -> None:
    *above, last = names
    parent = document
    for name in above:
        parent = parent[_key(parent, name)]
    key = _key(parent, last, end=what == "add")
    if what == "remove":
        del parent[key]
    elif what == "add" and isinstance(parent, list):
        parent.insert(key, value)
    else:
        parent[key] = value


def _key(parent: Any, name: str, *, end: bool = False) -> Any:
    """The member or place of that name; with `end` also a new one. Raises NoPatch where there is none."""
    if isinstance(parent, dict) and (end or name in parent):
        return name
    places = len(parent) + end if isinstance(parent, list) else 0
    if name.isascii() and name.isdigit() and int(name) < places:
        return int(name)
    raise NoPatch(f"there is no {name!r} to change")


def _changes(path: str, before: Any, after: Any) -> Iterator[Operation]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _in_members(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _in_elements(path, before, after)
    elif not same(before, after):
        yield _replace(path, after)


def _in_members(path: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Operation]:
    for name in before:
        if name not in after:
            yield _remove(_below(path, name))
    for name, value in after.items():
        if name in before:
            yield from _changes(_below(path, name), before[name], value)
        else:
            yield _add(_below(path, name), value)


def _in_elements(path: str, before: list[Any], after: list[Any]) -> Iterator[Operation]:
    """What both begin and end with stays; between, one is set against the other, the rest comes or goes."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and same(before[start], after[start]):
        start += 1
    end = 0
    while end < shorter - start and same(before[-1 - end], after[-1 - end]):
        end += 1
    common = shorter - end
    for index in range(start, common):
        yield from _changes(f"{path}/{index}", before[index], after[index])
    for index in range(len(before) - end - 1, common - 1, -1):  # from behind, so that the numbers hold
        yield _remove(f"{path}/{index}")
    for index in range(common, len(after) - end):
        yield _add(f"{path}/{index}", after[index])


def _whole_members(before: Any, after: Any) -> Iterator[Operation]:
    """One level only."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        yield _replace("", after)
        return
    for name in before.keys() - after.keys():
        yield _remove(_below("", name))
    for name, value in after.items():
        if name not in before:
            yield _add(_below("", name), value)
        elif not same(before[name], value):
            yield _replace(_below("", name), value)


def _name(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _below(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"


def _add(path: str, value: Any) -> Operation:
    return {"op": "add", "path": path, "value": value}


def _remove(path: str) -> Operation:
    return {"op": "remove", "path": path}


def _replace(path: str, value: Any) -> Operation:
    return {"op": "replace", "path": path, "value": value}

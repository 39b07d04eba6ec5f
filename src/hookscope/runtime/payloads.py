"""A handler's input as a JSON document, and its changes: messages, requests, and an RFC 6902 patch."""

from __future__ import annotations

import json
import marshal
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from copy import deepcopy
from itertools import islice
from typing import Any, TypeAlias

from hookscope.model.hook_event import HookEvent, from_iso, put_back, to_document
from hookscope.model.payload import EVENT, FROZEN, REPLACED, REQUESTS, Arguments
from hookscope.model.run import Event, Patch
from hookscope.runtime.python_worker.protocol import decode, encode
from hookscope.runtime.python_worker.safe_values import (
    MAX_BITS,
    MAX_DEPTH,
    event_to_plain,
    safe_text,
    to_plain,
)

Operation: TypeAlias = dict[str, Any]

MAX_OPERATIONS = 200  # of a patch; a longer one is replaced by one that names only whole members

# For comparing: in Python 1 equals True and 1.0, in JSON they differ.
_SCALARS = frozenset((str, int, bool, type(None)))
_canonical_text = json.JSONEncoder(sort_keys=True).encode


def is_same_json(one: Any, other: Any) -> bool:
    """Return True if both are the same JSON value, types included."""
    kind = type(one)
    if kind is type(other) and (kind in _SCALARS or (kind is not float and not one)):  # nearly always
        return bool(one == other)
    return bool(one == other) and _canonical_text(one) == _canonical_text(other)


def patch_of(before: Any, after: Any) -> Patch:
    """Return the patch from `before` to `after`; () if they are equal. It shares values with `after`."""
    patch = tuple(islice(_operations("", before, after), MAX_OPERATIONS + 1))
    return patch if len(patch) <= MAX_OPERATIONS else tuple(_whole_member_operations(before, after))


class PatchError(ValueError):
    """A patch that does not fit its document, with the reason."""


def apply_patch(document: Any, patch: Patch) -> Any:
    """Return a copy of the document with a patch of `patch_of` applied. Raises PatchError."""
    after = deepcopy(document)
    for operation in patch:
        match operation:
            case {"op": "replace", "path": "", "value": value}:
                after = deepcopy(value)
            case {"op": "add" | "remove" | "replace" as what, "path": str(path)} if path.startswith("/"):
                value = deepcopy(operation.get("value"))
                _apply_operation(after, what, [_unescaped(part) for part in path[1:].split("/")], value)
            case _:
                raise PatchError(f"{operation!r} is not a known patch operation")
    return after


def _apply_operation(document: Any, what: str, names: list[str], value: Any) -> None:
    *above, last = names
    parent = document
    for name in above:
        parent = parent[_existing_key(parent, name)]
    key = _existing_key(parent, last, end=what == "add")
    if what == "remove":
        del parent[key]
    elif what == "add" and isinstance(parent, list):
        parent.insert(key, value)
    else:
        parent[key] = value


def _existing_key(parent: Any, name: str, *, end: bool = False) -> Any:
    """Return the key or index named `name`; with `end`, it may be a new one. Raises PatchError."""
    if isinstance(parent, dict) and (end or name in parent):
        return name
    places = len(parent) + end if isinstance(parent, list) else 0
    if name.isascii() and name.isdigit() and int(name) < places:
        return int(name)
    raise PatchError(f"{name!r} does not exist, so the patch cannot change it")


def _operations(path: str, before: Any, after: Any) -> Iterator[Operation]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _member_operations(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _element_operations(path, before, after)
    elif not is_same_json(before, after):
        yield _replace(path, after)


def _member_operations(path: str, before: dict[str, Any], after: dict[str, Any]) -> Iterator[Operation]:
    for name in before:
        if name not in after:
            yield _remove(_pointer(path, name))
    for name, value in after.items():
        if name not in before:
            yield _add(_pointer(path, name), value)
        elif value is not before[name]:  # most members of an event are not even sent
            yield from _operations(_pointer(path, name), before[name], value)


def _element_operations(path: str, before: list[Any], after: list[Any]) -> Iterator[Operation]:
    """Yield operations for the elements between the common start and the common end of two lists."""
    shorter = min(len(before), len(after))
    start = 0
    while start < shorter and is_same_json(before[start], after[start]):
        start += 1
    end = 0
    while end < shorter - start and is_same_json(before[-1 - end], after[-1 - end]):
        end += 1
    common = shorter - end
    for index in range(start, common):
        yield from _operations(f"{path}/{index}", before[index], after[index])
    for index in range(len(before) - end - 1, common - 1, -1):  # from the end, so that indexes stay valid
        yield _remove(f"{path}/{index}")
    for index in range(common, len(after) - end):
        yield _add(f"{path}/{index}", after[index])


def _whole_member_operations(before: Any, after: Any) -> Iterator[Operation]:
    """Yield operations on top-level members only."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        yield _replace("", after)
        return
    for name in before.keys() - after.keys():
        yield _remove(_pointer("", name))
    for name, value in after.items():
        if name not in before:
            yield _add(_pointer("", name), value)
        elif not is_same_json(before[name], value):
            yield _replace(_pointer("", name), value)


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _pointer(path: str, name: str) -> str:
    return f"{path}/{name.replace('~', '~0').replace('/', '~1')}"


def _add(path: str, value: Any) -> Operation:
    return {"op": "add", "path": path, "value": value}


def _remove(path: str) -> Operation:
    return {"op": "remove", "path": path}


def _replace(path: str, value: Any) -> Operation:
    return {"op": "replace", "path": path, "value": value}


SMALL_SIZE = 16 * 1024  # bytes; larger values are measured part by part
_MARSHAL_FORMAT = 2  # its result does not depend on references
_LONG_NUMBER = re.compile(rf"\d{{{MAX_BITS // 4}}}")  # digits of a number that may be too large


def copy_if_plain(value: Any) -> tuple[Any, str] | None:
    """Return a copy and its JSON if the value is small and has only JSON types; else None."""
    try:
        if len(marshal.dumps(value, _MARSHAL_FORMAT)) > SMALL_SIZE:  # it rejects subclasses of JSON's types
            return None
        text = encode(value)
        copy = decode(text)
    except (ValueError, TypeError, RecursionError):
        return None
    if (
        "\\ud" in text
        or text.count("[") + text.count("{") >= MAX_DEPTH
        or _LONG_NUMBER.search(text) is not None
    ):
        return None  # perhaps a lone surrogate, deep nesting or a huge number
    return (copy, text) if copy == value else None


_EVENT_KEYS = to_document(HookEvent("", "")).keys()


def is_hook_event(view: object) -> bool:
    """Return True if handlers receive this view as a HookEvent, not as the value itself."""
    return isinstance(view, HookEvent | Event)


def document_of(view: Any) -> tuple[Any, list[str]]:
    """Return the view as JSON values, and notes on what could not be converted. Never raises."""
    document, notes, _ = packed_document(view)
    return document, notes


def packed_document(view: Any) -> tuple[Any, list[str], str]:
    """Return the same as `document_of`, and the document as JSON text; empty if it was not encoded."""
    if isinstance(view, Event):
        view = HookEvent(
            view.type, view.action, view.session_key, dict(view.context), view.timestamp, list(view.messages)
        )
    if not isinstance(view, HookEvent):
        return _pack_document(view, to_plain, [])
    deleted = put_back(view)
    return _pack_document(to_document(view), event_to_plain, deleted)


def _pack_document(
    value: Any, clean: Callable[[Any], tuple[Any, list[str]]], notes: list[str]
) -> tuple[Any, list[str], str]:
    found = copy_if_plain(value)
    if found is not None:
        return found[0], notes, found[1]
    document, more = clean(value)
    return document, notes + more, ""


def later_document(view: Any, before: Any, sent: Any) -> Any:
    """Return the document of which a worker sent this: all of it, or the changed members of a HookEvent.

    Raises ValueError if a worker sends no such thing for this kind of view.
    """
    if type(sent) is not type(before):
        raise ValueError("it has another type")
    if is_hook_event(view):
        if not sent.keys() <= _EVENT_KEYS:
            raise ValueError("it has unknown members")
        return before | sent
    if isinstance(view, Arguments) and not (EVENT in sent and isinstance(sent.get(REQUESTS), list)):
        raise ValueError("it lacks members")
    return sent


def changeable_part(view: Any, document: Any) -> Any:
    """Return the part of a document that handlers may change and patches cover."""
    return document[EVENT] if isinstance(view, Arguments) else document


def patch_between(view: Any, before: Any, after: Any) -> Patch:
    """Return the patch of the changeable part. A replaced member is one operation, even if much is equal."""
    patch = patch_of(changeable_part(view, before), changeable_part(view, after))
    replaced = after.get(REPLACED) if isinstance(view, Arguments) else None
    for name in replaced if isinstance(replaced, list) else ():
        path = f"/{name.replace('~', '~0').replace('/', '~1')}"
        rest = tuple(step for step in patch if not f"{step['path']}/".startswith(f"{path}/"))
        if len(rest) < len(patch) and name in after[EVENT]:
            patch = (*rest, {"op": "replace", "path": path, "value": after[EVENT][name]})
    return patch


def requests_between(view: Any, before: Any, after: Any) -> tuple[str, ...]:
    """Return the requests that were added between two documents of the view."""
    if not isinstance(view, Arguments):
        return ()
    return tuple(map(str, after[REQUESTS][len(before[REQUESTS]) :]))


def messages_in(view: Any) -> tuple[str, ...]:
    """Return the messages of a view or a document as text. `Arguments` have no messages."""
    if isinstance(view, Arguments):
        return ()
    found = view.get("messages") if isinstance(view, (dict, Mapping)) else getattr(view, "messages", None)
    if not isinstance(found, (list, tuple)):
        return ()
    return tuple([item if type(item) is str else joined_text(item) for item in found])


def joined_text(value: object) -> str:
    """Return a non-text message as hosts deliver it: they join messages as JavaScript does."""
    match value:
        case dict():
            return "[object Object]"
        case list() | tuple():
            return ",".join(item if type(item) is str else joined_text(item) for item in value)
        case None:
            return ""
        case bool():
            return "true" if value else "false"
    return safe_text(value)


def new_messages(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Return the messages after the old ones if these are unchanged, else all messages not among them."""
    if after is before or after == before:
        return ()
    if tuple(after[: len(before)]) == tuple(before):
        return tuple(after[len(before) :])
    left = Counter(before)
    new: list[str] = []
    for message in after:
        if left[message]:
            left[message] -= 1
        else:
            new.append(message)
    return tuple(new)


def apply_changes(view: Any, before: Any, after: Any, patch: Patch) -> None:
    """Apply a worker's changes to the view. `patch` is the one between both documents.

    Only changed parts are written, so that unchanged values that JSON cannot represent are kept. A frozen
    Event stays unchanged; its policy finds the changes in the results.
    """
    if isinstance(view, HookEvent):
        _write_event(view, before, after, {str(step["path"]).split("/")[1] for step in patch})
        return
    if is_same_json(before, after):
        return
    own = deepcopy(after)  # the view may change later, but results and patches must not
    if isinstance(view, Arguments):
        _write_arguments(view, before, own)
    elif isinstance(view, dict) and isinstance(own, dict):
        _write_members(view, before, own)


def _write_arguments(view: Arguments, before: Any, after: Any) -> None:
    """Change the event in place if possible: the caller may refer to it. A frozen event is kept."""
    if view.get(FROZEN):
        pass
    elif isinstance(view[EVENT], dict) and isinstance(after[EVENT], dict):
        _write_members(view[EVENT], before[EVENT], after[EVENT])
    elif not is_same_json(before[EVENT], after[EVENT]):
        view[EVENT] = after[EVENT]
    if isinstance(view.get(REQUESTS), list):
        view[REQUESTS][:] = after[REQUESTS]
    else:
        view[REQUESTS] = after[REQUESTS]


def _write_event(view: HookEvent, before: Any, after: Any, changed: Set[str]) -> None:
    after = {name: deepcopy(after[name]) for name in changed}  # as in `apply_changes`
    if "context" in changed:
        if isinstance(view.context, dict) and isinstance(after["context"], dict):
            _write_nested(view.context, before["context"], after["context"])
        else:
            view.context = after["context"]
    if "messages" in changed:
        if isinstance(view.messages, list) and isinstance(after["messages"], list):
            _write_messages(view.messages, before["messages"], after["messages"])
        else:
            view.messages = after["messages"]
    for name, attribute in (("type", "type"), ("action", "action"), ("sessionKey", "session_key")):
        if name in changed:
            setattr(view, attribute, after[name])
    if "timestamp" in changed:
        # An invalid timestamp is shown only by the patch; the event keeps its own.
        with suppress(TypeError, ValueError, AttributeError):
            view.timestamp = from_iso(after["timestamp"])


def _write_nested(target: dict[str, Any], before: Any, after: dict[str, Any]) -> None:
    """Do the same as `_write_members`, but change nested lists and dicts in place."""
    was = before if isinstance(before, dict) else {}
    for name in after.keys() & was.keys() & target.keys():
        own, old, new = target[name], was[name], after[name]
        if type(own) is dict and isinstance(new, dict):
            _write_nested(own, old, new)
        elif type(own) is list and isinstance(new, list) and not is_same_json(old, new):
            _write_messages(own, old, new)
        else:
            continue
        was, after = {**was, name: None}, {**after, name: None}  # done
    _write_members(target, was, after)


def _write_messages(target: list[Any], before: Any, after: list[Any]) -> None:
    """Keep the old messages if they are unchanged: the document may contain them cut short."""
    if isinstance(before, list) and is_same_json(after[: len(before)], before):
        target.extend(after[len(before) :])
    else:
        target[:] = after


def _write_members(target: dict[str, Any], before: Any, after: dict[str, Any]) -> None:
    was = before if isinstance(before, dict) else {}
    for name in was.keys() - after.keys():
        target.pop(name, None)
    for name, value in after.items():
        if name not in was or not is_same_json(was[name], value):
            target[name] = value

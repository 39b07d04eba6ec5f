"""What a handler gets, as a document; and what it did to it: the messages it pushed, and its changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any

from hookscope.core.arguments import ASKED, EVENT, FROZEN, REPLACED, Arguments
from hookscope.core.event import HookEvent, from_iso, put_back, to_document
from hookscope.core.runs import Event, Patch
from hookscope.runtime.at_once import plain_at_once
from hookscope.runtime.patch import patch_of, same
from hookscope.runtime.python_worker.faults import safe_text
from hookscope.runtime.python_worker.plain import plain, plain_event

_KEYS = to_document(HookEvent("", "")).keys()


def is_hook_event(view: object) -> bool:
    """Do handlers get this view as a HookEvent? Otherwise they get the value itself."""
    return isinstance(view, HookEvent | Event)


def document_of(view: Any) -> tuple[Any, list[str]]:
    """The view as JSON values, and what could not be shown as it is. Never raises."""
    document, notes, _ = packed_of(view)
    return document, notes


def packed_of(view: Any) -> tuple[Any, list[str], str]:
    """As `document_of`, and the document as JSON where that is known already, else nothing."""
    if isinstance(view, Event):
        view = HookEvent(
            view.type, view.action, view.session_key, dict(view.context), view.timestamp, list(view.messages)
        )
    if not isinstance(view, HookEvent):
        return _packed(view, plain, [])
    deleted = put_back(view)
    return _packed(to_document(view), plain_event, deleted)


def _packed(
    value: Any, clean: Callable[[Any], tuple[Any, list[str]]], notes: list[str]
) -> tuple[Any, list[str], str]:
    found = plain_at_once(value)
    if found is not None:
        return found[0], notes, found[1]
    document, more = clean(value)
    return document, notes + more, ""


def is_document_of(view: Any, document: Any) -> bool:
    """Can this be a later document of the view? An event's always has all its keys."""
    if is_hook_event(view):
        return isinstance(document, dict) and document.keys() == _KEYS
    if isinstance(view, Arguments):
        return EVENT in document and isinstance(document.get(ASKED), list)
    return True


def event_in(view: Any, document: Any) -> Any:
    """The part of a document that its handlers may change, and patches are of."""
    return document[EVENT] if isinstance(view, Arguments) else document


def changes_between(view: Any, before: Any, after: Any) -> Patch:
    """What became of the part that handlers may change. A member that another was put in the place of is one
    step, however alike they are."""
    patch = patch_of(event_in(view, before), event_in(view, after))
    replaced = after.get(REPLACED) if isinstance(view, Arguments) else None
    for name in replaced if isinstance(replaced, list) else ():
        path = f"/{name.replace('~', '~0').replace('/', '~1')}"
        rest = tuple(step for step in patch if not f"{step['path']}/".startswith(f"{path}/"))
        if len(rest) < len(patch) and name in after[EVENT]:
            patch = (*rest, {"op": "replace", "path": path, "value": after[EVENT][name]})
    return patch


def asked_between(view: Any, before: Any, after: Any) -> tuple[str, ...]:
    """What was asked for between two documents of the view."""
    if not isinstance(view, Arguments):
        return ()
    return tuple(map(str, after[ASKED][len(before[ASKED]) :]))


def messages_in(view: Any) -> tuple[str, ...]:
    """The messages of a view or of a document; text, whatever was pushed. Two arguments have none."""
    if isinstance(view, Arguments):
        return ()
    is_document = not isinstance(view, HookEvent) and isinstance(view, Mapping)
    found = view.get("messages") if is_document else getattr(view, "messages", None)
    if not isinstance(found, (list, tuple)):
        return ()
    return tuple([item if type(item) is str else safe_text(item) for item in found])


def pushed(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """What is new in `after`: behind the old ones where they still stand, else what was not there."""
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


def write_back(view: Any, before: Any, after: Any) -> None:
    """Do to the view what a worker's handler did to its copy of it.

    Only what changed is touched: what JSON could not hold stays in the view as it was.
    A frozen core Event takes no changes; its policy sees them in the results.
    """
    if same(before, after):
        return
    own = deepcopy(after)  # the view goes on changing; results and patches keep theirs
    if isinstance(view, HookEvent):
        _write_event(view, before, own)
    elif isinstance(view, Arguments):
        _write_arguments(view, before, own)
    elif isinstance(view, dict) and isinstance(own, dict):
        _write_members(view, before, own)


def _write_arguments(view: Arguments, before: Any, after: Any) -> None:
    """The event stays the same object where it can: who made the view may hold it. A frozen one stays as it
    is, whatever a worker says."""
    if view.get(FROZEN):
        pass
    elif isinstance(view[EVENT], dict) and isinstance(after[EVENT], dict):
        _write_members(view[EVENT], before[EVENT], after[EVENT])
    elif not same(before[EVENT], after[EVENT]):
        view[EVENT] = after[EVENT]
    if isinstance(view.get(ASKED), list):
        view[ASKED][:] = after[ASKED]
    else:
        view[ASKED] = after[ASKED]


def _write_event(view: HookEvent, before: Any, after: Any) -> None:
    changed = {name for name, value in after.items() if not same(before.get(name), value)}
    if "context" in changed:
        if isinstance(view.context, dict) and isinstance(after["context"], dict):
            _write_members(view.context, before["context"], after["context"])
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
        # Where that is no moment at all, the patch shows it and the event keeps its own.
        with suppress(TypeError, ValueError, AttributeError):
            view.timestamp = from_iso(after["timestamp"])


def _write_messages(target: list[str], before: Any, after: list[str]) -> None:
    """What stands before the new ones stays as it is: it may be longer than its document shows."""
    if isinstance(before, list) and after[: len(before)] == before:
        target.extend(after[len(before) :])
    else:
        target[:] = after


def _write_members(target: dict[str, Any], before: Any, after: dict[str, Any]) -> None:
    was = before if isinstance(before, dict) else {}
    for name in was.keys() - after.keys():
        target.pop(name, None)
    for name, value in after.items():
        if name not in was or not same(was[name], value):
            target[name] = value

"""What a handler changed in the event: an RFC 6902 patch read as before → after by path. Pure.

The console depends on no patch library: the few operations are folded here, and copy only what lies
on the way to the change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Final, Literal

from hookscope.core.event import iso
from hookscope.core.runs import Event, Patch
from hookscope.values import dataclass


class Absent(Enum):
    """Stands for a value that is not there; None is a value."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
DEEPEST = 200  # parts of a path that is followed; deeper ones fit nothing
Path = tuple[str, ...]


class Unfitting(Exception):
    """A patch that does not fit the document."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """One value that became another. In a list, one that was absent was put in between."""

    path: Path
    before: Any
    after: Any

    @property
    def kind(self) -> Literal["+", "-", "~"]:
        """Added, removed, or changed."""
        if self.before is ABSENT:
            return "+"
        return "-" if self.after is ABSENT else "~"


def document_of(event: Event) -> dict[str, Any]:
    """The event as patches name its parts: as its handlers get it."""
    match event.kind:
        case "stream":
            return {"type": event.type, "data": event.context, "meta": event.meta}
        case "plugin":
            return dict(event.context)
        case _:
            return _hook_document(event)


def _hook_document(event: Event) -> dict[str, Any]:
    return {
        "type": event.type,
        "action": event.action,
        "sessionKey": event.session_key,
        "timestamp": iso(event.timestamp),
        "messages": list(event.messages),
        "context": event.context,
    }


def changes_of(document: Any, patch: Patch) -> tuple[tuple[ValueChange, ...], Any]:
    """The changes of a patch in order, and the document after them.

    An operation that does not fit is shown with what it brought, and changes nothing.
    """
    changes: list[ValueChange] = []
    for operation in patch:
        try:
            fresh = _changes(document, operation)
            for change in fresh:
                document = applied(document, change)
        except Unfitting:
            fresh = [
                ValueChange(path_of(str(operation.get("path", ""))), ABSENT, operation.get("value", ABSENT))
            ]
        changes += fresh
    return tuple(changes), document


def after(document: Any, patches: Iterable[Patch]) -> Any:
    """The document after several patches."""
    for patch in patches:
        _, document = changes_of(document, patch)
    return document


def path_of(pointer: str) -> Path:
    """The parts of a JSON pointer. One that is absurdly deep is one part, in a place that nothing has."""
    parts = pointer.split("/", DEEPEST + 1)[1:]
    if len(parts) > DEEPEST:
        return (pointer, "")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def _changes(document: Any, operation: Mapping[str, Any]) -> list[ValueChange]:
    path = path_of(str(operation.get("path", "")))
    match operation.get("op"):
        case "add":
            return [_addition(document, path, operation.get("value"))]
        case "replace":
            return [ValueChange(path, value_at(document, path), operation.get("value"))]
        case "remove":
            return [ValueChange(path, value_at(document, path), ABSENT)]
        case "copy":
            return [_addition(document, path, value_at(document, path_of(str(operation.get("from", "")))))]
        case "move":
            gone = path_of(str(operation.get("from", "")))
            if gone == path:
                return []
            removal = ValueChange(gone, value_at(document, gone), ABSENT)
            return [removal, _addition(applied(document, removal), path, removal.before)]
        case _:
            return []  # a test changes nothing


def _addition(document: Any, path: Path, value: Any) -> ValueChange:
    if not path:
        return ValueChange(path, document, value)
    holder = value_at(document, path[:-1])
    if isinstance(holder, Mapping):
        return ValueChange(path, holder.get(path[-1], ABSENT), value)
    if isinstance(holder, list):
        at = len(holder) if path[-1] == "-" else _index(path[-1], len(holder) + 1)
        return ValueChange((*path[:-1], str(at)), ABSENT, value)
    raise Unfitting(path)


def value_at(document: Any, path: Path) -> Any:
    """The value at a path. Raises Unfitting where there is none."""
    for part in path:
        if isinstance(document, Mapping) and part in document:
            document = document[part]
        elif isinstance(document, list):
            document = document[_index(part, len(document))]
        else:
            raise Unfitting(path)
    return document


def applied(document: Any, change: ValueChange) -> Any:
    """The document with one change made; what is not on its path is shared with the old one."""
    if not change.path:
        return change.after
    head, rest = change.path[0], change.path[1:]
    if isinstance(document, list):
        return _in_list(document, head, rest, change)
    if not isinstance(document, Mapping) or (rest and head not in document):
        raise Unfitting(change.path)
    copy = dict(document)
    if rest:
        copy[head] = applied(document[head], _below(change, rest))
    elif change.after is ABSENT:
        del copy[head]
    else:
        copy[head] = change.after
    return copy


def _in_list(document: list[Any], head: str, rest: Path, change: ValueChange) -> list[Any]:
    copy = list(document)
    inserts = not rest and change.before is ABSENT
    at = _index(head, len(copy) + (1 if inserts else 0))
    if rest:
        copy[at] = applied(copy[at], _below(change, rest))
    elif inserts:
        copy.insert(at, change.after)
    elif change.after is ABSENT:
        del copy[at]
    else:
        copy[at] = change.after
    return copy


def _below(change: ValueChange, path: Path) -> ValueChange:
    return ValueChange(path, change.before, change.after)


def _index(part: str, length: int) -> int:
    if part.isascii() and part.isdigit() and int(part) < length:
        return int(part)
    raise Unfitting((part,))

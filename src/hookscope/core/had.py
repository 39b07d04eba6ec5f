"""What a handler had been given, for who reads its error: the keys, and the one that was perhaps meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hookscope.core.failure import Failure
from hookscope.core.meant import meant
from hookscope.core.runs import Event, EventKind, Patch
from hookscope.values import dataclass

NAMES: Mapping[EventKind, str] = {"folder": "context", "stream": "data", "plugin": "event"}  # as handlers say
MEMBERS = frozenset(("type", "action", "sessionKey", "session_key", "timestamp", "messages", *NAMES.values()))
PROPERTY = re.compile(r"(?:\.|\[\s*[\"'])([A-Za-z_]\w*)")  # read of something, in all three languages
NOTHING = ("undefined", "null", "NoneType")


@dataclass(frozen=True, slots=True)
class Had:
    """The keys of what a handler got, sorted. `name`: what handlers call it."""

    name: str
    keys: tuple[str, ...]
    meant: str = ""  # the key that a word of the failed line is a slip of


def had(event: Event, earlier: Iterable[Patch], failure: Failure) -> Had:
    """What the handler that failed so had been given: the event, as the patches before it had left it."""
    name = NAMES[event.kind]
    keys = _keys(event, earlier)
    words = (word for word in _asked_for(failure) if word not in keys)
    near = next((key for word in words if (key := meant(word, keys))), "")
    return Had(name, tuple(sorted(keys)), near)


def wants_something(failure: Failure) -> bool:
    """Did it fail because something was not there: then it helps to know what was."""
    if failure.phase != "run":
        return False
    of_nothing = failure.type == "TypeError" and any(word in failure.message for word in NOTHING)
    return failure.type in ("KeyError", "AttributeError") or of_nothing


def _keys(event: Event, earlier: Iterable[Patch]) -> list[str]:
    within = [] if event.kind == "plugin" else [NAMES[event.kind]]
    keys: dict[str, Any] = dict.fromkeys(map(str, event.context))
    for operation in (one for patch in earlier for one in patch):
        if within and operation.get("path") == f"/{within[0]}":  # another object in place of the whole
            value = operation.get("value")
            keys = dict.fromkeys(map(str, value)) if isinstance(value, Mapping) else {}
        elif operation.get("op") in ("remove", "move"):
            for key in _key(operation.get("path" if operation["op"] == "remove" else "from"), within):
                keys.pop(key, None)
        if operation.get("op") != "remove":
            keys |= dict.fromkeys(_key(operation.get("path"), within))
    return list(keys)


def _key(pointer: object, within: list[str]) -> Iterator[str]:
    """The key that a JSON pointer ends at, where it is one of those that handlers got."""
    *above, last = str(pointer).split("/")[1:] or [""]
    if above == within:
        yield last.replace("~1", "/").replace("~0", "~")


def _asked_for(failure: Failure) -> Iterator[str]:
    """The words that it may have looked for: of a KeyError its own, else those of the line that failed."""
    if failure.type == "KeyError":
        yield failure.own_text.strip("\"'")
        return
    source = failure.frames[-1].source if failure.frames else ""
    yield from (word for word in PROPERTY.findall(source) if word not in MEMBERS)

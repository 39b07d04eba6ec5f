"""How a run's results came about.

answers merged step by step, ignored members of an answer, and the input of a failed handler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hookscope.model.failure import Failure
from hookscope.model.handler_arguments import camel
from hookscope.model.payload import json_equal
from hookscope.model.run import Event, EventKind, Next, Patch, Policy, Result
from hookscope.model.text import closest_match
from hookscope.values import dataclass

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class MergeStep:
    """What one result made of the merged answer."""

    name: str  # whose result it is
    answered: object  # what the handler returned; None: nothing, or it failed
    changed: Mapping[str, Any]  # of the merged answer: what this result set; None for what it took away
    answer: Mapping[str, Any]  # the merged answer after it
    stopped: bool  # nobody was asked after it
    counts: bool  # the host took its answer into account


def merge_steps(policy: Policy, event: Event, results: Iterable[Result]) -> tuple[MergeStep, ...]:
    """The merging of `results`, in their order, as `policy` does it. Runs nothing and asks nobody again.

    `event` as it was fired (`Run.event`). Ends with the result that stopped the event, where one did.
    """
    fold, steps = policy.start(event), []
    for result in results:
        before, count = fold.answer, len(fold.by)
        fold, then = policy.take(fold, result)
        steps.append(
            MergeStep(
                name=result.call.name,
                answered=result.returned,
                changed=_changed_members(before, fold.answer),
                answer=fold.answer,
                stopped=then is not Next.GO,
                counts=len(fold.by) > count,
            )
        )
        if then is not Next.GO:
            break
    return tuple(steps)


def _changed_members(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    changed = {
        name: value for name, value in after.items() if not json_equal(before.get(name, _ABSENT), value)
    }
    return {**changed, **dict.fromkeys(name for name in before if name not in after)}


STOP_MEMBERS = (
    "block",
    "cancel",
    "handled",
)  # the members by which answers stop something, each of some events
STOP_SYNONYMS = frozenset(
    (*STOP_MEMBERS, "blocked", "canceled", "cancelled", "deny", "denied", "reject", "stop", "abort")
)


def intended_member(policy: Policy, event: Event, result: Result) -> tuple[str, str] | None:
    """A member of an answer that counts for nothing, and the name under which it would count; None where
    none is known. The policy itself is asked; nothing runs."""
    answer = result.returned
    if not isinstance(answer, dict):
        return None
    for name, value in answer.items():
        for other in _alternatives(name, is_yes=value is True):
            tried = replace(result, returned={other: value})
            if any(step.counts or step.stopped for step in merge_steps(policy, event, [tried])):
                return name, other
    return None


def _alternatives(name: str, *, is_yes: bool) -> Iterator[str]:
    spelt = camel(name)
    yield from dict.fromkeys(word for word in (spelt[:1].lower() + spelt[1:], name.lower()) if word != name)
    if is_yes and name.lower() in STOP_SYNONYMS:
        yield from (word for word in STOP_MEMBERS if word != name)


CONTEXT_NAMES: Mapping[EventKind, str] = {
    "folder": "context",
    "stream": "data",
    "plugin": "event",
}  # as handlers say
EVENT_MEMBERS = frozenset(
    ("type", "action", "sessionKey", "session_key", "timestamp", "messages", *CONTEXT_NAMES.values())
)
PROPERTY_ACCESS = re.compile(r"(?:\.|\[\s*[\"'])([A-Za-z_]\w*)")  # read of something, in all three languages
NULL_WORDS = ("undefined", "null", "NoneType")


@dataclass(frozen=True, slots=True)
class HandlerInput:
    """The keys of what a handler got, sorted. `name`: what handlers call it."""

    name: str
    keys: tuple[str, ...]
    meant: str = ""  # the key that a word of the failed line is a slip of


def handler_input(event: Event, earlier: Iterable[Patch], failure: Failure) -> HandlerInput:
    """What the handler that failed so had been given: the event, as the patches before it had left it."""
    name = CONTEXT_NAMES[event.kind]
    keys = _input_keys(event, earlier)
    words = (word for word in _requested_words(failure) if word not in keys)
    near = next((key for word in words if (key := closest_match(word, keys))), "")
    return HandlerInput(name, tuple(sorted(keys)), near)


def failed_on_missing_value(failure: Failure) -> bool:
    """Did it fail because something was not there: then it helps to know what was."""
    if failure.phase != "run":
        return False
    of_nothing = failure.type == "TypeError" and any(word in failure.message for word in NULL_WORDS)
    return failure.type in ("KeyError", "AttributeError") or of_nothing


def _input_keys(event: Event, earlier: Iterable[Patch]) -> list[str]:
    within = [] if event.kind == "plugin" else [CONTEXT_NAMES[event.kind]]
    keys: dict[str, Any] = dict.fromkeys(map(str, event.context))
    for operation in (one for patch in earlier for one in patch):
        if within and operation.get("path") == f"/{within[0]}":  # another object in place of the whole
            value = operation.get("value")
            keys = dict.fromkeys(map(str, value)) if isinstance(value, Mapping) else {}
        elif operation.get("op") in ("remove", "move"):
            for key in _pointer_keys(
                operation.get("path" if operation["op"] == "remove" else "from"), within
            ):
                keys.pop(key, None)
        if operation.get("op") != "remove":
            keys |= dict.fromkeys(_pointer_keys(operation.get("path"), within))
    return list(keys)


def _pointer_keys(pointer: object, within: list[str]) -> Iterator[str]:
    """The key that a JSON pointer ends at, where it is one of those that handlers got."""
    *above, last = str(pointer).split("/")[1:] or [""]
    if above == within:
        yield last.replace("~1", "/").replace("~0", "~")


def _requested_words(failure: Failure) -> Iterator[str]:
    """The words that it may have looked for: of a KeyError its own, else those of the line that failed."""
    if failure.type == "KeyError":
        yield failure.own_text.strip("\"'")
        return
    source = failure.frames[-1].source if failure.frames else ""
    yield from (word for word in PROPERTY_ACCESS.findall(source) if word not in EVENT_MEMBERS)

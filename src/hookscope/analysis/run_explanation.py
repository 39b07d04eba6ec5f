"""Explains the results of a run: merge steps, ignored members of an answer, a failed handler's input."""

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
from hookscope.storage.journal.secrets import pointer_keys
from hookscope.values import dataclass

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class MergeStep:
    """What one result changed in the merged answer."""

    name: str  # the handler's hook
    answered: object  # what the handler returned; None: nothing, or it failed
    changed: Mapping[str, Any]  # members of the merged answer set by this result; None: removed
    answer: Mapping[str, Any]  # the merged answer after it
    stopped: bool  # no handler was called after it
    counts: bool  # the host took its answer into account


def merge_steps(policy: Policy, event: Event, results: Iterable[Result]) -> tuple[MergeStep, ...]:
    """Return the merge of `results`, in order, as `policy` does it. Runs nothing.

    `event`: as fired (`Run.event`). Ends with the result that stopped the event, if one did.
    """
    fold, steps = policy.start(event), []
    for result in results:
        before, count = fold.answer, len(fold.answered_by)
        fold, decision = policy.take(fold, result)
        steps.append(
            MergeStep(
                name=result.call.name,
                answered=result.returned,
                changed=_changed_members(before, fold.answer),
                answer=fold.answer,
                stopped=decision is not Next.GO,
                counts=len(fold.answered_by) > count,
            )
        )
        if decision is not Next.GO:
            break
    return tuple(steps)


def _changed_members(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    changed = {
        name: value for name, value in after.items() if not json_equal(before.get(name, _ABSENT), value)
    }
    return {**changed, **dict.fromkeys(name for name in before if name not in after)}


STOP_MEMBERS = ("block", "cancel", "handled")  # members that stop something, each for some events
STOP_SYNONYMS = frozenset(
    (*STOP_MEMBERS, "blocked", "canceled", "cancelled", "deny", "denied", "reject", "stop", "abort")
)


def intended_member(policy: Policy, event: Event, result: Result) -> tuple[str, str] | None:
    """Return a member of an answer that has no effect, and the name under which it would have one; None
    if none is known. Asks the policy; runs nothing.
    """
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


# names that handlers use
CONTEXT_NAMES: Mapping[EventKind, str] = {"folder": "context", "stream": "data", "plugin": "event"}
EVENT_MEMBERS = frozenset(
    ("type", "action", "sessionKey", "session_key", "timestamp", "messages", *CONTEXT_NAMES.values())
)
PROPERTY_ACCESS = re.compile(r"(?:\.|\[\s*[\"'])([A-Za-z_]\w*)")  # property access, in all three languages
NULL_WORDS = ("undefined", "null", "NoneType")


@dataclass(frozen=True, slots=True)
class HandlerInput:
    """The sorted keys of a handler's input. `name`: the name of the input in handlers, such as `event`."""

    name: str
    keys: tuple[str, ...]
    closest_key: str = ""  # the closest key to a word of the failed line


def handler_input(event: Event, earlier: Iterable[Patch], failure: Failure) -> HandlerInput:
    """Return the input of the failed handler: the event with the patches of the handlers before it."""
    name = CONTEXT_NAMES[event.kind]
    keys = _input_keys(event, earlier)
    words = (word for word in _requested_words(failure) if word not in keys)
    closest = next((key for word in words if (key := closest_match(word, keys))), "")
    return HandlerInput(name, tuple(sorted(keys)), closest)


def failed_on_missing_value(failure: Failure) -> bool:
    """Return whether a missing value caused the failure, so that the input's keys help."""
    if failure.phase != "run":
        return False
    of_nothing = failure.type == "TypeError" and any(word in failure.message for word in NULL_WORDS)
    return failure.type in ("KeyError", "AttributeError") or of_nothing


def _input_keys(event: Event, earlier: Iterable[Patch]) -> list[str]:
    within = [] if event.kind == "plugin" else [CONTEXT_NAMES[event.kind]]
    keys: dict[str, Any] = dict.fromkeys(map(str, event.context))
    for operation in (one for patch in earlier for one in patch):
        if within and operation.get("path") == f"/{within[0]}":  # the whole object was replaced
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
    """Yield the last key of a JSON pointer if it is a key of the handler's input."""
    *above, last = pointer_keys(str(pointer)) or [""]
    if above == within:
        yield last


def _requested_words(failure: Failure) -> Iterator[str]:
    """Yield what the handler may have looked up: the key of a KeyError, or members in the failed line."""
    if failure.type == "KeyError":
        yield failure.own_text.strip("\"'")
        return
    source = failure.frames[-1].source if failure.frames else ""
    yield from (word for word in PROPERTY_ACCESS.findall(source) if word not in EVENT_MEMBERS)

"""Notes on what a handler returned or changed that its host ignores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

from hookscope.model.run import Event, Policy, Result
from hookscope.model.text import nearest_word, one_line

ItemNeeds: TypeAlias = Mapping[str, Mapping[str, str]]  # as EventType.needs has it
NO_NEEDS: ItemNeeds = {}

RETURN_VALUE = "what it returned"
RETURN_IGNORED = f"{RETURN_VALUE} is ignored: a hook of a HOOK.md folder answers by `event.messages`"
GENERATOR_RETURNS = ("<generator>", "<async_generator>")
OBSERVER_RETURN_IGNORED = (
    f"{RETURN_VALUE} is ignored: a hook of a stream observes, and stops nothing by what it returns"
)
GENERATOR_NOT_RUN = (
    "it returned a generator, which its host does not run: if the handler itself contains `yield`, "
    "none of its body ran. Remove `yield`"
)
NON_TEXT_NOTE = re.compile(
    r"messages\[(\d+)\]\S* (?!was cut|holds half)"
)  # a note on a message that is no text


@runtime_checkable
class IgnoredChangesPolicy(Protocol):
    """A policy that knows what of a changed event its host never reads."""

    def ignored_change_notes(self, result: Result) -> tuple[str, ...]:
        """A sentence each, for its author."""
        ...


def with_ignored_notes(
    result: Result, event: Event, needs: ItemNeeds = NO_NEEDS, policy: Policy | None = None
) -> Result:
    """The result, noted on what nobody heeds: how that was written down is not told then."""
    if result.returned is None and not result.patch and not result.messages:  # most handlers
        return result
    notes = ignored_notes(result, event)
    if result.patch:
        ignored_changes = policy.ignored_change_notes(result) if isinstance(policy, IgnoredChangesPolicy) else ()
        notes = (*notes, *unusable_item_notes(result, needs), *ignored_changes)
    notes = (*notes, *_non_text_notes(result, event))
    if not notes:
        return result
    kept = (note for note in result.notes if RETURN_IGNORED not in notes or not note.startswith(RETURN_VALUE))
    return replace(result, notes=(*kept, *notes))


def ignored_notes(result: Result, event: Event) -> tuple[str, ...]:
    """A sentence each, for its author."""
    if event.kind == "stream" and result.error is None and result.returned is not None:
        return (OBSERVER_RETURN_IGNORED,)
    if event.kind != "folder" or result.error is not None:
        return ()
    notes: list[str] = []
    if result.returned in GENERATOR_RETURNS:
        notes.append(GENERATOR_NOT_RUN)
    elif result.returned is not None:
        notes.append(RETURN_IGNORED)
    put = [step.get("value") for step in result.patch if step.get("path") == "/messages"]
    if put and not isinstance(put[-1], list):
        kind = "a text" if isinstance(put[-1], str) else "another value"
        notes.append(
            f"it put {kind} in place of the list `event.messages`: none of it is delivered, and handlers "
            "after it cannot push; append to the list"
        )
    return tuple(notes)


def _non_text_notes(result: Result, event: Event) -> Iterator[str]:
    """Yield a sentence about the messages that the handler pushed and that are no text."""
    if event.kind != "folder":
        return
    kinds = [_json_kind(value) for value in _pushed_values(result) if not isinstance(value, str)]
    named = {found[1] for note in result.notes if (found := NON_TEXT_NOTE.match(note))}
    count = max(len(kinds), len(named))
    if count:
        what = ", ".join(dict.fromkeys(kinds)) or "an object"
        several = f"{count:,} messages that are" if count > 1 else "a message that is"
        yield f"it pushed {several} not text ({what}): hosts join messages as text, so push strings"


def _pushed_values(result: Result) -> Iterator[Any]:
    """Yield the messages that the handler added or replaced."""
    for step in result.patch:
        path, value = str(step.get("path")), step.get("value")
        if step.get("op") == "remove":
            continue
        if path == "/messages" and isinstance(value, list):
            yield from value
        elif path.startswith("/messages/"):
            yield "" if path.count("/") > 2 else value


def _json_kind(value: object) -> str:
    """Return what a JSON value is called."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    return "a list" if isinstance(value, list) else "an object"


def unusable_item_notes(result: Result, needs: ItemNeeds) -> Iterator[str]:
    """A sentence for each item that it put in a list of the context, and that its host cannot use."""
    for step in result.patch if needs else ():
        _, context, name, *rest = (*str(step.get("path")).split("/"), "", "")
        if context != "context" or name not in needs or step.get("op") == "remove":
            continue
        value = step.get("value")
        put: Any = value if isinstance(value, list) else [value]
        for item in (one for one in put if isinstance(one, Mapping) and (rest[0] == "" or not rest[1])):
            yield from _missing_member_notes(item, name, needs[name])


def _missing_member_notes(item: Mapping[str, Any], name: str, needed: Mapping[str, str]) -> Iterator[str]:
    shown_name = one_line(str(item.get("name", "an item")), 60)
    for member, outcome in needed.items():
        if not isinstance(item.get(member), str) or not item[member].strip():
            match = nearest_word(member.lower(), [str(key).lower() for key in item if key not in needed])
            written = next((str(key) for key in item if match and str(key).lower() == match), "")
            instead = f"; {one_line(written, 60)} is written" if written else ""
            yield f"{shown_name} in context.{name} has no {member}{instead}: {outcome}"

"""What a handler of a HOOK.md folder did in vain: its host makes nothing of it, and says nothing either."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hookscope.core.runs import Event, Plan, Result
from hookscope.core.text import one_line

LISTED = 3  # items that a note names
WHAT = "what it returned"
RETURNED = f"{WHAT} is ignored: a hook of a HOOK.md folder answers by `event.messages`"
GENERATORS = ("<generator>", "<async_generator>")
NOTHING_RAN = "it has `yield`, so that its call made a generator and ran nothing of it: take `yield` out"


def with_what_was_in_vain(result: Result, plan: Plan) -> Result:
    """The result, noted on what nobody heeds: how that was written down is not told then."""
    notes = (*in_vain(result, plan.event), *left_out(result, plan.keeps))
    if not notes:
        return result
    kept = (note for note in result.notes if RETURNED not in notes or not note.startswith(WHAT))
    return replace(result, notes=(*kept, *notes))


def in_vain(result: Result, event: Event) -> tuple[str, ...]:
    """A sentence each, for its author."""
    if event.kind != "folder" or result.error is not None:
        return ()
    notes: list[str] = []
    if result.returned in GENERATORS:
        notes.append(NOTHING_RAN)
    elif result.returned is not None:
        notes.append(RETURNED)
    put = [step.get("value") for step in result.patch if step.get("path") == "/messages"]
    if put and not isinstance(put[-1], list):
        kind = "text" if isinstance(put[-1], str) else "other value"
        notes.append(
            f"it put a {kind} in place of the list `event.messages`: none of it is delivered, and handlers "
            "after it cannot push; append to the list"
        )
    return tuple(notes)


def left_out(result: Result, keeps: Mapping[str, str]) -> tuple[str, ...]:
    """A sentence for each list into which it put what its host leaves out."""
    notes = []
    for name, member in keeps.items():
        items = [item for step in result.patch for item in _put(step, f"/context/{name}", member)]
        without = [item for item in items if isinstance(item, dict) and not _has_text(item, member)]
        if without:
            called = ", ".join(str(item.get("name", "without a name")) for item in without[:LISTED])
            text = f"it put into event.context.{name} what has no `{member}` ({one_line(called, 80)})"
            notes.append(f"{text}: its host leaves that out")
    return tuple(notes)


def _put(step: Mapping[str, Any], path: str, member: str) -> list[Any]:
    """What a step of a patch puts into the list at that path, or makes of the `member` of one in it."""
    where, value = str(step.get("path", "")), step.get("value")
    if where == path:
        return value if isinstance(value, list) else []
    above, _, last = where.rpartition("/")
    if above == path:
        return [value]
    number = above.rpartition("/")[2]
    if last == member and above == f"{path}/{number}" and number.isdecimal():
        return [{"name": f"number {int(number) + 1}", member: value}]
    return []


def _has_text(item: Mapping[str, Any], member: str) -> bool:
    value = item.get(member)
    return isinstance(value, str) and bool(value.strip())

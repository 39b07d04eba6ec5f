"""What a handler of a HOOK.md folder did in vain: its host makes nothing of it, and says nothing either."""

from __future__ import annotations

from dataclasses import replace

from hookscope.core.runs import Event, Result

WHAT = "what it returned"
RETURNED = f"{WHAT} is ignored: a hook of a HOOK.md folder answers by `event.messages`"
GENERATORS = ("<generator>", "<async_generator>")
NOTHING_RAN = "it has `yield`, so that its call made a generator and ran nothing of it: take `yield` out"


def with_what_was_in_vain(result: Result, event: Event) -> Result:
    """The result, noted on what nobody heeds: how that was written down is not told then."""
    notes = in_vain(result, event)
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

"""The `events` gate: does the hook subscribe to any event?"""

from functools import lru_cache

from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host


def events_gate(hook: Hook, host: Host) -> Gate:
    """Check that the hook subscribes to an event. Source: OpenClaw's guide, "Missing events"."""
    keys = hook.meta.events
    if keys is None:
        return Gate("events", None, needed=("1 or more",), found="known after a load")
    if keys:
        return _events_passed(keys)
    elsewhere = next((note for note in hook.meta.notes if "but the host reads" in note), "")
    reason = f"no events ({elsewhere})" if elsewhere else "no events"
    return Gate("events", False, needed=("1 or more",), missing=("events",), found="none", reason=reason)


@lru_cache(maxsize=1024)
def _events_passed(keys: tuple[str, ...]) -> Gate:
    return Gate("events", True, needed=("1 or more",), found=", ".join(keys))


def _header(gate: Gate, hook: Hook, host: Host) -> Evidence:
    """Return the notes about the hook, such as misplaced `events`, that are not in the reason already."""
    return (), tuple(note for note in (*hook.meta.notes, *hook.notes) if note not in gate.reason)


EVENTS = register_gate(
    GateKind(
        "events",
        guide_order=30,
        state=State.BROKEN,
        check=events_gate,
        evidence=_header,
        fix=FixKind.MOVE_EVENTS,
        problem="its header names no event that the host reads",
        why_no_fix="only the hook's author knows the right events",
        entry_advice="write `event` and `module`, both as strings, into {entry}",
        next_step="{hooks.fix} moves or adds them; {hooks.edit} opens HOOK.md, whose metadata needs `events`",
    )
)

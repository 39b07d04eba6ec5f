"""The `sent` gate: does the host ever send one of the hook's events?"""

from hookscope.hosts.gates.rules import cached_by_field
from hookscope.model.event_typos import key_kind, never_sent_reason, unsent_event
from hookscope.model.hook import Hook
from hookscope.model.hook_status import (
    KNOWN_AFTER_LOAD,
    Evidence,
    FixKind,
    Gate,
    GateKind,
    State,
    register_gate,
)
from hookscope.model.host import Host
from hookscope.model.uncalled_hooks import event_kind

SENT_PASSED = Gate("sent", True)
NO_EVENTS = (
    "the hook names no event in `events`"  # an error only in a stream hook: others have an `events` gate
)


def _decisive_fields(hook: Hook) -> object:
    meta = hook.meta
    return event_kind(hook), meta.events, meta.folder_events, meta.unread_registrations


@cached_by_field(_decisive_fields)
def sent_gate(hook: Hook, host: Host) -> Gate:
    """Check that the host sends one of the hook's events. Undecided if only a load shows them all."""
    keys, kind = hook.meta.events, event_kind(hook)
    if keys is None:
        return Gate("sent", None, found=KNOWN_AFTER_LOAD)
    if not keys and kind == "stream":
        return Gate("sent", False, ("1 or more",), found="no events", reason=NO_EVENTS)
    if not keys:
        return Gate("sent", None, found="no events")
    catalogue = host.dialect.catalogue()
    if any(catalogue.sends(key, key_kind(key, hook)) for key in keys):
        return SENT_PASSED
    if hook.meta.unread_registrations:
        found = f"{' or '.join(keys)} is never sent; other events are {KNOWN_AFTER_LOAD}"
        return Gate("sent", None, needed=keys, found=found)
    later_events = host.dialect.later_plugin_events if kind == "plugin" else host.dialect.later_events
    later = next((later_events[key] for key in keys if key in later_events), "")
    if later:
        return Gate("sent", True, found=f"by {later}; not listed in this guide")
    others = tuple(dict.fromkeys(filter(None, map(catalogue.other_dialect_of, keys))))
    if others:
        verb = "does" if len(others) == 1 else "do"
        reason = f"{host.dialect.name} never sends {' or '.join(keys)}; {' and '.join(others)} {verb}"
        return Gate("sent", False, keys, keys, "never sent", reason)
    return Gate("sent", False, keys, keys, "never sent", never_sent_reason(hook, host))


def _events(gate: Gate, hook: Hook, host: Host) -> Evidence:
    catalogue, kind = host.dialect.catalogue(), event_kind(hook)
    dead = (unsent_event(key, kind, catalogue) for key in gate.missing if key not in hook.meta.folder_events)
    near = tuple(f"{like} is an event; the hook names {one.key}" for one in dead for like in one.instead)
    return (f"the events of {host.dialect.title}",), near


SENT = register_gate(
    GateKind(
        "sent",
        guide_order=130,
        state=State.SILENT,
        check=sent_gate,
        evidence=_events,
        fix=FixKind.EVENT_NAMES,
        why_no_fix="no event of this host is similar enough to the hook's events",
        next_step="{hooks.fix} corrects a typo that lint reports; {hooks.fire} fires the event by hand",
    )
)

"""The `sent` gate: does the host ever send one of the hook's events?"""

from hookscope.hosts.gates.rules import cached_by_field
from hookscope.model.event_typos import never_sent_reason, unsent_event
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host
from hookscope.model.uncalled_hooks import event_kind

SENT_PASSED = Gate("sent", True)


@cached_by_field(lambda hook: (hook.meta.events, event_kind(hook)))
def sent_gate(hook: Hook, host: Host) -> Gate:
    """Check that the host sends one of the hook's events."""
    keys = hook.meta.events
    if not keys:
        return Gate("sent", None, found="no events")
    catalogue = host.dialect.catalogue()
    kind = event_kind(hook)
    if any(catalogue.sends(key, kind) for key in keys):
        return SENT_PASSED
    later = next((host.dialect.later_events[key] for key in keys if key in host.dialect.later_events), "")
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
        why_no_fix="no event of this host is close enough to its events",
        next_step="{hooks.fix} corrects a typo that lint reports; {hooks.fire} still fires such an event",
    )
)

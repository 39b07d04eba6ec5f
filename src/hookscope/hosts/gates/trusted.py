"""The `trusted` gate: may the hook's code run here? Hookscope checks this; users trust folders."""

from hookscope.hosts.gates.rules import UNNAMED
from hookscope.model.hook import Hook
from hookscope.model.hook_status import TOO_WIDE, FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host
from hookscope.model.machine import is_within
from hookscope.model.trust import is_hook_trusted, trust_target

TRUSTED_PASSED = Gate("trusted", True, found="yes")


def trusted_gate(hook: Hook, host: Host) -> Gate:
    """Check that the hook's folder is trusted. This is a rule of Hookscope, not of a host."""
    if hook.role == UNNAMED:
        return Gate("trusted", None, found="the entry names no file")
    if hook.folder.trusted and hook.leads_out is None and is_inside_hooks_folder(hook):
        return TRUSTED_PASSED
    if is_hook_trusted(hook, host):
        return TRUSTED_PASSED
    target = trust_target(hook, host)
    return Gate(
        "trusted",
        False,
        needed=("yes",),
        missing=("yes",),
        found=TOO_WIDE if target.refusal_reason else "not yet",
        reason=target.allow_hint(host.machine.short),
    )


def is_inside_hooks_folder(hook: Hook) -> bool:
    """Return True if the hook's real path is in the real hooks folder: trust does not follow links."""
    real, folder = hook.real, hook.folder.real
    return real is not None and folder is not None and is_within(real, folder)


TRUSTED = register_gate(
    GateKind(
        "trusted",
        guide_order=120,
        state=State.UNTRUSTED,
        check=trusted_gate,
        fix=FixKind.TRUST,
        problem="its folder is not trusted",
        next_step="{hooks.trust} trusts the folder after you confirm",
        shows_needed=False,
    )
)

"""The `os` gate: does the hook name this platform?"""

from operator import attrgetter

from hookscope.hosts.gates.rules import cached_by_field
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, register_gate
from hookscope.model.host import Host

PLATFORM_SYNONYMS = {
    **dict.fromkeys(("macos", "mac", "osx"), "darwin"),
    **dict.fromkeys(("windows", "win", "win64"), "win32"),
}
OS_PASSED = Gate("os", True, found="any")


@cached_by_field(attrgetter("meta.os"))
def os_gate(hook: Hook, host: Host) -> Gate:
    """Check that the hook names this platform in exactly the same spelling, or names none."""
    names, here = hook.meta.os, host.machine.platform
    if not names:
        return OS_PASSED
    if here in names:
        return Gate("os", True, needed=names, found=here)
    reason = f"OS: requires {'|'.join(names)}, current: {here}"
    return Gate("os", False, needed=names, missing=names, found=here, reason=reason)


def _platforms(gate: Gate, hook: Hook, host: Host) -> Evidence:
    here = host.machine.platform
    near = (name for name in gate.missing if PLATFORM_SYNONYMS.get(name.lower(), name.lower()) == here)
    return (), tuple(f"`os` names {name}; this platform is called {here}" for name in near)


OS = register_gate(
    GateKind(
        "os",
        guide_order=50,
        check=os_gate,
        evidence=_platforms,
        evidence_of_host=True,
        fix=FixKind.PLATFORM_NAME,
        why_no_fix="the hook is made for another platform",
        next_step="nothing to do on this machine",
        remedy="add {platform} to `os`",
        is_requirement=True,
    )
)

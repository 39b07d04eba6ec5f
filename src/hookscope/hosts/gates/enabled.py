"""The `switch` and `enabled` gates: are hooks enabled, and is this hook enabled?"""

from collections.abc import Mapping

from hookscope.formats.positions import KeyPath, dotted_path
from hookscope.hosts.gates.evidence import setting_location, similar_to_no_hook
from hookscope.hosts.gates.rules import cached_by_field
from hookscope.model.hook import Edit, Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host

SWITCH_PASSED = Gate("switch", True, needed=("not false",), found="not set")
ENABLED_PASSED = Gate("enabled", True, needed=("not false",), found="not set")


@cached_by_field(lambda _: None)
def switch_gate(hook: Hook, host: Host) -> Gate:
    """Check that hooks are enabled: `enabled` in the hooks settings is not false."""
    return _not_false_gate(SWITCH_PASSED, "all hooks are switched off in the settings", host, "enabled")


def enabled_gate(hook: Hook, host: Host) -> Gate:
    """Check that `enabled` in the hook's entry is not false. Legacy handlers have no entry."""
    if hook.kind == "legacy" or not host.has_entries:
        return ENABLED_PASSED
    return _not_false_gate(ENABLED_PASSED, "disabled in config", host, "entries", hook.key, "enabled")


def _not_false_gate(passed: Gate, reason: str, host: Host, *path: str) -> Gate:
    value, where = host.hooks_setting(*path)
    return passed if value is None else not_false_gate(passed.name, reason, where, host)


def not_false_gate(name: str, reason: str, where: KeyPath, host: Host) -> Gate:
    """Return the gate `name`, which passes unless the setting at `where` is false."""
    value, dotted = host.settings.get(where), dotted_path(where)
    if value is not False:
        found = "not set" if value is None else f"{dotted} is {'true' if value is True else 'not false'}"
        return Gate(name, True, ("not false",), found=found, setting=where)
    fix = Edit(host.settings.file, where, True, f"{dotted}: false → true")
    return Gate(name, False, ("not false",), ("true",), f"{dotted} is false", reason, fix=fix, setting=where)


def similar_entries(gate: Gate, hook: Hook, host: Host) -> Evidence:
    """Return the location of the setting, and entries that were probably meant for this hook."""
    entries, where = host.hooks_setting("entries")
    looked = (setting_location(gate.setting, host),) if gate.setting is not None else ()
    if not isinstance(entries, Mapping) or hook.key in entries:
        return looked, ()
    dotted = dotted_path(where)
    if hook.name in entries:
        return looked, (f"{dotted}.{hook.name} exists; this hook's entry is {hook.key}",)
    return looked, tuple(
        f"{dotted}.{like} exists; this hook's entry is {hook.key}"
        for like in similar_to_no_hook(hook.key, map(str, entries), host)
    )


SWITCH = register_gate(
    GateKind("switch", guide_order=100, state=State.OFF, check=switch_gate, shows_needed=False)
)
ENABLED = register_gate(
    GateKind(
        "enabled",
        guide_order=110,
        state=State.OFF,
        check=enabled_gate,
        evidence=similar_entries,
        fix=FixKind.TOGGLE,
        problem="it is switched off",
        shows_needed=False,
    )
)

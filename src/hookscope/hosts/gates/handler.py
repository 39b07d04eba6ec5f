"""The `handler` gate: is there a handler file?"""

from pathlib import Path

from hookscope.hosts.gates.evidence import similar_names
from hookscope.hosts.gates.rules import UNNAMED
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host

# Most hooks pass most gates; a gate that has nothing to say is made once.
HANDLER_PASSED = {
    name: Gate("handler", True, found=name)
    for name in ("handler.py", "handler.ts", "handler.js", "index.ts", "index.js")
}


def handler_gate(hook: Hook, host: Host) -> Gate:
    """Check that the handler exists. A folder without one is not a hook; a legacy module may be absent."""
    path = hook.handler
    assert path is not None
    if hook.role == UNNAMED:
        return Gate("handler", None, found="it names no file")
    if hook.kind == "folder":
        return HANDLER_PASSED.get(path.name) or Gate("handler", True, found=path.name)
    facts = host.machine.files.facts(path)
    if facts is not None and facts.file:
        return Gate("handler", True, found=path.name)
    return Gate("handler", False, needed=(str(path),), missing=(str(path),), reason=f"no such file: {path}")


def _modules(gate: Gate, hook: Hook, host: Host) -> Evidence:
    """Return similar files beside a missing handler: another extension, or another case."""
    path = hook.handler
    if path is None or not gate.missing:
        return (), ()
    looked = (host.machine.short(path.parent),)
    try:
        names = host.machine.files.names(path.parent)
    except OSError:
        return looked, (f"there is no folder {host.machine.short(path.parent)}",)
    like = [name for name in sorted(names) if Path(name).stem.lower() == path.stem.lower()]
    return looked, tuple(
        f"{name} is there; {path.name} is needed"
        for name in (like or similar_names(path.name, tuple(names)))[:2]
    )


HANDLER = register_gate(
    GateKind(
        "handler",
        state=State.BROKEN,
        check=handler_gate,
        evidence=_modules,
        fix=FixKind.BY_HAND_HANDLER,
        why_no_fix="only its author can write what belongs there",
        entry_advice="write {file}, or name a file that is there as `module` of {entry}",
        next_step="{hooks.edit} opens it there",
    )
)

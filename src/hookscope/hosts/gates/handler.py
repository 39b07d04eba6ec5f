"""The `handler` gate: does the handler file exist?"""

import json
from pathlib import Path

from hookscope.hosts.gates.evidence import similar_names
from hookscope.hosts.gates.rules import UNNAMED
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Evidence, FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host
from hookscope.model.payload import mapping_or_empty

LARGEST_PACKAGE = 1024 * 1024  # bytes of a package.json
# Shared by all hooks with these handler names: most hooks pass.
HANDLER_PASSED = {
    name: Gate("handler", True, found=name)
    for name in ("handler.py", "handler.ts", "handler.js", "index.ts", "index.js")
}


def handler_gate(hook: Hook, host: Host) -> Gate:
    """Check that the handler file exists. A folder without a handler is not a hook, so hook folders pass."""
    path = hook.handler
    assert path is not None
    if hook.role == UNNAMED:
        return Gate("handler", None, found="the entry names no file")
    if hook.kind == "folder":
        return HANDLER_PASSED.get(path.name) or Gate("handler", True, found=path.name)
    facts = host.machine.files.facts(path)
    if facts is not None and facts.file:
        return Gate("handler", True, found=path.name)
    return Gate("handler", False, needed=(str(path),), missing=(str(path),), reason=f"no such file: {path}")


def _modules(gate: Gate, hook: Hook, host: Host) -> Evidence:
    """Return files beside a missing handler whose names differ in extension, in case or by a typo.

    If a plugin has a build script, return the command that makes its file.
    """
    path = hook.handler
    if path is None or not gate.missing:
        return (), ()
    looked = (host.machine.short(path.parent),)
    if hook.kind == "plugin" and hook.path is not None and _has_build(hook.path / "package.json", host):
        return looked, (f"run `npm install` and `npm run build` in {host.machine.short(hook.path)}",)
    try:
        names = host.machine.files.names(path.parent)
    except OSError:
        return looked, (f"there is no folder {host.machine.short(path.parent)}",)
    like = [name for name in sorted(names) if Path(name).stem.lower() == path.stem.lower()]
    return looked, tuple(
        f"there is a file {name}; {path.name} is needed"
        for name in (like or similar_names(path.name, tuple(names)))[:2]
    )


def _has_build(manifest: Path, host: Host) -> bool:
    try:
        package = json.loads(host.machine.files.read(manifest, LARGEST_PACKAGE))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(mapping_or_empty(mapping_or_empty(package).get("scripts")).get("build"), str)


HANDLER = register_gate(
    GateKind(
        "handler",
        guide_order=10,
        state=State.BROKEN,
        check=handler_gate,
        evidence=_modules,
        fix=FixKind.BY_HAND_HANDLER,
        why_no_fix="only the hook's author can write the handler",
        entry_advice="create {file}, or set `module` of {entry} to an existing file",
        next_step="{hooks.edit} opens the file that names the handler",
    )
)

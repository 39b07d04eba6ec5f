"""The `fields` gate: does every field of the header, manifest or setting have the expected type?"""

from collections.abc import Callable
from typing import TypeAlias

from hookscope.formats.frontmatter import locate_frontmatter
from hookscope.formats.positions import KeyPath, Span, dotted_path
from hookscope.model.hook import FilePosition, Hook
from hookscope.model.hook_status import FixKind, Gate, GateKind, State, register_gate
from hookscope.model.host import Host
from hookscope.model.regular_file import LARGEST_MANIFEST

Locate: TypeAlias = Callable[[bytes, KeyPath], Span | None]
FIELDS_PASSED = Gate("fields", True)


def fields_gate(hook: Hook, host: Host, locate: Locate = locate_frontmatter) -> Gate:
    """Check the type of every field of the header or manifest; `locate` finds the first wrong one."""
    faults = hook.meta.faults
    if not faults:
        return FIELDS_PASSED
    place = _place_in_manifest(hook, host, faults[0].path, locate)
    at = f"{place.file.name}, line {place.line}, column {place.column}: " if place else ""
    return Gate(
        "fields",
        False,
        missing=tuple(dotted_path(fault.path) for fault in faults),
        found=f"{len(faults)} of the wrong type",
        reason=at + "; ".join(fault.text for fault in faults),
        place=place,
    )


def _place_in_manifest(hook: Hook, host: Host, path: KeyPath, locate: Locate) -> FilePosition | None:
    if hook.manifest is None:
        return None
    try:
        span = locate(host.machine.files.read(hook.manifest, LARGEST_MANIFEST), path)
    except OSError:
        return None
    return FilePosition.of(hook.manifest, span)


FIELDS = register_gate(
    GateKind(
        "fields",
        guide_order=20,
        state=State.BROKEN,
        check=fields_gate,
        fix=FixKind.FIELD_TYPES,
        why_no_fix="only the hook's author knows the right value",
        entry_advice="write `event` and `module`, both as strings, into {entry}",
        next_step="{hooks.fix} corrects it if possible; {hooks.edit} opens HOOK.md at this field",
    )
)

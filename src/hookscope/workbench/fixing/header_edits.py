"""What fixes of a HOOK.md's header share: what stands in it, and the edits of it that can be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hookscope.changes import CannotEdit, Change, ChangeError, header_of
from hookscope.core.standing import Gate, Standing
from hookscope.systems.folders import FolderSystem
from hookscope.workbench.fixing.fix import Fix
from hookscope.workbench.fixing.sketch import Sketch

METADATA = "metadata"
EVENTS = "events"
Make = Callable[[bytes], bytes]


def namespace_of(sketch: Sketch) -> str:
    """The namespace that this dialect reads; empty where it has no HOOK.md folders."""
    systems = sketch.host.dialect.systems
    return next((system.shape.namespace for system in systems if isinstance(system, FolderSystem)), "")


def header_fixes(gate: Gate, row: Standing, sketch: Sketch, makes: list[tuple[str, Make]]) -> Iterator[Fix]:
    """A fix for each of these edits of the hook's HOOK.md that can be made."""
    file = row.hook.manifest
    source = sketch.read(file) if file is not None else None
    if file is None or source is None:
        return
    for title, make in makes:
        try:
            new = make(source)
        except ChangeError:
            continue
        if new != source:
            yield Fix(gate.name, title, (Change(file, f"{file.parent.name}: {title}", source, new),))


def metadata_in(row: Standing, sketch: Sketch) -> tuple[Mapping[str, Any], str]:
    """The header of a hook, and the namespace that counts in it. Raises CannotEdit."""
    source = sketch.read(row.hook.manifest) if row.hook.manifest is not None else None
    if source is None:
        raise CannotEdit("It has no HOOK.md", "the header")
    header, own = header_of(source), namespace_of(sketch)
    block = header.get(METADATA)
    if isinstance(block, dict) and own not in block:
        return header, next((name for name, value in block.items() if has_events(value)), own)
    return header, own


def has_events(value: object) -> bool:
    """Is this the block of a namespace, with events in it."""
    return isinstance(value, dict) and EVENTS in value


def value_in(header: Mapping[str, Any], *path: str) -> Any:
    """What stands at that path; None where nothing does."""
    value: Any = header
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def namespace_in(metadata: Mapping[str, Any], own: str) -> dict[str, Any]:
    """The block of that namespace; empty where there is none."""
    value = metadata.get(own)
    return value if isinstance(value, dict) else {}

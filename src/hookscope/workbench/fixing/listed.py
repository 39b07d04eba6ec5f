"""Handlers that the settings name one by one: what to write in their entry, or in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hookscope.core.hooks import Place
from hookscope.core.standing import Gate, Standing
from hookscope.core.text import as_typed
from hookscope.systems.folders.gates import UNNAMED
from hookscope.workbench.fixing.fix import Fix, Given
from hookscope.workbench.fixing.in_source import at
from hookscope.workbench.fixing.sketch import Sketch

OF_ENTRIES = frozenset({"handler", "path", "fields", "events"})
_ENTRY = re.compile(r"listed in (.+)\[(\d+)\]")


def is_listed(gate: Gate, row: Standing) -> bool:
    """Is it a check whose answer stands in an entry of the settings."""
    return row.hook.kind == "legacy" and gate.name in OF_ENTRIES


def of_entry(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """What its user writes: nobody else knows which file was meant."""
    hook = row.hook
    entry = _entry(row, sketch)
    if gate.name in ("fields", "events"):
        why = f"write `event` and `module`, both as texts, into {entry}"
    elif gate.name == "handler" and gate.place is not None:
        why = f"mend it at {at(gate.place, sketch)}, then look again"
    elif gate.name == "handler" and hook.handler is not None:
        file = sketch.host.surroundings.short(hook.handler)
        why = f"write {file}, or name a file that is there as `module` of {entry}"
    else:
        why = f"let its file lie below the workspace, and name it there as `module` of {entry}"
    yield Fix(gate.name, gate.reason, why_not=why + _instead(row))


def _entry(row: Standing, sketch: Sketch) -> str:
    """`hooks.internal.handlers[0] (~/.openclaw/openclaw.json:3)`."""
    settings, match = sketch.host.settings, _ENTRY.fullmatch(row.hook.description)
    if match is None:
        return sketch.host.surroundings.short(settings.file)
    place = settings.locate((*match[1].split("."), int(match[2]))) or Place(settings.file)
    return f"{match[1]}[{match[2]}] ({at(place, sketch)})"


def _instead(row: Standing) -> str:
    """A folder of its own is what hosts look for today."""
    events, file = row.hook.meta.events or (), row.hook.handler
    if not events or file is None or row.hook.role == UNNAMED:
        return ""
    named = " ".join(f"--event {as_typed(key)}" for key in events)
    return f"; or begin a folder with a HOOK.md in its place: `hookscope new {as_typed(file.stem)} {named}`"

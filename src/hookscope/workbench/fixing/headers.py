"""Fixes in a HOOK.md: events never sent, types, names of platforms and exports. Recipes as in recipes.py."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hookscope.changes import with_header_value, with_one_line
from hookscope.core.examine import MISFIT
from hookscope.core.searched import PLATFORMS
from hookscope.core.standing import Gate, Standing
from hookscope.core.text import nearest
from hookscope.formats import FormatError, KeyPath, read_exports
from hookscope.lint.events import dead_events
from hookscope.lint.reading import read_subject
from hookscope.workbench.fixing.fix import Fix, Given
from hookscope.workbench.fixing.header_edits import (
    EVENTS,
    METADATA,
    header_fixes,
    metadata_in,
    namespace_in,
    value_in,
)
from hookscope.workbench.fixing.in_source import named_events
from hookscope.workbench.fixing.misplaced import events
from hookscope.workbench.fixing.recipes import Recipe
from hookscope.workbench.fixing.sketch import Sketch
from hookscope.workbench.linting import host_facts

LISTS: tuple[KeyPath, ...] = (("events",), ("os",), ("requires", "bins"), ("requires", "anyBins"),
                              ("requires", "env"), ("requires", "config"))  # fmt: skip
TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def sent(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """Each event that the host never sends, spelt as the one that was surely meant; as lint has it."""
    if not row.hook.meta.events:
        yield Fix(gate.name, gate.reason, why_not="write one there; `hookscope events` lists what there is")
        return
    if row.hook.kind != "folder":
        yield from named_events(gate, row, sketch, given)
        return
    header, space = metadata_in(row, sketch)
    listed = value_in(header, METADATA, space, EVENTS)
    subject = read_subject(row.hook, host_facts(sketch.host), sketch.host.surroundings.files)
    meant = {dead.key: dead.instead[0] for dead in dead_events(subject) if len(dead.instead) == 1}
    if not meant:
        return
    words = ", ".join(f"{key} → {near}" for key, near in meant.items())

    def corrected(source: bytes) -> bytes:
        path: KeyPath = (METADATA, space, EVENTS)
        if isinstance(listed, str):
            keys = [meant.get(key.strip(), key.strip()) for key in listed.split(",")]
            return with_header_value(source, path, ", ".join(keys))
        for place, key in enumerate(listed if isinstance(listed, list) else ()):
            if key in meant:
                source = with_header_value(source, (*path, place), meant[key])
        return source

    yield from header_fixes(gate, row, sketch, [(f"Correct the event: {words}", corrected)])


def fields(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """A text where a list is wanted becomes a list; a word where a truth value is wanted, that."""
    if row.hook.kind != "folder":
        return
    header, space = metadata_in(row, sketch)
    mended: dict[KeyPath, object] = {}
    for path in LISTS:
        value = value_in(header, METADATA, space, *map(str, path))
        if isinstance(value, str) and value.strip():
            mended[path] = [part.strip() for part in value.split(",") if part.strip()]
        elif isinstance(value, list) and any(isinstance(item, int | float) for item in value):
            mended[path] = [str(item) if isinstance(item, int | float) else item for item in value]
    always = value_in(header, METADATA, space, "always")
    if isinstance(always, str) and always.lower() in TRUTHS:
        mended[("always",)] = TRUTHS[always.lower()]
    if not mended:
        return

    def typed(source: bytes) -> bytes:
        for path, value in mended.items():
            source = with_header_value(source, (METADATA, space, *path), value)
        return source

    names = ", ".join(".".join(map(str, path)) for path in mended)
    yield from header_fixes(gate, row, sketch, [(f"Give {names} the type that is wanted", typed)])


def os(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """This platform's name as the host compares it."""
    here = sketch.host.surroundings.platform
    if row.hook.kind != "folder" or not any(_platform(name) == here for name in gate.missing):
        return
    header, space = metadata_in(row, sketch)
    listed = value_in(header, METADATA, space, "os")
    if not isinstance(listed, list):
        return

    def renamed(source: bytes) -> bytes:
        for place, name in enumerate(listed):
            if isinstance(name, str) and _platform(name) == here:
                source = with_header_value(source, (METADATA, space, "os", place), here)
        return source

    yield from header_fixes(gate, row, sketch, [(f"Call this platform {here}", renamed)])


def _platform(name: str) -> str:
    return PLATFORMS.get(name.strip().lower(), name.strip().lower())


def export(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """The function that was surely meant, named in the metadata."""
    path = row.hook.handler
    if gate.found == MISFIT:
        yield Fix(gate.name, gate.reason, why_not="its author writes `(event)`; `event.context` has the rest")
        return
    source = sketch.read(path) if path is not None and row.hook.language == "python" else None
    if source is None or row.hook.kind != "folder":
        return
    try:
        exports = read_exports(source)
    except FormatError:
        return
    functions = [
        one.name for one in exports.values() if "function" in one.kind and not one.name.startswith("_")
    ]
    near = nearest(gate.needed[0] if gate.needed else "handler", functions)
    name = near or (functions[0] if len(functions) == 1 else None)
    if name is None:
        return
    header, space = metadata_in(row, sketch)
    block = header.get(METADATA)
    metadata = block if isinstance(block, dict) else {}
    whole = {**metadata, space: {**namespace_in(metadata, space), "export": name}}
    yield from header_fixes(
        gate,
        row,
        sketch,
        [
            (f"Export {name}", lambda source: with_header_value(source, (METADATA, space, "export"), name)),
            (f"Export {name}", lambda source: with_one_line(source, METADATA, whole)),
        ],
    )


IN_HEADER: Mapping[str, Recipe] = {
    "events": events,
    "sent": sent,
    "fields": fields,
    "os": os,
    "export": export,
}

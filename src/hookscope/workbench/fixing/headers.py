"""Fixes in a HOOK.md: events, types, names of platforms and exports. Recipes as in recipes.py."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hookscope.changes import (
    CannotEdit,
    Change,
    ChangeError,
    header_of,
    with_header_first,
    with_header_key,
    with_header_value,
    with_one_line,
    with_wrapped,
    without_header_member,
)
from hookscope.core.examine import MISFIT
from hookscope.core.searched import PLATFORMS
from hookscope.core.standing import Gate, Standing
from hookscope.core.text import nearest
from hookscope.dialects import DIALECTS
from hookscope.formats import FormatError, KeyPath, read_exports
from hookscope.lint.events import dead_events
from hookscope.lint.header import read_header
from hookscope.lint.reading import read_subject
from hookscope.systems.folders import FolderSystem
from hookscope.workbench.fixing.fix import Fix, Given
from hookscope.workbench.fixing.in_source import named_events
from hookscope.workbench.fixing.recipes import Recipe
from hookscope.workbench.fixing.sketch import Sketch
from hookscope.workbench.linting import host_facts

METADATA = "metadata"
OURS = "hookscope"  # below `metadata`: no host's namespace
EVENTS = "events"
FIELDS = ("events", "requires", "always", "os", "export", "hookKey", "emoji", "homepage", "install")
LISTS: tuple[KeyPath, ...] = (("events",), ("os",), ("requires", "bins"), ("requires", "anyBins"),
                              ("requires", "env"), ("requires", "config"))  # fmt: skip
TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
Make = Callable[[bytes], bytes]


def namespace_of(sketch: Sketch) -> str:
    """The namespace that this dialect reads; empty where it has no HOOK.md folders."""
    systems = sketch.host.dialect.systems
    return next((system.shape.namespace for system in systems if isinstance(system, FolderSystem)), "")


def hosts_namespaces() -> frozenset[str]:
    """Those that some host reads: what stands there is not taken away from it."""
    systems = (system for dialect in DIALECTS.values() for system in dialect.systems)
    return frozenset(system.shape.namespace for system in systems if isinstance(system, FolderSystem))


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


def _metadata_in(row: Standing, sketch: Sketch) -> tuple[Mapping[str, Any], str]:
    """The header of a hook, and the namespace that counts in it. Raises CannotEdit."""
    source = sketch.read(row.hook.manifest) if row.hook.manifest is not None else None
    if source is None:
        raise CannotEdit("It has no HOOK.md", "the header")
    header, own = header_of(source), namespace_of(sketch)
    block = header.get(METADATA)
    if isinstance(block, dict) and own not in block:
        return header, next((name for name, value in block.items() if _has_events(value)), own)
    return header, own


def _has_events(value: object) -> bool:
    return isinstance(value, dict) and EVENTS in value


def _of(header: Mapping[str, Any], *path: str) -> Any:
    value: Any = header
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


# Events that stand where the host does not read them


def events(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """Metadata moved to where, and into the spelling in which, the host reads it; else events asked for."""
    own = namespace_of(sketch)
    if row.hook.kind != "folder" or not own:
        return
    yield from header_fixes(gate, row, sketch, [("Let the header stand first", with_header_first)])
    header, _ = _metadata_in(row, sketch)
    metadata: dict[str, Any] = block if isinstance(block := header.get(METADATA), dict) else {}
    if isinstance(block, str) and row.hook.manifest is not None:
        metadata = dict(read_header(sketch.read(row.hook.manifest) or b"").metadata)
        title = "Take metadata out of its quotes"
        out: list[tuple[str, Make]] = [(title, lambda source: with_one_line(source, METADATA, metadata))]
        yield from header_fixes(gate, row, sketch, out)
    yield from header_fixes(gate, row, sketch, list(_moves(header, metadata, own)))
    if _listened(_of(metadata, own, EVENTS)):
        return
    title = f"Name the events in metadata.{own}.events"
    values = given.of((EVENTS,))
    if values is None:
        yield Fix(gate.name, title, asks=(EVENTS,))
        return
    keys = [key for key in re.split(r"[,\s]+", values[EVENTS]) if key]
    whole = {**metadata, own: {**_own(metadata, own), EVENTS: keys}}
    yield from header_fixes(
        gate,
        row,
        sketch,
        [
            (title, lambda source: with_header_value(source, (METADATA, own, EVENTS), keys)),
            (title, lambda source: with_one_line(source, METADATA, whole)),
        ],
    )


def _moves(header: Mapping[str, Any], metadata: dict[str, Any], own: str) -> Iterator[tuple[str, Make]]:
    one_line = f"Write metadata on one line as JSON under `{own}`"
    if isinstance(metadata.get(own), dict) and _listened(metadata[own].get(EVENTS)):
        yield one_line, lambda source: with_one_line(source, METADATA, metadata)
    other = next((name for name, value in metadata.items() if name != own and _has_events(value)), None)
    if other is not None and other in hosts_namespaces():
        title = f"Copy metadata.{other} to metadata.{own}"
        copied = {**metadata, own: {**metadata[other], **_own(metadata, own)}}
        yield title, lambda source: with_header_value(source, (METADATA, own), copied[own])
        yield title, lambda source: with_one_line(source, METADATA, copied)
    elif other is not None:
        title = f"Move metadata.{other} to metadata.{own}"
        moved = {own if name == other else name: value for name, value in metadata.items()}
        yield title, lambda source: with_header_key(source, (METADATA, other), own)
        yield title, lambda source: with_one_line(source, METADATA, moved)
    if EVENTS in metadata:
        title = f"Move what stands under metadata to metadata.{own}"
        if OURS not in metadata and own not in metadata:
            yield title, lambda source: with_wrapped(source, (METADATA,), own)
        beside = {name: value for name, value in metadata.items() if name not in FIELDS}
        fields = {name: metadata[name] for name in metadata if name in FIELDS}
        wrapped = {**beside, own: {**fields, **_own(metadata, own)}}
        yield title, lambda source: with_one_line(source, METADATA, wrapped)
    if EVENTS in header:
        names = [name for name in header if name in FIELDS and name not in ("emoji", "homepage")]
        whole = {**metadata, own: {**_own(metadata, own), **{name: header[name] for name in names}}}
        yield f"Move {', '.join(names)} to metadata.{own}", lambda source: _moved_down(source, names, whole)


def _moved_down(source: bytes, names: list[str], metadata: object) -> bytes:
    for name in names:
        source = without_header_member(source, name)
    return with_one_line(source, METADATA, metadata)


def _own(metadata: Mapping[str, Any], own: str) -> dict[str, Any]:
    value = metadata.get(own)
    return value if isinstance(value, dict) else {}


def _listened(value: object) -> bool:
    return bool(value) and isinstance(value, list | str)


# Events that the host never sends


def sent(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """Each event that the host never sends, spelt as the one that was surely meant; as lint has it."""
    if not row.hook.meta.events:
        yield Fix(gate.name, gate.reason, why_not="write one there; `hookscope events` lists what there is")
        return
    if row.hook.kind != "folder":
        yield from named_events(gate, row, sketch, given)
        return
    header, space = _metadata_in(row, sketch)
    listed = _of(header, METADATA, space, EVENTS)
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


# Fields


def fields(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """A text where a list is wanted becomes a list; a word where a truth value is wanted, that."""
    if row.hook.kind != "folder":
        return
    header, space = _metadata_in(row, sketch)
    mended: dict[KeyPath, object] = {}
    for path in LISTS:
        value = _of(header, METADATA, space, *map(str, path))
        if isinstance(value, str) and value.strip():
            mended[path] = [part.strip() for part in value.split(",") if part.strip()]
        elif isinstance(value, list) and any(isinstance(item, int | float) for item in value):
            mended[path] = [str(item) if isinstance(item, int | float) else item for item in value]
    always = _of(header, METADATA, space, "always")
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
    header, space = _metadata_in(row, sketch)
    listed = _of(header, METADATA, space, "os")
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
    header, space = _metadata_in(row, sketch)
    block = header.get(METADATA)
    metadata = block if isinstance(block, dict) else {}
    whole = {**metadata, space: {**_own(metadata, space), "export": name}}
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

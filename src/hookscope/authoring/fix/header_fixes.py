"""Fixes in the header of a HOOK.md: events, wrong types, platforms, exports, misplaced metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hookscope.authoring.fix.gate_fixes import Recipe
from hookscope.authoring.fix.model import Fix, FixValues
from hookscope.authoring.fix.simulation import SimulatedHost
from hookscope.authoring.fix.source_fixes import fix_event_names
from hookscope.authoring.lint.header import read_header
from hookscope.authoring.lint.linting import host_facts
from hookscope.authoring.lint.rule_helpers import dead_events
from hookscope.authoring.lint.subject_reader import read_subject
from hookscope.formats.positions import FormatError, KeyPath
from hookscope.formats.python_source import read_exports
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.manifest import REQUIREMENT_FIELDS
from hookscope.hosts.gates.export import WRONG_ARGUMENTS
from hookscope.hosts.gates.os import PLATFORM_SYNONYMS
from hookscope.model.hook_status import FixKind, Gate, HookStatus
from hookscope.model.text import nearest_word
from hookscope.storage.edits.atomic_files import CannotEdit, ChangeError
from hookscope.storage.edits.change import Change
from hookscope.storage.edits.header_edit import (
    parse_header_text,
    with_header_first,
    with_header_key,
    with_header_value,
    with_one_line,
    with_quoted_values,
    with_wrapped,
    without_header_member,
)

METADATA = "metadata"
EVENTS_KEY = "events"
MakeEdit = Callable[[bytes], bytes]
REPAIRED_HEADERS: list[tuple[str, MakeEdit]] = [
    ("Move the header to the top", with_header_first),
    ("Quote the values with a colon", with_quoted_values),
]


def namespace_of(simulated: SimulatedHost) -> str:
    """Return the namespace that this dialect reads; empty if it has no HOOK.md folders."""
    systems = simulated.host.dialect.systems
    return next((system.shape.namespace for system in systems if isinstance(system, FolderSystem)), "")


def header_fixes(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, makes: list[tuple[str, MakeEdit]]
) -> Iterator[Fix]:
    """Yield a fix for each edit in `makes` that succeeds and changes the hook's HOOK.md."""
    file = row.hook.manifest
    source = simulated.read(file) if file is not None else None
    if file is None or source is None:
        return
    for title, make in makes:
        try:
            new = make(source)
        except ChangeError:
            continue
        if new != source:
            yield Fix(gate.name, title, (Change(file, f"{file.parent.name}: {title}", source, new),))


def metadata_in(row: HookStatus, simulated: SimulatedHost) -> tuple[Mapping[str, Any], str]:
    """Return a hook's header and the namespace that applies. Raises CannotEdit."""
    source = simulated.read(row.hook.manifest) if row.hook.manifest is not None else None
    if source is None:
        raise CannotEdit("It has no HOOK.md", "the header")
    header, own = parse_header_text(source), namespace_of(simulated)
    block = header.get(METADATA)
    if isinstance(block, dict) and own not in block:
        return header, next((name for name, value in block.items() if has_events(value)), own)
    return header, own


def has_events(value: object) -> bool:
    """Return whether this is a namespace's block with events."""
    return isinstance(value, dict) and EVENTS_KEY in value


def header_value(header: Mapping[str, Any], *path: str) -> Any:
    """Return the value at a path; None if there is none."""
    value: Any = header
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def namespace_block(metadata: Mapping[str, Any], own: str) -> dict[str, Any]:
    """Return the block of a namespace; empty if there is none."""
    value = metadata.get(own)
    return value if isinstance(value, dict) else {}


OWN_NAMESPACES = "hookscope"  # below `metadata`; no host reads it
EVENT_FIELDS = ("events", "requires", "always", "os", "export", "hookKey", "emoji", "homepage", "install")


def fix_misplaced_events(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield fixes that move, rewrite or add metadata so that the host finds the hook's events."""
    own = namespace_of(simulated)
    if row.hook.kind != "folder" or not own:
        return
    yield from header_fixes(gate, row, simulated, REPAIRED_HEADERS)
    header, _ = metadata_in(row, simulated)
    metadata: dict[str, Any] = block if isinstance(block := header.get(METADATA), dict) else {}
    if isinstance(block, str) and row.hook.manifest is not None:
        metadata = dict(read_header(simulated.read(row.hook.manifest) or b"").metadata)
        title = "Remove the quotes around metadata"
        out: list[tuple[str, MakeEdit]] = [(title, lambda source: with_one_line(source, METADATA, metadata))]
        yield from header_fixes(gate, row, simulated, out)
    yield from header_fixes(gate, row, simulated, list(_moves(header, metadata, own)))
    if _requested_events(header_value(metadata, own, EVENTS_KEY)):
        return
    title = f"Name the events in metadata.{own}.events"
    values = user_values.values_for((EVENTS_KEY,))
    if values is None:
        yield Fix(gate.name, title, required_values=(EVENTS_KEY,))
        return
    keys = [key for key in re.split(r"[,\s]+", values[EVENTS_KEY]) if key]
    whole = {**metadata, own: {**namespace_block(metadata, own), EVENTS_KEY: keys}}
    yield from header_fixes(
        gate,
        row,
        simulated,
        [
            (title, lambda source: with_header_value(source, (METADATA, own, EVENTS_KEY), keys)),
            (title, lambda source: with_one_line(source, METADATA, whole)),
        ],
    )


def host_namespaces() -> frozenset[str]:
    """Return the namespaces that some host reads: their content is copied, not moved."""
    systems = (system for dialect in DIALECTS.values() for system in dialect.systems)
    return frozenset(system.shape.namespace for system in systems if isinstance(system, FolderSystem))


def _moves(header: Mapping[str, Any], metadata: dict[str, Any], own: str) -> Iterator[tuple[str, MakeEdit]]:
    one_line = f"Write metadata on one line as JSON under `{own}`"
    if isinstance(metadata.get(own), dict) and _requested_events(metadata[own].get(EVENTS_KEY)):
        yield one_line, lambda source: with_one_line(source, METADATA, metadata)
    other = next((name for name, value in metadata.items() if name != own and has_events(value)), None)
    if other is not None and other in host_namespaces():
        title = f"Copy metadata.{other} to metadata.{own}"
        copied = {**metadata, own: {**metadata[other], **namespace_block(metadata, own)}}
        yield title, lambda source: with_header_value(source, (METADATA, own), copied[own])
        yield title, lambda source: with_one_line(source, METADATA, copied)
    elif other is not None:
        title = f"Move metadata.{other} to metadata.{own}"
        moved = {own if name == other else name: value for name, value in metadata.items()}
        yield title, lambda source: with_header_key(source, (METADATA, other), own)
        yield title, lambda source: with_one_line(source, METADATA, moved)
    if EVENTS_KEY in metadata:
        title = f"Move the fields under metadata to metadata.{own}"
        if OWN_NAMESPACES not in metadata and own not in metadata:
            yield title, lambda source: with_wrapped(source, (METADATA,), own)
        other_keys = {name: value for name, value in metadata.items() if name not in EVENT_FIELDS}
        fields = {name: metadata[name] for name in metadata if name in EVENT_FIELDS}
        wrapped = {**other_keys, own: {**fields, **namespace_block(metadata, own)}}
        yield title, lambda source: with_one_line(source, METADATA, wrapped)
    if EVENTS_KEY in header:
        names = [name for name in header if name in EVENT_FIELDS and name not in ("emoji", "homepage")]
        whole = {
            **metadata,
            own: {**namespace_block(metadata, own), **{name: header[name] for name in names}},
        }
        yield f"Move {', '.join(names)} to metadata.{own}", lambda source: _moved_down(source, names, whole)


def _moved_down(source: bytes, names: list[str], metadata: object) -> bytes:
    for name in names:
        source = without_header_member(source, name)
    return with_one_line(source, METADATA, metadata)


def _requested_events(value: object) -> bool:
    return bool(value) and isinstance(value, list | str)


LIST_FIELDS: tuple[KeyPath, ...] = (
    ("events",),
    ("os",),
    *(("requires", name) for name in REQUIREMENT_FIELDS),
)
TRUE_AND_FALSE = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def fix_unsent_events(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield a fix that replaces each event that the host never sends by its only close match, like lint."""
    if not row.hook.meta.events:
        yield Fix(gate.name, gate.reason, why_not="add one there; `hookscope events` lists the events")
        return
    if row.hook.kind != "folder":
        yield from fix_event_names(gate, row, simulated, user_values)
        return
    header, space = metadata_in(row, simulated)
    listed = header_value(header, METADATA, space, EVENTS_KEY)
    subject = read_subject(row.hook, host_facts(simulated.host), simulated.host.machine.files)
    corrections = {dead.key: dead.instead[0] for dead in dead_events(subject) if len(dead.instead) == 1}
    if not corrections:
        return
    words = ", ".join(f"{key} → {near}" for key, near in corrections.items())

    def corrected(source: bytes) -> bytes:
        path: KeyPath = (METADATA, space, EVENTS_KEY)
        if isinstance(listed, str):
            keys = [corrections.get(key.strip(), key.strip()) for key in listed.split(",")]
            return with_header_value(source, path, ", ".join(keys))
        for place, key in enumerate(listed if isinstance(listed, list) else ()):
            if key in corrections:
                source = with_header_value(source, (*path, place), corrections[key])
        return source

    yield from header_fixes(gate, row, simulated, [(f"Correct the event: {words}", corrected)])


def fix_field_types(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield a fix that turns strings into lists, and words into booleans, where the host needs them."""
    if row.hook.kind != "folder":
        return
    header, space = metadata_in(row, simulated)
    retyped: dict[KeyPath, object] = {}
    for path in LIST_FIELDS:
        value = header_value(header, METADATA, space, *map(str, path))
        if isinstance(value, str) and value.strip():
            retyped[path] = [part.strip() for part in value.split(",") if part.strip()]
        elif isinstance(value, list) and any(isinstance(item, int | float) for item in value):
            retyped[path] = [str(item) if isinstance(item, int | float) else item for item in value]
    always = header_value(header, METADATA, space, "always")
    if isinstance(always, str) and always.lower() in TRUE_AND_FALSE:
        retyped[("always",)] = TRUE_AND_FALSE[always.lower()]
    if not retyped:
        return

    def typed(source: bytes) -> bytes:
        for path, value in retyped.items():
            source = with_header_value(source, (METADATA, space, *path), value)
        return source

    names = ", ".join(".".join(map(str, path)) for path in retyped)
    yield from header_fixes(gate, row, simulated, [(f"Give {names} the right type", typed)])


def fix_platform(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield a fix that writes this platform's name as the host spells it."""
    platform = simulated.host.machine.platform
    if row.hook.kind != "folder" or not any(_platform(name) == platform for name in gate.missing):
        return
    header, space = metadata_in(row, simulated)
    listed = header_value(header, METADATA, space, "os")
    if not isinstance(listed, list):
        return

    def renamed(source: bytes) -> bytes:
        for place, name in enumerate(listed):
            if isinstance(name, str) and _platform(name) == platform:
                source = with_header_value(source, (METADATA, space, "os", place), platform)
        return source

    yield from header_fixes(gate, row, simulated, [(f"Write this platform as {platform}", renamed)])


def _platform(name: str) -> str:
    return PLATFORM_SYNONYMS.get(name.strip().lower(), name.strip().lower())


def fix_export(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> Iterator[Fix]:
    """Yield a fix that names the closest matching function as `export` in the metadata."""
    path = row.hook.handler
    if gate.found == WRONG_ARGUMENTS:
        yield Fix(gate.name, gate.reason, why_not="its author must write `(event)` and read `event.context`")
        return
    source = simulated.read(path) if path is not None and row.hook.language == "python" else None
    if source is None or row.hook.kind != "folder":
        return
    try:
        exports = read_exports(source)
    except FormatError:
        return
    functions = [
        one.name for one in exports.values() if "function" in one.kind and not one.name.startswith("_")
    ]
    closest = nearest_word(gate.needed[0] if gate.needed else "handler", functions)
    name = closest or (functions[0] if len(functions) == 1 else None)
    if name is None:
        return
    header, space = metadata_in(row, simulated)
    block = header.get(METADATA)
    metadata = block if isinstance(block, dict) else {}
    whole = {**metadata, space: {**namespace_block(metadata, space), "export": name}}
    yield from header_fixes(
        gate,
        row,
        simulated,
        [
            (f"Export {name}", lambda source: with_header_value(source, (METADATA, space, "export"), name)),
            (f"Export {name}", lambda source: with_one_line(source, METADATA, whole)),
        ],
    )


HEADER_RECIPES: Mapping[FixKind, Recipe] = {
    FixKind.MOVE_EVENTS: fix_misplaced_events,
    FixKind.EVENT_NAMES: fix_unsent_events,
    FixKind.FIELD_TYPES: fix_field_types,
    FixKind.PLATFORM_NAME: fix_platform,
    FixKind.NAME_EXPORT: fix_export,
}

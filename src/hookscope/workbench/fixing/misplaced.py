"""Fixes of events that stand where, or as, the host does not read them. A recipe as in recipes.py."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookscope.changes import (
    with_header_first,
    with_header_key,
    with_header_value,
    with_one_line,
    with_wrapped,
    without_header_member,
)
from hookscope.core.standing import Gate, Standing
from hookscope.dialects import DIALECTS
from hookscope.lint.header import read_header
from hookscope.systems.folders import FolderSystem
from hookscope.workbench.fixing.fix import Fix, Given
from hookscope.workbench.fixing.header_edits import (
    EVENTS,
    METADATA,
    Make,
    has_events,
    header_fixes,
    metadata_in,
    namespace_in,
    namespace_of,
    value_in,
)
from hookscope.workbench.fixing.sketch import Sketch

OURS = "hookscope"  # below `metadata`: no host's namespace
FIELDS = ("events", "requires", "always", "os", "export", "hookKey", "emoji", "homepage", "install")


def events(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> Iterator[Fix]:
    """Metadata moved to where, and into the spelling in which, the host reads it; else events asked for."""
    own = namespace_of(sketch)
    if row.hook.kind != "folder" or not own:
        return
    yield from header_fixes(gate, row, sketch, [("Let the header stand first", with_header_first)])
    header, _ = metadata_in(row, sketch)
    metadata: dict[str, Any] = block if isinstance(block := header.get(METADATA), dict) else {}
    if isinstance(block, str) and row.hook.manifest is not None:
        metadata = dict(read_header(sketch.read(row.hook.manifest) or b"").metadata)
        title = "Take metadata out of its quotes"
        out: list[tuple[str, Make]] = [(title, lambda source: with_one_line(source, METADATA, metadata))]
        yield from header_fixes(gate, row, sketch, out)
    yield from header_fixes(gate, row, sketch, list(_moves(header, metadata, own)))
    if _listened(value_in(metadata, own, EVENTS)):
        return
    title = f"Name the events in metadata.{own}.events"
    values = given.of((EVENTS,))
    if values is None:
        yield Fix(gate.name, title, asks=(EVENTS,))
        return
    keys = [key for key in re.split(r"[,\s]+", values[EVENTS]) if key]
    whole = {**metadata, own: {**namespace_in(metadata, own), EVENTS: keys}}
    yield from header_fixes(
        gate,
        row,
        sketch,
        [
            (title, lambda source: with_header_value(source, (METADATA, own, EVENTS), keys)),
            (title, lambda source: with_one_line(source, METADATA, whole)),
        ],
    )


def hosts_namespaces() -> frozenset[str]:
    """Those that some host reads: what stands there is not taken away from it."""
    systems = (system for dialect in DIALECTS.values() for system in dialect.systems)
    return frozenset(system.shape.namespace for system in systems if isinstance(system, FolderSystem))


def _moves(header: Mapping[str, Any], metadata: dict[str, Any], own: str) -> Iterator[tuple[str, Make]]:
    one_line = f"Write metadata on one line as JSON under `{own}`"
    if isinstance(metadata.get(own), dict) and _listened(metadata[own].get(EVENTS)):
        yield one_line, lambda source: with_one_line(source, METADATA, metadata)
    other = next((name for name, value in metadata.items() if name != own and has_events(value)), None)
    if other is not None and other in hosts_namespaces():
        title = f"Copy metadata.{other} to metadata.{own}"
        copied = {**metadata, own: {**metadata[other], **namespace_in(metadata, own)}}
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
        wrapped = {**beside, own: {**fields, **namespace_in(metadata, own)}}
        yield title, lambda source: with_one_line(source, METADATA, wrapped)
    if EVENTS in header:
        names = [name for name in header if name in FIELDS and name not in ("emoji", "homepage")]
        whole = {**metadata, own: {**namespace_in(metadata, own), **{name: header[name] for name in names}}}
        yield f"Move {', '.join(names)} to metadata.{own}", lambda source: _moved_down(source, names, whole)


def _moved_down(source: bytes, names: list[str], metadata: object) -> bytes:
    for name in names:
        source = without_header_member(source, name)
    return with_one_line(source, METADATA, metadata)


def _listened(value: object) -> bool:
    return bool(value) and isinstance(value, list | str)

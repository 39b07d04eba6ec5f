"""What a handler's source says of it. Imports nothing of ours: the child that parses scripts loads it too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from hookscope.values import dataclass

LARGEST = 262_144  # bytes of source; a larger file is no handler that somebody wrote
MOST = 2_000  # things of one sort that are kept
FARTHEST = 32  # steps up the tree, from a thing, in which a condition around it is looked for


@dataclass(frozen=True, slots=True)
class Met:
    """One thing met in the source. Line and column count from 1."""

    name: str
    line: int
    column: int
    kind: str = ""  # what more is known of it, see HandlerFacts


@dataclass(frozen=True, slots=True)
class HandlerFacts:
    """What one file does, as far as its text says it plainly. What is computed is left out."""

    env: tuple[Met, ...] = ()  # variables it reads; kind "optional": it goes on without
    programs: tuple[Met, ...] = ()  # programs it starts, by name
    network: tuple[Met, ...] = ()  # calls that reach other machines
    writes: tuple[Met, ...] = ()  # calls that write files
    fields: tuple[Met, ...] = ()  # members of the event's context that it reads
    strays: tuple[Met, ...] = ()  # members that it reads of the event itself, and no event has
    puts: tuple[Met, ...] = ()  # members that it puts on the event itself, and no event has
    guards: tuple[Met, ...] = ()  # values that it compares with; kind: "type" or "action"
    pushes: tuple[Met, ...] = ()  # messages for the user
    answers: tuple[Met, ...] = ()  # members of an object that the handler returns
    homes: tuple[Met, ...] = ()  # texts that begin with somebody's home folder
    imports: tuple[Met, ...] = ()  # by statements; kind "type": of types, "types": of them without saying so
    code: tuple[Met, ...] = ()  # of TypeScript, what is more than types: `enum`, `namespace`, …
    module: str = ""  # esm, commonjs, both; empty: neither
    error: Met | None = None  # the first place that cannot be read; its name says why
    doubt: Met | None = None  # of a script, where its grammar stumbles; that of Node may know more
    exports: Mapping[str, bool] | None = None  # of an ES module, and whether a function; None: not told


def facts_from(document: Mapping[str, Any]) -> HandlerFacts:
    """The facts that `asdict` made a document of. Raises TypeError or ValueError for what is none."""
    parts: dict[str, Any] = {}
    for field in fields(HandlerFacts):
        value = document.get(field.name)
        if field.name == "module":
            parts["module"] = str(value or "")
        elif field.name in ("error", "doubt"):
            parts[field.name] = Met(**value) if value else None
        elif field.name == "exports":
            parts["exports"] = (
                None if value is None else {str(name): bool(is_) for name, is_ in value.items()}
            )
        else:
            parts[field.name] = tuple(Met(**met) for met in value or ())
    return HandlerFacts(**parts)

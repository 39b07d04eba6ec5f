"""Facts of a handler's source, and names that its readers search. The parser process loads this too."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from hookscope.values import dataclass

LARGEST = 262_144  # bytes of source; a larger file is not handwritten
MOST_FACTS = 2_000  # occurrences kept per kind
FARTHEST = 32  # levels up the tree that are searched for an enclosing condition


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence in the source. Line and column count from 1."""

    name: str
    line: int
    column: int
    kind: str = ""  # details, see HandlerFacts


@dataclass(frozen=True, slots=True)
class HandlerFacts:
    """What one file does, according to the literal names in its source; computed names are excluded."""

    env: tuple[Occurrence, ...] = ()  # variables it reads; kind "optional": it works without
    programs: tuple[Occurrence, ...] = ()  # programs it starts, by name
    network: tuple[Occurrence, ...] = ()  # calls that reach other machines
    writes: tuple[Occurrence, ...] = ()  # calls that write files
    fields: tuple[Occurrence, ...] = ()  # members of the event's context that it reads
    changes: tuple[Occurrence, ...] = ()  # members of the event's context that it sets
    strays: tuple[Occurrence, ...] = ()  # members that it reads on the event and no event has
    puts: tuple[Occurrence, ...] = ()  # members that it sets on the event and no event has
    guards: tuple[Occurrence, ...] = ()  # values compared with the event's type or action; kind: which
    pushes: tuple[Occurrence, ...] = ()  # messages for the user; kind: what is pushed if it is not text
    items: tuple[Occurrence, ...] = ()  # objects put into a list of the context; kind: their members
    answers: tuple[Occurrence, ...] = ()  # members of a returned object; kind "other": of no known answer
    parameters: tuple[Occurrence, ...] = ()  # required ones of the handler after the event
    homes: tuple[Occurrence, ...] = ()  # strings that begin with a home folder
    imports: tuple[Occurrence, ...] = ()  # statements; kind "type": marked, "types": of types only, unmarked
    code: tuple[Occurrence, ...] = ()  # TypeScript that is more than types: `enum`, `namespace`, …
    module: str = ""  # esm, commonjs, both; empty: neither
    error: Occurrence | None = None  # the first syntax error; its name says why
    doubt: Occurrence | None = None  # of a script: the first node the grammar cannot read; Node may read it
    exports: Mapping[str, bool] | None = None  # export → whether it is a function; None: unknown


def facts_from(document: Mapping[str, Any]) -> HandlerFacts:
    """Return the facts in a document made by `asdict`. Raises TypeError or ValueError if it is invalid."""
    parts: dict[str, Any] = {}
    for field in fields(HandlerFacts):
        value = document.get(field.name)
        if field.name == "module":
            parts["module"] = str(value or "")
        elif field.name in ("error", "doubt"):
            parts[field.name] = Occurrence(**value) if value else None
        elif field.name == "exports":
            parts["exports"] = value and {str(name): bool(is_function) for name, is_function in value.items()}
        else:
            parts[field.name] = tuple(Occurrence(**occurrence) for occurrence in value or ())
    return HandlerFacts(**parts)


EVENT_NAMES = re.compile(r"_?(?:event|evt|hook_?event)\Z", re.IGNORECASE)  # usual names of the event
GUARDED_MEMBERS = ("type", "action")
# Of tool-call hooks and other programs' hooks.
ANSWERS = "allow block blockReason block_reason cancel decision permissionDecision requireApproval"
RETURNED_MEMBERS = frozenset(ANSWERS.split())
HOME = re.compile(r"(?:/Users/(?!Shared(?:/|\Z))|/home/|[A-Za-z]:[\\/]+Users[\\/]+)[\w.@+-]+(?=[\\/]|\Z)")
SHELL_WORD = re.compile(r"(?:[A-Za-z_]\w*=\S*\s+)*(?P<word>[^\s;|&<>()\"'`$]+)")
PROGRAM = re.compile(r"[A-Za-z0-9_][\w.+-]*\Z")
# Shell built-ins, and programs on every machine with a shell.
COMMON_PROGRAMS = """
. : [ alias bash bg break builtin cat cd chmod command continue cp date dirname echo env eval exec exit export
false fg for function grep hash head hostname id if jobs kill let local ls mkdir mktemp mv printf ps pwd read
readonly return rm rmdir sed set sh shift sleep sort source tail tee test then time times touch tr trap true
type ulimit umask unalias uname unset wait wc which while whoami xargs
"""
SHELL_BUILT_INS = frozenset(COMMON_PROGRAMS.split())


def first_program(command: str) -> str:
    """Return the first program of a command line; empty if it is built in, a path or computed."""
    found = SHELL_WORD.match(command.strip())
    return looked_up_program(found["word"]) if found else ""


def looked_up_program(name: str) -> str:
    """Return `name` if it is a program to look up on PATH that not every machine has; else empty."""
    return name if PROGRAM.match(name) and name not in SHELL_BUILT_INS else ""


@dataclass(frozen=True, slots=True)
class HandlerUses:
    """What a handler needs of its environment, as its source shows."""

    env: tuple[str, ...] = ()
    optional_env: tuple[str, ...] = ()  # it works without them
    bins: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def descriptions(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return a phrase for each kind of use that the handler has, with the names used."""
        parts = (
            ("reads variables", (*self.env, *self.optional_env)),
            ("starts programs", self.bins),
            ("connects to other machines", self.network),
            ("writes files", self.writes),
        )
        return tuple((what, names) for what, names in parts if names)


def handler_uses(facts: HandlerFacts) -> HandlerUses:
    """Return the uses in the facts of a source, each name once, in source order."""
    needed = _occurrence_names(occurrence for occurrence in facts.env if occurrence.kind != "optional")
    return HandlerUses(
        env=needed,
        optional_env=tuple(name for name in _occurrence_names(facts.env) if name not in needed),
        bins=_occurrence_names(facts.programs),
        network=_occurrence_names(facts.network),
        writes=_occurrence_names(facts.writes),
    )


def _occurrence_names(occurrences: Iterable[Occurrence]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(occurrence.name for occurrence in occurrences if occurrence.name))

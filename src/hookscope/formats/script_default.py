"""What the default export of a TypeScript or JavaScript file plainly is, where it is no function."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from hookscope.values import dataclass

from .script_objects import constant_at, default_export, ends_at, members_of, skip, top_level
from .script_tokens import Script, read_script

Kind: TypeAlias = Literal["an object", "a list", "a text", "a number", "a class"]

LONGEST = 65_536  # bytes; of more nothing is said
_FUNCTION = re.compile(rb"export\s+default\s+(?:async\b|function\b|\()")  # most are: no token is read of them
_DEFAULT = re.compile(rb"export\s+default\b|\bmodule\s*\.\s*exports\s*=")
_DEEPEST = 8  # names that stand for names


@dataclass(frozen=True, slots=True)
class DefaultExport:
    """A default export that is no function."""

    kind: Kind
    line: int
    members: tuple[str, ...] | None = None  # of an object; None: the text does not say all of them
    named: frozenset[str] = frozenset()  # every name in the file: what is not among them, it does not export


def default_that_is_none(source: bytes) -> DefaultExport | None:
    """What stands in the place of a function, where the text says so; None for all else. Never raises."""
    if len(source) > LONGEST or _FUNCTION.search(source) or not _DEFAULT.search(source):
        return None
    script = read_script(source)
    start = default_export(script) if script is not None else None
    if script is None or start is None:
        return None
    named = frozenset(token.text for token in script.tokens if token.kind == "name")
    if not script.is_at(start - 2, "export") and named & {"__esModule", "default", "defineProperty"}:
        return None
    kind, at = _kind_at(script, start)
    if kind is None:
        return None
    members = members_of(script, at) if kind == "an object" else ()
    names = None if members is None else tuple(member.name for member in members)
    return DefaultExport(kind, script.tokens[start].line, names, named)


def _kind_at(script: Script, at: int, depth: int = 0) -> tuple[Kind | None, int]:
    """What the expression that begins there is, and where that begins."""
    if depth > _DEEPEST or at >= len(script.tokens):
        return None, at
    if script.is_at(at, "class") or script.is_at(at, "abstract", "class"):
        return "a class", at
    kinds: dict[str, Kind] = {"{": "an object", "[": "a list"}
    behind, token = skip(script, at), script.tokens[at]
    if not ends_at(script, behind):
        return None, at
    if token.kind == "open":
        return kinds.get(token.text), at
    if token.kind in ("string", "number"):
        return ("a text" if token.kind == "string" else "a number"), at
    if token.kind != "name":
        return None, at
    if any(script.is_at(place, "class", token.text) for place in top_level(script)):
        return "a class", at
    value = constant_at(script, token.text)
    return (None, at) if value is None else _kind_at(script, value, depth + 1)

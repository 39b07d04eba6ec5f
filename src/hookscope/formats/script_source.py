"""Read objects, calls, exports and bracket errors from the tokens of a script.

A grammar (tree-sitter) does not replace this reader: it has to run in a process of its own, because a crash
in its C code must not end the console, and that adds 35 to 45 ms of CPU to each `hookscope list`, a fifth.
`hosts/source` uses the grammar where it is installed, for lint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

from hookscope.formats.positions import BYTE_ORDER_MARK, FormatError, span_at
from hookscope.formats.script_tokens import TokenizedScript, read_script, string_value
from hookscope.values import dataclass

_MODIFIERS = frozenset({"async", "get", "set"})
_DEEPEST_VALUE = 32  # chained names and nested calls


@dataclass(frozen=True, slots=True)
class ObjectMember:
    """A member of an object literal, with the `start` and `end` of its value. A method is its own value."""

    name: str
    start: int
    end: int


def object_members(script: TokenizedScript, index: int) -> tuple[ObjectMember, ...] | None:
    """Return the members of the object literal that starts with this `{`, as written.

    None if the text does not show all: computed keys, spreads, numbers, or no object.
    """
    close = script.partner.get(index)
    if close is None or script.tokens[index].text != "{":
        return None
    found: list[ObjectMember] = []
    at = index + 1
    while at < close:
        member = _object_member(script, at, close)
        if member is None:
            return None
        found.append(member)
        at = member.end + 1  # after its comma
    return tuple(found)


def _object_member(script: TokenizedScript, at: int, close: int) -> ObjectMember | None:
    first = at
    while _is_modifier(script, at) or script.is_at(at, "*"):
        at += 1
    name = _member_name(script, at)
    if name is None:
        return None
    after = at + 1
    if script.is_at(after, ":"):
        end = end_of_value(script, after + 1, close)
        return ObjectMember(name, after + 1, end) if end > after + 1 else None
    if script.is_at(after, "(") or script.is_at(after, "<"):
        body = _end_of_method(script, after, close)
        return None if body is None else ObjectMember(name, first, body)
    shorthand = script.kind_at(at) == "name" and at == first and (after == close or script.is_at(after, ","))
    return ObjectMember(name, at, after) if shorthand else None


def _is_modifier(script: TokenizedScript, at: int) -> bool:
    """Return whether the token is `async`, `get` or `set` before a key, and not a key itself."""
    token = script.tokens[at]
    if token.kind != "name" or token.text not in _MODIFIERS:
        return False
    return script.kind_at(at + 1) in ("name", "string", "number") or script.is_at(at + 1, "*")


def _member_name(script: TokenizedScript, at: int) -> str | None:
    token = script.tokens[at]
    if token.kind == "name":
        return None if token.text[0] == "#" or "\\" in token.text else token.text
    return None if token.text[:1] == "`" else string_value(token)


def end_of_value(script: TokenizedScript, at: int, close: int) -> int:
    """Return the end of an expression: its comma, or the closing bracket around it."""
    while at < close and not script.is_at(at, ","):
        at = skip_value(script, at)
    return min(at, close)


def _end_of_method(script: TokenizedScript, at: int, close: int) -> int | None:
    """Return the end of a method's body; types before the body may contain commas."""
    while at < close:
        is_body = script.is_at(at, "{")
        at = skip_value(script, at)
        if is_body and (at == close or script.is_at(at, ",")):
            return at
    return None


def skip_value(script: TokenizedScript, at: int) -> int:
    """Return the index after this token, or after the brackets that it opens."""
    return script.partner.get(at, at) + 1 if script.tokens[at].kind == "open" else at + 1


def call_arguments(script: TokenizedScript, index: int) -> tuple[tuple[int, int], ...] | None:
    """Return start and end of each argument of the call with this `(`; None if unclosed."""
    close = script.partner.get(index)
    if close is None:
        return None
    found: list[tuple[int, int]] = []
    at = index + 1
    while at < close:
        end = end_of_value(script, at, close)
        found.append((at, end))
        at = end + 1
    return tuple(found)


def text_at(script: TokenizedScript, start: int, end: int) -> str | None:
    """Return the text of an expression that is exactly one string, else None."""
    return string_value(script.tokens[start]) if end == start + 1 else None


def whole_number_at(script: TokenizedScript, start: int, end: int) -> int | None:
    """Return the signed whole number that an expression is, else None."""
    sign = -1 if script.is_at(start, "-") else 1
    start += script.is_at(start, "-") or script.is_at(start, "+")
    if end != start + 1 or script.kind_at(start) != "number" or len(script.tokens[start].text) > 20:
        return None
    try:
        number = float(script.tokens[start].text.replace("_", ""))
    except ValueError:
        return None
    return sign * int(number) if number.is_integer() else None


def default_export(script: TokenizedScript) -> int | None:
    """Return the start of the expression after `export default` or `module.exports =`, or None."""
    for at in top_level(script):
        if script.is_at(at, "export", "default"):
            return at + 2
        if script.is_at(at, "module", ".", "exports", "="):
            return at + 4
    return None


def top_level(script: TokenizedScript) -> Iterator[int]:
    """Yield the tokens outside of brackets."""
    at = 0
    while at < len(script.tokens):
        yield at
        at = skip_value(script, at)


def object_at(script: TokenizedScript, at: int, wrapper: str, depth: int = 0) -> int | None:
    """Return the `{` of the object literal that an expression evaluates to, or None if unclear.

    Follows brackets, a call of `wrapper`, a function that returns an object, and a constant's name.
    """
    if depth > _DEEPEST_VALUE or at >= len(script.tokens):
        return None
    if script.is_at(at, "async"):
        return object_at(script, at + 1, wrapper, depth + 1)
    if script.is_at(at, "function"):
        return _object_of_function(script, at + 1, wrapper, depth)
    if script.is_at(at, "{"):
        return at
    after = skip_value(script, at)
    if script.is_at(at, "("):
        if _arrow(script, after) is not None:
            return _object_of_arrow(script, after, wrapper, depth)
        return object_at(script, at + 1, wrapper, depth + 1)
    if script.kind_at(at) != "name":
        return None
    if script.is_at(after, "=>"):
        return _object_of_arrow(script, after, wrapper, depth)
    if script.is_at(at, wrapper):
        call = _behind_types(script, after)
        return object_at(script, call + 1, wrapper, depth + 1) if script.is_at(call, "(") else None
    constant = constant_at(script, script.tokens[at].text) if ends_at(script, after) else None
    return None if constant is None else object_at(script, constant, wrapper, depth + 1)


def ends_at(script: TokenizedScript, at: int) -> bool:
    """Return whether an expression ends here, with nothing after it that changes its value."""
    if at >= len(script.tokens) or script.kind_at(at) in ("close", "name"):
        return True
    return script.is_at(at, ";") or script.is_at(at, ",")


def _behind_types(script: TokenizedScript, at: int) -> int:
    """Return the index after `<…>`, the type arguments of a call."""
    if not script.is_at(at, "<"):
        return at
    depth = 0
    while at < len(script.tokens):
        depth += script.is_at(at, "<") - script.is_at(at, ">")
        at = skip_value(script, at)
        if depth == 0:
            break
    return at


def _arrow(script: TokenizedScript, at: int) -> int | None:
    """Return the `=>` after parameters and an optional type, or None."""
    if script.is_at(at, "=>"):
        return at
    if not script.is_at(at, ":"):
        return None
    while at < len(script.tokens) and script.kind_at(at) != "close":
        if script.is_at(at, "=>"):
            return at
        if script.is_at(at, ";") or script.is_at(at, "="):
            return None
        at = skip_value(script, at)
    return None


def _object_of_arrow(script: TokenizedScript, after: int, wrapper: str, depth: int) -> int | None:
    arrow = _arrow(script, after)
    if arrow is None:
        return None
    if script.is_at(arrow + 1, "{"):
        return _returned(script, arrow + 1, wrapper, depth)
    return object_at(script, arrow + 1, wrapper, depth + 1)


def _object_of_function(script: TokenizedScript, at: int, wrapper: str, depth: int) -> int | None:
    while at < len(script.tokens) and not script.is_at(at, "{"):
        if script.kind_at(at) == "close" or script.is_at(at, ";"):
            return None
        at = skip_value(script, at)
    return _returned(script, at, wrapper, depth)


def _returned(script: TokenizedScript, body: int, wrapper: str, depth: int) -> int | None:
    """Return the object that a function returns; None if an earlier branch has a `return`."""
    close = script.partner.get(body)
    if close is None:
        return None
    at = body + 1
    while at < close and not script.is_at(at, "return"):
        after = skip_value(script, at)
        if any(script.is_at(inner, "return") for inner in range(at, after)):
            return None
        at = after
    return object_at(script, at + 1, wrapper, depth + 1) if at < close else None


def constant_at(script: TokenizedScript, name: str) -> int | None:
    """Return the start of the value of the only top-level `const NAME = …`, or None."""
    found = [at for at in top_level(script) if script.is_at(at, "const", name)]
    if len(found) != 1:
        return None
    at = found[0] + 2
    if script.is_at(at, ":"):
        while at < len(script.tokens) and not script.is_at(at, "=") and not script.is_at(at, ";"):
            at = skip_value(script, at)
    return at + 1 if script.is_at(at, "=") else None


DefaultExportKind: TypeAlias = Literal["an object", "a list", "a text", "a number", "a class"]

LONGEST_DEFAULT_EXPORT = 65_536  # bytes; longer files are not checked
_FUNCTION = re.compile(rb"export\s+default\s+(?:async\b|function\b|\()")  # the usual case needs no tokens
_DEFAULT = re.compile(rb"export\s+default\b|\bmodule\s*\.\s*exports\s*=")
_NAMED = re.compile(rb"\bexports\s*\.\s*[A-Za-z_$]")
_DEEPEST_EXPORT = 8  # chained names


@dataclass(frozen=True, slots=True)
class DefaultExport:
    """A default export that is not a function."""

    kind: DefaultExportKind
    line: int
    members: tuple[str, ...] | None = None  # of an object; None: the text does not show all
    names_in_file: frozenset[str] = frozenset()  # every name in the file; others cannot be exported


def may_export_default(source: bytes) -> bool:
    """Return whether the text has `export default` or `module.exports =` anywhere."""
    return _DEFAULT.search(source) is not None


def unusable_default_export(source: bytes) -> DefaultExport | None:
    """Return a default export that is plainly no function, else None. Never raises."""
    if len(source) > LONGEST_DEFAULT_EXPORT or _FUNCTION.search(source):
        return None
    if not _DEFAULT.search(source):
        return _only_named_exports(source) if _NAMED.search(source) else None
    script = read_script(source)
    start = default_export(script) if script is not None else None
    if script is None or start is None:
        return None
    named = frozenset(token.text for token in script.tokens if token.kind == "name")
    if not script.is_at(start - 2, "export") and named & {"__esModule", "default", "defineProperty"}:
        return None
    kind, at = _export_kind(script, start)
    if kind is None:
        return None
    members = object_members(script, at) if kind == "an object" else ()
    names = None if members is None else tuple(member.name for member in members)
    return DefaultExport(kind, script.tokens[start].line, names, named)


def _only_named_exports(source: bytes) -> DefaultExport | None:
    """Return the object that a CommonJS file exports by `exports.a = …` alone; None if that is unclear."""
    script = read_script(source)
    if script is None:
        return None
    named = frozenset(token.text for token in script.tokens if token.kind == "name")
    starts = [
        at
        for at in top_level(script)
        if script.is_at(at, "exports") and (not script.is_at(at - 1, ".") or script.is_at(at - 2, "module"))
    ]
    assigned = [
        at
        for at in starts
        if script.is_at(at + 1, ".") and script.is_at(at + 3, "=") and not script.is_at(at + 4, "=")
    ]
    names = tuple(script.tokens[at + 2].text for at in assigned)
    mentions = sum(token.text == "exports" for token in script.tokens)
    if not names or len(names) != mentions or named & {"__esModule", "default", "import", "export"}:
        return None
    return DefaultExport("an object", script.tokens[starts[0]].line, names, named)


def exported_names(source: bytes) -> tuple[str, ...] | None:
    """Return what an ES module exports; None if its text does not show all. Never raises.

    `export const a = 1, b = 2` and patterns may export more than the first name, so they are unclear.
    """
    script = read_script(source) if len(source) <= LONGEST_DEFAULT_EXPORT and b"export" in source else None
    if script is None:
        return None
    names: list[str] = []
    for at in top_level(script):
        if not script.is_at(at, "export") or script.is_at(at - 1, "."):
            continue
        found = _names_exported_at(script, at + 1)
        if found is None:
            return None
        names += found
    has_common = any(token.text in ("module", "exports") for token in script.tokens if token.kind == "name")
    return tuple(names) if names and not has_common else None


def _names_exported_at(script: TokenizedScript, at: int) -> list[str] | None:
    """Return the names that one `export` exports; [] for a type, None if unclear."""
    texts = [token.text for token in script.tokens[at : at + 4]]
    match texts:
        case ["default", *_]:
            return ["default"]
        case ["type" | "interface" | "declare" | "namespace", *_]:
            return []
        case ["{", *_] if at in script.partner:
            inside = [token.text for token in script.tokens[at + 1 : script.partner[at]]]
            items = " ".join(inside).split(",")
            return [words[-1] for item in items if (words := item.split()) and words[0] != "type"]
        case (
            ["async", "function", "*", name]
            | ["abstract", "class", name, *_]
            | ["async", "function", name, *_]
        ):
            return [name]
        case ["function", "*", name, *_] | ["function" | "class" | "enum", name, *_]:
            return [name]
        case ["const" | "let" | "var", name, *_] if name not in ("{", "["):
            end = at
            while end < len(script.tokens) and script.tokens[end].text not in (";", "export"):
                if script.tokens[end].text == ",":
                    return None
                end = skip_value(script, end)
            return [name]
    return None


def _export_kind(script: TokenizedScript, at: int, depth: int = 0) -> tuple[DefaultExportKind | None, int]:
    """Return the kind of the expression at `at`, and where its definition starts."""
    if depth > _DEEPEST_EXPORT or at >= len(script.tokens):
        return None, at
    if script.is_at(at, "class") or script.is_at(at, "abstract", "class"):
        return "a class", at
    kinds: dict[str, DefaultExportKind] = {"{": "an object", "[": "a list"}
    after, token = skip_value(script, at), script.tokens[at]
    if not ends_at(script, after):
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
    return (None, at) if value is None else _export_kind(script, value, depth + 1)


_SKIPPED_TOKENS = re.compile(  # comments, strings, and templates without holes
    r"""//[^\n\r\u2028\u2029]*+|/\*(?:[^*]|\*(?!/))*+\*/"""
    r"""|"(?:[^"\\\n\r]|\\[^\r])*+"|'(?:[^'\\\n\r]|\\[^\r])*+'|`[^`\\$]*+`"""
)
_AMBIGUOUS = frozenset("/`\"'\\")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))
LONGEST_BALANCED = 65_536  # bytes; longer files are not checked


def _brackets_match(text: str) -> bool:
    return all(text.count(opening) == text.count(closing) for opening, closing in _PAIRS)


def check_brackets(source: bytes) -> None:
    """Raise FormatError if a bracket certainly has no partner."""
    if len(source) > LONGEST_BALANCED:
        return
    try:
        text = source.decode()
    except UnicodeDecodeError:
        return
    if _brackets_match(text):  # the usual case, strings included
        return
    stripped = _SKIPPED_TOKENS.sub(" ", text)
    if _brackets_match(stripped) or not _AMBIGUOUS.isdisjoint(stripped):
        return
    script = read_script(source)
    if script is None:
        return
    unpaired = [
        token
        for at, token in enumerate(script.tokens)
        if token.kind in ("open", "close") and at not in script.partner
    ]
    opened = [token for token in unpaired if token.kind == "open"]
    if not unpaired:
        return
    token = opened[-1] if opened else unpaired[0]
    start = token.start + text.startswith(BYTE_ORDER_MARK)
    fault = "is never closed" if opened else "closes nothing"
    raise FormatError(f"`{token.text}` {fault}", span_at(text, start, start + len(token.text)))

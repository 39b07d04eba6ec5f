"""Object literals, calls and exports in the tokens of a script: as much grammar as we need."""

from __future__ import annotations

from collections.abc import Iterator

from hookscope.values import dataclass

from .script_tokens import Script, string_value

_MODIFIERS = frozenset({"async", "get", "set"})
_DEEPEST = 32  # names that stand for names, and calls around calls: no honest file comes near


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object literal. Its value stands from `start` up to `end`; a method is its own."""

    name: str
    start: int
    end: int


def members_of(script: Script, index: int) -> tuple[Member, ...] | None:
    """The members of the object literal whose `{` this is, as written.

    None where the text does not say them all: computed keys, spreads, numbers, or no object at all.
    """
    close = script.partner.get(index)
    if close is None or script.tokens[index].text != "{":
        return None
    found: list[Member] = []
    at = index + 1
    while at < close:
        member = _member(script, at, close)
        if member is None:
            return None
        found.append(member)
        at = member.end + 1  # behind its comma
    return tuple(found)


def _member(script: Script, at: int, close: int) -> Member | None:
    first = at
    while _is_modifier(script, at) or script.is_at(at, "*"):
        at += 1
    name = _name_of(script, at)
    if name is None:
        return None
    after = at + 1
    if script.is_at(after, ":"):
        end = end_of_value(script, after + 1, close)
        return Member(name, after + 1, end) if end > after + 1 else None
    if script.is_at(after, "(") or script.is_at(after, "<"):
        body = _end_of_method(script, after, close)
        return None if body is None else Member(name, first, body)
    shorthand = script.kind_at(at) == "name" and at == first and (after == close or script.is_at(after, ","))
    return Member(name, at, after) if shorthand else None


def _is_modifier(script: Script, at: int) -> bool:
    """`async`, `get`, `set` in front of a key; they may be keys themselves."""
    token = script.tokens[at]
    if token.kind != "name" or token.text not in _MODIFIERS:
        return False
    return script.kind_at(at + 1) in ("name", "string", "number") or script.is_at(at + 1, "*")


def _name_of(script: Script, at: int) -> str | None:
    token = script.tokens[at]
    if token.kind == "name":
        return None if token.text[0] == "#" or "\\" in token.text else token.text
    return None if token.text[:1] == "`" else string_value(token)


def end_of_value(script: Script, at: int, close: int) -> int:
    """Where an expression ends: at its comma, or at the bracket around it."""
    while at < close and not script.is_at(at, ","):
        at = skip(script, at)
    return min(at, close)


def _end_of_method(script: Script, at: int, close: int) -> int | None:
    """A method ends with its body: types in front of that may have commas of their own."""
    while at < close:
        is_body = script.is_at(at, "{")
        at = skip(script, at)
        if is_body and (at == close or script.is_at(at, ",")):
            return at
    return None


def skip(script: Script, at: int) -> int:
    """Behind this token, or behind the whole of the brackets that it opens."""
    return script.partner.get(at, at) + 1 if script.tokens[at].kind == "open" else at + 1


def arguments_of(script: Script, index: int) -> tuple[tuple[int, int], ...] | None:
    """Start and end of each argument of the call whose `(` this is; None where it does not close."""
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


def text_at(script: Script, start: int, end: int) -> str | None:
    """The text that an expression is; None where it is more or other than one string."""
    return string_value(script.tokens[start]) if end == start + 1 else None


def texts_at(script: Script, start: int, end: int) -> tuple[str, ...] | None:
    """The text that an expression is, or the texts of a list; None where one of them is anything else."""
    if not script.is_at(start, "["):
        text = text_at(script, start, end)
        return None if text is None else (text,)
    if script.partner.get(start) != end - 1:
        return None
    places = range(start + 1, end - 1)
    texts = [text_at(script, at, at + 1) for at in places[::2]]
    if not all(script.is_at(at, ",") for at in places[1::2]):
        return None
    return None if None in texts else tuple(text for text in texts if text is not None)


def whole_number_at(script: Script, start: int, end: int) -> int | None:
    """The whole number that an expression is, with its sign; None for any other expression."""
    sign = -1 if script.is_at(start, "-") else 1
    start += script.is_at(start, "-") or script.is_at(start, "+")
    if end != start + 1 or script.kind_at(start) != "number" or len(script.tokens[start].text) > 20:
        return None
    try:
        number = float(script.tokens[start].text.replace("_", ""))
    except ValueError:
        return None
    return sign * int(number) if number.is_integer() else None


def default_export(script: Script) -> int | None:
    """Where the expression behind `export default`, or `module.exports =`, begins; None without either."""
    for at in top_level(script):
        if script.is_at(at, "export", "default"):
            return at + 2
        if script.is_at(at, "module", ".", "exports", "="):
            return at + 4
    return None


def top_level(script: Script) -> Iterator[int]:
    """The tokens that stand in no brackets."""
    at = 0
    while at < len(script.tokens):
        yield at
        at = skip(script, at)


def object_at(script: Script, at: int, wrapper: str, depth: int = 0) -> int | None:
    """The `{` of the object literal that an expression is; None where the text does not say it.

    Seen through are brackets, a call of `wrapper`, a function that returns one, and a constant's name.
    """
    if depth > _DEEPEST or at >= len(script.tokens):
        return None
    if script.is_at(at, "async"):
        return object_at(script, at + 1, wrapper, depth + 1)
    if script.is_at(at, "function"):
        return _object_of_function(script, at + 1, wrapper, depth)
    if script.is_at(at, "{"):
        return at
    behind = skip(script, at)
    if script.is_at(at, "("):
        if _arrow(script, behind) is not None:
            return _object_of_arrow(script, behind, wrapper, depth)
        return object_at(script, at + 1, wrapper, depth + 1)
    if script.kind_at(at) != "name":
        return None
    if script.is_at(behind, "=>"):
        return _object_of_arrow(script, behind, wrapper, depth)
    if script.is_at(at, wrapper):
        call = _behind_types(script, behind)
        return object_at(script, call + 1, wrapper, depth + 1) if script.is_at(call, "(") else None
    constant = constant_at(script, script.tokens[at].text) if ends_at(script, behind) else None
    return None if constant is None else object_at(script, constant, wrapper, depth + 1)


def ends_at(script: Script, at: int) -> bool:
    """Does an expression end here: nothing follows that would make another value of it."""
    if at >= len(script.tokens) or script.kind_at(at) in ("close", "name"):
        return True
    return script.is_at(at, ";") or script.is_at(at, ",")


def _behind_types(script: Script, at: int) -> int:
    """Behind `<…>`, where a call has type arguments."""
    if not script.is_at(at, "<"):
        return at
    depth = 0
    while at < len(script.tokens):
        depth += script.is_at(at, "<") - script.is_at(at, ">")
        at = skip(script, at)
        if depth == 0:
            break
    return at


def _arrow(script: Script, at: int) -> int | None:
    """The `=>` behind parameters, and perhaps behind a type; None where there is none."""
    if script.is_at(at, "=>"):
        return at
    if not script.is_at(at, ":"):
        return None
    while at < len(script.tokens) and script.kind_at(at) != "close":
        if script.is_at(at, "=>"):
            return at
        if script.is_at(at, ";") or script.is_at(at, "="):
            return None
        at = skip(script, at)
    return None


def _object_of_arrow(script: Script, behind: int, wrapper: str, depth: int) -> int | None:
    arrow = _arrow(script, behind)
    if arrow is None:
        return None
    if script.is_at(arrow + 1, "{"):
        return _returned(script, arrow + 1, wrapper, depth)
    return object_at(script, arrow + 1, wrapper, depth + 1)


def _object_of_function(script: Script, at: int, wrapper: str, depth: int) -> int | None:
    while at < len(script.tokens) and not script.is_at(at, "{"):
        if script.kind_at(at) == "close" or script.is_at(at, ";"):
            return None
        at = skip(script, at)
    return _returned(script, at, wrapper, depth)


def _returned(script: Script, body: int, wrapper: str, depth: int) -> int | None:
    """The object that a function returns; None where a `return` stands in a branch before."""
    close = script.partner.get(body)
    if close is None:
        return None
    at = body + 1
    while at < close and not script.is_at(at, "return"):
        behind = skip(script, at)
        if any(script.is_at(inner, "return") for inner in range(at, behind)):
            return None
        at = behind
    return object_at(script, at + 1, wrapper, depth + 1) if at < close else None


def constant_at(script: Script, name: str) -> int | None:
    """Where the value of a top-level `const NAME = …` begins; None unless there is exactly one."""
    found = [at for at in top_level(script) if script.is_at(at, "const", name)]
    if len(found) != 1:
        return None
    at = found[0] + 2
    if script.is_at(at, ":"):
        while at < len(script.tokens) and not script.is_at(at, "=") and not script.is_at(at, ";"):
            at = skip(script, at)
    return at + 1 if script.is_at(at, "=") else None

"""The YAML that nearly all headers are made of, read line by line; all else is left to the full reader.

Lines `key: value` and `- value` below one another; each value on its line, or as JSON on several. What is
read here means the same to the full reader, which takes several times as long.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any, Final

from .yaml_scalars import plain_value

_QUOTES: Final = "'\""
_LONGEST: Final = 65_536  # characters
_LONGEST_FLOW: Final = 1000  # characters; a key of over 1,024 is none to YAML
_MOST_BRACKETS: Final = 30  # in one value
_DEEPEST: Final = 30  # blocks in one another

# Nothing that was taken is given back (`+` behind a repetition): of thousands of spaces each would be tried.
_LINES: Final = re.compile(
    r"""
    ([ ]*+)
    (?: \#[^\n]*
      | (-[ ]++)?
        (?: ([A-Za-z_][A-Za-z0-9_-]{0,99}) : (?![^ \n]) )?
        [ ]*+
        ( "[^"\\\n]*"
        | '[^'\n]*'
        | [\[{] (?: [^\n]*[\]}](?=[ ]*+(?:\n|\Z)) | [^\n]*+ (?: \n(?=[ \]}]) [^\n]*+ )*+ )
        | [^ \n\-?:,\[\]{}\#&*!|>'"%@`] [^\n:\#]*+ (?: (?: :(?=[^ \n]) | (?<=[^ \n])\# ) [^\n:\#]*+ )*+
        )?
        [ ]*+
    )
    (?: \n | \Z )
  | ([^\n]+)
    """,
    re.VERBOSE,
)
_WORD = r"[A-Za-z_](?:[A-Za-z0-9_./*-]|:(?=[A-Za-z0-9_*]))*"
_WORDS: Final = re.compile(rf"\[ *{_WORD}(?: *, *{_WORD})* *\]")
_LAST_COMMA: Final = re.compile(r'("[^"\n]*")|(?<=["\]}a-z0-9]),(?=[ \n]*[\]}])')
_KEY_APART: Final = re.compile(r"\n *:")  # from its colon: no key to the full reader
_MANY_DIGITS: Final = 300
_LONG_NUMBER: Final = re.compile(rf"[0-9]{{{_MANY_DIGITS}}}")


class _Beyond(Exception):
    """Something that is not read here."""


def read_plain_yaml(text: str) -> dict[str, object] | None:
    """The mapping that a text is, as the full reader reads it; None where only that one can tell."""
    if len(text) > _LONGEST:
        return None
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    if not text.replace("\n", "").isprintable():
        return None
    try:
        return _mapping(text) or None
    except _Beyond:
        return None


def _mapping(text: str) -> dict[str, object]:
    whole: dict[str, object] = {}
    here: Any = whole  # the innermost block, a mapping or a list
    column = 0  # where its lines begin
    around: list[tuple[Any, int]] = []  # the blocks that it is in
    waiting = ""  # the last line's key, where its value is not on that line
    for indent, dash, key, value, strange in _LINES.findall(text):
        if strange:
            raise _Beyond
        if not (key or dash or value):
            continue
        at = len(indent)
        if waiting and (at > column or (dash and at == column)):
            if not (key or dash):
                here[waiting], waiting = _value(value), ""
                continue
            if len(around) > _DEEPEST:
                raise _Beyond
            around.append((here, column))
            here[waiting] = here = [] if dash else {}
            column = at
        while at < column or (at == column and not dash and type(here) is list):
            if not around:
                raise _Beyond
            here, column = around.pop()
        if at != column or (type(here) is list) is not bool(dash):
            raise _Beyond
        if dash:
            if not key:
                if not value:
                    raise _Beyond
                here.append(_value(value))
                waiting = ""
                continue
            item: dict[str, object] = {}
            here.append(item)
            around.append((here, column))
            here, column = item, at + len(dash)
        if not key or key in here:
            raise _Beyond
        if not value:
            here[key], waiting = None, key
            continue
        here[key] = value[1:-1] if value[0] in _QUOTES else _value(value)
        waiting = ""
    return whole


def _value(text: str) -> object:
    first = text[0]
    if first in _QUOTES:
        return text[1:-1]
    if first == "[" and (items := _plain_items(text)) is not None:
        return [*items]
    return _flow(text) if first in "[{" else plain_value(text.rstrip(" "))


@lru_cache(maxsize=512)
def _plain_items(text: str) -> tuple[object, ...] | None:
    """The items of a list without others in it, which hooks often have in common; None for other lists."""
    items = _flow(text)
    assert isinstance(items, list)
    return None if any(isinstance(item, dict | list) for item in items) else tuple(items)


def _flow(text: str) -> object:
    """What stands in brackets: JSON, with a comma behind the last items allowed, or a list of plain words."""
    if len(text) > _LONGEST_FLOW or "\\" in text or text.count("[") + text.count("{") > _MOST_BRACKETS:
        raise _Beyond
    if len(text) > _MANY_DIGITS and _LONG_NUMBER.search(text):
        raise _Beyond
    value = _json(text)
    if value is None and _WORDS.fullmatch(text):
        return [plain_value(word.strip(" ")) for word in text[1:-1].split(",")]
    if value is None:
        value = _json(_LAST_COMMA.sub(r"\1", text))
    if value is None or ("\n" in text and _KEY_APART.search(text)):
        raise _Beyond
    return value


def _json(text: str) -> object:
    """A list or mapping; None where it is no JSON."""
    try:
        value, end = _read(text)
    except ValueError:
        return None
    return value if end == len(text) and type(value) in (dict, list) else None


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Beyond
    return members


def _no_number(_: str) -> object:
    raise _Beyond


_read: Final = json.JSONDecoder(object_pairs_hook=_members, parse_constant=_no_number).raw_decode

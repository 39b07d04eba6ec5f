"""How a JSON5 document is laid out, and how to write a new member so that it looks like its neighbours.

Everything here takes the text for valid JSON5, as `formats` has read it.
"""

from __future__ import annotations

import json
import re

from hookscope.values import dataclass

LINE_ENDS = "\n\r\u2028\u2029"
_LINE_END = re.compile(f"\r\n|[{LINE_ENDS}]")
_COMMENT = rf"//[^{LINE_ENDS}]*|/\*[\s\S]*?\*/"
_GAP = re.compile(rf"(?:[\s\ufeff]|{_COMMENT})*")
_BLANKS = re.compile(rf"[^\S{LINE_ENDS}]*")
_REST_OF_LINE = re.compile(
    rf"(?:[^\S{LINE_ENDS}]|\ufeff|/\*[\s\S]*?\*/)*+(?://[^{LINE_ENDS}]*+)?+(?=[{LINE_ENDS}])"
)
_STRING = r""""(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*'"""
_NAME = r"""[^\s\ufeff{}\[\]:,"'/]+"""
_TIGHT_MEMBER = re.compile(rf"(?:{_STRING}|{_NAME}):(?=[^\s\ufeff/])")
_TOKEN = re.compile(rf"{_STRING}|{_COMMENT}|[{{}}\[\]:,]|{_NAME}")
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass(frozen=True, slots=True)
class Opening:
    """The start of an object or list, up to its first key or item."""

    at: int  # its bracket
    first: int | None  # its first key or item; None: it is empty
    line_end: int | None  # where the bracket's line ends; None: something else of it stands on that line


@dataclass(frozen=True, slots=True)
class Style:
    """How a new member is written."""

    newline: str | None  # None: on the line that is there
    indent: str  # of the member
    unit: str  # for each level below it
    quote: str  # around keys; empty where they have none
    tight: bool  # no space after colons and commas

    @property
    def colon(self) -> str:
        """Between a key and its value."""
        return ":" if self.tight else ": "

    @property
    def comma(self) -> str:
        """Between members on one line."""
        return "," if self.tight else ", "


def plain_style(newline: str | None) -> Style:
    """Where there are no neighbours to look at."""
    return Style(newline, indent="", unit="  ", quote='"', tight=False)


# Looking


def after_gap(text: str, at: int) -> int:
    """Where white space and comments end."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def blanks_at(text: str, at: int) -> str:
    """The white space from here on, within the line."""
    blanks = _BLANKS.match(text, at)
    return blanks[0] if blanks else ""


def indent_at(text: str, at: int) -> str:
    """The white space that the line of this character starts with."""
    start = max(text.rfind(end, 0, at) for end in LINE_ENDS) + 1
    blanks = _BLANKS.match(text, start, at)
    return blanks[0] if blanks else ""


def first_newline(text: str, at: int = 0) -> str:
    """The first line end from here on; a line feed where there is none."""
    end = _LINE_END.search(text, at)
    return end[0] if end else "\n"


def ends_line(text: str, at: int) -> bool:
    """Is nothing but white space left on this line?"""
    return text.startswith(tuple(LINE_ENDS), at + len(blanks_at(text, at)))


def opening_at(text: str, at: int) -> Opening:
    """The object or list whose bracket stands here."""
    first = after_gap(text, at + 1)
    rest = _REST_OF_LINE.match(text, at + 1)
    return Opening(at, None if text[first] in "}]" else first, rest.end() if rest else None)


def tokens_between(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Start and end of each token; comments are none."""
    found = _TOKEN.finditer(text, start, end)
    return [token.span() for token in found if text[token.start()] != "/"]


def style_in(text: str, here: Opening, parent: Opening | None) -> Style:
    """How a first member of the object `here` is written: as its other members, else as its parent's."""
    root = opening_at(text, after_gap(text, 0))
    neighbour = here if here.first is not None else parent
    key = neighbour.first if neighbour is not None and text[neighbour.at] == "{" else None
    unit = "  "
    if root.first is not None and root.line_end is not None:
        unit = indent_at(text, root.first).removeprefix(indent_at(text, root.at))
    if here.first is not None and here.line_end is not None:
        indent = indent_at(text, here.first)
    else:
        indent = indent_at(text, here.at) + unit
    return Style(
        newline=_newline_in(text, here, parent),
        indent=indent,
        unit=unit,
        quote='"' if key is None else text[key] if text[key] in "\"'" else "",
        tight=key is not None and _TIGHT_MEMBER.match(text, key) is not None,
    )


def _newline_in(text: str, here: Opening, parent: Opening | None) -> str | None:
    if here.line_end is not None:
        return first_newline(text, here.line_end)
    if text[here.at + 1] != "}":
        return None
    if parent is None:  # `{}` is the whole document, or stands in a list
        return first_newline(text) if after_gap(text, 0) == here.at else None
    return None if parent.line_end is None else first_newline(text, parent.line_end)


# Writing


def inserted(text: str, here: Opening, style: Style, key: str, value: object) -> str:
    """The text with one more member, the first of the object `here`. Every other character stays."""
    member = key_text(key, style.quote) + style.colon + value_text(value, style, style.indent)
    if style.newline is None:
        blanks = blanks_at(text, here.at + 1)
        if here.first is None:
            return _put(text, here.at + 1, blanks + member)  # `{ }` becomes `{ a: 1 }`
        return _put(text, here.at + 1 + len(blanks), member + style.comma)
    line = style.newline + style.indent + member
    if here.line_end is None:  # `{}` is opened
        return _put(text, here.at + 1, line + style.newline + indent_at(text, here.at))
    return _put(text, here.line_end, line if here.first is None else line + ",")


def _put(text: str, at: int, more: str) -> str:
    return text[:at] + more + text[at:]


def value_text(value: object, style: Style, indent: str) -> str:
    """JSON5 of plain data, spread over lines where the style is."""
    deeper = indent + style.unit
    if isinstance(value, dict):
        members = [
            key_text(key, style.quote) + style.colon + value_text(part, style, deeper)
            for key, part in value.items()
        ]
        return _bracketed("{}", members, style, indent)
    if isinstance(value, list):
        items = [value_text(item, style, deeper) for item in value]
        return _bracketed("[]", items, style, indent)
    if isinstance(value, str):
        return quoted(value, style.quote or '"')
    return json.dumps(value)  # `Infinity` and `NaN` are JSON5


def _bracketed(pair: str, parts: list[str], style: Style, indent: str) -> str:
    if not parts or style.newline is None:
        return pair[0] + style.comma.join(parts) + pair[1]
    start = style.newline + indent + style.unit
    return pair[0] + start + f",{start}".join(parts) + style.newline + indent + pair[1]


def key_text(key: str, quote: str) -> str:
    """A key, without quotes where none are asked for and none are needed."""
    if not quote and _IDENTIFIER.fullmatch(key):
        return key
    return quoted(key, quote or '"')


def quoted(text: str, quote: str) -> str:
    """A string in quotes. One with characters that cannot be seen is written in ASCII."""
    double = json.dumps(text, ensure_ascii=not text.isprintable())
    if quote == '"':
        return double
    inner = double[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{inner}'"

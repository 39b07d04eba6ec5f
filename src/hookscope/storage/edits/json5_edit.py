"""Set or remove one value of a JSON5 document and keep every other byte. Pure: bytes in, bytes out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

from hookscope.formats.json5 import json5_tokens, locate_json5, read_json5
from hookscope.formats.positions import FormatError, KeyPath, Span, text_of
from hookscope.model.hook import Edit
from hookscope.storage.edits.atomic_files import CannotEdit
from hookscope.storage.edits.document_values import (
    MISSING,
    depth_reached,
    is_identical,
    value_at,
    verified_bytes,
    with_value,
    without_member,
)
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
_IDENTIFIER = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


@dataclass(frozen=True, slots=True)
class OpeningBracket:
    """The start of an object or list, up to its first key or item."""

    at: int  # its bracket
    first: int | None  # its first key or item; None: it is empty
    line_end: int | None  # where the bracket's line ends; None: a member or item is on that line


@dataclass(frozen=True, slots=True)
class MemberStyle:
    """The style of a new member."""

    newline: str | None  # None: no new line
    indent: str  # of the member
    unit: str  # for each level below it
    quote: str  # around keys; empty where they have none
    tight: bool  # no space after colons and commas

    @property
    def colon(self) -> str:
        """The text between a key and its value."""
        return ":" if self.tight else ": "

    @property
    def comma(self) -> str:
        """The text between members on one line."""
        return "," if self.tight else ", "


def default_style(newline: str | None) -> MemberStyle:
    """Return the style of a member without neighbours."""
    return MemberStyle(newline, indent="", unit="  ", quote='"', tight=False)


# Looking


def skip_gap(text: str, at: int) -> int:
    """Return the offset after white space and comments."""
    gap = _GAP.match(text, at)
    return gap.end() if gap else at


def blanks_from(text: str, at: int) -> str:
    """Return the white space from an offset to at most the line's end."""
    blanks = _BLANKS.match(text, at)
    return blanks[0] if blanks else ""


def indent_at(text: str, at: int) -> str:
    """Return the indentation of the line at an offset."""
    start = max(text.rfind(end, 0, at) for end in LINE_ENDS) + 1
    blanks = _BLANKS.match(text, start, at)
    return blanks[0] if blanks else ""


def first_newline(text: str, at: int = 0) -> str:
    """Return the first line end at or after this offset; a line feed if there is none."""
    end = _LINE_END.search(text, at)
    return end[0] if end else "\n"


def opening_at(text: str, at: int) -> OpeningBracket:
    """Return the object or list whose bracket is at this offset."""
    first = skip_gap(text, at + 1)
    rest = _REST_OF_LINE.match(text, at + 1)
    return OpeningBracket(at, None if text[first] in "}]" else first, rest.end() if rest else None)


def style_of_members(text: str, bracket: OpeningBracket, parent: OpeningBracket | None) -> MemberStyle:
    """Return the style for a first member: that of the object's other members, else of the parent's."""
    root = opening_at(text, skip_gap(text, 0))
    neighbour = bracket if bracket.first is not None else parent
    key = neighbour.first if neighbour is not None and text[neighbour.at] == "{" else None
    unit = "  "
    if root.first is not None and root.line_end is not None:
        unit = indent_at(text, root.first).removeprefix(indent_at(text, root.at))
    if bracket.first is not None and bracket.line_end is not None:
        indent = indent_at(text, bracket.first)
    else:
        indent = indent_at(text, bracket.at) + unit
    return MemberStyle(
        newline=_newline_in(text, bracket, parent),
        indent=indent,
        unit=unit,
        quote='"' if key is None else text[key] if text[key] in "\"'" else "",
        tight=key is not None and _TIGHT_MEMBER.match(text, key) is not None,
    )


def _newline_in(text: str, bracket: OpeningBracket, parent: OpeningBracket | None) -> str | None:
    if bracket.line_end is not None:
        return first_newline(text, bracket.line_end)
    if text[bracket.at + 1] != "}":
        return None
    if parent is None:  # `{}` is the whole document, or stands in a list
        return first_newline(text) if skip_gap(text, 0) == bracket.at else None
    return None if parent.line_end is None else first_newline(text, parent.line_end)


# Writing


def with_member_inserted(
    text: str, bracket: OpeningBracket, style: MemberStyle, key: str, value: object
) -> str:
    """Return the text with a new first member of an object. All other characters stay."""
    member = key_text(key, style.quote) + style.colon + value_text(value, style, style.indent)
    if style.newline is None:
        blanks = blanks_from(text, bracket.at + 1)
        if bracket.first is None:
            return _text_with(text, bracket.at + 1, blanks + member)  # `{ }` becomes `{ a: 1 }`
        return _text_with(text, bracket.at + 1 + len(blanks), member + style.comma)
    line = style.newline + style.indent + member
    if bracket.line_end is None:  # `{}` is opened
        return _text_with(text, bracket.at + 1, line + style.newline + indent_at(text, bracket.at))
    return _text_with(text, bracket.line_end, line if bracket.first is None else line + ",")


def _text_with(text: str, at: int, more: str) -> str:
    return text[:at] + more + text[at:]


def value_text(value: object, style: MemberStyle, indent: str) -> str:
    """Return plain data as JSON5, over several lines if the style has a newline."""
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


def _bracketed(pair: str, parts: list[str], style: MemberStyle, indent: str) -> str:
    if not parts or style.newline is None:
        return pair[0] + style.comma.join(parts) + pair[1]
    start = style.newline + indent + style.unit
    return pair[0] + start + f",{start}".join(parts) + style.newline + indent + pair[1]


def key_text(key: str, quote: str) -> str:
    """Return a key, quoted only if quotes are requested or needed."""
    if not quote and _IDENTIFIER.fullmatch(key):
        return key
    return quoted(key, quote or '"')


def quoted(text: str, quote: str) -> str:
    """Return a quoted string. Text with unprintable characters is escaped to ASCII."""
    double = json.dumps(text, ensure_ascii=not text.isprintable())
    if quote == '"':
        return double
    inner = double[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{inner}'"


def with_setting(source: bytes | None, path: KeyPath, value: object) -> bytes:
    """Return the document with `value` at `path`; unchanged if it already has that value.

    An existing value is replaced. A missing one becomes the first member of the deepest existing object. A
    missing file, or one with only comments, becomes a small document; a blank file does not, because another
    program may be writing it. If a key is repeated, its last value is edited, because that one counts.

    Raises:
        CannotEdit: blank, not JSON5, or the path leads through something other than an object or a list item.
        TypeError: `value` cannot be JSON.
    """
    value = json.loads(json.dumps(value))  # plain data: a tuple is a list, an enum its text
    line = f"{dotted_path(path)}: {json.dumps(value, ensure_ascii=False)}"
    if source is not None and is_blank(source):
        raise CannotEdit("The file is empty; another program may be writing it", line)
    text = _text(source or b"", line)
    old = parse_settings(source or b"", line)
    if _is_whitespace_only(text):
        return verified_bytes(
            _new_document(text, path, value, line), with_value(old, path, value), read_json5, line
        )
    if is_identical(value_at(old, path), value):
        return text.encode()
    depth = depth_reached(old, path)
    if depth == len(path):
        new = _replaced(text, _span(text, path, line), value)
    else:
        if not isinstance(value_at(old, path[:depth]), dict):
            what = f"`{dotted_path(path[:depth])}`" if depth else "The document"
            raise CannotEdit(f"{what} is not an object", line)
        new = _with_member(text, path, depth, value, line)
    return verified_bytes(new, with_value(old, path, value), read_json5, line)


def with_settings(source: bytes | None, edits: Sequence[Edit]) -> bytes | None:
    """Return the document after several edits, applied in order."""
    for edit in edits:
        source = with_setting(source, edit.path, edit.value)
    return source


def without_setting(source: bytes, path: KeyPath) -> bytes:
    """Return the document without one member of an object; unchanged if it is absent.

    Its comma is removed too, and its line if nothing else is on it. Comments around it stay.

    Raises:
        CannotEdit: not JSON5, an item of a list, or a repeated key.
    """
    line = f"remove {dotted_path(path)}"
    text = _text(source, line)
    old = parse_settings(source, line)
    if value_at(old, path) is MISSING:
        return source
    if not path or not isinstance(path[-1], str):
        raise CannotEdit("Only members of objects can be removed", line)
    new = _without_member(text, _span(text, path[:-1], line), _span(text, path, line))
    return verified_bytes(new, without_member(old, path), read_json5, line)


def dotted_path(path: KeyPath) -> str:
    """Return a path for display: `hooks.entries."my hook".dirs[0]`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{key_text(step, '')}" for step in path)
    return "".join(steps).removeprefix(".")


# Reading, before and after


def parse_settings(source: bytes, line: str = "") -> object:
    """Return the document's value. A document with only comments is an empty object.

    Raises CannotEdit with `line`, which the user can write by hand, if the document is invalid.
    """
    text = _text(source, line)
    try:
        return {} if _is_whitespace_only(text) else read_json5(source)
    except FormatError as error:
        raise _unreadable(error, line) from None


def _unreadable(error: FormatError, line: str) -> CannotEdit:
    return CannotEdit(f"The file cannot be read: {error}", line)


def is_blank(source: bytes) -> bool:
    """Return whether a document has only white space, perhaps after a byte order mark."""
    return not source.removeprefix(b"\xef\xbb\xbf").strip()


def _is_whitespace_only(text: str) -> bool:
    return skip_gap(text, 0) == len(text)


def _text(source: bytes, line: str) -> str:
    try:
        return text_of(source)
    except FormatError as error:
        raise _unreadable(error, line) from None


def _span(text: str, path: KeyPath, line: str) -> Span:
    span = locate_json5(text.encode(), path)
    if span is None:  # a bug, since `read_json5` found it: refuse
        raise CannotEdit(f"`{dotted_path(path)}` was not found in the text", line)
    return span


# Splicing


def _replaced(text: str, span: Span, value: object) -> str:
    """Replace exactly the old value's characters, with its quotes and its style of lines."""
    first = text[span.start]
    if first in "{[":
        style = style_of_members(text, opening_at(text, span.start), None)
    else:
        style = replace(default_style(None), quote=first if first in "\"'" else '"')
    return text[: span.start] + value_text(value, style, indent_at(text, span.start)) + text[span.end :]


def _with_member(text: str, path: KeyPath, depth: int, value: object, line: str) -> str:
    """Insert a member; `path[:depth]` leads to an object, which lacks the next step."""
    bracket = opening_at(text, _span(text, path[:depth], line).start)
    parent = None
    if bracket.first is None and depth and isinstance(path[depth - 1], str):
        parent = opening_at(text, _span(text, path[: depth - 1], line).start)
    missing = _nested_text(path[depth:], value, line)
    ((key, part),) = missing.items()
    return with_member_inserted(text, bracket, style_of_members(text, bracket, parent), key, part)


def _new_document(text: str, path: KeyPath, value: object, line: str) -> str:
    """Write a new document after an existing byte order mark or comments."""
    newline = first_newline(text)
    above = text if not text.strip("\ufeff") or text.endswith(newline) else text + newline
    whole = _nested_text(path, value, line) if path else value
    return above + value_text(whole, default_style(newline), "") + newline


def _nested_text(path: KeyPath, value: object, line: str) -> dict[str, object]:
    for step in reversed(path):
        if not isinstance(step, str):
            raise CannotEdit("Lists cannot be created or extended", line)
        value = {step: value}
    assert isinstance(value, dict)  # the path has a step
    return value


def _without_member(text: str, parent: Span, value: Span) -> str:
    (before, after_before), (key, _), _ = json5_tokens(text, parent.start, value.start)[-3:]
    comma = skip_gap(text, value.end)
    head, between, tail = text[:key], "", text[value.end :]
    if text[comma] == ",":
        between, tail = text[value.end : comma], text[comma + 1 :]
    elif text[before] == ",":
        head = text[:before] + text[after_before:key]
    if between.strip():  # a comment before the comma
        return head + between + tail
    if tail.startswith(tuple(LINE_ENDS), len(blanks_from(tail, 0))):
        head, tail = _without_last_line(head), tail.lstrip(" \t")
    elif text[comma] == ",":
        tail = tail.lstrip(" \t")
    else:
        head = head.rstrip(" \t")
    if head[parent.start + 1 :].strip() or tail[: len(tail) - len(text) + parent.end - 1].strip():
        return head + tail
    return text[: parent.start] + "{}" + text[parent.end :]


def _without_last_line(head: str) -> str:
    """Return `head` without the white space at its end, and without the line end before it."""
    head = head.rstrip(" \t")
    return head[:-2] if head.endswith("\r\n") else head[:-1] if head.endswith(tuple(LINE_ENDS)) else head

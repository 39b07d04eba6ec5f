"""Edit one place in the header of a HOOK.md and keep every other byte. Pure: bytes in, bytes out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from hookscope.formats.frontmatter import (
    MarkdownHeader,
    cut_header,
    locate_frontmatter,
    quoted_line,
    read_frontmatter,
)
from hookscope.formats.positions import FormatError, KeyPath, Span, text_of
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
from hookscope.storage.edits.json5_edit import first_newline

_PLAIN = re.compile(r"[A-Za-z_][\w.:/-]*[\w]|[A-Za-z_]")  # a string that needs no quotes
_WORDS = {"true", "false", "null", "yes", "no", "on", "off"}
MOST_QUOTED = 40  # at most so many values are quoted in one edit
_BEFORE = re.compile("\ufeff?\\s*(?=---)")


def parse_header_text(source: bytes) -> Mapping[str, object]:
    """Return the header's YAML. Raises CannotEdit without a readable header."""
    try:
        header = read_frontmatter(source)
    except FormatError as error:
        raise CannotEdit(f"The header cannot be read: {error}") from None
    if header is None:
        raise CannotEdit("There is no header between two lines `---`")
    return header


def with_header_value(source: bytes, path: KeyPath, value: object) -> bytes:
    """Return the file with `value` at `path`, replaced or inserted.

    Raises CannotEdit if the header is not YAML, or the path leads through something other than a mapping or
    list.
    """
    old = parse_header_text(source)
    if is_identical(value_at(old, path), value):
        return source
    text = text_of(source)
    depth = depth_reached(old, path)
    if depth == len(path):
        span = _span(source, path)
        new = _spliced(text, span, _in_style(text[span.start : span.end], value))
    else:
        step = path[depth]
        if not isinstance(step, str) or not isinstance(value_at(old, path[:depth]), dict):
            return _instead(source, path[:depth], _nested(path[depth:], value), old)
        new = _with_member(text, source, path[:depth], step, _nested(path[depth + 1 :], value))
    return _read_again(new, with_value(old, path, value))


def with_header_key(source: bytes, path: KeyPath, key: str) -> bytes:
    """Return the file with another key for the last step of `path`. Raises CannotEdit."""
    old = parse_header_text(source)
    span = locate_frontmatter(source, path, of_key=True)
    value = value_at(old, path)
    if span is None or value is MISSING or value_at(old, (*path[:-1], key)) is not MISSING:
        raise CannotEdit(f"`{path[-1]}` cannot be renamed to `{key}`")
    text = text_of(source)
    written = text[span.start : span.end]
    new = _spliced(text, span, _in_style(written, key))
    return _read_again(new, with_value(without_member(old, path), (*path[:-1], key), value))


def with_wrapped(source: bytes, path: KeyPath, key: str) -> bytes:
    """Return the file with the mapping at `path` wrapped under a new key. Raises CannotEdit."""
    old = parse_header_text(source)
    value = value_at(old, path)
    if not isinstance(value, dict) or not value:
        raise CannotEdit(f"`{path[-1]}` is not a mapping")
    text, span = text_of(source), _span(source, path)
    written = text[span.start : span.end]
    if written.startswith("{"):
        wrapped = f"{{{json.dumps(key)}: {written}}}"
    else:
        deeper = "\n".join(f"  {line}" if line.strip() else line for line in written.split("\n"))
        wrapped = f"{key}:{first_newline(text)}{' ' * (span.column - 1)}{deeper}"
    return _read_again(_spliced(text, span, wrapped), with_value(old, path, {key: value}))


def with_one_line(source: bytes, key: str, value: object) -> bytes:
    """Return the file with a top-level value as JSON on its key's line, perhaps added. Raises CannotEdit."""
    old = parse_header_text(source)
    if key not in old:
        return with_header_value(source, (key,), value)
    text = text_of(source)
    at, span = locate_frontmatter(source, (key,), of_key=True), locate_frontmatter(source, (key,))
    if at is None or span is None:
        raise CannotEdit(f"`{key}` was not found in the header")
    colon = text.index(":", at.end) + 1
    whole = Span(span.line, span.column, colon, max(span.end, colon))
    return _read_again(_spliced(text, whole, f" {_json(value)}"), with_value(old, (key,), value))


def without_header_member(source: bytes, key: str) -> bytes:
    """Return the file without a top-level member's lines. Raises CannotEdit if the member shares a line."""
    old = parse_header_text(source)
    text = text_of(source)
    at, span = locate_frontmatter(source, (key,), of_key=True), locate_frontmatter(source, (key,))
    if at is None or span is None or at.column != 1:
        raise CannotEdit(f"`{key}` shares a line with other members")
    end = text.find("\n", max(span.end, at.end))
    lines = Span(at.line, 1, at.start, len(text) if end < 0 else end + 1)
    return _read_again(_spliced(text, lines, ""), without_member(old, (key,)))


def with_header_first(source: bytes) -> bytes:
    """Return the file without a byte order mark and blank lines before its header."""
    return source[_length_before_header(source) :]


def with_quoted_values(source: bytes) -> bytes:
    """Return the file with quotes around each value whose colon YAML refuses.

    Raises CannotEdit if YAML refuses the header for another reason too.
    """
    for _ in range(MOST_QUOTED):
        try:
            read_frontmatter(source)
            return source
        except FormatError as error:
            line = quoted_line(source, error)
            if not line:
                raise CannotEdit(f"The header cannot be read: {error}") from None
            lines = text_of(source).split("\n")
            ending = "\r" if lines[error.span.line - 1].endswith("\r") else ""
            lines[error.span.line - 1] = line + ending
            source = "\n".join(lines).encode()
    raise CannotEdit("The header cannot be read: too many of its values need quotes")


def _length_before_header(source: bytes) -> int:
    found = _BEFORE.match(source.decode("utf-8", "replace"))
    return len(found[0].encode()) if found else 0


# Splicing


def _spliced(text: str, span: Span, new: str) -> str:
    gap = " " if span.start == span.end and text[span.start - 1 : span.start] == ":" else ""
    return text[: span.start] + gap + new + text[span.end :]


def _span(source: bytes, path: KeyPath) -> Span:
    span = locate_frontmatter(source, path)
    if span is None:
        raise CannotEdit(f"`{'.'.join(map(str, path))}` was not found in the header")
    return span


def _header(text: str) -> MarkdownHeader:
    header = cut_header(text.encode())
    if header is None:
        raise CannotEdit("There is no header between two lines `---`")
    return header


def _instead(source: bytes, path: KeyPath, value: object, old: object) -> bytes:
    """Replace the null at `path`. Raises CannotEdit if there is any other value."""
    if value_at(old, path) is not None:
        raise CannotEdit(f"`{'.'.join(map(str, path))}` is not a mapping")
    return _read_again(
        _spliced(text_of(source), _span(source, path), _json(value)), with_value(old, path, value)
    )


def _with_member(text: str, source: bytes, parent: KeyPath, key: str, value: object) -> str:
    if not parent:
        header = _header(text)
        end = header.start + len(header.text)
        line = f"{_key(key)}: {_json(value)}{first_newline(text)}"
        return text[:end] + line + text[end:]
    span = _span(source, parent)
    if text[span.start] == "{":
        inside = text[span.start + 1 : span.end - 1].strip()
        member = f"{json.dumps(key)}: {_json(value)}{', ' if inside else ''}"
        return text[: span.start + 1] + member + text[span.start + 1 :]
    indent = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    before = indent if not indent.strip() else " " * (span.column - 1)
    member = f"{_key(key)}: {_json(value)}{first_newline(text)}{before}"
    return text[: span.start] + member + text[span.start :]


def _nested(path: KeyPath, value: object) -> object:
    for step in reversed(path):
        value = {step: value}
    return value


def _key(key: str) -> str:
    return key if _PLAIN.fullmatch(key) and key.lower() not in _WORDS else json.dumps(key)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _in_style(written: str, value: object) -> str:
    """Return a text in the quotes of the old one; anything else as JSON."""
    if not isinstance(value, str) or written.startswith('"'):
        return _json(value)
    if written.startswith("'"):
        return "'" + value.replace("'", "''") + "'"
    return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else _json(value)


def _read_again(text: str, meaning: object) -> bytes:
    return verified_bytes(text, meaning, read_frontmatter)

"""One value of a JSON5 document set or removed, and no other byte changed. Pure: bytes in, bytes out.

The text is spliced, never written anew. Afterwards it is read again, and only what means the old
document but for that one path is handed out.
"""

import json
from collections.abc import Sequence
from dataclasses import replace

from hookscope.core.hooks import Edit
from hookscope.formats import FormatError, KeyPath, Span, locate_json5, read_json5, text_of

from .errors import CannotEdit
from .layout import (
    LINE_ENDS,
    after_gap,
    ends_line,
    first_newline,
    indent_at,
    inserted,
    key_text,
    opening_at,
    plain_style,
    style_in,
    tokens_between,
    value_text,
)
from .meanings import MISSING, reached, same, value_at, verified, with_value, without_member


def edited(source: bytes | None, path: KeyPath, value: object) -> bytes:
    """The document with `value` at `path`. Where it already means that, the very same bytes.

    What stands there is replaced, character for character. What is missing becomes the first member of the
    deepest object there is. No file, or one of nothing but comments, becomes a small document; a blank file
    does not, since another program may be writing it at this moment.
    Of equal keys the last is edited, as it is the one that counts.

    Raises:
        CannotEdit: blank, not JSON5, or something on the way is neither an object nor an item of a list.
        TypeError: `value` is nothing that JSON can say.
    """
    value = json.loads(json.dumps(value))  # plain data: a tuple is a list, an enum its text
    line = f"{dotted(path)}: {json.dumps(value, ensure_ascii=False)}"
    if source is not None and is_blank(source):
        raise CannotEdit("The file is empty; another program may be writing it", line)
    text = _text(source or b"", line)
    old = meaning_of(source or b"", line)
    if _is_bare(text):
        return verified(
            _new_document(text, path, value, line), with_value(old, path, value), read_json5, line
        )
    if same(value_at(old, path), value):
        return text.encode()
    depth = reached(old, path)
    if depth == len(path):
        new = _replaced(text, _span(text, path, line), value)
    else:
        if not isinstance(value_at(old, path[:depth]), dict):
            what = f"`{dotted(path[:depth])}`" if depth else "The document"
            raise CannotEdit(f"{what} is not an object", line)
        new = _with_member(text, path, depth, value, line)
    return verified(new, with_value(old, path, value), read_json5, line)


def edited_all(source: bytes | None, edits: Sequence[Edit]) -> bytes | None:
    """The document after several edits, each made on the text that the one before it has left."""
    for edit in edits:
        source = edited(source, edit.path, edit.value)
    return source


def without(source: bytes, path: KeyPath) -> bytes:
    """The document without one member of an object. Where there is none, the very same bytes.

    Its comma goes with it, and its line where nothing else stands there. Comments around it stay.

    Raises:
        CannotEdit: not JSON5, an item of a list, or one of several equal keys.
    """
    line = f"remove {dotted(path)}"
    text = _text(source, line)
    old = meaning_of(source, line)
    if value_at(old, path) is MISSING:
        return source
    if not path or not isinstance(path[-1], str):
        raise CannotEdit("Only members of objects are removed", line)
    new = _less(text, _span(text, path[:-1], line), _span(text, path, line))
    return verified(new, without_member(old, path), read_json5, line)


def dotted(path: KeyPath) -> str:
    """A path for people: `hooks.entries."my hook".dirs[0]`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{key_text(step, '')}" for step in path)
    return "".join(steps).removeprefix(".")


# Reading, before and after


def meaning_of(source: bytes, line: str = "") -> object:
    """What the document says. One of nothing but white space and comments is an empty object.

    Raises CannotEdit, with `line` for its user to write by hand, where it cannot be read.
    """
    text = _text(source, line)
    try:
        return {} if _is_bare(text) else read_json5(source)
    except FormatError as error:
        raise _unreadable(error, line) from None


def _unreadable(error: FormatError, line: str) -> CannotEdit:
    return CannotEdit(f"The file cannot be read: {error}", line)


def is_blank(source: bytes) -> bool:
    """Whether a document holds nothing but white space, and perhaps a byte order mark."""
    return not source.removeprefix(b"\xef\xbb\xbf").strip()


def _is_bare(text: str) -> bool:
    return after_gap(text, 0) == len(text)


def _text(source: bytes, line: str) -> str:
    try:
        return text_of(source)
    except FormatError as error:
        raise _unreadable(error, line) from None


def _span(text: str, path: KeyPath, line: str) -> Span:
    span = locate_json5(text.encode(), path)
    if span is None:  # `read_json5` saw it, so this would be a fault of ours; still, nothing is guessed
        raise CannotEdit(f"`{dotted(path)}` was not found in the text", line)
    return span


# Splicing


def _replaced(text: str, span: Span, value: object) -> str:
    """Exactly the characters of the old value go. It lends its quotes, and its lines where it has several."""
    first = text[span.start]
    if first in "{[":
        style = style_in(text, opening_at(text, span.start), None)
    else:
        style = replace(plain_style(None), quote=first if first in "\"'" else '"')
    return text[: span.start] + value_text(value, style, indent_at(text, span.start)) + text[span.end :]


def _with_member(text: str, path: KeyPath, depth: int, value: object, line: str) -> str:
    """`path[:depth]` leads to an object, and the next step to nothing."""
    here = opening_at(text, _span(text, path[:depth], line).start)
    parent = None
    if here.first is None and depth and isinstance(path[depth - 1], str):
        parent = opening_at(text, _span(text, path[: depth - 1], line).start)
    missing = _nested(path[depth:], value, line)
    ((key, part),) = missing.items()
    return inserted(text, here, style_in(text, here, parent), key, part)


def _new_document(text: str, path: KeyPath, value: object, line: str) -> str:
    """What is there already, a byte order mark or comments, stays in front."""
    newline = first_newline(text)
    above = text if not text.strip("\ufeff") or text.endswith(newline) else text + newline
    whole = _nested(path, value, line) if path else value
    return above + value_text(whole, plain_style(newline), "") + newline


def _nested(path: KeyPath, value: object, line: str) -> dict[str, object]:
    for step in reversed(path):
        if not isinstance(step, str):
            raise CannotEdit("Lists are not made, and nothing is added to them", line)
        value = {step: value}
    assert isinstance(value, dict)  # the path has a step
    return value


def _less(text: str, parent: Span, value: Span) -> str:
    """The text without one member of the object at `parent`."""
    (before, after_before), (key, _), _ = tokens_between(text, parent.start, value.start)[-3:]
    comma = after_gap(text, value.end)
    head, between, tail = text[:key], "", text[value.end :]
    if text[comma] == ",":
        between, tail = text[value.end : comma], text[comma + 1 :]
    elif text[before] == ",":
        head = text[:before] + text[after_before:key]
    if between.strip():  # a comment before the comma
        return head + between + tail
    if ends_line(tail, 0):
        head, tail = _without_last_line(head), tail.lstrip(" \t")
    elif text[comma] == ",":
        tail = tail.lstrip(" \t")
    else:
        head = head.rstrip(" \t")
    if head[parent.start + 1 :].strip() or tail[: len(tail) - len(text) + parent.end - 1].strip():
        return head + tail
    return text[: parent.start] + "{}" + text[parent.end :]


def _without_last_line(head: str) -> str:
    """Without the white space that a removed member stood behind, and its line end where that was all."""
    head = head.rstrip(" \t")
    return head[:-2] if head.endswith("\r\n") else head[:-1] if head.endswith(tuple(LINE_ENDS)) else head

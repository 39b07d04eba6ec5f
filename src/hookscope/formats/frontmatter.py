"""The header of a Markdown file: a YAML mapping between two `---` lines, from the first line on."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final

from hookscope.formats.positions import FormatError, KeyPath, Span, span_at, text_of
from hookscope.formats.yaml12 import locate_part, read_part
from hookscope.values import dataclass

LARGEST_HEADER: Final = 64 * 1024
"""Bytes of a file in which its header must have ended, for who reads no further."""


@dataclass(frozen=True, slots=True)
class MarkdownHeader:
    """The YAML of a header, its position in the file, and the text after it."""

    text: str
    line: int
    """Of the first line of YAML, from 1: always 2."""
    start: int
    """Offset of `text` in `text_of(source)`."""
    body: str


def cut_header(source: bytes) -> MarkdownHeader | None:
    """Return the header of a file, or None if it has none. Its YAML is not parsed.

    Spaces after `---`, CRLF and a byte order mark are allowed; a line before the first `---` is
    not.

    Raises:
        FormatError: the file is not UTF-8, or the header does not end.
    """
    return _cut_text(text_of(source))


def head_of(source: bytes, limit: int = LARGEST_HEADER) -> bytes:
    """Return a file cut after its header, or the whole file if it is not longer than `limit` bytes.

    The cut also removes bytes after the header that are not UTF-8, such as a truncated character. A long
    file without a header becomes empty.

    Raises:
        FormatError: the header does not end within `limit` bytes, or is not UTF-8.
    """
    if len(source) <= limit:
        return source
    opening = _OPENING_BYTES.match(source)
    if opening is None:
        return b""
    closing = _CLOSING_BYTES.search(source, opening.end(), limit)
    if closing is None:
        first = opening[0].decode()
        where = span_at(first, first.index("-"), len(first.rstrip()))
        raise FormatError(f"the header has no closing `---` within its first {limit // 1024} KiB", where)
    head = source[: closing.end()]
    text_of(head)
    return head


def read_frontmatter(source: bytes) -> dict[str, object] | None:
    """Return the header's data as `read_yaml` would; `{}` if empty, None without a header.

    Raises:
        FormatError: as `cut_header` and `read_yaml`, with positions in the file, or if the header
            is not a mapping.
    """
    text = text_of(source)
    header = _cut_text(text)
    if header is None:
        return None
    end = header.start + len(header.text)
    value = read_part(text, header.start, end)
    if value is None:
        return {}
    if not isinstance(value, dict):
        where = locate_part(text, header.start, end, ()) or span_at(text, header.start, end)
        what = "a list" if isinstance(value, list) else "one plain value"
        raise FormatError(f"the header must be `key: value` lines, not {what}", where)
    return value


def locate_frontmatter(source: bytes, path: KeyPath, *, of_key: bool = False) -> Span | None:
    """Return the span of the header's value at `path` as `locate_yaml` would, or of its key."""
    try:
        text = text_of(source)
        header = _cut_text(text)
    except FormatError:
        return None
    if header is None:
        return None
    return locate_part(text, header.start, header.start + len(header.text), path, of_key=of_key)


@lru_cache(maxsize=256)
def quoted_line(source: bytes, error: FormatError) -> str:
    """Return the line whose colon in the value YAML refuses, with that value quoted; empty for other errors.

    `error` is the one that `read_frontmatter` raised for this source.
    """
    if "quote the value" not in error.problem:
        return ""
    line = text_of(source).split("\n")[error.span.line - 1]
    name, sign, value = line.partition(": ")
    value = value.strip()
    is_plain = bool(sign) and ": " in f"{value} " and value[0] not in "\"'{[&*!|>"
    return f"{name}: {json.dumps(value, ensure_ascii=False)}" if is_plain else ""


def repair_mojibake(text: str) -> str | None:
    """Return the original of UTF-8 text that was read as Windows-1252: `ðŸ’¾` was a floppy disk.

    None if the text cannot be such a result, or if the original has no character beyond U+2000: pairs such as
    `É®` also occur in ordinary text, but the three or four characters of an emoji do not.
    """  # noqa: RUF002  # the strange characters are the subject
    try:
        repaired = bytes(_CP1252[character] for character in text).decode()
    except (KeyError, UnicodeDecodeError):
        return None
    return repaired if max(repaired, default="") >= "\u2000" else None


_OPENING = re.compile("\ufeff?---[ \t]*(?:\r?\n|\\Z)")
_CLOSING = re.compile("---[ \t]*(?:\r?\n|\\Z)")
_OPENING_BYTES = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n")
_CLOSING_BYTES = re.compile(rb"^---[ \t]*\r?\n", re.MULTILINE)


def _cut_text(text: str) -> MarkdownHeader | None:
    opening = _OPENING.match(text)
    if opening is None:
        return None
    start = opening.end()
    closing, before = None, start - 1
    while closing is None and (before := text.find("\n---", before)) >= 0:
        before += 1
        closing = _CLOSING.match(text, before)
    if closing is None:
        where = span_at(text, opening[0].index("-"), len(opening[0].rstrip()))
        raise FormatError("the header opened on line 1 has no closing `---`", where)
    return MarkdownHeader(text[start : closing.start()], 2, start, text[closing.end() :])


def _windows_1252() -> dict[str, int]:
    """Return the byte of each character. C1 controls map to themselves, as in browsers."""
    table = {chr(code): code for code in range(256)}
    table |= {bytes([code]).decode("cp1252", "replace"): code for code in range(0x80, 0xA0)}
    del table["\ufffd"]
    return table


_CP1252: Final = _windows_1252()

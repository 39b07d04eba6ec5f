"""The header of a HOOK.md for rules: its values, the place of each, and what went wrong."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hookscope.formats.frontmatter import (
    LARGEST_HEADER,
    cut_header,
    locate_frontmatter,
    read_frontmatter,
)
from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import FormatError, KeyPath
from hookscope.formats.text_header import read_text_header
from hookscope.values import dataclass

HEADER_LIMIT = LARGEST_HEADER  # bytes of a HOOK.md that are read
CONFLICT = re.compile(rb"^<{7}[ \t]", re.MULTILINE)  # as a merge leaves it where both sides have changed
METADATA = re.compile(rb"^metadata[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LintHeader:
    """The header of one HOOK.md."""

    source: bytes = b""  # the file as far as it was read
    value: Mapping[str, Any] = field(default_factory=dict)  # empty without a header, and where it is broken
    exists: bool = False
    error: FormatError | None = None  # why YAML makes nothing of it
    whole: bool = True  # False: the file goes on
    quoted: bool = False  # is `metadata` one text, in which JSON stands
    unread: bool = False  # there is a HOOK.md, and it cannot be read

    @property
    def empty(self) -> bool:
        """Is there nothing at all in the file."""
        return not self.unread and not self.source.strip(b"\xef\xbb\xbf \t\r\n")

    @property
    def conflict(self) -> int:
        """The line at which a merge was left in the middle; 0: nowhere."""
        found = CONFLICT.search(self.source)
        return self.source.count(b"\n", 0, found.start()) + 1 if found else 0

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What stands under `metadata`; empty where that is no mapping."""
        block = self.value.get("metadata")
        return block if isinstance(block, dict) else {}

    def own(self, namespace: str) -> Mapping[str, Any]:
        """What stands under `metadata.<namespace>`; empty where that is no mapping."""
        value = self.metadata.get(namespace)
        return value if isinstance(value, dict) else {}

    def at(self, path: KeyPath) -> tuple[int, int]:
        """Line and column of a value, else of the nearest thing around it that has a place."""
        for end in range(len(path), 0, -1):
            span = locate_frontmatter(self.source, path[:end])
            if span is not None:
                return span.line, span.column
        found = METADATA.search(self.source) if path[:1] == ("metadata",) else None
        return (self.source.count(b"\n", 0, found.start()) + 1, 1) if found else (1, 1)


def read_header(source: bytes) -> LintHeader:
    """The header of the first `LIMIT` bytes or a few more of a HOOK.md. Never raises."""
    whole = len(source) <= HEADER_LIMIT
    source = source if whole else _cut(source[:HEADER_LIMIT])
    try:
        value = read_frontmatter(source)
    except FormatError as error:
        return LintHeader(source, _values_by_line(source), True, error, whole)
    quoted = isinstance(value, dict) and isinstance(value.get("metadata"), str)
    if value is not None and quoted:
        value = {**value, **_values_by_line(source, ("metadata",))}
    return LintHeader(source, value or {}, value is not None, None, whole, quoted)


def _cut(source: bytes) -> bytes:
    """Without the end of a letter, and without a text behind the header that is none of ours."""
    source = source.decode("utf-8", "ignore").encode()
    try:
        header = cut_header(source)
    except FormatError:
        return source
    return source[: len(source) - len(header.body.encode())] if header else source


def _values_by_line(source: bytes, wanted: tuple[str, ...] = ()) -> dict[str, Any]:
    """The header's values as texts, `metadata` as the JSON5 that it holds: hosts read it so too."""
    texts: dict[str, Any] = dict(read_text_header(source))
    if "metadata" in texts:
        try:
            texts["metadata"] = read_json5(texts["metadata"].encode("utf-8", "replace"))
        except FormatError:
            del texts["metadata"]
    return {key: value for key, value in texts.items() if not wanted or key in wanted}

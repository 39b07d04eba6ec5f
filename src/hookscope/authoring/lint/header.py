"""The header of a HOOK.md for lint rules: values, positions, and errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from hookscope.formats.frontmatter import (
    LARGEST_HEADER,
    cut_header,
    locate_frontmatter,
    quoted_line,
    read_frontmatter,
)
from hookscope.formats.json5 import read_json5
from hookscope.formats.positions import FormatError, KeyPath
from hookscope.formats.text_header import read_text_header
from hookscope.values import dataclass

HEADER_LIMIT = LARGEST_HEADER  # bytes of a HOOK.md that are read
CONFLICT = re.compile(rb"^<{7}[ \t]", re.MULTILINE)  # an unresolved merge conflict
METADATA = re.compile(rb"^metadata[ \t]*:", re.MULTILINE)
# Where an author names rules to ignore: in HOOK.md for the whole hook, in a comment for one line.
IGNORE_PATH = ("metadata", "hookscope", "lint", "ignore")
IGNORE_MARK = "hookscope:"
IGNORED_IDS = re.compile(r"[ \t]*ignore\[([^\]\n]*)\]")
COMMENTS = ("#", "//", "/*")


@dataclass(frozen=True, slots=True)
class LintHeader:
    """The header of one HOOK.md."""

    source: bytes = b""  # the bytes that were read
    value: Mapping[str, Any] = field(default_factory=dict)  # empty without front matter
    exists: bool = False
    error: FormatError | None = None  # why YAML cannot read it
    complete: bool = True  # False: the file is longer
    quoted: bool = False  # `metadata` is a string
    unreadable: bool = False  # HOOK.md exists but cannot be read

    @property
    def empty(self) -> bool:
        """True if the file is empty."""
        return not self.unreadable and not self.source.strip(b"\xef\xbb\xbf \t\r\n")

    @property
    def conflict_line(self) -> int:
        """The line of an unresolved merge conflict; 0 if there is none."""
        found = CONFLICT.search(self.source)
        return self.source.count(b"\n", 0, found.start()) + 1 if found else 0

    @property
    def quoted_line(self) -> str:
        """The line whose colon in the value YAML rejects, with that value quoted; empty for other errors."""
        return quoted_line(self.source, self.error) if self.error is not None else ""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The mapping under `metadata`; empty if the value is not a mapping."""
        block = self.value.get("metadata")
        return block if isinstance(block, dict) else {}

    def namespace_block(self, namespace: str) -> Mapping[str, Any]:
        """Return the mapping under `metadata.<namespace>`; empty if the value is not a mapping."""
        value = self.metadata.get(namespace)
        return value if isinstance(value, dict) else {}

    def position_of(self, path: KeyPath) -> tuple[int, int]:
        """Return the line and column of the value at `path`, or of its nearest enclosing value."""
        for end in range(len(path), 0, -1):
            span = locate_frontmatter(self.source, path[:end])
            if span is not None:
                return span.line, span.column
        found = METADATA.search(self.source) if path[:1] == ("metadata",) else None
        return (self.source.count(b"\n", 0, found.start()) + 1, 1) if found else (1, 1)


def read_header(source: bytes) -> LintHeader:
    """Return the header in the first `HEADER_LIMIT` bytes of a HOOK.md. Never raises."""
    complete = len(source) <= HEADER_LIMIT
    source = source if complete else _cut(source[:HEADER_LIMIT])
    try:
        value = read_frontmatter(source)
    except FormatError as error:
        return LintHeader(source, _values_by_line(source), True, error, complete)
    quoted = isinstance(value, dict) and isinstance(value.get("metadata"), str)
    if value is not None and quoted:
        value = {**value, **_values_by_line(source, ("metadata",))}
    return LintHeader(source, value or {}, value is not None, None, complete, quoted)


def _cut(source: bytes) -> bytes:
    """Return the bytes without a broken last character, and without the text after the header."""
    source = source.decode("utf-8", "ignore").encode()
    try:
        header = cut_header(source)
    except FormatError:
        return source
    return source[: len(source) - len(header.body.encode())] if header else source


def _values_by_line(source: bytes, only: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the header's values as strings, but `metadata` parsed as JSON5, as some hosts read them."""
    texts: dict[str, Any] = dict(read_text_header(source))
    if "metadata" in texts:
        try:
            texts["metadata"] = read_json5(texts["metadata"].encode("utf-8", "replace"))
        except FormatError:
            del texts["metadata"]
    return {key: value for key, value in texts.items() if not only or key in only}


def ignored_in_header(header: LintHeader) -> tuple[str, ...]:
    """Return the rules that the whole hook ignores. A single name counts as a list of one."""
    own = header.metadata.get("hookscope")
    lint = own.get("lint") if isinstance(own, dict) else None
    listed = lint.get("ignore") if isinstance(lint, dict) else None
    items = listed if isinstance(listed, list) else [listed]
    return tuple(item for item in items if isinstance(item, str))


def ignored_in_source(text: str) -> Mapping[int, frozenset[str]]:
    """Return line → ignored rules. A comment on its own line applies to the next line."""
    found: dict[int, frozenset[str]] = {}
    if IGNORE_MARK not in text:
        return found
    for number, line in enumerate(text.split("\n"), 1):
        at = line.find(IGNORE_MARK)
        ids = IGNORED_IDS.match(line, at + len(IGNORE_MARK)) if at >= 0 else None
        starts = [start for start in (line.find(sign, 0, at) for sign in COMMENTS) if start >= 0]
        if ids is not None and starts:
            rules = frozenset(word.strip() for word in ids[1].split(","))
            line_number = number if line[: min(starts)].strip() else number + 1
            found[line_number] = found.get(line_number, frozenset()) | rules
    return found

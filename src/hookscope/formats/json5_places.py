"""Where each value of a JSON5 document stands."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TypeAlias

from .json5 import read_json5
from .places import BOM, FormatError, KeyPath, Span, text_of


def locate_json5(source: bytes, path: KeyPath) -> Span | None:
    """Where exactly the value at `path` stands, or None where there is none or the source cannot be read.

    The last of equal keys counts, as in `read_json5`. Of many values in one document, ask `Json5Places`.
    """
    try:
        read_json5(source)
    except FormatError:
        return None
    return Json5Places(text_of(source)).find(path)


class Json5Places:
    """The places of a document's values. Each object and list is read only once."""

    def __init__(self, text: str) -> None:
        """`text` is a valid document: `read_json5` has read it."""
        self._text = text
        self._tokens = tokens_of(text)
        self._closing = closing_of(text, self._tokens)
        self._children: dict[int, dict[str | int, int]] = {}
        self._line_ends = [found.start() for found in re.finditer("\n", text)]

    def find(self, path: KeyPath) -> Span | None:
        """The place of the value at `path`; None where there is none."""
        at = 0
        for step in path:
            child = self._children_of(at).get(step)
            if child is None:
                return None
            at = child
        return self._span(self._tokens[at][0], self._tokens[self._closing.get(at, at)][1])

    def _span(self, start: int, end: int) -> Span:
        """As `span_at`, without counting all lines above it again."""
        line = bisect_left(self._line_ends, start)
        line_start = self._line_ends[line - 1] + 1 if line else 0
        marks = self._text.startswith(BOM) and line == 0 and start > 0
        return Span(line + 1, start - line_start + 1 - marks, start, end)

    def _children_of(self, at: int) -> dict[str | int, int]:
        """The first token of each value in the object or list at token `at`."""
        known = self._children.get(at)
        if known is None:
            known = self._children[at] = _children(self._text, self._tokens, self._closing, at)
        return known


# All below may take the text for valid: it has been read, or (for a second value) its first value has.

_Token: TypeAlias = tuple[int, int]

TOKEN = re.compile(
    r"""
    "[^"\\]*(?:\\[\s\S][^"\\]*)*"
  | '[^'\\]*(?:\\[\s\S][^'\\]*)*'
  | //[^\n\r\u2028\u2029]*
  | /\*[\s\S]*?\*/
  | [{}\[\]:,]
  | [^\s\ufeff{}\[\]:,"'/]+       # a number, a word, a key without quotes
    """,
    re.VERBOSE,
)


def tokens_of(text: str) -> list[_Token]:
    """Start and end of each token; comments are none."""
    return [match.span() for match in TOKEN.finditer(text) if text[match.start()] != "/"]


def closing_of(text: str, tokens: list[_Token]) -> dict[int, int]:
    """For each opening bracket the bracket that closes it, both by their index in `tokens`."""
    pairs: dict[int, int] = {}
    open_ones: list[int] = []
    for index, (start, _) in enumerate(tokens):
        if text[start] in "{[":
            open_ones.append(index)
        elif text[start] in "}]" and open_ones:
            pairs[open_ones.pop()] = index
    return pairs


def _children(text: str, tokens: list[_Token], closing: dict[int, int], at: int) -> dict[str | int, int]:
    """By key or position, the first token of each value in the object or list at token `at`."""
    opener = text[tokens[at][0]]
    if opener not in "{[":
        return {}
    in_object = opener == "{"
    found: dict[str | int, int] = {}
    index = at + 1
    position = 0
    while index < closing[at]:
        name: str | int = position
        if in_object:
            name = _key(text[slice(*tokens[index])])
            index += 2  # over the key and its colon
        found[name] = index
        index = closing.get(index, index) + 2  # over the value and its comma
        position += 1
    return found


def _key(token: str) -> str:
    if "\\" not in token:
        return token[1:-1] if token[0] in "\"'" else token
    from .json5_in_full import read_key

    return read_key(token)

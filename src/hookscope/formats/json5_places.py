"""Where each value of a JSON5 document stands."""

from __future__ import annotations

import re
from typing import TypeAlias

from hookscope.patterns import pattern

from .json5 import read_json5
from .places import FormatError, KeyPath, Span, span_at, text_of


def locate_json5(source: bytes, path: KeyPath) -> Span | None:
    """Where exactly the value at `path` stands, or None where there is none or the source cannot be read.

    The last of equal keys counts, as in `read_json5`.
    """
    try:
        read_json5(source)
    except FormatError:
        return None
    text = text_of(source)
    tokens = tokens_of(text)
    closing = closing_of(text, tokens)
    at = 0
    for step in path:
        child = _child(text, tokens, closing, at, step)
        if child is None:
            return None
        at = child
    return span_at(text, tokens[at][0], tokens[closing.get(at, at)][1])


# All below may take the text for valid: it has been read, or (for a second value) its first value has.

_Token: TypeAlias = tuple[int, int]

TOKEN = pattern(
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


def _child(text: str, tokens: list[_Token], closing: dict[int, int], at: int, step: str | int) -> int | None:
    """The first token of the value that one step leads to from the value at token `at`."""
    opener = text[tokens[at][0]]
    if opener not in "{[":
        return None
    in_object = opener == "{"
    found = None
    index = at + 1
    position = 0
    while index < closing[at]:
        name: str | int = position
        if in_object:
            name = _key(text[slice(*tokens[index])])
            index += 2  # over the key and its colon
        if name == step:
            found = index
        index = closing.get(index, index) + 2  # over the value and its comma
        position += 1
    return found


def _key(token: str) -> str:
    if "\\" not in token:
        return token[1:-1] if token[0] in "\"'" else token
    from .json5_in_full import read_key

    return read_key(token)

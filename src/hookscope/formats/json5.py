"""Read JSON5, strictly and with the errors of the hosts' parser, and locate values in it."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import TYPE_CHECKING, TypeAlias

from hookscope.formats.positions import (
    BYTE_ORDER_MARK,
    MAX_DEPTH,
    FormatError,
    KeyPath,
    Span,
    span_at,
    text_of,
)

if TYPE_CHECKING:
    import pyjson5

LARGEST_JSON5 = 8 * 1024 * 1024  # the largest document in bytes
MOST_VALUES = 100_000  # of one document, about: each takes a hundred times its text in memory


def read_json5(source: bytes, max_depth: int = MAX_DEPTH) -> object:
    """Return the document's data: dict, list, str, int, float, bool or None.

    The last value of a repeated key counts.

    Half of a surrogate pair reads as U+FFFD. Refused, though valid JSON5: numbers beyond the range
    of a float (`1e999`), integers of thousands of digits, more than `max_depth` nested lists and objects,
    and documents of more than 8 MiB or 100,000 values.

    Raises:
        FormatError: not UTF-8 or not JSON5. The position of a wrong escape is approximate.
    """
    if len(source) > LARGEST_JSON5:
        raise FormatError(f"more than {LARGEST_JSON5:,} bytes", span_at("", 0, 0))
    text = text_of(source)
    if text.count(",") > MOST_VALUES:
        raise FormatError(f"more than {MOST_VALUES:,} values", span_at("", 0, 0))
    if not _HALF_WRITTEN.search(text):
        try:
            value: object = _JSON.decode(text)  # the fast path: JSON, as machines write it
            if text.count("{") + text.count("[") <= max_depth or _is_shallow(value, max_depth):
                return value
        except (ValueError, RecursionError):
            pass

    return read_json5_strictly(text, max_depth)


_HALF_WRITTEN = re.compile(r"\\u[dD]")  # the json module reads these differently


def _in_range(digits: str) -> float:
    """Return a number that Python and pyjson5 read alike. Raises ValueError for any other."""
    _, _, exponent = digits.lower().partition("e")
    if len(digits) > 300 or len(exponent.lstrip("+-")) > 2:
        raise ValueError
    return float(digits)


def _printable(digits: str) -> int:
    if len(digits) > 300:
        raise ValueError
    return int(digits)


def _no_json(_: str) -> object:
    raise ValueError


def _is_shallow(value: object, max_depth: int) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(max_depth):
        level = [
            part
            for collection in level
            for part in (collection.values() if type(collection) is dict else collection)
            if type(part) is dict or type(part) is list
        ]
    return not level


_JSON = json.JSONDecoder(parse_float=_in_range, parse_int=_printable, parse_constant=_no_json)


def locate_json5(source: bytes, path: KeyPath) -> Span | None:
    """Return the exact span of the value at `path`; None if there is none or the source is invalid.

    The last value of a repeated key counts, as in `read_json5`. For many values in one document use
    `Json5Places`.
    """
    try:
        read_json5(source)
    except FormatError:
        return None
    return Json5Places(text_of(source)).find(path)


class Json5Places:
    """The positions of a document's values. Each object and list is indexed once."""

    def __init__(self, text: str) -> None:
        """`text` is a valid document that `read_json5` accepted."""
        self._text = text
        self._tokens = json5_tokens(text)
        self._closing = closing_bracket(text, self._tokens)
        self._children: dict[int, dict[str | int, int]] = {}
        self._line_ends = [found.start() for found in re.finditer("\n", text)]

    def find(self, path: KeyPath) -> Span | None:
        """Return the span of the value at `path`, or None."""
        at = 0
        for step in path:
            child = self._children_of(at).get(step)
            if child is None:
                return None
            at = child
        return self._span(self._tokens[at][0], self._tokens[self._closing.get(at, at)][1])

    def _span(self, start: int, end: int) -> Span:
        """Return a span as `span_at` does, without counting lines again."""
        line = bisect_left(self._line_ends, start)
        line_start = self._line_ends[line - 1] + 1 if line else 0
        marks = self._text.startswith(BYTE_ORDER_MARK) and line == 0 and start > 0
        return Span(line + 1, start - line_start + 1 - marks, start, end)

    def _children_of(self, at: int) -> dict[str | int, int]:
        """Return the first token of each value in the object or list at token `at`."""
        known = self._children.get(at)
        if known is None:
            known = self._children[at] = _child_values(self._text, self._tokens, self._closing, at)
        return known


# The functions below assume a valid text, or at least a valid first value.

_Json5Token: TypeAlias = tuple[int, int]

# Verbose patterns. `re` compiles each at its first use: most documents are plain JSON and need none.
JSON5_TOKEN = r"""(?x)
    "[^"\\]*(?:\\[\s\S][^"\\]*)*"
  | '[^'\\]*(?:\\[\s\S][^'\\]*)*'
  | //[^\n\r\u2028\u2029]*
  | /\*[\s\S]*?\*/
  | [{}\[\]:,]
  | [^\s\ufeff{}\[\]:,"'/]+       # a number, a word, a key without quotes
    """


def json5_tokens(text: str, start: int = 0, end: int = LARGEST_JSON5) -> list[_Json5Token]:
    """Return start and end of each token of this part, without comments."""
    tokens = re.compile(JSON5_TOKEN).finditer(_without_escapes(text), start, end)
    return [match.span() for match in tokens if text[match.start()] != "/"]


def closing_bracket(text: str, tokens: list[_Json5Token]) -> dict[int, int]:
    """Return the closing bracket of each opening one, by index in `tokens`."""
    pairs: dict[int, int] = {}
    unclosed: list[int] = []
    for index, (start, _) in enumerate(tokens):
        if text[start] in "{[":
            unclosed.append(index)
        elif text[start] in "}]" and unclosed:
            pairs[unclosed.pop()] = index
    return pairs


def _child_values(
    text: str, tokens: list[_Json5Token], closing: dict[int, int], at: int
) -> dict[str | int, int]:
    """Return, by key or index, the first token of each value in the collection at token `at`."""
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
            name = _key_text(text[slice(*tokens[index])])
            index += 2  # skip the key and its colon
        found[name] = index
        index = closing.get(index, index) + 2  # skip the value and its comma
        position += 1
    return found


def _key_text(token: str) -> str:
    if "\\" not in token:
        return token[1:-1] if token[0] in "\"'" else token
    import pyjson5  # plain JSON needs none

    (key,) = pyjson5.decode(f"{{{_replace_lone_surrogates(token)}:0}}")
    return str(key)


def read_json5_strictly(text: str, max_depth: int = MAX_DEPTH) -> object:
    """Return the data of a text that the json module cannot read, or reads differently."""
    import pyjson5

    try:
        value: object = pyjson5.decode(_replace_lone_surrogates(text), max_depth)
    except pyjson5.Json5NestingTooDeep as error:
        raise _format_error(
            text, f"lists and objects nested more than {max_depth} deep", _closest_span(error)
        ) from None
    except pyjson5.Json5ExtraData as error:
        raise _format_error(
            text, "more text after the end of the document", _second(text) or _closest_span(error)
        ) from None
    except pyjson5.Json5DecoderException as error:
        raise _format_error(text, _sentence(error), _closest_span(error)) from None
    except (ValueError, RecursionError) as error:  # an integer with too many digits; too deep
        raise _format_error(text, str(error), 0) from None
    bare = _without_escapes(text)
    if not _is_clearly_valid(bare):
        valid_end = _valid_until(bare)
        if valid_end < len(text):
            raise _unsound(text, valid_end)
    return value


# Error messages


def _format_error(text: str, problem: str, at: int) -> FormatError:
    at = min(max(at, 0), len(text))
    return FormatError(problem, span_at(text, at, at))


def _closest_span(error: pyjson5.Json5DecoderException) -> int:
    """Return the offset that pyjson5's message names, less one: the named character counts as read."""
    near = re.search(r"near (\d+)", error.args[0])  # not str(error), which fails on deep results
    return int(near[1]) - 1 if near else 0


def _sentence(error: pyjson5.Json5DecoderException) -> str:
    """Rewrite pyjson5's message in plain words.

    `Expected b'comma' or U+005d near 3, found U+0031` → expected comma or `]`, found `1`
    """
    message = re.sub(r" (?:starting )?near \d+", "", error.args[0])
    message = re.sub(r"b'(.*?)'", lambda name: _NAMES.get(name[1], name[1]), message)
    message = re.sub(r"U\+([0-9A-Fa-f]{4,6})", lambda code: _shown(chr(int(code[1], 16))), message)
    return message[:1].lower() + message[1:]


_NAMES = {
    "JSON5Value": "a value",
    "IdentifierStart": "a key",
    "NumericLiteral": "number",
    "comma": "`,`",
    "colon": "`:`",
}


def _shown(character: str) -> str:
    return f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"


def _second(text: str) -> int | None:
    """Return the start of a second value. The first is complete, or pyjson5 had another error.

    The text after it may be anything, so it is not read further: unclosed quotes would each be
    searched to the end.
    """
    depth = 0
    is_complete = False
    for match in re.finditer(JSON5_TOKEN, _without_escapes(text)):
        first = text[match.start()]
        if first == "/":
            continue
        if is_complete:
            return match.start()
        depth += (first in "{[") - (first in "}]")
        is_complete = depth <= 0
    return None


# Differences between pyjson5 and JSON5

_ESCAPE = (
    r"\\(?:u[dD](?:[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|([89a-fA-F][0-9a-fA-F]{2}))|[\s\S])"
)


def _replace_lone_surrogates(text: str) -> str:
    """Replace each escape of a lone surrogate by the escape of U+FFFD: pyjson5 refuses lone surrogates."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return re.sub(_ESCAPE, lambda match: "\\ufffd" if match[1] else match[0], text)


def _without_escapes(text: str) -> str:
    """Return the text with each valid escape replaced by letters. Tokens and offsets stay the same.

    Without this, matching a string with millions of escapes needs hundreds of MiB.
    """
    if "\\" not in text:
        return text
    text = re.sub(r"\\(?:[^0*\n\r\u2028\u2029]|0(?![0-9]))", "xx", text)
    return re.sub(r"\\(?=[*\n\r\u2028\u2029])", "x", text)  # the end of a comment stays one


# pyjson5 also takes `1_0`, `5.5.`, `+-1`, `0e` and '\01'. Of a sound document these matches touch one
# another. Nothing in them can be read in two ways, so that nothing is tried twice. (Possessive repetition
# would say the same, and is at fault in the first releases of Python 3.11.)
_SOUND = r"""(?x)
    [\s\ufeff{}\[\]:,]+
  | "[^"\\]*(?:\\(?!0[0-9])[\s\S][^"\\]*)*"
  | '[^'\\]*(?:\\(?!0[0-9])[\s\S][^'\\]*)*'
  | //[^\n\r\u2028\u2029]*
  | /\*[\s\S]*?\*/
  | [+\-]? (?:
        0[xX][0-9a-fA-F]{1,1000}   # Python refuses to print an integer of more than 4,300 digits
      | (?: (?:0|[1-9][0-9]*) (?:\.[0-9]*)? | \.[0-9]+ ) (?:[eE][+\-]?[0-9]+)?
      | Infinity | NaN
    ) (?=[\s\ufeff{}\[\]:,/]|\Z)
  | [^\s\ufeff{}\[\]:,"'/+\-.0-9][^\s\ufeff{}\[\]:,"'/]*
    """


# The tokens of nearly all documents, in fewer and simpler matches.
_PLAIN = r"""(?x)(?:(?:
    [A-Za-z_$][A-Za-z0-9_$]*
  | "[^"\\]*(?:\\[^0][^"\\]*)*"
  | '[^'\\]*(?:\\[^0][^'\\]*)*'
  | //[^\n\r\u2028\u2029]*
  | /\*[^*]*\*+(?:[^*/][^*]*\*+)*/
  | -?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]+)?(?![A-Za-z0-9_$.+\-])
  | [{\[\ \t\r\n]
    )[ \t\r\n{}\[\]:,]*){1,64}   # many at once: each match is an object
    """


def _is_clearly_valid(text: str) -> bool:
    """Return True if a fast check shows that the text is valid; False means unknown."""
    return sum(map(len, re.findall(_PLAIN, text))) == len(text)


def _valid_until(text: str) -> int:
    """Return the offset of the first token that JSON5 forbids, or the length of the text."""
    at = 0
    for match in re.finditer(_SOUND, text):
        if match.start() != at:
            break
        at = match.end()
    return at


def _unsound(text: str, at: int) -> FormatError:
    token = re.compile(JSON5_TOKEN).match(_without_escapes(text), at)
    end = token.end() if token else at
    if text[at] in "\"'":
        return FormatError("a digit after `\\0` in a string", span_at(text, at, end))
    return FormatError(f"`{text[at:end][:40]}` is not read as a number", span_at(text, at, end))

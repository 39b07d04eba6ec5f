"""The header of a Markdown file as texts: YAML if it parses, supplemented by a line reader.

No header is refused: if its YAML is invalid, values on single lines still count.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final

from hookscope.formats.full_yaml import has_glued_comment, read_full_yaml, starts_too_far_left
from hookscope.formats.positions import BYTE_ORDER_MARK, FormatError, Span
from hookscope.formats.script_values import BLANK, script_double, script_number, script_trim, script_whole
from hookscope.formats.yaml12 import read_part
from hookscope.values import dataclass

_ANY: Final = re.compile("")
_KEY_IN_TEXT: Final = re.compile(r"(?![\[{]|- )[\s\S]*: ")
QUOTED_WHEN_BROKEN: Final = {"description": _ANY, "summary": _KEY_IN_TEXT, "read_when": _KEY_IN_TEXT}
"""Keys whose value is put in quotes before YAML is given up, and how it must begin for that."""

_compact: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
REMEMBERED_HEADERS: Final = 4096  # headers
_SPACES = BLANK.replace(r"\n", "")  # blanks on one line
_OPENING = re.compile(rf"---{_SPACES}*\n")
_CLOSING = re.compile(rf"(?:^|\n)---{_SPACES}*(?:\n|\Z)")
_LINE = re.compile(rf"([A-Za-z0-9_-]+):{BLANK}*([^\n\r\u2028\u2029]*)")
_FIELD = rf"([\"']?)(?P<key>[A-Za-z0-9_-]+)\1:{_SPACES}+(?P<value>[^\n\u2028\u2029]+)"
_KEY = r"""[^\s:#\[{"'-][^:\n]*"""
_FLOW = re.compile(rf"^{_KEY}:(?:[ \t]+|[ \t]*\n[ \t]+)(?=[{{\[])", re.MULTILINE)
_FLOW_AS_KEY = re.compile(
    rf"^({_KEY}:[ \t]+)(\[[^\[\]{{}}\n]*\]|\{{[^\[\]{{}}\n]*\}}):[ \t][^\n]*$", re.MULTILINE
)
_QUOTED = re.compile(r""""(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*'""")
_BLANK_LINE = re.compile(r"^[ \t]+$", re.MULTILINE)  # PyYAML refuses leading tabs
_EMPTY_KEY = re.compile(r"^([ ]*):(?=[ \n]|\Z)", re.MULTILINE)
_COMMENT = r"(?<=\s)#[^\n]*"


@dataclass(frozen=True, slots=True)
class HeaderRules:
    """The differences between the readers of several host versions."""

    repairs: bool = True  # values of `QUOTED_WHEN_BROKEN` are put in quotes if the YAML is invalid
    exact_marks: bool = True
    """False: the lines that begin and end a header may have more after `---`, and a byte order mark before it
    hides the header."""


NEWEST: Final = HeaderRules()


def read_text_header(source: bytes, rules: HeaderRules = NEWEST) -> dict[str, str]:
    """Return every top-level key of the header with its value as text; {} without one.

    Never raises.

    Texts are trimmed, numbers and words printed as JavaScript prints them, lists and mappings are
    compact JSON. Values that YAML leaves empty, and all values if the YAML is invalid, are taken
    from the lines.
    """
    return dict(_texts_of(source, rules))


@lru_cache(maxsize=REMEMBERED_HEADERS)
def _texts_of(source: bytes, rules: HeaderRules) -> Mapping[str, str]:
    """Return the header as texts, cached by content: most headers are unchanged between scans."""
    block = header_block(source, rules)
    if not block:
        return {}
    lines = dict(_lines_of(block))
    read = _yaml_of(block, rules)
    if read is None:
        return {key: value for key, (value, _) in lines.items()}
    texts = {
        key: text
        for name, value in read.items()
        if (key := script_trim(name)) and (text := _text(value)) is not None
    }
    for key, (value, on_one_line) in lines.items():
        own_words = on_one_line and ":" in value and isinstance(read.get(key), dict | list)
        if key not in texts or own_words:
            texts[key] = value
    return texts


@lru_cache(maxsize=1)
def header_block(source: bytes, rules: HeaderRules = NEWEST) -> str | None:
    """Return the text between the two `---` lines with LF line ends; None without a header.

    Bytes that are not UTF-8 become U+FFFD. A header that does not end counts as none.
    """
    text = source.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    if not rules.exact_marks:
        end = text.find("\n---", 3)
        return text[4:end] if text.startswith("---") and end >= 0 else None
    text = text.removeprefix(BYTE_ORDER_MARK)
    opening = _OPENING.match(text)
    closing = _CLOSING.search(text, opening.end()) if opening else None
    return text[opening.end() : closing.start()] if opening and closing else None


# YAML


def _yaml_of(block: str, rules: HeaderRules) -> dict[str, object] | None:
    """Return the header's YAML data, repaired if needed; None if it cannot be read."""
    for mended in _mended(block) if rules.repairs else (block,):
        if starts_too_far_left(mended):
            return None
        alone = _FLOW_AS_KEY.sub(r"\1\2", mended)  # the host's reader takes `[a]: b` for `[a]`
        named = _EMPTY_KEY.sub(r'\1"":', mended)  # it takes a colon alone for an empty key
        for text in (mended, _with_flow_on_one_line(mended), _BLANK_LINE.sub("", mended), alone, named):
            try:
                value = _read(text)
            except FormatError:
                continue
            return value if isinstance(value, dict) else None
    return None


def _mended(block: str) -> Iterator[str]:
    yield block
    quoted = _with_quotes(block)
    if quoted != block:
        yield quoted


def _read(text: str) -> object:
    """Return the data of a YAML text. Raises FormatError."""
    if has_glued_comment(text):
        raise FormatError("a comment needs a space before it", Span(1, 1, 0, 0))
    try:
        return read_part(text, 0, len(text), len(text))
    except FormatError:
        return read_full_yaml(text)


def _with_flow_on_one_line(block: str) -> str:
    """Join each top-level `{…}` or `[…]` on one line: PyYAML refuses keys that span lines."""
    parts, at = [], 0
    while found := _FLOW.search(block, at):
        end, _ = _end_of_flow(block, found.end())
        parts += [
            block[at : found.end()],
            re.sub(r"\s*\n\s*", " ", re.sub(_COMMENT, "", block[found.end() : end])),
        ]
        at = end
    return "".join((*parts, block[at:]))


def _end_of_flow(text: str, at: int) -> tuple[int, int]:
    """Return the end of the value in brackets, and how many brackets stay open."""
    depth = 0
    unclosed = ""  # a quote without an end: no later one of its kind has one, and each search is long
    while at < len(text):
        if text[at] in "\"'" and text[at] != unclosed:
            if quoted := _QUOTED.match(text, at):
                at = quoted.end()
                continue
            unclosed = text[at]
        depth += (text[at] in "{[") - (text[at] in "}]")
        at += 1
        if depth == 0:
            break
    return at, depth


def _with_quotes(block: str) -> str:
    """Return the header with quotes around invalid values of the keys in `QUOTED_WHEN_BROKEN`."""

    def mended(line: str, *, is_last: bool) -> str:
        found = re.fullmatch(_FIELD, line)
        key, value = (found["key"], script_trim(found["value"])) if found else ("", "")
        sign = QUOTED_WHEN_BROKEN.get(key)
        if sign is None or not sign.match(value) or not value or _reads(line):
            return line
        if not is_last and _stays_open(value):  # then the error is in the next line
            return line
        return f"{key}: {json.dumps(_without_quotes(value), ensure_ascii=False)}"

    lines = block.split("\n")
    return "\n".join(mended(line, is_last=number == len(lines)) for number, line in enumerate(lines, 1))


def _stays_open(value: str) -> bool:
    """Return whether the value opens a quote or bracket that it does not close."""
    if value[0] in "\"'":
        return _QUOTED.match(value) is None
    return value[0] in "[{" and _end_of_flow(value, 0)[1] > 0


def _reads(line: str) -> bool:
    try:
        _read(line)
    except FormatError:
        return False
    return True


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case str():
            return script_trim(value)
        case bool():
            return "true" if value else "false"
        case int() | float():
            return script_number(value)
        case _:
            return _compact(_plain(value))


def _plain(value: object) -> object:
    if type(value) is str:
        return value
    match value:
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case int() | float() if not isinstance(value, bool):
            number = script_double(value)
            if not math.isfinite(number):
                return None
            return script_whole(number) if number == int(number) and abs(number) < 1e21 else number
        case _:
            return value


# Lines


def _lines_of(block: str) -> Iterator[tuple[str, tuple[str, bool]]]:
    """Yield each key at a line's start with its raw value, and whether that is on the key's line."""
    lines = block.split("\n")
    at = 0
    while at < len(lines):
        found = _LINE.fullmatch(lines[at])
        at += 1
        if found is None:
            continue
        value = script_trim(found[2])
        if not value and at < len(lines) and lines[at].startswith((" ", "\t")):
            start = at
            while at < len(lines) and (not lines[at] or lines[at].startswith((" ", "\t"))):
                at += 1
            raw = script_trim("\n".join(lines[start:at]))
            if raw:
                yield found[1], (raw, False)
            continue
        value = _without_quotes(value)
        if value:
            yield found[1], (value, True)


def _without_quotes(text: str) -> str:
    return text[1:-1] if text[:1] in ("'", '"') and text[0] == text[-1] else text

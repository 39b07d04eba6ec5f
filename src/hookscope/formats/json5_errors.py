"""The error of the `json5` package for a text that is not JSON5. Hosts in JavaScript print it as it is.

Source: json5 2.2.3, which reads one character after the other and stops at the first that cannot follow.
"""

from __future__ import annotations

import re
from typing import Final

_SPACE: Final = re.compile(
    r"(?:[\t\v\f \u00a0\ufeff\n\r\u2028\u2029\u1680\u2000-\u200a\u202f\u205f\u3000]"
    r"|//[^\n\r\u2028\u2029]*|/\*[\s\S]*?\*/)*"
)
_WORDS: Final = {"n": "null", "t": "true", "f": "false", "I": "Infinity", "N": "NaN"}
_NUMBER: Final = re.compile(
    r"0[xX][0-9a-fA-F]+|(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?"
)
_BROKEN_NUMBER: Final = re.compile(r"0[xX]|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)[eE][+-]?|\.")
_PART: Final = r"[\w$\u200c\u200d]"  # `\w` and ID_Continue differ in a few letters only
_NAME: Final = re.compile(rf"(?:(?!\d)[\w$]|\\u[0-9a-fA-F]{{4}})(?:{_PART}|\\u[0-9a-fA-F]{{4}})*")
_ESCAPE: Final = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|0(?!\d)|\r\n|[^1-9xu0])")
_SHOWN: Final = {
    "'": "\\'", '"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t",
    "\v": "\\v", "\0": "\\0", "\u2028": "\\u2028", "\u2029": "\\u2029",
}  # fmt: skip


class _Stopped(Exception):
    """Raised at the offset of the first invalid character."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def json5_package_error(text: str) -> str:
    """Return the package's error, such as `JSON5: invalid character '7' at 1:92`; empty if it has none."""
    try:
        _read_document(text)
    except _Stopped as stopped:
        at = stopped.at
    else:
        return ""
    line_start = text.rfind("\n", 0, at) + 1
    line, column = text.count("\n", 0, at) + 1, _units(text[line_start : at + 1])
    if at >= len(text):
        return f"JSON5: invalid end of input at {line}:{column + 1}"
    if text[at] == "\n":
        line, column = line + 1, 0
    return f"JSON5: invalid character '{_shown(text[at])}' at {line}:{column}"


def _units(text: str) -> int:
    """Return the length of the text in UTF-16 code units, as JavaScript counts."""
    return len(text) + sum(letter > "\uffff" for letter in text)


def _shown(letter: str) -> str:
    return _SHOWN.get(letter) or (f"\\x{ord(letter):02x}" if letter < " " else letter)


def _read_document(text: str) -> None:
    """Read one value with its nested lists and objects, without recursion. Raises _Stopped."""
    open_brackets: list[str] = []
    at = _after_space(text, 0)
    while True:
        at = _after_space(text, at)
        opener = text[at : at + 1]
        if opener in ("{", "["):
            closer = "}" if opener == "{" else "]"
            inside = _after_space(text, at + 1)
            if text[inside : inside + 1] != closer:
                open_brackets.append(closer)
                at = _after_key(text, inside) if closer == "}" else inside
                continue
            at = inside + 1
        else:
            at = _after_scalar(text, at)
        at = _after_value(text, at, open_brackets)
        if not open_brackets:
            if at < len(text):
                raise _Stopped(at)
            return


def _after_value(text: str, at: int, open_brackets: list[str]) -> int:
    """Return where the next value begins: behind closed brackets, a comma and a key."""
    at = _after_space(text, at)
    while open_brackets:
        closer = open_brackets[-1]
        if text[at : at + 1] == ",":
            at = _after_space(text, at + 1)
            if text[at : at + 1] != closer:
                return _after_key(text, at) if closer == "}" else at
        elif text[at : at + 1] != closer:
            raise _Stopped(at)
        open_brackets.pop()
        at = _after_space(text, at + 1)
    return at


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    end = found.end() if found else at
    if text[end : end + 1] == "/":
        raise _Stopped(len(text) if text[end + 1 : end + 2] == "*" else end + 1)
    return end


def _after_key(text: str, at: int) -> int:
    if text[at : at + 1] in ("'", '"'):
        at = _after_string(text, at)
    else:
        name = _NAME.match(text, at)
        end = name.end() if name else at
        if text[end : end + 1] == "\\":
            raise _Stopped(_end_of_escape(text, end + 1) if text[end + 1 : end + 2] == "u" else end + 1)
        if name is None:
            raise _Stopped(at)
        at = end
    at = _after_space(text, at)
    if text[at : at + 1] != ":":
        raise _Stopped(at)
    return at + 1


def _after_scalar(text: str, at: int) -> int:
    first = text[at : at + 1]
    if first in ("'", '"') and first:
        return _after_string(text, at)
    if first in ("+", "-") and first:
        at += 1
        first = text[at : at + 1]
        if first in ("n", "t", "f"):
            raise _Stopped(at)
    if first in _WORDS:
        for letter in _WORDS[first]:
            if text[at : at + 1] != letter:
                raise _Stopped(at)
            at += 1
        return at
    broken, number = _BROKEN_NUMBER.match(text, at), _NUMBER.match(text, at)
    if broken is not None and (number is None or broken.end() > number.end()):
        raise _Stopped(broken.end())
    if number is None:
        raise _Stopped(at)
    return number.end()


def _after_string(text: str, at: int) -> int:
    quote = text[at]
    at += 1
    while text[at : at + 1] != quote:
        if text[at : at + 1] in ("", "\n", "\r"):
            raise _Stopped(at)
        if text[at] != "\\":
            at += 1
        elif (escape := _ESCAPE.match(text, at)) is not None:
            at = escape.end()
        else:
            raise _Stopped(_end_of_escape(text, at + 1))
    return at + 1


def _end_of_escape(text: str, at: int) -> int:
    """Return the offset of the first character that is not valid in the escape at `at`."""
    if text[at : at + 1] == "0":
        return at + 1
    if text[at : at + 1] in ("x", "u") and at < len(text):
        at += 1
        while re.match(r"[0-9a-fA-F]", text[at : at + 1]):
            at += 1
    return at

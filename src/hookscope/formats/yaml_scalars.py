"""What a plain scalar means: the core schema of YAML 1.2."""

from __future__ import annotations

import re
from typing import Final

_DIGITS: Final = 500
"""A longer integer is a float, as in JS: Python refuses to print one of over 4,300 digits."""

_WORDS: Final[dict[str, float | None]] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
}
_NUMBER: Final = re.compile(
    r"(?P<decimal>[-+]?[0-9]+)|0o(?P<octal>[0-7]+)|0x(?P<hex>[0-9a-fA-F]+)"
    r"|(?P<real>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
)
_BASES: Final = {"decimal": 10, "octal": 8, "hex": 16}
_FIRST: Final = frozenset("~nNtTfF.+-0123456789")  # of all that is not text


def plain_value(text: str) -> str | float | None:
    """A plain scalar by the core schema, 10.3.2 of YAML 1.2.2."""
    if text and text[0] not in _FIRST:
        return text
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    kind = number.lastgroup or "real"
    return float(text) if kind == "real" else _integer(number[kind], _BASES[kind])


def _integer(digits: str, base: int) -> float:
    if len(digits) <= _DIGITS:
        return int(digits, base)
    if base == 10:
        return float(digits)
    try:
        return float(int(digits, base))
    except OverflowError:
        return float("inf")

"""Values as JavaScript makes text of them, and what it takes for a blank."""

import math
import re
from typing import Final

BLANKS: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""What its `trim` takes away: Python's `strip` knows no byte order mark, and takes four separators more."""
BLANK: Final = r"[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
"""One of them, in a pattern."""


def script_trim(text: str) -> str:
    """The text without the blanks at its ends."""
    return text.strip(BLANKS)


def script_number(value: float) -> str:
    """A number as JavaScript prints it."""
    number = script_double(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == int(number) and abs(number) < 1e21:
        return str(script_whole(number))
    if 1e-6 <= abs(number) < 1e-4:  # where only Python takes to exponents
        digits, _, power = repr(number).partition("e-")
        return f"{number:.{int(power) + len(digits.partition('.')[2])}f}"
    return re.sub(r"e([+-])0*(\d)", r"e\1\2", repr(number))


def script_whole(number: float) -> int:
    """A whole number with the digits that tell it from its neighbours, and noughts for the rest."""
    digits, _, power = repr(number).partition("e+")
    head, _, tail = digits.partition(".")
    return int(head + tail.ljust(int(power), "0")) if power else int(number)


def script_text(value: object) -> str:
    """Any JSON value as JavaScript turns it into text."""
    match value:
        case str():
            return value
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return script_number(value)
        case list():
            return ",".join("" if item is None else script_text(item) for item in value)
        case _:
            return "[object Object]"


def script_double(value: float) -> float:
    """JavaScript has no other numbers: a whole number is rounded, and may be beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

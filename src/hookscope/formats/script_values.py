"""JavaScript's conversions of values to text, and its white space."""

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
    """Return the text without JavaScript's white space at its ends."""
    return text.strip(BLANKS)


def script_number(value: float) -> str:
    """Return a number as JavaScript prints it."""
    number = script_double(value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == int(number) and abs(number) < 1e21:
        return str(script_whole(number))
    if 1e-6 <= abs(number) < 1e-4:  # Python uses exponents here, JavaScript does not
        digits, _, power = repr(number).partition("e-")
        return f"{number:.{int(power) + len(digits.partition('.')[2])}f}"
    return re.sub(r"e([+-])0*(\d)", r"e\1\2", repr(number))


def script_whole(number: float) -> int:
    """Return a whole number with its significant digits, and zeros for the rest."""
    digits, _, power = repr(number).partition("e+")
    head, _, tail = digits.partition(".")
    return int(head + tail.ljust(int(power), "0")) if power else int(number)


def script_text(value: object) -> str:
    """Return a JSON value as JavaScript converts it to text."""
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
    """Return a number as a double, JavaScript's only number type; too large ones are infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

"""JavaScript's conversions of values to text, and its white space."""

import math
import re
from collections.abc import Mapping
from typing import Any, Final

LONGEST_SCRIPT = 262_144  # characters or bytes; longer files are bundles


def is_truthy(value: Any) -> bool:
    """Return the value's truth in JavaScript: an empty list or mapping counts."""
    return bool(value) or (value is not None and isinstance(value, (list, Mapping)))


class _JavascriptFunction:
    """A built-in function of JavaScript: truthy, and neither a list nor a mapping."""

    def __repr__(self) -> str:
        return "a function of the language"


JAVASCRIPT_FUNCTION: Final = _JavascriptFunction()
_NAMES_OF_MAPPINGS = (
    "constructor __defineGetter__ __defineSetter__ hasOwnProperty __lookupGetter__ __lookupSetter__ "
    "isPrototypeOf propertyIsEnumerable toString valueOf toLocaleString"
)
_NAMES_OF_LISTS = (
    "at concat copyWithin entries every fill filter find findIndex findLast findLastIndex flat flatMap "
    "forEach includes indexOf join keys lastIndexOf map pop push reduce reduceRight reverse shift slice "
    "some sort splice toReversed toSorted toSpliced unshift values with"
)
OBJECT_MEMBERS: Final[Mapping[str, Any]] = {
    **dict.fromkeys(_NAMES_OF_MAPPINGS.split(), JAVASCRIPT_FUNCTION),
    "__proto__": None,
}
ARRAY_MEMBERS: Final[Mapping[str, Any]] = {
    **OBJECT_MEMBERS,
    **dict.fromkeys(_NAMES_OF_LISTS.split(), JAVASCRIPT_FUNCTION),
    "__proto__": OBJECT_MEMBERS,
    "length": 0,
}


def javascript_member(value: Any, name: str, otherwise: Any = None) -> Any:
    """Return the value at `name`; `otherwise` if there is none."""
    if isinstance(value, Mapping):
        if name in value:
            return value[name]
        return OBJECT_MEMBERS if name == "__proto__" else OBJECT_MEMBERS.get(name, otherwise)
    if isinstance(value, list):
        if name == "length":
            return len(value)
        if is_array_index(name) and int(name) < len(value):
            return value[int(name)]
        return ARRAY_MEMBERS if name == "__proto__" else ARRAY_MEMBERS.get(name, otherwise)
    return otherwise


def is_array_index(name: str) -> bool:
    """Return True for an index as JavaScript writes one."""
    return name.isascii() and name.isdigit() and (name == "0" or name[0] != "0")


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

"""JSON5, and so JSON: what a document means. What is plain JSON needs no more than the standard library."""

from __future__ import annotations

import json
import re

from .places import DEPTH, FormatError, span_at, text_of

LARGEST_JSON5 = 8 * 1024 * 1024  # bytes of a document that readers and editors take


def read_json5(source: bytes) -> object:
    """What the document says: dict, list, str, int, float, bool or None. The last of equal keys counts.

    Half of a surrogate pair reads as U+FFFD. Refused, though JSON5 has them: numbers beyond the range of a
    float (`1e999`), integers of thousands of digits, more than 64 lists and objects in one another, and
    documents of more than 8 MiB.

    Raises:
        FormatError: not UTF-8 or not JSON5. The place of a wrong escape is only near it.
    """
    if len(source) > LARGEST_JSON5:
        raise FormatError(f"more than {LARGEST_JSON5:,} bytes", span_at("", 0, 0))
    text = text_of(source)
    if not _HALF_WRITTEN.search(text):
        try:
            written: object = _JSON.decode(text)  # most of what machines write, and no second pass
            if text.count("{") + text.count("[") <= DEPTH or _is_shallow(written):
                return written
        except (ValueError, RecursionError):
            pass
    from .json5_in_full import read_in_full  # here: most that is read needs it not

    return read_in_full(text)


_HALF_WRITTEN = re.compile(r"\\u[dD]")  # which the json module reads otherwise


def _in_range(digits: str) -> float:
    """A number of JSON that Python reads as pyjson5 does. Raises ValueError for one that may be otherwise."""
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


def _is_shallow(value: object) -> bool:
    """Whether at most 64 lists and objects are in one another."""
    inside = [value] if isinstance(value, dict | list) else []
    for _ in range(DEPTH):
        inside = [
            part
            for whole in inside
            for part in (whole.values() if type(whole) is dict else whole)
            if type(part) is dict or type(part) is list
        ]
    return not inside


_JSON = json.JSONDecoder(parse_float=_in_range, parse_int=_printable, parse_constant=_no_json)

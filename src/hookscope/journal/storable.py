"""Any value as the journal can hold it: JSON without what JSON lacks, text without what a column refuses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

DEEPEST = 100  # levels of a value; deeper ones, and a value that holds itself, end in an ellipsis
LONGEST_NUMBER = 4_000  # bits; Python refuses to print much longer ones in decimal


def storable(text: str) -> str:
    """The text as a column can hold it: lone surrogates (file names in broken UTF-8) are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def plain(value: object, depth: int = 0) -> Any:
    """The value as JSON can hold it; what it cannot is kept as text. Never raises."""
    if depth > DEEPEST:
        return "…"
    try:
        return _plain(value, depth)
    except Exception:  # a foreign object may fail at anything, even at being printed
        return f"<{type(value).__name__}>"


def _plain(value: object, depth: int) -> Any:
    match value:
        case Mapping():
            return {str(key): plain(item, depth + 1) for key, item in value.items()}
        case list() | tuple():
            return [plain(item, depth + 1) for item in value]
        case None | bool():
            return value
        case int() if value.bit_length() > LONGEST_NUMBER:
            return hex(value)
        case float() if not math.isfinite(value):
            return str(value)
        case int() | float() | str():
            return value
        case _:
            return str(value)

"""Small values that are JSON's own types already, copied at the interpreter's own speed."""

from __future__ import annotations

import marshal
import re
from typing import Any

from hookscope.runtime.python_worker.plain import DEPTH, DIGITS
from hookscope.runtime.python_worker.protocol import decode, encode

SMALL = 16 * 1024  # bytes; what is larger is measured part by part
_ORDER = 2  # of marshal's formats
_LONG = re.compile(rf"\d{{{DIGITS // 4}}}")  # digits of a number that may be too large


def plain_at_once(value: Any) -> tuple[Any, str] | None:
    """A copy and its JSON, where `plain` would change nothing of it; else None, and nothing was touched."""
    try:
        if len(marshal.dumps(value, _ORDER)) > SMALL:  # it takes no subclasses: what they do is not known
            return None
        text = encode(value)
        copy = decode(text)
    except (ValueError, TypeError, RecursionError):
        return None
    if "\\ud" in text or text.count("[") + text.count("{") >= DEPTH or _LONG.search(text) is not None:
        return None  # half a character perhaps; deep perhaps; a large number
    return (copy, text) if copy == value else None

"""What is surely wrong with the brackets of a TypeScript or JavaScript file. The file is never run.

Thousands of handlers are asked, so most are told by counting. Where a `/` may begin a regular expression, or
a template has holes, nothing is said: a load tells.
"""

from __future__ import annotations

import re

from .places import BOM, FormatError, span_at
from .script_tokens import read_script

_PASSED_OVER = re.compile(  # comments, strings, and templates without holes
    r"""//[^\n\r\u2028\u2029]*+|/\*(?:[^*]|\*(?!/))*+\*/"""
    r"""|"(?:[^"\\\n\r]|\\[^\r])*+"|'(?:[^'\\\n\r]|\\[^\r])*+'|`[^`\\$]*+`"""
)
_UNSURE = frozenset("/`\"'\\")
_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"))
LONGEST = 65_536  # bytes; of more nothing is said


def _fit(text: str) -> bool:
    return all(text.count(one) == text.count(other) for one, other in _PAIRS)


def check_brackets(source: bytes) -> None:
    """Raises FormatError where a bracket surely has no partner."""
    if len(source) > LONGEST:
        return
    try:
        text = source.decode()
    except UnicodeDecodeError:
        return
    if _fit(text):  # nearly always: what stands in strings is even too
        return
    left = _PASSED_OVER.sub(" ", text)
    if _fit(left) or not _UNSURE.isdisjoint(left):
        return
    script = read_script(source)
    if script is None:
        return
    alone = [
        token
        for at, token in enumerate(script.tokens)
        if token.kind in ("open", "close") and at not in script.partner
    ]
    opened = [token for token in alone if token.kind == "open"]
    if not alone:
        return
    token = opened[-1] if opened else alone[0]
    start = token.start + text.startswith(BOM)
    what = "is never closed" if opened else "closes nothing"
    raise FormatError(f"`{token.text}` {what}", span_at(text, start, start + len(token.text)))

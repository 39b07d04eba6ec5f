"""Lines at which a handler stops: always, or where a condition holds; or says something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.runtime.python_worker.protocol import Message

LONGEST = 8 * 1024  # characters of what can be asked: it must fit a pipe that nobody reads for a while
_HITS = re.compile(r"\s*(===?|>=?|<=?|%)?\s*(\d{1,15})\s*")
_QUOTES = "\"'`"


@dataclass(frozen=True, slots=True)
class Point:
    """A line of a file, and when a handler stops there.

    `hits` is a number, or one behind `>=`, `>`, `<`, `<=`, `==` or `%`, of the times that the line is reached
    and the condition holds. With a `log` it does not stop: that text is told, with the values of what stands
    in braces. Raises ValueError where `hits` is something else, or one is longer than LONGEST characters.
    """

    line: int  # from 1
    condition: str = ""  # in the handler's language
    hits: str = ""
    log: str = ""

    def __post_init__(self) -> None:
        self.told()

    def told(self) -> int | Message:
        """As the protocol has it."""
        for text in (self.condition, self.hits, self.log):
            if len(text) > LONGEST:
                raise ValueError(f"{len(text):,} characters cannot be asked at once; {LONGEST:,} can")
        asked: Message = {"line": self.line}
        if self.condition.strip():
            asked["condition"] = self.condition.strip()
        if self.hits.strip():
            asked["hits"] = _hits(self.hits)
        if self.log:
            asked["log"] = list(_parts(self.log))
        return self.line if len(asked) == 1 else asked


def _hits(text: str) -> tuple[str, int]:
    """The comparison, and the number."""
    found = _HITS.fullmatch(text)
    if found is None:
        raise ValueError(f"`{text.strip()[:80]}` is no hit count: 3, >= 3 and % 3 are some")
    comparison = found[1] or "=="
    return "==" if comparison == "===" else comparison, int(found[2])


def _parts(log: str) -> Iterator[str]:
    """Texts, and between each two of them the expression that stands there in braces."""
    text, at = "", 0
    while at < len(log):
        if log[at] == "\\" and log[at + 1 : at + 2] in ("{", "}"):
            text, at = text + log[at + 1], at + 2
            continue
        end = _end(log, at) if log[at] == "{" else None
        if end is None or not log[at + 1 : end].strip():
            text, at = text + log[at], at + 1
        else:
            yield text
            yield log[at + 1 : end].strip()
            text, at = "", end + 1
    yield text


def _end(log: str, begin: int) -> int | None:
    """Where the brace closes that opens there; None: nowhere. Braces in quotes are none."""
    depth, quote, at = 0, "", begin
    while at < len(log):
        char = log[at]
        if quote:
            at += char == "\\"
            quote = "" if char == quote else quote
        elif char in _QUOTES:
            quote = char
        else:
            depth += (char == "{") - (char == "}")
            if not depth:
                return at
        at += 1
    return None

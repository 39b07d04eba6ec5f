"""The breakpoints of an editor, by file: each has a number, and is verified once a worker knows its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hookscope.adapter.framing import Message
from hookscope.core.text import one_line
from hookscope.workbench import Bound

WAITS = "Waits until a handler that runs loads this file."
NOWHERE = "There is no line of code from here on."


class Lines:
    """What was asked for, and where it stops."""

    def __init__(self) -> None:
        self._numbers = 0
        self._ids: dict[str, dict[int, int]] = {}  # file → line that was asked for → number
        self._at: dict[str, dict[int, int]] = {}  # file → line that was asked for → where it stops, or 0

    def put(self, file: str, lines: Sequence[int]) -> list[Message]:
        """These of a file and no others; as the protocol's breakpoints, in their order."""
        before = self._ids.get(file, {})
        self._ids[file] = {line: before.get(line) or self._next() for line in lines}
        known = self._at.setdefault(file, {})
        self._at[file] = {line: known[line] for line in lines if line in known}
        return [self._told(file, line) for line in lines]

    def bound(self, news: Bound) -> Iterator[Message]:
        """Those whose line is known now."""
        for line, at in news.lines:
            if line in self._ids.get(news.file, {}) and self._at[news.file].get(line) != at:
                self._at[news.file][line] = at
                yield self._told(news.file, line)

    def at(self, file: str, line: int) -> list[int]:
        """The numbers of those that stop there."""
        found = self._at.get(file, {})
        return [
            number for asked, number in self._ids.get(file, {}).items() if found.get(asked, asked) == line
        ]

    def _told(self, file: str, line: int) -> Message:
        at = self._at[file].get(line)
        told: Message = {"id": self._ids[file][line], "verified": bool(at), "line": at or line}
        if not at:
            told["message"] = WAITS if at is None else NOWHERE
        return told

    def _next(self) -> int:
        self._numbers += 1
        return self._numbers


def refused(points: Iterable[Message]) -> str:
    """Why a breakpoint cannot be had as it is wanted; empty where it can."""
    wants = {
        name for point in points for name in ("condition", "hitCondition", "logMessage") if point.get(name)
    }
    return f"A breakpoint with a {one_line(min(wants))} is not supported." if wants else ""

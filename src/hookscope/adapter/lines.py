"""The breakpoints of an editor, by file: each has a number, and is verified once a worker knows its line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.adapter.framing import Message
from hookscope.core.text import printable
from hookscope.values import dataclass
from hookscope.workbench import Bound, Point

WAITS = "Waits until a handler that runs loads this file."
NOWHERE = "There is no line of code from here on."


@dataclass(slots=True)
class _Asked:
    """A line that an editor has named."""

    number: int
    wish: Message  # as the editor has it
    at: int | None = None  # where it stops, or 0; None: nobody knows yet
    wrong: str = ""  # why it cannot be had
    is_doubted: bool = False  # it was said that its condition raises


class Lines:
    """What was asked for, and where it stops."""

    def __init__(self) -> None:
        self._numbers = 0
        self._asked: dict[str, dict[int, _Asked]] = {}  # file → the line that was asked for

    def put(self, file: str, wishes: Sequence[tuple[int, Message]]) -> tuple[list[Message], list[Point]]:
        """These of a file and no others, each as the editor has it; of two in one line the last one counts.

        As the protocol's breakpoints, in their order; and those that can be had.
        """
        before = self._asked.get(file, {})
        self._asked[file] = {line: self._kept(before.get(line), wish) for line, wish in wishes}
        points = {line: self._point(line, asked) for line, asked in self._asked[file].items()}
        told = [self._told(file, line) for line, _ in wishes]
        return told, [point for point in points.values() if point is not None]

    def _kept(self, known: _Asked | None, wish: Message) -> _Asked:
        if known is not None and _wanted(known.wish) == _wanted(wish):
            return known
        self._numbers += known is None
        return _Asked(self._numbers if known is None else known.number, wish)

    def _point(self, line: int, asked: _Asked) -> Point | None:
        try:
            return Point(line, *_wanted(asked.wish))
        except ValueError as error:
            asked.at, asked.wrong = 0, f"{str(error)[:1].upper()}{str(error)[1:]}."
            return None

    def bound(self, news: Bound) -> Iterator[Message]:
        """Those whose line is known now."""
        wrong = dict(news.wrong)
        for line, at in news.lines:
            asked = self._asked.get(news.file, {}).get(line)
            why = wrong.get(line, "")
            if asked is not None and (asked.at, asked.wrong) != (at, why):
                asked.at, asked.wrong = at, why
                yield self._told(news.file, line)

    def at(self, file: str, line: int) -> list[int]:
        """The numbers of those that stop there."""
        return [
            asked.number
            for named, asked in self._asked.get(file, {}).items()
            if (named if asked.at is None else asked.at) == line and not asked.wish.get("logMessage")
        ]

    def doubts(self, file: str, line: int) -> bool:
        """The condition of that line raises: is that news."""
        here = [asked for asked in self._asked.get(file, {}).values() if asked.at == line]
        news = not here or not all(asked.is_doubted for asked in here)
        for asked in here:
            asked.is_doubted = True
        return news

    def _told(self, file: str, line: int) -> Message:
        asked = self._asked[file][line]
        told: Message = {"id": asked.number, "verified": bool(asked.at), "line": asked.at or line}
        if not asked.at:
            told["message"] = printable(asked.wrong) or (WAITS if asked.at is None else NOWHERE)
        return told


def _wanted(wish: Message) -> tuple[str, str, str]:
    """Its condition, its hit count, what it logs."""
    condition, hits, log = (wish.get(name) for name in ("condition", "hitCondition", "logMessage"))
    return str(condition or ""), str(hits or ""), str(log or "")

"""An editor's breakpoints by file. A breakpoint is verified once a worker has loaded its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.integrations.dap.framing import DapMessage
from hookscope.model.text import printable
from hookscope.runtime.debugger import Bound, Point
from hookscope.values import dataclass

UNVERIFIED = "Waits until a handler that runs loads this file."
NO_CODE = "There is no line of code from here on."


@dataclass(slots=True)
class _Breakpoint:
    """A line that an editor has named."""

    number: int
    wish: DapMessage  # as the editor has it
    at: int | None = None  # where it stops, or 0; None: nobody knows yet
    wrong: str = ""  # why it cannot be had
    is_doubted: bool = False  # it was said that its condition raises


class EditorBreakpoints:
    """What was asked for, and where it stops."""

    def __init__(self) -> None:
        self._numbers = 0
        self._asked: dict[str, dict[int, _Breakpoint]] = {}  # file → the line that was asked for

    def put(
        self, file: str, wishes: Sequence[tuple[int, DapMessage]]
    ) -> tuple[list[DapMessage], list[Point]]:
        """These of a file and no others, each as the editor has it; of two in one line the last one counts.

        As the protocol's breakpoints, in their order; and those that can be had.
        """
        before = self._asked.get(file, {})
        self._asked[file] = {line: self._kept(before.get(line), wish) for line, wish in wishes}
        points = {line: self._point(line, asked) for line, asked in self._asked[file].items()}
        told = [self._told(file, line) for line, _ in wishes]
        return told, [point for point in points.values() if point is not None]

    def _kept(self, known: _Breakpoint | None, wish: DapMessage) -> _Breakpoint:
        if known is not None and _breakpoint_options(known.wish) == _breakpoint_options(wish):
            return known
        self._numbers += known is None
        return _Breakpoint(self._numbers if known is None else known.number, wish)

    def _point(self, line: int, asked: _Breakpoint) -> Point | None:
        try:
            return Point(line, *_breakpoint_options(asked.wish))
        except ValueError as error:
            asked.at, asked.wrong = 0, f"{str(error)[:1].upper()}{str(error)[1:]}."
            return None

    def bound(self, news: Bound) -> Iterator[DapMessage]:
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

    def _told(self, file: str, line: int) -> DapMessage:
        asked = self._asked[file][line]
        told: DapMessage = {"id": asked.number, "verified": bool(asked.at), "line": asked.at or line}
        if not asked.at:
            told["message"] = printable(asked.wrong) or (UNVERIFIED if asked.at is None else NO_CODE)
        return told


def _breakpoint_options(wish: DapMessage) -> tuple[str, str, str]:
    """Its condition, its hit count, what it logs."""
    condition, hits, log = (wish.get(name) for name in ("condition", "hitCondition", "logMessage"))
    return str(condition or ""), str(hits or ""), str(log or "")

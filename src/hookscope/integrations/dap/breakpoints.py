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
    """A breakpoint that an editor has set on a line."""

    number: int
    wish: DapMessage  # the editor's breakpoint
    at: int | None = None  # the line where it stops; 0: nowhere; None: not known yet
    wrong: str = ""  # why it is invalid
    is_doubted: bool = False  # the error in its condition was reported


class EditorBreakpoints:
    """The requested breakpoints of each file, and the lines where they stop."""

    def __init__(self) -> None:
        self._numbers = 0
        self._asked: dict[str, dict[int, _Breakpoint]] = {}  # file → requested line

    def put(
        self, file: str, wishes: Sequence[tuple[int, DapMessage]]
    ) -> tuple[list[DapMessage], list[Point]]:
        """Replace the breakpoints of `file`. If two are on one line, the last one counts.

        Returns the protocol's breakpoints in the order of the requests, and the valid points for the
        debugger.
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
        """Yield the breakpoints whose line has become known or has changed."""
        wrong = dict(news.wrong)
        for line, at in news.lines:
            asked = self._asked.get(news.file, {}).get(line)
            why = wrong.get(line, "")
            if asked is not None and (asked.at, asked.wrong) != (at, why):
                asked.at, asked.wrong = at, why
                yield self._told(news.file, line)

    def at(self, file: str, line: int) -> list[int]:
        """Return the numbers of the breakpoints that stop at this line; log points do not stop."""
        return [
            asked.number
            for named, asked in self._asked.get(file, {}).items()
            if (named if asked.at is None else asked.at) == line and not asked.wish.get("logMessage")
        ]

    def doubts(self, file: str, line: int) -> bool:
        """Return True the first time that the condition on this line raises an error."""
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
    """Return the condition, the hit count and the log message of a breakpoint."""
    condition, hits, log = (wish.get(name) for name in ("condition", "hitCondition", "logMessage"))
    return str(condition or ""), str(hits or ""), str(log or "")

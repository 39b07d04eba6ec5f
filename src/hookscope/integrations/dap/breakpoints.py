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
    request: DapMessage  # the editor's breakpoint
    bound_line: int | None = None  # the line where it stops; 0: nowhere; None: not known yet
    problem: str = ""  # why it is invalid
    error_reported: bool = False  # the error in its condition was reported


class EditorBreakpoints:
    """The requested breakpoints of each file, and the lines where they stop."""

    def __init__(self) -> None:
        self._last_number = 0
        self._by_file: dict[str, dict[int, _Breakpoint]] = {}  # file → requested line

    def replace(
        self, file: str, requests: Sequence[tuple[int, DapMessage]]
    ) -> tuple[list[DapMessage], list[Point]]:
        """Replace the breakpoints of `file`. If two are on one line, the last one counts.

        Returns the protocol's breakpoints in the order of the requests, and the valid points for the
        debugger.
        """
        before = self._by_file.get(file, {})
        self._by_file[file] = {
            line: self._reuse_or_create(before.get(line), request) for line, request in requests
        }
        points = {line: self._point(line, entry) for line, entry in self._by_file[file].items()}
        documents = [self._document(file, line) for line, _ in requests]
        return documents, [point for point in points.values() if point is not None]

    def _reuse_or_create(self, known: _Breakpoint | None, request: DapMessage) -> _Breakpoint:
        if known is not None and _breakpoint_options(known.request) == _breakpoint_options(request):
            return known
        self._last_number += known is None
        return _Breakpoint(self._last_number if known is None else known.number, request)

    def _point(self, line: int, entry: _Breakpoint) -> Point | None:
        try:
            return Point(line, *_breakpoint_options(entry.request))
        except ValueError as error:
            entry.bound_line, entry.problem = 0, f"{str(error)[:1].upper()}{str(error)[1:]}."
            return None

    def newly_bound(self, bound: Bound) -> Iterator[DapMessage]:
        """Yield the breakpoints whose line has become known or has changed."""
        problems = dict(bound.wrong)
        for line, bound_line in bound.lines:
            entry = self._by_file.get(bound.file, {}).get(line)
            problem = problems.get(line, "")
            if entry is not None and (entry.bound_line, entry.problem) != (bound_line, problem):
                entry.bound_line, entry.problem = bound_line, problem
                yield self._document(bound.file, line)

    def numbers_at(self, file: str, line: int) -> list[int]:
        """Return the numbers of the breakpoints that stop at this line; log points do not stop."""
        return [
            entry.number
            for requested_line, entry in self._by_file.get(file, {}).items()
            if (requested_line if entry.bound_line is None else entry.bound_line) == line
            and not entry.request.get("logMessage")
        ]

    def is_new_condition_error(self, file: str, line: int) -> bool:
        """Return True the first time that the condition on this line raises an error."""
        entries = [entry for entry in self._by_file.get(file, {}).values() if entry.bound_line == line]
        is_new = not entries or not all(entry.error_reported for entry in entries)
        for entry in entries:
            entry.error_reported = True
        return is_new

    def _document(self, file: str, line: int) -> DapMessage:
        entry = self._by_file[file][line]
        document: DapMessage = {
            "id": entry.number,
            "verified": bool(entry.bound_line),
            "line": entry.bound_line or line,
        }
        if not entry.bound_line:
            document["message"] = printable(entry.problem) or (
                UNVERIFIED if entry.bound_line is None else NO_CODE
            )
        return document


def _breakpoint_options(request: DapMessage) -> tuple[str, str, str]:
    """Return the condition, the hit count and the log message of a breakpoint."""
    condition, hits, log = (request.get(name) for name in ("condition", "hitCondition", "logMessage"))
    return str(condition or ""), str(hits or ""), str(log or "")

"""Stack frames, scopes and variables of a stopped handler, as an editor requests them."""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress

from hookscope.integrations.dap.framing import DapMessage
from hookscope.model.failure import Refusal
from hookscope.model.text import one_line, printable
from hookscope.runtime.debugger import Bound, Debugger, Member, Point, Stop
from hookscope.values import dataclass

UNVERIFIED = "Not set until a running handler loads this file."
NO_CODE = "There is no code at or below this line."


@dataclass(slots=True)
class _Breakpoint:
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


NOT_STOPPED = "No handler is stopped there now."


@dataclass(frozen=True, slots=True)
class InspectedValue:
    """A frame of one stop, or a value in its variables."""

    stop: int
    frame: int  # from the outermost
    path: tuple[int, ...] = ()
    of_module: bool = False  # the path begins at the variables of the frame's module
    expression: str = ""  # the value in the handler's language; empty for the variables themselves


BEFORE_CURSOR = re.compile(r"((?:[\w$]+\.)*)([\w$]*)$")  # a dotted name that is being typed
NAME = re.compile(r"[^\W\d][\w$]*|\$[\w$]*")
JAVASCRIPT_NAMES = """((held) => {{
  const names = new Set();
  for (; held != null && held !== Object.prototype; held = Object.getPrototypeOf(held))
    for (const name of Object.getOwnPropertyNames(Object(held))) names.add(name);
  return [...names].join(" ");
}})({})"""


def member_expression(holder: InspectedValue, name: str, *, in_python: bool) -> str:
    """Return an expression for a member of a value, which can also be assigned to."""
    if not holder.path:
        return f"globals()[{name!r}]" if in_python and holder.of_module else name
    if NAME.fullmatch(name):
        return f"{holder.expression}.{name}"
    return f"{holder.expression}[{name if in_python or name.isdecimal() else json.dumps(name)}]"


class StopInspector:
    """Answers requests about the current stop of one debugger.

    Frames and values have reference numbers, which are valid while the handler is stopped.
    """

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger
        self._lock = asyncio.Lock()  # one command at a time: the debugger answers by updating the stop
        self._values: dict[int, InspectedValue] = {}
        self._last_reference = 0
        self.stop_number = 0  # the stop that the editor knows; 0: none
        self.run_ended = asyncio.Event()  # set when the run has ended; the debugger answers no more
        self.shows_types = False  # whether the editor shows the types of variables

    def set_stop(self, stop: Stop) -> None:
        """Make `stop` the current stop; earlier references become invalid."""
        self._values.clear()
        self.stop_number = stop.number

    def reference_for(
        self, frame: int, path: tuple[int, ...] = (), *, of_module: bool = False, expression: str = ""
    ) -> int:
        """Return a new reference number for a frame, for its module, or for a value in one of them."""
        self._last_reference += 1
        value = InspectedValue(self.stop_number, frame, path, of_module, expression)
        self._values[self._last_reference] = value
        return self._last_reference

    def value_of(self, reference: object) -> InspectedValue:
        """Return the frame or value of a reference number. Raises Refusal if it is not valid."""
        value = self._values.get(reference) if isinstance(reference, int) else None
        if value is None or value.stop != self.stop_number or self.run_ended.is_set():
            raise Refusal(NOT_STOPPED)
        return value

    async def current_stop(self) -> Stop:
        """Return the current stop. Raises Refusal if no handler is stopped."""
        async with self._lock:
            return self._require_stop()

    async def variables(self, value: InspectedValue) -> list[DapMessage]:
        """Return the members of a value as the protocol's variables. Raises Refusal."""
        async with self._lock:
            await self._select_frame(value.frame)
            stop = await self._updated_stop(
                lambda: self._debugger.show_members(value.path, of_module=value.of_module)
            )
            in_python = stop.frame.file.endswith(".py")
            return [
                self._variable(value, number, member, in_python=in_python)
                for number, member in enumerate(stop.members or ())
            ]

    def _variable(
        self, holder: InspectedValue, number: int, member: Member, *, in_python: bool
    ) -> DapMessage:
        expression = member_expression(holder, member.name, in_python=in_python)
        path = (*holder.path, number)
        reference = (
            self.reference_for(holder.frame, path, of_module=holder.of_module, expression=expression)
            if member.holds
            else 0
        )
        document = {"name": member.name, "value": member.text, "variablesReference": reference}
        typed = {"type": printable(member.type)} if self.shows_types else {}
        return {**document, "evaluateName": expression, **typed}

    async def set_variable(self, holder: InspectedValue, name: str, text: str) -> DapMessage:
        """Assign the value of an expression to a member, and return its variable. Raises Refusal."""
        before = {one["name"]: one["evaluateName"] for one in await self.variables(holder)}
        if name not in before:
            raise Refusal(f"There is no {one_line(name)} here.")
        stop = await self.evaluate(f"{before[name]} = {text}", holder.frame)
        if stop.failed:
            raise Refusal(printable(stop.said or ""))
        return next(one for one in await self.variables(holder) if one["name"] == name)

    async def completions(self, text: str, frame: int) -> tuple[list[str], int]:
        """Return the names that fit what was typed, and how many of its characters they replace."""
        match = BEFORE_CURSOR.search(text)
        assert match is not None
        holder, begun = match[1].removesuffix("."), match[2]
        scopes = [InspectedValue(self.stop_number, frame, of_module=of_module) for of_module in (False, True)]
        names = (
            await self._attributes(holder, frame)
            if holder
            else [one["name"] for scope in scopes for one in await self.variables(scope)]
        )
        fitting = {name for name in names if name.startswith(begun) and NAME.fullmatch(name)}
        return sorted(name for name in fitting if begun or not name.startswith("_")), len(begun)

    async def _attributes(self, holder: str, frame: int) -> list[str]:
        in_python = (await self.current_stop()).frames[frame].file.endswith(".py")
        names = f"' '.join(dir({holder}))" if in_python else JAVASCRIPT_NAMES.format(holder)
        stop = await self.evaluate(names, frame)
        try:
            return [] if stop.failed else str(ast.literal_eval(stop.said or "''")).split()
        except (SyntaxError, ValueError):
            return []

    async def evaluate(self, expression: str, frame: int | None) -> Stop:
        """Evaluate an expression; the result is in `said` of the returned stop.

        Without a frame it is evaluated in the innermost one. Raises Refusal.
        """
        async with self._lock:
            await self._select_frame(len(self._require_stop().frames) - 1 if frame is None else frame)
            return await self._updated_stop(lambda: self._debugger.evaluate(expression))

    async def resume(self, command: Callable[[], Awaitable[None]]) -> None:
        """Let the handler continue with `command`. Raises Refusal if no handler is stopped."""
        async with self._lock:
            self._require_stop()
            self.stop_number = 0
            await command()

    async def _select_frame(self, frame: int) -> None:
        if self._require_stop().at != frame:
            await self._updated_stop(lambda: self._debugger.select_frame(frame))

    def _require_stop(self) -> Stop:
        stop = self._debugger.stop
        if stop is None or stop.number != self.stop_number:
            raise Refusal(NOT_STOPPED)
        return stop

    async def _updated_stop(self, command: Callable[[], Awaitable[None]]) -> Stop:
        """Run a debugger command and return the updated stop.

        Raises Refusal if the command is invalid or the worker ends meanwhile.
        """
        expected = self.stop_number
        try:
            await command()
        except ValueError as error:
            raise Refusal(f"{str(error).capitalize()}.") from None
        updated = asyncio.ensure_future(self._debugger.stopped())
        ended = asyncio.ensure_future(self.run_ended.wait())
        try:
            await asyncio.wait({updated, ended}, return_when=asyncio.FIRST_COMPLETED)
            if not updated.done() or updated.result().number != expected:
                raise Refusal("The process of this handler has ended.")
            return updated.result()
        finally:
            for waiting in (updated, ended):
                waiting.cancel()
                with suppress(asyncio.CancelledError):
                    await waiting

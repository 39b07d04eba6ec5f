"""A debugger for handlers in workers: breakpoints, stops, and commands to inspect or resume a handler."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from hookscope.model.executor import Executor, ExecutorOf
from hookscope.model.failure import Failure
from hookscope.model.run import Code, Handler, Module, OnStep, Paused, Registration, Skipped
from hookscope.runtime.async_helpers import since_run_start
from hookscope.runtime.payloads import document_of
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.runtime.batch import WorkerHandle
    from hookscope.runtime.python_worker.protocol import Message
    from hookscope.runtime.sandbox import Sandbox


class _StepCommand(Enum):
    GO = "go"
    SKIP = "skip"
    ALL = "all"


class Stepper:
    """Steps through the handlers of one run and of the events that they cause.

    For one event loop. Commands that arrive while no handler waits are ignored.
    """

    def __init__(self) -> None:
        self._pending: asyncio.Future[_StepCommand] | None = None
        self._executors: dict[int, SteppedExecutor] = {}  # so that batches stay together
        self._lock = asyncio.Lock()  # executors that start concurrently wait one after another
        self._runs_all = False

    @property
    def is_waiting(self) -> bool:
        """Return whether a handler waits for a command."""
        return self._pending is not None and not self._pending.done()

    def run_it(self) -> bool:
        """Run the waiting handler. Return False if none waits."""
        return self._answer(_StepCommand.GO)

    def pass_over(self) -> bool:
        """Skip the waiting handler. Return False if none waits."""
        return self._answer(_StepCommand.SKIP)

    def run_all(self) -> bool:
        """Run the waiting handler and all later ones. Return False if none waits."""
        return self._answer(_StepCommand.ALL)

    def _answer(self, command: _StepCommand) -> bool:
        if self._pending is None or self._pending.done():
            return False
        self._pending.set_result(command)
        return True

    def executors(self, executor_of: ExecutorOf) -> ExecutorOf:
        """Return `executor_of` with a wait before each handler."""

        def stepped_executor_of(call: Registration) -> Executor:
            lane = executor_of(call)
            return self._executors.setdefault(id(lane), SteppedExecutor(lane, self))

        return stepped_executor_of

    async def may_run(self, calls: Sequence[Registration], view: Any, step: OnStep) -> bool:
        """Wait for a command before these calls, which start together; return whether to run them."""
        async with self._lock:
            command = _StepCommand.ALL if self._runs_all else await self._wait_for_command(calls, view, step)
        self._runs_all = command is _StepCommand.ALL
        if command is not _StepCommand.SKIP:
            return True
        for call in calls:
            step(Skipped(call))
        return False

    async def _wait_for_command(self, calls: Sequence[Registration], view: Any, step: OnStep) -> _StepCommand:
        self._pending = asyncio.get_running_loop().create_future()
        document, _ = document_of(view)
        step(Paused(calls[0], since_run_start(perf_counter()), tuple(calls[1:]), document))
        try:
            return await self._pending
        finally:
            self._pending = None


class SteppedExecutor:
    """An executor that waits for a command before each handler, and then uses another executor."""

    def __init__(self, executor: Executor, stepper: Stepper) -> None:
        self._executor, self._stepper = executor, stepper

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        for call in batch:
            if await self._stepper.may_run((call,), view, step):
                await self._executor.run((call,), view, step)

    async def run_one_by_one(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        for view, call in zip(views, calls, strict=False):  # an ended event has fewer views
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        if await self._stepper.may_run([call for call, _ in calls], calls[0][1], step):
            await self._executor.run_together(calls, step)

    async def load(self, code: Code) -> Handler | Code | Module | Failure:
        return await self._executor.load(code)

    async def close(self) -> None:
        """See Executor.close. Does nothing: the owner of the inner executor closes it."""


StopReason: TypeAlias = Literal["begin", "breakpoint", "line", "step", "pause", "error"]
STOP_REASONS: tuple[str, ...] = get_args(StopReason)


@dataclass(frozen=True, slots=True)
class StackFrame:
    """An unfinished call, with its position in the author's file."""

    file: str
    line: int  # from 1
    function: str


@dataclass(frozen=True, slots=True)
class Member:
    """A variable or a member of a value, with its name or number."""

    name: str
    text: str  # short
    holds: bool  # has members
    type: str  # in the handler's language


@dataclass(frozen=True, slots=True)
class Stop:
    """A stopped handler. Its texts come from the handler's process and may contain anything."""

    why: StopReason  # "breakpoint": `breakpoint()` or `debugger`; "line": a breakpoint of the user
    who: str  # the hook; empty while its module is being loaded
    frames: tuple[StackFrame, ...]  # in the author's code, outermost first; never empty
    at: int  # index of the selected frame
    lines: tuple[tuple[int, str], ...]  # numbered lines of its file; empty if unreadable
    variables: tuple[tuple[str, str], ...]  # of the selected frame: names and short texts
    named: tuple[int, ...] = ()  # lines of its file with breakpoints
    error: str | None = None  # that was raised: "KeyError: 'user'"
    said: str | None = None  # the answer to the last command, if it has one
    members: tuple[Member, ...] | None = None  # if the last command requested them
    failed: bool = False  # `said` is an error
    printed: tuple[str, str] = ("", "")  # so far, on standard output and error
    number: int = 0  # of the stop within its run; commands that only inspect keep it
    note: str | None = None  # that the condition of the breakpoint raises

    @property
    def frame(self) -> StackFrame:
        """The selected frame."""
        return self.frames[self.at]


@dataclass(frozen=True, slots=True)
class Bound:
    """Where the requested breakpoints of a file stop."""

    file: str
    lines: tuple[tuple[int, int], ...]  # requested line, and where the handler stops; 0: nowhere
    wrong: tuple[tuple[int, str], ...] = ()  # requested line, and why it is invalid


@dataclass(frozen=True, slots=True)
class Logged:
    """The text of a log breakpoint. It comes from the handler's process and may contain anything."""

    who: str  # the hook; empty while its module is being loaded
    file: str
    line: int
    text: str


def read_stop(
    message: object, original: Callable[[str], str], number: int, printed: tuple[str, str]
) -> Stop | None:
    """Return the stop in a worker's message; None if it is malformed."""
    if not isinstance(message, dict):
        return None
    try:
        return _stop_from(message, original, number, printed)
    except (IndexError, KeyError, TypeError, ValueError):
        return None


def read_bound(message: object, original: Callable[[str], str]) -> Bound | None:
    """Return the bound breakpoints in a worker's message; None if it is malformed."""
    try:
        assert isinstance(message, dict)
        lines = tuple((int(named), int(at)) for named, at in message["lines"])
        wrong = tuple((int(named), original(str(why))) for named, why in message.get("wrong", ()))
        return Bound(original(str(message["file"])), lines, wrong)
    except (AssertionError, KeyError, TypeError, ValueError):
        return None


def read_logged(message: object, original: Callable[[str], str]) -> Logged | None:
    """Return the log text in a worker's message; None if it is malformed."""
    try:
        assert isinstance(message, dict)
        file, text = original(str(message["file"])), original(str(message["text"]))
        return Logged(str(message["who"]), file, int(message["line"]), text)
    except (AssertionError, KeyError, TypeError, ValueError):
        return None


def _stop_from(
    message: Message, original: Callable[[str], str], number: int, printed: tuple[str, str]
) -> Stop:
    def text(value: object) -> str:
        return original(str(value))

    frames = tuple(
        StackFrame(text(one["file"]), int(one["line"]), str(one["function"])) for one in message["frames"]
    )
    at = int(message["at"])
    error, said, members, note = (message.get(name) for name in ("error", "said", "members", "note"))
    if message["why"] not in STOP_REASONS or not 0 <= at < len(frames):
        raise ValueError("no stop")
    return Stop(
        message["why"],
        str(message["who"]),
        frames,
        at,
        tuple((int(number), str(line)) for number, line in message["lines"]),
        tuple((str(name), text(value)) for name, value in message["variables"]),
        tuple(int(number) for number in message["named"]),
        None if error is None else text(error),
        None if said is None else text(said),
        None
        if members is None
        else tuple(
            Member(str(one), text(value), bool(holds), str(kind)) for one, value, holds, kind in members
        ),
        bool(message.get("failed")),
        printed,
        number,
        None if note is None else text(note),
    )


MAX_TEXT = 8 * 1024  # characters of a command: it must fit into a pipe that is not read at once
_HIT_COUNT = re.compile(r"\s*(===?|>=?|<=?|%)?\s*(\d{1,15})\s*")
_QUOTES = "\"'`"


@dataclass(frozen=True, slots=True)
class Point:
    """A breakpoint: a line of a file, and when a handler stops there.

    `hits` is a number, optionally after `>=`, `>`, `<`, `<=`, `==` or `%`: it counts how often the line was
    reached while the condition held. With a `log`, the handler does not stop: the text is reported, with
    expressions in braces replaced by their values. Raises ValueError for invalid `hits` or a text too long.
    """

    line: int  # from 1
    condition: str = ""  # in the handler's language
    hits: str = ""
    log: str = ""

    def __post_init__(self) -> None:
        self.to_message()

    def to_message(self) -> int | Message:
        """Return the protocol's form."""
        for text in (self.condition, self.hits, self.log):
            if len(text) > MAX_TEXT:
                raise ValueError(f"{len(text):,} characters are too many; at most {MAX_TEXT:,} are allowed")
        message: Message = {"line": self.line}
        if self.condition.strip():
            message["condition"] = self.condition.strip()
        if self.hits.strip():
            message["hits"] = _parse_hits(self.hits)
        if self.log:
            message["log"] = list(_log_parts(self.log))
        return self.line if len(message) == 1 else message


def _parse_hits(text: str) -> tuple[str, int]:
    found = _HIT_COUNT.fullmatch(text)
    if found is None:
        raise ValueError(f"`{text.strip()[:80]}` is not a hit count; write 3, >= 3 or % 3")
    comparison = found[1] or "=="
    return "==" if comparison == "===" else comparison, int(found[2])


def _log_parts(log: str) -> Iterator[str]:
    """Yield texts alternating with the expressions in braces; the first and the last part are texts."""
    text, at = "", 0
    while at < len(log):
        if log[at] == "\\" and log[at + 1 : at + 2] in ("{", "}"):
            text, at = text + log[at + 1], at + 2
            continue
        end = _closing_brace(log, at) if log[at] == "{" else None
        if end is None or not log[at + 1 : end].strip():
            text, at = text + log[at], at + 1
        else:
            yield text
            yield log[at + 1 : end].strip()
            text, at = "", end + 1
    yield text


def _closing_brace(log: str, begin: int) -> int | None:
    """Return the position of the matching closing brace, ignoring braces in quotes; None if there is none."""
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


ErrorFilter: TypeAlias = Literal[
    "leaving", "raised", "none"
]  # errors that leave a handler; all errors in its author's code
INSPECT_COMMANDS = ("frame", "line", "evaluate", "members")  # the handler stays stopped


class Debugger:
    """The debugger of one run. Handlers stop at `breakpoint()` or `debugger`, at breakpoints, at errors, and,
    with `stop_at_start`, at their first line.

    For one event loop. `stopped` waits for a stop. A command resumes the handler, or changes the view of the
    stop, which is reported again. Without a stopped handler, commands are ignored. Breakpoints and
    errors can be set at any time, even before the run.

    Args:
        stop_at_start: stop at the first line of each handler.
        errors: at which errors to stop.
        on_bound: called with the lines at which breakpoints stop, once a worker knows them.
        on_logged: called with the texts of log breakpoints.
    """

    def __init__(
        self,
        *,
        stop_at_start: bool = True,
        errors: ErrorFilter = "leaving",
        on_bound: Callable[[Bound], object] | None = None,
        on_logged: Callable[[Logged], object] | None = None,
    ) -> None:
        self.stop_at_start, self._errors, self._on_bound, self._on_logged = (
            stop_at_start,
            errors,
            on_bound,
            on_logged,
        )
        self._lines: dict[str, tuple[int | Message, ...]] = {}
        self._workers: list[WorkerHandle] = []  # running
        self._stopped_worker: WorkerHandle | None = (
            None  # the worker that has the reported stop, or is executing a command
        )
        self._stop: Stop | None = None
        self._waiting_stops: deque[tuple[WorkerHandle, Stop]] = (
            deque()
        )  # not reported yet: several workers may stop at once
        self._stop_count = self._stop_number = 0  # stops so far; number of the reported one
        self._changed = asyncio.Event()
        self._sandbox: Sandbox | None = None

    def use_sandbox(self, sandbox: Sandbox) -> None:
        """Run handlers on the sandbox's copies from now on; stops name the originals."""
        self._sandbox = sandbox

    @property
    def stop(self) -> Stop | None:
        """The current stop; None if no handler is stopped."""
        return self._stop

    async def stopped(self, after: Stop | None = None) -> Stop:
        """Return the current stop, unless it is `after`; otherwise wait for the next one."""
        while self._stop is None or self._stop is after:
            self._changed.clear()
            await self._changed.wait()
        return self._stop

    async def over(self) -> None:
        """Continue to the next line of this function."""
        await self._send_command("next")

    async def into(self) -> None:
        """Continue to the next line, stepping into functions of the author that it calls."""
        await self._send_command("step")

    async def out(self) -> None:
        """Continue until this function returns."""
        await self._send_command("out")

    async def go_on(self) -> None:
        """Continue to the next stop that is not a step."""
        await self._send_command("on")

    async def run_all(self) -> None:
        """Resume, and never stop again."""
        await self._send_command("off")

    async def select_frame(self, frame: int) -> None:
        """Select another frame by its index in `frames`; an index out of range selects the nearest frame."""
        await self._send_command("frame", at=frame)

    async def toggle(self, line: int, file: str = "", condition: str = "") -> None:
        """Set or remove a breakpoint at this line, of the selected frame's file if no file is given.

        With a condition, the breakpoint is always set or replaced. Raises ValueError for a condition of more
        than MAX_TEXT characters.
        """
        Point(line, condition)
        file = self._copy_of(file) if file else ""
        await self._send_command("line", line=line, file=file, condition=condition.strip())

    async def show_members(self, path: Iterable[int], *, of_module: bool = False) -> None:
        """Show the variables of the selected frame or its module, or the members of the value at `path`."""
        await self._send_command("members", path=list(path), of_module=of_module)

    async def name_lines(self, file: str, lines: Iterable[int | Point]) -> None:
        """Replace all breakpoints of a file. If two have the same line, the last one is used."""
        points = [Point(one) if isinstance(one, int) else one for one in lines]
        self._lines[file] = tuple({point.line: point.to_message() for point in points}.values())
        await self._send_to_all({"word": "lines", "file": self._copy_of(file), "lines": self._lines[file]})

    async def stop_at_errors(self, errors: ErrorFilter) -> None:
        """Stop at these errors from now on."""
        self._errors = errors
        await self._send_to_all({"word": "errors", "at": errors})

    async def pause(self) -> None:
        """Stop at the next executed line; a handler that awaits something stops after its `await`."""
        await self._send_to_all({"word": "pause"})

    async def _send_to_all(self, command: Message) -> None:
        for worker in tuple(self._workers):
            await worker.send_urgent({"do": "word", **command})

    def _copy_of(self, file: str) -> str:
        return file if self._sandbox is None else str(self._sandbox.copy_of(Path(file)))

    async def evaluate(self, text: str) -> None:
        """Evaluate an expression or a statement at the current position.

        Raises ValueError for a text of more than MAX_TEXT characters.
        """
        if len(text) > MAX_TEXT:
            raise ValueError(f"{len(text):,} characters are too many; at most {MAX_TEXT:,} are allowed")
        await self._send_command("evaluate", text=text)

    async def _send_command(self, command: str, **more: object) -> None:
        worker, stands = self._stopped_worker, self._stop is not None
        self._stop = None
        if worker is None or not stands:
            return
        if command not in INSPECT_COMMANDS:
            self._show_next_stop()
        await worker.send_urgent({"do": "word", "word": command, **more})

    def attach(
        self, worker: WorkerHandle, printed: Callable[[], tuple[str, str]]
    ) -> tuple[Message, Callable[[Message], None]]:
        """Return the message for a starting worker, and the function that handles the worker's messages.

        `printed` returns the worker's output so far.
        """
        self._workers.append(worker)
        lines = {self._copy_of(file): lines for file, lines in self._lines.items()}
        request = {"do": "debug", "begin": self.stop_at_start, "errors": self._errors, "lines": lines}
        original = str if self._sandbox is None else self._sandbox.original_of

        def on_message(told: Message) -> None:
            bound = read_bound(told.get("bound"), original)
            if bound is not None and self._on_bound is not None:
                self._on_bound(bound)
            logged = read_logged(told.get("logged"), original)
            if logged is not None and self._on_logged is not None:
                self._on_logged(logged)
            again = self._stopped_worker is worker
            number = self._stop_number if again else self._stop_count + 1
            stop = read_stop(told.get("stop"), original, number, printed())
            if stop is None:
                return
            self._stop_count = max(self._stop_count, number)
            if self._stopped_worker is not None and not again:
                self._waiting_stops.append((worker, stop))
            else:
                self._show_stop(worker, stop)

        return request, on_message

    def detach(self, worker: WorkerHandle) -> None:
        """Forget the stops of a worker that has ended."""
        self._workers = [other for other in self._workers if other is not worker]
        self._waiting_stops = deque(other for other in self._waiting_stops if other[0] is not worker)
        if self._stopped_worker is worker:
            self._stop = None
            self._show_next_stop()

    def _show_next_stop(self) -> None:
        self._stopped_worker = None
        if self._waiting_stops:
            self._show_stop(*self._waiting_stops.popleft())

    def _show_stop(self, worker: WorkerHandle, stop: Stop) -> None:
        self._stopped_worker, self._stop, self._stop_number = worker, stop, stop.number
        self._changed.set()

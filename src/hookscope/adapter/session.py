"""One session: the requests of an editor, each with its response, and the events between them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from hookscope.adapter.framing import Message, read
from hookscope.adapter.launching import Launch, launch_of, mistaken
from hookscope.adapter.lines import Lines
from hookscope.adapter.refusing import failure, left_out, nobody
from hookscope.adapter.running import Report, Running
from hookscope.adapter.seen import Seen
from hookscope.core.runs import Plan
from hookscope.core.text import one_line, printable
from hookscope.workbench import Bound, Debugger, Logged, Options, Refusal, StackFrame, View, Workbench
from hookscope.workbench.wishes import planned

FILTERS = [
    {
        "filter": "leaving",
        "label": "Errors that leave a handler",
        "description": "Stands where the error was thrown, with the variables as they were.",
        "default": True,
    },
    {
        "filter": "raised",
        "label": "All errors in handlers",
        "description": "Stands at errors that the handler catches, too.",
        "default": False,
    },
]
CAPABILITIES: Message = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsEvaluateForHovers": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
    "exceptionBreakpointFilters": FILTERS,
}
Answered = Callable[[Message], Awaitable[Message]]


class Session:
    """Hears bodies and sends messages. `over` is set once the editor has taken its leave.

    Args:
        options: of the command line; a launch may say otherwise.
        trusts: may handlers of untrusted folders run.
        send: sends a message.
        report: tells a run in words.
    """

    def __init__(
        self, options: Options, trusts: bool, send: Callable[[Message], None], report: Report
    ) -> None:
        self._options, self._trusts, self._send = options, trusts, send
        self._number = 0
        self._first_line = 1  # as the editor counts
        self._tasks: set[asyncio.Task[None]] = set()
        self._lines = Lines()
        self._debugger = Debugger(begins=False, bound=self._bound, logged=self._logged)
        self._seen = Seen(self._debugger)
        self._running = Running(self._event, self._debugger, self._seen, self._lines, report)
        self._bench: Workbench | None = None
        self._configured = asyncio.Event()
        self._run: asyncio.Task[None] | None = None
        self.over = asyncio.Event()
        self._requests: dict[str, Answered] = {
            "initialize": self._initialize,
            "launch": self._launch,
            "setBreakpoints": self._set_breakpoints,
            "setExceptionBreakpoints": self._set_exception_breakpoints,
            "configurationDone": self._configuration_done,
            "threads": self._threads,
            "stackTrace": self._stack_trace,
            "scopes": self._scopes,
            "variables": self._variables,
            "evaluate": self._evaluate,
            "exceptionInfo": self._exception_info,
            "continue": self._continue,
            "next": lambda asked: self._step(asked, self._debugger.over),
            "stepIn": lambda asked: self._step(asked, self._debugger.into),
            "stepOut": lambda asked: self._step(asked, self._debugger.out),
            "pause": self._pause,
            "terminate": self._terminate,
            "disconnect": self._disconnect,
        }

    def hear(self, body: bytes) -> None:
        """Begin to answer a message; requests are begun in their order."""
        try:
            message = read(body)
        except ValueError as error:
            self._running.print(f"A message could not be read: {error}.\n", "stderr")
            return
        if message.get("type") == "request":
            task = asyncio.create_task(self._respond(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End what runs, and wait until its workers are gone. Any number of times."""
        self._running.cancel()
        if self._run is not None:
            if not self._configured.is_set():
                self._run.cancel()
            with suppress(asyncio.CancelledError):
                await self._run
        bench, self._bench = self._bench, None
        if bench is not None:
            await bench.close()

    async def _respond(self, request: Message) -> None:
        command, given = str(request.get("command")), request.get("arguments")
        answer = self._requests.get(command)
        response: Message = {"type": "response", "request_seq": request["seq"], "command": command}
        try:
            if answer is None:
                raise Refusal(f"The request {one_line(command)!r} is not supported.")
            body = await answer(given if isinstance(given, dict) else {})
            self._tell({**response, "success": True, "body": body})
        except Refusal as refusal:
            self._tell({**response, "success": False, **failure(str(refusal))})
        except (KeyError, TypeError, ValueError) as error:
            what = f"The arguments of {one_line(command)} are not those of the protocol ({error!r})."
            self._tell({**response, "success": False, **failure(what)})
        if command == "initialize" and answer is not None:
            self._event("initialized", {})
        elif command == "disconnect":
            self.over.set()

    def _tell(self, message: Message) -> None:
        self._number += 1
        self._send({"seq": self._number, **message})

    def _event(self, name: str, body: Message) -> None:
        self._tell({"type": "event", "event": name, "body": body})

    # Before the run

    async def _initialize(self, asked: Message) -> Message:
        self._first_line = 1 if asked.get("linesStartAt1", True) else 0
        return CAPABILITIES

    async def _launch(self, asked: Message) -> Message:
        if self._bench is not None:
            raise Refusal("One event is fired for a session.", "Begin another one.")
        launch = launch_of(asked, self._options)
        self._bench = bench = Workbench(launch.options, trust_all=self._trusts)
        for note in filter(None, (*mistaken(asked), bench.setup.notice, *bench.setup.notes)):
            self._running.print(f"{note}\n")
        bench.crew.warn_unprotected = lambda text: self._running.print(f"{text}\n", "important")
        view, plan = await planned(bench, launch.what, launch.wish)
        left = left_out(view, plan, launch.wish.only)
        if not plan.calls:
            raise Refusal(" ".join(left) or nobody(plan))
        for sentence in left:
            self._running.print(f"{sentence}\n", "important")
        self._debugger.begins = launch.begins
        self._run = asyncio.create_task(self._fire(bench, view, plan, launch))
        return {}

    async def _fire(self, bench: Workbench, view: View, plan: Plan, launch: Launch) -> None:
        await self._configured.wait()
        try:
            await self._running.fire(bench, view, plan, sandbox=launch.sandbox, debugs=launch.debugs)
        except OSError as error:
            self._running.print(
                f"Cannot make copies for the sandbox: {error}. Nothing was fired.\n", "stderr"
            )
            self._event("exited", {"exitCode": 1})
        self._event("terminated", {})

    async def _set_breakpoints(self, asked: Message) -> Message:
        file = asked["source"].get("path")
        points = asked.get("breakpoints") or []
        if not isinstance(file, str):
            raise Refusal("Breakpoints are set in files: the source has no path.")
        wishes = [(int(point["line"]) - self._first_line + 1, point) for point in points]
        told, wanted = self._lines.put(file, wishes)
        await self._debugger.name_lines(file, wanted)
        return {"breakpoints": [self._placed(point) for point in told]}

    def _bound(self, news: Bound) -> None:
        for point in self._lines.bound(news):
            self._event("breakpoint", {"reason": "changed", "breakpoint": self._placed(point)})

    def _logged(self, news: Logged) -> None:
        self._running.logged(news, self._line(news.line))

    def _placed(self, told: Message) -> Message:
        return {**told, "line": self._line(told["line"])}

    def _line(self, line: int) -> int:
        return line - 1 + self._first_line

    async def _set_exception_breakpoints(self, asked: Message) -> Message:
        wanted = asked["filters"]
        await self._debugger.stop_at(
            "raised" if "raised" in wanted else "leaving" if "leaving" in wanted else "none"
        )
        return {}

    async def _configuration_done(self, _: Message) -> Message:
        self._configured.set()
        return {}

    # A handler that stands

    async def _threads(self, _: Message) -> Message:
        return {"threads": [{"id": one.number, "name": one.name} for one in self._running.threads.open]}

    async def _stack_trace(self, asked: Message) -> Message:
        self._check(asked)
        stop = await self._seen.present()
        first, most = int(asked.get("startFrame") or 0), int(asked.get("levels") or 0)
        frames = list(enumerate(stop.frames))[::-1][first:]
        told = [self._frame(place, frame) for place, frame in (frames[:most] if most else frames)]
        return {"stackFrames": told, "totalFrames": len(stop.frames)}

    def _frame(self, place: int, frame: StackFrame) -> Message:
        return {
            "id": self._seen.number_of(place),
            "name": one_line(frame.function) or "(no name)",
            "line": self._line(frame.line),
            "column": self._first_line,
            "source": {"name": one_line(Path(frame.file).name), "path": frame.file},
        }

    async def _scopes(self, asked: Message) -> Message:
        spot = self._seen.spot(asked["frameId"])
        reference = self._seen.number_of(spot.frame)
        scope = {"name": "Variables", "presentationHint": "locals", "variablesReference": reference}
        return {"scopes": [{**scope, "expensive": False}]}

    async def _variables(self, asked: Message) -> Message:
        members = await self._seen.members(self._seen.spot(asked["variablesReference"]))
        first, most = int(asked.get("start") or 0), int(asked.get("count") or 0)
        return {"variables": members[first : first + most if most else None]}

    async def _evaluate(self, asked: Message) -> Message:
        frame = asked.get("frameId")
        stop = await self._seen.evaluated(
            str(asked["expression"]), None if frame is None else self._seen.spot(frame).frame
        )
        if stop.failed:
            raise Refusal(printable(stop.said or ""))
        return {"result": printable(stop.said or ""), "variablesReference": 0}

    async def _exception_info(self, asked: Message) -> Message:
        self._check(asked)
        error = printable((await self._seen.present()).error or "")
        kind = error.partition(":")[0]
        return {"exceptionId": kind or "none", "description": error, "breakMode": "unhandled"}

    async def _continue(self, asked: Message) -> Message:
        await self._step(asked, self._debugger.go_on)
        return {"allThreadsContinued": False}

    async def _step(self, asked: Message, word: Callable[[], Awaitable[None]]) -> Message:
        self._check(asked)
        await self._seen.go(word)
        return {}

    def _check(self, asked: Message) -> None:
        standing = self._running.standing
        if standing is None or asked["threadId"] != standing.number:
            raise Refusal("That handler does not stand.")

    async def _pause(self, _: Message) -> Message:
        await self._debugger.pause()
        return {}

    async def _terminate(self, _: Message) -> Message:
        self._running.cancel()
        return {}

    async def _disconnect(self, _: Message) -> Message:
        await self.close()
        return {}

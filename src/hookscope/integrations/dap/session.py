"""One debug session of an editor: requests and responses over standard input and output."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import (
    cannot_run_messages,
    untrusted_messages,
    waiting_for_trust,
)
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.fire_request import plan_request
from hookscope.integrations.dap.breakpoints import EditorBreakpoints
from hookscope.integrations.dap.debugged_run import DebuggedRun, RunReport
from hookscope.integrations.dap.framing import (
    DapMessage,
    FrameReader,
    InvalidFrame,
    decode_message,
    encode_message,
)
from hookscope.integrations.dap.inspection import StopInspector
from hookscope.integrations.dap.launch import Launch, parse_launch, unknown_argument_warnings
from hookscope.model.refusal import Refusal
from hookscope.model.run import Plan
from hookscope.model.text import one_line, printable, shell_path
from hookscope.runtime.debugger import Bound, Debugger, Logged, StackFrame


def failure_body(sentence: str) -> DapMessage:
    """Return the members of a failed response."""
    sentence = printable(sentence)
    # As a variable, because the protocol expands braces in a format.
    error = {"id": 1, "format": "{_sentence}", "variables": {"_sentence": sentence}, "showUser": True}
    return {"message": sentence, "body": {"error": error}}


def skipped_hook_reasons(view: Snapshot, plan: Plan, only: str | None) -> list[str]:
    """Return a sentence for each hook that should run and cannot."""
    waiting = untrusted_messages(waiting_for_trust(view, plan), view.host.surroundings)
    return [*waiting, *cannot_run_messages(view, plan, only=only)]


def no_handler_reasons(plan: Plan) -> str:
    """Explain why no handler is called, with the reasons of the subscribed hooks."""
    key = one_line(plan.event.key)
    listening = [f"{item.name}: {item.reason}" for item in plan.not_run if item.listens]
    reasons = f" {'; '.join(map(one_line, listening[:5]))}." if listening else ""
    return f"Nothing runs at {key}.{reasons} `hookscope plan {shell_path(key)}` says of each hook why not."


EXCEPTION_FILTERS = [
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
CAPABILITIES: DapMessage = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsHitConditionalBreakpoints": True,
    "supportsLogPoints": True,
    "supportsEvaluateForHovers": True,
    "supportsExceptionInfoRequest": True,
    "supportsTerminateRequest": True,
    "exceptionBreakpointFilters": EXCEPTION_FILTERS,
}
RequestHandler = Callable[[DapMessage], Awaitable[DapMessage]]


class DapSession:
    """Receives message bodies and sends messages. `ended` is set once the editor has disconnected.

    Args:
        options: from the command line; a launch can override them.
        trust_all: whether handlers of untrusted folders may run.
        send: sends a message.
        report: describes a run as text.
    """

    def __init__(
        self, options: Options, trusts: bool, send: Callable[[DapMessage], None], report: RunReport
    ) -> None:
        self._options, self._trusts, self._send = options, trusts, send
        self._number = 0
        self._first_line = 1  # 0 or 1, as the editor counts
        self._tasks: set[asyncio.Task[None]] = set()
        self._lines = EditorBreakpoints()
        self._debugger = Debugger(begins=False, bound=self._bound, logged=self._logged)
        self._seen = StopInspector(self._debugger)
        self._running = DebuggedRun(self._event, self._debugger, self._seen, self._lines, report)
        self._bench: Workbench | None = None
        self._configured = asyncio.Event()
        self._run: asyncio.Task[None] | None = None
        self.over = asyncio.Event()
        self._requests: dict[str, RequestHandler] = {
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
        """Start to answer a message. Requests are started in the order in which they arrive."""
        try:
            message = decode_message(body)
        except ValueError as error:
            self._running.print(f"A message could not be read: {error}.\n", "stderr")
            return
        if message.get("type") == "request":
            task = asyncio.create_task(self._respond(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel the run and wait until its workers have ended. Can be called repeatedly."""
        self._running.cancel()
        if self._run is not None:
            if not self._configured.is_set():
                self._run.cancel()
            with suppress(asyncio.CancelledError):
                await self._run
        bench, self._bench = self._bench, None
        if bench is not None:
            await bench.close()

    async def _respond(self, request: DapMessage) -> None:
        command, given = str(request.get("command")), request.get("arguments")
        answer = self._requests.get(command)
        response: DapMessage = {"type": "response", "request_seq": request["seq"], "command": command}
        try:
            if answer is None:
                raise Refusal(f"The request {one_line(command)!r} is not supported.")
            body = await answer(given if isinstance(given, dict) else {})
            self._tell({**response, "success": True, "body": body})
        except Refusal as refusal:
            self._tell({**response, "success": False, **failure_body(str(refusal))})
        except (KeyError, TypeError, ValueError) as error:
            what = f"The arguments of {one_line(command)} are not those of the protocol ({error!r})."
            self._tell({**response, "success": False, **failure_body(what)})
        if command == "initialize" and answer is not None:
            self._event("initialized", {})
        elif command == "disconnect":
            self.over.set()

    def _tell(self, message: DapMessage) -> None:
        self._number += 1
        self._send({"seq": self._number, **message})

    def _event(self, name: str, body: DapMessage) -> None:
        self._tell({"type": "event", "event": name, "body": body})

    # Before the run

    async def _initialize(self, asked: DapMessage) -> DapMessage:
        self._first_line = 1 if asked.get("linesStartAt1", True) else 0
        return CAPABILITIES

    async def _launch(self, asked: DapMessage) -> DapMessage:
        if self._bench is not None:
            raise Refusal("One event is fired for a session.", "Begin another one.")
        launch = parse_launch(asked, self._options)
        self._bench = bench = Workbench(launch.options, trust_all=self._trusts)
        for note in filter(None, (*unknown_argument_warnings(asked), bench.setup.notice, *bench.setup.notes)):
            self._running.print(f"{note}\n")
        bench.crew.warn_unprotected = lambda text: self._running.print(f"{text}\n", "important")
        view, plan = await plan_request(bench, launch.what, launch.wish)
        left = skipped_hook_reasons(view, plan, launch.wish.only)
        if not plan.calls:
            raise Refusal(" ".join(left) or no_handler_reasons(plan))
        for sentence in left:
            self._running.print(f"{sentence}\n", "important")
        self._debugger.begins = launch.begins
        self._run = asyncio.create_task(self._fire(bench, view, plan, launch))
        return {}

    async def _fire(self, bench: Workbench, view: Snapshot, plan: Plan, launch: Launch) -> None:
        await self._configured.wait()
        try:
            await self._running.fire(bench, view, plan, sandbox=launch.sandbox, debugs=launch.debugs)
        except OSError as error:
            self._running.print(
                f"Cannot make copies for the sandbox: {error}. Nothing was fired.\n", "stderr"
            )
            self._event("exited", {"exitCode": 1})
        self._event("terminated", {})

    async def _set_breakpoints(self, asked: DapMessage) -> DapMessage:
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

    def _placed(self, told: DapMessage) -> DapMessage:
        return {**told, "line": self._line(told["line"])}

    def _line(self, line: int) -> int:
        return line - 1 + self._first_line

    async def _set_exception_breakpoints(self, asked: DapMessage) -> DapMessage:
        wanted = asked["filters"]
        await self._debugger.stop_at(
            "raised" if "raised" in wanted else "leaving" if "leaving" in wanted else "none"
        )
        return {}

    async def _configuration_done(self, _: DapMessage) -> DapMessage:
        self._configured.set()
        return {}

    # While a handler is stopped

    async def _threads(self, _: DapMessage) -> DapMessage:
        return {"threads": [{"id": one.number, "name": one.name} for one in self._running.threads.open]}

    async def _stack_trace(self, asked: DapMessage) -> DapMessage:
        self._check(asked)
        stop = await self._seen.present()
        first, most = int(asked.get("startFrame") or 0), int(asked.get("levels") or 0)
        frames = list(enumerate(stop.frames))[::-1][first:]
        told = [self._frame(place, frame) for place, frame in (frames[:most] if most else frames)]
        return {"stackFrames": told, "totalFrames": len(stop.frames)}

    def _frame(self, place: int, frame: StackFrame) -> DapMessage:
        return {
            "id": self._seen.number_of(place),
            "name": one_line(frame.function) or "(no name)",
            "line": self._line(frame.line),
            "column": self._first_line,
            "source": {"name": one_line(Path(frame.file).name), "path": frame.file},
        }

    async def _scopes(self, asked: DapMessage) -> DapMessage:
        spot = self._seen.spot(asked["frameId"])
        reference = self._seen.number_of(spot.frame)
        scope = {"name": "Variables", "presentationHint": "locals", "variablesReference": reference}
        return {"scopes": [{**scope, "expensive": False}]}

    async def _variables(self, asked: DapMessage) -> DapMessage:
        members = await self._seen.members(self._seen.spot(asked["variablesReference"]))
        first, most = int(asked.get("start") or 0), int(asked.get("count") or 0)
        return {"variables": members[first : first + most if most else None]}

    async def _evaluate(self, asked: DapMessage) -> DapMessage:
        frame = asked.get("frameId")
        stop = await self._seen.evaluated(
            str(asked["expression"]), None if frame is None else self._seen.spot(frame).frame
        )
        if stop.failed:
            raise Refusal(printable(stop.said or ""))
        return {"result": printable(stop.said or ""), "variablesReference": 0}

    async def _exception_info(self, asked: DapMessage) -> DapMessage:
        self._check(asked)
        error = printable((await self._seen.present()).error or "")
        kind = error.partition(":")[0]
        return {"exceptionId": kind or "none", "description": error, "breakMode": "unhandled"}

    async def _continue(self, asked: DapMessage) -> DapMessage:
        await self._step(asked, self._debugger.go_on)
        return {"allThreadsContinued": False}

    async def _step(self, asked: DapMessage, word: Callable[[], Awaitable[None]]) -> DapMessage:
        self._check(asked)
        await self._seen.go(word)
        return {}

    def _check(self, asked: DapMessage) -> None:
        standing = self._running.standing
        if standing is None or asked["threadId"] != standing.number:
            raise Refusal("That handler does not stand.")

    async def _pause(self, _: DapMessage) -> DapMessage:
        await self._debugger.pause()
        return {}

    async def _terminate(self, _: DapMessage) -> DapMessage:
        self._running.cancel()
        return {}

    async def _disconnect(self, _: DapMessage) -> DapMessage:
        await self.close()
        return {}


READ_SIZE = 65536
END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve_editor(options: Options, *, trusts: bool, report: RunReport) -> str:
    """Serve the editor until it disconnects or its input ends.

    Returns why the session could not continue; empty if it ended normally.
    """
    out = os.dup(1)
    os.dup2(2, 1)  # output of this process must not mix with the frames
    try:
        return asyncio.run(_serve_editor(options, trusts, report, out))
    finally:
        os.close(out)


async def _serve_editor(options: Options, trusts: bool, report: RunReport, out: int) -> str:
    loop, gone, why = asyncio.get_running_loop(), asyncio.Event(), ""

    def send(message: DapMessage) -> None:
        frame = memoryview(encode_message(message))
        try:
            while frame:
                frame = frame[os.write(out, frame) :]
        except OSError:  # the editor has closed its end
            gone.set()

    session, frames = DapSession(options, trusts, send, report), FrameReader()

    def heard(data: bytes) -> None:
        nonlocal why
        try:
            for body in frames.feed(data) if data and not gone.is_set() else ():
                session.hear(body)
        except InvalidFrame as garbled:
            why = str(garbled)
        if why or not data:
            gone.set()

    for number in END_SIGNALS:
        loop.add_signal_handler(number, gone.set)
    threading.Thread(target=_read_input, args=(loop, heard), daemon=True).start()
    waits = [asyncio.ensure_future(event.wait()) for event in (gone, session.over)]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for waiting in waits:
        waiting.cancel()
    await session.close()
    return why


def _read_input(loop: asyncio.AbstractEventLoop, heard: Callable[[bytes], None]) -> None:
    """Read standard input in a thread: it may be a pipe, a socket or a file."""
    data = b"\0"
    while data:
        try:
            data = os.read(sys.stdin.fileno(), READ_SIZE)
        except OSError:
            data = b""
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(heard, data)

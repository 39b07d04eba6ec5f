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
from hookscope.app.trust_requests import cannot_run_messages, untrusted_messages, waiting_for_trust
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.fire_request import plan_request
from hookscope.integrations.dap.debugged_run import (
    DebuggedRun,
    Launch,
    RunReport,
    parse_launch,
    unknown_argument_warnings,
)
from hookscope.integrations.dap.framing import (
    DapMessage,
    FrameReader,
    InvalidFrame,
    decode_message,
    encode_message,
)
from hookscope.integrations.dap.inspection import EditorBreakpoints, StopInspector
from hookscope.model.failure import Refusal
from hookscope.model.run import Plan
from hookscope.model.text import one_line, printable, shell_path
from hookscope.runtime.debugger import Bound, Debugger, Logged, StackFrame


def failure_body(sentence: str) -> DapMessage:
    """Return the members of a failed response whose message is `sentence`."""
    sentence = printable(sentence)
    # As a variable, because the protocol expands braces in a format.
    error = {"id": 1, "format": "{_sentence}", "variables": {"_sentence": sentence}, "showUser": True}
    return {"message": sentence, "body": {"error": error}}


def skipped_hook_reasons(view: Snapshot, plan: Plan, only: str | None) -> list[str]:
    """Return a sentence for each hook that should run and cannot."""
    waiting = untrusted_messages(waiting_for_trust(view, plan), view.host.machine)
    return [*waiting, *cannot_run_messages(view, plan, only=only)]


def no_handler_reasons(plan: Plan) -> str:
    """Explain why no handler is called, with the reasons of the subscribed hooks."""
    key = one_line(plan.event.key)
    listening = [f"{item.name}: {item.reason}" for item in plan.not_run if item.subscribed]
    reasons = f" {'; '.join(map(one_line, listening[:5]))}." if listening else ""
    plan_command = f"`hookscope plan {shell_path(key)}`"
    return f"No handler runs at {key}.{reasons} {plan_command} shows why each hook does not run."


EXCEPTION_FILTERS = [
    {
        "filter": "leaving",
        "label": "Errors that leave a handler",
        "description": "Stops where the error was thrown, and shows the variables at that point.",
        "default": True,
    },
    {
        "filter": "raised",
        "label": "All errors in handlers",
        "description": "Also stops at errors that the handler catches.",
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
    "supportsSetVariable": True,
    "supportsCompletionsRequest": True,
    "completionTriggerCharacters": ["."],
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
        self, options: Options, trust_all: bool, send: Callable[[DapMessage], None], report: RunReport
    ) -> None:
        self._options, self._trust_all, self._send = options, trust_all, send
        self._last_seq = 0
        self._first_line = self._first_column = 1  # 0 or 1, as the editor counts
        self._tasks: set[asyncio.Task[None]] = set()
        self._breakpoints = EditorBreakpoints()
        self._debugger = Debugger(stop_at_start=False, on_bound=self._on_bound, on_logged=self._on_logged)
        self._inspector = StopInspector(self._debugger)
        self._debugged_run = DebuggedRun(
            self._send_event, self._debugger, self._inspector, self._breakpoints, report
        )
        self._bench: Workbench | None = None
        self._configured = asyncio.Event()
        self._run_task: asyncio.Task[None] | None = None
        self.ended = asyncio.Event()
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
            "setVariable": self._set_variable,
            "completions": self._completions,
            "exceptionInfo": self._exception_info,
            "continue": self._continue,
            "next": lambda request: self._step(request, self._debugger.over),
            "stepIn": lambda request: self._step(request, self._debugger.into),
            "stepOut": lambda request: self._step(request, self._debugger.out),
            "pause": self._pause,
            "terminate": self._terminate,
            "disconnect": self._disconnect,
        }

    def receive(self, body: bytes) -> None:
        """Start to answer a message. Requests are started in the order in which they arrive."""
        try:
            message = decode_message(body)
        except ValueError as error:
            self._debugged_run.print(f"A message could not be read: {error}.\n", "stderr")
            return
        if message.get("type") == "request":
            task = asyncio.create_task(self._respond(message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Cancel the run and wait until its workers have ended. Can be called repeatedly."""
        self._debugged_run.cancel()
        if self._run_task is not None:
            if not self._configured.is_set():
                self._run_task.cancel()
            with suppress(asyncio.CancelledError):
                await self._run_task
        bench, self._bench = self._bench, None
        if bench is not None:
            await bench.close()

    async def _respond(self, request: DapMessage) -> None:
        command, arguments = str(request.get("command")), request.get("arguments")
        handler = self._requests.get(command)
        response: DapMessage = {"type": "response", "request_seq": request["seq"], "command": command}
        try:
            if handler is None:
                raise Refusal(f"The request {one_line(command)!r} is not supported.")
            body = await handler(arguments if isinstance(arguments, dict) else {})
            self._send_message({**response, "success": True, "body": body})
        except Refusal as refusal:
            self._send_message({**response, "success": False, **failure_body(str(refusal))})
        except (KeyError, TypeError, ValueError) as error:
            sentence = f"The arguments of {one_line(command)} do not follow the protocol ({error!r})."
            self._send_message({**response, "success": False, **failure_body(sentence)})
        if command == "initialize" and handler is not None:
            self._send_event("initialized", {})
        elif command == "disconnect":
            self.ended.set()

    def _send_message(self, message: DapMessage) -> None:
        self._last_seq += 1
        self._send({"seq": self._last_seq, **message})

    def _send_event(self, name: str, body: DapMessage) -> None:
        self._send_message({"type": "event", "event": name, "body": body})

    # Before the run

    async def _initialize(self, arguments: DapMessage) -> DapMessage:
        self._first_line = 1 if arguments.get("linesStartAt1", True) else 0
        self._first_column = 1 if arguments.get("columnsStartAt1", True) else 0
        self._inspector.shows_types = bool(arguments.get("supportsVariableType"))
        return CAPABILITIES

    async def _launch(self, arguments: DapMessage) -> DapMessage:
        if self._bench is not None:
            raise Refusal("A session fires only one event.", "Start another session.")
        launch = parse_launch(arguments, self._options)
        self._bench = bench = Workbench(launch.options, trust_all=self._trust_all)
        for note in filter(
            None, (*unknown_argument_warnings(arguments), bench.setup.notice, *bench.setup.notes)
        ):
            self._debugged_run.print(f"{note}\n")
        bench.worker_pools.warn_unprotected = lambda text: self._debugged_run.print(f"{text}\n", "important")
        view, plan = await plan_request(bench, launch.event, launch.request)
        reasons = skipped_hook_reasons(view, plan, launch.request.only)
        if not plan.calls:
            raise Refusal(" ".join(reasons) or no_handler_reasons(plan))
        for sentence in reasons:
            self._debugged_run.print(f"{sentence}\n", "important")
        self._debugger.stop_at_start = launch.stop_on_entry
        self._run_task = asyncio.create_task(self._fire(bench, view, plan, launch))
        return {}

    async def _fire(self, bench: Workbench, view: Snapshot, plan: Plan, launch: Launch) -> None:
        await self._configured.wait()
        try:
            await self._debugged_run.fire(bench, view, plan, sandbox=launch.sandbox, debug=launch.debug)
        except OSError as error:
            self._debugged_run.print(
                f"Cannot make copies for the sandbox: {error}. Nothing was fired.\n", "stderr"
            )
            self._send_event("exited", {"exitCode": 1})
        self._send_event("terminated", {})

    async def _set_breakpoints(self, arguments: DapMessage) -> DapMessage:
        file = arguments["source"].get("path")
        points = arguments.get("breakpoints") or []
        if not isinstance(file, str):
            raise Refusal("Breakpoints are set in files: the source has no path.")
        requests = [(int(point["line"]) - self._first_line + 1, point) for point in points]
        documents, valid = self._breakpoints.replace(file, requests)
        await self._debugger.name_lines(file, valid)
        return {"breakpoints": [self._with_editor_line(point) for point in documents]}

    def _on_bound(self, bound: Bound) -> None:
        for point in self._breakpoints.newly_bound(bound):
            self._send_event("breakpoint", {"reason": "changed", "breakpoint": self._with_editor_line(point)})

    def _on_logged(self, logged: Logged) -> None:
        self._debugged_run.print_logged(logged, self._editor_line(logged.line))

    def _with_editor_line(self, breakpoint_document: DapMessage) -> DapMessage:
        return {**breakpoint_document, "line": self._editor_line(breakpoint_document["line"])}

    def _editor_line(self, line: int) -> int:
        return line - 1 + self._first_line

    async def _set_exception_breakpoints(self, arguments: DapMessage) -> DapMessage:
        filters = arguments["filters"]
        await self._debugger.stop_at_errors(
            "raised" if "raised" in filters else "leaving" if "leaving" in filters else "none"
        )
        return {}

    async def _configuration_done(self, _: DapMessage) -> DapMessage:
        self._configured.set()
        return {}

    # While a handler is stopped

    async def _threads(self, _: DapMessage) -> DapMessage:
        return {
            "threads": [
                {"id": thread.number, "name": thread.name} for thread in self._debugged_run.threads.running
            ]
        }

    async def _stack_trace(self, arguments: DapMessage) -> DapMessage:
        self._check_thread(arguments)
        stop = await self._inspector.current_stop()
        first, count = int(arguments.get("startFrame") or 0), int(arguments.get("levels") or 0)
        frames = list(enumerate(stop.frames))[::-1][first:]
        shown = [self._frame(index, frame) for index, frame in (frames[:count] if count else frames)]
        return {"stackFrames": shown, "totalFrames": len(stop.frames)}

    def _frame(self, index: int, frame: StackFrame) -> DapMessage:
        return {
            "id": self._inspector.reference_for(index),
            "name": one_line(frame.function) or "(no name)",
            "line": self._editor_line(frame.line),
            "column": self._first_line,
            "source": {"name": one_line(Path(frame.file).name), "path": frame.file},
        }

    async def _scopes(self, arguments: DapMessage) -> DapMessage:
        frame = self._inspector.value_of(arguments["frameId"]).frame
        reference, module = (
            self._inspector.reference_for(frame),
            self._inspector.reference_for(frame, of_module=True),
        )
        scope = {"name": "Variables", "presentationHint": "locals", "variablesReference": reference}
        of_module = {"name": "Globals", "presentationHint": "globals", "variablesReference": module}
        return {"scopes": [{**scope, "expensive": False}, {**of_module, "expensive": True}]}

    async def _variables(self, arguments: DapMessage) -> DapMessage:
        members = await self._inspector.variables(self._inspector.value_of(arguments["variablesReference"]))
        first, count = int(arguments.get("start") or 0), int(arguments.get("count") or 0)
        return {"variables": members[first : first + count if count else None]}

    async def _evaluate(self, arguments: DapMessage) -> DapMessage:
        frame = arguments.get("frameId")
        stop = await self._inspector.evaluate(
            str(arguments["expression"]), None if frame is None else self._inspector.value_of(frame).frame
        )
        if stop.failed:
            raise Refusal(printable(stop.said or ""))
        return {"result": printable(stop.said or ""), "variablesReference": 0}

    async def _set_variable(self, arguments: DapMessage) -> DapMessage:
        holder = self._inspector.value_of(arguments["variablesReference"])
        variable = await self._inspector.set_variable(holder, str(arguments["name"]), str(arguments["value"]))
        return {name: value for name, value in variable.items() if name not in ("name", "evaluateName")}

    async def _completions(self, arguments: DapMessage) -> DapMessage:
        frame, line = (
            arguments.get("frameId"),
            int(arguments.get("line", self._first_line)) - self._first_line,
        )
        text = [*str(arguments["text"]).split("\n"), ""][line][
            : int(arguments["column"]) - self._first_column
        ]
        innermost = len((await self._inspector.current_stop()).frames) - 1
        index = innermost if frame is None else self._inspector.value_of(frame).frame
        names, begun = await self._inspector.completions(text, index)
        start = len(text) - begun + self._first_column
        return {"targets": [{"label": name, "start": start, "length": begun} for name in names]}

    async def _exception_info(self, arguments: DapMessage) -> DapMessage:
        self._check_thread(arguments)
        error = printable((await self._inspector.current_stop()).error or "")
        kind = error.partition(":")[0]
        return {"exceptionId": kind or "none", "description": error, "breakMode": "unhandled"}

    async def _continue(self, arguments: DapMessage) -> DapMessage:
        await self._step(arguments, self._debugger.go_on)
        return {"allThreadsContinued": False}

    async def _step(self, arguments: DapMessage, command: Callable[[], Awaitable[None]]) -> DapMessage:
        self._check_thread(arguments)
        await self._inspector.resume(command)
        return {}

    def _check_thread(self, arguments: DapMessage) -> None:
        stopped = self._debugged_run.stopped_thread
        if stopped is None or arguments["threadId"] != stopped.number:
            raise Refusal("That handler is not stopped.")

    async def _pause(self, _: DapMessage) -> DapMessage:
        await self._debugger.pause()
        return {}

    async def _terminate(self, _: DapMessage) -> DapMessage:
        self._debugged_run.cancel()
        return {}

    async def _disconnect(self, _: DapMessage) -> DapMessage:
        await self.close()
        return {}


READ_SIZE = 65536
END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def serve_editor(options: Options, *, trust_all: bool, report: RunReport) -> str:
    """Serve the editor until it disconnects or its input ends.

    Returns why the session could not continue; empty if it ended normally.
    """
    out = os.dup(1)
    os.dup2(2, 1)  # output of this process must not mix with the frames
    try:
        return asyncio.run(_serve_editor(options, trust_all, report, out))
    finally:
        os.close(out)


async def _serve_editor(options: Options, trust_all: bool, report: RunReport, out: int) -> str:
    loop, disconnected, why = asyncio.get_running_loop(), asyncio.Event(), ""

    def send(message: DapMessage) -> None:
        frame = memoryview(encode_message(message))
        try:
            while frame:
                frame = frame[os.write(out, frame) :]
        except OSError:  # the editor has closed its end
            disconnected.set()

    session, frames = DapSession(options, trust_all, send, report), FrameReader()

    def on_input(data: bytes) -> None:
        nonlocal why
        try:
            for body in frames.feed(data) if data and not disconnected.is_set() else ():
                session.receive(body)
        except InvalidFrame as error:
            why = str(error)
        if why or not data:
            disconnected.set()

    for number in END_SIGNALS:
        loop.add_signal_handler(number, disconnected.set)
    threading.Thread(target=_read_input, args=(loop, on_input), daemon=True).start()
    waiters = [asyncio.ensure_future(event.wait()) for event in (disconnected, session.ended)]
    await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
    for waiter in waiters:
        waiter.cancel()
    await session.close()
    return why


def _read_input(loop: asyncio.AbstractEventLoop, receive: Callable[[bytes], None]) -> None:
    """Read standard input in a thread: it may be a pipe, a socket or a file."""
    data = b"\0"
    while data:
        try:
            data = os.read(sys.stdin.fileno(), READ_SIZE)
        except OSError:
            data = b""
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(receive, data)

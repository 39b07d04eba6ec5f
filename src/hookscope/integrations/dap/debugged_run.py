"""A run under the debugger, reported to the editor: one protocol thread for each handler."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.integrations.dap.breakpoints import EditorBreakpoints
from hookscope.integrations.dap.framing import DapMessage
from hookscope.integrations.dap.inspection import StopInspector
from hookscope.model.run import Plan, Result, Run, Started
from hookscope.model.text import one_line, printable
from hookscope.runtime.debugger import Debugger, Logged, Stop
from hookscope.runtime.firing import Firing
from hookscope.values import dataclass

LOADING_NAME = "a module that is loaded"


@dataclass(slots=True)
class HandlerThread:
    """A running handler, as a thread of the protocol."""

    number: int
    handler: str
    sent_output: tuple[str, str] = ("", "")  # standard output and error that the editor has got

    @property
    def name(self) -> str:
        """The thread's name in the editor."""
        return one_line(self.handler) or LOADING_NAME

    def new_output(self, stdout: str, stderr: str) -> Iterator[tuple[str, str]]:
        """Yield output that was not sent yet, as ("stdout" or "stderr", text)."""
        for category, text, sent in zip(
            ("stdout", "stderr"), (stdout, stderr), self.sent_output, strict=True
        ):
            new = text[len(sent) :] if text.startswith(sent) else text
            if new:
                yield category, new
        self.sent_output = stdout, stderr


class HandlerThreads:
    """The handlers that are running. Several can have the same name."""

    def __init__(self) -> None:
        self._last_number = 0
        self.running: list[HandlerThread] = []

    def start(self, handler: str) -> HandlerThread:
        """Add a thread for this handler."""
        self._last_number += 1
        thread = HandlerThread(self._last_number, handler)
        self.running.append(thread)
        return thread

    def find(self, handler: str) -> HandlerThread | None:
        """Return the first running thread of this handler, or None."""
        return next((thread for thread in self.running if thread.handler == handler), None)

    def end(self, thread: HandlerThread) -> None:
        """Remove a thread."""
        self.running = [other for other in self.running if other is not thread]


SendEvent = Callable[[str, DapMessage], None]  # sends a protocol event by name
RunReport = Callable[[Run, Plan, Snapshot], str]  # describes a run as text

STOP_REASONS = {"begin": "entry", "line": "breakpoint", "error": "exception"}
STOP_DESCRIPTIONS = {
    "begin": "Stands at its first line",
    "breakpoint": "Stands at a breakpoint of its own",
    "line": "Stands at a breakpoint",
    "step": "Stands at the next line",
    "pause": "Was paused",
    "error": "Stands where an error came",
}


class DebuggedRun:
    """Reports to an editor when handlers start, stop, print and end, then the result of the run."""

    def __init__(
        self,
        send_event: SendEvent,
        debugger: Debugger,
        inspector: StopInspector,
        breakpoints: EditorBreakpoints,
        report: RunReport,
    ) -> None:
        self._send_event, self._debugger, self._inspector, self._breakpoints = (
            send_event,
            debugger,
            inspector,
            breakpoints,
        )
        self._report = report
        self._firing: Firing | None = None
        self.threads = HandlerThreads()
        self.stopped_thread: HandlerThread | None = None

    async def fire(self, bench: Workbench, view: Snapshot, plan: Plan, *, sandbox: bool, debug: bool) -> None:
        """Fire the plan and wait for the end of the run.

        Raises OSError if the copies for the sandbox cannot be made.
        """
        if debug:
            self._firing = await bench.fire_debugged(view, plan, self._debugger, sandbox=sandbox)
        else:
            self._firing = await bench.fire_sandboxed(view, plan) if sandbox else bench.fire(view, plan)
        stops = asyncio.create_task(self._watch_stops())
        try:
            async for step in self._firing:
                if isinstance(step, Started):
                    self._report_start(step.call.name)
                elif isinstance(step, Result):
                    self._report_end(step)
            run = await self._firing
        finally:
            self._inspector.run_ended.set()
            stops.cancel()
            with suppress(asyncio.CancelledError):
                await stops
        self.print(f"\n{self._report(run, plan, view)}\n")
        succeeded = not run.failed and not run.cancelled and run.ending.failure is None
        self._send_event("exited", {"exitCode": 0 if succeeded else 1})

    def cancel(self) -> None:
        """Cancel the run; `fire` then reports its end."""
        if self._firing is not None:
            self._firing.cancel()

    def print(self, text: str, category: str = "console", **fields: object) -> None:
        """Show a text in the editor's debug console."""
        self._send_event("output", {"category": category, "output": printable(text), **fields})

    async def _watch_stops(self) -> None:
        previous: Stop | None = None
        while True:
            stop = await self._debugger.stopped(previous)
            if previous is None or stop.number != previous.number:
                self._report_stop(stop)
            previous = stop

    def _report_stop(self, stop: Stop) -> None:
        thread = self.threads.find(stop.who) or self._report_start(stop.who)
        self.stopped_thread = thread
        self._send_output(thread, *stop.printed)
        self._inspector.set_stop(stop)
        body: DapMessage = {
            "reason": STOP_REASONS.get(stop.why, stop.why),
            "description": STOP_DESCRIPTIONS[stop.why],
            "threadId": thread.number,
            "allThreadsStopped": False,
        }
        if (text := stop.error or stop.note) is not None:
            body["text"] = printable(text)
        if stop.note is not None and self._breakpoints.is_new_condition_error(
            stop.frame.file, stop.frame.line
        ):
            place = f"{Path(stop.frame.file).name}:{stop.frame.line}"
            self.print(f"It stands at {place}, since {stop.note}.\n", "important")
        if stop.why == "line":
            body["hitBreakpointIds"] = self._breakpoints.numbers_at(stop.frame.file, stop.frame.line)
        self._send_event("stopped", body)

    def print_logged(self, logged: Logged, line: int) -> None:
        """Print the text of a log point. `line` is the line number as the editor counts."""
        source = {"name": one_line(Path(logged.file).name), "path": logged.file}
        self.print(f"{logged.text}\n", source=source, line=line)

    def _report_start(self, handler: str) -> HandlerThread:
        thread = self.threads.start(handler)
        self._send_event("thread", {"reason": "started", "threadId": thread.number})
        return thread

    def _report_end(self, result: Result) -> None:
        thread = self.threads.find(result.call.name) or self._report_start(result.call.name)
        self._send_output(thread, result.stdout, result.stderr)
        self.threads.end(thread)
        self._send_event("thread", {"reason": "exited", "threadId": thread.number})

    def _send_output(self, thread: HandlerThread, stdout: str, stderr: str) -> None:
        for category, text in thread.new_output(stdout, stderr):
            self.print(text, category)

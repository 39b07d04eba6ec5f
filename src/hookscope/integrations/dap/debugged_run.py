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
    who: str
    printed: tuple[str, str] = ("", "")  # standard output and error that the editor has got

    @property
    def name(self) -> str:
        """The thread's name in the editor."""
        return one_line(self.who) or LOADING_NAME

    def news(self, stdout: str, stderr: str) -> Iterator[tuple[str, str]]:
        """Yield output that was not sent yet, as ("stdout" or "stderr", text)."""
        for category, text, told in zip(("stdout", "stderr"), (stdout, stderr), self.printed, strict=True):
            rest = text[len(told) :] if text.startswith(told) else text
            if rest:
                yield category, rest
        self.printed = stdout, stderr


class HandlerThreads:
    """The handlers that are running. Several can have the same name."""

    def __init__(self) -> None:
        self._numbers = 0
        self.open: list[HandlerThread] = []

    def begin(self, who: str) -> HandlerThread:
        """Add a thread for this handler."""
        self._numbers += 1
        thread = HandlerThread(self._numbers, who)
        self.open.append(thread)
        return thread

    def of(self, who: str) -> HandlerThread | None:
        """Return the first running thread of this handler, or None."""
        return next((thread for thread in self.open if thread.who == who), None)

    def end(self, thread: HandlerThread) -> None:
        """Remove a thread."""
        self.open = [known for known in self.open if known is not thread]


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
        tell: SendEvent,
        debugger: Debugger,
        seen: StopInspector,
        lines: EditorBreakpoints,
        report: RunReport,
    ) -> None:
        self._tell, self._debugger, self._seen, self._lines = tell, debugger, seen, lines
        self._report = report
        self._firing: Firing | None = None
        self.threads = HandlerThreads()
        self.standing: HandlerThread | None = None

    async def fire(
        self, bench: Workbench, view: Snapshot, plan: Plan, *, sandbox: bool, debugs: bool
    ) -> None:
        """Fire the plan and wait for the end of the run.

        Raises OSError if the copies for the sandbox cannot be made.
        """
        if debugs:
            self._firing = await bench.fire_debugged(view, plan, self._debugger, sandbox=sandbox)
        else:
            self._firing = await bench.fire_guarded(view, plan) if sandbox else bench.fire(view, plan)
        stops = asyncio.create_task(self._stops())
        try:
            async for step in self._firing:
                if isinstance(step, Started):
                    self._began(step.call.name)
                elif isinstance(step, Result):
                    self._ended(step)
            run = await self._firing
        finally:
            self._seen.over.set()
            stops.cancel()
            with suppress(asyncio.CancelledError):
                await stops
        self.print(f"\n{self._report(run, plan, view)}\n")
        well = not run.failed and not run.cancelled and run.ending.failure is None
        self._tell("exited", {"exitCode": 0 if well else 1})

    def cancel(self) -> None:
        """Cancel the run; `fire` then reports its end."""
        if self._firing is not None:
            self._firing.cancel()

    def print(self, text: str, category: str = "console", **more: object) -> None:
        """Show a text in the editor's debug console."""
        self._tell("output", {"category": category, "output": printable(text), **more})

    async def _stops(self) -> None:
        known: Stop | None = None
        while True:
            stop = await self._debugger.stopped(known)
            if known is None or stop.number != known.number:
                self._stands(stop)
            known = stop

    def _stands(self, stop: Stop) -> None:
        thread = self.threads.of(stop.who) or self._began(stop.who)
        self.standing = thread
        self._printed(thread, *stop.printed)
        self._seen.show(stop)
        told: DapMessage = {
            "reason": STOP_REASONS.get(stop.why, stop.why),
            "description": STOP_DESCRIPTIONS[stop.why],
            "threadId": thread.number,
            "allThreadsStopped": False,
        }
        if (text := stop.error or stop.note) is not None:
            told["text"] = printable(text)
        if stop.note is not None and self._lines.doubts(stop.frame.file, stop.frame.line):
            place = f"{Path(stop.frame.file).name}:{stop.frame.line}"
            self.print(f"It stands at {place}, since {stop.note}.\n", "important")
        if stop.why == "line":
            told["hitBreakpointIds"] = self._lines.at(stop.frame.file, stop.frame.line)
        self._tell("stopped", told)

    def logged(self, news: Logged, line: int) -> None:
        """Print the text of a log point. `line` is the line number as the editor counts."""
        source = {"name": one_line(Path(news.file).name), "path": news.file}
        self.print(f"{news.text}\n", source=source, line=line)

    def _began(self, who: str) -> HandlerThread:
        thread = self.threads.begin(who)
        self._tell("thread", {"reason": "started", "threadId": thread.number})
        return thread

    def _ended(self, result: Result) -> None:
        thread = self.threads.of(result.call.name) or self._began(result.call.name)
        self._printed(thread, result.stdout, result.stderr)
        self.threads.end(thread)
        self._tell("thread", {"reason": "exited", "threadId": thread.number})

    def _printed(self, thread: HandlerThread, stdout: str, stderr: str) -> None:
        for category, text in thread.news(stdout, stderr):
            self.print(text, category)

"""A run under the debugger, reported to the editor: one protocol thread for each handler."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hookscope.app.options import Options, with_given
from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.fire_request import FireRequest, RequestedEvent, parse_faults
from hookscope.host_options import BUNDLED, HOST_OPTIONS, PLATFORMS
from hookscope.integrations.dap.framing import DapMessage
from hookscope.integrations.dap.inspection import EditorBreakpoints, StopInspector
from hookscope.model.failure import Refusal
from hookscope.model.run import Plan, Result, Run, Started
from hookscope.model.text import nearest_word, one_line, printable
from hookscope.runtime.debugger import Debugger, Logged, Stop
from hookscope.runtime.firing import Firing
from hookscope.values import dataclass

LAUNCH_ARGUMENTS = (
    *("event", "session", "context", "ctx", "only", "except", "force", "break", "sandbox", "stopOnEntry"),
    *(option.argument for option in HOST_OPTIONS),
)
EDITOR_ARGUMENTS = (
    "name",
    "type",
    "request",
    "console",
    "presentation",
    "program",
    "cwd",
    "args",
    "noDebug",
    "trust",
)
EDITOR_PREFIX = "_"  # prefix of arguments that editors add for themselves


@dataclass(frozen=True, slots=True)
class Launch:
    """The event that an editor requests, and how to fire it."""

    event: RequestedEvent
    request: FireRequest
    options: Options
    sandbox: bool
    stop_on_entry: bool  # stop handlers at their first line
    debug: bool  # if False, nothing stops


def parse_launch(arguments: Mapping[str, Any], base: Options) -> Launch:
    """Return the launch that the arguments describe; omitted options come from `base`.

    Editors add arguments of their own, which are ignored. Raises Refusal.
    """
    if arguments.get("trust"):
        raise Refusal(
            "`trust` is not a launch argument: a launch.json may come with the files that it would trust.",
            "`hookscope trust DIR` allows a folder to run, `hookscope dap --trust` all of this session.",
        )
    typed = _LaunchArguments(arguments)
    event = typed.get("event", str, dict)
    if not event:
        raise Refusal("The launch arguments name no `event`.", 'Add "event": "command:new", for example.')
    request = FireRequest(
        session=typed.get("session", str),
        context=typed.get("context", dict),
        ctx=typed.get("ctx", dict),
        only=typed.get("only", str),
        excluded=typed.texts("except"),
        force=typed.get("force", bool) or False,
        faults=parse_faults(typed.texts("break")),
    )
    if request.force and request.only is None:
        raise Refusal("`force` calls one hook.", 'Name it: "only": "HOOK".')
    if request.only is not None and request.excluded:
        raise Refusal("`only` already excludes all other hooks.", "Use `only` or `except`.")
    if typed.get("os", str) not in (None, *PLATFORMS):
        raise Refusal(f"`os` must be one of {', '.join(PLATFORMS)}.")
    return Launch(
        event,
        request,
        _launch_options(typed, base),
        typed.get("sandbox", bool) or False,
        typed.get("stopOnEntry", bool) or False,
        not typed.get("noDebug", bool),
    )


def unknown_argument_warnings(arguments: Mapping[str, Any]) -> Iterator[str]:
    """Yield a warning for each unknown argument that looks like a misspelt one of ours."""
    for name in arguments:
        closest = (
            nearest_word(name, LAUNCH_ARGUMENTS)
            if name not in (*LAUNCH_ARGUMENTS, *EDITOR_ARGUMENTS) and not name.startswith(EDITOR_PREFIX)
            else None
        )
        if closest is not None:
            yield f"There is no launch argument `{one_line(name)}`: did you mean `{closest}`?"


class _LaunchArguments:
    """Launch arguments by name, checked for their type. None means omitted."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = arguments

    def get(self, name: str, *types: type) -> Any:
        value = self._arguments.get(name)
        if value is not None and type(value) not in types:
            words = {str: "a string", dict: "an object", bool: "true or false", list: "a list"}
            raise Refusal(
                f"The launch argument `{name}` needs {' or '.join(words[type_] for type_ in types)}."
            )
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.get(name, list, str)
        values = [values] if isinstance(values, str) else values or []
        if not all(isinstance(value, str) for value in values):
            raise Refusal(f"The launch argument `{name}` needs a list of strings.")
        return tuple(values)


ARGUMENT_TYPES: Mapping[str, type] = {"text": str, "path": str, "pairs": dict, "flag": bool}


def _launch_options(typed: _LaunchArguments, base: Options) -> Options:
    given = {option.name: typed.get(option.argument, ARGUMENT_TYPES[option.kind]) for option in HOST_OPTIONS}
    for option in HOST_OPTIONS:
        value = given[option.name]
        if option.kind == "path" and value is not None:
            given[option.name] = Path(value)
        elif option.kind == "pairs" and value is not None:
            given[option.name] = {str(name): str(text) for name, text in value.items()}
    trusted = base.bundled_trusted and given[BUNDLED.name] is None  # a launch.json must not grant trust
    return replace(with_given(base, given), bundled_trusted=trusted)


LOADING_NAME = "a module being loaded"


@dataclass(slots=True)
class HandlerThread:
    """A running handler, as a thread of the protocol."""

    number: int
    handler: str
    sent_output: tuple[str, str] = ("", "")  # standard output and error sent to the editor so far

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
    "begin": "Stopped at its first line",
    "breakpoint": "Stopped at a breakpoint in its code",
    "line": "Stopped at a breakpoint",
    "step": "Stopped at the next line",
    "pause": "Paused",
    "error": "Stopped at an error",
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
        """Fire the plan and await the end of the run. Raises OSError if sandbox copies cannot be made."""
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
            self.print(f"Stopped at {place}, because {stop.note}.\n", "important")
        if stop.why == "line":
            body["hitBreakpointIds"] = self._breakpoints.numbers_at(stop.frame.file, stop.frame.line)
        self._send_event("stopped", body)

    def print_logged(self, logged: Logged, line: int) -> None:
        """Print the text of a log point. `line` is the editor's line number."""
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

"""A run followed on the terminal: progress lines, step by step, or in the debugger."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from os.path import realpath
from pathlib import Path
from typing import Any

import click

from hookscope.app import json_documents
from hookscope.app.runs.breakpoints import breakpoint_files, breakpoints_of, matching_file, parse_breakpoint
from hookscope.cli.render import run_output
from hookscope.model.failure import Refusal
from hookscope.model.machine import Machine
from hookscope.model.run import Code, Paused, Plan, Result, Slow
from hookscope.model.text import one_line, printable
from hookscope.runtime.debugger import Bound, Debugger, Point, StackFrame, Stepper, Stop
from hookscope.runtime.firing import Firing

STEP_HELP = "enter runs it, s skips it, e shows its event, c runs it and all later ones, q ends the run"
STEP_KEYS = "enter, s, e, c, q"


async def stream_steps(firing: Firing, plan: Plan) -> None:
    """Print each step as a line of JSON."""
    async for step in firing:
        click.echo(json.dumps(json_documents.step_document(step, plan.delivers)))
        sys.stdout.flush()


async def warn_of_slow_handlers(firing: Firing) -> None:
    """Print a warning for each handler that takes long."""
    async for step in firing:
        if isinstance(step, Slow):
            until = f"; it is stopped at {step.limit:g} s" if step.limit is not None else ""
            click.echo(f"{one_line(step.call.name)} still runs after {step.after:g} s{until}.", err=True)


async def step_through(firing: Firing, stepper: Stepper, plan: Plan, machine: Machine) -> None:
    """Ask before each handler of a run. The end of the input cancels the run."""
    question: asyncio.Task[None] | None = None
    keys = STEP_HELP
    width, results = run_output.handler_column_width(plan.calls), list[Result]()
    try:
        async for step in firing:
            if isinstance(step, Result):
                results.append(step)
                handler_input = run_output.input_of_failed_handler(step, plan.event, results)
                _print_line("\n".join(run_output.result_lines(step, width, machine, handler_input)))
            elif isinstance(step, Paused):
                _print_line(_next_handler_text(step, plan, machine))
                question = _task_of_run(firing, _ask_step(step, keys, stepper, firing.cancel))
                keys = STEP_KEYS
    finally:
        if question is not None and question.cancel():
            _print_line("")  # ends the line of the unanswered question
        elif question is not None:
            question.result()  # raises its error


def _task_of_run(firing: Firing, asks: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """Start the task that asks the user. An error in it, as from a closed terminal, cancels the run."""

    def end(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            firing.cancel()

    task = asyncio.create_task(asks)
    task.add_done_callback(end)
    return task


def _next_handler_text(paused: Paused, plan: Plan, machine: Machine) -> str:
    call, calls = paused.call, plan.calls
    number = f"{calls.index(call) + 1} of {len(calls)}  " if call in calls else ""
    where = f"  {machine.short(call.target.path)}" if isinstance(call.target, Code) else ""
    also = "".join(f", {one_line(other.name)}" for other in paused.starting_together)
    together = " (at once)" if also else ""
    return f"\n▸ {number}{one_line(call.name)}{also}{together}{printable(where)}"


async def _ask_step(paused: Paused, keys: str, stepper: Stepper, cancel: Callable[[], object]) -> None:
    """Read keys until one of them decides whether the next handler runs."""
    while True:
        click.echo(f"  {keys}: ", err=True, nl=False)
        typed = await _read_step_line()
        answer = typed.strip().lower()
        match answer if typed else "q":
            case "":
                stepper.run_it()
            case "s":
                stepper.pass_over()
            case "c":
                stepper.run_all()
            case "q":
                cancel()
            case "e":
                _print_line(printable(json.dumps(paused.event, indent=2, ensure_ascii=False)))
                continue
            case _:
                keys = STEP_HELP
                continue
        return


async def _read_step_line() -> str:
    """Return the next line of standard input; empty at its end. Does not block the event loop."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline()


def _print_line(text: str) -> None:
    click.echo(text, err=True)


class NamedStops:
    """The debugger of a run, with typed breakpoints; without any, handlers stop at their first line."""

    def __init__(self, plan: Plan, machine: Machine) -> None:
        self.plan, self.machine = plan, machine
        self.debugger = Debugger(on_bound=self._on_bound)
        self._pending: dict[tuple[str, int], Point] = {}  # breakpoints not reached yet, by file and line

    async def set_breakpoints(self, texts: Sequence[str]) -> None:
        """Set breakpoints. Raises Refusal for a place that is not in this run."""
        if not texts or not self.plan.calls:
            return
        self.debugger.stop_at_start = False
        for file, points in breakpoints_of(texts, self.plan, self.machine).items():
            self._pending |= {_stop_key(file, point.line): point for point in points}
            await self.debugger.name_lines(str(file), points)

    def _on_bound(self, bound: Bound) -> None:
        """Record the lines at which the breakpoints of a file stop.

        A breakpoint on a line without code moves down to the next code, or has no effect.
        """
        problems = dict(bound.wrong)
        for line, bound_line in bound.lines:
            point = self._pending.get(_stop_key(bound.file, line))
            if point is None or bound_line == line:
                continue
            del self._pending[_stop_key(bound.file, line)]
            place = self._place(bound.file, line)
            if bound_line:
                self._pending[_stop_key(bound.file, bound_line)] = point
                sentence = f"{place} has no code: the breakpoint moved to line {bound_line}."
            else:
                why = problems.get(line, "there is no code at or below this line")
                sentence = f"The breakpoint at {place} has no effect: {why}."
            click.echo(printable(sentence), err=True)

    def mark_reached(self, stop: Stop) -> None:
        """Record that a handler has stopped at its breakpoint."""
        self._pending.pop(_stop_key(stop.frame.file, stop.frame.line), None)

    def unreached(self) -> Iterator[str]:
        """Yield a sentence for each breakpoint that no handler has reached."""
        for (file, line), point in self._pending.items():
            where = f" if {one_line(point.condition)}" if point.condition else ""
            why = ", or the condition was never true" if point.condition else ""
            yield f"Nothing stopped at {self._place(file, line)}{where}: no handler ran this line{why}."

    def _place(self, file: str, line: int) -> str:
        return f"{one_line(self.machine.short(Path(file)))}:{line}"


def _stop_key(file: str | Path, line: int) -> tuple[str, int]:
    """Return the key of a line. Links are resolved, since files can be named through them."""
    return realpath(file), line


CONTEXT_LINES = 2  # lines shown around a stop; `l` shows more
DEBUG_PROMPT = "debug> "
DEBUG_HELP = (
    "n next line, s into a call, o out of this function",
    "c continues to the next stop, r runs all without stops, q ends the run",
    "v shows variables, p EXPRESSION (or only EXPRESSION) evaluates, l shows more lines",
    "w shows the call stack, u and d move up and down in it",
    "b LINE or b FILE:LINE sets or removes a breakpoint, with `if EXPRESSION` a conditional one",
)
DEBUG_HELP_SHORT = "n s o c r q, p v l w u d b, ? explains"
STOP_REASONS = {
    "begin": "at its first line",
    "breakpoint": "at a breakpoint in its code",
    "line": "at your breakpoint",
    "pause": "paused",
    "step": "",
    "error": "",
}


async def debug_run(firing: Firing, stops: NamedStops) -> None:
    """Debug a run from stop to stop. The end of the input cancels the run."""
    prompt = _task_of_run(firing, _DebugPrompt(stops, firing.cancel).run())
    try:
        async for _ in firing:
            pass
    finally:
        prompt.cancel()
        with suppress(asyncio.CancelledError):
            await prompt
    for sentence in () if (await firing).cancelled else stops.unreached():
        _print_line(sentence)


class _DebugPrompt:
    """The debugger's prompt, from the first stop to the last."""

    def __init__(self, stops: NamedStops, cancel: Callable[[], object]) -> None:
        self._stops, self._debugger, self._cancel = stops, stops.debugger, cancel
        self._machine, self._files = stops.machine, breakpoint_files(stops.plan)
        self._shows_help = True
        self._last_command = ""  # an empty line repeats it

    async def run(self) -> None:
        """Show each stop and read commands, until the run has ended and this task is cancelled."""
        while True:
            stop = await self._debugger.stopped()
            self._stops.mark_reached(stop)
            if stop.said is not None:
                _print_line(printable(stop.said.rstrip("\n")) if stop.said else "")
            else:
                self._show(stop)
            while not await self._execute(stop, self._read_command()):
                pass

    def _show(self, stop: Stop) -> None:
        why = STOP_REASONS[stop.why] if stop.error is None else printable(stop.error)
        why = f"{why}: {printable(stop.note)}" if stop.note is not None else why
        if stop.error is None and stop.at < len(stop.frames) - 1:  # an outer frame is selected
            why = f"call {stop.at + 1} of {len(stop.frames)}"
        place = self._place(stop.frame)
        _print_line(f"\n▸ {one_line(stop.who)}  {place}{'  ' if why else ''}{why}")
        self._print_source(stop, CONTEXT_LINES)

    def _place(self, frame: StackFrame) -> str:
        within = f" in {frame.function}" if frame.function else ""
        return one_line(f"{self._machine.short(Path(frame.file))}:{frame.line}{within}")

    def _print_source(self, stop: Stop, around: int | None = None) -> None:
        at = stop.frame.line
        shown = [line for line in stop.lines if around is None or abs(line[0] - at) <= around]
        width = len(str(shown[-1][0])) if shown else 0
        for number, text in shown:
            mark = "→" if number == at else "●" if number in stop.named else " "
            _print_line(f"  {mark} {number:{width}} │ {printable(text.expandtabs(4))}".rstrip())

    def _read_command(self) -> str:
        """Read a command; `q` at the end of the input."""
        if self._shows_help:
            for line in DEBUG_HELP:
                _print_line(click.style(f"  {line}", dim=True) if sys.stderr.isatty() else f"  {line}")
            self._shows_help = False
        typed = _read_debug_line(DEBUG_PROMPT)
        if typed is None:
            return "q"
        self._last_command = typed.strip() or self._last_command
        return self._last_command

    async def _execute(self, stop: Stop, typed: str) -> bool:
        """Run a command. Return False if the handler is still stopped and the prompt asks again."""
        debugger = self._debugger
        command, _, rest = typed.partition(" ")
        match command, rest.strip():
            case "n", "":
                await debugger.over()
            case "s", "":
                await debugger.into()
            case "o", "":
                await debugger.out()
            case "c", "":
                await debugger.go_on()
            case "r", "":
                await debugger.run_all()
            case "q", "":
                self._cancel()
                await asyncio.Event().wait()
            case "u" | "d", "":
                await debugger.select_frame(stop.at + (1 if command == "d" else -1))
            case "b", place if place[:1] != "=":  # `b = …` assigns a variable
                return await self._toggle_breakpoint(place, stop)
            case "p", "":
                _print_line("  Type p EXPRESSION, or the expression alone.")
                return False
            case "p", text if text[0] != "=":
                await self._evaluate(text)
            case "l" | "v" | "w" | "?" | "", "":
                self._show_details(stop, command)
                return False
            case _:
                await self._evaluate(typed)
        return True

    def _show_details(self, stop: Stop, command: str) -> None:
        if command == "l":
            self._print_source(stop)
        elif command == "v":
            for name, text in stop.variables:
                _print_line(f"  {one_line(name)} = {one_line(text)}")
            if not stop.variables:
                _print_line("  no variables here")
        elif command == "w":
            for number, frame in enumerate(stop.frames):
                mark = "→" if number == stop.at else " "
                _print_line(f"  {mark} {self._place(frame)}")
        elif command:
            self._shows_help = True
        else:
            _print_line(f"  {DEBUG_HELP_SHORT}")

    async def _toggle_breakpoint(self, place: str, stop: Stop) -> bool:
        """Set or remove a breakpoint. Return False if the place is invalid."""
        line = parse_breakpoint(place)
        try:
            if line is None:
                raise Refusal("Type b LINE or b FILE:LINE, optionally followed by `if EXPRESSION`.")
            file = str(matching_file(line, self._files, self._machine)) if line.file else ""
            if file and _is_python(file) != _is_python(
                stop.frame.file
            ):  # a worker knows only files of its own language
                raise Refusal(
                    f"`{one_line(line.file)}` runs in another worker than the stopped handler.",
                    f"Set the breakpoint while a handler of that worker is stopped, or before the run: "
                    f"--stop-at {one_line(line.file)}:{line.line}.",
                )
            await self._debugger.toggle(line.line, file, line.condition)
        except (Refusal, ValueError) as error:
            _print_line(f"  {error}")
            return False
        return True

    async def _evaluate(self, text: str) -> None:
        try:
            await self._debugger.evaluate(text)
        except ValueError as error:
            _print_line(f"  {error}")


def _is_python(file: str) -> bool:
    return file.endswith(".py")


def _read_debug_line(prompt: str) -> str | None:
    """Return the next typed line; None at the end of the input. Ctrl-C starts a new line.

    This blocks, which is safe: the handler is stopped and has no time limit.
    """
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    wakeup_fd = signal.set_wakeup_fd(-1)  # else the event loop would also receive it and end the run
    try:
        while True:
            try:
                if sys.stdin.isatty() and sys.stdout.isatty():
                    with suppress(ImportError):
                        import readline as readline  # gives `input` a history and editing keys
                    return input(prompt)
                click.echo(prompt, err=True, nl=False)
                typed = sys.stdin.readline()
                return typed or None
            except KeyboardInterrupt:
                _print_line("")
    except EOFError:
        return None
    finally:
        signal.set_wakeup_fd(wakeup_fd)
        signal.signal(signal.SIGINT, previous_handler)

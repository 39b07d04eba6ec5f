"""`fire --debug`: a run whose handlers stop, on the terminal, or with words from standard input."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import click

from hookscope.cli.stop_at import Stops
from hookscope.core.text import one_line, printable
from hookscope.workbench import Firing, Refusal, StackFrame, Stop
from hookscope.workbench.stop_places import file_of, files_of, named

AROUND = 2  # lines shown with a stop; `l` shows all that are known
PROMPT = "debug> "
EXPLAINED = (
    "n next line, s into a call, o out of this function",
    "c on to the next stop, r run all without a stop, q ends the run",
    "v variables, p EXPRESSION or the expression itself, l more lines",
    "w where, u and d through the calls",
    "b LINE or b FILE:LINE stops there too, b LINE if EXPRESSION where that holds",
)
SHORT = "n s o c r q, p v l w u d b, ? explains"
WHY = {
    "begin": "at its first line",
    "breakpoint": "at a breakpoint",
    "line": "at a line that you named",
    "pause": "paused",
    "step": "",
    "error": "",
}


async def debugged(firing: Firing, stops: Stops) -> None:
    """Go through a run from stop to stop. The end of the input ends the run."""
    asking = asyncio.create_task(_Talk(stops, firing.cancel).talk())
    try:
        async for _ in firing:
            pass
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking
    for sentence in () if (await firing).cancelled else stops.unmet():
        _tell(sentence)


class _Talk:
    """What is asked and said, from the first stop to the last."""

    def __init__(self, stops: Stops, cancel: Callable[[], object]) -> None:
        self._stops, self._debugger, self._cancel = stops, stops.debugger, cancel
        self._here, self._files = stops.here, files_of(stops.plan)
        self._explains = True
        self._last = ""  # an empty line says it again

    async def talk(self) -> None:
        """For ever; cancelled when the run has ended."""
        while True:
            stop = await self._debugger.stopped()
            self._stops.met(stop)
            if stop.said is not None:
                _tell(printable(stop.said.rstrip("\n")) if stop.said else "")
            else:
                self._show(stop)
            while not await self._word(stop, self._asked()):
                pass

    def _show(self, stop: Stop) -> None:
        why = WHY[stop.why] if stop.error is None else printable(stop.error)
        why = f"{why}: {printable(stop.note)}" if stop.note is not None else why
        if stop.error is None and stop.at < len(stop.frames) - 1:  # it stands in a call from here
            why = f"call {stop.at + 1} of {len(stop.frames)}"
        place = self._place(stop.frame)
        _tell(f"\n▸ {one_line(stop.who)}  {place}{'  ' if why else ''}{why}")
        self._lines(stop, AROUND)

    def _place(self, frame: StackFrame) -> str:
        within = f" in {frame.function}" if frame.function else ""
        return one_line(f"{self._here.short(Path(frame.file))}:{frame.line}{within}")

    def _lines(self, stop: Stop, around: int | None = None) -> None:
        at = stop.frame.line
        shown = [line for line in stop.lines if around is None or abs(line[0] - at) <= around]
        width = len(str(shown[-1][0])) if shown else 0
        for number, text in shown:
            mark = "→" if number == at else "●" if number in stop.named else " "
            _tell(f"  {mark} {number:{width}} │ {printable(text.expandtabs(4))}".rstrip())

    def _asked(self) -> str:
        """What was typed; `q` at the end of the input."""
        if self._explains:
            for line in EXPLAINED:
                _tell(click.style(f"  {line}", dim=True) if sys.stderr.isatty() else f"  {line}")
            self._explains = False
        typed = _line(PROMPT)
        if typed is None:
            return "q"
        self._last = typed.strip() or self._last
        return self._last

    async def _word(self, stop: Stop, typed: str) -> bool:
        """Say what was typed. False where nothing was said: then it is asked again."""
        debugger = self._debugger
        word, _, rest = typed.partition(" ")
        match word, rest.strip():
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
                await debugger.turn_to(stop.at + (1 if word == "d" else -1))
            case "b", place if place[:1] != "=":  # else a variable of that name is set
                return await self._name(place, stop)
            case "p", "":
                _tell("  p EXPRESSION, or the expression alone.")
                return False
            case "p", text if text[0] != "=":
                await self._evaluate(text)
            case "l" | "v" | "w" | "?" | "", "":
                self._look(stop, word)
                return False
            case _:
                await self._evaluate(typed)
        return True

    def _look(self, stop: Stop, word: str) -> None:
        if word == "l":
            self._lines(stop)
        elif word == "v":
            for name, text in stop.variables:
                _tell(f"  {one_line(name)} = {one_line(text)}")
            if not stop.variables:
                _tell("  no variables here")
        elif word == "w":
            for number, frame in enumerate(stop.frames):
                mark = "→" if number == stop.at else " "
                _tell(f"  {mark} {self._place(frame)}")
        elif word:
            self._explains = True
        else:
            _tell(f"  {SHORT}")

    async def _name(self, place: str, stop: Stop) -> bool:
        """Stop at that line too, or no longer. False where it is no place."""
        line = named(place)
        try:
            if line is None:
                raise Refusal("b LINE, or b FILE:LINE; with `if EXPRESSION` behind it.")
            file = str(file_of(line, self._files, self._here)) if line.file else ""
            if file and _is_python(file) != _is_python(stop.frame.file):  # this worker cannot know it
                raise Refusal(
                    f"`{one_line(line.file)}` runs in another worker than what stands here.",
                    f"Name it when one of that worker's handlers stands, or before the run: "
                    f"--stop-at {one_line(line.file)}:{line.line}.",
                )
            await self._debugger.toggle(line.line, file, line.condition)
        except (Refusal, ValueError) as error:
            _tell(f"  {error}")
            return False
        return True

    async def _evaluate(self, text: str) -> None:
        try:
            await self._debugger.evaluate(text)
        except ValueError as error:
            _tell(f"  {error}")


def _is_python(file: str) -> bool:
    return file.endswith(".py")


def _line(prompt: str) -> str | None:
    """The next line that is typed; None at the end. Ctrl-C begins a new one.

    Nothing else goes on meanwhile: the handler stands, and has no limit.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    woken = signal.set_wakeup_fd(-1)  # the event loop would hear of it as well, and end the run
    try:
        while True:
            try:
                if sys.stdin.isatty() and sys.stdout.isatty():
                    with suppress(ImportError):
                        import readline as readline  # gives `input` a history, and keys to edit with
                    return input(prompt)
                click.echo(prompt, err=True, nl=False)
                typed = sys.stdin.readline()
                return typed or None
            except KeyboardInterrupt:
                _tell("")
    except EOFError:
        return None
    finally:
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGINT, before)


def _tell(text: str) -> None:
    click.echo(text, err=True)

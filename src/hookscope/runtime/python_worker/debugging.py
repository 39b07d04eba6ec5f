"""A debugger: stops handlers, tells the host where they stand, and does what that says.

A handler stops at its first line, at `breakpoint()`, at lines that somebody has named, where an error
leaves it, and where somebody says so. Steps go through the code of its author: not through the library's,
packages' or ours.
"""

from __future__ import annotations

import _thread
import bdb
import signal
import sys
from queue import SimpleQueue
from types import FrameType
from typing import Any, Callable, List, Optional, Tuple  # noqa: UP035  (3.9)

Stack = List[Tuple[FrameType, int]]  # noqa: UP006  where it stands, and in which lines; outermost first

DEPTH = 40  # frames; the innermost
NUDGE = signal.SIGURG  # where nobody hears it, the system passes over it


def begun(line: Any, loads: Any, part: Callable[[str], Any], asked: Any) -> Debugger:
    """The debugger of a worker; `part` gives a file of ours, `asked` is the message that wants it."""
    debugger = Debugger(line, part, asked)
    loads.load = debugger.around_load(loads.load)
    return debugger


class Debugger(bdb.Bdb):
    """One for a worker."""

    def __init__(self, line: Any, part: Callable[[str], Any], asked: Any) -> None:
        super().__init__()
        self._line, self._faults, self._standing = line, part("faults"), part("standing")
        self._stacks = part("stacks")
        self._words: Any = SimpleQueue()
        self._main = _thread.get_ident()
        self._who = ""
        self._begins = False  # the next line is a handler's first
        self._is_asked = False  # it stands, and somebody is asked
        self._evaluates = False  # a condition, or what a line is to say
        self._is_off = False  # nothing stops any more
        self._is_entered = asked["begin"]  # handlers stop at their first line
        self._errors = asked["errors"]
        self._pauses = False  # the next line is one to stop at, wherever it is
        self._thrown: Optional[BaseException] = None  # noqa: UP045  at which it has stopped
        self._lines = part("lines").Lines(part("points").Point)
        self._note: Optional[str] = None  # noqa: UP045  of the line that begins: None: nobody named it
        sys.breakpointhook = self._at_breakpoint
        import pdb  # handlers may name it in place of `breakpoint`

        pdb.set_trace = self._at_breakpoint
        for file, wanted in asked["lines"].items():
            self._put(file, wanted)

    def hear(self, message: Any) -> None:
        """Take a word of the host's. Called by the listening thread."""
        word = message["word"]
        if word == "lines":
            self._put(message["file"], message["lines"])
        elif word == "errors":
            self._errors = message["at"]
        elif word == "pause":
            self._pauses = not self._is_asked  # it stands already
        else:
            self._words.put(message)
            return
        signal.pthread_kill(self._main, NUDGE)  # what runs untraced hears of it so

    def _put(self, file: str, lines: Any) -> None:
        bound = self._lines.put(file, lines)
        if file.endswith(".py"):  # of others another worker knows
            self._line.say({"bound": bound})

    def around_load(self, load: Callable[..., Any]) -> Callable[..., Any]:
        """The function to call in place of what loads a handler: modules stop at named lines too."""

        def debugged(*given: Any) -> Any:
            self._who = ""
            self._set_out(sys._getframe(), stops=False)
            try:
                return load(*given)
            finally:
                sys.settrace(None)

        return debugged

    def around(self, target: Callable[[Any], Any], who: str) -> Callable[[Any], Any]:
        """The function to call in place of a handler of that hook."""

        def debugged(view: Any) -> Any:
            self._begin(who)
            try:
                returned = target(view)
            except BaseException as error:
                self._failed(error)
                raise
            return self._awaited(returned) if hasattr(type(returned), "__await__") else returned

        debugged.adapts = getattr(target, "adapts", target)  # type: ignore[attr-defined]  # see model/handler_arguments.py
        return debugged

    async def _awaited(self, awaitable: Any) -> Any:
        try:
            return await awaitable
        except BaseException as error:
            self._failed(error)
            raise

    def _begin(self, who: str) -> None:
        self._who, self._thrown = who, None
        self._begins = (self._is_entered or self._pauses) and not self._is_off
        self._set_out(sys._getframe(1), stops=self._begins)

    def _set_out(self, frame: FrameType, *, stops: bool) -> None:
        """Trace what this frame of ours calls: to its first line, or on to where it is to stop."""
        signal.signal(NUDGE, self._nudged)
        if stops:
            self.reset()
        elif self._traces:
            self.botframe = frame
            self._set_stopinfo(frame, None, -1)  # type: ignore[attr-defined]  # as `set_continue` does
        else:
            return
        sys.settrace(self.trace_dispatch)

    @property
    def _traces(self) -> bool:
        """Is there anything to stop at on the way."""
        return (bool(self._lines) or self._errors == "raised" or self._pauses) and not self._is_off

    def _nudged(self, _: int, frame: FrameType | None) -> None:
        """A signal's handler: something that runs is to stop here, or further on."""
        stack = self._stacks.stack_of(frame)
        if self._is_asked or self._evaluates or self._is_off:
            return
        if self._pauses and stack:
            self.reset()
            self._stop(stack, "pause")
        elif self._pauses and self._who:  # it waits for something: it stops at the line behind that
            self.reset()
            sys.settrace(self.trace_dispatch)
        elif stack and sys.gettrace() is None:
            self._run_on(stack)

    def _failed(self, error: BaseException) -> None:
        sys.settrace(None)
        told = self._errors == "none" or error is self._thrown
        if told or type(error).__name__ in ("CancelledError", "GeneratorExit"):  # nothing of its own doing
            return
        self._stop(self._stacks.way_of(error.__traceback__), "error", error, has_ended=True)

    # What bdb calls

    def dispatch_call(self, frame: FrameType, arg: Any) -> Any:
        """As bdb does, in the code of authors."""
        if not self._stacks.is_authors(frame.f_code):
            return None
        traces = super().dispatch_call(frame, arg)
        return self.trace_dispatch if self._errors == "raised" else traces

    def break_anywhere(self, frame: FrameType) -> bool:
        """Is there a line to stop at in this one's file."""
        return bool(self._lines.at(frame.f_code.co_filename))

    def dispatch_line(self, frame: FrameType) -> Any:
        """As bdb does. Conditions are asked once for a line, whoever else wants to stop there."""
        self._note = self._noted(frame)
        return super().dispatch_line(frame)

    def break_here(self, frame: FrameType) -> bool:
        """Is this a line to stop at."""
        return self._note is not None

    def _noted(self, frame: FrameType) -> Optional[str]:  # noqa: UP045
        """None where no line that was named stops it here; else what there is to say of that."""
        points = self._lines.at(frame.f_code.co_filename).get(frame.f_lineno)
        if not points or self._is_off:
            return None
        self._evaluates = True
        try:
            asked = [point.stops(frame, self._standing.in_short, self._logged) for point in points]
        finally:
            self._evaluates = False
        notes = [note for note in asked if note is not None]
        return max(notes) if notes else "" if self._pauses else None  # a pause that was wanted meanwhile

    def _logged(self, told: dict[str, Any]) -> None:
        self._line.say({"logged": {"who": self._who, **told}})

    def dispatch_exception(self, frame: FrameType, arg: Any) -> Any:
        """As bdb does; and stops where an error comes into an author's code, if it shall."""
        kind, error, trace = arg
        thrown = isinstance(error, BaseException) and not issubclass(kind, (StopIteration, GeneratorExit))
        deeper = trace is not None and self._stacks.way_of(trace.tb_next)
        if self._errors == "raised" and thrown and not deeper and error is not self._thrown:
            self._thrown = error
            self._stop(self._stacks.stack_of(frame), "error", error)
            return self.trace_dispatch
        return super().dispatch_exception(frame, arg)

    def user_line(self, frame: FrameType) -> None:
        """A line begins at which somebody wanted to stop."""
        if not self._stacks.is_authors(frame.f_code):
            return
        why, note = "step" if self._note is None else "line", self._note
        if self._pauses or self._begins:
            why = "pause" if self._pauses else "begin"
        self._begins = False
        self._stop(self._stacks.stack_of(frame), why, note=note)

    def _at_breakpoint(self, *_: object, **__: object) -> None:
        """In the place of `sys.breakpointhook`. Passes over those that nobody can be asked at."""
        if not (self._is_asked or self._evaluates) and _thread.get_ident() == self._main:
            stack = self._stacks.stack_of(sys._getframe(1))
            self.reset()
            self._begins = False
            self._stop(stack, "breakpoint")

    # Where it stands

    def _stop(
        self,
        stack: Stack,
        why: str,
        error: BaseException | None = None,
        *,
        has_ended: bool = False,
        note: str | None = None,
    ) -> None:
        """Ask until there is a word that lets it go on."""
        stack = stack[-DEPTH:]
        if self._is_off or not stack:
            return
        sys.settrace(None)
        self._is_asked, self._pauses = True, False
        asked = self._standing.Standing(stack, self._faults)
        told = {"why": why, "who": self._who, "error": self._standing.in_short(error), "note": note or None}
        answer: dict[str, Any] = {}
        try:
            while True:
                named = sorted(self._lines.at(asked.file))
                self._line.say({"stop": {**told, **asked.state(), "named": named, **answer}})
                message = self._words.get()
                if message["word"] in _GOES_ON:
                    self._go_on(message["word"], stack, has_ended=has_ended)
                    return
                answer = self._done(message, asked)
        finally:
            self._is_asked = False

    def _done(self, message: Any, asked: Any) -> dict[str, Any]:
        """What there is to answer to a word after which it still stands."""
        word = message["word"]
        if word == "frame":
            asked.turn_to(message["at"])
            return {}
        if word == "members":
            return {"members": asked.members(message["path"])}
        if word == "line":
            return {
                "said": self._lines.toggle(
                    message["file"] or asked.file, message["line"], message.get("condition", "")
                )
            }
        said, failed = asked.answer(message["text"])
        return {"said": said, "failed": failed}

    def _go_on(self, word: str, stack: Stack, *, has_ended: bool) -> None:
        frame, _ = stack[-1]
        if word == "off":
            self._is_off = True
        if word in ("off", "on") or has_ended:
            self._run_on(stack)
            return
        self.botframe = stack[0][0].f_back or stack[0][0]
        for known, _ in stack:
            known.f_trace = self.trace_dispatch
        if word == "next":
            self.set_next(frame)
        elif word == "out":
            self.set_return(frame)
        else:
            self.set_step()
        sys.settrace(self.trace_dispatch)

    def _run_on(self, stack: Stack) -> None:
        """Go on to the next line that somebody has named, if there is one."""
        traces = self._traces
        self.botframe = stack[0][0].f_back or stack[0][0]
        self._set_stopinfo(self.botframe, None, -1)  # type: ignore[attr-defined]  # as `set_continue` does
        for frame, _ in stack:
            frame.f_trace = self.trace_dispatch if traces else None
        if traces:
            sys.settrace(self.trace_dispatch)


_GOES_ON = ("next", "step", "out", "on", "off")

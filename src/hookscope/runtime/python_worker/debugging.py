"""A debugger: stops handlers, tells the host where they stand, and does what that says.

A handler stops at its first line, at `breakpoint()`, at lines that somebody has named, and where an error
leaves it. Steps go through the code of its author: not through the library's, packages' or ours.
"""

from __future__ import annotations

import _thread
import bdb
import os
import sys
import sysconfig
from queue import SimpleQueue
from types import CodeType, FrameType
from typing import Any, Callable, List, Optional, Tuple  # noqa: UP035  (3.9)

Place = Tuple[FrameType, int]  # noqa: UP006  where it stands, and in which line
Stack = List[Place]  # noqa: UP006  outermost first

DEPTH = 40  # frames; the innermost

_PATHS = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_FOREIGN = tuple(os.path.join(path, "") for path in _PATHS if path)
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


class Debugger(bdb.Bdb):
    """One for a worker. `faults` and `standing` are the files of that name."""

    def __init__(self, line: Any, faults: Any, standing: Any) -> None:
        super().__init__()
        self._line, self._faults, self._standing = line, faults, standing
        self._words: Any = SimpleQueue()
        self._main = _thread.get_ident()
        self._who = ""
        self._begins = False  # the next line is a handler's first
        self._is_asked = False  # it stands, and somebody is asked
        self._is_off = False  # nothing stops any more
        sys.breakpointhook = self._at_breakpoint
        import pdb  # handlers may name it in place of `breakpoint`

        pdb.set_trace = self._at_breakpoint

    def hear(self, message: Any) -> None:
        """Take a word of the host's. Called by the listening thread."""
        self._words.put(message)

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

        debugged.adapts = getattr(target, "adapts", target)  # type: ignore[attr-defined]  # see core/given.py
        return debugged

    async def _awaited(self, awaitable: Any) -> Any:
        try:
            return await awaitable
        except BaseException as error:
            self._failed(error)
            raise

    def _begin(self, who: str) -> None:
        self._who = who
        if not self._is_off:
            self.reset()
            self._begins = True
            sys.settrace(self.trace_dispatch)

    def _failed(self, error: BaseException) -> None:
        sys.settrace(None)
        if type(error).__name__ in ("CancelledError", "GeneratorExit"):
            return  # nothing of the handler's doing
        stack: Stack = []
        step = error.__traceback__
        while step is not None:
            if _is_authors(step.tb_frame.f_code):
                stack.append((step.tb_frame, step.tb_lineno))
            step = step.tb_next
        self._stop(stack, "error", error)

    # What bdb calls

    def dispatch_call(self, frame: FrameType, arg: Any) -> Any:
        """As bdb does, in the code of authors."""
        return super().dispatch_call(frame, arg) if _is_authors(frame.f_code) else None

    def user_line(self, frame: FrameType) -> None:
        """A line begins at which somebody wanted to stop."""
        if not _is_authors(frame.f_code):
            return
        named = frame.f_lineno in self.get_file_breaks(self.canonic(frame.f_code.co_filename))
        why = "begin" if self._begins else "line" if named else "step"
        self._begins = False
        self._stop(_stack_of(frame), why)

    def _at_breakpoint(self, *_: object, **__: object) -> None:
        """In the place of `sys.breakpointhook`. Passes over those that nobody can be asked at."""
        if not self._is_asked and _thread.get_ident() == self._main:
            stack = _stack_of(sys._getframe(1))
            self.reset()
            self._begins = False
            self._stop(stack, "breakpoint")

    # Where it stands

    def _stop(self, stack: Stack, why: str, error: BaseException | None = None) -> None:
        """Ask until there is a word that lets it go on."""
        stack = stack[-DEPTH:]
        if self._is_off or not stack:
            return
        sys.settrace(None)
        self._is_asked = True
        asked = self._standing.Standing(stack, self._faults)
        told = {"why": why, "who": self._who, "error": self._standing.in_short(error)}
        said: Optional[str] = None  # noqa: UP045  (3.9)
        try:
            while True:
                named = self.get_file_breaks(self.canonic(asked.file))
                self._line.say({"stop": {**told, **asked.state(), "named": named, "said": said}})
                message = self._words.get()
                if message["word"] in _GOES_ON:
                    self._go_on(message["word"], stack, has_ended=error is not None)
                    return
                said = self._done(message, asked)
        finally:
            self._is_asked = False

    def _done(self, message: Any, asked: Any) -> Optional[str]:  # noqa: UP045  (3.9)
        """What there is to say of a word after which it still stands."""
        if message["word"] == "frame":
            asked.turn_to(message["at"])
            return None
        if message["word"] == "line":
            return self._toggle(message["file"] or asked.file, message["line"])
        answer: str = asked.answer(message["text"])
        return answer

    def _toggle(self, file: str, line: int) -> str:
        """Stop at this line from now on, or no longer."""
        name = self.canonic(file)
        where = f"{os.path.basename(file)}:{line}"
        if line in self.get_file_breaks(name):
            self.clear_break(name, line)
            return f"no longer stops at {where}"
        refused = self.set_break(name, line)
        return f"cannot stop at {where}: there is no such line" if refused else f"stops at {where} too"

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
        traces = bool(self.breaks) and not self._is_off
        self.botframe = stack[0][0].f_back or stack[0][0]
        self._set_stopinfo(self.botframe, None, -1)  # type: ignore[attr-defined]  # as `set_continue` does
        for frame, _ in stack:
            frame.f_trace = self.trace_dispatch if traces else None
        if traces:
            sys.settrace(self.trace_dispatch)


_GOES_ON = ("next", "step", "out", "on", "off")


def _stack_of(frame: FrameType | None) -> Stack:
    stack: Stack = []
    while frame is not None:
        if _is_authors(frame.f_code):
            stack.append((frame, frame.f_lineno))
        frame = frame.f_back
    return stack[::-1]


def _is_authors(code: CodeType) -> bool:
    """Is this no code of the library, of packages, of ours, or without a file."""
    file = code.co_filename
    if file.startswith(("<", *_FOREIGN, *_OURS)):
        return False
    return not any(part in file for part in _PACKAGES)


_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = tuple(os.path.join(os.path.dirname(_RUNTIME), name, "") for name in ("core", "runtime"))

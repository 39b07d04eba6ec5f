"""A debugger: stops handlers, tells the host where they stand, and does what that says.

A handler stops at its first line, at `breakpoint()`, at lines that somebody has named, and where an error
leaves it. Steps go through the code of its author: not through the library's, packages' or ours.
"""

from __future__ import annotations

import _thread
import bdb
import ctypes
import io
import os
import pprint
import reprlib
import sys
import sysconfig
from contextlib import redirect_stdout, suppress
from queue import SimpleQueue
from types import CodeType, FrameType
from typing import Any, Callable, List, Optional, Tuple  # noqa: UP035  (3.9)

Place = Tuple[FrameType, int]  # noqa: UP006  where it stands, and in which line
Stack = List[Place]  # noqa: UP006  outermost first

AROUND = 15  # lines shown above and below the present one
VARIABLES = 60
VARIABLE = 300  # characters of the text of one
ANSWER = 16 * 1024  # characters of what was asked for
DEPTH = 40  # frames; the innermost
WIDTH = 100  # columns that a value is laid out for
TYPED = "<debugger>"

_PATHS = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_FOREIGN = tuple(os.path.join(path, "") for path in _PATHS if path)
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_PERSISTS = sys.version_info >= (3, 13)  # there `f_locals` writes through


class Debugger(bdb.Bdb):
    """One for a worker. `faults` is the file of that name."""

    def __init__(self, line: Any, faults: Any) -> None:
        super().__init__()
        self._line, self._faults = line, faults
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
        asked = _Asked(stack, self._faults)
        told = {"why": why, "who": self._who, "error": _in_short(error)}
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

    def _done(self, message: Any, asked: _Asked) -> Optional[str]:  # noqa: UP045  (3.9)
        """What there is to say of a word after which it still stands."""
        if message["word"] == "frame":
            asked.turn_to(message["at"])
            return None
        if message["word"] == "line":
            return self._toggle(message["file"] or asked.file, message["line"])
        return asked.answer(message["text"])

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


class _Asked:
    """A stack that somebody looks at, and the frame of it that they have chosen."""

    def __init__(self, stack: Stack, faults: Any) -> None:
        self._stack, self._faults = stack, faults
        self._at = len(stack) - 1
        self._known: dict[int, Any] = {}  # the variables of each frame: to ask anew would forget what was set

    @property
    def file(self) -> str:
        """Of the chosen frame."""
        return self._stack[self._at][0].f_code.co_filename

    def turn_to(self, at: Any) -> None:
        """Choose another frame, by its place from the outermost."""
        if isinstance(at, int):
            self._at = min(max(at, 0), len(self._stack) - 1)

    def state(self) -> dict[str, Any]:
        """As the protocol's `stop` has it."""
        frame, line = self._stack[self._at]
        lines = self._faults.lines_of(frame.f_code.co_filename)
        first = max(line - AROUND, 1)
        return {
            "frames": self._faults.frames_at(
                [(known.f_code.co_filename, number, known.f_code.co_name, 0) for known, number in self._stack]
            ),
            "at": self._at,
            "lines": [[first + n, text[:400]] for n, text in enumerate(lines[first - 1 : line + AROUND])],
            "variables": _texts_of(self._variables(frame)),
        }

    def answer(self, text: str) -> str:
        """What an expression is, or what a statement prints; what it fails with."""
        frame, _ = self._stack[self._at]
        names, known = frame.f_globals, self._variables(frame)
        printed = io.StringIO()
        said = ""
        try:
            with redirect_stdout(printed):
                code = _compiled(text, "eval")
                if code is not None:
                    said = _laid_out(eval(code, names, known))
                else:
                    exec(compile(text, TYPED, "exec"), names, known)
        except BaseException as error:
            said = _in_short(error) or ""
        if not _PERSISTS:
            with suppress(AttributeError):
                ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        return (printed.getvalue() + said)[:ANSWER]

    def _variables(self, frame: FrameType) -> Any:
        return self._known.setdefault(id(frame), frame.f_locals)


def _compiled(text: str, mode: str) -> Optional[CodeType]:  # noqa: UP045  (3.9)
    """None where it is no expression."""
    try:
        return compile(text, TYPED, mode)
    except SyntaxError:
        return None


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
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = VARIABLE
_SHORT.maxdict = _SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxset = 12
_SHORT.maxlevel = 4


def _texts_of(variables: Any) -> list[list[str]]:
    """[name, text] of each, of those that are no matter of the interpreter's."""
    named = [(name, value) for name, value in list(variables.items()) if not name.startswith("__")]
    return [[str(name)[:80], _read(_SHORT.repr, value)[:VARIABLE]] for name, value in named[:VARIABLES]]


def _laid_out(value: Any) -> str:
    return _read(lambda one: pprint.pformat(one, width=WIDTH, sort_dicts=False), value)


def _read(read: Callable[[Any], str], value: Any) -> str:
    try:
        return str.__str__(read(value))
    except BaseException as error:  # a hostile class may raise anything
        return f"<{type(value).__name__}, whose text cannot be read: {type(error).__name__}>"


def _in_short(error: BaseException | None) -> Optional[str]:  # noqa: UP045  (3.9)
    if error is None:
        return None
    text = _read(str, error)
    return f"{type(error).__name__}: {text}"[:ANSWER] if text else type(error).__name__

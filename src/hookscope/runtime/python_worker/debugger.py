"""A debugger: stops handlers, reports their position to the host, and executes its commands.

A handler stops at its first line, at `breakpoint()`, at the user's breakpoints, at an error that leaves it,
and on a pause. Steps follow the author's code, not code of the library, of packages or of Hookscope.
"""

from __future__ import annotations

import _thread
import bdb
import ctypes
import io
import os
import pdb
import pprint
import reprlib
import signal
import sys
import sysconfig
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from itertools import islice
from queue import SimpleQueue
from types import (
    BuiltinFunctionType,
    CodeType,
    FrameType,
    FunctionType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any

from .breakpoints import EXPRESSION_FILE, BreakpointTable, safe_read, short_error
from .safe_values import frames_at, source_lines

FramePosition = tuple[FrameType, int]  # a frame and its line
AuthorStack = list[FramePosition]  # outermost first
Members = list[tuple[str, Any]]  # names and values

MAX_DEPTH = 40  # innermost frames that are shown
WAKE_SIGNAL = signal.SIGURG  # the system ignores it if nobody handles it
RESUMING = ("next", "step", "out", "on", "off")  # commands that resume the handler
LINES_AROUND = 15  # lines shown above and below the current one
MAX_VARIABLES = 60
MAX_MEMBERS = 200  # of one value
VARIABLE_TEXT = 300  # characters of one
NAME_TEXT = 80  # characters
ANSWER_TEXT = 16 * 1024  # characters of the answer to an expression
WIDTH = 100  # columns that a value is formatted for

_PATHS = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_LIBRARIES = tuple(os.path.join(path, "") for path in _PATHS if path)
_PACKAGE_FOLDERS = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))
_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = tuple(os.path.join(os.path.dirname(_RUNTIME), name, "") for name in ("model", "runtime"))
# Types whose members are not shown.
_SIMPLE_TYPES = (
    *(str, bytes, int, float, complex, type(None), type),
    *(ModuleType, FunctionType, BuiltinFunctionType, MethodType),
)
_LOCALS_PERSIST = sys.version_info >= (3, 13)  # `f_locals` writes through


class HandlerDebugger(bdb.Bdb):
    """The debugger of a worker."""

    def __init__(self, line: Any, settings: Any) -> None:
        """`line`: see host_line.HostLine. `settings` is the protocol's `debug`."""
        super().__init__()
        self._line = line
        self._commands: Any = SimpleQueue()
        self._main_thread = _thread.get_ident()
        self._who = ""
        self._is_first_line = False  # the next line is a handler's first
        self._is_stopped = False
        self._is_evaluating = False  # is evaluating a condition or a log text
        self._is_off = False  # handlers do not stop any more
        self._stops_at_first_line = settings["begin"]
        self._errors = settings["errors"]
        self._is_pausing = False  # stop at the next line of an author, wherever it is
        self._stopped_error: BaseException | None = None  # for which the handler has stopped already
        self._breakpoints = BreakpointTable()
        self._note: str | None = None  # of the breakpoint at the current line; None: no stop there
        sys.breakpointhook = self._at_breakpoint_call
        pdb.set_trace = self._at_breakpoint_call  # handlers may use it instead of `breakpoint`
        for file, points in settings["lines"].items():
            self._set_lines(file, points)

    def receive(self, message: Any) -> None:
        """Accept a command of the host. Called by the listening thread."""
        command = message["word"]
        if command == "lines":
            self._set_lines(message["file"], message["lines"])
        elif command == "errors":
            self._errors = message["at"]
        elif command == "pause":
            self._is_pausing = not self._is_stopped
        else:
            self._commands.put(message)
            return
        signal.pthread_kill(self._main_thread, WAKE_SIGNAL)  # code that is not traced must notice the change

    def _set_lines(self, file: str, points: Any) -> None:
        bound = self._breakpoints.set_lines(file, points)
        if file.endswith(".py"):  # other files belong to the Node worker
            self._line.send({"bound": bound})

    def wrap_load(self, load: Callable[..., Any]) -> Callable[..., Any]:
        """Return a replacement for the function that loads handlers: breakpoints in modules stop it too."""

        def debugged(*arguments: Any) -> Any:
            self._who = ""
            self._start_tracing(sys._getframe(), stops=False)
            try:
                return load(*arguments)
            finally:
                sys.settrace(None)

        return debugged

    def wrap(self, target: Callable[[Any], Any], who: str) -> Callable[[Any], Any]:
        """Return a function to call instead of `target`, a handler of the hook `who`, so that it can stop."""

        def debugged(view: Any) -> Any:
            self._begin(who)
            try:
                returned = target(view)
            except BaseException as error:
                self._on_error(error)
                raise
            return self._await(returned) if hasattr(type(returned), "__await__") else returned

        debugged.adapts = getattr(target, "adapts", target)  # type: ignore[attr-defined]  # see `adapted` in model/handler_arguments.py
        return debugged

    async def _await(self, awaitable: Any) -> Any:
        try:
            return await awaitable
        except BaseException as error:
            self._on_error(error)
            raise

    def _begin(self, who: str) -> None:
        self._who, self._stopped_error = who, None
        self._is_first_line = (self._stops_at_first_line or self._is_pausing) and not self._is_off
        self._start_tracing(sys._getframe(1), stops=self._is_first_line)

    def _start_tracing(self, frame: FrameType, *, stops: bool) -> None:
        """Trace the handler that this frame of ours calls. `stops`: the handler stops at its first line."""
        signal.signal(WAKE_SIGNAL, self._on_wake)
        if stops:
            self.reset()
        elif self._may_stop:
            self.botframe = frame
            self._set_stopinfo(frame, None, -1)  # type: ignore[attr-defined]  # typeshed lacks it; `bdb.set_continue` uses it too
        else:
            return
        sys.settrace(self.trace_dispatch)

    @property
    def _may_stop(self) -> bool:
        """True if a running handler may stop anywhere."""
        return (bool(self._breakpoints) or self._errors == "raised" or self._is_pausing) and not self._is_off

    def _on_wake(self, _: int, frame: FrameType | None) -> None:
        """Handle the signal: running code must stop here, or at a new breakpoint."""
        stack = author_stack(frame)
        if self._is_stopped or self._is_evaluating or self._is_off:
            return
        if self._is_pausing and stack:
            self.reset()
            self._stop(stack, "pause")
        elif self._is_pausing and self._who:  # it awaits something, and stops at the line after the `await`
            self.reset()
            sys.settrace(self.trace_dispatch)
        elif stack and sys.gettrace() is None:
            self._continue(stack)

    def _on_error(self, error: BaseException) -> None:
        sys.settrace(None)
        is_known = self._errors == "none" or error is self._stopped_error
        if is_known or type(error).__name__ in ("CancelledError", "GeneratorExit"):  # not the handler's fault
            return
        self._stop(stack_of_traceback(error.__traceback__), "error", error, has_ended=True)

    # Called by bdb

    def dispatch_call(self, frame: FrameType, arg: Any) -> Any:
        """Trace a call, if it is in an author's code."""
        if not is_author_code(frame.f_code):
            return None
        traces = super().dispatch_call(frame, arg)
        return self.trace_dispatch if self._errors == "raised" else traces

    def break_anywhere(self, frame: FrameType) -> bool:
        """Return True if the frame's file has a breakpoint."""
        return bool(self._breakpoints.at_file(frame.f_code.co_filename))

    def dispatch_line(self, frame: FrameType) -> Any:
        """Evaluate the line's breakpoints once, whatever else stops at the line."""
        self._note = self._evaluate_breakpoints(frame)
        return super().dispatch_line(frame)

    def break_here(self, frame: FrameType) -> bool:
        """Return True if a breakpoint stops at this line."""
        return self._note is not None

    def _evaluate_breakpoints(self, frame: FrameType) -> str | None:
        """Return a note about the condition, usually empty, if a breakpoint stops here; else None."""
        known = self._breakpoints.at_file(frame.f_code.co_filename).get(frame.f_lineno)
        if not known or self._is_off:
            return None
        self._is_evaluating = True
        try:
            results = [one.evaluate(frame, self._send_log) for one in known]
        finally:
            self._is_evaluating = False
        notes = [note for note in results if note is not None]
        return max(notes) if notes else "" if self._is_pausing else None  # a pause was requested meanwhile

    def _send_log(self, logged: dict[str, Any]) -> None:
        self._line.send({"logged": {"who": self._who, **logged}})

    def dispatch_exception(self, frame: FrameType, arg: Any) -> Any:
        """Stop where an error enters an author's code, if the user wants that."""
        kind, error, trace = arg
        is_error = isinstance(error, BaseException) and not issubclass(kind, (StopIteration, GeneratorExit))
        is_deeper = trace is not None and stack_of_traceback(trace.tb_next)
        if self._errors == "raised" and is_error and not is_deeper and error is not self._stopped_error:
            self._stopped_error = error
            self._stop(author_stack(frame), "error", error)
            return self.trace_dispatch
        return super().dispatch_exception(frame, arg)

    def user_line(self, frame: FrameType) -> None:
        """Stop at this line."""
        if not is_author_code(frame.f_code):
            return
        why, note = "step" if self._note is None else "line", self._note
        if self._is_pausing or self._is_first_line:
            why = "pause" if self._is_pausing else "begin"
        self._is_first_line = False
        self._stop(author_stack(frame), why, note=note)

    def _at_breakpoint_call(self, *_: object, **__: object) -> None:
        """Stop at a call of `breakpoint()`. Skips calls in other threads and in evaluated expressions."""
        if not (self._is_stopped or self._is_evaluating) and _thread.get_ident() == self._main_thread:
            stack = author_stack(sys._getframe(1))
            self.reset()
            self._is_first_line = False
            self._stop(stack, "breakpoint")

    # Stopped

    def _stop(
        self,
        stack: AuthorStack,
        why: str,
        error: BaseException | None = None,
        *,
        has_ended: bool = False,
        note: str | None = None,
    ) -> None:
        """Execute commands until one of them resumes the handler."""
        stack = stack[-MAX_DEPTH:]
        if self._is_off or not stack:
            return
        sys.settrace(None)
        self._is_stopped, self._is_pausing = True, False
        stopped = StoppedStack(stack)
        error_text = None if error is None else short_error(error)
        reason = {"why": why, "who": self._who, "error": error_text, "note": note or None}
        answer: dict[str, Any] = {}
        try:
            while True:
                lines = sorted(self._breakpoints.at_file(stopped.file))
                self._line.send({"stop": {**reason, **stopped.state(), "named": lines, **answer}})
                message = self._commands.get()
                if message["word"] in RESUMING:
                    self._resume(message["word"], stack, has_ended=has_ended)
                    return
                answer = self._execute(message, stopped)
        finally:
            self._is_stopped = False

    def _execute(self, message: Any, stopped: StoppedStack) -> dict[str, Any]:
        """Execute a command that keeps the handler stopped, and return its answer."""
        command = message["word"]
        if command == "frame":
            stopped.select(message["at"])
            return {}
        if command == "members":
            return {"members": stopped.members(message["path"], of_module=message.get("of_module", False))}
        if command == "line":
            file = message["file"] or stopped.file
            return {"said": self._breakpoints.toggle(file, message["line"], message.get("condition", ""))}
        text, failed = stopped.evaluate(message["text"])
        return {"said": text, "failed": failed}

    def _resume(self, command: str, stack: AuthorStack, *, has_ended: bool) -> None:
        frame, _ = stack[-1]
        if command == "off":
            self._is_off = True
        if command in ("off", "on") or has_ended:
            self._continue(stack)
            return
        self.botframe = stack[0][0].f_back or stack[0][0]
        for known, _ in stack:
            known.f_trace = self.trace_dispatch
        if command == "next":
            self.set_next(frame)
        elif command == "out":
            self.set_return(frame)
        else:
            self.set_step()
        sys.settrace(self.trace_dispatch)

    def _continue(self, stack: AuthorStack) -> None:
        traces = self._may_stop
        self.botframe = stack[0][0].f_back or stack[0][0]
        self._set_stopinfo(self.botframe, None, -1)  # type: ignore[attr-defined]  # typeshed lacks it; `bdb.set_continue` uses it too
        for frame, _ in stack:
            frame.f_trace = self.trace_dispatch if traces else None
        if traces:
            sys.settrace(self.trace_dispatch)


class StoppedStack:
    """The stack of a stopped handler, and its selected frame."""

    def __init__(self, stack: AuthorStack) -> None:
        self._stack = stack
        self._selected = len(stack) - 1
        self._locals: dict[int, Any] = {}  # by frame: reading them again would lose assignments

    @property
    def file(self) -> str:
        """The path of the selected frame's file."""
        return self._stack[self._selected][0].f_code.co_filename

    def select(self, at: Any) -> None:
        """Select another frame, by its number from the outermost."""
        if isinstance(at, int):
            self._selected = min(max(at, 0), len(self._stack) - 1)

    def state(self) -> dict[str, Any]:
        """Return members of the protocol's `stop`."""
        frame, line = self._stack[self._selected]
        lines = source_lines(frame.f_code.co_filename)
        first = max(line - LINES_AROUND, 1)
        shown = lines[first - 1 : line + LINES_AROUND]
        return {
            "frames": frames_at(
                [(known.f_code.co_filename, number, known.f_code.co_name, 0) for known, number in self._stack]
            ),
            "at": self._selected,
            "lines": [[first + n, text[:400]] for n, text in enumerate(shown)],
            "variables": [
                [str(name)[:NAME_TEXT], _short_text(value)]
                for name, value in _shown_variables(self._variables(frame))
            ],
        }

    def evaluate(self, text: str) -> tuple[str, bool]:
        """Return (value of an expression or output of a statement, False), or (error, True)."""
        frame, _ = self._stack[self._selected]
        namespace, variables = frame.f_globals, self._variables(frame)
        printed = io.StringIO()
        answer, failed = "", False
        try:
            with redirect_stdout(printed):
                code = _compile_expression(text)
                if code is not None:
                    answer = _format_value(eval(code, namespace, variables))
                else:
                    exec(compile(text, EXPRESSION_FILE, "exec"), namespace, variables)
        except BaseException as error:
            answer, failed = short_error(error), True
        if not _LOCALS_PERSIST:
            with suppress(AttributeError):
                ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        return (printed.getvalue() + answer)[:ANSWER_TEXT], failed

    def members(self, path: Any, *, of_module: bool) -> list[list[Any]]:
        """Return [name, text, has members, type] of a value's members.

        The path selects the value: the number of a variable, of a member of it, and so on; empty: the
        variables.
        """
        frame, _ = self._stack[self._selected]
        known = _shown_variables(frame.f_globals if of_module else self._variables(frame))
        try:
            for number in path:
                known = _members_of(known[number][1])
        except BaseException:  # it has changed meanwhile, or a hostile class raises
            return []
        return [
            [str(name)[:NAME_TEXT], _short_text(value), _has_members(value), type(value).__name__[:NAME_TEXT]]
            for name, value in known
        ]

    def _variables(self, frame: FrameType) -> Any:
        return self._locals.setdefault(id(frame), frame.f_locals)


_SHORT_REPR = reprlib.Repr()
_SHORT_REPR.maxstring = _SHORT_REPR.maxother = VARIABLE_TEXT
_SHORT_REPR.maxdict = _SHORT_REPR.maxlist = _SHORT_REPR.maxtuple = _SHORT_REPR.maxset = 12
_SHORT_REPR.maxlevel = 4


def _short_text(value: Any) -> str:
    return safe_read(_SHORT_REPR.repr, value)[:VARIABLE_TEXT]


def _format_value(value: Any) -> str:
    return safe_read(lambda known: pprint.pformat(known, width=WIDTH, sort_dicts=False), value)


def _compile_expression(text: str) -> CodeType | None:
    """Return None if the text is not an expression."""
    try:
        return compile(text, EXPRESSION_FILE, "eval")
    except SyntaxError:
        return None


def _shown_variables(variables: Any) -> Members:
    """Return the variables except those named `__*`."""
    return [one for one in list(variables.items()) if not str(one[0]).startswith("__")][:MAX_VARIABLES]


def _members_of(value: Any) -> Members:
    """Return the members of a value. Raises what a hostile class raises."""
    if isinstance(value, dict):
        items = islice(dict.items(value), MAX_MEMBERS)
        return [(safe_read(_SHORT_REPR.repr, name), held) for name, held in items]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [(str(number), held) for number, held in enumerate(islice(value, MAX_MEMBERS))]
    if isinstance(value, _SIMPLE_TYPES):
        return []
    names: dict[str, None] = {}
    for known in type(value).__mro__:
        slots = vars(known).get("__slots__", ())
        names |= dict.fromkeys((slots,) if isinstance(slots, str) else slots)
    held = getattr(value, "__dict__", None)
    names |= dict.fromkeys(held if isinstance(held, dict) else ())
    shown = [str(name) for name in names if not str(name).startswith("__")]
    return [(name, getattr(value, name, None)) for name in shown[:MAX_MEMBERS]]


def _has_members(value: Any) -> bool:
    try:
        return bool(_members_of(value))
    except BaseException:
        return False


# Stacks


def author_stack(frame: FrameType | None) -> AuthorStack:
    """Return the frames of an author's code from this frame outwards, outermost first."""
    stack: AuthorStack = []
    while frame is not None:
        if is_author_code(frame.f_code):
            stack.append((frame, frame.f_lineno))
        frame = frame.f_back
    return stack[::-1]


def stack_of_traceback(trace: TracebackType | None) -> AuthorStack:
    """Return the frames of an author's code that an error came through, outermost first."""
    stack: AuthorStack = []
    while trace is not None:
        if is_author_code(trace.tb_frame.f_code):
            stack.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return stack


def is_author_code(code: CodeType) -> bool:
    """Return False for code of the library, of packages, of Hookscope, or without a file."""
    file = code.co_filename
    if file.startswith(("<", *_LIBRARIES, *_OURS)):
        return False
    return not any(folder in file for folder in _PACKAGE_FOLDERS)

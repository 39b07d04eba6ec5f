"""Breakpoints at lines of files: where they stop, their conditions, hit counts and log texts."""

from __future__ import annotations

import dis
import operator
import os
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

EXPRESSION_FILE = "<debugger>"
MAX_LOG_TEXT = 4096  # characters that one breakpoint logs at once
MAX_ERROR_TEXT = 16 * 1024  # characters
MAX_FILE_SIZE = 1024 * 1024  # bytes of a file that is compiled
_COMPARISONS: dict[str, Callable[[int, int], Any]] = {
    "==": operator.eq,
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "%": lambda hits, every: every > 0 and hits % every == 0,
}


class WorkerBreakpoint:
    """One requested breakpoint: the protocol's point, see protocol.py."""

    def __init__(self, point: Any) -> None:
        self.point = point if isinstance(point, dict) else {"line": point}
        self.line: int = self.point["line"]
        self.error = ""  # why it is invalid; else empty
        self._condition = self._compile(self.point.get("condition"))
        self._hit_rule = self.point.get("hits")
        parts: list[str] = self.point.get("log") or []  # texts, with an expression between each two
        self._log = [self._compile(text) if place % 2 else text for place, text in enumerate(parts)]
        self._hits = 0  # times that its condition has held

    def evaluate(self, frame: FrameType, send_log: Callable[[Any], Any]) -> str | None:
        """Return a note about the condition, usually empty, if the handler stops here; else None.

        `send_log` receives what the breakpoint logs instead of stopping.
        """
        note = ""
        if self._condition is not None:
            try:
                if not _evaluate(self._condition, frame):
                    return None
            except BaseException as error:
                note = f"its condition `{self.point['condition']}` raises {short_error(error)}"
        self._hits += 1
        if self._hit_rule and not _COMPARISONS[self._hit_rule[0]](self._hits, self._hit_rule[1]):
            return None
        if not self._log:
            return note
        logged = "".join(part if isinstance(part, str) else _log_text(part, frame) for part in self._log)
        text = f"{logged[:MAX_LOG_TEXT]}{f' ({note})' if note else ''}"
        send_log({"file": frame.f_code.co_filename, "line": frame.f_lineno, "text": text})
        return None

    def _compile(self, text: Any) -> Any:
        """Return the code; None if there is no text, or if it is not an expression."""
        if not text:
            return None
        try:
            return compile(text.strip(), EXPRESSION_FILE, "eval", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self.error = f"`{text}` is not an expression of Python: {getattr(error, 'msg', error)}"
        return None


class BreakpointTable:
    """The breakpoints of all files.

    Changed by the listening thread and read by the handlers' thread, so each change is one assignment.
    """

    def __init__(self) -> None:
        self._files: dict[str, dict[int, list[WorkerBreakpoint]]] = {}  # by real path and line of the stop
        self._real_paths: dict[str, str] = {}  # by the path in the code

    def __bool__(self) -> bool:
        return bool(self._files)

    def set_lines(self, file: str, points: Any) -> dict[str, Any]:
        """Replace the breakpoints of a file. Return the protocol's `bound`."""
        code_lines = sorted(_code_lines(file)) if points else []
        path = self._real_path(file)
        before = [known for stops in self._files.get(path, {}).values() for known in stops]
        breakpoints = [_keep_known(WorkerBreakpoint(point), before) for point in points]
        found: dict[int, list[WorkerBreakpoint]] = {}
        bound: list[tuple[int, int]] = []  # requested line, line of the stop or 0
        for breakpoint_ in breakpoints:
            at = 0 if breakpoint_.error else next((n for n in code_lines if n >= breakpoint_.line), 0)
            bound.append((breakpoint_.line, at))
            if at:
                found.setdefault(at, []).append(breakpoint_)
        others = {known: stops for known, stops in self._files.items() if known != path}
        self._files = {**others, path: found} if found else others
        wrong = [(known.line, known.error) for known in breakpoints if known.error]
        return {"file": file, "lines": bound, "wrong": wrong}

    def toggle(self, file: str, line: int, condition: str = "") -> str:
        """Add or remove the breakpoint of a line; with a condition, add or replace it. Return a message."""
        where = os.path.basename(file)
        before = self.at_file(file)
        rest = [one.point for at, known in before.items() for one in known if line not in (at, one.line)]
        if len(rest) < sum(map(len, before.values())) and not condition:
            self.set_lines(file, rest)
            return f"no longer stops at {where}:{line}"
        new = WorkerBreakpoint({"line": line, "condition": condition} if condition else line)
        if new.error:
            return f"cannot stop at {where}:{line}: {new.error}"
        at = dict(self.set_lines(file, [*rest, new.point])["lines"])[line]
        if not at:
            return f"cannot stop at {where}:{line}: there is no such line"
        return f"stops at {where}:{at} {f'where {condition}' if condition else 'too'}"

    def at_file(self, file: str) -> dict[int, list[WorkerBreakpoint]]:
        """Return the breakpoints of a file, by the line of the stop."""
        return self._files.get(self._real_path(file), {})

    def _real_path(self, file: str) -> str:
        if file not in self._real_paths:
            self._real_paths[file] = os.path.realpath(file)
        return self._real_paths[file]


def _keep_known(new: WorkerBreakpoint, before: list[WorkerBreakpoint]) -> WorkerBreakpoint:
    """Return the equal breakpoint in `before`, so that it continues to count its hits; without one, `new`."""
    return next((known for known in before if known.point == new.point), new)


def _code_lines(file: str) -> set[int]:
    """Return the lines at which code starts. Empty for a file that is not Python or cannot be read."""
    try:
        if not file.endswith(".py") or os.path.getsize(file) > MAX_FILE_SIZE:
            return set()
        with open(file, "rb") as stream:
            module = compile(stream.read(), file, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    headers: set[int] = set()
    lines: set[int] = set()
    for code in _all_codes(module):
        own = {line for _, line in dis.findlinestarts(code) if line}
        if code is not module and len(own) > 1:  # a function's header runs when it is defined, not in a call
            headers.add(code.co_firstlineno)
            own.discard(code.co_firstlineno)
        lines |= own
    return lines - headers


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    waiting = [code]
    while waiting:
        known = waiting.pop()
        yield known
        waiting += [constant for constant in known.co_consts if isinstance(constant, CodeType)]


def _evaluate(code: CodeType, frame: FrameType) -> Any:
    """Evaluate in one merged namespace, so that generator expressions can use the function's variables."""
    return eval(code, {**frame.f_globals, **frame.f_locals})


def _log_text(code: CodeType, frame: FrameType) -> str:
    try:
        return str.__str__(str(_evaluate(code, frame)))
    except BaseException as error:
        return f"<{short_error(error)}>"


def short_error(error: BaseException) -> str:
    """Return `KeyError: 'user'`. Never raises."""
    text = safe_read(str, error)
    return f"{type(error).__name__}: {text}"[:MAX_ERROR_TEXT] if text else type(error).__name__


def safe_read(read: Callable[[Any], str], value: Any) -> str:
    """Return the text that `read` gives for a value. Never raises."""
    try:
        return str.__str__(read(value))
    except BaseException as error:  # a hostile class may raise anything
        return f"<{type(value).__name__}, whose text cannot be read: {type(error).__name__}>"

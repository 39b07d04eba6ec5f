"""An exception as data: its type, its text, and the lines it came through in the handler's own code."""

from __future__ import annotations

import os
import stat
import sys
import tokenize
from collections import deque
from itertools import islice
from types import AsyncGeneratorType, CodeType, FrameType, GeneratorType
from typing import Any, Iterable, Optional, Tuple  # noqa: UP035  (an alias is no annotation: 3.9 needs Tuple)

Spot = Tuple[str, int, str, int]  # noqa: UP006  file, line, function, column

FRAMES = 40  # the last ones: a runaway recursion has a thousand
TEXT = 16 * 1024  # characters of a message
LINE = 400  # characters of a source line, and of a name
FILE = 4096  # characters of a path
WRAPPED = 64  # functions inside a handler that are looked at
SOURCE = 1024 * 1024  # bytes of a file whose lines are shown

_LIBRARY = os.path.dirname(os.__file__)
_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_SELECTORS = os.path.join(_LIBRARY, "selectors.py")
# What stands between us and the handler, and is no news to its author.
_CORE = os.path.join(os.path.dirname(_RUNTIME), "model")
_FOR_AUTHORS = tuple(
    os.path.join(_CORE, name) for name in ("authoring_api.py", "hook_event.py", "handler_arguments.py")
)
_OURS = (os.path.join(_RUNTIME, ""), *_FOR_AUTHORS, "<frozen importlib")
_ASYNCIO = os.path.join(_LIBRARY, "asyncio", "")
# Of those without a text.
_WORDS = {"MemoryError": "ran out of memory", "RecursionError": "recursed too deeply"}

# The real ones: a class may put anything in their place, a handler too.
_name_of = type.__dict__["__name__"].__get__
_cause_of = BaseException.__dict__["__cause__"].__get__
_traceback_of = BaseException.__dict__["__traceback__"].__get__
_status, _open_source = os.stat, tokenize.open


def safe_text(value: object) -> str:
    """What `str` says; else what `repr` says; else its type. Never raises, cut to TEXT characters."""
    for read in (str, repr):
        try:
            text = str.__str__(read(value))
        except BaseException:  # a hostile __str__ may raise anything, SystemExit too
            continue
        return text if len(text) <= TEXT else f"{text[:TEXT]}… ({len(text) - TEXT:,} characters left out)"
    return f"<{_kind(value)} whose text cannot be read>"


def describe(error: BaseException, target: object = None) -> dict[str, Any]:
    """{"type", "message", "frames"}: outermost first, without frames of ours. Never raises.

    `target` is what was called: where the error has no line of its own, it is told where that begins.
    """
    try:
        message, frames = _message(error), _frames(error) or _beginning(target)
        if issubclass(type(error), SyntaxError):
            message, frames = _of_syntax(error, message, frames)
    except BaseException:  # a hostile class, or no memory left to describe with
        message, frames = _words(error), []
    return {"type": _kind(error), "message": message, "frames": frames[-FRAMES:]}


class NeverRan(TypeError):
    """The handler is a generator function, and its host does not iterate over what the call returns."""


def never_ran(returned: object, target: object) -> Optional[NeverRan]:  # noqa: UP045
    """Return an error if `target` is a generator function and none of its body ran; else None."""
    if type(returned) is GeneratorType:
        code, frame, kind = returned.gi_code, returned.gi_frame, "a generator"
    elif type(returned) is AsyncGeneratorType:
        code, frame, kind = returned.ag_code, returned.ag_frame, "an async generator"
    else:
        return None
    has_begun = frame is None or getattr(returned, "gi_suspended", False)  # somebody asked for a value
    if has_begun or code not in _codes_of(target):
        return None
    return NeverRan(
        f"`{code.co_name}` contains `yield`: the call only made {kind}, and none of its body ran. "
        "Remove `yield`"
    )


def _codes_of(target: object) -> set[CodeType]:
    """Return the code of a handler, and of the functions that it wraps."""
    found: set[CodeType] = set()
    step = [target]
    for _ in range(WRAPPED):
        if not step:
            break
        function = step.pop()
        code = getattr(function, "__code__", None)
        if type(code) is CodeType:
            found.add(code)
        names = ("adapts", "__wrapped__", "__func__", "func")
        step += [inner for name in names if (inner := getattr(function, name, None)) is not None]
        if code is None and not isinstance(function, type):
            step += [inner for inner in [vars(type(function)).get("__call__")] if inner is not None]
        for cell in getattr(function, "__closure__", None) or ():
            try:
                step.append(cell.cell_contents)
            except ValueError:  # not set yet
                continue
    return found


def not_found(error: BaseException | None) -> tuple[str, ...]:
    """Of a module or file that is not there: where it was looked for, and what helps. Never raises."""
    try:
        if type(error) is FileNotFoundError:
            return _beside(error)
        name = error.name if type(error) is ModuleNotFoundError else None
    except BaseException:
        name = None
    if type(name) is not str:
        return ()
    looked = f"{name[:LINE]} is neither beside the handler nor installed for {sys.executable}, which runs it"
    return (f"{looked}: install it there, or name another Python with `python:` in .hookscope/config.yaml",)


def _beside(error: FileNotFoundError) -> tuple[str, ...]:
    """A file that was named as though the program ran in the folder of the code that names it."""
    name, step = error.filename, _traceback_of(error)
    if type(name) is not str or os.path.isabs(name):
        return ()
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if os.path.exists(os.path.join(os.path.dirname(file), name)):
            looked = (
                f"{name[:LINE]} lies beside {os.path.basename(file)}, and was looked for in {os.getcwd()}"
            )
            return (f"{looked}: `Path(__file__).parent / {name[:LINE]!r}` finds it from everywhere",)
        step = step.tb_next
    return ()


def _kind(value: object) -> str:
    """The type's name, whatever its metaclass says of it."""
    return str(_name_of(type(value)))[:LINE]


def _words(error: BaseException) -> str:
    """Never empty."""
    text = safe_text(error)
    return text if text.strip() else _WORDS.get(_kind(error), _kind(error))


def _message(error: BaseException) -> str:
    cause = _cause_of(error)
    if cause is None:
        return _words(error)
    text = safe_text(cause)
    return f"{_words(error)} (caused by {_kind(cause)}{': ' if text.strip() else ''}{text})"


def _of_syntax(error: Any, message: str, frames: list[dict[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """The place of a syntax error is in the file that could not be read, not in one that ran."""
    if not error.filename:
        return message, frames
    line = error.lineno if type(error.lineno) is int else 1
    source = error.text if type(error.text) is str else None
    text = safe_text(error.msg) if error.msg else message
    column = error.offset if type(error.offset) is int and error.offset > 0 else 0
    return text, [*frames, _frame(safe_text(error.filename), line, "", source, column)]


def _frames(error: BaseException) -> list[dict[str, Any]]:
    """Asyncio's own lines are left out only before the handler's first: an error in there is news."""
    last: deque[Spot] = deque(maxlen=FRAMES)
    step = _traceback_of(error)
    while step is not None:
        code = step.tb_frame.f_code
        if not _is_ours(code.co_filename, first=not last):
            column = _column(code, step.tb_lasti)
            last.append((code.co_filename, step.tb_lineno or code.co_firstlineno, code.co_name, column))
        step = step.tb_next
    return frames_at(last)


def _is_ours(file: str, first: bool) -> bool:
    return file.startswith(_OURS) or (first and file.startswith(_ASYNCIO))


def frames_at(spots: Iterable[Spot]) -> list[dict[str, Any]]:
    """Those places as the protocol's frames."""
    spots = list(spots)
    lines = {spot[0]: lines_of(spot[0]) for spot in spots}  # read anew: the author edits while we run
    return [
        _frame(file, line, name, _line_of(lines[file], line), column) for file, line, name, column in spots
    ]


def frames_of(frame: FrameType | None) -> list[dict[str, Any]]:
    """Where code stands that still runs: outermost first, without frames of ours. Never raises."""
    spots: list[Spot] = []
    try:
        while frame is not None:
            code = frame.f_code
            spots.append((code.co_filename, frame.f_lineno or code.co_firstlineno, code.co_name, 0))
            frame = frame.f_back
        spots.reverse()
        # All down to the call of the handler is ours, or the interpreter's way to us.
        begin = max((n for n, spot in enumerate(spots) if _is_ours(spot[0], first=True)), default=-1) + 1
        return frames_at(spots[begin:][-FRAMES:])
    except BaseException:  # it goes on running while we look
        return []


def is_waiting(frame: FrameType) -> bool:
    """Does this code stand in the event loop, with nothing to do?"""
    return frame.f_code.co_filename == _SELECTORS


def _column(code: CodeType, instruction: int) -> int:
    """From 1; 0 where this Python does not know columns."""
    positions = getattr(code, "co_positions", None)  # 3.11
    if positions is None:
        return 0
    column = next(islice(positions(), instruction // 2, None), (None, None, None, None))[2]
    return 0 if column is None else int(column) + 1


def _beginning(target: object) -> list[dict[str, Any]]:
    """The first line of a function: it was called in a way that it does not take."""
    target = getattr(
        target, "adapts", target
    )  # our own function in front of it, see model/handler_arguments.py
    called = vars(type(target)).get("__call__")  # of an object that stands for a function
    for found in (target, getattr(target, "__func__", None), called):
        code = getattr(found, "__code__", None)
        if type(code) is CodeType:
            file, line = code.co_filename, code.co_firstlineno
            return [_frame(file, line, code.co_name, _line_of(lines_of(file), line))]
    return []


def _frame(file: str, line: int, function: str, source: str | None, column: int = 0) -> dict[str, Any]:
    text = _line_of(lines_of(file), line) if source is None else source
    return {
        "file": file[:FILE],
        "line": line,
        "function": function[:LINE],
        "source": text.strip()[:LINE],
        "column": column,
    }


def lines_of(file: str) -> list[str]:
    """Empty for all but a regular file of sensible size: code may name /dev/zero. Never raises."""
    try:
        status = _status(file)
        # One of size 0 may be one of /proc, where reading may wait for ever.
        if not stat.S_ISREG(status.st_mode) or not 0 < status.st_size <= SOURCE:
            return []
        with _open_source(file) as stream:
            return stream.read(SOURCE).split("\n")
    except BaseException:  # gone, no text, or in an encoding that is none
        return []


def _line_of(lines: list[str], line: int) -> str:
    return lines[line - 1] if 0 < line <= len(lines) else ""

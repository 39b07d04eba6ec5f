"""An exception as data: its type, its text, and the lines it came through in the handler's own code."""

from __future__ import annotations

import linecache
import os
from collections import deque
from typing import Any

FRAMES = 40  # the last ones: a runaway recursion has a thousand
TEXT = 16 * 1024  # characters of a message
LINE = 400  # characters of a source line

_LIBRARY = os.path.dirname(os.__file__)
_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What stands between us and the handler, and is no news to its author.
_OURS = (os.path.join(_RUNTIME, ""), "<frozen importlib", os.path.join(_LIBRARY, "asyncio", ""))


def safe_text(value: object) -> str:
    """What `str` says; else what `repr` says; else its type. Never raises, cut to TEXT characters."""
    for read in (str, repr):
        try:
            text = str.__str__(read(value))
        except BaseException:  # a hostile __str__ may raise anything, SystemExit too
            continue
        return text if len(text) <= TEXT else f"{text[:TEXT]}… ({len(text) - TEXT:,} characters left out)"
    return f"<{type(value).__name__} whose text cannot be read>"


def describe(error: BaseException) -> dict[str, Any]:
    """{"type", "message", "frames"}: outermost first, without frames of ours. Never raises."""
    message = safe_text(error)
    if error.__cause__ is not None:
        message += f" (caused by {type(error.__cause__).__name__}: {safe_text(error.__cause__)})"
    frames = _frames(error)
    if isinstance(error, SyntaxError) and error.filename:
        message = safe_text(error.msg)
        frames.append(_frame(str(error.filename), error.lineno or 1, "", error.text))
    return {"type": type(error).__name__, "message": message, "frames": frames[-FRAMES:]}


def _frames(error: BaseException) -> list[dict[str, Any]]:
    """Asyncio's own lines are left out only before the handler's first: an error in there is news."""
    last: deque[tuple[str, int, str]] = deque(maxlen=FRAMES)
    step = error.__traceback__
    while step is not None:
        code = step.tb_frame.f_code
        ours = code.co_filename.startswith(_OURS[:2]) or (not last and code.co_filename.startswith(_OURS[2]))
        if not ours:
            last.append((code.co_filename, step.tb_lineno, code.co_name))
        step = step.tb_next
    for file in {file for file, _, _ in last}:
        linecache.checkcache(file)  # the author edits while we run
    return [_frame(file, line, function) for file, line, function in last]


def _frame(file: str, line: int, function: str, source: object = None) -> dict[str, Any]:
    text = source if isinstance(source, str) else linecache.getline(file, line)
    return {"file": file, "line": line, "function": function, "source": text.strip()[:LINE]}

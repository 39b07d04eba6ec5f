"""Whose code stands in a stack: the debugger looks at that of authors alone."""

from __future__ import annotations

import os
import sysconfig
from types import CodeType, FrameType, TracebackType
from typing import List, Tuple  # noqa: UP035  (3.9)

Place = Tuple[FrameType, int]  # noqa: UP006  where it stands, and in which line
Stack = List[Place]  # noqa: UP006  outermost first

_PATHS = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
_FOREIGN = tuple(os.path.join(path, "") for path in _PATHS if path)
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


def stack_of(frame: FrameType | None) -> Stack:
    """The frames of authors from there outwards, outermost first."""
    stack: Stack = []
    while frame is not None:
        if is_authors(frame.f_code):
            stack.append((frame, frame.f_lineno))
        frame = frame.f_back
    return stack[::-1]


def way_of(trace: TracebackType | None) -> Stack:
    """The frames of authors that an error came through, from there on."""
    stack: Stack = []
    while trace is not None:
        if is_authors(trace.tb_frame.f_code):
            stack.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    return stack


def is_authors(code: CodeType) -> bool:
    """Is this no code of the library, of packages, of ours, or without a file."""
    file = code.co_filename
    if file.startswith(("<", *_FOREIGN, *_OURS)):
        return False
    return not any(part in file for part in _PACKAGES)


_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_OURS = tuple(os.path.join(os.path.dirname(_RUNTIME), name, "") for name in ("model", "runtime"))

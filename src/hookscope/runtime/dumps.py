"""Stacks that the interpreter itself prints where a process is killed, or no code of it can run."""

from __future__ import annotations

import re
from pathlib import Path

from hookscope.core.failure import Frame

_RUNTIME = Path(__file__).parent
_CORE = _RUNTIME.parent / "core"
_OURS = (str(_RUNTIME), str(_CORE / "authoring.py"), str(_CORE / "given.py"))
_BEGINS = re.compile(r"^(?:Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\):$", re.MULTILINE)
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$', re.MULTILINE)


def has_dump(text: str) -> bool:
    """Did the interpreter print a stack in there."""
    return _BEGINS.search(text) is not None


def frames_in(text: str) -> tuple[Frame, ...]:
    """The stack of the thread that ran a handler, outermost first, without our own lines.

    Of several threads it is the one that came through the worker's call; else the first with any code
    of others. Empty where there is none.
    """
    parts = _BEGINS.split(text)[1:]
    stacks = [[match.groupdict() for match in _FRAME.finditer(part)] for part in parts]
    through_worker = [stack for stack in stacks if any(frame["function"] == "_call" for frame in stack)]
    for stack in (*through_worker, *stacks):
        others = [frame for frame in stack if not frame["file"].startswith(_OURS)]
        if others:
            return tuple(
                Frame(frame["file"], int(frame["line"]), frame["function"]) for frame in reversed(others)
            )
    return ()

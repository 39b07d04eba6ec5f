"""Failures in words.

exceptions of handlers, lost workers, limits, and the stacks that the interpreter dumps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from hookscope.model.failure import Failure, Frame
from hookscope.runtime.python_worker.safe_values import describe_exception

Phase = Literal["spawn", "load", "run"]


class LoadFailed(Exception):
    """Stands in a handler's place where its code could not be loaded."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def failure_of(error: BaseException, phase: Phase = "run", target: object = None) -> Failure:
    """What a handler in this process raised. `target` is the handler, if it was called. Never raises."""
    if type(error) is LoadFailed:  # isinstance would ask a hostile class for its `__class__`
        return error.failure
    return failure_from(describe_exception(error, target), phase)


def failure_from(document: Mapping[str, Any], phase: Phase) -> Failure:
    """What a worker says its handler raised. Raises KeyError or TypeError where it is no such document."""
    plain = document.get("plain")
    return Failure(
        str(document["type"]),
        str(document["message"]),
        frames_from(document["frames"]),
        phase,
        plain if isinstance(plain, str) else None,
        tuple(map(str, document.get("chain", ()))),
    )


def frames_from(documents: Iterable[Mapping[str, Any]]) -> tuple[Frame, ...]:
    """Frames as a worker tells them. Raises KeyError, TypeError or ValueError where they are none."""
    return tuple(
        Frame(
            str(frame["file"]),
            int(frame["line"]),
            str(frame["function"]),
            str(frame["source"]),
            int(frame.get("column", 0)),
        )
        for frame in documents
    )


def timeout_failure(
    seconds: float, phase: Phase, origin: str = "", frames: tuple[Frame, ...] = ()
) -> Failure:
    """A limit was reached. `origin`: who set it; `frames`: where it stood then, where that is known."""
    what = {"spawn": "start", "load": "load", "run": "answer"}[phase]
    by = f" (the limit in {origin})" if origin else ""
    return Failure("Timeout", f"did not {what} within {seconds:g} s{by} and was stopped", frames, phase)


CANCELLED = Failure("Cancelled", "was stopped because the run was cancelled")
WORKER_ENDED = Failure("Cancelled", "was stopped because its worker was ended")  # with its lane


_RUNTIME_FOLDER = Path(__file__).parent
_MODEL_FOLDER = _RUNTIME_FOLDER.parent / "model"
_OWN_FILES = (
    str(_RUNTIME_FOLDER),
    str(_MODEL_FOLDER / "authoring_api.py"),
    str(_MODEL_FOLDER / "handler_arguments.py"),
)
_WORKER_FILE = str(_RUNTIME_FOLDER / "python_worker" / "worker.py")
_DUMP_START = re.compile(
    r"^(?:Current thread|Thread) 0x[0-9a-f]+.*\(most recent call first\):$", re.MULTILINE
)
_DUMP_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$', re.MULTILINE)


def has_dump(text: str) -> bool:
    """Did the interpreter print a stack in there."""
    return _DUMP_START.search(text) is not None


def frames_in_dump(text: str) -> tuple[Frame, ...]:
    """The stack of the thread that ran a handler, outermost first, without our own lines.

    Of several threads it is the worker's main thread, else the first with any code of others. Empty where
    there is none.
    """
    parts = _DUMP_START.split(text)[1:]
    stacks = [[match.groupdict() for match in _DUMP_FRAME.finditer(part)] for part in parts]
    through_worker = [stack for stack in stacks if any(frame["file"] == _WORKER_FILE for frame in stack)]
    for stack in (*through_worker, *stacks):
        others = [frame for frame in stack if not frame["file"].startswith(_OWN_FILES)]
        if others:
            return tuple(
                Frame(frame["file"], int(frame["line"]), frame["function"]) for frame in reversed(others)
            )
    return ()

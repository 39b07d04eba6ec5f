"""Failures in words: of handlers that raised, of workers that were lost, of limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hookscope.core.failure import Failure, Frame
from hookscope.runtime.python_worker.faults import describe

Phase = Literal["spawn", "load", "run"]


class LoadFailed(Exception):
    """Stands in a handler's place where its code could not be loaded."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def raised(error: BaseException, phase: Phase = "run", target: object = None) -> Failure:
    """What a handler in this process raised. `target` is the handler, if it was called. Never raises."""
    if type(error) is LoadFailed:  # isinstance would ask a hostile class for its `__class__`
        return error.failure
    return told(describe(error, target), phase)


def told(document: Mapping[str, Any], phase: Phase) -> Failure:
    """What a worker says its handler raised. Raises KeyError or TypeError where it is no such document."""
    plain = document.get("plain")
    return Failure(
        str(document["type"]),
        str(document["message"]),
        frames_of(document["frames"]),
        phase,
        plain if isinstance(plain, str) else None,
        tuple(map(str, document.get("chain", ()))),
    )


def frames_of(documents: Iterable[Mapping[str, Any]]) -> tuple[Frame, ...]:
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


def overran(seconds: float, phase: Phase, origin: str = "", frames: tuple[Frame, ...] = ()) -> Failure:
    """A limit was reached. `origin`: who set it; `frames`: where it stood then, where that is known."""
    what = {"spawn": "start", "load": "load", "run": "answer"}[phase]
    by = f" (the limit in {origin})" if origin else ""
    return Failure("Timeout", f"did not {what} within {seconds:g} s{by} and was stopped", frames, phase)


CANCELLED = Failure("Cancelled", "was stopped because the run was cancelled")
ENDED = Failure("Cancelled", "was stopped because its worker was ended")  # with its lane

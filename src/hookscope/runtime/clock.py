"""Times as people want them: from the start of the run."""

from __future__ import annotations

from contextvars import ContextVar
from time import perf_counter

# Set by a Firing in its task, and inherited by every task below it; unset where a lane is used alone.
_BEGAN: ContextVar[float | None] = ContextVar("hookscope_run_began", default=None)


def begin_run() -> float:
    """From now on times count from now. Returns now, in seconds of perf_counter."""
    now = perf_counter()
    _BEGAN.set(now)
    return now


def since_start(moment: float) -> float:
    """A moment of perf_counter in seconds from the start of the run; as it is where there is no run."""
    began = _BEGAN.get()
    return moment if began is None else moment - began

"""One event fired several times, as its host would send it again: which effects repeat."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from hookscope.model.run import Plan
from hookscope.model.run_comparison import (
    FileRepetition,
    HookRepetition,
    RepeatOutcome,
    Repetition,
    summarize_repetition,
)
from hookscope.runtime.firing import Firing

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

__all__ = [
    "MOST_REPETITIONS",
    "FileRepetition",
    "HookRepetition",
    "RepeatOutcome",
    "Repetition",
    "repeated_firings",
    "summarize_repetition",
]

MOST_REPETITIONS = 1_000  # fires


async def repeated_firings(
    bench: Workbench, view: Snapshot, plan: Plan, times: int, *, sandbox: bool = False
) -> AsyncGenerator[Firing]:
    """Fire the plan several times in sequence; `summarize_repetition` reports what the runs repeated.

    Each firing is yielded when it has started; the next starts when it has ended, and none after a
    cancelled one. Every fire has a new event with the current time. All run in the same workers, so what a
    handler keeps in memory stays, as in its host.

    With `sandbox` all run on the same copies, which are removed at the end; each Run reports what has
    changed since they were made. Close the generator (`contextlib.aclosing`) to remove them. Raises OSError
    if the copies cannot be made.
    """
    guard = await bench.open_sandbox(view) if sandbox else None
    try:
        for _ in range(times):
            now = replace(plan, event=replace(plan.event, timestamp=datetime.now(UTC)))
            firing = bench.fire(view, now) if guard is None else bench.fire_in_sandbox(view, now, guard)
            yield firing
            if (await firing).cancelled:
                return
    finally:
        if guard is not None:
            await guard.close()

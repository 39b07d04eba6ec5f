"""Waiting for what handlers have left running, and hearing what it does, before its worker may be ended.

A host lives on behind an event: work that a handler does not wait for comes to its end there. Whoever ends
the workers behind an event would cut it off, and never hear of its errors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from secrets import token_hex
from time import perf_counter

from hookscope.runtime.peer import Peer, WorkerLost
from hookscope.values import dataclass

ANSWER = 0.5  # seconds that a worker which is not busy may take to say what runs in it
PAUSE = 0.01  # seconds to the second look; each further one is longer
LONGEST = 0.1

Said = tuple[tuple[str, str], ...]  # a hook, and in words what it did


@dataclass(frozen=True, slots=True)
class Patience:
    """How long somebody waits."""

    seconds: float
    until: float  # of perf_counter
    enough: Callable[[], bool]  # do they want to wait no longer

    @property
    def is_over(self) -> bool:
        """Is it over."""
        return perf_counter() >= self.until or self.enough()


def patience(seconds: float, enough: Callable[[], bool] = lambda: False) -> Patience:
    """For so many seconds from now, or until somebody has had `enough`."""
    return Patience(seconds, perf_counter() + seconds, enough)


@dataclass(frozen=True, slots=True)
class Rest:
    """What became of what handlers had left running."""

    late: Said = ()  # what they did after they had answered
    lasting: Said = ()  # what of theirs runs on

    def __add__(self, other: Rest) -> Rest:
        return Rest((*self.late, *other.late), (*self.lasting, *other.lasting))


AT_REST = Rest()


async def still_running(worker: Peer, waits: Patience | None) -> str:
    """What of the last run's handlers runs in it when that is over, in words; empty where nothing does.

    Without patience it is asked once. Call it while `listening`. Raises WorkerLost, also where the worker
    does not answer: then what runs in it keeps it busy.
    """
    pause = PAUSE
    while True:
        left = await _asked(worker)
        if not left or waits is None or waits.is_over:
            return left
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST)


async def _asked(worker: Peer) -> str:
    question = token_hex(8)
    try:
        async with asyncio.timeout(ANSWER):
            await worker.tell({"do": "rest", "id": question})
            message = await worker.hear()
    except TimeoutError:
        raise WorkerLost("answered no more") from None
    left = message.get("rest")
    if message.get("id") != question or not isinstance(left, str):
        raise WorkerLost("answered what nobody had asked")
    return left

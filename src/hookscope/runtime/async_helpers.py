"""Helpers for asyncio.

waits that a cancel cannot interrupt, a broadcast, a reusable timer, and the clock of a run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextvars import Context, ContextVar, copy_context
from time import perf_counter
from typing import Any, Generic, TypeVar

T = TypeVar("T")


async def await_uninterrupted(work: Coroutine[object, object, T]) -> T:
    """Await what cancellation may delay but not interrupt.

    A cancel that came meanwhile is raised once the work has ended, also where the work failed.
    """
    task = asyncio.ensure_future(work)
    try:
        await wait_until_done(task, lambda: None)
    except asyncio.CancelledError:
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not complain
        raise
    return task.result()


async def wait_until_done(task: asyncio.Future[Any], cancel: Callable[[], None]) -> None:
    """Wait for a task. Raises CancelledError only for a cancel of the caller, and never what the task raises.

    If the caller is cancelled meanwhile, `cancel` asks the task to end, and the wait continues until it has.
    """
    await wait_until_all_done((task,), cancel)


async def wait_until_all_done(tasks: Collection[asyncio.Future[Any]], cancel: Callable[[], None]) -> None:
    """Do the same for tasks that `cancel` asks to end all together."""
    is_cancelled = False
    while not all(task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            is_cancelled = True
            cancel()
    if is_cancelled:
        raise asyncio.CancelledError


Item = TypeVar("Item")


class Broadcast(Generic[Item]):
    """What was told so far. Each listener hears all of it, and leaving disturbs nobody."""

    def __init__(self) -> None:
        self.told: list[Item] = []
        self._news: asyncio.Event | None = None  # where somebody waits: most runs are awaited, not watched
        self._over = False

    def tell(self, item: Item) -> None:
        """Tell it to all who listen, and to all who come later."""
        self.told.append(item)
        self.stir()

    def stir(self) -> None:
        """Let those who wait in `news` look again."""
        if self._news is not None:
            self._news.set()
            self._news = None

    def end(self) -> None:
        """Nothing more is told: listeners leave when they have heard what there is."""
        self._over = True
        self.stir()

    async def news(self) -> None:
        """Wait for the next that is told, for a stir or for the end; not at all behind the end."""
        if self._over:
            return
        if self._news is None:
            self._news = asyncio.Event()
        await self._news.wait()

    async def __aiter__(self) -> AsyncIterator[Item]:
        seen = 0
        while True:
            while seen < len(self.told):  # more may come while a listener is busy
                yield self.told[seen]
                seen += 1
            if self._over:
                return
            await self.news()


class ReusableTimer:
    """Rings once, at the moment it was set to last.

    A timer of the loop costs more than most handlers, to be made and to be taken back. Here it stays where it
    would ring early enough: then it is only moved on.
    """

    def __init__(self) -> None:
        self._ring: Callable[[], object] | None = None
        self._context: Context | None = None  # of who set it
        self._moment = 0.0  # of the loop's clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float, ring: Callable[[], object]) -> None:
        """Call `ring` in so many seconds, and not what it was set to before."""
        loop = asyncio.get_running_loop()
        self._ring, self._context, self._moment = ring, copy_context(), loop.time() + max(seconds, 0.0)
        if self._timer is not None and (loop is not self._loop or self._timer.when() > self._moment):
            if self._loop is not None and not self._loop.is_closed():
                self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._loop, self._timer = loop, loop.call_at(self._moment, self._rung)

    def still(self) -> None:
        """Call nothing."""
        self._ring = self._context = None

    def _rung(self) -> None:
        self._timer, ring, context = None, self._ring, self._context
        if ring is None or context is None or self._loop is None:
            return
        if self._loop.time() < self._moment:
            self._timer = self._loop.call_at(self._moment, self._rung)
            return
        self.still()
        context.run(ring)


# Set by a Firing in its task, and inherited by every task below it; unset where a lane is used alone.
_run_started: ContextVar[float | None] = ContextVar("hookscope_run_began", default=None)


def start_run_clock() -> float:
    """From now on times count from now. Returns now, in seconds of perf_counter."""
    now = perf_counter()
    _run_started.set(now)
    return now


def since_run_start(moment: float) -> float:
    """A moment of perf_counter in seconds from the start of the run; as it is where there is no run."""
    began = _run_started.get()
    return moment if began is None else moment - began

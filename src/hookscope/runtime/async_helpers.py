"""Helpers for asyncio: waits that a cancel cannot interrupt, a broadcast, and the clock of a run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Coroutine
from contextvars import ContextVar
from functools import partial
from time import perf_counter
from typing import Any, Generic, TypeVar

T = TypeVar("T")


async def await_uninterrupted(work: Coroutine[object, object, T]) -> T:
    """Await work that a cancel must not interrupt.

    If the caller is cancelled meanwhile, CancelledError is raised once the work has ended or failed.
    """
    task = asyncio.ensure_future(work)
    try:
        await wait_until_done(task, lambda: None)
    except asyncio.CancelledError:
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not complain
        raise
    return task.result()


async def wait_until_done(task: asyncio.Future[Any], cancel: Callable[[], None]) -> None:
    """Wait for a task, without raising its exception.

    If the caller is cancelled, call `cancel`, wait until the task has ended, and raise CancelledError.
    """
    is_cancelled = False
    while not task.done():
        waiter = task.get_loop().create_future()  # costs a third of `asyncio.wait`
        release = partial(_release, waiter)
        task.add_done_callback(release)
        try:
            await waiter
        except asyncio.CancelledError:
            task.remove_done_callback(release)
            is_cancelled = True
            cancel()
    if is_cancelled:
        raise asyncio.CancelledError


def _release(waiter: asyncio.Future[None], _: asyncio.Future[Any]) -> None:
    if not waiter.done():
        waiter.set_result(None)


async def wait_until_all_done(tasks: Collection[asyncio.Future[Any]], cancel: Callable[[], None]) -> None:
    """Wait for several tasks as `wait_until_done` does; `cancel` stops all of them."""
    if len(tasks) == 1:
        (task,) = tasks
        await wait_until_done(task, cancel)
        return
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
    """A list of items that listeners iterate over while it grows; each gets all items from the first."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._changed: asyncio.Event | None = None  # created by the first waiter, because most runs have none
        self._has_ended = False

    def publish(self, item: Item) -> None:
        """Add an item for current and later listeners."""
        self.items.append(item)
        if self._changed is not None:
            self.wake()

    def wake(self) -> None:
        """Wake all callers that wait in `wait`."""
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def close(self) -> None:
        """End the broadcast: iteration stops after the last item."""
        self._has_ended = True
        self.wake()

    async def wait(self) -> None:
        """Wait for the next item, for `wake` or for `close`. Return at once after `close`."""
        if self._has_ended:
            return
        if self._changed is None:
            self._changed = asyncio.Event()
        await self._changed.wait()

    async def __aiter__(self) -> AsyncIterator[Item]:
        seen = 0
        while True:
            while seen < len(self.items):  # more may be added while a listener is busy
                yield self.items[seen]
                seen += 1
            if self._has_ended:
                return
            await self.wait()


# Set by a Firing in its task and inherited by all tasks below it; unset if an executor is used alone.
_run_started: ContextVar[float | None] = ContextVar("hookscope_run_began", default=None)


def start_run_clock() -> float:
    """Measure the times of this run from now on. Return the current perf_counter time."""
    now = perf_counter()
    _run_started.set(now)
    return now


def since_run_start(moment: float) -> float:
    """Return a perf_counter time as seconds since the run started; unchanged outside a run."""
    began = _run_started.get()
    return moment if began is None else moment - began


def running_loop(done: str, call: str) -> asyncio.AbstractEventLoop:
    """Return the running loop. Raises RuntimeError if asyncio runs none, as under Trio.

    `done` describes what needs the loop ("an event is fired"), and `call` names the function ("fire()").
    """
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        then = f"call {call} from a coroutine, such as the one that you pass to `asyncio.run`"
        asyncio_only = "Hookscope runs under asyncio, not under Trio"
        raise RuntimeError(f"{done} in a running event loop: {then}. {asyncio_only}") from None

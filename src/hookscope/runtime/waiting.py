"""Waiting for an end that must come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_the_end(work: Coroutine[object, object, T]) -> T:
    """Await what cancellation may delay but not interrupt.

    A cancel that came meanwhile is raised once the work has ended, also where the work failed.
    """
    task = asyncio.ensure_future(work)
    try:
        await until_over(task, lambda: None)
    except asyncio.CancelledError:
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not complain
        raise
    return task.result()


class Bell:
    """Rung by a task in the step that ends it, it wakes who waits a turn of the loop before asyncio would."""

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: list[asyncio.Future[None]] = []

    def ring(self, _: object = None) -> None:
        """Wake all who wait now."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self) -> None:
        """Until it is rung. Being cancelled is the caller's own affair."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            self._waiters.remove(waiter)


async def until_over(task: asyncio.Future[Any], cancel: Callable[[], None], bell: Bell | None = None) -> None:
    """Wait for a task that `cancel` asks to end. Who is cancelled meanwhile asks it, and leaves when it has.

    `bell` is one that the task itself rings, where it has one. Raises CancelledError for a cancel of the
    caller's own, and never what the task raised.
    """
    await until_all_over((task,), cancel, bell or Bell())


async def until_all_over(
    tasks: Collection[asyncio.Future[Any]], cancel: Callable[[], None], bell: Bell
) -> None:
    """As `until_over`, for tasks that `cancel` asks to end all together."""
    cancelled = False
    for task in tasks:  # also where it was cancelled before its first step, and never rings
        task.add_done_callback(bell.ring)
    try:
        while not all(task.done() for task in tasks):
            try:
                await bell.wait()  # not the task: a cancel of ours would be one of its own
            except asyncio.CancelledError:
                cancelled = True
                cancel()
    finally:
        for task in tasks:
            task.remove_done_callback(bell.ring)
    if cancelled:
        raise asyncio.CancelledError

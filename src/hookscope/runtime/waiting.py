"""Waiting for an end that must come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
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


async def until_over(task: asyncio.Future[Any], cancel: Callable[[], None]) -> None:
    """Wait for a task that `cancel` asks to end. Who is cancelled meanwhile asks it, and leaves when it has.

    Raises CancelledError for a cancel of the caller's own, and never what the task raised.
    """
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})  # raises our own cancel only, never the task's
        except asyncio.CancelledError:
            cancelled = True
            cancel()
    if cancelled:
        raise asyncio.CancelledError

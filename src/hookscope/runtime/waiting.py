"""Waiting for an end that must come."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


async def to_the_end(work: Coroutine[object, object, T]) -> T:
    """Await what cancellation may delay but not interrupt.

    A cancel that came meanwhile is raised once the work has ended, also where the work failed.
    """
    task, cancelled = asyncio.ensure_future(work), False
    while not task.done():
        try:
            await asyncio.wait({task})  # raises our own cancel only, never the task's
        except asyncio.CancelledError:
            cancelled = True
    if cancelled:
        if not task.cancelled():
            task.exception()  # looked at, so that asyncio does not complain
        raise asyncio.CancelledError
    return task.result()

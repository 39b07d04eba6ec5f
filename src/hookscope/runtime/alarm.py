"""A timer that is set for each of many short waits, and seldom reaches the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context


class Alarm:
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

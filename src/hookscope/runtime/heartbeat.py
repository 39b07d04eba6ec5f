"""Time limits for handlers in this process: one timer a loop, however many handlers run.

`asyncio.timeout` for each handler costs ten times what the handler's call costs. Here a handler
costs one number written into its cell, its start; the beat compares.
"""

from __future__ import annotations

import asyncio
import math
from threading import local
from time import perf_counter
from typing import Literal
from weakref import ref

BEAT = 0.02  # seconds: how late a limit may be noticed


class Cell:
    """What one running batch, its heartbeat and its lane tell each other.

    `asked` names who wants the running handler to stop: nobody, the limit, or the lane's caller. So
    the hot loop asks one question only.
    """

    __slots__ = ("asked", "began", "limit", "since", "task")

    began: float  # of perf_counter: the first handler, from when the batch runs; then whoever reads it

    def __init__(self, limit: float = 0.0) -> None:
        self.asked: Literal["", "limit", "caller"] = ""
        # Of perf_counter: when the running handler began, or was last asked. A beat may come before that.
        self.since = math.inf
        self.limit = limit  # seconds; 0: nobody watches
        self.task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Let the handler feel a CancelledError, and no other begin. Saying it again asks again."""
        self.asked = "caller"
        if self.task is not None:
            self.task.cancel()

    def overrun(self, now: float) -> None:
        """The limit is over. A handler that goes on in spite of it is asked again one limit later."""
        self.asked = self.asked or "limit"
        self.since = now
        if self.task is not None:
            self.task.cancel()

    def forget_overrun(self) -> None:
        """The next handler starts clean, for `asyncio.timeout` and TaskGroup too."""
        self.asked = ""
        while self.task is not None and self.task.cancelling():
            self.task.uncancel()


class Heartbeat:
    """Watches the deadlines of one loop's cells; beats only while there are any."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = ref(loop)
        self._cells: set[Cell] = set()
        self._beating = False

    def watch(self, cell: Cell) -> None:
        """Look at this cell's limit with every beat, until it leaves. In the loop that beats."""
        self._cells.add(cell)
        if not self._beating:
            self._beating = True
            asyncio.get_running_loop().call_later(BEAT, self._beat)

    def leave(self, cell: Cell) -> None:
        """Look at it no longer. Again is nothing."""
        self._cells.discard(cell)

    def _beat(self) -> None:
        now = perf_counter()
        for cell in self._cells:
            if now - cell.since >= cell.limit:
                cell.overrun(now)
        self._beating = bool(self._cells)
        if self._beating:
            asyncio.get_running_loop().call_later(BEAT, self._beat)


class _OfThread(local):
    beat: Heartbeat | None = None


_LAST = _OfThread()


def heartbeat() -> Heartbeat:
    """The running loop's own. A thread runs one loop at a time, so the last one is nearly always it."""
    loop = asyncio.get_running_loop()
    beat = _LAST.beat
    if beat is None or beat.loop() is not loop:
        beat = _LAST.beat = Heartbeat(loop)  # an older one still beats for what it watches
    return beat

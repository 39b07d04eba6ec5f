"""One worker that is ready before anybody wants it, so that nobody waits when another has died."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hookscope.runtime.limits import Limits
from hookscope.runtime.peer import NotStarted, Peer
from hookscope.runtime.starting import started


class Spare:
    """Starts workers, and one ahead where it `keeps` one. It owns that one until somebody takes it."""

    def __init__(self, make: Callable[[], Peer], limits: Limits, *, keeps: bool) -> None:
        self._make = make
        self._limits = limits
        self._keeps = keeps
        self._ahead: asyncio.Task[Peer] | None = None

    @property
    def begun(self) -> bool:
        """Was one started ahead that nobody has taken yet."""
        return self._ahead is not None

    @property
    def waiting(self) -> Peer | None:
        """The one that is ready and lives."""
        ahead = self._ahead
        if ahead is None or not ahead.done() or ahead.cancelled() or ahead.exception():
            return None
        return ahead.result() if ahead.result().alive else None

    def provide(self) -> None:
        """Start one behind a batch, when nobody waits for the processor."""
        if self._keeps and self._ahead is None:
            self._ahead = asyncio.get_running_loop().create_task(started(self._make, self._limits))

    async def take(self) -> Peer:
        """The one ahead, or a new one: it is the caller's from then on. Raises NotStarted."""
        ahead, self._ahead = self._ahead, None  # at once: plugins ask for workers beside each other
        if ahead is None:
            return await started(self._make, self._limits)
        try:
            return await asyncio.shield(ahead)
        except asyncio.CancelledError:
            self._ahead = ahead
            raise

    async def close(self) -> None:
        """End the one that nobody has taken, and start no other."""
        self._keeps = False
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            try:
                worker = await ahead
            except NotStarted:
                return
            await worker.end()

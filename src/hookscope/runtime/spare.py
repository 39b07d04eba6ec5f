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
        self._expected = False  # it was started for who comes next

    @property
    def has_waited(self) -> bool:
        """Was one started ahead that nobody has wanted until now."""
        return self._ahead is not None and not self._expected

    @property
    def waiting(self) -> Peer | None:
        """The one that is ready and lives."""
        ahead = self._ahead
        if ahead is None or not ahead.done() or ahead.cancelled() or ahead.exception():
            return None
        return ahead.result() if ahead.result().alive else None

    def provide(self) -> None:
        """Start one behind a batch, when nobody waits for the processor."""
        self._expected = False  # somebody came, and did not need it
        if self._keeps:
            self._start()

    def expect(self) -> None:
        """Start one for who comes next, where none is ahead."""
        self._expected = self._ahead is None
        self._start()

    def _start(self) -> None:
        if self._ahead is None:
            self._ahead = asyncio.get_running_loop().create_task(started(self._make, self._limits))

    async def take(self) -> Peer:
        """The one ahead, or a new one: it is the caller's from then on. Raises NotStarted."""
        self._expected, ahead, self._ahead = (
            False,
            self._ahead,
            None,
        )  # at once: plugins ask for workers beside each other
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

"""What handlers print or throw between two batches of their worker: heard, gathered and told as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from hookscope.runtime.peer import Peer
from hookscope.runtime.traces import Traces

GATHER = 0.1  # seconds in which late output is gathered before it is told


class Between:
    """Attends to one worker at a time, from the end of a batch until the next one begins."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces
        self._due: asyncio.TimerHandle | None = None  # when what came late is told
        self._worker: Peer | None = None  # that is attended to

    def attend(self, worker: Peer, told: Callable[[str, str], None]) -> None:
        """Hear of what comes from now on, and tell whose it is and what."""
        loop = asyncio.get_running_loop()
        self._worker = worker

        def tell() -> None:
            self._due = None
            if worker is self._worker:
                for who, text in self._traces.late_news(worker):
                    told(who, text)

        def news() -> None:
            if self._due is None:
                self._due = loop.call_later(GATHER, tell)

        worker.attend(news)
        tell()  # what came between the last answer and now has nobody else to tell it

    def hush(self) -> None:
        """From here on what comes is of the handler that is loaded or run next: nobody tells it as late."""
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def leave(self) -> None:
        """Its worker is ended: what it has said is of no handler any more."""
        self._worker = None

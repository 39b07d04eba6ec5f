"""Ctrl-C while something goes on: it is asked to end, and what is known by then is still the answer."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Protocol


@contextmanager
def ended_by_interrupt(cancel: Callable[[], object]) -> Iterator[None]:
    """While this is open, in a running loop, Ctrl-C calls `cancel`.

    On Windows it ends the program there; a thread beside the main one hears of no signal.
    """
    loop = asyncio.get_running_loop()
    # NotImplementedError: loops of Windows know no signals. RuntimeError: only the main thread gets them.
    with suppress(NotImplementedError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, cancel)
    try:
        yield
    finally:
        with suppress(NotImplementedError):  # Windows; in another thread there is none to remove
            loop.remove_signal_handler(signal.SIGINT)


class Running(Protocol):
    """What goes on and can be cancelled."""

    def cancel(self) -> object:
        """Ask it to end."""


class OneAfterAnother:
    """Ctrl-C while things are fired one after another: the one that runs is cancelled, no other begins."""

    def __init__(self) -> None:
        self.stopped = False
        self._running: Running | None = None

    def stop(self) -> None:
        """Cancel what runs now."""
        self.stopped = True
        if self._running is not None:
            self._running.cancel()

    def begun(self, running: Running) -> None:
        """The next one has begun."""
        self._running = running
        if self.stopped:
            running.cancel()

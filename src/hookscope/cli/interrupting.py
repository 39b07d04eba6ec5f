"""Ctrl-C while something goes on: it is asked to end, and what is known by then is still the answer."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


@contextmanager
def ended_by_interrupt(cancel: Callable[[], object]) -> Iterator[None]:
    """While this is open, in a running loop, Ctrl-C calls `cancel`. On Windows it ends the program there."""
    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows: its loops know no signals
        loop.add_signal_handler(signal.SIGINT, cancel)
    try:
        yield
    finally:
        with suppress(NotImplementedError):  # as above
            loop.remove_signal_handler(signal.SIGINT)

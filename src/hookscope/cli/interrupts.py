"""Ctrl-C while handlers run: cancel them, and report the results so far."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, TypeVar

from hookscope.app.workbench import Workbench
from hookscope.model.failure import Refusal

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def cancel_on_interrupt(cancel: Callable[[], object]) -> Iterator[None]:
    """Call `cancel` when Ctrl-C is pressed inside the block, which needs a running event loop.

    On Windows Ctrl-C ends the program; threads other than the main thread receive no signal.
    """
    loop = asyncio.get_running_loop()
    # NotImplementedError: Windows loops have no signals. RuntimeError: not the main thread.
    with suppress(NotImplementedError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, cancel)
    try:
        yield
    finally:
        with suppress(NotImplementedError):  # Windows; in another thread there is no handler to remove
            loop.remove_signal_handler(signal.SIGINT)


class Cancellable(Protocol):
    """Something that runs and can be cancelled."""

    def cancel(self) -> object:
        """Request cancellation."""


class InterruptibleSeries:
    """A series of runs that Ctrl-C ends: the current run is cancelled, and no further one starts."""

    def __init__(self) -> None:
        self.stopped = False
        self._current: Cancellable | None = None

    def stop(self) -> None:
        """Cancel the current run and end the series."""
        self.stopped = True
        if self._current is not None:
            self._current.cancel()

    def started(self, running: Cancellable) -> None:
        """Record that the next run has started."""
        self._current = running
        if self.stopped:
            running.cancel()


async def fire_one_by_one(
    bench: Workbench, items: Sequence[T], fire: Callable[..., Awaitable[R]], name_of: Callable[[T], str]
) -> tuple[list[R], list[str]]:
    """Fire items one after another; return the results, and a sentence for each failure to fire.

    `fire` passes each started run to its argument `on_start`. Ctrl-C cancels the current run and ends the
    series. The workbench is closed at the end.
    """
    results: list[R] = []
    failures: list[str] = []
    series = InterruptibleSeries()
    try:
        with cancel_on_interrupt(series.stop):
            for item in items:
                name = name_of(item)
                try:
                    results.append(await fire(item, on_start=series.started))
                except Refusal as error:
                    message = str(error)
                    failures.append(message if message.startswith(f"{name} ") else f"{name}: {message}")
                except OSError as error:
                    failures.append(f"{name}: cannot make copies for the sandbox: {error}.")
                if series.stopped:
                    failures.append(f"Stopped: {len(results)} of {len(items)} were fired.")
                    break
    finally:
        await bench.close()
    return results, failures

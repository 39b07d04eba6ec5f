"""Ctrl-C while handlers run: cancel them, and answer with what is known."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, TypeVar

from hookscope.app.workbench import Workbench
from hookscope.model.refusal import Refusal

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def cancel_on_interrupt(cancel: Callable[[], object]) -> Iterator[None]:
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


class Cancellable(Protocol):
    """What goes on and can be cancelled."""

    def cancel(self) -> object:
        """Ask it to end."""


class InterruptibleSeries:
    """Ctrl-C while things are fired one after another: the one that runs is cancelled, no other begins."""

    def __init__(self) -> None:
        self.stopped = False
        self._running: Cancellable | None = None

    def stop(self) -> None:
        """Cancel what runs now."""
        self.stopped = True
        if self._running is not None:
            self._running.cancel()

    def begun(self, running: Cancellable) -> None:
        """The next one has begun."""
        self._running = running
        if self.stopped:
            running.cancel()


async def fire_in_turn(
    bench: Workbench,
    items: Sequence[T],
    fire: Callable[[T, Callable[[Cancellable], object]], Awaitable[R]],
    named: Callable[[T], str],
) -> tuple[list[R], list[str]]:
    """Fire one after another: what came of each, and a sentence for each that could not be fired.

    `fire` tells what has begun. Ctrl-C ends it after the one that runs; the workbench is closed in the end.
    """
    done: list[R] = []
    refused: list[str] = []
    turns = InterruptibleSeries()
    try:
        with cancel_on_interrupt(turns.stop):
            for item in items:
                name = named(item)
                try:
                    done.append(await fire(item, turns.begun))
                except Refusal as error:
                    said = str(error)
                    refused.append(said if said.startswith(f"{name} ") else f"{name}: {said}")
                except OSError as error:
                    refused.append(f"{name}: cannot make copies for the sandbox: {error}.")
                if turns.stopped:
                    refused.append(f"Stopped: {len(done)} of {len(items)} were fired.")
                    break
    finally:
        await bench.close()
    return done, refused

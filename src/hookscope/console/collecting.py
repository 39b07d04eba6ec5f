"""Thousands of hooks are a million objects. Python walks all of them in search of cycles again and again, and
meanwhile no key is answered."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Sized

MANY = 1_000  # hooks; with fewer the search is not felt
RARELY = (20_000, 20, 50)  # objects more than before; then how often of the younger before the older
PAUSE = 0.3  # seconds without a key: nobody waits for an answer
MUCH = 5_000  # objects more than before: in a pause, a search among them is worth its while


def put_off() -> None:
    """Search for no cycles until the first hooks are there: a start makes many objects, and all are kept."""
    gc.disable()


def go_on() -> None:
    """Search from now on, but not among what the start has made. Nothing where nothing was put off."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def set_aside(found: Sized) -> None:
    """Leave what there is now out of later searches where it is much.

    What a look has found holds no cycles: it goes as the next look takes its place, set aside or not.
    """
    if len(found) >= MANY:
        gc.collect(1)  # the young ones, which may hold some
        gc.freeze()
        gc.set_threshold(*RARELY)


class Pauses:
    """Searches while nobody presses a key, where there are so many hooks that it is done rarely else."""

    def __init__(self) -> None:
        self._next: asyncio.TimerHandle | None = None

    def end(self) -> None:
        """A key was pressed."""
        if self._next is not None:
            self._next.cancel()
            self._next = None
        if gc.get_threshold() == RARELY:
            self._next = asyncio.get_running_loop().call_later(PAUSE, self._search)

    def _search(self) -> None:
        self._next = None
        young, _, searches = gc.get_count()
        if young >= MUCH:
            gc.collect(2 if searches >= RARELY[2] else 1)

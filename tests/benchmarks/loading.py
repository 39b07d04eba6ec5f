"""`await load_hooks()` beside an event loop that has other things to do: how long it keeps them waiting."""

import asyncio
import os
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

from tests.benchmarks.building import loop, write_hooks
from tests.benchmarks.measuring import Group, Target, Variant

from hookscope import close_hooks, load_hooks

HOOKS = 500
MOST = 0.05  # seconds that other tasks wait at a time
BUSY = 0.2  # seconds that the thread of the floor computes
FLOOR = "the loop's longest pause beside a busy thread"
ALL = f"load_hooks of {HOOKS} hooks, in all"
PAUSE = "the loop's longest pause meanwhile"


async def longest_pause(work: Awaitable[object]) -> float:
    """The longest time in which a task that always wants its turn did not get it while `work` ran."""
    worst, task = 0.0, asyncio.ensure_future(work)
    last = perf_counter()
    while not task.done():
        await asyncio.sleep(0)
        now = perf_counter()
        worst, last = max(worst, now - last), now
    await task
    return worst


def busy() -> None:
    """Compute and hold the interpreter, as reading files does."""
    end = perf_counter() + BUSY
    while perf_counter() < end:
        pass


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    write_hooks(folder / "hooks", HOOKS)
    files = [folder / "hooks" / name / "handler.py" for name in os.listdir(folder / "hooks")]

    def changed() -> None:
        """Every handler is imported anew."""
        for file in files:
            file.write_text(f"{file.read_text()}#\n")

    async def in_all() -> float:
        changed()
        began = perf_counter()
        assert (await load_hooks(folder)).registered == HOOKS
        return perf_counter() - began

    async def pause() -> float:
        changed()
        return await longest_pause(load_hooks(folder))

    async def floor() -> float:
        return await longest_pause(asyncio.to_thread(busy))

    with loop() as sampled:
        try:
            yield [
                Variant(FLOOR, sampled(floor)),
                Variant(ALL, sampled(in_all)),
                Variant(PAUSE, sampled(pause)),
            ]
        finally:
            sampled(_closed)()


async def _closed() -> float:
    await close_hooks()
    return 0.0


GROUP = Group(
    "loading",
    f"`await load_hooks()` of {HOOKS} hooks",
    opened,
    FLOOR,
    (Target(PAUSE, 0.25, ALL), Target(PAUSE, MOST)),
)

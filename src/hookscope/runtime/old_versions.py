"""Modules of replaced handlers in this process: forgotten once nothing runs in them."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import field
from types import FrameType
from typing import Any

from hookscope.runtime.python_worker.modules import PREFIX
from hookscope.values import dataclass

UNDER_WAY = set[asyncio.Task[Any]]()  # firings that have not ended; the loop holds tasks weakly
EACH = 16  # times that modules were forgotten: modules refer to themselves, and a search frees them


@dataclass(slots=True)
class OldVersions:
    """Names of modules that no registration calls any more.

    Firings that were under way when they were replaced may still call them; their tasks and threads may run
    on. Not thread-safe: for one event loop.
    """

    forget: Callable[[Collection[str]], object]
    _waiting: dict[str, tuple[asyncio.Task[Any], ...]] = field(default_factory=dict)
    _swept: int = 0

    def add(self, names: Iterable[str], firings: Iterable[asyncio.Task[Any]]) -> None:
        """Forget these, once these firings have ended and nothing else runs in them."""
        under_way = tuple(firings)
        self._waiting |= dict.fromkeys(names, under_way)
        self._listen(under_way)
        self.sweep()

    def drop(self, names: Iterable[str]) -> None:
        """These are in use again: a file was changed back."""
        for name in names:
            self._waiting.pop(name, None)

    def sweep(self, _: object = None) -> None:
        """Forget what nothing runs in any more."""
        free = [name for name, tasks in self._waiting.items() if all(task.done() for task in tasks)]
        if not free:
            return
        busy = _threads_in()
        for task in _tasks():
            if found := set(_packages_of(_frames_of_task(task))):
                busy |= found
                self._listen((task,))
        free = [name for name in free if name not in busy]
        for name in free:
            del self._waiting[name]
        self.forget(free)
        self._swept += bool(free)
        if free and self._swept % EACH == 0:
            gc.collect()

    def _listen(self, tasks: Iterable[asyncio.Task[Any]]) -> None:
        """Sweep when these end. Those of another loop are seen at the next sweep."""
        loop = asyncio.get_running_loop()
        for task in tasks:
            if task.get_loop() is loop:
                task.add_done_callback(self.sweep)


def _tasks() -> set[asyncio.Task[Any]]:
    try:
        return asyncio.all_tasks()
    except RuntimeError:  # no loop runs any more
        return set()


def _threads_in() -> set[str]:
    """The names of modules that code of any thread, this one included, is in."""
    found = set[str]()
    for frame in sys._current_frames().values():
        found.update(_packages_of(_callers_of(frame)))
    return found


def _callers_of(frame: FrameType) -> Iterator[FrameType]:
    caller: FrameType | None = frame
    while caller is not None:
        yield caller
        caller = caller.f_back


def _frames_of_task(task: asyncio.Task[Any]) -> Iterator[FrameType]:
    """The frames of a task, from the outermost to the one that waits."""
    awaited: Any = task.get_coro()
    while awaited is not None:
        for name in ("cr", "gi", "ag"):
            frame = getattr(awaited, f"{name}_frame", None)
            if isinstance(frame, FrameType):
                yield frame
                awaited = getattr(awaited, f"{name}_await", None) or getattr(awaited, "gi_yieldfrom", None)
                break
        else:
            return


def _packages_of(frames: Iterable[FrameType]) -> Iterator[str]:
    for frame in frames:
        name = frame.f_globals.get("__name__")
        if isinstance(name, str) and name.startswith(PREFIX):
            yield name.partition(".")[0].removeprefix(PREFIX)

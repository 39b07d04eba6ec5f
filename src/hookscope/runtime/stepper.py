"""A run that waits before each handler until a caller says how to continue."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from enum import Enum
from time import perf_counter
from typing import Any

from hookscope.model.executor import Executor, ExecutorOf
from hookscope.model.failure import Failure
from hookscope.model.run import Code, Handler, Module, OnStep, Paused, Registration, Skipped
from hookscope.runtime.async_helpers import since_run_start
from hookscope.runtime.payloads import document_of


class _StepCommand(Enum):
    """What somebody says of what waits."""

    GO = "go"
    SKIP = "skip"
    ALL = "all"


class Stepper:
    """One run's, from its first handler to its last; what the event causes is part of it.

    Of one event loop. Who is waited for by nobody hears nothing: words that come too early are in vain.
    """

    def __init__(self) -> None:
        self._waits: asyncio.Future[_StepCommand] | None = None
        self._lanes: dict[int, SteppedExecutor] = {}  # so that neighbours of one lane stay neighbours
        self._turn = asyncio.Lock()  # lanes that begin side by side are asked one after the other
        self._all = False

    @property
    def waits(self) -> bool:
        """Does a handler wait for a word."""
        return self._waits is not None and not self._waits.done()

    def run_it(self) -> bool:
        """Let what waits begin. False where nothing waits."""
        return self._say(_StepCommand.GO)

    def pass_over(self) -> bool:
        """Go on without what waits. False where nothing waits."""
        return self._say(_StepCommand.SKIP)

    def run_all(self) -> bool:
        """Let what waits begin, and all that follows as it comes. False where nothing waits."""
        return self._say(_StepCommand.ALL)

    def _say(self, word: _StepCommand) -> bool:
        if self._waits is None or self._waits.done():
            return False
        self._waits.set_result(word)
        return True

    def lanes(self, lane_of: ExecutorOf) -> ExecutorOf:
        """The lanes that these are, with a wait before each handler."""

        def of(call: Registration) -> Executor:
            lane = lane_of(call)
            return self._lanes.setdefault(id(lane), SteppedExecutor(lane, self))

        return of

    async def goes(self, calls: Sequence[Registration], view: Any, step: OnStep) -> bool:
        """Wait before these, which begin together: do they run. A cancel ends the waiting."""
        async with self._turn:
            word = _StepCommand.ALL if self._all else await self._word(calls, view, step)
        self._all = word is _StepCommand.ALL
        if word is not _StepCommand.SKIP:
            return True
        for call in calls:
            step(Skipped(call))
        return False

    async def _word(self, calls: Sequence[Registration], view: Any, step: OnStep) -> _StepCommand:
        self._waits = asyncio.get_running_loop().create_future()
        document, _ = document_of(view)
        step(Paused(calls[0], since_run_start(perf_counter()), tuple(calls[1:]), document))
        try:
            return await self._waits
        finally:
            self._waits = None


class SteppedExecutor:
    """A lane in front of another, whose handlers wait for a word."""

    def __init__(self, lane: Executor, stepper: Stepper) -> None:
        self._lane, self._stepper = lane, stepper

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run."""
        for call in batch:
            if await self._stepper.goes((call,), view, step):
                await self._lane.run((call,), view, step)

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """See Lane.run_in_turn."""
        for view, call in zip(views, calls, strict=False):  # the views end early, or one step behind
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """See Lane.run_together."""
        if await self._stepper.goes([call for call, _ in calls], calls[0][1], step):
            await self._lane.run_together(calls, step)

    async def load(self, code: Code) -> Handler | Code | Module | Failure:
        """See Lane.load."""
        return await self._lane.load(code)

    async def close(self) -> None:
        """See Lane.close. The lane behind it is its owner's."""

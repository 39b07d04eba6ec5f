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
        self._pending: asyncio.Future[_StepCommand] | None = None
        self._executors: dict[int, SteppedExecutor] = {}  # so that neighbours of one lane stay neighbours
        self._lock = asyncio.Lock()  # lanes that begin side by side are asked one after the other
        self._runs_all = False

    @property
    def is_waiting(self) -> bool:
        """Does a handler wait for a word."""
        return self._pending is not None and not self._pending.done()

    def run_it(self) -> bool:
        """Let what waits begin. False where nothing waits."""
        return self._answer(_StepCommand.GO)

    def pass_over(self) -> bool:
        """Go on without what waits. False where nothing waits."""
        return self._answer(_StepCommand.SKIP)

    def run_all(self) -> bool:
        """Let what waits begin, and all that follows as it comes. False where nothing waits."""
        return self._answer(_StepCommand.ALL)

    def _answer(self, command: _StepCommand) -> bool:
        if self._pending is None or self._pending.done():
            return False
        self._pending.set_result(command)
        return True

    def executors(self, executor_of: ExecutorOf) -> ExecutorOf:
        """The lanes that these are, with a wait before each handler."""

        def stepped_executor_of(call: Registration) -> Executor:
            lane = executor_of(call)
            return self._executors.setdefault(id(lane), SteppedExecutor(lane, self))

        return stepped_executor_of

    async def may_run(self, calls: Sequence[Registration], view: Any, step: OnStep) -> bool:
        """Wait before these, which begin together: do they run. A cancel ends the waiting."""
        async with self._lock:
            command = _StepCommand.ALL if self._runs_all else await self._wait_for_command(calls, view, step)
        self._runs_all = command is _StepCommand.ALL
        if command is not _StepCommand.SKIP:
            return True
        for call in calls:
            step(Skipped(call))
        return False

    async def _wait_for_command(self, calls: Sequence[Registration], view: Any, step: OnStep) -> _StepCommand:
        self._pending = asyncio.get_running_loop().create_future()
        document, _ = document_of(view)
        step(Paused(calls[0], since_run_start(perf_counter()), tuple(calls[1:]), document))
        try:
            return await self._pending
        finally:
            self._pending = None


class SteppedExecutor:
    """A lane in front of another, whose handlers wait for a word."""

    def __init__(self, executor: Executor, stepper: Stepper) -> None:
        self._executor, self._stepper = executor, stepper

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run."""
        for call in batch:
            if await self._stepper.may_run((call,), view, step):
                await self._executor.run((call,), view, step)

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """See Lane.run_in_turn."""
        for view, call in zip(views, calls, strict=False):  # the views end early, or one step behind
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """See Lane.run_together."""
        if await self._stepper.may_run([call for call, _ in calls], calls[0][1], step):
            await self._executor.run_together(calls, step)

    async def load(self, code: Code) -> Handler | Code | Module | Failure:
        """See Lane.load."""
        return await self._executor.load(code)

    async def close(self) -> None:
        """See Lane.close. The lane behind it is its owner's."""

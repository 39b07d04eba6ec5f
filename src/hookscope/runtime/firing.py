"""One firing of an event: the task that runs it, and everybody who listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Any

from hookscope.core.lanes import LaneOf, Recorder
from hookscope.core.open_files import REACHED, THEN, is_exhausted
from hookscope.core.runs import Event, Paused, Plan, Run, Step
from hookscope.runtime.broadcast import Broadcast
from hookscope.runtime.clock import begin_run
from hookscope.runtime.dispatch import dispatch
from hookscope.runtime.nesting import DEPTH, Nested
from hookscope.runtime.old_versions import UNDER_WAY
from hookscope.runtime.python_worker.faults import safe_text
from hookscope.runtime.run_so_far import RunSoFar
from hookscope.runtime.waiting import Bell, until_over


class Firing:
    """One event on its way: iterate it for steps, await it for the Run, or cancel it.

    Make it inside a running loop; it starts by itself. It owns its task, and only `cancel` stops
    that task. It ends in exactly one Run, and every planned call in one result or one `not_run`.

    Args:
        recorder: gives the run its id and keeps it. Its failures become notes and log lines.
        follow: plans the events that the policy asks for afterwards. Their runs are `caused`, and
            their steps are seen here too.
        complete: has the last word on the Run, before its end is recorded. Awaited whatever happened.
        begins: hears of this run and of each that it causes; what it returns hears of the end.
    """

    def __init__(
        self,
        plan: Plan,
        lane_of: LaneOf,
        *,
        recorder: Recorder | None = None,
        follow: Callable[[Event], Plan] | None = None,
        complete: Callable[[Run], Awaitable[Run]] | None = None,
        begins: Callable[[Plan], Callable[[Run], object]] | None = None,
    ) -> None:
        self._complete = complete
        self._begins = begins
        self._lane_of = lane_of
        self._recorder = recorder
        self._follow = follow
        self._steps: Broadcast[Step] = Broadcast()
        self._cancelled = False
        self._begun = False  # a task that is cancelled before its first step never takes it
        self._so_far: RunSoFar | None = None  # of the event itself, not of what it causes
        self._run: Run | None = None
        self._nested: Nested | None = None
        self._over = Bell()
        self._task = _running_loop().create_task(self._fire(plan))
        UNDER_WAY.add(self._task)
        self._task.add_done_callback(UNDER_WAY.discard)

    @property
    def done(self) -> bool:
        """Is there a Run, recorded where somebody records."""
        return self._run is not None

    @property
    def is_cancelled(self) -> bool:
        """Has somebody asked it to end, though perhaps too late."""
        return self._cancelled

    async def number(self) -> int | None:
        """The id of the run, as soon as its beginning is on record; None where it is on none, or waits for
        somebody's word before it is."""
        while self._recorder is not None and not self.done and not self._waits_unrecorded():
            so_far = self._so_far
            if so_far is not None and (so_far.id is not None or so_far.unrecorded):
                break
            await self._steps.news()
        return self._so_far.id if self._so_far is not None else None

    def _waits_unrecorded(self) -> bool:
        return bool(self._steps.told) and isinstance(self._steps.told[-1], Paused)

    def cancel(self) -> None:
        """Stop the running handler and start no other. The Run still comes; await it to have it.

        Saying it again asks a handler again that went on in spite of the first.
        """
        self._cancelled = True
        if self._begun and not self.done:
            self._task.cancel()

    def __await__(self) -> Generator[Any, None, Run]:
        """The Run. An awaiter that is cancelled cancels the firing, and leaves when it has ended."""
        return self._awaited().__await__()

    async def _awaited(self) -> Run:
        await until_over(self._task, self.cancel, self._over)
        return self._task.result()

    def __aiter__(self) -> AsyncIterator[Step]:
        """All steps from the beginning. Leaving the loop cancels nothing."""
        return aiter(self._steps)

    async def _fire(self, plan: Plan) -> Run:
        self._begun = True
        self._nested = nested = Nested(plan.event.key)
        try:
            self._run = await self._fired(plan, nested.depth, nested.endless)
        finally:
            nested.leave()
        self._steps.end()
        self._over.ring()
        return self._run

    async def _fired(self, plan: Plan, depth: int, endless: str = "") -> Run:
        """One event and what it causes. Never raises: what goes wrong stands in the Run.

        `depth`: of firings in each other; `endless`: why it is not fired at all.
        """
        if self._nested is not None:
            self._nested.enter(depth)
        ends = self._begins(plan) if self._begins is not None else None
        so_far = RunSoFar(plan, begin_run(), self._steps.tell, self._recorder, self._steps.stir)
        self._so_far = self._so_far or so_far
        try:
            if self._cancelled:
                raise asyncio.CancelledError
            if endless:
                so_far.endless = so_far.broken = endless
            else:
                so_far.ending = await dispatch(plan, self._lane_of, so_far.take, so_far.begin, so_far.keep)
            follow_ups = so_far.ending.follow_ups if so_far.ending is not None else ()
            for event in follow_ups if self._follow is not None else ():
                if depth >= DEPTH:
                    so_far.notes.append(f"`{event.key}` was not fired: events caused each other {DEPTH} deep")
                    continue
                await self._caused(so_far, event, depth)
        except asyncio.CancelledError:  # `cancel` says so, or the loop itself is closing
            so_far.cancelled = self._cancelled = True
        except Exception as error:  # ours or a policy's: the run must end, be recorded, and say it
            so_far.broken = f"Hookscope failed: {type(error).__name__}: {safe_text(error)}"
            if is_exhausted(error):
                so_far.broken = f"Hookscope failed: {REACHED}. {THEN}"
        if self._nested is not None and so_far is self._so_far:
            so_far.notes += self._nested.stopped_below()
        run = await self._ended(so_far, None if so_far is not self._so_far else self._complete)
        if ends is not None:
            ends(run)
        return run

    async def _caused(self, so_far: RunSoFar, event: Event, depth: int) -> None:
        if self._follow is None:
            return
        try:
            plan = self._follow(event)
        except Exception as error:  # a plan that cannot be made is no reason to lose the run
            so_far.notes.append(f"`{event.key}` was not fired: {safe_text(error)}")
            return
        so_far.caused.append(await self._fired(plan, depth + 1))
        if self._cancelled:
            raise asyncio.CancelledError

    async def _ended(self, so_far: RunSoFar, complete: Callable[[Run], Awaitable[Run]] | None) -> Run:
        """The Run, recorded. No cancel gets in between."""
        if self._recorder is None and complete is None:  # then nothing awaits, and a task would be in vain
            return so_far.run()
        closing = asyncio.ensure_future(so_far.close(complete))
        while not closing.done():
            try:
                await asyncio.wait({closing})
            except asyncio.CancelledError:
                self._cancelled = True  # too late for this run; the one that caused it stops
        return closing.result()


def _running_loop() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        then = "call fire() in a coroutine, such as one that `asyncio.run` runs"
        raise RuntimeError(f"an event is fired in a running event loop: {then}") from None

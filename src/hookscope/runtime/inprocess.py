"""Handlers in this process: for programs that embed Hookscope, and for handlers that are part of them.

Nothing here survives `os._exit`, a crash of the interpreter or a handler that never awaits; for that
there are process lanes. What it gives is speed: a handler costs three times its bare call.
"""

from __future__ import annotations

import asyncio
import math
from asyncio import CancelledError
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from inspect import isawaitable
from itertools import groupby
from time import perf_counter
from typing import Any, TypeAlias

from hookscope.core.arguments import Arguments
from hookscope.core.failure import Failure
from hookscope.core.given import closed, opened
from hookscope.core.runs import Code, Declared, Handler, Module, OnStep, Registration, Started
from hookscope.runtime.clock import since_start
from hookscope.runtime.failures import LoadFailed
from hookscope.runtime.heartbeat import Cell, heartbeat
from hookscope.runtime.imported import Modules
from hookscope.runtime.observing import Observer, Pair, Record
from hookscope.runtime.old_versions import UNDER_WAY
from hookscope.runtime.waiting import Bell, until_all_over

Work: TypeAlias = Callable[[], Coroutine[object, object, None]]
Turn: TypeAlias = tuple[Any, Pair]  # a handler with its own view

SHORTEST = 1e-9  # seconds: a limit of 0 is a limit, not none
ANSWERS = frozenset({dict, list, str, bool, int, float, tuple})  # what most plain functions return


class _Nothing:
    """Stands for what a handler has not returned yet."""


async def run_batch(
    targets: Sequence[Handler], event: Any, cell: Cell, step: Callable[[Record], object]
) -> None:
    """Call every handler with the one shared event, and report each as it ends.

    Whatever a handler raises, SystemExit included, is its result. Only a stopped cell gets out, as
    CancelledError. Run it in a task that nobody but the cell's owner and its heartbeat cancel: so a
    handler may cancel its own task, and the next one still runs.

    This is the hot loop: one clock read a handler, and a tuple where it has more to tell than its end, which
    costs a tenth. The time between two handlers is charged to the second, not lost. A frozen dataclass
    here would triple the cost, and to ask each time what was returned a tenth of it: whatever is not None
    is awaited, and what cannot be says so.
    """
    now, nothing = perf_counter, _Nothing
    cell.began = cell.since = now()
    for target in targets:
        returned: Any = nothing
        try:
            returned = target(event)
            if returned is not None:
                returned = await returned
        except BaseException as caught:  # isolating handlers is what this lane is for
            cell.since = ended = now()
            if type(caught) is TypeError and _is_plain(returned):
                step((ended, returned, None))  # the `await` has raised this, and no handler
            else:
                step((ended, None, caught))
        else:
            cell.since = ended = now()
            step(ended if returned is None else (ended, returned, None))
        if cell.asked:
            if cell.asked == "caller":
                raise CancelledError
            cell.forget_overrun()


def _is_plain(returned: Any) -> bool:
    """Has a handler returned this, and can nobody await it."""
    try:
        return type(returned) in ANSWERS or not (returned is _Nothing or isawaitable(returned))
    except BaseException:  # a class that raises where one asks for it: nobody can do anything with that
        return False


class InProcessLane:
    """Runs handlers in the caller's own event loop, on the caller's own event object.

    A handler that has to stop, because of a limit or a cancel, gets a CancelledError at its next
    `await`; one that never awaits cannot be stopped. `run` returns when the running handler has
    ended, also when cancelled. Handlers given as Code are imported into this process; their `env` is not
    laid over, since the process has one environment.

    Args:
        limit: seconds for each handler, from its own start. None, the default, waits for ever.
        observe: look at each handler on its own: steps say when it starts, results carry the patch
            of what it changed, and no time of ours is charged to it. It costs much more.
        told_late: hears whose handler asked its host for something when its event was over.
    """

    def __init__(
        self,
        limit: float | None = None,
        *,
        observe: bool = False,
        told_late: Callable[[str, str], None] | None = None,
    ) -> None:
        self._limit = limit
        self._observe = observe
        self._told_late = told_late or _untold
        self._modules = Modules()

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run."""
        pairs = list(zip(batch, await self._targets_of(batch), strict=True))
        await self._alone(partial(self._run_pairs, pairs, view, step), view)

    async def _run_pairs(self, pairs: Sequence[Pair], view: Any, step: OnStep) -> None:
        for limit, group in groupby(pairs, key=lambda pair: self._limit_of(pair[0])):
            for part in ([pair] for pair in group) if self._observe else (list(group),):
                await _in_tasks((self._work_of(part, view, limit, step),))

    async def _targets_of(self, calls: Sequence[Registration]) -> list[Handler]:
        targets = (call.target for call in calls)
        return [
            await self._modules.target_of(target) if isinstance(target, Code) else target
            for target in targets
        ]

    def keep_only(self, targets: Sequence[Handler | Code]) -> None:
        """Forget imported modules that none of these targets is from, once nothing runs in them."""
        self._modules.keep_only(targets, tuple(UNDER_WAY))

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """See Lane.run_in_turn. One task for them all: a task for each costs more than all the rest."""
        pairs = zip(calls, await self._targets_of(calls), strict=True)
        turns = zip(views, pairs, strict=False)  # the views end early, or one step behind
        limited = any(self._limit_of(call) is not None for call in calls)
        cell, given = Cell(math.inf if limited else 0.0), list[Arguments]()
        try:
            await _in_tasks(((partial(self._take_turns, turns, cell, given, step), cell),))
        finally:
            for view in given:
                closed(view, self._told_late)

    async def _take_turns(
        self, turns: Iterable[Turn], cell: Cell, given: list[Arguments], step: OnStep
    ) -> None:
        """`given` collects the views whose handlers may ask their host for things until all have returned."""
        observer = Observer(step, cell, self._observe)
        for view, pair in turns:
            if isinstance(view, Arguments) and not (given and given[-1] is view):
                opened(view)
                given.append(view)
            limit = self._limit_of(pair[0])
            cell.limit = math.inf if limit is None else max(limit, SHORTEST)
            observer.look_at(view, (pair,), limit)
            if self._observe:
                step(Started(pair[0], since_start(perf_counter())))
            await run_batch((pair[1],), view, cell, observer.take)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """See Lane.run_together."""
        targets = await self._targets_of([call for call, _ in calls])
        works = []
        for (call, view), target in zip(calls, targets, strict=True):
            work, cell = self._work_of(((call, target),), view, self._limit_of(call), step)
            works.append((partial(self._alone, work, view), cell))
        await _in_tasks(works)

    async def _alone(self, work: Work, view: Any) -> None:
        if not isinstance(view, Arguments):
            await work()
            return
        opened(view)
        try:
            await work()
        finally:
            closed(view, self._told_late)

    async def load(self, code: Code) -> Handler | Module | Failure:
        """See Lane.load: the function itself. The import runs here and now, without a limit."""
        try:
            return await self._modules.load(code)
        except LoadFailed as failed:
            return failed.failure

    @property
    def late_count(self) -> int:
        """See LateLane."""
        return self._modules.late_count

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        """See LateLane."""
        return self._modules.late_of(code)

    async def close(self) -> None:
        """Forget the modules that were imported for Codes."""
        self._modules.close()

    def _limit_of(self, call: Registration) -> float | None:
        return self._limit if call.limit is None else call.limit or None

    def _work_of(
        self, part: Sequence[Pair], view: Any, limit: float | None, step: OnStep
    ) -> tuple[Work, Cell]:
        """What runs this part, and the cell that its end is asked by."""
        if self._observe:
            step(Started(part[0][0], since_start(perf_counter())))
        cell = Cell(0.0 if limit is None else max(limit, SHORTEST))
        observer = Observer(step, cell, self._observe)
        observer.look_at(view, part, limit)
        return partial(run_batch, [target for _, target in part], view, cell, observer.take), cell


async def _in_tasks(works: Sequence[tuple[Work, Cell]]) -> None:
    """Each in a task of its own, so that a cancel from outside is never mistaken for a handler's own."""
    over, loop = Bell(), asyncio.get_running_loop()
    tasks = []
    for work, cell in works:
        cell.task = loop.create_task(_rung(work, over))
        tasks.append(cell.task)
    beat, limited = heartbeat(), [cell for _, cell in works if cell.limit]
    for cell in limited:
        beat.watch(cell)

    def stop() -> None:
        for _, cell in works:
            cell.stop()

    try:
        await until_all_over(tasks, stop, over)
        for task in tasks:
            if not task.cancelled():  # a last handler that cancelled its own task cancelled nobody else
                task.result()
    finally:
        for cell in limited:
            beat.leave(cell)


async def _rung(work: Work, over: Bell) -> None:
    """The work, whose end rings."""
    try:
        await work()
    finally:
        over.ring()


def _untold(who: str, text: str) -> None:
    """Where nobody wants to hear it."""

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
from threading import local
from time import perf_counter
from typing import Any, Literal, TypeAlias
from weakref import ref

from hookscope.model.failure import Failure
from hookscope.model.handler_arguments import closed, opened
from hookscope.model.hook_event import HookEvent, put_back
from hookscope.model.payload import Arguments, requests_in
from hookscope.model.run import (
    Code,
    Declared,
    Handler,
    Module,
    OnStep,
    Patch,
    Registration,
    Result,
    Started,
    Status,
)
from hookscope.runtime.async_helpers import since_run_start, wait_until_all_done
from hookscope.runtime.failures import CANCELLED, LoadFailed, failure_of, timeout_failure
from hookscope.runtime.firing import UNFINISHED_FIRINGS
from hookscope.runtime.imported_modules import ImportedModules
from hookscope.runtime.payloads import (
    changeable_part,
    document_of,
    messages_in,
    new_messages,
    patch_of,
)
from hookscope.runtime.python_worker.safe_values import generator_error
from hookscope.values import dataclass

WATCH_INTERVAL = 0.02  # seconds: how late a limit may be noticed


class BatchControl:
    """What one running batch, its heartbeat and its lane tell each other.

    `asked` names who wants the running handler to stop: nobody, the limit, or the lane's caller. So
    the hot loop asks one question only.
    """

    __slots__ = ("asked", "began", "limit", "since", "task")

    began: float  # of perf_counter: the first handler, from when the batch runs; then whoever reads it

    def __init__(self, limit: float = 0.0) -> None:
        self.asked: Literal["", "limit", "caller"] = ""
        # Of perf_counter: when the running handler began, or was last asked. A beat may come before that.
        self.since = math.inf
        self.limit = limit  # seconds; 0: nobody watches
        self.task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Let the handler feel a CancelledError, and no other begin. Saying it again asks again."""
        self.asked = "caller"
        if self.task is not None:
            self.task.cancel()

    def overrun(self, now: float) -> None:
        """The limit is over. A handler that goes on in spite of it is asked again one limit later."""
        self.asked = self.asked or "limit"
        self.since = now
        if self.task is not None:
            self.task.cancel()

    def forget_overrun(self) -> None:
        """The next handler starts clean, for `asyncio.timeout` and TaskGroup too."""
        self.asked = ""
        while self.task is not None and self.task.cancelling():
            self.task.uncancel()


class LimitWatch:
    """Watches the deadlines of one loop's cells; beats only while there are any."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = ref(loop)
        self._cells: set[BatchControl] = set()
        self._beating = False

    def watch(self, cell: BatchControl) -> None:
        """Look at this cell's limit with every beat, until it leaves. In the loop that beats."""
        self._cells.add(cell)
        if not self._beating:
            self._beating = True
            asyncio.get_running_loop().call_later(WATCH_INTERVAL, self._beat)

    def leave(self, cell: BatchControl) -> None:
        """Look at it no longer. Again is nothing."""
        self._cells.discard(cell)

    def _beat(self) -> None:
        now = perf_counter()
        for cell in self._cells:
            if now - cell.since >= cell.limit:
                cell.overrun(now)
        self._beating = bool(self._cells)
        if self._beating:
            asyncio.get_running_loop().call_later(WATCH_INTERVAL, self._beat)


class _ThreadWatch(local):
    beat: LimitWatch | None = None


_latest = _ThreadWatch()


def limit_watch() -> LimitWatch:
    """The running loop's own. A thread runs one loop at a time, so the last one is nearly always it."""
    loop = asyncio.get_running_loop()
    beat = _latest.beat
    if beat is None or beat.loop() is not loop:
        beat = _latest.beat = LimitWatch(loop)  # an older one still beats for what it watches
    return beat


# Of one call: ended in seconds of perf_counter, what it returned, what it raised; the end alone where it did
# nothing but return. They come in order, and each began where the one before had ended, the first with its
# batch (Cell.began).
CallRecord: TypeAlias = float | tuple[float, Any, BaseException | None]
TargetedCall: TypeAlias = tuple[Registration, Handler]
CallOutcome: TypeAlias = tuple[Status, Failure | None, tuple[str, ...]]

SUCCESS: CallOutcome = ("ok", None, ())
NO_PATCH: tuple[Patch, tuple[str, ...]] = ((), ())


@dataclass(slots=True)
class ResultBuilder:
    """Makes a Result of each record, and compares the event before and after it. Told anew what it looks at
    for each part: where every handler has a view of its own, another one for each would cost more than it."""

    step: OnStep
    cell: BatchControl
    whole: bool  # compare the whole event, not only its messages
    view: Any = None
    part: Sequence[TargetedCall] = ()
    limit: float | None = None
    messages: tuple[str, ...] = ()
    document: Any = None
    said: Sequence[str] = ()  # of what the view holds that JSON cannot
    asked: tuple[str, ...] = ()
    taken: int = 0  # records of this part

    def look_at(self, view: Any, part: Sequence[TargetedCall], limit: float | None) -> None:
        """From now on the records are of this part, called with this view."""
        self.view, self.part, self.limit, self.taken = view, part, limit, 0
        self.messages, self.asked = messages_in(view), requests_in(view)
        self._announce(0)
        if self.whole:
            self.document, self.said = document_of(view)

    def take(self, record: CallRecord) -> None:
        """Report what the record of the next call comes to, and what it changed."""
        if isinstance(record, float):  # nearly always
            ended, returned, error = record, None, None
        else:
            ended, returned, error = record
        call, target = self.part[self.taken]
        self.taken += 1
        view, cell = self.view, self.cell
        began, cell.began, asked = cell.began, ended, cell.asked
        took = ended - began
        if returned is not None and error is None:
            error = generator_error(returned, target)
        status, failure, notes = SUCCESS
        if error is not None or asked or (self.limit is not None and took >= self.limit):
            status, failure, notes = _outcome_of(error, asked, took, self.limit, target)
        said: tuple[str, ...] = ()
        wanted: tuple[str, ...] = ()
        if isinstance(view, Arguments):
            wanted = self._asked_since()
        else:
            if isinstance(view, HookEvent) and (deleted := put_back(view)):
                notes = (*notes, *deleted)
            before, self.messages = self.messages, messages_in(view)
            said = new_messages(before, self.messages)
        patch, more = self._patch() if self.whole else NO_PATCH
        self.step(
            Result(  # by place: by name it takes twice as long
                call,
                status,
                since_run_start(began),
                took,
                0.0,
                said,
                returned,
                "",
                "",
                failure,
                patch,
                notes + more,
                False,
                None,
                wanted,
            )
        )

    def _asked_since(self) -> tuple[str, ...]:
        """What the handler asked its host for. From now on it is the next one's asking."""
        before, self.asked = self.asked, requests_in(self.view)
        self._announce(self.taken)
        return self.asked[len(before) :]

    def _announce(self, number: int) -> None:
        """Let the view know whose handler comes next."""
        if isinstance(self.view, Arguments) and number < len(self.part):
            opened(self.view).who = self.part[number][0].name

    def _patch(self) -> tuple[Patch, tuple[str, ...]]:
        before, said = self.document, self.said
        self.document, self.said = document_of(self.view)
        patch = patch_of(changeable_part(self.view, before), changeable_part(self.view, self.document))
        return patch, tuple(note for note in self.said if note not in said)


def _outcome_of(
    error: BaseException | None, asked: str, took: float, limit: float | None, target: Handler
) -> CallOutcome:
    """What a record means. `asked`: who asked the handler to stop, see Cell."""
    if error is None:
        return "ok", None, _limit_notes(asked, took, limit)
    if asked == "limit" and limit is not None:
        return "timeout", timeout_failure(limit, "run"), ()
    if asked:
        return "cancelled", CANCELLED, ()
    return "error", failure_of(error, target=target), ()


def _limit_notes(asked: str, took: float, limit: float | None) -> tuple[str, ...]:
    """What is to be said of a handler that answered."""
    if asked:
        return ("it was asked to stop and answered all the same",)
    if limit is not None and took >= limit:
        return (f"it took longer than its {limit:g} s, and could not be stopped",)
    return ()


BatchWork: TypeAlias = Callable[[], Coroutine[object, object, None]]
PayloadCall: TypeAlias = tuple[Any, TargetedCall]  # a handler with its own view

SHORTEST_LIMIT = 1e-9  # seconds: a limit of 0 is a limit, not none
PLAIN_TYPES = frozenset({dict, list, str, bool, int, float, tuple})  # what most plain functions return


class _NotReturned:
    """Stands for what a handler has not returned yet."""


async def call_handlers(
    targets: Sequence[Handler], event: Any, cell: BatchControl, step: Callable[[CallRecord], object]
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
    now, nothing = perf_counter, _NotReturned
    cell.began = cell.since = now()
    for target in targets:
        returned: Any = nothing
        try:
            returned = target(event)
            if returned is not None:
                returned = await returned
        except BaseException as caught:  # isolating handlers is what this lane is for
            cell.since = ended = now()
            if type(caught) is TypeError and _is_plain_value(returned):
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


def _is_plain_value(returned: Any) -> bool:
    """Has a handler returned this, and can nobody await it."""
    try:
        return type(returned) in PLAIN_TYPES or not (returned is _NotReturned or isawaitable(returned))
    except BaseException:  # a class that raises where one asks for it: nobody can do anything with that
        return False


class InProcessExecutor:
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
        self._told_late = told_late or _ignore_late_news
        self._modules = ImportedModules()

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run."""
        pairs = list(zip(batch, await self._targets_of(batch), strict=True))
        await self._alone(partial(self._run_pairs, pairs, view, step), view)

    async def _run_pairs(self, pairs: Sequence[TargetedCall], view: Any, step: OnStep) -> None:
        for limit, group in groupby(pairs, key=lambda pair: self._limit_of(pair[0])):
            for part in ([pair] for pair in group) if self._observe else (list(group),):
                await _run_in_tasks((self._work_of(part, view, limit, step),))

    async def _targets_of(self, calls: Sequence[Registration]) -> list[Handler]:
        targets = (call.target for call in calls)
        return [
            await self._modules.target_of(target) if isinstance(target, Code) else target
            for target in targets
        ]

    def keep_only(self, targets: Sequence[Handler | Code]) -> None:
        """Forget imported modules that none of these targets is from, once nothing runs in them."""
        self._modules.keep_only(targets, tuple(UNFINISHED_FIRINGS))

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """See Lane.run_in_turn. One task for them all: a task for each costs more than all the rest."""
        pairs = zip(calls, await self._targets_of(calls), strict=True)
        turns = zip(views, pairs, strict=False)  # the views end early, or one step behind
        limited = any(self._limit_of(call) is not None for call in calls)
        cell, given = BatchControl(math.inf if limited else 0.0), list[Arguments]()
        try:
            await _run_in_tasks(((partial(self._take_turns, turns, cell, given, step), cell),))
        finally:
            for view in given:
                closed(view, self._told_late)

    async def _take_turns(
        self, turns: Iterable[PayloadCall], cell: BatchControl, given: list[Arguments], step: OnStep
    ) -> None:
        """`given` collects the views whose handlers may ask their host for things until all have returned."""
        observer = ResultBuilder(step, cell, self._observe)
        for view, pair in turns:
            if isinstance(view, Arguments) and not (given and given[-1] is view):
                opened(view)
                given.append(view)
            limit = self._limit_of(pair[0])
            cell.limit = math.inf if limit is None else max(limit, SHORTEST_LIMIT)
            observer.look_at(view, (pair,), limit)
            if self._observe:
                step(Started(pair[0], since_run_start(perf_counter())))
            await call_handlers((pair[1],), view, cell, observer.take)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """See Lane.run_together."""
        targets = await self._targets_of([call for call, _ in calls])
        works = []
        for (call, view), target in zip(calls, targets, strict=True):
            work, cell = self._work_of(((call, target),), view, self._limit_of(call), step)
            works.append((partial(self._alone, work, view), cell))
        await _run_in_tasks(works)

    async def _alone(self, work: BatchWork, view: Any) -> None:
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
        self, part: Sequence[TargetedCall], view: Any, limit: float | None, step: OnStep
    ) -> tuple[BatchWork, BatchControl]:
        """What runs this part, and the cell that its end is asked by."""
        if self._observe:
            step(Started(part[0][0], since_run_start(perf_counter())))
        cell = BatchControl(0.0 if limit is None else max(limit, SHORTEST_LIMIT))
        observer = ResultBuilder(step, cell, self._observe)
        observer.look_at(view, part, limit)
        return partial(call_handlers, [target for _, target in part], view, cell, observer.take), cell


async def _run_in_tasks(works: Sequence[tuple[BatchWork, BatchControl]]) -> None:
    """Each in a task of its own, so that a cancel from outside is never mistaken for a handler's own."""
    loop = asyncio.get_running_loop()
    tasks = []
    for work, cell in works:
        cell.task = loop.create_task(work())
        tasks.append(cell.task)
    beat, limited = limit_watch(), [cell for _, cell in works if cell.limit]
    for cell in limited:
        beat.watch(cell)

    def stop() -> None:
        for _, cell in works:
            cell.stop()

    try:
        await wait_until_all_done(tasks, stop)
        for task in tasks:
            if not task.cancelled():  # a last handler that cancelled its own task cancelled nobody else
                task.result()
    finally:
        for cell in limited:
            beat.leave(cell)


def _ignore_late_news(who: str, text: str) -> None:
    """Where nobody wants to hear it."""

"""Handlers in this process: for programs that embed Hookscope, and for handlers that are part of them.

Unlike with worker processes, `os._exit` or an interpreter crash ends this program, and a handler that never
awaits cannot be stopped. But it is fast: running a handler takes three times as long as just calling it.
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

from hookscope.model.executor import HANDLER_STARTS
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
from hookscope.runtime.payloads import changeable_part, document_of, messages_in, new_messages, patch_of
from hookscope.runtime.python_worker.safe_values import generator_error
from hookscope.values import dataclass

WATCH_INTERVAL = 0.02  # seconds: how late a limit may be noticed


class BatchControl:
    """The state that a running batch, its limit watch and its executor share.

    `stop_reason` is why the running handler was stopped: not at all, by its limit, or by the caller. One
    attribute for all cases saves checks in the hot loop.
    """

    __slots__ = ("began", "limit", "limit_start", "stop_reason", "task")

    began: float  # perf_counter time at which the current handler started

    def __init__(self, limit: float = 0.0) -> None:
        self.stop_reason: Literal["", "limit", "caller"] = ""
        # perf_counter time when the running handler began or was last cancelled; inf: none has begun.
        self.limit_start = math.inf
        self.limit = limit  # seconds; 0: not watched
        self.task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Cancel the running handler and start no other. A second call cancels again."""
        self.stop_reason = "caller"
        if self.task is not None:
            self.task.cancel()

    def exceed_limit(self, now: float) -> None:
        """Cancel a handler over its limit. If it continues, it is cancelled again one limit later."""
        self.stop_reason = self.stop_reason or "limit"
        self.limit_start = now
        if self.task is not None:
            self.task.cancel()

    def reset(self) -> None:
        """Undo the cancel before the next handler, so that `asyncio.timeout` and TaskGroup do not see it."""
        self.stop_reason = ""
        while self.task is not None and self.task.cancelling():
            self.task.uncancel()


class LimitWatch:
    """Watches the limits of the batches in one loop. Its timer runs only while there are batches."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = ref(loop)
        self._controls: set[BatchControl] = set()
        self._is_ticking = False

    def watch(self, control: BatchControl) -> None:
        """Check this batch's limit at every tick. Call it in the watched loop."""
        self._controls.add(control)
        if not self._is_ticking:
            self._is_ticking = True
            asyncio.get_running_loop().call_later(WATCH_INTERVAL, self._tick)

    def unwatch(self, control: BatchControl) -> None:
        """Stop checking this batch. May be called twice."""
        self._controls.discard(control)

    def _tick(self) -> None:
        now = perf_counter()
        for control in self._controls:
            if now - control.limit_start >= control.limit:
                control.exceed_limit(now)
        self._is_ticking = bool(self._controls)
        if self._is_ticking:
            asyncio.get_running_loop().call_later(WATCH_INTERVAL, self._tick)


class _ThreadWatch(local):
    watch: LimitWatch | None = None


_latest = _ThreadWatch()


def limit_watch() -> LimitWatch:
    """Return the running loop's watch. It is cached by thread, because a thread runs one loop at a time."""
    loop = asyncio.get_running_loop()
    watch = _latest.watch
    if watch is None or watch.loop() is not loop:
        watch = _latest.watch = LimitWatch(loop)  # an older watch still checks its own batches
    return watch


# Of one call: its end in seconds of perf_counter, what it returned, what it raised; only its end if it just
# returned None. Records are in call order: each call began when the previous one ended, the first one with
# its batch (BatchControl.began).
CallRecord: TypeAlias = float | tuple[float, Any, BaseException | None]
TargetedCall: TypeAlias = tuple[Registration, Handler]
CallOutcome: TypeAlias = tuple[Status, Failure | None, tuple[str, ...]]

SUCCESS: CallOutcome = ("ok", None, ())
NO_PATCH: tuple[Patch, tuple[str, ...]] = ((), ())


@dataclass(slots=True)
class ResultBuilder:
    """Makes a Result from each record by comparing the event before and after the call.

    `begin_part` resets it, because creating a builder for each view would take longer than a handler.
    """

    step: OnStep
    control: BatchControl
    compares_event: bool  # compare the whole event, not only its messages
    view: Any = None
    part: Sequence[TargetedCall] = ()
    limit: float | None = None
    messages: tuple[str, ...] = ()
    document: Any = None
    document_notes: Sequence[str] = ()  # on values of the view that are not JSON
    requests: tuple[str, ...] = ()
    taken: int = 0  # records of this part

    def begin_part(self, view: Any, part: Sequence[TargetedCall], limit: float | None) -> None:
        """Start a part whose calls get this view."""
        self.view, self.part, self.limit, self.taken = view, part, limit, 0
        self.messages, self.requests = messages_in(view), requests_in(view)
        self._announce_hook(0)
        if self.compares_event:
            self.document, self.document_notes = document_of(view)

    def add_record(self, record: CallRecord) -> None:
        """Report the result of the next call, with the changes that it made."""
        if isinstance(record, float):  # nearly always
            ended, returned, error = record, None, None
        else:
            ended, returned, error = record
        call, target = self.part[self.taken]
        self.taken += 1
        view, control = self.view, self.control
        began, control.began, stop_reason = control.began, ended, control.stop_reason
        took = ended - began
        if returned is not None and error is None:
            error = generator_error(returned, target)
        status, failure, notes = SUCCESS
        if error is not None or stop_reason or (self.limit is not None and took >= self.limit):
            status, failure, notes = _outcome_of(error, stop_reason, took, self.limit, target)
        messages: tuple[str, ...] = ()
        requests: tuple[str, ...] = ()
        if isinstance(view, Arguments):
            requests = self._new_requests()
        else:
            if isinstance(view, HookEvent) and (deleted := put_back(view)):
                notes = (*notes, *deleted)
            before, self.messages = self.messages, messages_in(view)
            messages = new_messages(before, self.messages)
        patch, more = self._patch() if self.compares_event else NO_PATCH
        self.step(
            Result(  # positional: keywords take twice as long
                call,
                status,
                since_run_start(began),
                took,
                0.0,
                messages,
                returned,
                "",
                "",
                failure,
                patch,
                notes + more,
                False,
                None,
                requests,
            )
        )

    def _new_requests(self) -> tuple[str, ...]:
        """Return the handler's requests to the host. Later requests count as the next handler's."""
        before, self.requests = self.requests, requests_in(self.view)
        self._announce_hook(self.taken)
        return self.requests[len(before) :]

    def _announce_hook(self, number: int) -> None:
        """Set the name of the next handler's hook in the view."""
        if isinstance(self.view, Arguments) and number < len(self.part):
            opened(self.view).who = self.part[number][0].name

    def _patch(self) -> tuple[Patch, tuple[str, ...]]:
        before, notes_before = self.document, self.document_notes
        self.document, self.document_notes = document_of(self.view)
        patch = patch_of(changeable_part(self.view, before), changeable_part(self.view, self.document))
        return patch, tuple(note for note in self.document_notes if note not in notes_before)


def _outcome_of(
    error: BaseException | None, stop_reason: str, took: float, limit: float | None, target: Handler
) -> CallOutcome:
    """Return the outcome of a call. `stop_reason`: see BatchControl."""
    if error is None:
        return "ok", None, _limit_notes(stop_reason, took, limit)
    if stop_reason == "limit" and limit is not None:
        return "timeout", timeout_failure(limit, "run"), ()
    if stop_reason:
        return "cancelled", CANCELLED, ()
    return "error", failure_of(error, target=target), ()


def _limit_notes(stop_reason: str, took: float, limit: float | None) -> tuple[str, ...]:
    if stop_reason:
        return ("it was asked to stop, but returned normally",)
    if limit is not None and took >= limit:
        return (f"it took longer than its limit of {limit:g} s and could not be stopped",)
    return ()


BatchWork: TypeAlias = Callable[[], Coroutine[object, object, None]]
PayloadCall: TypeAlias = tuple[Any, TargetedCall]  # a handler with its own view

SHORTEST_LIMIT = 1e-9  # seconds: replaces 0, which means "not watched"
PLAIN_TYPES = frozenset({dict, list, str, bool, int, float, tuple})  # what most plain functions return


class _NotReturned:
    """The placeholder for a missing return value."""


async def call_handlers(
    targets: Sequence[Handler], event: Any, control: BatchControl, on_record: Callable[[CallRecord], object]
) -> None:
    """Call every handler with one shared event, and report each as it ends.

    Everything that a handler raises, even SystemExit, is its result. CancelledError is raised only if the
    batch is stopped. Run this in a task that only the batch's owner and the limit watch cancel, so that a
    handler may cancel its own task and the next handler still runs.

    This is the hot loop: it reads the clock once per handler, and makes a tuple only if there is more to
    report than the end. The time between two handlers counts as the second one's. With a frozen dataclass, it
    would take three times as long.
    """
    now, nothing = perf_counter, _NotReturned
    control.began = control.limit_start = now()
    for target in targets:
        returned: Any = nothing
        try:
            returned = target(event)
            if returned is not None:
                returned = await returned
        except BaseException as caught:  # handlers are isolated from each other
            control.limit_start = ended = now()
            if type(caught) is TypeError and _is_plain_value(returned):
                on_record((ended, returned, None))  # raised by our `await`, not by the handler
            else:
                on_record((ended, None, caught))
        else:
            control.limit_start = ended = now()
            on_record(ended if returned is None else (ended, returned, None))
        if control.stop_reason:
            if control.stop_reason == "caller":
                raise CancelledError
            control.reset()


def _is_plain_value(returned: Any) -> bool:
    """Return whether a handler's return value is a plain value that cannot be awaited."""
    try:
        return type(returned) in PLAIN_TYPES or not (returned is _NotReturned or isawaitable(returned))
    except BaseException:  # a hostile class: it cannot be awaited
        return False


def _announced(call: Registration, target: Handler, starts: Callable[[Registration], object]) -> Handler:
    """Return a handler that calls `starts` first: its spans are below the span that `starts` makes."""

    def announced(view: Any) -> Any:
        starts(call)
        return target(view)

    announced.adapts = getattr(target, "adapts", target)  # type: ignore[attr-defined]  # see `adapted` in model/handler_arguments.py
    return announced


class InProcessExecutor:
    """Runs handlers in the caller's event loop, on the caller's event object.

    A handler that must stop, because of a limit or a cancel, gets a CancelledError at its next `await`; a
    handler that never awaits cannot be stopped. `run` returns once the running handler has ended, even if
    cancelled. Handlers given as Code are imported into this process; their `env` is not applied, because the
    process has only one environment.

    Args:
        limit: seconds for each handler, measured from its start; None: no limit.
        observe: also report each handler's start and the patch of its changes. This is much slower.
        on_late: called when a handler requests something of its host after its event has ended.
    """

    def __init__(
        self,
        limit: float | None = None,
        *,
        observe: bool = False,
        on_late: Callable[[str, str], None] | None = None,
    ) -> None:
        self._limit = limit
        self._observe = observe
        self._on_late = on_late or _ignore_late_news
        self._modules = ImportedModules()

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        pairs = list(zip(batch, await self._targets_of(batch), strict=True))
        await self._with_open_arguments(partial(self._run_pairs, pairs, view, step), view)

    async def _run_pairs(self, pairs: Sequence[TargetedCall], view: Any, step: OnStep) -> None:
        for limit, group in groupby(pairs, key=lambda pair: self._limit_of(pair[0])):
            for part in ([pair] for pair in group) if self._observe else (list(group),):
                await _run_in_tasks((self._work_of(part, view, limit, step),))

    async def _targets_of(self, calls: Sequence[Registration]) -> list[Handler]:
        targets = [
            await self._modules.target_of(call.target) if isinstance(call.target, Code) else call.target
            for call in calls
        ]
        starts = HANDLER_STARTS.get()
        if starts is None:
            return targets
        return [_announced(call, target, starts) for call, target in zip(calls, targets, strict=True)]

    def keep_only(self, targets: Sequence[Handler | Code]) -> None:
        """Forget imported modules that no target uses, once nothing runs in them."""
        self._modules.keep_only(targets, tuple(UNFINISHED_FIRINGS))

    async def run_one_by_one(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """See Executor.run_one_by_one. One task runs all calls, because tasks are expensive."""
        pairs = zip(calls, await self._targets_of(calls), strict=True)
        turns = zip(views, pairs, strict=False)  # an ended event has fewer views
        limited = any(self._limit_of(call) is not None for call in calls)
        control, opened_views = BatchControl(math.inf if limited else 0.0), list[Arguments]()
        try:
            await _run_in_tasks(((partial(self._run_turns, turns, control, opened_views, step), control),))
        finally:
            for view in opened_views:
                closed(view, self._on_late)

    async def _run_turns(
        self, turns: Iterable[PayloadCall], control: BatchControl, opened_views: list[Arguments], step: OnStep
    ) -> None:
        """Call each handler with its view. Add the opened views to `opened_views`: the caller closes them."""
        builder = ResultBuilder(step, control, self._observe)
        for view, pair in turns:
            if isinstance(view, Arguments) and not (opened_views and opened_views[-1] is view):
                opened(view)
                opened_views.append(view)
            limit = self._limit_of(pair[0])
            control.limit = math.inf if limit is None else max(limit, SHORTEST_LIMIT)
            builder.begin_part(view, (pair,), limit)
            if self._observe:
                step(Started(pair[0], since_run_start(perf_counter())))
            await call_handlers((pair[1],), view, control, builder.add_record)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        targets = await self._targets_of([call for call, _ in calls])
        works = []
        for (call, view), target in zip(calls, targets, strict=True):
            work, control = self._work_of(((call, target),), view, self._limit_of(call), step)
            works.append((partial(self._with_open_arguments, work, view), control))
        await _run_in_tasks(works)

    async def _with_open_arguments(self, work: BatchWork, view: Any) -> None:
        if not isinstance(view, Arguments):
            await work()
            return
        opened(view)
        try:
            await work()
        finally:
            closed(view, self._on_late)

    async def load(self, code: Code) -> Handler | Module | Failure:
        """See Executor.load. Imports the file at once, without a time limit."""
        try:
            return await self._modules.load(code)
        except LoadFailed as failed:
            return failed.failure

    @property
    def late_count(self) -> int:
        return self._modules.late_count

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        return self._modules.late_of(code)

    async def close(self) -> None:
        """Forget the modules that were imported for Codes."""
        self._modules.close()

    def _limit_of(self, call: Registration) -> float | None:
        return self._limit if call.limit is None else call.limit or None

    def _work_of(
        self, part: Sequence[TargetedCall], view: Any, limit: float | None, step: OnStep
    ) -> tuple[BatchWork, BatchControl]:
        """Return a function that calls this part's handlers, and the BatchControl that can stop it."""
        if self._observe:
            step(Started(part[0][0], since_run_start(perf_counter())))
        control = BatchControl(0.0 if limit is None else max(limit, SHORTEST_LIMIT))
        builder = ResultBuilder(step, control, self._observe)
        builder.begin_part(view, part, limit)
        return partial(
            call_handlers, [target for _, target in part], view, control, builder.add_record
        ), control


async def _run_in_tasks(works: Sequence[tuple[BatchWork, BatchControl]]) -> None:
    """Run each part in its own task, so that a handler that cancels its task does not cancel the caller."""
    loop = asyncio.get_running_loop()
    tasks = []
    for work, control in works:
        control.task = loop.create_task(work())
        tasks.append(control.task)
    watch, limited = limit_watch(), [control for _, control in works if control.limit]
    for control in limited:
        watch.watch(control)

    def stop() -> None:
        for _, cell in works:
            cell.stop()

    try:
        await wait_until_all_done(tasks, stop)
        for task in tasks:
            if not task.cancelled():  # else only the last handler cancelled its own task
                task.result()
    finally:
        for control in limited:
            watch.unwatch(control)


def _ignore_late_news(who: str, text: str) -> None:
    """Ignore late reports."""

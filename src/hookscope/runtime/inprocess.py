"""Handlers in this process: for programs that embed Hookscope, and for handlers that are part of them.

Nothing here survives `os._exit`, a crash of the interpreter or a handler that never awaits; for that
there are process lanes. What it gives is speed: a handler costs three times its bare call.
"""

from __future__ import annotations

import asyncio
import math
from asyncio import CancelledError
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import field
from inspect import isawaitable
from itertools import groupby
from pathlib import Path
from time import perf_counter
from types import CoroutineType
from typing import Any, TypeAlias

from hookscope.core import authoring
from hookscope.core.arguments import Arguments, asked_in
from hookscope.core.authoring import closed, opened
from hookscope.core.event import HookEvent, put_back
from hookscope.core.runs import (
    Code,
    Failure,
    Handler,
    Module,
    OnStep,
    Patch,
    Registration,
    Result,
    Started,
    Status,
)
from hookscope.runtime.clock import since_start
from hookscope.runtime.declared import code_document, module_of
from hookscope.runtime.digest import module_name
from hookscope.runtime.failures import CANCELLED, LoadFailed, overran, raised
from hookscope.runtime.heartbeat import Cell, heartbeat
from hookscope.runtime.patch import patch_of
from hookscope.runtime.python_worker import modules, shapes
from hookscope.runtime.views import document_of, event_in, messages_in, pushed
from hookscope.values import dataclass

# call, began and ended in seconds of perf_counter, what it returned, what it raised
Record: TypeAlias = tuple[Registration, float, float, Any, BaseException | None]
Pair: TypeAlias = tuple[Registration, Handler]
Turn: TypeAlias = tuple[Any, Registration, Handler]  # a handler with its own view

SHORTEST = 1e-9  # seconds: a limit of 0 is a limit, not none


async def run_batch(batch: Sequence[Pair], event: Any, cell: Cell, step: Callable[[Record], object]) -> None:
    """Call every handler with the one shared event, and report each as it ends.

    Whatever a handler raises, SystemExit included, is its result. Only a stopped cell gets out, as
    CancelledError. Run it in a task that nobody but the cell's owner and its heartbeat cancel: so a
    handler may cancel its own task, and the next one still runs.

    This is the hot loop: one tuple and one clock read a handler. The time between two handlers is
    charged to the second, not lost. A frozen dataclass here would triple the cost.
    """
    now, coroutine = perf_counter, CoroutineType
    began = now()
    for call, target in batch:
        cell.since = began
        try:
            returned = target(event)
            if type(returned) is coroutine or (returned is not None and isawaitable(returned)):
                returned = await returned
        except BaseException as caught:  # isolating handlers is what this lane is for
            ended = now()
            step((call, began, ended, None, caught))
        else:
            ended = now()
            step((call, began, ended, returned, None))
        if cell.asked:
            if cell.asked == "caller":
                raise CancelledError
            cell.forget_overrun()
        began = ended


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
        self._modules = _Modules()

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run."""
        pairs = [(call, await self._target_of(call)) for call in batch]
        if not isinstance(view, Arguments):
            await self._run_pairs(pairs, view, step)
            return
        opened(view)
        try:
            await self._run_pairs(pairs, view, step)
        finally:
            closed(view, self._told_late)

    async def _run_pairs(self, pairs: Sequence[Pair], view: Any, step: OnStep) -> None:
        for limit, group in groupby(pairs, key=lambda pair: self._limit_of(pair[0])):
            for part in ([pair] for pair in group) if self._observe else (list(group),):
                await self._run_part(part, view, limit, step)

    async def _target_of(self, call: Registration) -> Handler:
        target = call.target
        return await self._modules.target_of(target) if isinstance(target, Code) else target

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """See Lane.run_in_turn. One task for them all: a task for each costs more than all the rest."""
        targets = [await self._target_of(call) for call in calls]
        turns = zip(views, calls, targets, strict=False)  # the views end early, or one step behind
        cell, given = Cell(math.inf), list[Arguments]()
        limited = any(self._limit_of(call) is not None for call in calls)
        try:
            await self._in_task(self._take_turns(turns, cell, given, step), cell, limited)
        finally:
            for view in given:
                closed(view, self._told_late)

    async def _take_turns(
        self, turns: Iterable[Turn], cell: Cell, given: list[Arguments], step: OnStep
    ) -> None:
        """`given` collects the views whose handlers may ask their host for things until all have returned."""
        for view, call, target in turns:
            if isinstance(view, Arguments) and not (given and given[-1] is view):
                opened(view)
                given.append(view)
            limit = self._limit_of(call)
            cell.limit = math.inf if limit is None else max(limit, SHORTEST)
            observer = _Observer(view, step, cell, limit, self._observe, ((call, target),))
            if self._observe:
                step(Started(call, since_start(perf_counter())))
            await run_batch(observer.part, view, cell, observer.take)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """See Lane.run_together."""
        async with asyncio.TaskGroup() as tasks:
            for call, view in calls:
                tasks.create_task(self.run((call,), view, step))

    async def load(self, code: Code) -> Handler | Module | Failure:
        """See Lane.load: the function itself. The import runs here and now, without a limit."""
        try:
            return await self._modules.load(code)
        except LoadFailed as failed:
            return failed.failure

    async def close(self) -> None:
        """Forget the modules that were imported for Codes."""
        self._modules.close()

    def _limit_of(self, call: Registration) -> float | None:
        return self._limit if call.limit is None else call.limit or None

    async def _run_part(self, part: list[Pair], view: Any, limit: float | None, step: OnStep) -> None:
        """In a task of its own, so that a cancel from outside is never mistaken for a handler's own."""
        if self._observe:
            step(Started(part[0][0], since_start(perf_counter())))
        seconds = 0.0 if limit is None else max(limit, SHORTEST)
        cell = Cell(seconds)
        observer = _Observer(view, step, cell, limit, self._observe, part)
        await self._in_task(run_batch(part, view, cell, observer.take), cell, bool(seconds))

    async def _in_task(self, batch: Coroutine[object, object, None], cell: Cell, limited: bool) -> None:
        cell.task = asyncio.get_running_loop().create_task(batch)
        beat = heartbeat() if limited else None
        if beat is not None:
            beat.watch(cell)
        try:
            await _ended(cell, cell.task)
        finally:
            if beat is not None:
                beat.leave(cell)


async def _ended(cell: Cell, task: asyncio.Task[None]) -> None:
    """Wait for the batch. Each cancel of ours stops the cell, and is raised when the batch has ended."""
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait({task})  # raises our own cancel only, never the task's
        except CancelledError:
            cancelled = True
            cell.stop()
    if cancelled:
        raise CancelledError
    if not task.cancelled():  # a last handler that cancelled its own task cancelled nobody else
        task.result()


@dataclass(slots=True)
class _Observer:
    """Makes a Result of each record, and compares the event before and after it."""

    view: Any
    step: OnStep
    cell: Cell
    limit: float | None
    whole: bool  # compare the whole event, not only its messages
    part: Sequence[Pair]
    messages: tuple[str, ...] = ()
    document: Any = None
    said: list[str] = field(default_factory=list)  # of what the view holds that JSON cannot
    asked: tuple[str, ...] = ()
    taken: int = 0

    def __post_init__(self) -> None:
        self.messages = messages_in(self.view)
        self.asked = asked_in(self.view)
        self._announce(0)
        if self.whole:
            self.document, self.said = document_of(self.view)

    def take(self, record: Record) -> None:
        call, began, ended, returned, error = record
        took = ended - began
        status, failure, notes = _outcome(error, self.cell.asked, took, self.limit, self._target(call, error))
        if isinstance(self.view, HookEvent):
            notes += tuple(put_back(self.view))
        before, self.messages = self.messages, messages_in(self.view)
        patch, more = self._patch()
        asked_before, self.asked = self.asked, asked_in(self.view)
        self.taken += 1
        self._announce(self.taken)
        self.step(
            Result(
                call,
                status,
                started=since_start(began),
                took=took,
                messages=pushed(before, self.messages),
                returned=returned,
                error=failure,
                patch=patch,
                notes=notes + more,
                asked=self.asked[len(asked_before) :],
            )
        )

    def _announce(self, number: int) -> None:
        """Let the view know whose handler comes next."""
        if isinstance(self.view, Arguments) and number < len(self.part):
            opened(self.view).who = self.part[number][0].name

    def _target(self, call: Registration, error: BaseException | None) -> Handler | None:
        """What was called; looked for only where somebody asks."""
        return None if error is None else next(target for known, target in self.part if known is call)

    def _patch(self) -> tuple[Patch, tuple[str, ...]]:
        if not self.whole:
            return (), ()
        before, said = self.document, self.said
        self.document, self.said = document_of(self.view)
        patch = patch_of(event_in(self.view, before), event_in(self.view, self.document))
        return patch, tuple(note for note in self.said if note not in said)


def _outcome(
    error: BaseException | None, asked: str, took: float, limit: float | None, target: Handler | None
) -> tuple[Status, Failure | None, tuple[str, ...]]:
    """What a record means. `asked`: who asked the handler to stop, see Cell."""
    if error is None:
        return "ok", None, _despite(asked, took, limit)
    if asked == "limit" and limit is not None:
        return "timeout", overran(limit, "run"), ()
    if asked:
        return "cancelled", CANCELLED, ()
    return "error", raised(error, target=target), ()


def _despite(asked: str, took: float, limit: float | None) -> tuple[str, ...]:
    """What is to be said of a handler that answered."""
    if asked:
        return ("it was asked to stop and answered all the same",)
    if limit is not None and took >= limit:
        return (f"it took longer than its {limit:g} s, and could not be stopped",)
    return ()


class _Modules:
    """The handlers that were imported for Codes, by the content of their folders.

    What was loaded before an edit stays: a run that started with it may still import helpers.
    """

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._known: dict[tuple[str, Path, str, str], shapes.Made] = {}

    async def target_of(self, code: Code) -> Handler:
        """What to call. A Code that cannot be loaded becomes a handler that says so."""
        try:
            return shapes.member_of(await self._made(code), code.member, modules.NoHandler)
        except LoadFailed as failed:
            return _raising(failed)
        except modules.NoHandler as missing:
            return _raising(LoadFailed(raised(missing, "load")))

    async def load(self, code: Code) -> Handler | Module:
        """Raises LoadFailed."""
        made = await self._made(code)
        if made.module is None:
            return made.targets[""]
        return module_of(made.module, made.targets.__getitem__)

    async def _made(self, code: Code) -> shapes.Made:
        """Raises LoadFailed."""
        name = module_name(code)
        key = (name, code.path, code.export, code.shape)
        if key not in self._known:
            self._names.add(name)
            try:
                self._known[key] = await _made(code, name)
            except BaseException as error:  # a file may do anything while it is imported
                if type(error) is CancelledError and _is_cancelled():
                    raise
                raise LoadFailed(raised(error, "load")) from None
        return self._known[key]

    def close(self) -> None:
        for name in self._names:
            modules.forget(name)
            authoring.forget_names(name)
        self._names.clear()
        self._known.clear()


def _is_cancelled() -> bool:
    """Is it our own task, and not only a handler that raises what a cancel raises."""
    task = asyncio.current_task()
    return task is not None and bool(task.cancelling())


async def _made(code: Code, name: str) -> shapes.Made:
    making, value = shapes.make(code_document(code, name), modules, authoring), None
    while True:
        try:
            wanted = making.send(value)
        except StopIteration as made:
            finished: shapes.Made = made.value
            return finished
        value = await wanted if isawaitable(wanted) else wanted


def _untold(who: str, text: str) -> None:
    """Where nobody wants to hear it."""


def _raising(failed: LoadFailed) -> Handler:
    def handler(_: Any) -> object:
        raise failed

    return handler

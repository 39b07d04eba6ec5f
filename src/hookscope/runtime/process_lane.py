"""Handlers in supervised worker processes: what they do to those, they do not do to us."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

from hookscope.core.failure import Failure
from hookscope.core.runs import Code, Declared, Module, OnStep, Registration
from hookscope.runtime import added
from hookscope.runtime.contents import Contents
from hookscope.runtime.course import Course
from hookscope.runtime.declared import OF_A_PLUGIN
from hookscope.runtime.digest import with_digest
from hookscope.runtime.escapes import memory_of
from hookscope.runtime.ledger import Ledger
from hookscope.runtime.limits import Limits
from hookscope.runtime.order import Order, Orders
from hookscope.runtime.peer import NotStarted, Peer
from hookscope.runtime.rest import AT_REST, Patience, Rest
from hookscope.runtime.seat import Seat
from hookscope.runtime.shared import Shared
from hookscope.runtime.spare import Spare
from hookscope.runtime.starting import not_started
from hookscope.runtime.together import fitting
from hookscope.runtime.waiting import to_the_end
from hookscope.values import dataclass

OWN = 8  # workers at most that a hook has for itself; the one that was idle longest goes
PLUGINS = 16  # workers of plugins that are kept; likewise


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """A worker process as it stands."""

    pid: int
    role: str  # shared, spare, or the name of the hook that has it for itself
    age: float  # seconds
    memory: int  # bytes resident; 0 where that is not known
    calls: int  # batches and loads it has served


class ProcessLane:
    """Runs the handlers of one language in worker processes, one handler at a time.

    Handlers that do no harm share a worker, which is started for the first of them and kept. One that
    hangs, dies or spoils its worker is a result like any other: the batch goes on behind it in a fresh
    worker, with the event as far as it was known, and that content of the hook has a worker of its own
    from then on. One that leaves a thread, a timer or a process running keeps the worker for itself.
    A plugin has a worker of its own, in which its handlers can run at once. Cancelling `run` kills the
    workers that are busy with it.

    Driven by the event loop of the caller, whichever that is at the time; with `spare` it is the same
    one until `close`.

    Args:
        spare: keep one more worker ready, so that nobody waits when another has died.
        told_late: hears at once whose handler printed or threw what after it had answered, in words;
            else it is said with the next result. For one event loop, until `close`.
        dump: the signal at which workers of this language print their stack; 0: none.
    """

    def __init__(
        self,
        make: Callable[[], Peer],
        limits: Limits = Limits(),
        *,
        ledger: Ledger | None = None,
        spare: bool = False,
        told_late: Callable[[str, str], None] | None = None,
        dump: int = 0,
    ) -> None:
        self._ledger = Ledger() if ledger is None else ledger
        self._contents = Contents()
        self._orders = Orders(self._contents, code_of)
        self._shared = Shared(limits, self._ledger, self._contents, [], told_late, dump)
        self._seat = Seat(self._shared)
        self._own: OrderedDict[Path, Seat] = OrderedDict()
        self._plugins: OrderedDict[Path, Seat] = OrderedDict()
        self._spare = Spare(make, limits, keeps=spare)
        self._turn = asyncio.Lock()  # one batch at a time; waiting here costs no handler its limit
        self._closed = False

    def expect(self, calls: Sequence[Registration]) -> None:
        """See AheadLane: the worker that most share begins to start, where there is none."""
        if self._closed or self._seat.worker is not None:
            return
        if any(code_of(call).shape not in OF_A_PLUGIN for call in calls):
            self._spare.expect()

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run. Every call's target is a Code; the view is changed as the handlers changed theirs."""
        async with self._turn:
            await self._run(Course(tuple(batch), view, step))
            await self._end_batch()

    async def run_in_turn(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        """See Lane.run_in_turn."""
        for view, call in zip(views, calls, strict=False):  # the views end early, or one step behind
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """See Lane.run_together: plugins run beside each other, and the handlers of one in its worker."""
        async with self._turn:
            courses = [Course((call,), view, step) for call, view in calls]
            try:
                await self._run_at_once(courses)
            except asyncio.CancelledError:
                for course in courses:
                    course.cancel()
                raise
            await self._end_batch()

    async def _run_at_once(self, courses: Sequence[Course]) -> None:
        alone: list[Course] = []
        plugins: dict[Path, list[Course]] = {}
        for course in courses:
            code = code_of(course.left[0])
            (plugins.setdefault(code.path, []) if code.shape in OF_A_PLUGIN else alone).append(course)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._run_in_turn(alone))
            for of_one in plugins.values():
                tasks.create_task(self._run_plugin(of_one))

    async def _run(self, course: Course) -> None:
        while course.left:
            seat, orders = self._next(course.left)
            if not await self._is_ready(seat, (course,)):
                return
            await seat.run(course, orders)
            seat.attend()
            self._hand_over(seat)

    async def _run_in_turn(self, courses: Sequence[Course]) -> None:
        """What shares a worker with others cannot run beside them."""
        for course in courses:
            await self._run(course)

    async def _run_plugin(self, courses: Sequence[Course]) -> None:
        """Handlers of one plugin at once; in the next worker what a crash of the last kept from beginning."""
        while courses:
            shared = self._contents.shared()
            orders = [self._orders.of(course.left[0], shared) for course in courses]
            seat = self._seat_of(orders[0])
            if not await self._is_ready(seat, courses):
                return
            fit = fitting(courses)
            await seat.run_together(courses[:fit], orders[:fit])
            seat.attend()
            courses = [course for course in courses if course.left]

    async def _is_ready(self, seat: Seat, courses: Sequence[Course]) -> bool:
        """Is a worker there; otherwise all that is left has ended."""
        try:
            await self._ready(seat)
        except NotStarted as missing:
            for course in courses:
                for result in not_started(course.left, missing):
                    course.step(result)
            return False
        return True

    async def _end_batch(self) -> None:
        while len(self._plugins) > PLUGINS:
            _, longest_idle = self._plugins.popitem(last=False)
            await longest_idle.drop()
        if not self._closed:
            self._spare.provide()

    async def load(self, code: Code) -> Code | Module | Failure:
        """See Lane.load: the Code with its digest. What an import prints is said with the next result.

        The worker keeps what it loaded under that digest as long as it lives. A fresh one, after a
        crash, can only load what the folder holds by then.
        """
        code = with_digest(code)
        async with self._turn:
            shared = self._contents.shared()
            order = Order(code, self._contents.name(code, shared), shared)
            seat = self._seat_of(order)
            try:
                await self._ready(seat)
            except NotStarted as missing:
                return missing.failure
            used = bool(seat.calls) or seat.has_waited
            loaded = await seat.load(order)
            if isinstance(loaded, Failure) and loaded.type == "Crashed" and used:
                # The worker may have been dead before: in a fresh one it is the handler's own doing.
                return await self._load_afresh(order, loaded)
            return loaded

    async def _load_afresh(self, order: Order, failure: Failure) -> Code | Module | Failure:
        seat = self._seat_of(order)
        try:
            await self._ready(seat)
        except NotStarted:
            return failure
        return await seat.load(order)

    async def settle(self, waits: Patience) -> Rest:
        """What handlers do that have answered, until it is over or `waits` is."""
        rest = AT_REST
        async with self._turn:
            for seat in self._seats():
                rest += await seat.settle(waits)
        return rest

    def holds(self, code: Code) -> bool:
        """Is some version of this handler loaded: it runs where a newer one does not load."""
        return any((code.path, code.export) in seat.held for seat in self._seats())

    @property
    def late_count(self) -> int:
        """See LateLane."""
        return added.count(seat.worker for seat in self._plugins.values())

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        """See LateLane."""
        seat = self._plugins.get(code.path)
        if seat is None or seat.worker is None:
            return ()
        code = with_digest(code)
        return added.declared(seat.worker, code, self._contents.name(code, self._contents.shared()))

    def workers(self) -> tuple[WorkerFacts, ...]:
        """All worker processes of this lane, as they are now."""
        facts = [
            _facts(seat.worker, seat.owner or "shared", seat.calls)
            for seat in self._seats()
            if seat.worker is not None and seat.worker.alive
        ]
        if self._spare.waiting is not None:
            facts.append(_facts(self._spare.waiting, "spare", 0))
        return tuple(facts)

    async def close(self) -> None:
        """End all workers, wait until they are gone, and start no other."""
        self._closed = True
        await to_the_end(self._end_all())

    async def _end_all(self) -> None:
        for seat in self._seats():
            await seat.drop()
        await self._spare.close()

    def _seats(self) -> tuple[Seat, ...]:
        return (self._seat, *self._own.values(), *self._plugins.values())

    def _next(self, calls: Sequence[Registration]) -> tuple[Seat, list[Order]]:
        """The seat of the first call, and the calls after it that have the same one."""
        shared = self._contents.shared()
        orders = [self._orders.of(call, shared) for call in calls]
        if self._ledger.is_blank and not any(order.of_a_plugin for order in orders):  # nearly always
            return self._seat, orders
        seat = self._seat_of(orders[0])
        return seat, [*takewhile(lambda order: self._seat_of(order) is seat, orders)]

    def _seat_of(self, order: Order) -> Seat:
        """The shared seat; its own for a plugin, and for a handler that has done harm as it stands."""
        path = order.code.path
        if order.code.shape in OF_A_PLUGIN:
            seat = self._plugins.pop(path, None) or Seat(self._shared, order.code.root.name)
            self._plugins[path] = seat  # the last of them: it is in use
            return seat
        if not self._ledger.apart(order.code, order.name):
            return self._seat
        if path not in self._own:
            self._own[path] = Seat(self._shared, order.code.root.name)
        self._own.move_to_end(path)
        return self._own[path]

    def _hand_over(self, seat: Seat) -> None:
        """A worker in which something of a hook still runs is that hook's own from now on."""
        order = seat.restless
        if seat is self._seat and seat.worker is not None and order is not None:
            seat.owner = order.code.root.name
            self._own[order.code.path] = seat
            self._seat = Seat(self._shared)

    async def _ready(self, seat: Seat) -> None:
        """Sit a worker down where there is none. Raises NotStarted."""
        if self._closed:
            raise NotStarted(Failure("NotStarted", "this lane is closed", phase="spawn"))
        while len(self._own) > OWN:
            _, longest_idle = self._own.popitem(last=False)
            await longest_idle.drop()
        if seat.worker is None:
            has_waited = self._spare.has_waited
            worker = await self._spare.take()
            if self._closed:
                await to_the_end(worker.end())
                raise NotStarted(Failure("NotStarted", "this lane is closed", phase="spawn"))
            seat.take(worker, has_waited)


def _facts(worker: Peer, role: str, calls: int) -> WorkerFacts:
    return WorkerFacts(worker.pid, role, time.monotonic() - worker.born, memory_of(worker.pid), calls)


def code_of(call: Registration) -> Code:
    """The file that a call runs. Raises TypeError for a function of this process."""
    if not isinstance(call.target, Code):
        raise TypeError(f"{call.name} is a function of this process; a worker runs files only")
    return call.target

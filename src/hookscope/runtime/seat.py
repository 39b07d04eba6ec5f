"""A worker's place: the worker while there is one, what is known of it, and talking with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex

from hookscope.core.failure import Failure
from hookscope.core.hooks import LogLine
from hookscope.core.runs import Code, Module, Result, Status
from hookscope.runtime.alarm import Alarm
from hookscope.runtime.between import Between
from hookscope.runtime.course import Course, told_failure
from hookscope.runtime.deadlines import Overran, TooLarge, limited
from hookscope.runtime.declared import WITH_HANDLERS, module_of, settings_message, targets_of
from hookscope.runtime.escapes import end, may_run
from hookscope.runtime.failures import CANCELLED, ENDED, Phase
from hookscope.runtime.limits import Limits
from hookscope.runtime.order import Numbers, Order
from hookscope.runtime.peer import Peer, WorkerLost
from hookscope.runtime.python_worker.protocol import Message
from hookscope.runtime.reports import Reports
from hookscope.runtime.rest import AT_REST, Patience, Rest, still_running
from hookscope.runtime.shared import Shared
from hookscope.runtime.talk import Talk
from hookscope.runtime.together import COMPANY, Together
from hookscope.runtime.traces import Traces, printed_at_once
from hookscope.runtime.waiting import to_the_end


class Seat:
    """Holds one worker at a time: only its lane gives it one, only `drop` ends it.

    A handler that hangs, dies or spoils the worker is a result like any other; then the seat is empty.
    """

    def __init__(self, shared: Shared, owner: str = "") -> None:
        self.owner = owner  # the hook that has this seat for itself; empty: all that do no harm share it
        self.worker: Peer | None = None
        self.calls = 0  # run or loaded by the present worker
        self.has_waited = False  # before its first call
        self._knows_settings = False  # the present worker, which is a plugin's
        self.held: set[tuple[Path, str]] = set()  # path and export of what the present worker has loaded
        self._shared = shared
        self._traces = Traces()
        self._reports = Reports(shared, self._traces)
        self._alarm = Alarm()  # of the limits of what runs
        self._numbers = Numbers()  # under which the present worker knows what it is asked to run
        self._between = Between(self._traces)  # its runs

    def take(self, worker: Peer, has_waited: bool) -> None:
        """Sit down a worker. `has_waited`: it may have died since it was started, by nobody's fault."""
        self.worker, self.calls, self._reports.restless = worker, 0, None
        self._between.leave()
        self.has_waited = has_waited
        self._knows_settings = False
        self.held.clear()
        self._numbers = Numbers()
        self._traces.begin()

    @property
    def restless(self) -> Order | None:
        """Of whose handler something still runs in the present worker."""
        return self._reports.restless

    async def drop(self) -> None:
        """End the worker, what it started and what of that escaped. A cancel waits until it is done."""
        worker, self.worker = self.worker, None
        self._between.leave()
        self.held.clear()
        if worker is None:
            return
        if not worker.alive:  # it died by itself: what is behind it takes no turn of the loop
            await worker.end()
            if not self._may_have_left(worker):
                return
        await to_the_end(self._ended(worker))

    async def _ended(self, worker: Peer) -> None:
        await worker.end()
        if self._may_have_left(worker):
            self._traces.killed(*await asyncio.to_thread(end, worker.mark, self._traces.escaped))

    def _may_have_left(self, worker: Peer) -> bool:
        return bool(self._traces.escaped) or may_run(worker.mark, worker.pid)

    async def run(self, course: Course, orders: Sequence[Order]) -> None:
        """Run these, the next of the course, as far as the worker lives. Only a cancel comes out."""
        worker = self.worker
        assert worker is not None
        used, self.calls = bool(self.calls) or self.has_waited, self.calls + 1
        self._note_late(worker)
        try:
            with worker.listening(outputs=False):
                await self._tell_settings(worker, orders[0])
                await self._talk(worker, course, orders)
            if course.spoilt or course.worn:
                await self.drop()
        except (Overran, TooLarge) as over:
            status: Status = "timeout" if isinstance(over, Overran) else "crashed"
            await self._drop_under(worker, [(course, course.lost(status, over.failure))])
        except WorkerLost as lost:
            if lost.ours:
                has_begun = course.begun is not None
                await self._drop_under(worker, [(course, course.lost("cancelled", ENDED))] * has_begun)
                return
            if used and lost.died and course.phase == "load":  # dead before this call: nobody is to blame
                self._note_death(lost)
                course.begun = None
                await self.drop()
                return
            failure = Failure("Crashed", f"{lost.text} before it answered", phase=course.phase)
            await self._drop_under(worker, [(course, course.lost("crashed", failure))])
        except asyncio.CancelledError:
            if course.begun is None:
                await self.drop()
            else:
                await self._drop_under(worker, [(course, course.lost("cancelled", CANCELLED))])
            raise

    async def run_together(self, courses: Sequence[Course], orders: Sequence[Order]) -> None:
        """Run these, calls of one plugin, at once. Only a cancel comes out.

        What had not begun when others brought the worker down stays left; not so where that was loading.
        """
        worker = self.worker
        assert worker is not None
        used, self.calls = bool(self.calls) or self.has_waited, self.calls + 1
        self._note_late(worker)
        for course, order in zip(courses, orders, strict=True):
            course.begin(course.left[0], order)
            course.company = COMPANY if len(courses) > 1 else ""

        def take(number: int, message: Message, asked: Limits | None) -> None:
            self._reports.take(worker, courses[number], orders[number], message, asked)
            self._hold(orders[number])

        limits = [self._shared.limits.of(course.left[0]) for course in courses]
        talk = Together(worker, courses, limits, self._shared.dump, take)
        try:
            with worker.listening():
                await self._tell_settings(worker, orders[0])
                await talk.talk(orders)
            if any(course.spoilt or course.worn for course in courses):
                await self.drop()
        except (Overran, TooLarge) as over:
            status: Status = "timeout" if isinstance(over, Overran) else "crashed"
            await self._drop_under(worker, talk.ended_by(status, over.failure))
        except WorkerLost as lost:
            if lost.ours:
                left = [courses[number] for number in talk.left]
                await self._drop_under(worker, [(course, course.lost("cancelled", ENDED)) for course in left])
                return
            if used and lost.died and not talk.begun:  # dead before these calls: nobody is to blame
                self._note_death(lost)
                for course in courses:
                    course.begun = None
                await self.drop()
                return
            phase: Phase = "run" if talk.begun else "load"
            failure = Failure("Crashed", f"{lost.text} before it answered", phase=phase)
            await self._drop_under(worker, talk.ended_by("crashed", failure, lost.text))
        except asyncio.CancelledError:
            left = [courses[number] for number in talk.left]
            await self._drop_under(worker, [(course, course.lost("cancelled", CANCELLED)) for course in left])
            raise

    async def settle(self, waits: Patience) -> Rest:
        """What handlers do that have answered, as long as that goes on and `waits` is not over.

        What went on for longer once is not waited for again.
        """
        worker, order, ledger = self.worker, self.restless, self._shared.ledger
        if worker is None or not self.calls:
            return AT_REST
        known = order is not None and ledger.is_lasting(order.code, order.name)
        self._between.hush()
        left = lost = ""
        try:
            with worker.listening():
                left = await still_running(worker, None if order is None or known else waits)
        except WorkerLost as ended:
            lost = "" if ended.ours else f"ended its worker after it had answered: that {ended.text}"
        late = self._traces.late_news(worker)
        if lost:
            await self.drop()
            return Rest((*late, (self._traces.last or "a handler", lost)))
        if not left:
            self._traces.nothing_left()
        elif order is not None and not known:
            ledger.outlasts(order.code, order.name)
            return Rest(tuple(late), ((order.code.root.name, left),))
        return Rest(tuple(late))

    async def load(self, order: Order) -> Code | Module | Failure:
        """Load, and run nothing. The order's code, or what the module declares. Only a cancel comes out."""
        worker = self.worker
        assert worker is not None
        self.calls += 1
        self._between.hush()
        try:
            return await self._load(worker, order)
        except Overran as late:
            await self.drop()
            self._reports.blame(order)
            return late.failure
        except WorkerLost as lost:
            await self.drop()
            if lost.ours:
                return replace(ENDED, phase="load")
            self._reports.blame(order)
            return Failure("Crashed", f"{lost.text} while it was loaded", phase="load")
        except asyncio.CancelledError:
            await self.drop()
            raise

    async def _load(self, worker: Peer, order: Order) -> Code | Module | Failure:
        run, limits = token_hex(8), self._shared.limits
        with worker.listening():
            async with limited(limits, "load"):
                await self._tell_settings(worker, order, anew=True)
                await worker.tell(
                    {"do": "load", "id": run, "code": {**order.document(), "env": dict(order.code.env)}}
                )
                message = await worker.hear()
        if message.get("id") != run or "loaded" not in message:
            raise WorkerLost("answered what nobody had asked")
        self._traces.last = order.code.root.name
        self._shared.learn(order.code, message)
        if message.get("dirty"):
            await self.drop()
        if message.get("error") is not None:
            return told_failure(message["error"], "load")
        if self.worker is not None:
            self._hold(order)
        if order.code.shape not in WITH_HANDLERS:
            return order.code
        try:
            module = module_of(message.get("module"), targets_of(order.code))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise WorkerLost("described a module that is none") from None
        printed = printed_at_once(worker)
        if not printed:
            return module
        self._shared.news.append(f"as it loaded, {self._traces.last} printed: {printed}")
        return replace(module, log=(*module.log, LogLine("info", f"printed as it loaded: {printed}")))

    async def _tell_settings(self, worker: Peer, order: Order, *, anew: bool = False) -> None:
        """Before a plugin is loaded there; `anew`: they may be others since."""
        if order.code.shape == "plugin" and (anew or not self._knows_settings):
            await worker.tell(settings_message(order.code))
            self._knows_settings = True

    async def _drop_under(self, worker: Peer, ends: Iterable[tuple[Course, Result]]) -> None:
        """End the worker under its handlers, and report those ends, also when cancelled meanwhile.

        The first of them is to blame, if any is.
        """
        try:
            await self.drop()
        finally:
            for number, (course, result) in enumerate(ends):
                self._reports.ended(worker, course, result, blamed=not number)

    def _note_death(self, lost: WorkerLost) -> None:
        after = self._traces.last or "the last handler"
        self._shared.news.append(f"the worker {lost.text} after {after}")

    async def _talk(self, worker: Peer, course: Course, orders: Sequence[Order]) -> None:
        """Go through the orders, until the last or until one spoils the worker."""
        shared = self._shared
        await Talk(
            worker,
            course,
            orders,
            shared.limits.of,
            shared.dump,
            partial(self._reports.take, worker, course),
            self._hold,
            self._alarm,
            self._numbers,
        ).talk()

    def _hold(self, order: Order) -> None:
        self.held.add((order.code.path, order.code.export))

    def attend(self) -> None:
        """Hear of what handlers print or throw late, while nothing runs here; its lane wants to be told."""
        worker, told = self.worker, self._shared.told_late
        if worker is not None and told is not None:
            self._between.attend(worker, told)

    def _note_late(self, worker: Peer) -> None:
        self._between.hush()
        self._shared.news.extend(f"before this, {who} {text}" for who, text in self._traces.late_news(worker))

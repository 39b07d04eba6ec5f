"""A worker's place: the worker while there is one, what is known of it, and talking with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

from hookscope.core.arguments import Arguments
from hookscope.core.runs import Code, Failure, Module, Result, Status
from hookscope.runtime.alarm import Alarm
from hookscope.runtime.between import Between
from hookscope.runtime.contents import Contents
from hookscope.runtime.course import AT_REST, Course, seconds_of, told_failure
from hookscope.runtime.deadlines import Overran, TooLarge, limited, overran_by, stopped
from hookscope.runtime.declared import WITH_HANDLERS, module_of, targets_of
from hookscope.runtime.dumps import frames_in, has_dump
from hookscope.runtime.escapes import end, may_run
from hookscope.runtime.failures import CANCELLED, Phase
from hookscope.runtime.ledger import Ledger
from hookscope.runtime.limits import Limits
from hookscope.runtime.order import Numbers, Order
from hookscope.runtime.python_worker.protocol import Message
from hookscope.runtime.talk import Talk
from hookscope.runtime.together import COMPANY, Together, ended_with_it
from hookscope.runtime.traces import Traces, late_in_words
from hookscope.runtime.views import is_hook_event
from hookscope.runtime.waiting import to_the_end
from hookscope.runtime.worker import NOTHING, Link, WorkerLost
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Shared:
    """What all seats of a lane have in common."""

    limits: Limits
    ledger: Ledger
    contents: Contents
    news: list[str]  # what happened since the last result, said with the next one
    told_late: Callable[[str, str], None] | None = None  # hears between two batches what comes late
    dump: int = 0  # the signal at which a worker of this language prints its stack; 0: there is none


class Seat:
    """Holds one worker at a time: only its lane gives it one, only `drop` ends it.

    A handler that hangs, dies or spoils the worker is a result like any other; then the seat is empty.
    """

    def __init__(self, shared: Shared, owner: str = "") -> None:
        self.owner = owner  # the hook that has this seat for itself; empty: all that do no harm share it
        self.worker: Link | None = None
        self.calls = 0  # run or loaded by the present worker
        self.has_waited = False  # before its first call
        self.restless: Order | None = None  # of whose handler something still runs in the present worker
        self.held: set[tuple[Path, str]] = set()  # path and export of what the present worker has loaded
        self._shared = shared
        self._traces = Traces()
        self._alarm = Alarm()  # of the limits of what runs
        self._numbers = Numbers()  # under which the present worker knows what it is asked to run
        self._between = Between(self._traces)  # its runs

    def take(self, worker: Link, has_waited: bool) -> None:
        """Sit down a worker. `has_waited`: it may have died since it was started, by nobody's fault."""
        self.worker, self.calls, self.restless = worker, 0, None
        self._between.leave()
        self.has_waited = has_waited
        self.held.clear()
        self._numbers = Numbers()
        self._traces.begin()

    async def drop(self) -> None:
        """End the worker, what it started and what of that escaped. A cancel waits until it is done."""
        worker, self.worker = self.worker, None
        self._between.leave()
        self.held.clear()
        if worker is not None:
            await to_the_end(self._ended(worker))

    async def _ended(self, worker: Link) -> None:
        await worker.end()
        if may_run(worker.mark, worker.pid):
            self._traces.killed(await asyncio.to_thread(end, worker.mark))

    async def run(self, course: Course, orders: Sequence[Order]) -> None:
        """Run these, the next of the course, as far as the worker lives. Only a cancel comes out."""
        worker = self.worker
        assert worker is not None
        used, self.calls = bool(self.calls) or self.has_waited, self.calls + 1
        self._note_late(worker)
        try:
            with worker.listening(outputs=False):
                await self._talk(worker, course, orders)
            if course.spoilt or course.worn:
                await self.drop()
        except (Overran, TooLarge) as over:
            status: Status = "timeout" if isinstance(over, Overran) else "crashed"
            await self._drop_under(worker, (course, course.lost(status, over.failure)))
        except WorkerLost as lost:
            if used and lost.died and course.phase == "load":  # dead before this call: nobody is to blame
                self._note_death(lost)
                course.begun = None
                await self.drop()
                return
            failure = Failure("Crashed", f"{lost.text} before it answered", phase=course.phase)
            await self._drop_under(worker, (course, course.lost("crashed", failure)))
        except asyncio.CancelledError:
            if course.begun is None:
                await self.drop()
            else:
                await self._drop_under(worker, (course, course.lost("cancelled", CANCELLED)))
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
            self._take(worker, courses[number], orders[number], message, asked)
            self.held.add((orders[number].code.path, orders[number].code.export))

        limits = [self._shared.limits.of(course.left[0]) for course in courses]
        talk = Together(worker, courses, limits, self._shared.dump, take)
        try:
            with worker.listening():
                await talk.talk(
                    {
                        "do": "run",
                        "id": talk.id,
                        "fence": worker.fence,
                        "together": True,
                        "views": [course.document for course in courses],
                        "hook": is_hook_event(courses[0].view),
                        "arguments": isinstance(courses[0].view, Arguments),
                        "calls": [order.call_document() for order in orders],
                    }
                )
            if any(course.spoilt or course.worn for course in courses):
                await self.drop()
        except (Overran, TooLarge) as over:
            status: Status = "timeout" if isinstance(over, Overran) else "crashed"
            await self._drop_under_all(courses, worker, talk, status, over.failure)
        except WorkerLost as lost:
            if used and lost.died and not talk.begun:  # dead before these calls: nobody is to blame
                self._note_death(lost)
                for course in courses:
                    course.begun = None
                await self.drop()
                return
            phase: Phase = "run" if talk.begun else "load"
            failure = Failure("Crashed", f"{lost.text} before it answered", phase=phase)
            await self._drop_under_all(courses, worker, talk, "crashed", failure, lost.text)
        except asyncio.CancelledError:
            ends = [(courses[number], courses[number].lost("cancelled", CANCELLED)) for number in talk.left]
            await self._drop_under(worker, *ends)
            raise

    async def _drop_under_all(
        self,
        courses: Sequence[Course],
        worker: Link,
        talk: Together,
        status: Status,
        failure: Failure,
        why: str = "",
    ) -> None:
        """End the worker under its handlers: one has failed so, the others that run end with it."""
        ending = talk.running if talk.begun else talk.left
        culprit = talk.culprit
        if culprit is None and (len(ending) == 1 or not talk.begun):
            culprit = ending[0]
        if culprit is not None and not why:
            name = courses[culprit].left[0].name
            why = f"was stopped because {name} {failure.message.removesuffix(' and was stopped')}"
        bystander = ended_with_it(why or failure.message, failure.phase)
        how: dict[int, tuple[Status, Failure]] = dict.fromkeys(ending, ("crashed", bystander))
        if status == "timeout":
            how |= {number: (status, overran_by(talk.limits[number], "run")) for number in talk.overdue}
        how |= {culprit: (status, failure)} if culprit is not None else {}
        culprit_first = sorted(how, key=lambda number: number != culprit)
        ends = ((courses[number], courses[number].lost(*how[number])) for number in culprit_first)
        await self._drop_under(worker, *ends)

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
            self._blame(order)
            return late.failure
        except WorkerLost as lost:
            await self.drop()
            self._blame(order)
            return Failure("Crashed", f"{lost.text} while it was loaded", phase="load")
        except asyncio.CancelledError:
            await self.drop()
            raise

    async def _load(self, worker: Link, order: Order) -> Code | Module | Failure:
        run, limits = token_hex(8), self._shared.limits
        with worker.listening():
            async with limited(limits, "load"):
                await worker.tell(
                    {"do": "load", "id": run, "code": {**order.document(), "env": dict(order.code.env)}}
                )
                message = await worker.hear()
        if message.get("id") != run or "loaded" not in message:
            raise WorkerLost("answered what nobody had asked")
        self._traces.last = order.code.root.name
        self._learn(order, message)
        if message.get("dirty"):
            await self.drop()
        if message.get("error") is not None:
            return told_failure(message["error"], "load")
        if self.worker is not None:
            self.held.add((order.code.path, order.code.export))
        if order.code.shape not in WITH_HANDLERS:
            return order.code
        try:
            return module_of(message.get("module"), targets_of(order.code))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise WorkerLost("described a module that is none") from None

    def _learn(self, order: Order, message: Message) -> None:
        files = message.get("files")
        if isinstance(files, list):
            self._shared.contents.learn(order.code, map(str, files))

    async def _drop_under(self, worker: Link, *ends: tuple[Course, Result]) -> None:
        """End the worker under its handlers, and report those ends, also when cancelled meanwhile.

        The first of them is to blame, if any is.
        """
        try:
            await self.drop()
        finally:
            for number, (course, ended) in enumerate(ends):
                self._step(course, worker, ended, blamed=not number)

    def _note_death(self, lost: WorkerLost) -> None:
        after = self._traces.last or "the last handler"
        self._shared.news.append(f"the worker {lost.text} after {after}")

    async def _talk(self, worker: Link, course: Course, orders: Sequence[Order]) -> None:
        """Go through the orders, until the last or until one spoils the worker."""

        def take(order: Order, message: Message, asked: Limits | None) -> None:
            self._take(worker, course, order, message, asked)

        shared = self._shared
        await Talk(
            worker,
            course,
            orders,
            shared.limits.of,
            shared.dump,
            take,
            self._hold,
            self._alarm,
            self._numbers,
        ).talk()

    def _hold(self, order: Order) -> None:
        self.held.add((order.code.path, order.code.export))

    def _take(
        self, worker: Link, course: Course, order: Order, message: Message, asked: Limits | None
    ) -> None:
        """Report the result in this message. `asked`: it came because a limit of these was over."""
        if asked is None and message.keys() <= AT_REST:  # nearly always
            took = seconds_of(message, "took", 0.0)
            if not self._has_more(worker, course, took):
                course.rested(took, message.get("returned"))
                return
        self._learn(order, message)
        result = course.answered(message)
        if asked is not None:
            result = stopped(result, asked)
        shared, printed = message.get("shared") is True, message.get("printed") is True
        self._step(course, worker, result, shared=shared, answered=True, printed=printed)
        if message.get("left"):
            self._traces.left(result.call.name, str(message["left"]))
            self._shared.ledger.leaves_running(order.code, order.name)
            self.restless = order

    def _has_more(self, worker: Link, course: Course, took: float) -> bool:
        """Is there more to be said with the end of a handler that did nothing but return."""
        traces = self._traces
        traces.last = course.left[0].name
        traces.nothing_left()
        return bool(
            self._shared.news
            or course.notes
            or course.company
            or worker.has_late
            or traces.may_have_escaped(len(course.left) > 1, took)
        )

    def _step(
        self,
        course: Course,
        worker: Link,
        ended: Result,
        *,
        shared: bool = True,
        answered: bool = False,
        printed: bool = True,
        blamed: bool = True,
    ) -> None:
        """Report an end, with what was printed up to here and what happened before.

        `shared`: what earlier handlers left running may have printed beside this one. `answered`: the
        worker goes on meanwhile, and what it prints is no longer of this one. `printed`: it may have.
        """
        output = worker.printed(of_one=answered) if printed else NOTHING
        if not shared:
            self._traces.nothing_left()
        traces, late = self._traces, worker.late()
        escaped = traces.escapes(worker, len(course.left) > 1) if answered else traces.ended_with_it()
        traces.last = ended.call.name
        if (
            output is NOTHING
            and ended.status == "ok"
            and not (ended.notes or course.notes or course.spoilt or late or escaped or self._shared.news)
        ):  # nearly always
            course.finish(ended)
            return
        has_printed = bool(output.stdout or output.stderr)
        notes = (
            *self._shared.news,
            *course.notes,
            *ended.notes,
            *(" ".join(late_in_words(one)) for one in late),
            *escaped,
            *(traces.others() if has_printed else ()),
            *((course.company,) if course.company and has_printed else ()),
            *output.notes,
        )
        self._shared.news.clear()
        course.notes = []
        if ended.error is not None and not ended.error.frames and has_dump(output.stderr):
            ended = replace(ended, error=replace(ended.error, frames=frames_in(output.stderr)))
        if course.spoilt or (blamed and ended.status in ("timeout", "crashed")):
            notes = (*notes, *self._blame(course.order))
        course.finish(replace(ended, stdout=output.stdout, stderr=output.stderr, notes=notes))

    def _blame(self, order: Order) -> tuple[str, ...]:
        """Note a fault. What it means for the hook, in words, where that is new."""
        if order.call is not None and order.call.breakage is not None:  # it is ours
            return ()
        if self._shared.ledger.fault(order.code, order.name):
            return ("this was its third fault within five minutes: from now on only a fire by hand runs it",)
        return ()

    def attend(self) -> None:
        """Hear of what handlers print or throw late, while nothing runs here; its lane wants to be told."""
        worker, told = self.worker, self._shared.told_late
        if worker is not None and told is not None:
            self._between.attend(worker, told)

    def _note_late(self, worker: Link) -> None:
        self._between.hush()
        self._shared.news.extend(f"before this, {who} {text}" for who, text in self._traces.late_news(worker))

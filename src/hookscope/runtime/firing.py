"""One firing of an event: the task that runs it, and everybody who listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from dataclasses import field, replace
from itertools import count
from time import perf_counter
from typing import Any

from hookscope.core.breakage import Breakage
from hookscope.core.hooks import LogLine
from hookscope.core.lanes import LaneOf, PlanRecorder, Recorder
from hookscope.core.runs import UNRECORDED, Ending, Event, Fold, NotRun, Plan, Registration, Result, Run, Step
from hookscope.runtime.clock import begin_run
from hookscope.runtime.dispatch import dispatch
from hookscope.runtime.python_worker.faults import safe_text
from hookscope.runtime.views import messages_in
from hookscope.runtime.waiting import to_the_end, until_over
from hookscope.values import dataclass

DEPTH = 16  # events that cause events that cause events: further ones are a circle

_IDS = count(1)  # of runs that nobody records, unique in this process
_TASKS: set[asyncio.Task[Run]] = set()  # the loop holds tasks weakly; a firing nobody keeps still runs


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
        self._steps: list[Step] = []
        self._news = asyncio.Event()
        self._cancelled = False
        self._begun = False  # a task that is cancelled before its first step never takes it
        self._course: _Course | None = None  # of the event itself, not of what it causes
        self._run: Run | None = None
        self._task = _running_loop().create_task(self._fire(plan))
        _TASKS.add(self._task)
        self._task.add_done_callback(_TASKS.discard)

    @property
    def done(self) -> bool:
        """Is there a Run, recorded where somebody records."""
        return self._run is not None

    async def number(self) -> int | None:
        """The id of the run, as soon as its beginning is on record; None where it is on none."""
        while self._recorder is not None and not self.done:
            course, news = self._course, self._news
            if course is not None and (course.id is not None or course.unrecorded):
                break
            await news.wait()
        return self._course.id if self._course is not None else None

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
        await until_over(self._task, self.cancel)
        return self._task.result()

    async def __aiter__(self) -> AsyncIterator[Step]:
        """All steps from the beginning. Leaving the loop cancels nothing."""
        seen = 0
        while True:
            news = self._news
            while seen < len(self._steps):
                yield self._steps[seen]
                seen += 1
            if self.done:
                return
            if news is self._news:
                await news.wait()

    def _tell(self, step: Step) -> None:
        self._steps.append(step)
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _fire(self, plan: Plan) -> Run:
        self._begun = True
        self._run = await self._fired(plan, 0)
        self._wake()
        return self._run

    async def _fired(self, plan: Plan, depth: int) -> Run:
        """One event and what it causes. Never raises: what goes wrong stands in the Run."""
        ends = self._begins(plan) if self._begins is not None else None
        course = _Course(plan, begin_run(), self._tell, self._recorder, self._wake)
        self._course = self._course or course
        try:
            if self._cancelled:
                raise asyncio.CancelledError
            course.ending = await dispatch(plan, self._lane_of, course.take, course.begin, course.keep)
            for event in course.ending.follow_ups if self._follow is not None else ():
                if depth == DEPTH:
                    course.notes.append(f"`{event.key}` was not fired: events caused each other {DEPTH} deep")
                    continue
                await self._caused(course, event, depth)
        except asyncio.CancelledError:  # `cancel` says so, or the loop itself is closing
            course.cancelled = self._cancelled = True
        except Exception as error:  # ours or a policy's: the run must end, be recorded, and say it
            course.broken = f"Hookscope failed: {type(error).__name__}: {safe_text(error)}"
        run = await self._ended(course, self._complete if depth == 0 else None)
        if ends is not None:
            ends(run)
        return run

    async def _caused(self, course: _Course, event: Event, depth: int) -> None:
        if self._follow is None:
            return
        try:
            plan = self._follow(event)
        except Exception as error:  # a plan that cannot be made is no reason to lose the run
            course.notes.append(f"`{event.key}` was not fired: {safe_text(error)}")
            return
        course.caused.append(await self._fired(plan, depth + 1))
        if self._cancelled:
            raise asyncio.CancelledError

    async def _ended(self, course: _Course, complete: Callable[[Run], Awaitable[Run]] | None) -> Run:
        """The Run, recorded. No cancel gets in between."""
        if self._recorder is None and complete is None:  # then nothing awaits, and a task would be in vain
            return course.run()
        closing = asyncio.ensure_future(course.close(complete))
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


@dataclass(slots=True)
class _Course:
    """What is known of one run while it goes on."""

    plan: Plan
    began: float
    tell: Callable[[Step], None]
    recorder: Recorder | None
    begun: Callable[[], object]  # called when its beginning is on record, or cannot be
    results: list[Result] = field(default_factory=list)
    fold: Fold | None = None
    ending: Ending | None = None
    caused: list[Run] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    purposely: dict[str, None] = field(default_factory=dict)  # whose handlers were broken, as sentences
    cancelled: bool = False
    broken: str = ""
    id: int | None = None
    unrecorded: str = ""  # why it could not be recorded
    asked: bool = False  # was the recorder asked to begin

    def take(self, step: Step) -> None:
        """A lane's step, on its way to the listeners."""
        if isinstance(step, Result):
            if step.call in self.plan.forced:
                step = replace(step, forced=True)
            if step.call.breakage is not None:
                self.purposely[f"{step.call.name} was broken on purpose: {step.call.breakage.text}"] = None
                step = replace(step, notes=(*self._on_purpose(step.call, step.call.breakage), *step.notes))
            self.results.append(step)
        self.tell(step)

    def keep(self, fold: Fold) -> None:
        self.fold = fold

    async def begin(self) -> None:
        """Put the event on record. A cancel waits: a record that is begun must get its end."""
        if self.recorder is None:
            return
        self.asked = True
        await to_the_end(self._begin(self.recorder))

    async def _begin(self, recorder: Recorder) -> None:
        try:
            if isinstance(recorder, PlanRecorder):
                self.id = await recorder.begin_plan(self.plan)
            else:
                self.id = await recorder.begin(self.plan.event)
        except Exception as error:
            self.unrecorded = safe_text(error)
            raise
        finally:
            self.begun()

    async def close(self, complete: Callable[[Run], Awaitable[Run]] | None = None) -> Run:
        """The Run, with its end on record where its beginning is. Never raises."""
        if self.recorder is not None and not self.asked:  # cancelled before its turn came; still recorded
            try:
                await self.begin()
            except Exception:
                self.notes.append(f"This run could not be recorded: {self.unrecorded}")
        run = self.run()
        if complete is not None:
            try:
                run = await complete(run)
            except Exception as error:
                run = replace(run, notes=(*run.notes, f"This run could not be completed: {safe_text(error)}"))
        if self.recorder is None or self.id is None:
            return run
        try:
            await self.recorder.end(run)
        except Exception as error:
            note = f"The end of this run could not be recorded: {safe_text(error)}"
            run = replace(run, notes=(*run.notes, note))
        return run

    def run(self) -> Run:
        """The Run as far as it is known."""
        plan, ending = self.plan, self._ending()
        messages, context = self._event_afterwards()
        if ending.context is not None:
            context = ending.context
        return Run(
            id=self._number(),
            event=plan.event,
            results=self._in_plan_order(),
            not_run=(*plan.not_run, *self._left_over(ending)),
            ending=ending,
            messages=messages,
            context=context,
            caused=tuple(self.caused),
            took=perf_counter() - self.began,
            cancelled=self.cancelled,
            delivers=plan.delivers,
            notes=(*self.purposely, *self.notes),
            assumed=plan.assumed,
        )

    def _in_plan_order(self) -> tuple[Result, ...]:
        """The results in plan order: those that ran side by side too, whoever ended first."""
        if not any(group.together for group in self.plan.groups):
            return tuple(self.results)
        places = {call: place for place, call in enumerate(self.plan.calls)}
        return tuple(sorted(self.results, key=lambda result: places.get(result.call, len(places))))

    def _on_purpose(self, call: Registration, breakage: Breakage) -> tuple[str, ...]:
        """What was broken; and where it is ended early, how long its host would wait."""
        said = f"broken on purpose: {breakage.text}"
        if breakage.limit is None:
            return (said,)
        if self.plan.event.kind == "plugin" and call.limit:
            return said, f"its host would wait for {call.limit:g} s"
        return said, "its host sets no limit that is known here: it would wait for ever"

    def _number(self) -> int:
        if self.recorder is None:
            return next(_IDS)
        return self.id or 0  # 0: on no record

    def _ending(self) -> Ending:
        """What it came to; of a run that broke off, what it had come to."""
        ending = self.ending
        if ending is None and self.fold is not None and not self.broken:
            ending = self.plan.policy.finish(self.fold)
            ending = replace(ending, follow_ups=())  # nobody fires them any more
        ending = ending or Ending()
        if not self.broken:
            return ending
        return replace(ending, failure=self.broken, log=(*ending.log, LogLine("error", self.broken)))

    def _left_over(self, ending: Ending) -> tuple[NotRun, ...]:
        have: set[Registration] = {result.call for result in self.results}
        reason = self._why_not(ending)
        return tuple(NotRun(call.name, reason, call.hook) for call in self.plan.calls if call not in have)

    def _why_not(self, ending: Ending) -> str:
        if self.broken:
            return "Hookscope itself failed"
        if self.cancelled:
            return "the run was cancelled"
        if self.unrecorded and self.plan.event.kind == "stream":
            return UNRECORDED
        if ending.failure is not None:
            return "an earlier handler failed the event"
        return "an earlier handler ended the event"

    def _event_afterwards(self) -> tuple[tuple[str, ...], Mapping[str, Any]]:
        event = self.plan.event if self.fold is None else self.fold.event
        context = getattr(event, "context", None)
        if isinstance(context, Mapping):
            return messages_in(event), dict(context)
        if isinstance(event, Mapping):
            return messages_in(event), dict(event)
        return messages_in(event), {}

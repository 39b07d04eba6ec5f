"""Firing one event: its task, its run in progress, and the firings that its handlers cause."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Mapping
from contextvars import ContextVar
from dataclasses import field, replace
from itertools import count
from time import perf_counter
from typing import Any

from hookscope.model.executor import ExecutorOf, PlanRecorder, Recorder
from hookscope.model.failure import InjectedFault
from hookscope.model.hook import LogLine
from hookscope.model.regular_file import FILE_LIMIT_HINT, FILE_LIMIT_REACHED, is_file_limit
from hookscope.model.run import (
    EVENT_NOT_RECORDED,
    SKIPPED_BY_HAND,
    Ending,
    Event,
    Fold,
    NotRun,
    Paused,
    Plan,
    Registration,
    Result,
    Run,
    Skipped,
    Step,
    not_recorded_message,
)
from hookscope.runtime.async_helpers import (
    Broadcast,
    await_uninterrupted,
    running_loop,
    start_run_clock,
    wait_until_done,
)
from hookscope.runtime.dispatch import dispatch, with_ignored_notes
from hookscope.runtime.orphan_processes import worker_depth
from hookscope.runtime.payloads import messages_in
from hookscope.runtime.python_worker.safe_values import safe_text
from hookscope.values import dataclass

_unrecorded_ids = count(1)  # of runs without a recorder, unique in this process


@dataclass(slots=True)
class RunInProgress:
    """The state of a run in progress, which becomes its Run."""

    plan: Plan
    began: float
    steps: Broadcast[Step]  # woken also once the start is recorded, or recording has failed
    recorder: Recorder | None
    results: list[Result] = field(default_factory=list)
    fold: Fold | None = None
    ending: Ending | None = None
    caused: tuple[Run, ...] = ()
    notes: tuple[str, ...] = ()
    fault_notes: tuple[str, ...] = ()  # sentences about injected faults
    skipped: tuple[Registration, ...] = ()  # by the user
    cancelled: bool = False
    internal_error: str = ""
    loop_reason: str = ""  # why it was not fired: an endless loop
    id: int | None = None
    record_error: str = ""  # why it could not be recorded
    record_requested: bool = False  # `begin` was called

    def add_step(self, step: Step) -> None:
        """Pass an executor's step to the listeners."""
        if isinstance(step, Result):
            if step.call in self.plan.forced:
                step = replace(step, forced=True)
            if step.call.injected_fault is not None:
                note = f"{step.call.name} was broken on purpose: {step.call.injected_fault.text}"
                self.fault_notes += () if note in self.fault_notes else (note,)
                step = replace(
                    step,
                    notes=(*self._injected_fault_notes(step.call, step.call.injected_fault), *step.notes),
                )
            step = with_ignored_notes(
                step, self.plan.event, self.plan.required_item_members, self.plan.policy
            )
            self.results.append(step)
        elif isinstance(step, Skipped):
            self.skipped += (step.call,)
        self.steps.publish(step)

    def keep_fold(self, fold: Fold) -> None:
        """Store the latest fold; an interrupted run ends with it."""
        self.fold = fold

    async def begin(self) -> None:
        """Record the event. A cancel waits until this is done, because a started record must get an end."""
        if self.recorder is None:
            return
        self.record_requested = True
        await await_uninterrupted(self._begin(self.recorder))

    async def _begin(self, recorder: Recorder) -> None:
        try:
            if isinstance(recorder, PlanRecorder):
                self.id = await recorder.begin_plan(self.plan)
            else:
                self.id = await recorder.begin(self.plan.event)
        except Exception as error:  # of a foreign recorder; dispatch decides what follows
            self.record_error = safe_text(error)
            raise
        finally:
            self.steps.wake()

    async def close(self, complete: Callable[[Run], Awaitable[Run]] | None = None) -> Run:
        """Return the completed Run, and record its end if its start was recorded. Never raises."""
        if self.recorder is not None and not self.record_requested:  # cancelled before it was recorded
            try:
                await self.begin()
            except Exception:  # stored by `_begin`
                self.notes += (not_recorded_message(self.record_error),)
        run = self.run()
        if complete is not None:
            try:
                run = await complete(run)
            except Exception as error:  # foreign code; the run stays valid
                run = replace(run, notes=(*run.notes, f"This run could not be completed: {safe_text(error)}"))
        if self.recorder is None or self.id is None:
            return run
        try:
            await self.recorder.end(run)
        except Exception as error:  # a full disk is not a reason to lose the run
            note = f"The end of this run could not be recorded: {safe_text(error)}"
            run = replace(run, notes=(*run.notes, note))
        return run

    def run(self) -> Run:
        """Return the Run with everything known so far."""
        plan, ending = self.plan, self._ending()
        messages, context = self._final_event()
        if ending.context is not None:
            context = ending.context
        return Run(
            id=self._run_id(),
            event=plan.event,
            results=self._in_plan_order(),
            not_run=(*plan.not_run, *self._calls_not_run(ending)),
            ending=ending,
            messages=messages,
            context=context,
            caused=self.caused,
            took=perf_counter() - self.began,
            cancelled=self.cancelled,
            delivers=plan.delivers,
            notes=(*plan.notes, *self.fault_notes, *self.notes),
            assumed=plan.assumed,
        )

    def _in_plan_order(self) -> tuple[Result, ...]:
        """Return the results in plan order, even those of concurrent calls."""
        if len(self.results) < 2 or not any(group.concurrent for group in self.plan.groups):
            return tuple(self.results)
        places = {call: place for place, call in enumerate(self.plan.calls)}
        return tuple(sorted(self.results, key=lambda result: places.get(result.call, len(places))))

    def _injected_fault_notes(self, call: Registration, fault: InjectedFault) -> tuple[str, ...]:
        """Return notes on the injected fault and, if Hookscope ended it early, on the wait of the host."""
        note = f"broken on purpose: {fault.text}"
        if fault.limit is None:
            return (note,)
        if self.plan.event.kind == "plugin" and call.limit:
            return note, f"the host would wait for {call.limit:g} s"
        return note, "the host has no known time limit: it would wait forever"

    def _run_id(self) -> int:
        if self.recorder is None:
            return next(_unrecorded_ids)
        return self.id or 0  # 0: not recorded

    def _ending(self) -> Ending:
        """Return the ending; for an interrupted run, the last known state."""
        ending = self.ending
        if ending is None and self.fold is not None and not self.internal_error:
            ending = self.plan.policy.finish(self.fold)
            ending = replace(ending, follow_ups=())  # they are not fired any more
        ending = ending or Ending()
        if not self.internal_error:
            return ending
        return replace(
            ending, failure=self.internal_error, log=(*ending.log, LogLine("error", self.internal_error))
        )

    def _calls_not_run(self, ending: Ending) -> tuple[NotRun, ...]:
        if len(self.results) == len(self.plan.calls):  # nearly always
            return ()
        finished: set[Registration] = {result.call for result in self.results}
        reason = self._not_run_reason(ending)
        unfinished = (call for call in self.plan.calls if call not in finished)
        return tuple(
            NotRun(call.name, SKIPPED_BY_HAND if call in self.skipped else reason, call.hook)
            for call in unfinished
        )

    def _not_run_reason(self, ending: Ending) -> str:
        if self.internal_error:
            return "handlers fired events endlessly" if self.loop_reason else "Hookscope itself failed"
        if self.cancelled:
            return "the run was cancelled"
        if self.record_error and self.plan.event.kind == "stream":
            return EVENT_NOT_RECORDED
        if ending.failure is not None:
            return "an earlier handler made the event fail"
        return "an earlier handler ended the event"

    def _final_event(self) -> tuple[tuple[str, ...], Mapping[str, Any]]:
        event = self.plan.event if self.fold is None else self.fold.event
        context = getattr(event, "context", None)
        if isinstance(context, (dict, Mapping)):
            return messages_in(event), dict(context)
        if isinstance(event, Mapping):
            return messages_in(event), dict(event)
        return messages_in(event), {}


MAX_DEPTH = 16  # levels of events that cause events; deeper ones count as a loop
COUNTED_DEPTH = (
    4  # levels; deeper firings are counted, because tasks that nobody awaits multiply with each level
)
MAX_DEEP_FIRINGS = 2000  # in one chain and period
COUNTING_PERIOD = 5.0  # seconds
CHAIN_PAUSE = 0.5  # seconds after which a firing no longer belongs to the chain
COMMAND_DEPTH = 4  # levels that a command counts for if a handler started it


@dataclass(slots=True)
class _FiringChain:
    """A firing and all firings that it has caused, directly or not."""

    running: int = 0
    last_end: float = 0.0  # perf_counter time at which a firing ended last
    deep_firings: int = 0  # in this period
    counted_since: float = 0.0  # start of this period
    stopped_keys: frozenset[str] = frozenset()  # keys of events that are not fired any more

    def count_deep_firing(self) -> None:
        """Count another deeply nested firing."""
        now = perf_counter()
        if now - self.counted_since > COUNTING_PERIOD:
            self.deep_firings, self.counted_since = 0, now
        self.deep_firings += 1

    def is_over(self) -> bool:
        """Return True if no firing of the chain has run for a while: later ones, as of timers, start anew."""
        return not self.running and perf_counter() - self.last_end > CHAIN_PAUSE


_current_chain: ContextVar[tuple[_FiringChain, int] | None] = ContextVar("hookscope_chain", default=None)


class NestedFiring:
    """The position of a firing in its chain of firings.

    Everything that a handler awaits, and tasks and threads started in its context, belong to its firing.
    """

    def __init__(self, key: str) -> None:
        """Must be called in the firing's own task."""
        parent = _current_chain.get()
        if parent is None or parent[0].is_over():
            chain, self.depth, self._is_first = _FiringChain(), COMMAND_DEPTH * worker_depth(), True
        else:
            chain, self.depth, self._is_first = parent[0], parent[1] + 1, False
        self._chain = chain
        self.loop_reason = self._find_loop(key)
        chain.running += 1

    def _find_loop(self, key: str) -> str:
        """Return why an event must not be fired: it would continue an endless loop. Empty if it may be."""
        if self.depth >= COUNTED_DEPTH:
            self._chain.count_deep_firing()
        too_many = self._chain.deep_firings > MAX_DEEP_FIRINGS
        if self.depth >= MAX_DEPTH or too_many or (self.depth > 1 and key in self._chain.stopped_keys):
            self._chain.stopped_keys |= {key}
            return _not_fired_note(key)
        return ""

    def enter(self, depth: int) -> None:
        """Set the depth of this task. Firings by the task, or by tasks it starts, are one level deeper."""
        _current_chain.set((self._chain, depth))

    def stopped_notes(self) -> tuple[str, ...]:
        """Return a sentence for each event stopped in the chain; empty except for the first firing."""
        if not self._is_first or self.loop_reason:
            return ()
        return tuple(map(_not_fired_note, sorted(self._chain.stopped_keys)))

    def leave(self) -> None:
        """Note that the firing has ended."""
        self._chain.running -= 1
        self._chain.last_end = perf_counter()


def _not_fired_note(key: str) -> str:
    return f"`{key}` was not fired: handlers fired events endlessly"


class Firing:
    """A fired event: iterate over it for steps, await it for the Run, or cancel it.

    Create it inside a running loop; it starts by itself. It owns its task, which only `cancel` stops.
    It ends with exactly one Run, in which every planned call has one result or one `not_run`.

    Args:
        recorder: assigns the run's id and stores it. Its failures become notes and log lines.
        follow: plans the follow-up events that the policy requests. Their runs become `caused`, and their
            steps are reported here too.
        complete: may change the Run before its end is recorded. Always awaited, even for a failed run.
        begins: called as this run and each follow-up starts; the function it returns gets the Run at its end.
    """

    def __init__(
        self,
        plan: Plan,
        executor_of: ExecutorOf,
        *,
        recorder: Recorder | None = None,
        follow: Callable[[Event], Plan] | None = None,
        complete: Callable[[Run], Awaitable[Run]] | None = None,
        begins: Callable[[Plan], Callable[[Run], object]] | None = None,
    ) -> None:
        self._complete = complete
        self._on_begin = begins
        self._executor_of = executor_of
        self._recorder = recorder
        self._follow = follow
        self._steps: Broadcast[Step] = Broadcast()
        self._cancelled = False
        self._has_begun = False  # a task cancelled before its first step runs no code
        self._progress: RunInProgress | None = None  # of the event itself, not of its follow-ups
        self._run: Run | None = None
        self._nested: NestedFiring | None = None
        self._task = running_loop("an event is fired", "fire()").create_task(self._fire(plan))

    @property
    def done(self) -> bool:
        """True if the Run is complete and, if there is a recorder, recorded."""
        return self._run is not None

    @property
    def is_cancelled(self) -> bool:
        """True if a cancel was requested, even if it came too late."""
        return self._cancelled

    async def number(self) -> int | None:
        """Return the run's ID once its start is recorded; None if that failed, or if the run pauses first."""
        while self._recorder is not None and not self.done and not self._is_paused_unrecorded():
            progress = self._progress
            if progress is not None and (progress.id is not None or progress.record_error):
                break
            await self._steps.wait()
        return self._progress.id if self._progress is not None else None

    def _is_paused_unrecorded(self) -> bool:
        return bool(self._steps.items) and isinstance(self._steps.items[-1], Paused)

    def cancel(self) -> None:
        """Stop the running handler and start no other. Awaiting the firing still returns its Run.

        A second call cancels a handler that ignored the first one.
        """
        self._cancelled = True
        if self._has_begun and not self.done:
            self._task.cancel()

    def __await__(self) -> Generator[Any, None, Run]:
        """Return the Run. If the awaiting task is cancelled, the firing is cancelled and awaited."""
        return self._wait().__await__()

    async def _wait(self) -> Run:
        await wait_until_done(self._task, self.cancel)
        return self._task.result()

    def __aiter__(self) -> AsyncIterator[Step]:
        """Yield all steps from the first. Leaving the `async for` does not cancel the firing."""
        return aiter(self._steps)

    async def _fire(self, plan: Plan) -> Run:
        self._has_begun = True
        UNFINISHED_FIRINGS.add(self._task)
        self._nested = nested = NestedFiring(plan.event.key)
        try:
            self._run = await self._run_event(plan, nested.depth, nested.loop_reason)
        finally:
            nested.leave()
            UNFINISHED_FIRINGS.discard(self._task)
        self._steps.close()
        return self._run

    async def _run_event(self, plan: Plan, depth: int, loop_reason: str = "") -> Run:
        """Run one event and its follow-ups. Never raises: failures are part of the Run.

        `depth`: the nesting of firings; `loop_reason`: why the event is not fired at all.
        """
        if self._nested is not None:
            self._nested.enter(depth)
        on_end = self._on_begin(plan) if self._on_begin is not None else None
        progress = RunInProgress(plan, start_run_clock(), self._steps, self._recorder)
        self._progress = self._progress or progress
        try:
            if self._cancelled:
                raise asyncio.CancelledError
            if loop_reason:
                progress.loop_reason = progress.internal_error = loop_reason
            else:
                progress.ending = await dispatch(
                    plan,
                    self._executor_of,
                    progress.add_step,
                    progress.begin if self._recorder is not None else None,
                    progress.keep_fold,
                )
            follow_ups = progress.ending.follow_ups if progress.ending is not None else ()
            for event in follow_ups if self._follow is not None else ():
                if depth >= MAX_DEPTH:
                    too_deep = f"events caused each other {MAX_DEPTH} levels deep"
                    progress.notes += (f"`{event.key}` was not fired: {too_deep}",)
                    continue
                await self._run_follow_up(progress, event, depth)
        except asyncio.CancelledError:  # by `cancel`, or because the loop is closing
            progress.cancelled = self._cancelled = True
        except Exception as error:  # of ours or of a policy: the run still ends and is recorded
            progress.internal_error = f"Hookscope failed: {type(error).__name__}: {safe_text(error)}"
            if is_file_limit(error):
                progress.internal_error = f"Hookscope failed: {FILE_LIMIT_REACHED}. {FILE_LIMIT_HINT}"
        if self._nested is not None and progress is self._progress:
            progress.notes += self._nested.stopped_notes()
        complete = self._complete if progress is self._progress else None
        if self._recorder is None and complete is None:  # nothing to await
            run = progress.run()
        else:
            run = await self._close(progress, complete)
        if on_end is not None:
            on_end(run)
        return run

    async def _run_follow_up(self, progress: RunInProgress, event: Event, depth: int) -> None:
        if self._follow is None:
            return
        try:
            plan = self._follow(event)
        except Exception as error:  # the run is kept if its follow-up cannot be planned
            progress.notes += (f"`{event.key}` was not fired: {safe_text(error)}",)
            return
        progress.caused += (await self._run_event(plan, depth + 1),)
        if self._cancelled:
            raise asyncio.CancelledError

    async def _close(self, progress: RunInProgress, complete: Callable[[Run], Awaitable[Run]] | None) -> Run:
        """Return the Run, completed and recorded. A cancel cannot interrupt this."""
        closing = asyncio.ensure_future(progress.close(complete))
        while not closing.done():
            try:
                await asyncio.wait({closing})
            except asyncio.CancelledError:
                self._cancelled = True  # too late for this run, but the run that caused it stops
        return closing.result()


UNFINISHED_FIRINGS = set[asyncio.Task[Any]]()  # keeps their tasks alive: the loop refers to them weakly

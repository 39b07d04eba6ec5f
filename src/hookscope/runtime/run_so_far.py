"""One run while it goes on: what is known of it, on its way to listeners and to the record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from itertools import count
from time import perf_counter
from typing import Any

from hookscope.core.breakage import Breakage
from hookscope.core.hooks import LogLine
from hookscope.core.lanes import PlanRecorder, Recorder
from hookscope.core.runs import (
    PASSED_OVER,
    UNRECORDED,
    Ending,
    Fold,
    NotRun,
    Plan,
    Registration,
    Result,
    Run,
    Skipped,
    Step,
)
from hookscope.core.told import not_recorded
from hookscope.runtime.in_vain import with_what_was_in_vain
from hookscope.runtime.python_worker.faults import safe_text
from hookscope.runtime.views import messages_in
from hookscope.runtime.waiting import to_the_end
from hookscope.values import dataclass

_IDS = count(1)  # of runs that nobody records, unique in this process


@dataclass(slots=True)
class RunSoFar:
    """What is known of one run while it goes on, and the Run that this makes."""

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
    skipped: set[Registration] = field(default_factory=set)  # by hand
    cancelled: bool = False
    broken: str = ""
    endless: str = ""  # why it was not fired at all
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
            step = with_what_was_in_vain(step, self.plan.event, self.plan.needs, self.plan.policy)
            self.results.append(step)
        elif isinstance(step, Skipped):
            self.skipped.add(step.call)
        self.tell(step)

    def keep(self, fold: Fold) -> None:
        """What the answers have added up to: a run that breaks off has come to this."""
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
        except Exception as error:  # a recorder is somebody else's: dispatch decides what it means
            self.unrecorded = safe_text(error)
            raise
        finally:
            self.begun()

    async def close(self, complete: Callable[[Run], Awaitable[Run]] | None = None) -> Run:
        """The Run, with its end on record where its beginning is. Never raises."""
        if self.recorder is not None and not self.asked:  # cancelled before its turn came; still recorded
            try:
                await self.begin()
            except Exception:  # as `_begin` has kept it
                self.notes.append(not_recorded(self.unrecorded))
        run = self.run()
        if complete is not None:
            try:
                run = await complete(run)
            except Exception as error:  # somebody else's, too: the run is there all the same
                run = replace(run, notes=(*run.notes, f"This run could not be completed: {safe_text(error)}"))
        if self.recorder is None or self.id is None:
            return run
        try:
            await self.recorder.end(run)
        except Exception as error:  # a full disk is no reason to lose the run
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
            notes=(*plan.notes, *self.purposely, *self.notes),
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
        left = (call for call in self.plan.calls if call not in have)
        return tuple(
            NotRun(call.name, PASSED_OVER if call in self.skipped else reason, call.hook) for call in left
        )

    def _why_not(self, ending: Ending) -> str:
        if self.broken:
            return "handlers fired events without end" if self.endless else "Hookscope itself failed"
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

"""Runs of sequences: step after step, with their delays, on one set of workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.yaml_sections import read_section
from hookscope.authoring.testing.saved_events import event_to_fire, saved_event_in
from hookscope.authoring.testing.sequences import (
    EventSequence,
    SequenceStep,
    is_sequence,
    sequence_in,
)
from hookscope.authoring.testing.test_runs import SavedEventResult, run_saved_event
from hookscope.model.refusal import Refusal
from hookscope.model.run import Plan
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench
    from hookscope.runtime.firing import Firing


@dataclass(frozen=True, slots=True)
class SequenceStepRun:
    """One step that was fired, or could not be."""

    step: SequenceStep
    done: SavedEventResult
    plan: Plan | None


@dataclass(frozen=True, slots=True)
class SequenceResult:
    """A sequence that is over: with fewer steps than it has where it was cancelled, or ended by a failure."""

    sequence: EventSequence
    steps: tuple[SequenceStepRun, ...]
    cancelled: bool = False

    @property
    def passed(self) -> bool:
        """Was every step fired, and did each do what was expected of it."""
        whole = len(self.steps) == len(self.sequence.steps) and not self.cancelled
        return whole and all(one.done.passed for one in self.steps)


class SequenceRun:
    """A sequence on its way: iterate `steps` for each as it is over, or await `run` for all. Once.

    The workers are the workbench's: what a handler keeps in its memory at one step is there at the next.
    """

    def __init__(
        self,
        bench: Workbench,
        sequence: EventSequence,
        *,
        delays: bool = True,
        sandbox: bool = False,
        stop: bool = False,
    ) -> None:
        """
        Args:
            delays: wait as the steps say; else none waits.
            sandbox: each step on copies of its own, thrown away after it.
            stop: fire nothing after a step that did not pass.
        """
        self._bench, self.sequence = bench, sequence
        self._delays, self._sandbox, self._stop = delays, sandbox, stop
        self._cancelled = asyncio.Event()
        self._firing: Firing | None = None

    def cancel(self) -> None:
        """Stop the running handler, or the waiting, and fire nothing more; what was fired is the answer."""
        self._cancelled.set()
        if self._firing is not None:
            self._firing.cancel()

    @property
    def cancelled(self) -> bool:
        """Was it asked to stop?"""
        return self._cancelled.is_set()

    async def steps(self) -> AsyncIterator[SequenceStepRun]:
        """Fire them, and tell each as it is over."""
        for step in self.sequence.steps:
            await self._wait(step.after if self._delays else 0)
            if self.cancelled:
                return
            done, plan = await run_saved_event(
                self._bench, step.event, sandbox=self._sandbox, told=self._begun
            )
            self._firing = None
            yield SequenceStepRun(step, done, plan)
            if self._stop and not done.passed:
                return

    async def run(self) -> SequenceResult:
        """Fire them all."""
        steps = [one async for one in self.steps()]
        return SequenceResult(self.sequence, tuple(steps), self.cancelled)

    async def _wait(self, seconds: float) -> None:
        if seconds:
            try:
                await asyncio.wait_for(self._cancelled.wait(), seconds)
            except TimeoutError:
                return

    def _begun(self, firing: Firing) -> None:
        self._firing = firing
        if self.cancelled:
            firing.cancel()


def plan_sequence(bench: Workbench, sequence: EventSequence) -> tuple[Plan, ...]:
    """Who would run at each step. Runs nothing. Raises Refusal for the first step that cannot be fired."""
    view = bench.look()
    plans = []
    for number, step in enumerate(sequence.steps, start=1):
        try:
            plans.append(bench.plan(view, event_to_fire(bench, view, step.event)))
        except Refusal as refused:
            told = refused.what.startswith(str(step.event.file))
            where = "" if told else f"Step {number} of {sequence.name} cannot be fired: "
            raise Refusal(f"{where}{refused.what}", refused.then, code=2) from None
    return tuple(plans)


async def run_test_file(
    bench: Workbench,
    file: Path,
    told: Callable[[Firing | SequenceRun], object] | None = None,
    *,
    sandbox: bool = False,
) -> SavedEventResult:
    """Fire the saved event of a file, or its sequence, and compare with what it expects.

    A file that says nothing of use is an answer, not an error. `told` hears of what is fired, to cancel it.
    With `sandbox` each event is fired on copies of its own.
    """
    section = None
    try:
        section = read_section(file, "saved event: it wants a mapping with `event: KEY`")
        if not is_sequence(section):
            return (await run_saved_event(bench, saved_event_in(section), sandbox=sandbox, told=told))[0]
        sequence = sequence_in(section, file.stem)
        plan_sequence(bench, sequence)
    except Refusal as refused:
        unplayed = section is not None and is_sequence(section)
        return SavedEventResult(file, None, problem=str(refused), sequence=unplayed)
    sequencing = SequenceRun(bench, sequence, sandbox=sandbox)
    if told is not None:
        told(sequencing)
    over = await sequencing.run()
    return SavedEventResult(file, None, steps=tuple(one.done for one in over.steps), sequence=True)

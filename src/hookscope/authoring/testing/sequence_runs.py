"""Runs of sequences: step by step, with their delays, on one set of workers."""

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
    result: SavedEventResult
    plan: Plan | None


@dataclass(frozen=True, slots=True)
class SequenceResult:
    """A finished sequence; with fewer steps if it was cancelled or stopped after a failure."""

    sequence: EventSequence
    steps: tuple[SequenceStepRun, ...]
    cancelled: bool = False

    @property
    def passed(self) -> bool:
        """True if every step was fired and met its expectations."""
        whole = len(self.steps) == len(self.sequence.steps) and not self.cancelled
        return whole and all(one.result.passed for one in self.steps)


class SequenceRun:
    """A running sequence: iterate `steps`, or await `run` for all. Once.

    It uses the workbench's workers: what a handler keeps in memory at one step is there at the next.
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
        """Prepare the run of a sequence.

        Args:
            delays: wait between steps; False: do not wait.
            sandbox: each step on copies of its own, removed after it.
            stop: fire nothing after a step that did not pass.
        """
        self._bench, self.sequence = bench, sequence
        self._delays, self._sandbox, self._stop = delays, sandbox, stop
        self._cancelled = asyncio.Event()
        self._firing: Firing | None = None

    def cancel(self) -> None:
        """Cancel the running handler or delay, and fire no more steps. Finished steps are kept."""
        self._cancelled.set()
        if self._firing is not None:
            self._firing.cancel()

    @property
    def cancelled(self) -> bool:
        """True once `cancel` was called."""
        return self._cancelled.is_set()

    async def steps(self) -> AsyncIterator[SequenceStepRun]:
        """Fire the steps, and yield each when it has ended."""
        for step in self.sequence.steps:
            await self._wait(step.after if self._delays else 0)
            if self.cancelled:
                return
            result, plan = await run_saved_event(
                self._bench, step.event, sandbox=self._sandbox, on_start=self._started
            )
            self._firing = None
            yield SequenceStepRun(step, result, plan)
            if self._stop and not result.passed:
                return

    async def run(self) -> SequenceResult:
        """Fire all steps."""
        steps = [one async for one in self.steps()]
        return SequenceResult(self.sequence, tuple(steps), self.cancelled)

    async def _wait(self, seconds: float) -> None:
        if seconds:
            try:
                await asyncio.wait_for(self._cancelled.wait(), seconds)
            except TimeoutError:
                return

    def _started(self, firing: Firing) -> None:
        self._firing = firing
        if self.cancelled:
            firing.cancel()


def plan_sequence(bench: Workbench, sequence: EventSequence) -> tuple[Plan, ...]:
    """Return the plan of each step. Runs nothing. Raises Refusal for the first invalid step."""
    view = bench.scan()
    plans = []
    for number, step in enumerate(sequence.steps, start=1):
        try:
            plans.append(bench.plan(view, event_to_fire(bench, view, step.event)))
        except Refusal as refused:
            names_file = refused.problem.startswith(str(step.event.file))
            where = "" if names_file else f"Step {number} of {sequence.name} cannot be fired: "
            raise Refusal(f"{where}{refused.problem}", refused.next_step, code=2) from None
    return tuple(plans)


async def run_test_file(
    bench: Workbench,
    file: Path,
    on_start: Callable[[Firing | SequenceRun], object] | None = None,
    *,
    sandbox: bool = False,
) -> SavedEventResult:
    """Fire the saved event or sequence of a file, and compare it with its expectations.

    An invalid file is a result, not an error. `on_start` gets what is fired, to cancel it. `sandbox`: each
    event on copies of its own.
    """
    section = None
    try:
        section = read_section(file, "saved event: it wants a mapping with `event: KEY`")
        if not is_sequence(section):
            return (
                await run_saved_event(bench, saved_event_in(section), sandbox=sandbox, on_start=on_start)
            )[0]
        sequence = sequence_in(section, file.stem)
        plan_sequence(bench, sequence)
    except Refusal as refused:
        holds_sequence = section is not None and is_sequence(section)
        return SavedEventResult(file, None, problem=str(refused), sequence=holds_sequence)
    sequencing = SequenceRun(bench, sequence, sandbox=sandbox)
    if on_start is not None:
        on_start(sequencing)
    result = await sequencing.run()
    return SavedEventResult(file, None, steps=tuple(one.result for one in result.steps), sequence=True)

"""Sequences: events with the time between them, from a file or as a host sends them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.project_config import SEQUENCES_FOLDER, YamlSection, files_below, read_section
from hookscope.authoring.testing.saved_events import (
    EVENT_KEYS,
    SavedEvent,
    event_to_fire,
    is_saved_event,
    read_saved,
    saved_event_in,
)
from hookscope.authoring.testing.test_runs import SavedEventResult, run_saved_event
from hookscope.formats.yaml12 import read_yaml
from hookscope.hosts.dialects.catalogues import read_data_file
from hookscope.model.failure import Refusal
from hookscope.model.host import Dialect
from hookscope.model.run import Plan
from hookscope.model.text import did_you_mean, nearest_word
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
    """A running sequence: iterate `steps`, or await `run` for all steps. Can be used once.

    It uses the workbench's workers, so handlers keep their memory from one step to the next.
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
            sandbox: run each step on its own copies, which are then removed.
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

    An invalid file is a result, not an error. `on_start` gets the firing or sequence, to cancel it.
    `sandbox`: run each event on its own copies.
    """
    section = None
    try:
        section = read_section(file, "a saved event: it needs a mapping with `event: KEY`")
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


SEQUENCE_KEYS = ("name", "tags", "notes", "source", "session", "steps")
STEP_KEYS = ("after", "with", *(key for key in EVENT_KEYS if key != "tags"))
FILE_STEP_KEYS = ("after", "file", "session", "expect")
AFTER = re.compile(r"(\d{1,6}(?:\.\d{1,3})?) ?(ms|s|m)", re.ASCII)
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
LONGEST = 3_600  # seconds between two steps


@dataclass(frozen=True, slots=True)
class SequenceStep:
    """One event of a sequence."""

    event: SavedEvent
    after: float = 0.0  # seconds after the end of the previous step


@dataclass(frozen=True, slots=True)
class EventSequence:
    """A sequence before variables are filled in."""

    name: str
    file: Path
    steps: tuple[SequenceStep, ...]
    notes: str = ""
    source: str = ""  # source of its order
    tags: tuple[str, ...] = ()
    is_shipped: bool = False  # shipped with Hookscope: what the host sends

    @property
    def expects(self) -> bool:
        """True if any step has expectations."""
        return any(step.event.expect for step in self.steps)


@dataclass(frozen=True, slots=True)
class SequenceRow:
    """A sequence in a list, or the reason why its file is not a valid sequence."""

    name: str
    file: Path
    sequence: EventSequence | None = None
    problem: str = ""  # a sentence


def is_sequence(section: YamlSection) -> bool:
    """Return whether a file holds a sequence, not one event."""
    return "steps" in section.value and "event" not in section.value


def read_sequence(file: Path) -> EventSequence:
    """Return the sequence in a file, as written, with the files it names. Raises Refusal."""
    return sequence_in(read_section(file, "a sequence: it needs a mapping with `steps:`"), file.stem)


def sequence_in(section: YamlSection, name: str) -> EventSequence:
    """Return the sequence in a file or a part of one; `name` is the default. Raises Refusal."""
    section.check_keys(SEQUENCE_KEYS, "A sequence")
    session = section.text("session")
    steps = tuple(
        _step(step, session, number) for number, step in enumerate(section.sections("steps"), start=1)
    )
    return EventSequence(
        name=section.text("name") or name,
        file=section.file,
        steps=steps,
        notes=section.text("notes") or "",
        source=section.text("source") or "",
        tags=section.texts("tags"),
    )


def _step(section: YamlSection, session: str | None, number: int) -> SequenceStep:
    after = _delay(section)
    place = f"{section.file}, step {number}"
    if "file" in section.value:
        section.check_keys(FILE_STEP_KEYS, "A step with `file`")
        name = section.text("file") or ""
        saved = read_saved(section.file.parent / name)
        expect = section.mapping("expect") if "expect" in section.value else saved.expect
        session = section.text("session") or saved.session or session
        return SequenceStep(replace(saved, session=session, expect=expect), after)
    section.check_keys(STEP_KEYS, "A step")
    event_keys = {key: value for key, value in section.value.items() if key in EVENT_KEYS}
    saved = saved_event_in(YamlSection(section.file, section.source, event_keys, section.path))
    if "context" in event_keys and "with" in section.value:
        raise section.refusal(
            "`with` changes the example context and `context` replaces it: use one of them.", "with"
        )
    return SequenceStep(
        replace(
            saved,
            session=saved.session or session,
            context=saved.context if "context" in event_keys else section.mapping("with"),
            merges_template="context" not in event_keys,
            place=place,
        ),
        after,
    )


def _delay(section: YamlSection) -> float:
    """Return the delay in seconds. Raises Refusal."""
    written = section.value.get("after")
    if written is None:
        return 0.0
    found = AFTER.fullmatch(written) if isinstance(written, str) else None
    if found is None or (seconds := float(found[1]) * UNITS[found[2]]) > LONGEST:
        raise section.refusal("`after` needs a time such as 250ms, 2s or 1m; at most an hour.", "after")
    return seconds


def sequences_of(workspace: Path, dialect: Dialect) -> tuple[SequenceRow, ...]:
    """Return the workspace's sequences, then those shipped for the dialect. Never raises."""
    own = [_sequence_row(file) for file in files_below(workspace / SEQUENCES_FOLDER)]
    return (*own, *(SequenceRow(one.name, one.file, one) for one in shipped_sequences(dialect)))


def _sequence_row(file: Path) -> SequenceRow:
    try:
        sequence = read_sequence(file)
    except Refusal as refused:
        return SequenceRow(file.stem, file, problem=str(refused))
    return SequenceRow(sequence.name, file, sequence)


def shipped_sequences(dialect: Dialect) -> tuple[EventSequence, ...]:
    """Return the sequences of events that the dialect's host sends, as far as sources show."""
    known = dialect.catalogue().by_key
    shipped = (one for name in dialect.sequences for one in _shipped(name))
    return tuple(one for one in shipped if all(step.event.key in known for step in one.steps))


def _shipped(name: str) -> Iterator[EventSequence]:
    text = read_data_file(name)
    document = read_yaml(text)
    assert isinstance(document, dict)
    for title, body in document["sequences"].items():
        section = YamlSection(Path(f"{name}.yaml"), text, body, ("sequences", title))
        yield replace(sequence_in(section, title), is_shipped=True)


def sequence_named(text: str, workspace: Path, dialect: Dialect, cwd: Path) -> EventSequence:
    """Return the sequence in a file or with a name; the workspace takes precedence. Raises Refusal."""
    if is_saved_event(text):
        return read_sequence(cwd / text)
    rows = sequences_of(workspace, dialect)
    row = next((row for row in rows if text in (row.name, row.file.stem)), None)
    if row is None:
        next_step = did_you_mean(
            nearest_word(text, [row.name for row in rows]), "`hookscope sequence` lists the sequences."
        )
        raise Refusal(f"There is no sequence {text!r}.", next_step, code=2)
    if row.sequence is None:
        raise Refusal(row.problem, code=2)
    return row.sequence

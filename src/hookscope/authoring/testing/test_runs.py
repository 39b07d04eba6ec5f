"""Saved events and sequences as tests.

each is fired, and its run compared with the expectations in its file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.app.trust_requests import cannot_run_messages, trust_next_steps
from hookscope.app.yaml_sections import EVENTS_FOLDER, SEQUENCES_FOLDER, YAML_ENDINGS, files_below
from hookscope.authoring.testing.expectations import (
    FILES,
    Placeholder,
    UnmetExpectation,
    changed_files,
    unmet_expectations,
)
from hookscope.authoring.testing.saved_events import SavedEvent, event_to_fire, expectations_of
from hookscope.model.refusal import Refusal
from hookscope.model.run import Plan, Run
from hookscope.model.text import nearest_word, one_line
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.runtime.firing import Firing


@dataclass(frozen=True, slots=True)
class SavedEventResult:
    """One saved event that was fired, or one sequence of them."""

    file: Path
    run: Run | None  # None: it could not be fired, and `problem` says why
    misses: tuple[UnmetExpectation, ...] = ()
    left: tuple[str, ...] = ()  # sentences: who should have run and could not
    problem: str = ""
    files: tuple[str, ...] | None = None  # what it wrote, where it ran on copies; see `files_of`
    expects: bool = True  # does the file say what it expects
    accepted: bool = False  # what it did is what its file expects now
    steps: tuple[SavedEventResult, ...] = ()  # of a sequence, which has no run of its own
    sequence: bool = False  # is it one; it has no steps where its file cannot be read
    notes: tuple[str, ...] = ()  # what its handlers did after they had answered, and the like

    @property
    def passed(self) -> bool:
        """Did everybody run who should, and did the run do what was expected, or is now."""
        if self.steps:
            return not self.problem and (self.accepted or all(step.passed for step in self.steps))
        missed = self.misses and not self.accepted
        return self.run is not None and not (missed or self.left or self.run.cancelled)

    @property
    def took(self) -> float | None:
        """Seconds in handlers; None where nothing was fired."""
        runs = [item.run for item in (self, *self.steps) if item.run is not None]
        return sum(run.took for run in runs) if runs else None

    @property
    def why(self) -> tuple[str, ...]:
        """Why it did not pass, for people: a line for each thing, items of lists indented below theirs."""
        sentences = (self.problem, *self.left) if self.problem else self.left
        sentences = (*sentences, *self._kept_out())
        own = (*(one_line(sentence, 400) for sentence in sentences), *_lines(self.misses))
        return (*own, *self._of_steps())

    def _kept_out(self) -> Iterator[str]:
        """Listeners that something was expected of and that did not run, where nothing else tells of them."""
        told = " ".join(self.left)
        for item in self.run.not_run if self.run is not None and self.misses else ():
            is_told = (
                item.left_out or item.reason.startswith("untrusted") or f"{item.name} did not run" in told
            )
            if (
                item.listens
                and not is_told
                and any(_expected_of_hook(miss, item.name) for miss in self.misses)
            ):
                yield f"{item.name} did not run: {item.reason}"

    def _of_steps(self) -> Iterator[str]:
        for number, step in enumerate(self.steps, start=1):
            if not step.passed:
                key = f" {one_line(step.run.event.key)}" if step.run is not None else ""
                yield f"step {number}{key}:"
                yield from (f"  {line}" for line in step.why or ("cancelled",))


def _expected_of_hook(miss: UnmetExpectation, name: str) -> bool:
    """Was it of this hook that something else was expected."""
    part, _, hook = miss.what.partition(".")
    listed = part == "ran" and isinstance(miss.expected, list) and name in miss.expected
    return listed or (part in ("messages", "output") and hook == name)


def _lines(misses: Sequence[UnmetExpectation]) -> Iterator[str]:
    for miss in misses:
        yield f"{one_line(miss.what)}: {_compared(miss)}"
        yield from (f"  {one_line(line, 300)}" for line in miss.lines)


def _compared(miss: UnmetExpectation) -> str:
    """Of lists whose items follow the lengths, where they tell."""
    expected, got = miss.expected, miss.got
    if miss.lines and isinstance(expected, list) and isinstance(got, list):
        same = len(expected) == len(got)
        return "not as expected" if same else f"expected {len(expected)}, got {len(got)}"
    return f"expected {_short_value(expected)}, got {_short_value(got)}"


def _short_value(value: object) -> str:
    told = value if isinstance(value, Placeholder) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(told, 120)


def saved_event_paths(workspace: Path, named: Sequence[Path]) -> list[Path]:
    """The files that are named, and those below folders that are; none named: all of the workspace, saved
    events and sequences.

    Raises Refusal where there is none.
    """
    for place in named:
        if not os.path.exists(place):
            raise Refusal(f"There is no file or folder {place}.", closest_file(workspace, place), code=2)
    places = list(named) or [workspace / EVENTS_FOLDER, workspace / SEQUENCES_FOLDER]
    files = [file for place in places for file in _test_files_below(place)]
    if not files:
        where = ", ".join(map(str, places[:1] if not named else places))
        then = "A saved event is a YAML file with `event:`" + (
            "." if named else "; `fire KEY --save NAME` writes one."
        )
        raise Refusal(f"There are no saved events in {where}.", then)
    return files


def closest_file(
    workspace: Path, place: Path, folders: Sequence[Path] = (EVENTS_FOLDER, SEQUENCES_FOLDER)
) -> str:
    """The file of these folders that was perhaps meant: a saved event, a sequence."""
    known = {file.stem: file for folder in folders for file in _test_files_below(workspace / folder)}
    near = nearest_word(place.stem, known)
    if near is None:
        return "`hookscope events --saved` lists saved events, `hookscope sequence` sequences."
    return f"Did you mean {os.path.relpath(known[near])}?"


def _test_files_below(place: Path) -> Iterator[Path]:
    if os.path.isdir(place):  # unlike Path.is_dir it takes a name that no disk can hold
        yield from files_below(place)
    elif place.suffix in YAML_ENDINGS or os.path.exists(place):
        yield place


async def run_saved_event(
    bench: Workbench,
    saved: SavedEvent,
    *,
    sandbox: bool = False,
    told: Callable[[Firing], object] | None = None,
) -> tuple[SavedEventResult, Plan | None]:
    """Fire a saved event and compare; with the plan that was fired. What cannot be fired is an answer.

    Args:
        sandbox: on copies, as where it expects files.
        told: hears of the firing, to cancel it.
    """
    file, plan = saved.file, None
    try:
        view = bench.look()
        event = event_to_fire(bench, view, saved)
        view = await bench.ready(view, event.kind)
        plan = bench.plan(view, event)
        left = (*trust_next_steps(view, plan), *cannot_run_messages(view, plan))
        expect = expectations_of(bench, view, saved, event)
        guarded = sandbox or FILES in expect
        firing = await bench.fire_guarded(view, plan) if guarded else bench.fire(view, plan)
        if told is not None:
            told(firing)
        run = await firing
        notes = tuple(note for note in run.notes if note not in plan.notes)
        return replace(compare_run(file, expect, run, view, left), notes=notes), plan
    except Refusal as refused:
        return SavedEventResult(file, None, problem=str(refused)), plan
    except OSError as error:
        return SavedEventResult(
            file, None, problem=f"{file.name} wants copies, and there are none: {error}."
        ), plan


def compare_run(
    file: Path, expect: Mapping[str, Any], run: Run, view: Snapshot, left: tuple[str, ...] = ()
) -> SavedEventResult:
    """A run beside what the file of its event expects. Raises Refusal for what nobody can expect."""
    host = view.host
    files = changed_files(run, host.workspace, host.surroundings.home)
    return SavedEventResult(
        file, run, unmet_expectations(expect, run, files), left, files=files, expects=bool(expect)
    )

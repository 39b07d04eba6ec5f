"""Saved events and sequences as tests: each is fired, and its run compared with the expectations."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.app.project_config import EVENTS_FOLDER, SEQUENCES_FOLDER, YAML_ENDINGS, files_below
from hookscope.app.trust_requests import cannot_run_messages, trust_next_steps
from hookscope.authoring.testing.expectations import (
    FILES,
    Placeholder,
    UnmetExpectation,
    changed_files,
    unmet_expectations,
)
from hookscope.authoring.testing.saved_events import SavedEvent, event_to_fire, expectations_of
from hookscope.model.failure import Refusal
from hookscope.model.run import Plan, Run
from hookscope.model.text import nearest_word, one_line
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.runtime.firing import Firing


@dataclass(frozen=True, slots=True)
class SavedEventResult:
    """The result of a fired saved event, or of a sequence of them."""

    file: Path
    run: Run | None  # None: it could not be fired, and `problem` says why
    misses: tuple[UnmetExpectation, ...] = ()
    could_not_run: tuple[str, ...] = ()  # a sentence for each handler that could not run
    problem: str = ""
    files: tuple[str, ...] | None = None  # what it wrote, if sandboxed; see `changed_files`
    expects: bool = True  # the file has expectations
    accepted: bool = False  # the run was accepted as the new expectation
    steps: tuple[SavedEventResult, ...] = ()  # of a sequence, which has no run of its own
    sequence: bool = False  # True even without steps, if its file cannot be read
    notes: tuple[str, ...] = ()  # notes of the run, such as background work

    @property
    def passed(self) -> bool:
        """True if every handler that should run did, and the run met its expectations or was accepted."""
        if self.steps:
            return not self.problem and (self.accepted or all(step.passed for step in self.steps))
        missed = self.misses and not self.accepted
        return self.run is not None and not (missed or self.could_not_run or self.run.cancelled)

    @property
    def took(self) -> float | None:
        """Seconds spent in handlers; None if nothing was fired."""
        runs = [item.run for item in (self, *self.steps) if item.run is not None]
        return sum(run.took for run in runs) if runs else None

    @property
    def failure_lines(self) -> tuple[str, ...]:
        """Why it did not pass: one line per difference, items of lists indented below."""
        sentences = (self.problem, *self.could_not_run) if self.problem else self.could_not_run
        sentences = (*sentences, *self._unexplained_skips())
        own = (*(one_line(sentence, 400) for sentence in sentences), *_lines(self.misses))
        return (*own, *self._step_lines())

    def _unexplained_skips(self) -> Iterator[str]:
        """Yield a line for each hook with expectations that did not run, unless already reported."""
        reported = " ".join(self.could_not_run)
        for item in self.run.not_run if self.run is not None and self.misses else ():
            is_reported = (
                item.exclusion
                or item.reason.startswith("untrusted")
                or f"{item.name} did not run" in reported
            )
            if (
                item.subscribed
                and not is_reported
                and any(_expected_of_hook(miss, item.name) for miss in self.misses)
            ):
                yield f"{item.name} did not run: {item.reason}"

    def _step_lines(self) -> Iterator[str]:
        for number, step in enumerate(self.steps, start=1):
            if not step.passed:
                key = f" {one_line(step.run.event.key)}" if step.run is not None else ""
                yield f"step {number}{key}:"
                yield from (f"  {line}" for line in step.failure_lines or ("cancelled",))


def _expected_of_hook(miss: UnmetExpectation, name: str) -> bool:
    part, _, hook = miss.what.partition(".")
    listed = part == "ran" and isinstance(miss.expected, list) and name in miss.expected
    return listed or (part in ("messages", "output") and hook == name)


def _lines(misses: Sequence[UnmetExpectation]) -> Iterator[str]:
    for miss in misses:
        yield f"{one_line(miss.what)}: {_compared(miss)}"
        yield from (f"  {one_line(line, 300)}" for line in miss.lines)


def _compared(miss: UnmetExpectation) -> str:
    """Return the expected and the actual value; only their lengths for lists whose items are listed below."""
    expected, got = miss.expected, miss.got
    if miss.lines and isinstance(expected, list) and isinstance(got, list):
        same = len(expected) == len(got)
        return "not as expected" if same else f"expected {len(expected)}, got {len(got)}"
    return f"expected {_short_value(expected)}, got {_short_value(got)}"


def _short_value(value: object) -> str:
    text = value if isinstance(value, Placeholder) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, 120)


def saved_event_paths(workspace: Path, named: Sequence[Path]) -> list[Path]:
    """Return the named files and those below named folders; by default all saved events and sequences.

    Raises Refusal if there is none.
    """
    for place in named:
        if not os.path.exists(place):
            raise Refusal(f"There is no file or folder {place}.", closest_file(workspace, place), code=2)
    places = list(named) or [workspace / EVENTS_FOLDER, workspace / SEQUENCES_FOLDER]
    files = [file for place in places for file in _test_files_below(place)]
    if not files:
        where = ", ".join(map(str, places[:1] if not named else places))
        next_step = "A saved event is a YAML file with `event:`" + (
            "." if named else "; `fire KEY --save NAME` writes one."
        )
        raise Refusal(f"There are no saved events in {where}.", next_step)
    return files


def closest_file(
    workspace: Path, place: Path, folders: Sequence[Path] = (EVENTS_FOLDER, SEQUENCES_FOLDER)
) -> str:
    """Return a hint with the closest saved event or sequence in these folders."""
    known = {file.stem: file for folder in folders for file in _test_files_below(workspace / folder)}
    closest = nearest_word(place.stem, known)
    if closest is None:
        return "`hookscope events --saved` lists saved events, `hookscope sequence` sequences."
    return f"Did you mean {os.path.relpath(known[closest])}?"


def _test_files_below(place: Path) -> Iterator[Path]:
    if os.path.isdir(place):  # unlike Path.is_dir it accepts invalid names
        yield from files_below(place)
    elif place.suffix in YAML_ENDINGS or os.path.exists(place):
        yield place


async def run_saved_event(
    bench: Workbench,
    saved: SavedEvent,
    *,
    sandbox: bool = False,
    on_start: Callable[[Firing], object] | None = None,
) -> tuple[SavedEventResult, Plan | None]:
    """Fire a saved event and compare its run; return the result and the plan. Refusals become results.

    Args:
        sandbox: run on copies; always done if the event expects files.
        on_start: gets the firing, to cancel it.
    """
    file, plan = saved.file, None
    try:
        view = bench.scan()
        event = event_to_fire(bench, view, saved)
        view = await bench.load_modules(view, event.kind)
        plan = bench.plan(view, event)
        could_not_run = (*trust_next_steps(view, plan), *cannot_run_messages(view, plan))
        expect = expectations_of(bench, view, saved, event)
        sandboxed = sandbox or FILES in expect
        firing = await bench.fire_sandboxed(view, plan) if sandboxed else bench.fire(view, plan)
        if on_start is not None:
            on_start(firing)
        run = await firing
        notes = tuple(note for note in run.notes if note not in plan.notes)
        return replace(compare_run(file, expect, run, view, could_not_run), notes=notes), plan
    except Refusal as refused:
        return SavedEventResult(file, None, problem=str(refused)), plan
    except OSError as error:
        return SavedEventResult(
            file, None, problem=f"{file.name} must run on copies, which cannot be made: {error}."
        ), plan


def compare_run(
    file: Path, expect: Mapping[str, Any], run: Run, view: Snapshot, could_not_run: tuple[str, ...]
) -> SavedEventResult:
    """Return a run compared with its expectations. Raises Refusal for an invalid expectation."""
    host = view.host
    files = changed_files(run, host.workspace, host.machine.home)
    return SavedEventResult(
        file, run, unmet_expectations(expect, run, files), could_not_run, files=files, expects=bool(expect)
    )

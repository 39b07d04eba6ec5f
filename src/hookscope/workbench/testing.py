"""Saved events as tests: each is fired, and its run compared with what its file expects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.core.runs import Run
from hookscope.core.text import one_line
from hookscope.workbench.expect import FILES, Miss, files_of, misses
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.saved import EVENTS, event_of, read_saved
from hookscope.workbench.sections import ENDINGS, files_below

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View


@dataclass(frozen=True, slots=True)
class Checked:
    """One saved event that was fired."""

    file: Path
    run: Run | None  # None: it could not be fired, and `problem` says why
    misses: tuple[Miss, ...] = ()
    left: tuple[str, ...] = ()  # sentences: who should have run and could not
    problem: str = ""
    files: tuple[str, ...] | None = None  # what it wrote, where it ran on copies; see `files_of`
    expects: bool = True  # does the file say what it expects
    accepted: bool = False  # what it did is what its file expects now

    @property
    def passed(self) -> bool:
        """Did everybody run who should, and did the run do what was expected, or is now."""
        missed = self.misses and not self.accepted
        return self.run is not None and not (missed or self.left or self.run.cancelled)

    @property
    def why(self) -> tuple[str, ...]:
        """Why it did not pass, for people: a line for each thing, items of lists indented below theirs."""
        sentences = (self.problem, *self.left) if self.problem else self.left
        return (*(one_line(sentence, 400) for sentence in sentences), *_lines(self.misses))


def _lines(misses: Sequence[Miss]) -> Iterator[str]:
    for miss in misses:
        yield f"{one_line(miss.what)}: {_compared(miss)}"
        yield from (f"  {one_line(line, 300)}" for line in miss.lines)


def _compared(miss: Miss) -> str:
    """Of lists whose items follow the lengths, where they tell."""
    expected, got = miss.expected, miss.got
    if miss.lines and isinstance(expected, list) and isinstance(got, list):
        same = len(expected) == len(got)
        return "not as expected" if same else f"expected {len(expected)}, got {len(got)}"
    return f"expected {_brief(expected)}, got {_brief(got)}"


def _brief(value: object) -> str:
    return one_line(json.dumps(value, ensure_ascii=False, default=str), 120)


def saved_events(workspace: Path, named: Sequence[Path]) -> list[Path]:
    """The files that are named, and those below folders that are; none named: all of the workspace.

    Raises Refusal where there is none.
    """
    places = list(named) or [workspace / EVENTS]
    files = [file for place in places for file in _below(place)]
    if not files:
        where = ", ".join(map(str, places))
        raise Refusal(f"There are no saved events in {where}.", "A saved event is a YAML file with `event:`.")
    return files


def _below(place: Path) -> Iterator[Path]:
    if place.is_dir():
        yield from files_below(place)
    elif place.suffix in ENDINGS or place.exists():
        yield place


async def checked(bench: Workbench, file: Path) -> Checked:
    """Fire one and compare. A file that says nothing of use is an answer, not an error."""
    try:
        saved = read_saved(file)
        view = bench.look()
        event = event_of(bench, view, saved)
        view = await bench.ready(view, event.kind)
        plan = bench.plan(view, event)
        untrusted = tuple(f"{folder} is not trusted" for folder in bench.untrusted(view, plan))
        left = (*untrusted, *bench.could_not(view, plan))
        expect = saved.expect
        run = await (await bench.fire_guarded(view, plan) if FILES in expect else bench.fire(view, plan))
        return compared(file, expect, run, view, left)
    except Refusal as refused:
        return Checked(file, None, problem=str(refused))
    except OSError as error:
        return Checked(file, None, problem=f"{file.name} expects files, and there are no copies: {error}.")


def compared(
    file: Path, expect: Mapping[str, Any], run: Run, view: View, left: tuple[str, ...] = ()
) -> Checked:
    """A run beside what the file of its event expects. Raises Refusal for what nobody can expect."""
    host = view.host
    files = files_of(run, host.workspace, host.surroundings.home)
    return Checked(file, run, misses(expect, run, files), left, files=files, expects=bool(expect))

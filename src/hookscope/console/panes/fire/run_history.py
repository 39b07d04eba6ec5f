"""The last fifty runs, which of them is shown, and their list, newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.panes.fire.run_sheet import (
    RunSheet,
    advance_sheet,
    begin_sheet,
    brief_run_outcome,
    fail_sheet,
    finish_sheet,
)
from hookscope.console.theme.text_styles import MARK_MUTED, OUTCOME_MARKS, fixed_width, safe_word, short_time
from hookscope.console.widgets.lines import LineList
from hookscope.model.run import Plan, Run, Step
from hookscope.model.text import duration
from hookscope.runtime.limits import Limits

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun
    from hookscope.authoring.testing.test_runs import SavedEventResult


MOST_KEPT_RUNS = 50
WIDTH_WITH_TIME = 50  # cells of a line that shows when its run began
MOST_PAST_TIMES = 5  # earlier runs whose times are marked on the time line


class RecentRuns:
    """The recent runs. Steps are stored on arrival and applied together, in one pass per frame."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self._sheets: dict[int, RunSheet] = {}
        self._waiting: dict[int, list[Step]] = {}
        self.shown: int | None = None

    @property
    def sheets(self) -> tuple[RunSheet, ...]:
        """All kept runs, oldest first."""
        return tuple(self._sheets.values())

    @property
    def current(self) -> RunSheet | None:
        """The shown run."""
        return None if self.shown is None else self._sheets[self.shown]

    @property
    def running(self) -> int | None:
        """The number of the newest unfinished run."""
        return next((sheet.number for sheet in reversed(self._sheets.values()) if sheet.running), None)

    def begin(self, number: int, plan: Plan, at: datetime, limits: Limits) -> None:
        """Add a new run and show it."""
        self._sheets.pop(number, None)
        self._sheets[number] = self._with_past(begin_sheet(number, plan, self.clock(), at, limits))
        self.shown = number
        self._make_room(number)

    def recall(self, past: PastRun) -> None:
        """Add a run from the journal, in order of its number."""
        if past.id not in self._sheets:
            self._sheets[past.id] = begin_sheet(past.id, past.plan, self.clock(), past.at)
            self.end(past.id, past.run, "its program ended early")
            self._sheets = dict(sorted(self._sheets.items()))
            self._make_room(past.id)

    def _with_past(self, sheet: RunSheet) -> RunSheet:
        """Return the sheet with the times of each handler in the last runs of the same event."""
        times: dict[tuple[str, str, str], list[float]] = {}
        earlier = (run for _, run in islice(self._earlier_runs(sheet), MOST_PAST_TIMES))
        for run in chain.from_iterable(map(_with_caused, earlier)):
            for result in run.results:
                call = run.event.key, result.call.name, result.call.key
                times.setdefault(call, []).append(result.took)
        calls = (((row.follow_up or sheet.plan.event).key, row.call.name, row.call.key) for row in sheet.rows)
        past = (tuple(times.get(call, ())[:MOST_PAST_TIMES]) for call in calls)
        rows = (replace(row, past=times) for row, times in zip(sheet.rows, past, strict=True))
        return replace(sheet, rows=tuple(rows))

    def _make_room(self, new: int) -> None:
        """Drop the oldest runs, except the new one, the shown one, and unfinished ones."""
        ended = [number for number, sheet in self._sheets.items() if not sheet.running]
        old = [number for number in ended if number not in (new, self.shown)]
        for number in old[: max(0, len(self._sheets) - MOST_KEPT_RUNS)]:
            del self._sheets[number]
            self._waiting.pop(number, None)

    def has_begun(self, number: int) -> bool:
        """Return True if the run has reported a step, or is not kept."""
        sheet = self._sheets.get(number)
        return number in self._waiting or sheet is None or any(row.phase != "waiting" for row in sheet.rows)

    def step(self, number: int, step: Step) -> None:
        """Store a step until the next `settle`."""
        if number in self._sheets:
            self._waiting.setdefault(number, []).append(step)

    def settle(self) -> None:
        """Apply all stored steps."""
        waiting, self._waiting = self._waiting, {}
        for number, steps in waiting.items():
            if number in self._sheets:
                self._sheets[number] = advance_sheet(self._sheets[number], steps, self.clock())

    def end(self, number: int, run: Run | None, problem: str) -> None:
        """End a run with its result; `run` None: it failed because of `problem`."""
        self.settle()
        if number in self._sheets:
            sheet = self._sheets[number]
            sheet = replace(sheet, before=next(self._earlier_runs(sheet), None))
            self._sheets[number] = (
                self._with_past(finish_sheet(sheet, run))
                if run
                else fail_sheet(sheet, problem or "unknown reason")
            )

    def sheet(self, number: int) -> RunSheet | None:
        """Return a kept run."""
        return self._sheets.get(number)

    def check(self, number: int, checked: SavedEventResult | None) -> None:
        """Store a run's comparison with its saved event; `checked` None: that event is gone."""
        if number in self._sheets:
            self._sheets[number] = replace(self._sheets[number], checked=checked)

    def _earlier_runs(self, sheet: RunSheet) -> Iterator[tuple[int, Run]]:
        """Yield the finished earlier runs of the same event with their numbers, newest first."""
        for one in reversed(self._sheets.values()):
            if one.number < sheet.number and one.run and one.plan.event.key == sheet.plan.event.key:
                yield one.number, one.run

    def adjacent(self, by: int) -> int | None:
        """Return the number of the run `by` places newer than the shown one (older if negative), or None."""
        numbers = list(self._sheets)
        if self.shown not in self._sheets:
            return None
        at = numbers.index(self.shown) + by
        return numbers[at] if 0 <= at < len(numbers) else None

    def show(self, number: int) -> bool:
        """Show a run; return False if it is no longer kept."""
        if number in self._sheets:
            self.shown = number
        return number in self._sheets


def _with_caused(run: Run) -> Iterator[Run]:
    yield run
    for caused in run.caused:
        yield from _with_caused(caused)


class History(LineList):
    """A line for each run; enter shows it."""

    DEFAULT_CSS = """
    History {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-title-style: none;
        border-subtitle-align: left;
        padding: 0;
        &:focus { border: heavy $border; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._sheets: tuple[RunSheet, ...] = ()
        self._shown: int | None = None

    def on_mount(self) -> None:
        self.show((), None)

    @property
    def line_count(self) -> int:
        return len(self._sheets)

    def number_at(self, index: int) -> int:
        """Return the number of the run on a line."""
        return self._sheets[index].number

    def show(self, sheets: tuple[RunSheet, ...], shown: int | None) -> None:
        """List these runs; `shown` is the one on the screen."""
        other = (shown, len(sheets)) != (self._shown, len(self._sheets))
        self._sheets, self._shown = tuple(reversed(sheets)), shown
        self.border_title = Content(f"Runs {len(sheets)}" if sheets else "Runs   none yet")
        numbers = [sheet.number for sheet in self._sheets]
        if other and shown in numbers:  # else keep the user's cursor
            self.cursor = numbers.index(shown)
        self.lines_changed()

    def line_at(self, index: int, width: int) -> Content:
        sheet = self._sheets[index]
        words, phase = brief_run_outcome(sheet)
        mark = OUTCOME_MARKS[phase]
        took = f"{duration(sheet.run.took):>9}  " if sheet.run else "  "  # else the outcome needs the space
        time = f"{sheet.number:>3}  " + (f"{short_time(sheet.at):8}  " if width >= WIDTH_WITH_TIME else "")
        fixed_cells = 23  # time and outcome
        return Content.assemble(
            Content.styled(time, "" if sheet.number == self._shown else MARK_MUTED),
            fixed_width(safe_word(sheet.plan.event.key, 60), max(10, width - len(time) - fixed_cells)),
            took,
            (f"{mark.glyph} {words}", mark.style),
        )

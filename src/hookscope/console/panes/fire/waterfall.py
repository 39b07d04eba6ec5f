"""The time line of a run: a row per call with its bar and outcome, then hooks that did not run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.content import Content

from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.panes.fire.run_lines import (
    LEAST_TIME,
    LOAD_BLOCK,
    NOTHING_FIRED,
    PAST_MARK,
    WAIT_BLOCK,
    GroupHeading,
    Remark,
    WaterfallEntry,
    waterfall_entries,
)
from hookscope.console.panes.fire.run_sheet import CallRow, RunSheet
from hookscope.console.panes.fire.run_tabs import output_line_count
from hookscope.console.theme.text_styles import MARK_MUTED, fixed_width, outcome_mark, safe_word
from hookscope.console.widgets.lines import LineList
from hookscope.console.widgets.time_bars import TimeBar, time_axis, time_bar
from hookscope.model.run import NotRun
from hookscope.model.text import duration
from hookscope.model.uncalled_hooks import not_called_reason
from hookscope.values import dataclass

LEAST_BAR_WIDTH = 12  # cells
LEAST_MARKED_CELLS = 3  # a shorter bar has no marks of earlier runs
PART_STYLES = {WAIT_BLOCK: "$foreground 25%", LOAD_BLOCK: "$foreground 30%", PAST_MARK: MARK_MUTED}


@dataclass(frozen=True, slots=True)
class WaterfallColumns:
    """The widths of a row's columns in cells; 0: omitted."""

    number: int
    name: int
    bar: int
    outcome: int
    time: int
    out: int
    messages: int


def waterfall_columns(
    width: int, names: Sequence[str], rows: int, pushes: bool = True, stale: bool = False
) -> WaterfallColumns:
    """Return columns that fill `width`, equal for every row. The least important are dropped first.

    `pushes`: the event's handlers can push messages. `stale`: a row is of a file's previous version.
    """
    number = len(str(max(rows, 1)))
    longest = max((cell_len(name) for name in names), default=7)
    name = min(max(longest, 7), max(8, width // 3))
    outcome, time, out, messages = 22 if stale else 11, 9, 5, 6 if pushes else 0
    available = width - number - name - time - 4

    def left() -> int:
        return available - outcome - out - messages

    if left() < LEAST_BAR_WIDTH:
        out = messages = 0
    if left() < LEAST_BAR_WIDTH:
        outcome = 1
    return WaterfallColumns(number, name, max(left(), 0), outcome, time, out, messages)


class Waterfall(LineList):
    """All calls of one run on one time line, then the hooks that did not run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *LineList.BINDINGS,
        Binding(
            "full_stop", "unfold", "Others", id="run.others", tooltip="List hooks that did not run, and why"
        ),
    ]

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._sheet: RunSheet | None = None
        self._now = 0.0
        self._unfolded = False
        self._entries: tuple[WaterfallEntry, ...] = ()
        self._columns = waterfall_columns(80, (), 1)
        self._names: tuple[str, ...] = ()
        self._stale = False  # a row is of a file's previous version
        self._measured: tuple[int, tuple[str, ...], bool, bool] | None = None
        self.room = 0  # lines that it may have
        self.terse = False  # without a heading, to keep every line for the calls

    @property
    def line_count(self) -> int:
        return len(self._entries)

    @property
    def has_heading(self) -> bool:
        return bool(self._sheet and self._sheet.rows) and not self.terse

    @property
    def empty(self) -> Content:
        return Content.styled(with_keys(NOTHING_FIRED), MARK_MUTED) if self._sheet is None else Content()

    @property
    def selected(self) -> WaterfallEntry | None:
        """The entry under the cursor."""
        return self._entries[self.cursor] if self.cursor < len(self._entries) else None

    def show(self, sheet: RunSheet | None, now: float) -> None:
        """Show this run as of `now`."""
        self._sheet, self._now = sheet, now
        self._entries = waterfall_entries(sheet, self._unfolded, self.room)
        skipped = (safe_word(entry.name) for entry in self._entries if isinstance(entry, NotRun))
        self._names = (*(call_name(row) for row in sheet.rows), *skipped) if sheet else ()
        self._stale = sheet is not None and any(row.stale for row in sheet.rows)
        self.lines_changed()

    def go_to_expected(self) -> None:
        """Move the cursor to the remark on the saved event's expectations, if there is one."""
        abouts = [entry.about if isinstance(entry, Remark) else "" for entry in self._entries]
        if "expected" in abouts:
            self.cursor = abouts.index("expected")

    def go_to(self, row: CallRow) -> None:
        """Move the cursor to this call."""
        numbers = [entry.number if isinstance(entry, CallRow) else 0 for entry in self._entries]
        self.cursor = numbers.index(row.number) if row.number in numbers else 0

    def _wide(self, width: int) -> WaterfallColumns:
        """Return the columns for this width; a scroll bar changes the width."""
        sheet = self._sheet
        rows, pushes = (len(sheet.rows), sheet.plan.event.kind == "folder") if sheet else (0, True)
        if self._measured != (width, self._names, pushes, self._stale):
            self._measured = (width, self._names, pushes, self._stale)
            self._columns = waterfall_columns(width, self._names, rows, pushes, self._stale)
        return self._columns

    def heading(self, width: int) -> Content | None:
        if self._sheet is None:
            return None
        wide = self._wide(width)
        total = self._sheet.axis(self._now)
        text = (
            f"{'#':>{wide.number}}  {'handler':{wide.name}} {time_axis(total, wide.bar)} "
            f"{'':{wide.outcome}}{'time':>{wide.time}}"
        )
        if wide.out:
            text += f"{'out':>{wide.out}}{'msgs' if wide.messages else '':>{wide.messages}}"
        return Content.styled(text, MARK_MUTED)

    def line_at(self, index: int, width: int) -> Content:
        entry, wide = self._entries[index], self._wide(width)
        match entry:
            case CallRow():
                assert self._sheet is not None
                return call_line(entry, wide, self._sheet, self._now)
            case NotRun():
                return not_run_line(entry, wide)
            case GroupHeading(name, note):
                return Content.assemble(f"{'':>{wide.number}}  ", (name, "bold"), (f"  {note}", MARK_MUTED))
            case Remark():
                return Content.styled(f"{'–':>{wide.number}}  ", MARK_MUTED) + Content.styled(
                    entry.text, entry.style
                )

    def cannot(self, action: str) -> str:
        """Return why an action would have no effect now; empty if it would have one."""
        skipped = self._sheet is not None and self._sheet.not_run
        return "" if action != "unfold" or skipped else "No hook was skipped."

    def action_unfold(self) -> None:
        if problem := self.cannot("unfold"):
            self.app.notify(problem, markup=False)
            return
        self._unfolded = not self._unfolded
        self.show(self._sheet, self._now)
        self.post_message(self.Moved(self, self.cursor))

    def action_choose(self) -> None:
        if isinstance(self.selected, Remark) and self.selected.folds:
            self.action_unfold()
        else:
            super().action_choose()


def call_name(row: CallRow) -> str:
    """Return a call's name, indented below the event that caused it."""
    return "  " * (row.depth - 1) + "↳ " + row.name if row.depth else row.name


def call_line(row: CallRow, wide: WaterfallColumns, sheet: RunSheet, now: float) -> Content:
    """Return the line of one call, with its bar on the time line of its run."""
    mark = outcome_mark(row.phase, row.stale)
    outcome = fixed_width(
        mark.glyph if wide.outcome == 1 else f"{mark.glyph} {mark.word}", wide.outcome, mark.style
    )
    took = max(row.took(now), LEAST_TIME)
    time = f"{duration(took) if row.timed else '':>{wide.time}}"
    slow = row.timed and row.slow(now)
    parts = [
        Content.styled(f"{row.number:>{wide.number}}  ", MARK_MUTED),
        fixed_width(call_name(row), wide.name),
        Content(" "),
        _call_bar(row, wide.bar, sheet, now),
        Content(" "),
        outcome,
        Content.styled(time, "$text-warning" if slow else MARK_MUTED if not row.timed else ""),
    ]
    if wide.out and row.result is not None:
        counts = ((output_line_count(row.result), wide.out), (len(row.result.messages), wide.messages))
        parts += [
            Content.styled(f"{number or '·':>{size}}", "" if number else MARK_MUTED)
            for number, size in counts
            if size
        ]
    return Content.assemble(*parts)


def _call_bar(row: CallRow, width: int, sheet: RunSheet, now: float) -> Content:
    """Return the bar of a call: waiting, loading, running, and marks where it ended in earlier runs."""
    if row.phase == "not run":
        return fixed_width(row.reason, width, MARK_MUTED)
    span = sheet.axis(now)
    if not row.timed or span <= 0 or width <= 0:
        return Content(" " * width)
    start = row.load_start if row.only_loaded else row.started
    drawn = time_bar(start, row.ended(now), span, width, live=row.phase == "running")
    cells = [" "] * width
    places = [min(int(at * width / span), width) for at in (sheet.wait_start(row), row.load_start, start)]
    for glyph, first, last in zip((WAIT_BLOCK, LOAD_BLOCK), places, places[1:], strict=False):
        cells[first:last] = glyph * (last - first)
    for past in row.past:
        if (at := int((start + past) * width / span)) < width:
            cells[at] = PAST_MARK
    end = drawn.indent + len(drawn.drawn)
    marked = drawn.drawn if len(drawn.drawn) < LEAST_MARKED_CELLS else _with_marks(cells, drawn)
    cells[drawn.indent : end] = marked
    run_style = "$text-error" if row.failed else "$text-warning" if row.slow(now) else "$foreground 40%"
    return Content.assemble(
        *(
            ("".join(group), PART_STYLES.get(kind, run_style))
            for kind, group in groupby(cells, key=lambda cell: cell if cell in PART_STYLES else "")
        )
    )


def _with_marks(cells: Sequence[str], bar: TimeBar) -> str:
    """Return the bar with the marks that its cells have, except in its last cell."""
    below = cells[bar.indent : bar.indent + len(bar.drawn) - 1]
    return (
        "".join(
            PAST_MARK if cell == PAST_MARK else part for cell, part in zip(below, bar.drawn, strict=False)
        )
        + bar.drawn[-1]
    )


def not_run_line(item: NotRun, wide: WaterfallColumns) -> Content:
    """Return the line of a hook that did not run, with the reason."""
    name = fixed_width(safe_word(item.name), wide.name, MARK_MUTED)
    return (
        Content(f"{'–':>{wide.number}}  ").stylize(MARK_MUTED)
        + name
        + Content(f" {safe_word(not_called_reason(item), 300)}").stylize(MARK_MUTED)
    )

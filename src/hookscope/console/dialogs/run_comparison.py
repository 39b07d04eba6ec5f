"""Two runs of an event side by side: only their differences."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from hookscope.console.dialogs.base_dialogs import Dialog
from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.theme.text_styles import MARK_MUTED, OUTCOME_MARKS, fixed_width, safe_word
from hookscope.console.widgets.lines import KeyScroll
from hookscope.model.run import Run
from hookscope.model.run_comparison import RunDifference, results_by_call
from hookscope.model.text import duration
from hookscope.values import dataclass

NO_VALUE = "–"
SLOWER_FACTOR = 2.0  # a time is shown if it is at least this many times the other,
LEAST_TIME_DIFFERENCE = 0.005  # and differs from it by at least this many seconds
COMPARISON_FRAME = 7  # cells of the frame, its padding and its scroll bar
NARROWEST_LABEL, WIDEST_LABEL = 14, 34  # cells of the first column
STATUS_PATTERN = re.compile(r"(\w+)(?=: |$)")  # the status before a handler's message
LONGEST_COMPARED_VALUE = 400  # characters of a value


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """A difference: its subject, and its value in both runs. Safe to show."""

    what: str
    before: str
    after: str
    time: bool = False  # only a time differs, not what the runs did
    ended: bool = False  # the outcome of a handler


def compared_lines(
    found: Sequence[RunDifference], before: Run, after: Run, short: Callable[[Path], str]
) -> tuple[ComparedLine, ...]:
    """Return lines for differences, for calls whose time changed much, and for the total time."""
    return (*(_difference_line(difference, short) for difference in found), *_time_lines(before, after))


def _difference_line(difference: RunDifference, short: Callable[[Path], str]) -> ComparedLine:
    name = short(Path(difference.subject)) if difference.kind == "file" else difference.subject
    what = difference.kind if name == difference.kind else f"{difference.kind} {name}"
    if difference.kind == "order":
        what = "order"
    return ComparedLine(
        safe_word(what),
        _value_text(difference, difference.before),
        _value_text(difference, difference.after),
        ended=difference.kind == "handler",
    )


def _value_text(difference: RunDifference, value: object) -> str:
    match value:
        case None:
            return NO_VALUE
        case {"kind": str(kind), "bytes": size} if difference.kind == "file":
            return kind if size is None else f"{kind}, {size:,} bytes"
        case str() if difference.kind in ("handler", "message", "verdict"):
            return safe_word(value, LONGEST_COMPARED_VALUE)
        case list() if difference.kind == "order":
            return safe_word(" → ".join(map(str, value)), LONGEST_COMPARED_VALUE)
    return safe_word(json.dumps(value, ensure_ascii=False, default=str), LONGEST_COMPARED_VALUE)


def _time_lines(before: Run, after: Run) -> Iterator[ComparedLine]:
    old, new = results_by_call(before), results_by_call(after)
    for call, result in new.items():
        past = old.get(call)
        if past is None:
            continue
        low, high = sorted((past.took, result.took))
        if high - low >= LEAST_TIME_DIFFERENCE and high >= SLOWER_FACTOR * low:
            yield ComparedLine(
                safe_word(f"time {call[0]}"), duration(past.took), duration(result.took), time=True
            )
    yield ComparedLine("total time", duration(before.took), duration(after.took), time=True)


def comparison_table(lines: Sequence[ComparedLine], numbers: tuple[int, int], width: int) -> Content:
    """Return the lines in three columns; long values wrap in their column."""
    longest = max((Content(line.what).cell_length for line in lines), default=0)
    first = min(WIDEST_LABEL, max(NARROWEST_LABEL, min(longest, width // 3)))
    value_width = max(10, (width - first - 4) // 2)
    heading = Content.assemble(
        " " * (first + 2),
        fixed_width(f"run {numbers[0]}", value_width),
        "  ",
        fixed_width(f"run {numbers[1]}", value_width),
    )
    rows = [heading.stylize(MARK_MUTED)]
    if all(line.time for line in lines):
        rows.append(Content("The runs are equal."))
    for line in lines:
        rows += _table_row(line, first, value_width)
    return Content("\n").join(rows)


def _table_row(line: ComparedLine, first: int, value_width: int) -> Iterator[Content]:
    ends = [(text, value_width, _value_style(line, text)) for text in (line.before, line.after)]
    columns = ((line.what, first, MARK_MUTED), *ends)
    folded = [_wrapped(text, width) for text, width, _ in columns]
    for at in range(max(map(len, folded))):
        cells = [
            fixed_width(rows[at] if at < len(rows) else "", width, style)
            for rows, (_, width, style) in zip(folded, columns, strict=True)
        ]
        yield Content("  ").join(cells)


def _value_style(line: ComparedLine, text: str) -> str:
    """Return the style of a value: outcomes of handlers have their colour from the run."""
    ended = STATUS_PATTERN.match(text)
    if line.ended and ended is not None and ended[1] in OUTCOME_MARKS:
        return OUTCOME_MARKS[ended[1]].style
    return MARK_MUTED if line.time or text == NO_VALUE else ""


def _wrapped(text: str, width: int) -> list[str]:
    """Return the text in pieces of `width` cells."""
    return [line.plain for line in Content(text).wrap(width)] if text else [""]


class RunComparisonScreen(Dialog[None]):
    """Shows how two runs differ; `[` and `]` choose another run to compare with."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,d", "dismiss(None)", "Back", id="beside.leave", tooltip="Back to the run"),
        Binding(
            "left_square_bracket", "turn(-1)", "Older", id="beside.older", tooltip="Compare with an older run"
        ),
        Binding(
            "right_square_bracket", "turn(1)", "Newer", id="beside.newer", tooltip="Compare with a newer run"
        ),
    ]
    DEFAULT_CSS = """
    RunComparisonScreen {
        & > Vertical { width: 94%; max-width: 140; max-height: 86%; }
        & VerticalScroll { height: auto; max-height: 100%; scrollbar-size-vertical: 1; }
        & Static { height: auto; }
    }
    """

    def __init__(self, event: str, turn: Callable[[int], object]) -> None:
        """`turn` is called to compare with an older or newer run, whose result `show` displays."""
        super().__init__()
        self._event, self._turn = event, turn
        self._lines: tuple[ComparedLine, ...] = ()
        self._numbers = (0, 0)

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content(f"Compare runs   {safe_word(self._event, 60)}")
            frame.border_subtitle = Content.assemble(
                key_hints(("beside.older", ""), ("beside.newer", "another run"), gap=1),
                "   ",
                key_hints(("beside.leave", "back")),
            )
            with KeyScroll():
                yield Static(markup=False)

    def show(self, numbers: tuple[int, int], lines: tuple[ComparedLine, ...]) -> None:
        """Show two runs by number, the older first, and their differences."""
        self._numbers, self._lines = numbers, lines
        if self.is_open:
            self._draw()

    def on_mount(self) -> None:
        self.query_one(KeyScroll).focus()
        self._draw()

    def on_resize(self, event: events.Resize) -> None:
        self._draw()

    def _draw(self) -> None:
        width = max(40, min(140, self.size.width * 94 // 100) - COMPARISON_FRAME)
        self.query_one(Static).update(comparison_table(self._lines, self._numbers, width))

    def action_turn(self, by: int) -> None:
        self._turn(by)

"""A question with buttons: side by side at its right edge, in more lines where one has no room for all."""

from __future__ import annotations

from itertools import accumulate
from typing import TypeVar

from textual.containers import Horizontal
from textual.geometry import Region, Size
from textual.layout import ArrangeResult, Layout
from textual.layouts.horizontal import HorizontalLayout
from textual.widget import Widget
from textual.widgets import Button, Static

from hookscope.console.dialog import Over
from hookscope.console.one_line import StyledOnce

WIDE = 1000  # cells in which each has all that it asks for
APART = 2  # cells between two
AROUND = 7  # lines that the box needs beside its text and its buttons
Answer = TypeVar("Answer")


def lines_of(widths: list[int], room: int) -> list[range]:
    """Which of so many stand in one line: the last line is filled first, so that what acts stays together."""
    lines: list[range] = []
    end = len(widths)
    while end:
        taken = accumulate((width + APART for width in reversed(widths[:end])), initial=-APART)
        fit = sum(cells <= room for cells in taken) - 1
        lines.insert(0, range(end - max(1, fit), end))
        end = lines[0].start
    return lines


class _Lines(HorizontalLayout):
    """One line after the other, from the right edge; words that stand beside buttons, at the left."""

    def arrange(
        self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True
    ) -> ArrangeResult:
        beside = super().arrange(parent, children, Size(WIDE, size.height), greedy)
        widths = [min(one.region.width, size.width) for one in beside]
        placed = []
        for y, line in enumerate(lines_of(widths, size.width)):
            x = size.width - sum(widths[n] + APART for n in line) + APART
            for n in line:
                at = 0 if isinstance(beside[n].widget, Static) else x
                placed.append(beside[n]._replace(region=Region(at, y, widths[n], 1)))
                x += widths[n] + APART
        return placed


class AnswerButton(Button, StyledOnce):
    """One answer, on one line."""

    def __init__(self, label: str, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(label, id=id, compact=True)


class AnswerRow(Horizontal):
    """Has as many lines as its parts need."""

    DEFAULT_CSS = """
    AnswerRow {
        height: auto; margin-top: 1;
        & > Static { width: auto; height: 1; color: $text-muted; }
        & > Button { min-width: 10; }
    }
    """

    def __init__(self, *answers: AnswerButton, hint: str = "") -> None:
        words = [Static(hint, id="hint", markup=False)] if hint else []
        super().__init__(*words, *answers, id="answers")
        self._lines = _Lines()

    @property
    def layout(self) -> Layout:
        return self._lines

    def on_resize(self) -> None:
        if isinstance(self.screen, WithButtons):
            self.screen.make_room()


class WithButtons(Over[Answer]):
    """Asks; cancel is the default. Its text has as many lines as it needs, and as there are."""

    def on_mount(self) -> None:
        self.query_one("#question-text").styles.height = "auto"
        self.make_room()
        self.query_one("#cancel", Button).focus()

    def on_resize(self) -> None:
        self.make_room()

    def make_room(self) -> None:
        """Leave the buttons the lines that they need."""
        left = self.size.height - AROUND - max(1, self.query_one(AnswerRow).size.height)
        self.query_one("#question-text").styles.max_height = max(3, left)

    def action_other_button(self) -> None:
        self.focus_next(Button)

"""Texts: how they are drawn, and scrolled. Its keys have names, as all keys have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import zip_longest
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from hookscope.console.strips import Strips, one_line

BESIDE = 1  # cells between a text and its scroll bar


class ByLine(Widget):
    """A text of which those lines are drawn that are seen."""

    def __init__(self, *children: Widget, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(*children, id=id)
        self._said: list[Content] = []  # line by line
        self._strips: Strips[int] = Strips(self)
        self._drawn_for = 0  # cells

    def say_lines(self, lines: Iterable[Content]) -> tuple[int, ...]:
        """Draw these from now on. The numbers of those that say something else than before."""
        before, self._said = self._said, [*lines]
        pairs = enumerate(zip_longest(before, self._said))
        others = tuple(number for number, (old, new) in pairs if not _is_same(old, new))
        for number in others:
            self._strips.discard(number)
        return others

    def strip_of(self, number: int, width: int) -> Strip:
        """One line as it is drawn."""
        if number >= len(self._said):
            return Strip.blank(width, self.visual_style.rich_style)
        if width != self._drawn_for:
            self._drawn_for = width
            self._strips.clear()
        return self._strips.drawn(number, partial(self._drawn, number, width))

    def _drawn(self, number: int, width: int) -> Strip:
        line, style = self._said[number], self.visual_style
        span = self.text_selection.get_span(number) if self.text_selection is not None else None
        if span is not None:
            start, end = span
            chosen = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            line = line.stylize(chosen, start, len(line) if end < 0 else end)
        return one_line(self, line.truncate(width), width, style).apply_offsets(0, number)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.style_updated()

    # Selecting with the mouse.

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        super().selection_updated(selection)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(line.plain for line in self._said)), "\n"


def _is_same(before: Content | None, now: Content | None) -> bool:
    return before is not None and now is not None and before.is_same(now)


class Roll(VerticalScroll):
    """Scrolls what does not fit."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Textual measures what lies in it as though there were no room for a bar beside it."""
        kept = self.styles.scrollbar_gutter == "stable"
        beside = self.styles.scrollbar_size_vertical if kept else 0
        return super().get_content_height(container, viewport, width - beside)


class Reading(Roll):
    """Scrolls by line, by page, to its ends."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "Up", show=False, id="sheet.up", tooltip="A line up"),
        Binding("down", "scroll_down", "Down", show=False, id="sheet.down", tooltip="A line down"),
        Binding("pageup", "page_up", "Page up", show=False, id="sheet.page_up", tooltip="A page up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="sheet.page_down", tooltip="A page on"),
        Binding("home", "scroll_home", "Top", show=False, id="sheet.first", tooltip="To the beginning"),
        Binding("end", "scroll_end", "End", show=False, id="sheet.last", tooltip="To the end"),
    ]


class Fitted(ByLine):
    """Made for the width that it gets, while it is laid out. A text that was put in when the width was known
    had all laid out, and painted, once more."""

    def __init__(self, make: Callable[[int], Content], *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._make = make
        self._made_for = 0

    def made_anew(self) -> None:
        """It says the same otherwise, on as many lines."""
        self._made_for = 0
        self.refresh()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        self._fit(width)
        return len(self._said)

    def render_line(self, y: int) -> Strip:
        width = self.content_size.width
        self._fit(width)
        return self.strip_of(y, width)

    def _fit(self, width: int) -> None:
        if width and self._made_for != width:
            self._made_for = width
            most = max(1, width - BESIDE)
            lines = self._make(most).split("\n", allow_blank=True)
            self.say_lines(
                part for line in lines for part in (line.wrap(most) if line.cell_length > most else (line,))
            )

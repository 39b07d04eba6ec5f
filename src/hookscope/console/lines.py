"""A list drawn line by line: only what is visible is ever built, so its length costs nothing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from hookscope.console.jump.spots import Spot, rows_on_screen
from hookscope.console.painting import repainted, resized
from hookscope.console.reading import BESIDE
from hookscope.console.strips import one_line

GUTTER = 2  # cells before each line, where the cursor stands


class Lines(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines with a cursor. A subclass says how many there are and what each one looks like."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="lines.up", tooltip="The line above"),
        Binding("down,j", "move(1)", "Down", show=False, id="lines.down", tooltip="The line below"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="lines.page_up", tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="lines.page_down", tooltip="A page down"),
        Binding("home", "first", "First", show=False, id="lines.first", tooltip="The first line"),
        Binding("end", "last", "Last", show=False, id="lines.last", tooltip="The last line"),
        Binding(
            "enter", "choose", "Open", show=False, id="lines.choose", tooltip="Open what the cursor is on"
        ),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor"}
    KEPT_OFF: ClassVar[int] = BESIDE  # cells at the end of each line that are left blank
    DEFAULT_CSS = """
    Lines {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        background: transparent;
        & > .lines--cursor { background: $block-cursor-blurred-background; }
        &:focus > .lines--cursor { background: $block-cursor-background; }
    }
    """

    cursor: reactive[int] = reactive(0, init=False, repaint=False)

    class Moved(Message):
        """The cursor stands on another line."""

        def __init__(self, lines: Lines, index: int) -> None:
            super().__init__()
            self.lines, self.index = lines, index

        @property
        def control(self) -> Lines:
            return self.lines

    class Chosen(Moved):
        """Enter, or a click on the line under the cursor."""

    @property
    @abstractmethod
    def line_count(self) -> int:
        """How many lines there are, the heading left out."""

    @abstractmethod
    def line_at(self, index: int, width: int) -> Content:
        """One line, `width` cells or less; longer ones are cut."""

    def heading(self, width: int) -> Content | None:
        """A line that stays on top, if there is one."""
        return None

    @property
    def has_heading(self) -> bool:
        return False

    @property
    def empty(self) -> Content:
        """What stands there as long as there is no line."""
        return Content()

    @property
    def inner_width(self) -> int:
        """Cells of a line: the scroll bar's, and what keeps it off that, are left out."""
        return max(0, self.scrollable_content_region.width - self.KEPT_OFF)

    def as_text(self, width: int = 120) -> str:
        """All lines as plain text."""
        heading = self.heading(width)
        lines = [*([heading] if heading is not None else []), *self._all_lines(width)]
        return "".join(f"{line.plain.rstrip()}\n" for line in lines)

    def _all_lines(self, width: int) -> Iterator[Content]:
        return (self.line_at(index, width) for index in range(self.line_count))

    def lines_changed(self) -> None:
        """Measure and draw anew; cursor and scroll stay where they are."""
        height = self.line_count + self.has_heading
        if self.virtual_size.height != height:
            resized(self, Size(self.inner_width, height))
        self.cursor = self.validate_cursor(self.cursor)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.inner_width
        if self.has_heading and y == 0:
            heading = self.heading(width - GUTTER) or Content()
            return self._strip(Content(" " * GUTTER) + heading, width)
        index = y + round(self.scroll_y) - self.has_heading
        if index == self.line_count == 0:
            return self._strip(Content(" " * GUTTER) + self.empty, width)
        if not 0 <= index < self.line_count:
            return Strip.blank(width + self.KEPT_OFF, self.rich_style)
        at_cursor = index == self.cursor
        mark = Content("▸ ") if at_cursor else Content("  ")
        if at_cursor and self.has_focus:
            mark = mark.stylize("$accent")
        return self._strip(
            mark + self.line_at(index, width - GUTTER), width, "lines--cursor" if at_cursor else ""
        )

    def _strip(self, content: Content, width: int, component: str = "") -> Strip:
        style = self.get_visual_style(component) if component else self.visual_style
        cut = content.truncate(width, ellipsis=True, pad=True)
        return one_line(self, cut, width + self.KEPT_OFF, style)

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.line_count - 1))

    def watch_cursor(self, before: int, now: int) -> None:
        self.show_cursor_line()
        self.redraw(before, now)
        self.post_message(self.Moved(self, self.cursor))

    def redraw(self, *lines: int) -> None:
        """Draw these lines anew."""
        above = round(self.scroll_y) - self.has_heading
        repainted(self, (line - above for line in lines if line - above >= self.has_heading))

    def show_cursor_line(self) -> None:
        """Scroll as little as is needed to see the cursor."""
        shown = self.size.height - self.has_heading
        top = round(self.scroll_y)
        if shown <= 0:
            return
        if self.cursor < top:
            self.scroll_to(y=self.cursor, animate=False, force=True)
        elif self.cursor >= top + shown:
            self.scroll_to(y=self.cursor - shown + 1, animate=False, force=True)

    def spots(self) -> Iterator[Spot]:
        """The rows that are on the screen."""
        top, heading = round(self.scroll_y), int(self.has_heading)
        for index, at in rows_on_screen(self, self.line_count, top, heading):
            yield Spot(at, partial(self.stand_on, index))

    def stand_on(self, index: int) -> None:
        """Put cursor and focus on this line."""
        self.focus()
        self.cursor = index

    def on_resize(self) -> None:
        self.show_cursor_line()

    def on_click(self, event: events.Click) -> None:
        index = event.y + round(self.scroll_y) - self.has_heading
        if (self.has_heading and event.y == 0) or not 0 <= index < self.line_count:
            return
        if index == self.cursor:
            self.action_choose()
        self.cursor = index

    def action_move(self, by: int) -> None:
        self.cursor += by

    def action_page(self, direction: int) -> None:
        self.cursor += direction * max(1, self.size.height - self.has_heading - 1)

    def action_first(self) -> None:
        self.cursor = 0

    def action_last(self) -> None:
        self.cursor = self.line_count - 1

    def action_choose(self) -> None:
        if self.line_count:
            self.post_message(self.Chosen(self, self.cursor))
        else:
            self.app.notify("There is no line here yet: nothing to open.", markup=False)

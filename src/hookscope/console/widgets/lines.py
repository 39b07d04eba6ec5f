"""Widgets drawn line by line: long lists, scrolled texts, and their cached strips."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import zip_longest
from typing import ClassVar, TypeVar

import rich.style
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.containers import VerticalScroll
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

from hookscope.console.theme.text_styles import wrapped_lines
from hookscope.console.widgets.focus_targets import JumpTarget, rows_on_screen
from hookscope.console.widgets.painting import repaint_only, resize_to

StripKey = TypeVar("StripKey", bound=Hashable)
MOST_STRIPS = 1024  # lines of one widget
STYLE_CACHE = 4096


def strip_of_line(widget: Widget, text: Content, width: int, style: Style) -> Strip:
    """Return a one-line text as a strip, at least `width` cells wide.

    Textual would treat it as a paragraph: search for line breaks, and give each piece a style
    of its own that holds the piece's position.
    """
    segments = [
        Segment(piece, drawn + widget.link_style if "@click" in drawn.meta else drawn)
        for piece, of_piece in text.render(style, end="", parse_style=widget._get_style)
        for drawn in (_rich_style(style, of_piece),)
    ]
    return Strip(segments, text.cell_length).adjust_cell_length(width, style.rich_style)


@lru_cache(STYLE_CACHE)
def _rich_style(style: Style, of_piece: Style) -> rich.style.Style:
    return (style + of_piece).rich_style


class StripCache(LRUCache[StripKey, Strip]):
    """The cached strips of a widget.

    Textual reports a style update whenever a widget is styled again, such as when it gains or loses
    the focus. Mostly, such an update changes only the line with the cursor.
    """

    def __init__(self, widget: Widget) -> None:
        super().__init__(MOST_STRIPS)
        self._widget = widget
        self._looks: object = None
        self._in_doubt = True

    def style_updated(self) -> None:
        """Check before the next line is drawn whether the cached strips are still valid."""
        self._in_doubt = True

    def drawn(self, key: StripKey, draw: Callable[[], Strip]) -> Strip:
        """Return the strip of a key, which holds everything that affects a line, such as the focus."""
        if self._in_doubt:
            self._in_doubt = False
            app = self._widget.app
            appearance = app.theme, app.theme_variables, self._widget.visual_style
            if appearance != self._looks:
                self._looks = appearance
                self.clear()
        strip = self.get(key)
        if strip is None:
            strip = self[key] = draw()
        return strip


SCROLLBAR_ROOM = 1  # cells between text and scroll bar


class TextLines(Widget):
    """A text of which only the visible lines are drawn."""

    def __init__(self, *children: Widget, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(*children, id=id)
        self._said: list[Content] = []  # the lines
        self._strips: StripCache[int] = StripCache(self)
        self._drawn_for = 0  # cells

    def set_lines(self, lines: Iterable[Content]) -> tuple[int, ...]:
        """Set the lines; return the numbers of those that have changed."""
        before, self._said = self._said, [*lines]
        pairs = enumerate(zip_longest(before, self._said))
        others = tuple(
            number for number, (old, new) in pairs if old is None or new is None or not old.is_same(new)
        )
        for number in others:
            self._strips.discard(number)
        return others

    def strip_of(self, number: int, width: int) -> Strip:
        """Return the strip of one line."""
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
        return strip_of_line(self, line.truncate(width), width, style).apply_offsets(0, number)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.style_updated()

    # Selecting with the mouse.

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        super().selection_updated(selection)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(line.plain for line in self._said)), "\n"


class ScrollBox(VerticalScroll):
    """A vertical scroll container that reserves room for its scroll bar."""

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the height without the scroll bar's room, which Textual does not subtract."""
        has_gutter = self.styles.scrollbar_gutter == "stable"
        gutter = self.styles.scrollbar_size_vertical if has_gutter else 0
        return super().get_content_height(container, viewport, width - gutter)


class KeyScroll(ScrollBox):
    """Scrolls by line, by page, and to its ends."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False, id="sheet.up", tooltip="A line up"),
        Binding("down,j", "scroll_down", "Down", show=False, id="sheet.down", tooltip="A line down"),
        Binding("pageup", "page_up", "Page up", show=False, id="sheet.page_up", tooltip="A page up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="sheet.page_down", tooltip="Page down"),
        Binding("home", "scroll_home", "Top", show=False, id="sheet.first", tooltip="Go to the beginning"),
        Binding("end", "scroll_end", "End", show=False, id="sheet.last", tooltip="Go to the end"),
    ]


class FittedText(TextLines):
    """A text that is made for its width during layout.

    Setting the text after the width is known would lay out and paint everything again.
    """

    def __init__(self, make: Callable[[int], Content], *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._make = make
        self._made_for = 0

    def rebuild(self, *, layout: bool = False) -> None:
        """Build the text again. `layout`: its number of lines may have changed."""
        self._made_for = 0
        self.refresh(layout=layout)

    def find_line(self, pattern: str) -> int:
        """Return the number of the first line that begins with this pattern; 0 if none does."""
        return next((at for at, line in enumerate(self._said) if re.match(pattern, line.plain)), 0)

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
            most = max(1, width - SCROLLBAR_ROOM)
            lines = self._make(most).split("\n", allow_blank=True)
            self.set_lines(part for line in lines for part in wrapped_lines(line, most))


CURSOR_GUTTER = 2  # cells before each line, for the cursor


class LineList(ScrollView, can_focus=True, inherit_bindings=False):
    """A list of lines with a cursor. Subclasses give the number of lines and draw each one."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="lines.up", tooltip="Previous line"),
        Binding("down,j", "move(1)", "Down", show=False, id="lines.down", tooltip="Next line"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="lines.page_up", tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="lines.page_down", tooltip="A page down"),
        Binding("home", "first", "First", show=False, id="lines.first", tooltip="The first line"),
        Binding("end", "last", "Last", show=False, id="lines.last", tooltip="The last line"),
        Binding("enter", "choose", "Open", show=False, id="lines.choose", tooltip="Open the selected line"),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--cursor"}
    KEPT_OFF: ClassVar[int] = SCROLLBAR_ROOM  # blank cells at the end of each line
    DEFAULT_CSS = """
    LineList {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        background: transparent;
        & > .lines--cursor { background: $block-cursor-blurred-background; }
        &:focus > .lines--cursor { background: $block-cursor-background; }
        &:ansi:focus > .lines--cursor { text-style: bold; }
    }
    """

    cursor: reactive[int] = reactive(0, init=False, repaint=False)
    row_height = 1  # lines on the screen for each line of the list

    class Moved(Message):
        """The cursor has moved to another line."""

        def __init__(self, lines: LineList, index: int) -> None:
            super().__init__()
            self.lines, self.index = lines, index

        @property
        def control(self) -> LineList:
            return self.lines

    class Chosen(Moved):
        """A line was chosen: by enter, or by a click on the line under the cursor."""

    @property
    @abstractmethod
    def line_count(self) -> int:
        """The number of lines, without the heading."""

    @abstractmethod
    def line_at(self, index: int, width: int) -> Content:
        """Return one line of at most `width` cells; longer ones are cut. It has `row_height` parts."""

    def heading(self, width: int) -> Content | None:
        """Return the line that stays at the top, if any."""
        return None

    @property
    def has_heading(self) -> bool:
        return False

    @property
    def empty(self) -> Content:
        """The text that is shown while there is no line."""
        return Content()

    @property
    def inner_width(self) -> int:
        """The cells of a line, without the scroll bar and the gap before it."""
        return max(0, self.scrollable_content_region.width - self.KEPT_OFF)

    def as_text(self, width: int = 120) -> str:
        """Return all lines as plain text."""
        heading = self.heading(width)
        lines = [
            *([heading] if heading is not None else []),
            *(self.line_at(index, width) for index in range(self.line_count)),
        ]
        return "".join(f"{line.plain.rstrip()}\n" for line in lines)

    def lines_changed(self) -> None:
        """Measure and draw again; the cursor and the scroll position stay."""
        height = self.line_count * self.row_height + self.has_heading
        if self.virtual_size.height != height:
            resize_to(self, Size(self.inner_width, height))
        self.cursor = self.validate_cursor(self.cursor)
        self.refresh()

    def set_row_height(self, height: int) -> None:
        """Show each line of the list in this many lines of the screen."""
        if height != self.row_height:
            self.row_height = height
            self.lines_changed()
            self.show_cursor_line()

    def render_line(self, y: int) -> Strip:
        width = self.inner_width
        if self.has_heading and y == 0:
            heading = self.heading(width - CURSOR_GUTTER) or Content()
            return self._strip(Content(" " * CURSOR_GUTTER) + heading, width)
        index, part = divmod(y + round(self.scroll_y) - self.has_heading, self.row_height)
        if index == self.line_count == 0:
            return self._strip(Content(" " * CURSOR_GUTTER) + self.empty, width)
        if not 0 <= index < self.line_count:
            return Strip.blank(width + self.KEPT_OFF, self.rich_style)
        at_cursor = index == self.cursor and part == 0
        mark = Content("▸ ") if at_cursor else Content("  ")
        if at_cursor and self.has_focus:
            mark = mark.stylize("$accent")
        component = "lines--cursor" if self.is_selected(index) else ""
        line = self.line_at(index, width - CURSOR_GUTTER)
        if self.row_height > 1:
            line = line.split("\n", allow_blank=True)[part]
        return self._strip(mark + line, width, component)

    def is_selected(self, index: int) -> bool:
        """Return whether a line belongs to what the cursor selects."""
        return index == self.cursor

    def _strip(self, content: Content, width: int, component: str = "") -> Strip:
        style = self.get_visual_style(component) if component else self.visual_style
        cut = content.truncate(width, ellipsis=True, pad=True)
        return strip_of_line(self, cut, width + self.KEPT_OFF, style)

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, self.line_count - 1))

    def watch_cursor(self, before: int, now: int) -> None:
        self.show_cursor_line()
        self.redraw(before, now)
        self.post_message(self.Moved(self, self.cursor))

    def redraw(self, *lines: int) -> None:
        """Draw these lines again."""
        above, height = round(self.scroll_y) - self.has_heading, self.row_height
        parts = (line * height + part - above for line in lines for part in range(height))
        repaint_only(self, (part for part in parts if part >= self.has_heading))

    def show_cursor_line(self) -> None:
        """Scroll as little as needed to show the cursor."""
        shown = self.size.height - self.has_heading
        top, first = round(self.scroll_y), self.cursor * self.row_height
        if shown <= 0:
            return
        if first < top:
            self.scroll_to(y=first, animate=False, force=True)
        elif first + self.row_height > top + shown:
            self.scroll_to(y=first + self.row_height - shown, animate=False, force=True)

    def spots(self) -> Iterator[JumpTarget]:
        """Yield the visible rows as jump targets."""
        top, heading = round(self.scroll_y), int(self.has_heading)
        height = self.row_height
        for line, at in rows_on_screen(self, self.line_count * height, top, heading):
            if line % height == 0:
                yield JumpTarget(at, partial(self.go_to_line, line // height))

    def go_to_line(self, index: int) -> None:
        """Move the cursor and the focus to this line."""
        self.focus()
        self.cursor = index

    def on_resize(self) -> None:
        self.show_cursor_line()

    def on_click(self, event: events.Click) -> None:
        index = (event.y + round(self.scroll_y) - self.has_heading) // self.row_height
        if (self.has_heading and event.y == 0) or not 0 <= index < self.line_count:
            return
        if index == self.cursor:
            self.action_choose()
        self.cursor = index

    def action_move(self, by: int) -> None:
        self.cursor += by

    def action_page(self, direction: int) -> None:
        self.cursor += direction * max(1, (self.size.height - self.has_heading) // self.row_height - 1)

    def action_first(self) -> None:
        self.cursor = 0

    def action_last(self) -> None:
        self.cursor = self.line_count - 1

    def action_choose(self) -> None:
        if self.line_count:
            self.post_message(self.Chosen(self, self.cursor))
        else:
            self.app.notify("There is nothing to open.", markup=False)

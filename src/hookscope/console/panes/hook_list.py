"""The hook list: aligned columns under headings. Only visible lines are built."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate, chain
from typing import ClassVar, TypeAlias

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from hookscope.console.state.hook_rows import (
    Grouping,
    HookColumns,
    HookRow,
    RowGroup,
    group_line,
    hook_columns,
    hook_line,
)
from hookscope.console.widgets.focus_targets import JumpTarget, rows_on_screen
from hookscope.console.widgets.lines import LineList, StripCache
from hookscope.console.widgets.painting import resize_to

DOUBLE_CLICK = 2  # clicks in a row
GroupedLine: TypeAlias = HookRow | RowGroup | None  # None: an empty line


class GroupedLines:
    """The lines of all groups, each with a heading. `airy`: with an empty line between groups."""

    def __init__(self, groups: Sequence[RowGroup] = (), *, airy: bool = False) -> None:
        self.groups = tuple(groups)
        gap = int(airy)
        heights = [1 + len(group.rows) + gap for group in self.groups]
        self._starts = [0, *accumulate(heights)]  # the line of each heading
        self.count = max(self._starts[-1] - gap, 0)
        self._rows = [0, *accumulate(len(group.rows) for group in self.groups)]
        self.row_count = self._rows[-1]

    def at(self, line: int) -> GroupedLine:
        """Return the content of `line`; None for an empty line or one outside the list."""
        if not 0 <= line < self.count:
            return None
        group, place = self._place(line)
        if place < 0:
            return self.groups[group]
        rows = self.groups[group].rows
        return rows[place] if place < len(rows) else None

    def group_at(self, line: int) -> str:
        """Return the key of the group of a line."""
        return self.groups[self._place(line)[0]].key if 0 <= line < self.count else ""

    def rows(self) -> Iterator[HookRow]:
        """Yield all rows; a row in several groups is yielded several times."""
        return chain.from_iterable(group.rows for group in self.groups)

    def line_of(self, row: str, group: str | None = None) -> int | None:
        """Return the first line of the row with the id `row`, in the group with the key `group` or in any."""
        for start, each in zip(self._starts, self.groups, strict=False):
            if group is None or each.key == group:
                place = next((at for at, candidate in enumerate(each.rows) if candidate.id == row), None)
                if place is not None:
                    return start + 1 + place
        return None

    def line_of_number(self, number: int) -> int | None:
        """Return the line of the row with this index, or of the nearest one; None if there are no rows."""
        if not self.row_count:
            return None
        number = max(0, min(number, self.row_count - 1))
        group = bisect_right(self._rows, number) - 1
        return self._starts[group] + 1 + number - self._rows[group]

    def number_before(self, line: int) -> int:
        """Return how many rows are above a line."""
        if not self.groups:
            return 0
        group, place = self._place(min(line, self.count - 1))
        return self._rows[group] + max(0, min(place, len(self.groups[group].rows)))

    def _place(self, line: int) -> tuple[int, int]:
        """Return the index of the line's group, and of its row in that group; -1 is the heading."""
        group = min(bisect_right(self._starts, line) - 1, len(self.groups) - 1)
        return group, line - self._starts[group] - 1


class HookList(LineList, inherit_bindings=False):
    """The hooks in groups. Posts `Pointed` when another row is selected, and `Picked` for a chosen row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False, id="list.up", tooltip="The hook above"),
        Binding("down,j", "move(1)", "Down", show=False, id="list.down", tooltip="The hook below"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="list.page_up", tooltip="A page up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="list.page_down", tooltip="A page down"),
        Binding("home", "first", "First", show=False, id="list.first", tooltip="The first hook"),
        Binding("end", "last", "Last", show=False, id="list.last", tooltip="The last hook"),
        Binding("enter", "choose", "Why", id="list.why", tooltip="Why the selected hook has its status"),
    ]
    KEPT_OFF = 0  # its columns already leave a gap before the scroll bar
    COMPONENT_CLASSES: ClassVar[set[str]] = {"hooks--heading", "hooks--cursor", "hooks--hover"}

    hovered: reactive[int | None] = reactive(None)  # the line under the mouse

    class Pointed(Message):
        """Another row is selected."""

        def __init__(self, row: str) -> None:
            self.row = row
            super().__init__()

    class Picked(Message):
        """A row was chosen with enter or a double click."""

        def __init__(self, row: str) -> None:
            self.row = row
            super().__init__()

    class Resized(Message):
        """The widths of the columns have changed."""

        def __init__(self, columns: HookColumns) -> None:
            self.columns = columns
            super().__init__()

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._groups: tuple[RowGroup, ...] = ()
        self._grouping: Grouping = "source"
        self._rows: Sequence[HookRow] = ()  # all rows, so that columns do not move while filtering
        self._lines = GroupedLines()
        self._laid_out = (0, False)  # the width, and whether groups have gaps
        self._columns = HookColumns(0, 0, 0, 0)
        self._strips: StripCache[tuple[int, str, bool]] = StripCache(self)
        self._last_row = ""  # the last row under the cursor, also while a filter hides it

    def show(self, groups: tuple[RowGroup, ...], grouping: Grouping, rows: Sequence[HookRow]) -> None:
        """Show these groups; the cursor stays on its row. `rows`: all rows, also filtered-out ones."""
        self._groups, self._grouping, self._rows = groups, grouping, rows
        self._lay_out()

    def begin_at(self, row: str) -> None:
        """Select this row when the first rows are shown."""
        if self.pointed_row is None:
            self._last_row = row

    def point_at(self, row: str) -> None:
        """Move the cursor to a row, if it is listed."""
        line = self._lines.line_of(row)
        if line is not None:
            self.cursor = line

    def spots(self) -> Iterator[JumpTarget]:
        """Yield the visible hooks as jump targets."""
        for line, at in rows_on_screen(self, self.line_count, round(self.scroll_y)):
            if isinstance(self._lines.at(line), HookRow):
                yield JumpTarget(at, partial(self.go_to_line, line))

    def on_resize(self) -> None:  # before the inherited handler
        if self._laid_out != (self.inner_width, self._airy):
            self._lay_out()

    @property
    def line_count(self) -> int:
        return self._lines.count

    @property
    def pointed_row(self) -> str | None:
        """The id of the row under the cursor."""
        line = self._lines.at(self.cursor)
        return line.id if isinstance(line, HookRow) else None

    def _lay_out(self) -> None:
        """Lay out the lines again, for other groups or another width."""
        width = self.inner_width
        if not width:  # hidden: it is laid out when it is resized
            self._laid_out = 0, False
            return
        before, at, row = self._lines, self.cursor, self.pointed_row
        self._laid_out = width, self._airy
        lines = GroupedLines(self._groups, airy=self._airy)
        self._columns = hook_columns(width, self._rows, self._grouping)
        self.post_message(self.Resized(self._columns))
        target_line = self._wanted(before, lines)
        self._lines = lines
        self._strips.clear()
        self.hovered = None
        self.set_reactive(HookList.cursor, target_line or 0)
        if self.virtual_size.height != lines.count:
            resize_to(self, Size(width, lines.count))
        self.refresh()
        moved = target_line != at or lines.count != before.count
        if target_line is not None and moved:
            self.show_cursor_line()
        if target_line is not None and (
            moved or self.pointed_row != row
        ):  # another hook may be on that line now
            self._tell()

    @property
    def _airy(self) -> bool:
        """Whether there is room for an empty line between groups."""
        lines = sum(2 + len(group.rows) for group in self._groups) - 1
        return lines <= self.scrollable_content_region.height

    def _wanted(self, before: GroupedLines, lines: GroupedLines) -> int | None:
        """Return the line for the cursor: of the same row in its group, else in any, else of a row nearby."""
        pointed = before.at(self.cursor)
        if isinstance(pointed, HookRow):
            same = lines.line_of(pointed.id, before.group_at(self.cursor))
            if same is not None:
                return same
        row = pointed.id if isinstance(pointed, HookRow) else self._last_row
        same = lines.line_of(row) if row else None
        number = before.number_before(self.cursor) if isinstance(pointed, HookRow) else 0
        return same if same is not None else lines.line_of_number(number)

    # The cursor.

    def validate_cursor(self, cursor: int) -> int:
        """Return a line with a hook: the cursor skips headings."""
        return self._near(cursor, 1 if cursor >= self.cursor else -1)

    def _near(self, line: int, direction: int) -> int:
        """Return `line` if it has a hook, else the nearest line that has one, preferably in `direction`."""
        line = super().validate_cursor(line)
        if isinstance(self._lines.at(line), HookRow) or not self._lines.row_count:
            return line
        above = self._lines.number_before(line)
        row_line = self._lines.line_of_number(above if direction > 0 else above - 1)
        return row_line if row_line is not None else line

    def watch_cursor(self, before: int, now: int) -> None:
        self.show_cursor_line()
        self.redraw(before, now)
        self._tell()

    def _tell(self) -> None:
        row = self.pointed_row
        if row is not None:
            self._last_row = row
            self.post_message(self.Pointed(row))

    def show_cursor_line(self) -> None:
        """Scroll as little as needed to show the cursor; above the first hook, also show the heading."""
        shown, top = self.scrollable_content_region.height, round(self.scroll_y)
        first = self._lines.number_before(self.cursor) == 0
        target = 0 if first and self.cursor < shown else min(max(top, self.cursor - shown + 1), self.cursor)
        if shown > 0 and target != top:
            self.scroll_to(y=target, animate=False, force=True, immediate=True)

    def action_move(self, by: int) -> None:
        """Go to the next hook in that direction; wrap around at the ends."""
        count = self._lines.row_count
        if count:
            number = (self._lines.number_before(self.cursor) + by) % count
            self.cursor = self._lines.line_of_number(number) or 0

    def action_page(self, direction: int) -> None:
        self.cursor = self._near(
            self.cursor + direction * max(1, self.scrollable_content_region.height), direction
        )

    def cannot(self, action: str) -> str:
        """Return why an action has no effect; the key bar then omits it."""
        is_empty = action == "choose" and self.pointed_row is None
        return "The list is empty: there is no hook to explain." if is_empty else ""

    def action_choose(self) -> None:
        row = self.pointed_row
        if row is None:
            self.app.notify(self.cannot("choose"), markup=False)
        else:
            self.post_message(self.Picked(row))

    # The mouse.

    def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # else the inherited handler, which ignores groups, also runs
        line = event.y + round(self.scroll_y)
        if isinstance(self._lines.at(line), HookRow):
            self.cursor = line
            if event.chain == DOUBLE_CLICK:
                self.action_choose()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        line = event.y + round(self.scroll_y)
        self.hovered = line if isinstance(self._lines.at(line), HookRow) else None

    def on_leave(self) -> None:
        self.hovered = None

    # Drawing.

    def line_at(self, index: int, width: int) -> Content:
        match line := self._lines.at(index):
            case HookRow():
                return hook_line(line, self._columns, index == self.cursor)
            case RowGroup():
                return group_line(line, width, self._grouping)
        return Content(" ")

    def render_line(self, y: int) -> Strip:
        index, width = y + round(self.scroll_y), self.inner_width
        if not 0 <= index < self.line_count:
            return Strip.blank(width, self.visual_style.rich_style)
        selected = (
            "hooks--cursor" if index == self.cursor else "hooks--hover" if index == self.hovered else ""
        )
        component = selected if isinstance(self._lines.at(index), HookRow) else "hooks--heading"
        key = index, component, self.has_focus and index == self.cursor
        return self._strips.drawn(key, lambda: self._strip(self.line_at(index, width), width, component))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.style_updated()

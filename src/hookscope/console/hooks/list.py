"""The list of hooks: aligned columns under headings, updated in place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import ClassVar, TypeAlias

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hookscope.console.hooks.rows import (
    Columns,
    Group,
    Grouping,
    Row,
    columns_for,
    group_line,
    row_line,
)
from hookscope.console.jump.spots import Spot, rows_on_screen

Line: TypeAlias = Row | Group | None  # None: an empty line


class HookList(OptionList):
    """Hooks in the host's order; says which one is pointed at, and which is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "cursor_up", "Up", show=False, id="list.up", tooltip="The hook above"),
        Binding("down", "cursor_down", "Down", show=False, id="list.down", tooltip="The hook below"),
        Binding("pageup", "page_up", "Page up", show=False, id="list.page_up", tooltip="A page up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="list.page_down", tooltip="A page down"),
        Binding("home", "first", "First", show=False, id="list.first", tooltip="The first hook"),
        Binding("end", "last", "Last", show=False, id="list.last", tooltip="The last hook"),
        Binding("enter", "select", "Why", id="list.why", tooltip="Why the selected hook stands as it does"),
    ]

    class Pointed(Message):
        """Another row is selected."""

        def __init__(self, row: str) -> None:
            self.row = row
            super().__init__()

    class Chosen(Message):
        """A row was chosen with enter or a click."""

        def __init__(self, row: str) -> None:
            self.row = row
            super().__init__()

    class Resized(Message):
        """Columns have other widths now."""

        def __init__(self, columns: Columns) -> None:
            self.columns = columns
            super().__init__()

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id, compact=True)
        self._groups: tuple[Group, ...] = ()
        self._grouping: Grouping = "source"
        self._lines_shown: dict[str, Line] = {}
        self._columns = Columns(0, 0, 0, 0)
        self._pointed: str | None = None
        self._last_row = ""  # that was pointed at, also when a filter hides all

    def show(self, groups: tuple[Group, ...], grouping: Grouping) -> None:
        """Show these; the pointer stays at its row, and the row where it was on the screen."""
        self._groups, self._grouping = groups, grouping
        self._refresh()

    def begin_at(self, row: str) -> None:
        """Point at this row with the first rows that are shown."""
        if self.pointed_row is None:
            self._last_row = row

    def point_at(self, row: str) -> None:
        """Go to a row, if it is shown."""
        keys = (key for key, line in self._lines_shown.items() if isinstance(line, Row) and line.id == row)
        key = next(keys, None)
        if key is not None:
            self.highlighted = self.get_option_index(key)

    def spots(self) -> Iterator[Spot]:
        """The hooks that are on the screen."""
        for index, at in rows_on_screen(self, self.option_count, round(self.scroll_y)):
            if not self.options[index].disabled:
                yield Spot(at, partial(self._go_to, index))

    def _go_to(self, index: int) -> None:
        self.focus()
        self.highlighted = index

    def on_resize(self) -> None:
        self._refresh()

    @property
    def pointed_row(self) -> str | None:
        """The id of the row under the highlight, at this very moment."""
        option = self.highlighted_option
        line = self._lines_shown.get(option.id or "") if option is not None else None
        return line.id if isinstance(line, Row) else None

    def _refresh(self) -> None:
        width = self.scrollable_content_region.width
        if not width:
            return
        lines = self._wanted_lines()
        rows = [line for line in lines.values() if isinstance(line, Row)]
        columns = columns_for(width, rows, self._grouping)
        self._columns = columns
        self.post_message(self.Resized(columns))
        pointed = self._wanted_pointer(lines)
        prompts = {key: self._prompt(line, columns, width, key == pointed) for key, line in lines.items()}
        if list(lines) == list(self._lines_shown):
            self._update(prompts)
        else:
            self._rebuild(prompts, lines)
        self._lines_shown, self._pointed = lines, pointed
        if pointed is not None:
            where = self.get_option_index(pointed)
            if where != self.highlighted:
                self.highlighted = where
        elif rows == []:
            self.highlighted = None

    def _wanted_lines(self) -> dict[str, Line]:
        """Option id → line. Empty lines stand between groups where there is room for all."""
        count = sum(1 + len(group.rows) for group in self._groups)
        airy = count + len(self._groups) - 1 <= self.scrollable_content_region.height
        lines: dict[str, Line] = {}
        for group in self._groups:
            if airy and lines:
                lines[f"gap\n{group.key}"] = None
            lines[f"group\n{group.key}"] = group
            for row in group.rows:
                lines[f"row\n{group.key}\n{row.id}"] = row
        return lines

    def _wanted_pointer(self, lines: dict[str, Line]) -> str | None:
        """The option to point at: the same one, else another of its row, else one near by."""
        option, selected = self.highlighted_option, self.pointed_row or self._last_row
        if option is not None and isinstance(lines.get(option.id or ""), Row):
            return option.id
        rows = {key: line.id for key, line in lines.items() if isinstance(line, Row)}
        same = next((key for key, row in rows.items() if row == selected), None)
        if same is not None or not rows:
            return same
        before = [key for key, line in self._lines_shown.items() if isinstance(line, Row)]
        place = before.index(option.id) if option is not None and option.id in before else 0
        return list(rows)[min(place, len(rows) - 1)]

    def _prompt(self, line: Line, columns: Columns, width: int, pointed: bool) -> Content:
        match line:
            case Row():
                return row_line(line, columns, pointed)
            case Group():
                return group_line(line, width, self._grouping)
        return Content(" ")

    def _update(self, prompts: dict[str, Content]) -> None:
        for index, (option, prompt) in enumerate(zip(self.options, prompts.values(), strict=True)):
            if not (isinstance(option.prompt, Content) and option.prompt.is_same(prompt)):
                self.replace_option_prompt_at_index(index, prompt)

    def _rebuild(self, prompts: dict[str, Content], lines: dict[str, Line]) -> None:
        top = self.scroll_offset.y
        with self.prevent(OptionList.OptionHighlighted):
            self.clear_options()
            self.add_options(
                Option(prompt, id=key, disabled=not isinstance(lines[key], Row))
                for key, prompt in prompts.items()
            )
        self.scroll_to(y=top, animate=False, force=True)

    def action_select(self) -> None:
        if self.highlighted is None:
            self.app.notify("The list is empty: there is no hook to explain.", markup=False)
        super().action_select()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Move the pointer's sign along with the highlight."""
        event.stop()
        old, new = self._pointed, event.option_id
        line = self._lines_shown.get(new or "")
        if not isinstance(line, Row):
            return
        self._pointed = new
        if old != new:
            width = self.scrollable_content_region.width
            for key in (old, new):
                if key is not None and key in self._lines_shown:
                    prompt = self._prompt(self._lines_shown[key], self._columns, width, key == new)
                    self.replace_option_prompt(key, prompt)
        self._last_row = line.id
        self.post_message(self.Pointed(line.id))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        line = self._lines_shown.get(event.option_id or "")
        if isinstance(line, Row):
            self.post_message(self.Chosen(line.id))

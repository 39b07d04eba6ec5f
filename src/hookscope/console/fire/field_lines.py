"""The rows of a form, drawn."""

from __future__ import annotations

from collections.abc import Mapping

from textual.content import Content
from textual.message import Message

from hookscope.console.fire.form_rows import ADD, Columns, Row, columns, row_line
from hookscope.console.lines import GUTTER, Lines


class FieldLines(Lines):
    """The rows, drawn."""

    DEFAULT_CSS = """
    FieldLines { height: 1fr; }
    """

    class Scrolled(Message):
        """Other rows are visible."""

    def __init__(self) -> None:
        super().__init__()
        self.can_focus = False
        self.rows: tuple[Row, ...] = ()
        self._longest = 0  # of their names
        self.notes: Mapping[str, str] = {}  # by the field's name
        self.said: tuple[Content, ...] = ()  # in place of rows

    @property
    def line_count(self) -> int:
        return len(self.said) or len(self.rows)

    def line_at(self, index: int, width: int) -> Content:
        if self.said:
            return self.said[index]
        row = self.rows[index]
        return row_line(row, self.columns, self.notes.get(row.name, ""))

    @property
    def columns(self) -> Columns:
        return columns(self.inner_width - GUTTER, max(self._longest, len(ADD)))

    def show(self, rows: tuple[Row, ...]) -> None:
        """Draw these rows."""
        self.rows, self._longest = rows, max((len(row.name) for row in rows), default=0)
        self.lines_changed()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Scrolled())

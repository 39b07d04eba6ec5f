"""The matrix of the Hosts pane: a row a hook, a column a host."""

from __future__ import annotations

from textual.content import Content

from hookscope.console.hosts.rows import Columns, columns_of, heading, row
from hookscope.console.lines import Lines
from hookscope.core.side.model import Comparison, Line

FRAME = 3  # lines of the matrix that are no rows: its border and its heading


class Matrix(Lines):
    """A row a hook."""

    def __init__(self) -> None:
        super().__init__(id="hosts-rows")
        self.comparison: Comparison | None = None
        self.lines: tuple[Line, ...] = ()
        self._measured: tuple[Comparison, int, Columns] | None = None  # of what, and for which width

    @property
    def line_count(self) -> int:
        return len(self.lines)

    @property
    def line(self) -> Line | None:
        """What the cursor is on."""
        return self.lines[self.cursor] if 0 <= self.cursor < len(self.lines) else None

    def show(self, comparison: Comparison, lines: tuple[Line, ...]) -> None:
        """Other rows; the cursor stays on its hook where that is still there."""
        name = self.line.name if self.line is not None else ""
        self.comparison, self.lines = comparison, lines
        at = next((at for at, line in enumerate(lines) if line.name == name), self.cursor)
        self.lines_changed()
        self.cursor = at

    @property
    def has_heading(self) -> bool:
        return self.comparison is not None

    def heading(self, width: int) -> Content | None:
        return heading(self.comparison, self._columns(width)) if self.comparison is not None else None

    def line_at(self, index: int, width: int) -> Content:
        return row(self.lines[index], self._columns(width))

    def _columns(self, width: int) -> Columns:
        """How wide each column is: all rows are asked once for it, and not for each line that is drawn."""
        found, known = self.comparison, self._measured
        assert found is not None
        if known is None or known[0] is not found or known[1] != width:
            self._measured = known = found, width, columns_of(found, width)
        return known[2]

"""The lines of the log: a list of entries that follows the newest one."""

from __future__ import annotations

from collections.abc import Hashable
from functools import partial

from textual.content import Content
from textual.strip import Strip

from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.panes.log_lines import entry_line, entry_lines, is_cut
from hookscope.console.state.log_entries import FoldedRuns, LogEntry, LogIndex, LogRing
from hookscope.console.theme.text_styles import MARK_MUTED
from hookscope.console.widgets.lines import CURSOR_GUTTER, LineList, StripCache


class LogView(LineList):
    """Shows the entries of an index. It follows the newest entry until the user moves the cursor away."""

    ALLOW_MAXIMIZE = False  # its pane is maximized instead

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._index = LogIndex(LogRing(), FoldedRuns().shows)
        self._strips: StripCache[Hashable] = StripCache(self)
        self.following = True
        self.folds: FoldedRuns | None = None  # None: folding hides no entry

    @property
    def line_count(self) -> int:
        return len(self._index)

    @property
    def empty(self) -> Content:
        if not self._index.ring:
            return Content.styled("Nothing has happened yet.", MARK_MUTED)
        return Content.styled(
            with_keys("No entry matches the filter. Press {log.filter_drop} to clear it."), MARK_MUTED
        )

    @property
    def entry(self) -> LogEntry | None:
        """The entry under the cursor."""
        return self._entry(self.cursor)

    @property
    def number(self) -> int | None:
        """The number of the entry under the cursor."""
        return self._index.number(self.cursor) if self.cursor < len(self._index) else None

    def show(self, index: LogIndex, best_for: str = "") -> None:
        """Show another index. The cursor goes to the best match for `best_for`; without these words, it
        stays on its entry, or at the end.
        """
        number = self.number
        if index.ring is not self._index.ring:
            self._strips.clear()
        self._index = index
        self.lines_changed()
        if best_for:
            self.cursor = index.best_line(best_for)
        elif self.following or number is None:
            self.cursor = self.line_count - 1
        else:
            self.cursor = index.line(number)
        self.following = self.cursor >= self.line_count - 1

    def select(self, number: int) -> None:
        """Move the cursor to the entry with this number, and keep it there."""
        self.cursor = self._index.line(number)
        self.following = False

    def update_entries(self, changed_from: int | None) -> None:
        """Show new entries, and those changed from a number on. The entries being read stay in place."""
        number, following = self.number, self.following
        if changed_from is not None:
            self._index.recheck(changed_from)
        self._index.refresh()
        if following or number is None:
            self.lines_changed()
            self.cursor = self.line_count - 1
            return
        line = min(self._index.line(number), self.line_count - 1)
        top = round(self.scroll_y) + (line - self.cursor) * self.row_height
        self.set_reactive(LogView.cursor, line)
        self.lines_changed()
        self.scroll_to(y=max(top, 0), animate=False)

    def lines_changed(self) -> None:
        following = self.following
        super().lines_changed()
        self.following = following

    def line_at(self, index: int, width: int) -> Content:
        entry = self._entry(index)
        if entry is None:
            return Content()
        line = entry_line if self.row_height == 1 else entry_lines
        return line(entry, width, self._mark(entry), self._index.ring.widest_subject)

    def _mark(self, entry: LogEntry | None) -> str:
        """Return the fold sign of an entry; empty if its run has nothing to unfold."""
        return self.folds.sign(entry) if entry is not None and self.folds is not None else ""

    def _entry(self, line: int) -> LogEntry | None:
        if not 0 <= line < len(self._index):
            return None
        try:
            return self._index.ring.get(self._index.number(line))
        except IndexError:  # dropped from the ring since the last frame
            return None

    def render_line(self, y: int) -> Strip:
        line, part = divmod(y + round(self.scroll_y), self.row_height)
        entry = self._entry(line)
        if entry is None:
            return super().render_line(y)
        cursor = 1 + self.has_focus if line == self.cursor else 0
        # The entry of a run changes its kind when the run ends.
        place = self._index.number(line), part, entry.kind, cursor, self._mark(entry)
        measures = self.inner_width, self.row_height, self._index.ring.widest_subject
        return self._strips.drawn((*place, *measures), partial(super().render_line, y))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.style_updated()

    def cuts(self, entry: LogEntry) -> bool:
        """Return True if the list shows only a part of this entry's text."""
        widest = self._index.ring.widest_subject
        return is_cut(entry, self.inner_width - CURSOR_GUTTER, self.row_height, widest)

    def watch_cursor(self, before: int, now: int) -> None:
        self.following = now >= self.line_count - 1
        super().watch_cursor(before, now)

    def action_last(self) -> None:
        super().action_last()
        self.following = True

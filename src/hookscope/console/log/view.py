"""The lines of the log: only those on the screen are drawn, and each one once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from textual.content import Content
from textual.strip import Strip

from hookscope.console.keymap.hints import with_keys
from hookscope.console.lines import Lines
from hookscope.console.log.model import SAME, Index, LogEntry, Ring
from hookscope.console.marks import MUTED, fitted, word
from hookscope.console.strips import Strips
from hookscope.core.local_time import in_local_time

SIGNS: Mapping[str, tuple[str, str]] = {
    "error": ("✗", "$text-error"),
    "warn": ("!", "$text-warning"),
    "debug": ("·", MUTED),
}
OF_KIND: Mapping[str, tuple[str, str]] = {"real": ("≈", "")}  # what a host really sent, in any theme
KIND = 10  # cells: quarantine
ROOMY = 100  # cells from which milliseconds are shown and subjects get more room


def entry_line(entry: LogEntry, width: int) -> Content:
    """Time, level, kind, subject, text: every column at its place."""
    at = in_local_time(entry.at)
    roomy = width >= ROOMY
    time = f"{at:%H:%M:%S}.{at.microsecond // 1000:03}" if roomy else f"{at:%H:%M:%S}"
    subject = 26 if roomy else max(10, min(18, width // 4))
    level = SAME.get(entry.level.lower(), entry.level.lower())
    glyph, style = SIGNS.get(level) or OF_KIND.get(entry.kind, (" ", ""))
    left = len(time) + 2 + 2 + KIND + 1 + subject + 2
    return Content.assemble(
        Content.styled(f"{time}  ", MUTED),
        Content.styled(f"{glyph} ", style),
        fitted(word(entry.kind, 40), KIND, MUTED),
        " ",
        fitted(word(entry.subject, 200), subject),
        "  ",
        Content(word(entry.text, 600)).truncate(max(width - left, 1), ellipsis=True),
    )


class LogView(Lines):
    """Draws what an index shows; follows the end until its reader goes elsewhere."""

    ALLOW_MAXIMIZE = False  # the pane around it is what fills the screen

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._index = Index(Ring())
        self._strips: Strips[tuple[int | None, int, int]] = Strips(self)
        self.following = True

    @property
    def line_count(self) -> int:
        return len(self._index)

    @property
    def empty(self) -> Content:
        if not self._index.ring:
            return Content.styled("Nothing has happened yet.", MUTED)
        return Content.styled(with_keys("No entry fits the filter. {log.filter_drop} clears it."), MUTED)

    @property
    def entry(self) -> LogEntry | None:
        """What the cursor is on."""
        return self._entry(self.cursor)

    @property
    def number(self) -> int | None:
        """The number of the entry that the cursor is on."""
        return self._index.number(self.cursor) if self.cursor < len(self._index) else None

    def show(self, index: Index) -> None:
        """Draw another index: the cursor stays on its entry, or at the end where it was there."""
        number = self.number
        if index.ring is not self._index.ring:
            self._strips.clear()
        self._index = index
        self.lines_changed()
        if self.following or number is None:
            self.cursor = self.line_count - 1
        else:
            self.cursor = index.line(number)

    def grew(self) -> None:
        """Draw what is new in the index. What is being read stays where it is."""
        dropped = self._index.refresh()
        if dropped and not self.following:
            top = max(round(self.scroll_y) - dropped, 0)
            self.set_reactive(LogView.cursor, max(self.cursor - dropped, 0))
            self.lines_changed()
            self.scroll_to(y=top, animate=False)
            return
        self.lines_changed()
        if self.following:
            self.cursor = self.line_count - 1

    def lines_changed(self) -> None:
        following = self.following
        super().lines_changed()
        self.following = following

    def line_at(self, index: int, width: int) -> Content:
        entry = self._entry(index)
        return entry_line(entry, width) if entry is not None else Content()

    def _entry(self, line: int) -> LogEntry | None:
        if not 0 <= line < len(self._index):
            return None
        try:
            return self._index.ring.get(self._index.number(line))
        except IndexError:  # it left the ring since the last frame
            return None

    def render_line(self, y: int) -> Strip:
        line = y + round(self.scroll_y)
        if not 0 <= line < len(self._index):
            return super().render_line(y)
        cursor = 1 + self.has_focus if line == self.cursor else 0
        key = self._index.number(line), self.inner_width, cursor
        return self._strips.drawn(key, partial(super().render_line, y))

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.style_updated()

    def watch_cursor(self, before: int, now: int) -> None:
        self.following = now >= self.line_count - 1
        super().watch_cursor(before, now)

    def action_last(self) -> None:
        super().action_last()
        self.following = True

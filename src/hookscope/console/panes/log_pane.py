"""The Log pane: collects entries, filters them, pauses, follows, and opens an entry's run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, partial
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from hookscope.console.keymap.active_keys import key_hints, share_a_key, with_keys
from hookscope.console.state.console_message import ConsoleMessage
from hookscope.console.state.log_entries import (
    LEVEL_ALIASES,
    FoldedRuns,
    LogEntry,
    LogFilter,
    LogIndex,
    LogRing,
    parse_log_filter,
)
from hookscope.console.theme.text_styles import MARK_MUTED, fixed_width, safe_text, safe_word
from hookscope.console.widgets.lines import LineList, StripCache
from hookscope.console.widgets.painting import RemovableWidget, update_text
from hookscope.model.text import in_local_time, one_line

if TYPE_CHECKING:
    from hookscope.console.widgets.input_fields import FilterInput


LEVEL_SIGNS: Mapping[str, tuple[str, str]] = {
    "error": ("✗", "$text-error"),
    "warn": ("!", "$text-warning"),
    "debug": ("·", MARK_MUTED),
}
KIND_SIGNS: Mapping[str, tuple[str, str]] = {"real": ("≈", "")}  # a host's real event, in any theme
KIND_WIDTH = 10  # cells: quarantine
ROOMY_LOG_WIDTH = 100  # cells; wider logs show milliseconds and longer subjects
NARROW_LOG_WIDTH = 64  # cells; narrower logs show no kind
LONGEST_ENTRY = 600  # characters of an entry's text


def entry_line(entry: LogEntry, width: int, mark: str = "") -> Content:
    """Return the line of an entry: time, level, kind, subject, text. A narrow line has no kind.

    `mark`: the sign of a folded or unfolded run, shown after the kind.
    """
    prefix = _entry_prefix(entry, width, mark)
    text = Content(safe_word(entry.text, LONGEST_ENTRY))
    return prefix + text.truncate(max(width - prefix.cell_length, 1), ellipsis=True)


def is_cut(entry: LogEntry, width: int) -> bool:
    """Return True if a line of this width truncates the entry's subject or text."""
    text = Content(safe_word(entry.text, LONGEST_ENTRY + 1)).cell_length
    subject = Content(safe_word(entry.subject, 200)).cell_length
    return text > width - _entry_prefix(entry, width).cell_length or subject > _subject_width(width)


def _entry_prefix(entry: LogEntry, width: int, mark: str = "") -> Content:
    """Return everything before the text."""
    at = in_local_time(entry.at)
    roomy, narrow = width >= ROOMY_LOG_WIDTH, width < NARROW_LOG_WIDTH
    time = f"{at:%H:%M:%S}.{at.microsecond // 1000:03}" if roomy else f"{at:%H:%M:%S}"
    level = LEVEL_ALIASES.get(entry.level.lower(), entry.level.lower())
    glyph, style = LEVEL_SIGNS.get(level) or KIND_SIGNS.get(entry.kind, (" ", ""))
    kind = fixed_width(safe_word(f"{entry.kind} {mark}".rstrip(), 40), KIND_WIDTH, MARK_MUTED) + " "
    return Content.assemble(
        Content.styled(f"{time} " if narrow else f"{time}  ", MARK_MUTED),
        Content.styled(f"{glyph} ", style),
        Content.styled(f"{mark or ' '} ", MARK_MUTED) if narrow else kind,
        fixed_width(safe_word(entry.subject, 200), _subject_width(width)),
        " " if narrow else "  ",
    )


def _subject_width(width: int) -> int:
    return 26 if width >= ROOMY_LOG_WIDTH else max(10, min(18, width // 4))


class LogView(LineList):
    """Shows the entries of an index. It follows the newest entry until the user moves the cursor away."""

    ALLOW_MAXIMIZE = False  # its pane is maximized instead

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._index = LogIndex(LogRing())
        self._strips: StripCache[tuple[int | None, int, int, str]] = StripCache(self)
        self.following = True
        self.folds: FoldedRuns | None = None  # None: all entries are shown

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

    def show(self, index: LogIndex) -> None:
        """Show another index; the cursor stays on its entry, or at the end."""
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
        """Show new entries of the index. The entries being read stay in place."""
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

    def recheck(self, number: int) -> None:
        """Filter the entries from `number` on again; the cursor stays on its entry, or at the end."""
        at_cursor, following = self.number, self.following
        self._index.recheck(number)
        self._index.refresh()
        self.lines_changed()
        if following or at_cursor is None:
            self.cursor = self.line_count - 1
        else:
            self.cursor = min(self._index.line(at_cursor), self.line_count - 1)

    def lines_changed(self) -> None:
        following = self.following
        super().lines_changed()
        self.following = following

    def line_at(self, index: int, width: int) -> Content:
        entry = self._entry(index)
        return entry_line(entry, width, self._mark(entry)) if entry is not None else Content()

    def _mark(self, entry: LogEntry | None) -> str:
        """Return the fold sign of an entry; empty if its run has nothing to unfold."""
        if entry is None or self.folds is None or not self.folds.can_unfold(entry):
            return ""
        return "▾" if entry.run in self.folds.unfolded else "▸"

    def _entry(self, line: int) -> LogEntry | None:
        if not 0 <= line < len(self._index):
            return None
        try:
            return self._index.ring.get(self._index.number(line))
        except IndexError:  # dropped from the ring since the last frame
            return None

    def render_line(self, y: int) -> Strip:
        line = y + round(self.scroll_y)
        if not 0 <= line < len(self._index):
            return super().render_line(y)
        cursor = 1 + self.has_focus if line == self.cursor else 0
        key = self._index.number(line), self.inner_width, cursor, self._mark(self._entry(line))
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


FRAME_SECONDS = 1 / 15  # seconds; entries of one frame are drawn together
FILTER_SLICE = 4_096  # entries to filter between two checks of the clock
FILTER_SECONDS = 0.015  # seconds to filter at a time, so that keys are handled in between
MOST_COPIED = 1_000_000
LEAST_HEIGHT_WITH_ENTRY = 10  # lines of a log that has room for the whole entry below
LONGEST_SHOWN = 2_000  # characters of the entry shown whole


class LogPane(RemovableWidget, Widget):
    """The log. Adding entries never waits for drawing, which happens once per frame."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash",
            "filter",
            "Filter",
            id="log.filter",
            tooltip="Filter entries: words, !words, kind:fire, level:warn, run:7",
        ),
        Binding(
            "p", "pause", "Pause", id="log.pause", tooltip="Pause the display; entries are still collected"
        ),
        Binding("G", "tail", "Tail", id="log.tail", tooltip="Follow the newest entry"),
        Binding("s", "save", "Save", id="log.save", tooltip="Save the real event"),
        Binding(
            "T",
            "tap",
            "Live agent",
            id="log.tap",
            tooltip="Tap status, unused subscriptions, unsubscribed events",
        ),
        Binding("right", "unfold(True)", "Handlers", id="log.unfold", tooltip="Show the handlers of a run"),
        Binding(
            "left", "unfold(False)", "Fold", id="log.fold", show=False, tooltip="Hide the handlers of a run"
        ),
        Binding("y", "copy_line", "Copy", id="log.copy", tooltip="Copy the whole entry"),
        Binding("escape", "clear", "Clear", id="log.clear", show=False, tooltip="Show all entries again"),
    ]
    DEFAULT_CSS = """
    LogPane {
        layout: vertical;
        border: round $border-blurred;
        border-title-color: $foreground;
        border-title-style: none;
        border-subtitle-align: left;
        border-subtitle-color: $text-muted;
        padding: 0;
        &:focus-within { border: heavy $border; }
        & > LogView { height: 1fr; }
        & > FilterInput { margin: 0 0 0 2; }
        & > #entry { height: auto; max-height: 5; padding: 0 1 0 2; display: none; }
        & > #entry.-cut { display: block; }
    }
    """

    class RunRequested(ConsoleMessage):
        """Request to show the run of an entry."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class RealEventRequested(ConsoleMessage):
        """Request to open a real event in the composer, or to save it."""

        def __init__(self, name: str, save: bool = False) -> None:
            super().__init__()
            self.name, self.save = name, save

    class TapStatusRequested(ConsoleMessage):
        """Request to show the tap's status."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.ring = LogRing()
        self._still: LogRing | None = None  # the ring as it was when the display was paused
        self._filter = LogFilter()
        self._index = LogIndex(self.ring)  # the shown index, and in `_of` its filter
        self._of = LogFilter()
        self._search: LogIndex | None = None  # the next index, whose filter has not checked all entries yet
        self._frame: Timer | None = None
        self._folds = FoldedRuns()
        self._hidden_from: int | None = None  # the entries from this number on must be filtered again

    def compose(self) -> ComposeResult:
        yield LogView()
        yield Static(id="entry", markup=False)  # the whole entry, if its line truncates it

    def on_mount(self) -> None:
        self._rebuild()

    @cached_property
    def _field(self) -> FilterInput:
        """The filter's field, mounted on first use."""
        from hookscope.console.widgets.input_fields import FilterInput

        field = FilterInput(placeholder="filter: words  kind:fire  level:warn  run:7", compact=True)
        self.mount(field)
        return field

    def entries(self) -> Iterator[LogEntry]:
        """Yield the matching entries, oldest first."""
        ring = self.ring if self._still is None else self._still
        return (entry for _, entry in ring.numbered(0) if self._filter.takes(entry))

    def add(self, entries: Sequence[LogEntry]) -> None:
        """Add entries, oldest first."""
        entries = list(entries)
        hidden_from = self._folds.add(entries, self.ring.add(entries))
        if hidden_from is not None and (self._hidden_from is None or hidden_from < self._hidden_from):
            self._hidden_from = hidden_from
        self._soon()

    def _soon(self) -> None:
        if self._frame is None and self.is_mounted:
            self._frame = self.set_timer(FRAME_SECONDS, self._draw, name="log-frame")

    def _draw(self) -> None:
        self._frame = None
        hidden_from, self._hidden_from = self._hidden_from, None
        view = self.query_one(LogView)
        if hidden_from is not None and not self._filter:
            if view.folds is None or self._still is not None or self.filtering:
                self._rebuild()  # the first run, or an index that is being built
            else:
                view.recheck(hidden_from)
        elif self._still is None:
            view.grew()
        self._title()

    @property
    def filtering(self) -> bool:
        """Whether filtering is still running. Until it ends, the previous entries are shown."""
        return self._search is not None

    def _rebuild(self) -> None:
        """Build a new index for another filter or ring."""
        ring = self.ring if self._still is None else self._still
        takes = self._filter.taker() if self._filter else self._folds if self._folds.finished else None
        narrower = bool(self._of) and self._filter.narrows(self._of)
        among = self._index if self._index.ring is ring and narrower else None
        waiting, self._search = self._search is not None, LogIndex(ring, takes, among=among, most=0)
        if not waiting:
            self._go_on()
        else:
            self._title()

    def _go_on(self) -> None:
        """Filter entries for a short time, and continue later; show the result once all are filtered."""
        search, started = self._search, perf_counter()
        if search is None:
            return
        while search.behind and perf_counter() - started < FILTER_SECONDS:
            search.refresh(FILTER_SLICE)
        if search.behind:
            self._title()
            self.set_timer(0.001, self._go_on, name="log-filter")
            return
        self._index, self._of, self._search = search, self._filter, None
        view = self.query_one(LogView)
        view.folds = self._folds if self._folds.finished and not self._filter else None
        view.show(search)
        self._title()

    def name_keys(self) -> None:
        """Show the current keys."""
        self._title()

    def _title(self) -> None:
        view = self.query_one(LogView)
        ring = self.ring if self._still is None else self._still
        count_text = "…" if self.filtering else f"{view.line_count:,}"
        shown = f"{count_text} of {len(ring):,}" if self._filter else f"{len(ring):,}"
        title = Content(f"Log {shown}")
        if self._still is not None:
            new_entries = self.ring.end - self._still.end
            title += Content.styled(f"   ‖ {new_entries:,} new", "$text-warning")
        follows = key_hints(("log.tail", "following"))
        below = Content() if view.following or self._still else follows
        self.border_title, self.border_subtitle = title, below
        self._show_entry()

    def _show_entry(self) -> None:
        """Below the list, show the whole entry under the cursor, if its line truncates it."""
        view = self.query_one(LogView)
        entry, part = view.entry, self.query_one("#entry", Static)
        cut = entry is not None and self.size.height >= LEAST_HEIGHT_WITH_ENTRY
        cut = cut and entry is not None and is_cut(entry, view.inner_width)
        if cut and entry is not None:
            update_text(part, safe_text(f"{one_line(entry.subject)}  {one_line(entry.text)}", LONGEST_SHOWN))
        part.set_class(cut, "-cut")

    def on_resize(self) -> None:
        self._show_entry()

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._filter = parse_log_filter(event.value)
        self._rebuild()

    @on(Input.Submitted)
    def _filter_kept(self, event: Input.Submitted) -> None:
        event.stop()
        self._field.set_class(bool(event.value.strip()), "-open")
        self.query_one(LogView).focus()

    def on_filter_input_dropped(self, event: FilterInput.Dropped) -> None:
        event.stop()
        self._drop_filter()

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._title()

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        entry = self.query_one(LogView).entry
        if entry is not None and entry.real is not None:
            self.post_message(self.RealEventRequested(entry.real))
        elif entry is None or entry.run is None:
            self.app.notify("This entry has no run.", markup=False)
        else:
            self.post_message(self.RunRequested(entry.run))

    def action_filter(self) -> None:
        self._field.add_class("-open")
        self._field.focus()

    def _drop_filter(self) -> None:
        self._field.value = ""
        self._field.remove_class("-open")
        self.query_one(LogView).focus()

    def action_clear(self) -> None:
        if not self._filter:
            if share_a_key("log.clear", "console.back"):
                raise SkipAction  # without a filter the key means `console.back`
            self.app.notify("No filter is set: all entries are shown.", markup=False)
            return
        self._drop_filter()

    def action_unfold(self, wanted: bool) -> None:
        entry = self.query_one(LogView).entry
        run = entry.run if entry is not None else None
        if run is None or run not in self._folds.parts:
            self.app.notify("This entry has no handlers to show.", markup=False)
        elif self._filter:
            self.app.notify(with_keys("Press {log.clear} to clear the filter first."), markup=False)
        elif run not in self._folds.finished:
            self.app.notify("This run is still running: its handlers are already shown.", markup=False)
        elif (run in self._folds.unfolded) == wanted:
            shown = "shown" if wanted else "hidden"
            self.app.notify(f"The handlers of run {run} are already {shown}.", markup=False)
        else:
            self._folds.toggle(run)
            self._rebuild()

    def action_pause(self) -> None:
        self._still = self.ring.copy() if self._still is None else None
        self._rebuild()

    def action_tail(self) -> None:
        if self._still is not None:
            self._still = None
            self._rebuild()
        elif self.query_one(LogView).following:
            self.app.notify("Following the newest entry.", markup=False)
        view = self.query_one(LogView)
        view.action_last()
        self._title()

    def action_save(self) -> None:
        entry = self.query_one(LogView).entry
        if entry is None or entry.real is None:
            self.app.notify("This entry is not a real event (≈). Only those can be saved.", markup=False)
        else:
            self.post_message(self.RealEventRequested(entry.real, save=True))

    def action_tap(self) -> None:
        self.post_message(self.TapStatusRequested())

    def action_copy_line(self) -> None:
        entry = self.query_one(LogView).entry
        if entry is None:
            self.app.notify("The log is empty: there is nothing to copy.", markup=False)
            return
        text = f"{entry.at.isoformat()} {entry.level} {entry.kind} {entry.subject}: {entry.text}"
        self.app.copy_to_clipboard(safe_text(text, MOST_COPIED).plain)
        self.app.notify("Copied the entry.", markup=False)

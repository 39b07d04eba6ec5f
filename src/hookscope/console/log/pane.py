"""The Log pane: takes entries in, filters, pauses, follows, and leads to the run of a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from hookscope.console.keymap.hints import hints, shared
from hookscope.console.leaving import Leaves
from hookscope.console.lines import Lines
from hookscope.console.log.model import Filter, Index, LogEntry, Ring, parse_filter
from hookscope.console.log.view import LogView
from hookscope.console.painting import framed
from hookscope.console.text import plain

if TYPE_CHECKING:
    from hookscope.console.log.filter_input import FilterInput

FRAME = 1 / 15  # seconds: entries that come within are drawn together
SLICE = 4_096  # entries that a filter looks at between two looks at the clock
BUSY = 0.015  # seconds that it takes at a time: keys are answered in between
COPIED = 1_000_000


class LogPane(Leaves, Widget):
    """Everything that happened. Intake never waits for drawing: that is done once a frame."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "slash",
            "filter",
            "Filter",
            id="log.filter",
            tooltip="Narrow down: words, kind:fire, level:warn, run:7",
        ),
        Binding(
            "p", "pause", "Pause", id="log.pause", tooltip="Hold the picture still; entries are kept coming"
        ),
        Binding("G", "tail", "Tail", id="log.tail", tooltip="Go to the newest entry and follow"),
        Binding("s", "save", "Save", id="log.save", tooltip="Keep the real event as a saved event"),
        Binding(
            "T",
            "tap",
            "Live agent",
            id="log.tap",
            tooltip="The tap: how it stands, what was never seen, what nobody listens to",
        ),
        Binding("y", "copy_line", "Copy", id="log.copy", tooltip="Copy the entry under the cursor, whole"),
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
    }
    """

    class RunAsked(Message):
        """The run that an entry tells of is to be shown."""

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    class RealAsked(Message):
        """A real event is to be opened in the composer, or kept as a saved event."""

        def __init__(self, name: str, save: bool = False) -> None:
            super().__init__()
            self.name, self.save = name, save

    class TapAsked(Message):
        """How the tap stands is to be shown."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.ring = Ring()
        self._still: Ring | None = None  # the ring as it was when the picture was held
        self._filter, self._typed = Filter(), ""
        self._index = Index(self.ring)  # what is shown, and the filter that it is of
        self._of = Filter()
        self._search: Index | None = None  # what is shown next: a filter that has not looked at all yet
        self._frame: Timer | None = None

    def compose(self) -> ComposeResult:
        yield LogView()

    def on_mount(self) -> None:
        self._rebuild()

    @cached_property
    def _field(self) -> FilterInput:
        """Where a filter is typed, in the tree: made when one is first wanted."""
        from hookscope.console.log.filter_input import FilterInput

        field = FilterInput(placeholder="filter: words  kind:fire  level:warn  run:7", compact=True)
        self.mount(field)
        return field

    @property
    def filter_text(self) -> str:
        """The filter as it was typed."""
        return self._typed

    def entries(self) -> Iterator[LogEntry]:
        """Those that are shown, oldest first."""
        ring = self.ring if self._still is None else self._still
        return (entry for _, entry in ring.numbered(0) if self._filter.takes(entry))

    def narrow(self, text: str) -> None:
        """Filter as though this had been typed."""
        self._field.value = text
        self._field.set_class(bool(text.strip()), "-open")

    def add(self, entries: Sequence[LogEntry]) -> None:
        """Take entries in, oldest first."""
        self.ring.add(entries)
        self._soon()

    def _soon(self) -> None:
        if self._frame is None and self.is_mounted:
            self._frame = self.set_timer(FRAME, self._draw, name="log-frame")

    def _draw(self) -> None:
        self._frame = None
        if self._still is None:
            self.query_one(LogView).grew()
        self._title()

    @property
    def filtering(self) -> bool:
        """Is what is shown still that of the filter before."""
        return self._search is not None

    def _rebuild(self) -> None:
        """Make the index anew: another filter, or another ring."""
        ring = self.ring if self._still is None else self._still
        takes = self._filter.taker() if self._filter else None
        among = self._index if self._index.ring is ring and self._filter.narrows(self._of) else None
        waiting, self._search = self._search is not None, Index(ring, takes, among=among, most=0)
        if not waiting:
            self._go_on()
        else:
            self._title()

    def _go_on(self) -> None:
        """Look at entries for a while; show what was found once all were looked at, and nothing before."""
        search, began = self._search, perf_counter()
        if search is None:
            return
        while search.behind and perf_counter() - began < BUSY:
            search.refresh(SLICE)
        if search.behind:
            self._title()
            self.set_timer(0.001, self._go_on, name="log-filter")
            return
        self._index, self._of, self._search = search, self._filter, None
        self.query_one(LogView).show(search)
        self._title()

    def name_keys(self) -> None:
        """Write the keys in force."""
        self._title()

    def _title(self) -> None:
        view = self.query_one(LogView)
        ring = self.ring if self._still is None else self._still
        found = "…" if self.filtering else f"{view.line_count:,}"
        shown = f"{found} of {len(ring):,}" if self._filter else f"{len(ring):,}"
        title = Content(f"Log {shown}")
        if self._still is not None:
            fresh = self.ring.end - self._still.end
            title += Content.styled(f"   ‖ {fresh:,} new", "$text-warning")
        follows = hints(("log.tail", "follows the end"))
        below = Content() if view.following or self._still else follows
        framed(self, title, below)

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._filter, self._typed = parse_filter(event.value), event.value
        self._rebuild()

    @on(Input.Submitted)
    def _filter_kept(self, event: Input.Submitted) -> None:
        event.stop()
        self._field.set_class(bool(event.value.strip()), "-open")
        self.query_one(LogView).focus()

    def on_filter_input_dropped(self, event: FilterInput.Dropped) -> None:
        event.stop()
        self._drop_filter()

    @on(Lines.Moved)
    def _moved(self, event: Lines.Moved) -> None:
        event.stop()
        self._title()

    @on(Lines.Chosen)
    def _chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        entry = self.query_one(LogView).entry
        if entry is not None and entry.real is not None:
            self.post_message(self.RealAsked(entry.real))
        elif entry is None or entry.run is None:
            self.app.notify("This line tells of no run: there is nothing to open.", markup=False)
        else:
            self.post_message(self.RunAsked(entry.run))

    def action_filter(self) -> None:
        self._field.add_class("-open")
        self._field.focus()

    def _drop_filter(self) -> None:
        self._field.value = ""
        self._field.remove_class("-open")
        self.query_one(LogView).focus()

    def action_clear(self) -> None:
        if not self._filter:
            if shared("log.clear", "console.back"):
                raise SkipAction  # the key means that while nothing is left out
            self.app.notify("No filter is set: all entries are shown.", markup=False)
            return
        self._drop_filter()

    def action_pause(self) -> None:
        self._still = self.ring.copy() if self._still is None else None
        self._rebuild()

    def action_tail(self) -> None:
        if self._still is not None:
            self._still = None
            self._rebuild()
        elif self.query_one(LogView).following:
            self.app.notify("The newest entry is shown, and those to come.", markup=False)
        view = self.query_one(LogView)
        view.action_last()
        self._title()

    def action_save(self) -> None:
        entry = self.query_one(LogView).entry
        if entry is None or entry.real is None:
            self.app.notify("This line is no real event (≈): there is nothing to save.", markup=False)
        else:
            self.post_message(self.RealAsked(entry.real, save=True))

    def action_tap(self) -> None:
        self.post_message(self.TapAsked())

    def action_copy_line(self) -> None:
        entry = self.query_one(LogView).entry
        if entry is None:
            self.app.notify("The log is empty: there is nothing to copy.", markup=False)
            return
        text = f"{entry.at.isoformat()} {entry.level} {entry.kind} {entry.subject}: {entry.text}"
        self.app.copy_to_clipboard(plain(text, COPIED).plain)
        self.app.notify("Copied the entry.", markup=False)

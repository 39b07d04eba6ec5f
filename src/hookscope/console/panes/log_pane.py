"""The Log pane: collects entries, filters them, pauses, follows, and opens an entry's run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.actions import SkipAction
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from hookscope.console.keymap.active_keys import key_hints, share_a_key, with_keys
from hookscope.console.keymap.available_actions import bindings_of_scope
from hookscope.console.panes.log_lines import NARROW_LOG_WIDTH, chips_line, entry_details
from hookscope.console.panes.log_view import LogView
from hookscope.console.state.console_message import ConsoleMessage
from hookscope.console.state.log_entries import (
    FoldedRuns,
    LogChips,
    LogEntry,
    LogFilter,
    LogIndex,
    LogRing,
    parse_log_filter,
)
from hookscope.console.state.messages import CommandRequested, WhyRequested
from hookscope.console.theme.text_styles import safe_text, safe_word
from hookscope.console.widgets.lines import FittedText, KeyScroll, LineList
from hookscope.console.widgets.painting import RemovableWidget, update_text
from hookscope.model.text import one_line

if TYPE_CHECKING:
    from hookscope.console.widgets.input_fields import FilterInput


FRAME_SECONDS = 1 / 15  # seconds; entries of one frame are drawn together
FILTER_SLICE = 4_096  # entries to filter between two checks of the clock
FILTER_SECONDS = 0.015  # seconds to filter at a time, so that keys are handled in between
MOST_COPIED = 1_000_000  # characters
LEAST_HEIGHT_WITH_ENTRY = 10  # lines of a log that has room for the whole entry below
LEAST_HEIGHT_WITH_CHIPS = 12  # lines of a log that has room for the chips
DETAILS_BELOW, DETAILS_BESIDE = 18, 180  # lines or cells of a log with details below or beside its rows
MOST_OF_FEW = 32  # per cent of the height; the details get the room that fewer entries do not need
DETAILS_SECONDS = 0.12  # seconds that the cursor rests on an entry before its details are read
LONGEST_SHOWN = 2_000  # characters of the entry shown whole


CHIP_KEYS = (
    ("5", "event", "Event", "Show entries of the selected event, or of all events"),
    (
        "6",
        "hook",
        "Hook",
        "Show entries of the selected entry's first hook, of its next hook, or of all hooks",
    ),
    ("7", "outcome", "Outcome", "Show failed runs, successful runs, or all entries"),
    ("8", "origin", "From", "Show real events, fired events, or all entries"),
)
_LOG_ACTIONS = (
    ("slash", "filter", "filter", "Filter", "Filter entries: words, !words, kind:fire, level:warn, run:7"),
    ("space", "pause", "pause", "Pause", "Pause the display; entries are still collected"),
    ("G", "tail", "tail", "Follow", "Follow the newest entry"),
    ("ctrl+s", "save", "save", "Save", "Save the real event"),
    ("T", "tap", "tap", "Live agent", "Tap status, unused subscriptions, unsubscribed events"),
    ("v", "session", "session", "Session", "The session as a conversation"),
    *((key, f"chip('{name}')", f"{name}_chip", title, tip) for key, name, title, tip in CHIP_KEYS),
    ("right", "unfold(True)", "unfold", "Handlers", "Show the handlers of a run"),
    ("left", "unfold(False)", "fold", "Fold", "Hide the handlers of a run"),
    ("y", "copy_line", "copy", "Copy", "Copy the whole entry"),
    ("escape", "clear", "clear", "Clear", "Show all entries again"),
)
_IN_KEY_BAR = {"filter", "pause", "tail", "save", "tap", "session", "unfold", "copy"}
DEPENDENT_ACTIONS = ("save", "copy_line", "tail", "unfold(True)", "unfold(False)")  # on the selected entry


def _enter_effect(entry: LogEntry | None) -> tuple[str, ConsoleMessage] | None:
    """Return what enter does with an entry: its name for the border, and its message; None if nothing."""
    if entry is not None and entry.real is not None:
        return "replay on copies", LogPane.RealEventRequested(entry.real)
    if entry is not None and entry.hooks and (entry.run is None or entry.kind == "step"):
        return "why", WhyRequested(entry.hooks[0], entry.event)
    if entry is not None and entry.run is not None:
        return "run", LogPane.RunRequested(entry.run)
    return None


class LogPane(RemovableWidget, Widget):
    """The log. Adding entries never waits for drawing, which happens once per frame."""

    ALLOW_MAXIMIZE = True
    HELP = (
        "Scans, saved files, runs and the host's real events, the newest last.\n"
        "✗ error, ! warning, · debug message, ≈ real event; ▸ and ▾ mark a run with handlers"
    )
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of_scope("log", _LOG_ACTIONS, _IN_KEY_BAR)]
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
        & > #chips { dock: top; height: 1; padding: 0 1 0 2; display: none; link-style: none; }
        & > #chips.-shown { display: block; }
        & > #details {
            dock: bottom; height: 38%; display: none; padding: 0 0 0 2; border-top: solid $border-blurred;
            scrollbar-size-vertical: 1; scrollbar-gutter: stable;
        }
        & > #details > FittedText { width: 1fr; height: auto; }
        &.-detailed > #details { display: block; }
        &.-few > #details { height: 60%; }
        &.-beside > #details {
            dock: right; height: 1fr; width: 36%; border-top: none; border-left: solid $border-blurred;
        }
        & > FilterInput { background: $panel; }
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

    class DetailsRequested(ConsoleMessage):
        """Request for the details of an entry. The answer is passed to `show_details`."""

        def __init__(self, entry: LogEntry) -> None:
            super().__init__()
            self.entry = entry

    class SessionRequested(ConsoleMessage):
        """Request to show a session; without a name, the last used one."""

        def __init__(self, session: str = "") -> None:
            super().__init__()
            self.session = session

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self.ring = LogRing()
        self._still: LogRing | None = None  # the ring as it was when the display was paused
        self._typed, self.chips = LogFilter(), LogChips()
        self._filter = LogFilter()  # both together
        self._selects_best = False  # whether the cursor goes to the best match once all are filtered
        self._resting: Timer | None = None  # until the details of the selected entry are read
        self._detailed: LogEntry | None = None  # the entry whose details are shown or being read
        self._shown_details = Content()
        self._has_events = False  # whether an entry has details: its run or its real event
        self._folds = FoldedRuns()
        self._index = LogIndex(self.ring, self._folds.shows)  # the shown index
        self._index_filter = LogFilter()  # of the shown index; empty if it folds handlers
        self._search: LogIndex | None = None  # the next index, whose filter has not checked all entries yet
        self._frame: Timer | None = None
        self._changed_from: int | None = None  # the entries from this number on must be filtered again
        self._offered: tuple[str, ...] = ()  # the actions in the key bar that have an effect

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

    @cached_property
    def _chips_line(self) -> Static:
        """The line of chips, mounted on first use."""
        line = Static(id="chips", markup=False)
        self.mount(line)
        return line

    @cached_property
    def _details(self) -> FittedText:
        """The text of the details, mounted on first use."""
        text = FittedText(lambda _: self._shown_details, id="details-text")
        self.mount(KeyScroll(text, id="details"))
        return text

    def entries(self) -> Iterator[LogEntry]:
        """Yield the matching entries, oldest first."""
        ring = self.ring if self._still is None else self._still
        return (entry for _, entry in ring.numbered(0) if self._filter.matches(entry))

    def shows_whole(self, entry: LogEntry) -> bool:
        """Return True if the log follows its newest entry, and would show the whole text of this one."""
        view = self.query_one(LogView)
        is_visible = view.following and self._still is None and view.size.height >= view.row_height
        return is_visible and self._filter.matches(entry) and not view.cuts(entry)

    @property
    def selected_run(self) -> int | None:
        """The number of the run of the selected entry, if it has one."""
        entry = self.query_one(LogView).entry
        return entry.run if entry is not None else None

    def add(self, entries: Sequence[LogEntry]) -> None:
        """Add entries, oldest first. The end of a run takes the place of its start."""
        for entry in entries:
            self._has_events |= entry.run is not None or entry.real is not None
            end = self.ring.end
            number = self._folds.add_to(self.ring, entry)
            if number < end:
                earlier = number if self._changed_from is None else self._changed_from
                self._changed_from = min(number, earlier)
        if self._frame is None and self.is_mounted:
            self._frame = self.set_timer(FRAME_SECONDS, self._draw, name="log-frame")

    def sort_by_time(self) -> None:
        """Sort all entries by time: earlier runs and real events are read after the console has started."""
        entries = sorted((entry for _, entry in self.ring.numbered(0)), key=lambda entry: entry.at)
        self.ring, self._folds, self._changed_from = LogRing(self.ring.kept), FoldedRuns(), None
        self.add(entries)
        self._rebuild()

    def _draw(self) -> None:
        self._frame = None
        changed_from, self._changed_from = self._changed_from, None
        if changed_from is not None and self.filtering:
            self._rebuild()
        elif self._still is None:
            self.query_one(LogView).update_entries(changed_from)
        self._title()

    @property
    def filtering(self) -> bool:
        """Whether filtering is still running. Until it ends, the previous entries are shown."""
        return self._search is not None

    def _rebuild(self) -> None:
        """Build a new index for another filter or ring."""
        ring = self.ring if self._still is None else self._still
        takes = self._predicate()
        narrower = bool(self._index_filter and self._typed) and self._filter.narrows(self._index_filter)
        among = self._index if self._index.ring is ring and narrower else None
        waiting, self._search = self._search is not None, LogIndex(ring, takes, among=among, most=0)
        if not waiting:
            self._continue_filtering()
        else:
            self._title()

    def _predicate(self) -> Callable[[LogEntry], bool]:
        """Return the filter of the shown entries. Typed words are also searched in folded handlers."""
        if self._typed:
            return self._filter.predicate()
        if not self.chips:
            return self._folds.shows
        shows, matches = self._folds.shows, self._filter.matches
        return lambda entry: shows(entry) and matches(entry)

    def _refilter(self) -> None:
        self._filter = self.chips.added_to(self._typed)
        self._rebuild()
        self._show_parts()

    def _continue_filtering(self) -> None:
        """Filter entries for a short time, and continue later; show the result once all are filtered."""
        search, started = self._search, perf_counter()
        if search is None:
            return
        while search.behind and perf_counter() - started < FILTER_SECONDS:
            search.refresh(FILTER_SLICE)
        if search.behind:
            self._title()
            self.set_timer(0.001, self._continue_filtering, name="log-filter")
            return
        self._search = None
        words = self._typed.words
        if words and not search and not self._filter.fuzzy:
            self._filter = replace(self._filter, fuzzy=True)
            self._rebuild()
            return
        self._index = search
        self._index_filter = self._filter if self._typed else LogFilter()
        view = self.query_one(LogView)
        view.folds = None if self._typed else self._folds
        view.show(search, " ".join(words) if self._selects_best else "")
        self._selects_best = False
        self._title()

    def name_keys(self) -> None:
        self._show_parts()
        self._title()

    def _title(self) -> None:
        view = self.query_one(LogView)
        ring = self.ring if self._still is None else self._still
        count_text = "…" if self.filtering else f"{view.line_count:,}"
        shown = f"{count_text} of {len(ring):,}" if self._filter else f"{len(ring):,}"
        title = Content(f"Log {shown}")
        if self._still is not None:
            new_entries = self.ring.end - self._still.end
            title += Content.styled(f"   ‖ paused, {new_entries:,} new", "$text-warning")
        if self._typed and not self._field.has_class("-open"):
            title += Content.styled(f"   filter: {safe_word(self._field.value, 60)}", "$text-accent")
        hints = [("lines.choose", effect[0])] if (effect := _enter_effect(view.entry)) else []
        hints += [] if view.following or self._still else [("log.tail", "follow")]
        self.border_title, self.border_subtitle = title, key_hints(*hints)
        self._show_entry()
        offered = tuple(action for action in DEPENDENT_ACTIONS if not self.cannot(action))
        if offered != self._offered:
            self._offered = offered
            self.refresh_bindings()

    def _show_entry(self) -> None:
        """Show the details of the entry under the cursor; without room, its text if its line is cut."""
        view = self.query_one(LogView)
        entry, part = view.entry, self.query_one("#entry", Static)
        self.set_class(self.has_details and entry is not None and self._has_events, "-detailed")
        if not self._typed:  # nothing moves while a filter is typed
            lines = view.line_count * view.row_height
            self.set_class(lines * 100 <= self.size.height * MOST_OF_FEW, "-few")
        if self.has_class("-detailed"):
            part.remove_class("-cut")
            self._await_details(entry)
            return
        cut = entry is not None and self.size.height >= LEAST_HEIGHT_WITH_ENTRY and view.cuts(entry)
        if cut and entry is not None:
            update_text(part, safe_text(f"{one_line(entry.subject)}  {one_line(entry.text)}", LONGEST_SHOWN))
        part.set_class(cut, "-cut")

    @property
    def has_details(self) -> bool:
        """Whether there is room for details."""
        return self.size.height >= DETAILS_BELOW

    def _await_details(self, entry: LogEntry | None) -> None:
        """Show an entry, and request its details once the cursor rests on it."""
        if entry is self._detailed:
            return
        self._detailed = entry
        if self._resting is not None:
            self._resting.stop()
            self._resting = None
        self._set_details(Content() if entry is None else entry_details(entry))
        if entry is not None and (entry.run is not None or entry.real is not None):
            self._resting = self.set_timer(
                DETAILS_SECONDS, lambda: self.post_message(self.DetailsRequested(entry)), name="log-details"
            )

    def show_details(self, entry: LogEntry, details: Content) -> None:
        """Show the details of an entry, if it is still selected."""
        if entry is self._detailed and self.is_mounted:
            self._set_details(details)

    def _set_details(self, details: Content) -> None:
        self._shown_details = details
        self._details.rebuild(layout=True)
        if isinstance(box := self._details.parent, KeyScroll):
            box.scroll_home(animate=False)

    def _show_parts(self) -> None:
        shown = self.size.height >= LEAST_HEIGHT_WITH_CHIPS or bool(self.chips)
        if shown:
            self._chips_line.update(chips_line(self.chips, self.size.width))
        if shown or "_chips_line" in self.__dict__:
            self._chips_line.set_class(shown, "-shown")
        self.set_class(self.has_details and self.size.width >= DETAILS_BESIDE, "-beside")
        is_tall_and_narrow = self.has_details and self.size.width <= NARROW_LOG_WIDTH
        self.query_one(LogView).set_row_height(2 if is_tall_and_narrow else 1)

    def on_resize(self) -> None:
        self._show_parts()
        self._show_entry()

    @on(Input.Changed)
    def _filter_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._typed = parse_log_filter(event.value)
        self._selects_best = True
        self._refilter()

    @on(Input.Submitted)
    def _filter_kept(self, event: Input.Submitted) -> None:
        event.stop()
        self._field.remove_class("-open")
        self.query_one(LogView).focus()
        self._title()

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
        if (effect := _enter_effect(self.query_one(LogView).entry)) is not None:
            self.post_message(effect[1])
        else:
            self.app.notify("This entry has no run, hook or real event to open.", markup=False)

    def action_filter(self) -> None:
        self._field.add_class("-open")
        self._field.focus()

    def _drop_filter(self) -> None:
        self._field.value = ""
        self._field.remove_class("-open")
        self.query_one(LogView).focus()

    def cannot(self, action: str) -> str:
        """Return why an action has no effect on the selected entry; the key bar then omits it."""
        view = self.query_one(LogView)
        entry = view.entry
        if action == "save" and (entry is None or entry.real is None):
            return "This entry is not a real event (≈). Only real events can be saved."
        if action == "copy_line" and entry is None:
            return "The log is empty: there is nothing to copy."
        if action == "tail" and view.following and self._still is None:
            return "The log already follows the newest entry."
        if action.startswith("unfold"):
            return self._why_not_unfolded(entry.run if entry is not None else None, "True" in action)
        return ""

    def _why_not_unfolded(self, run: int | None, wanted: bool) -> str:
        """Return why the handlers of this run cannot be shown, or hidden if not `wanted`."""
        folds = self._folds
        if run is None or run not in folds.with_handlers:
            return "This entry has no handlers to show."
        if self._typed:
            return with_keys("Press {log.clear} to clear the filter first.")
        shown = run not in folds.folded
        return f"The handlers of run {run} are already {'shown' if shown else 'hidden'}." * (shown == wanted)

    def _has_effect(self, action: str) -> bool:
        """Return True if an action has an effect; if not, tell the user why."""
        if why := self.cannot(action):
            self.app.notify(why, markup=False)
        return not why

    def action_chip(self, name: str) -> None:
        """Turn a chip to its next value."""
        chips = self.chips.turned(name, self.query_one(LogView).entry)
        if chips == self.chips:
            instead = "an event or a run" if name == "event" else "a run or one of its handlers"
            self.app.notify(f"This entry has no {name}. Select {instead} first.", markup=False)
            return
        self.chips = chips
        self._refilter()

    def action_session(self) -> None:
        entry = self.query_one(LogView).entry
        self.post_message(self.SessionRequested(entry.session if entry is not None else ""))

    def action_clear(self) -> None:
        if self.chips:
            self.chips = LogChips()
            self._refilter()
        elif not self._filter:
            if share_a_key("log.clear", "console.back"):
                raise SkipAction  # without a filter the key means `console.back`
            self.app.notify("No filter is set: all entries are shown.", markup=False)
            return
        if self._typed:
            self._drop_filter()

    def action_unfold(self, wanted: bool) -> None:
        """Show the handlers of the selected run, or hide them and select the run."""
        run, view = self.selected_run, self.query_one(LogView)
        if self._has_effect(f"unfold({wanted})") and run is not None:
            self._folds.folded ^= {run}
            view.select(self._folds.rows[run])
            self._rebuild()

    def action_pause(self) -> None:
        self._still = self.ring.copy() if self._still is None else None
        self._rebuild()

    def action_tail(self) -> None:
        if not self._has_effect("tail"):
            return
        if self._still is not None:
            self._still = None
            self._rebuild()
        self.query_one(LogView).action_last()
        self._title()

    def action_save(self) -> None:
        entry = self.query_one(LogView).entry
        if self._has_effect("save") and entry is not None and entry.real is not None:
            self.post_message(self.RealEventRequested(entry.real, save=True))

    def action_tap(self) -> None:
        self.post_message(CommandRequested("tap status"))

    def action_copy_line(self) -> None:
        entry = self.query_one(LogView).entry
        if not self._has_effect("copy_line") or entry is None:
            return
        text = f"{entry.at.isoformat()} {entry.level} {entry.kind} {entry.subject}: {entry.text}"
        self.app.copy_to_clipboard(safe_text(text, MOST_COPIED).plain)
        self.app.notify("Copied the entry.", markup=False)

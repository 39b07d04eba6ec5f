"""The command palette: a field, the matching entries, and how they are ranked.

Entries are actions, panes, events, hooks, saved events and runs.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import Worker

from hookscope.app.console_files import stored_console
from hookscope.authoring.testing.saved_events import saved_listing
from hookscope.console.dialogs.base_dialogs import MOST_MATCHES, TALL_SCREEN, Dialog, filtered, picker_keys
from hookscope.console.keymap.active_keys import (
    ENTER_KEY,
    active_keymap,
    key_hints,
    key_label,
    scope_of,
    with_keys,
)
from hookscope.console.keymap.available_actions import all_nodes, available_actions_of, is_move, run_action
from hookscope.console.keymap.key_listing import command_of
from hookscope.console.panes.fire.run_sheet import RunSheet, brief_run_outcome
from hookscope.console.state import log_messages
from hookscope.console.state.state_changes import ModeChosen, RowJumpedTo, SideChosen, StateChange
from hookscope.console.theme.text_styles import (
    MARK_MUTED,
    counted,
    fixed_width,
    safe_word,
    short_time,
    word_width,
)
from hookscope.console.widgets.input_fields import OneLineInput
from hookscope.console.widgets.lines import LineList
from hookscope.console.widgets.painting import update_text
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.console.context import ConsoleContext
    from hookscope.console.state.hook_rows import HookRow


MOST_JOURNAL_RUNS = 200  # runs to read from the journal


@dataclass(frozen=True, slots=True)
class SavedEventEntry:
    """A saved event that can be loaded."""

    name: str
    about: str
    file: Path


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run that can be shown. `past`: a run of the journal that Fire mode does not have yet."""

    number: int
    key: str
    about: str
    past: PastRun | None = None


def saved_event_entries(view: Snapshot) -> tuple[SavedEventEntry, ...]:
    """Return the readable saved events of the workspace. Reads files."""
    return tuple(
        SavedEventEntry(
            row.name, ", ".join((row.key, *row.tags)) + (f": {row.notes}" if row.notes else ""), row.file
        )
        for row in saved_listing(view.host.workspace)
        if not row.problem
    )


def run_entries(bench: Workbench, view: Snapshot, sheets: Sequence[RunSheet]) -> tuple[RunEntry, ...]:
    """Return the runs of Fire mode and of the journal, newest first. Reads the journal."""
    held = {
        sheet.number: RunEntry(sheet.number, sheet.plan.event.key, _run_summary(sheet)) for sheet in sheets
    }
    try:
        stored = (
            bench.run_record.runs(view, MOST_JOURNAL_RUNS) if held else ()
        )  # without runs there may be no database
    except OSError:  # already reported when the console started
        stored = ()
    others = {
        past.id: RunEntry(past.id, past.plan.event.key, log_messages.past_run_entry(past).text, past)
        for past in stored
        if past.id not in held
    }
    return tuple(line for _, line in sorted((held | others).items(), reverse=True))


def _run_summary(sheet: RunSheet) -> str:
    words, _ = brief_run_outcome(sheet)
    return f"{short_time(sheet.at)}  {words}, {counted(len(sheet.rows), 'handler')}"


MOST_BEFORE_TYPING = 30  # entries of each kind before anything is typed
PANE_ENTRIES: tuple[tuple[str, StateChange], ...] = (
    ("Hooks", ModeChosen("hooks")),
    ("Fire", ModeChosen("fire")),
    ("Log", ModeChosen("log")),
    ("Hosts", ModeChosen("hosts")),
    ("Why this hook has its status", SideChosen("why")),
    ("Handlers by event", SideChosen("keys")),
)


ENTRY_KINDS = frozenset({"save", "go to", "event", "hook", "theme", "saved", "run", "open"})
TAG_GAP = "   "  # between the name and the place of an action


class PaletteEntry(NamedTuple):
    """One line of the palette."""

    kind: str
    text: str
    help: str
    run: Callable[[], object]
    command: str = ""  # the equivalent command

    @property
    def name(self) -> str:
        """The title without its tag."""
        return self.text.partition(TAG_GAP)[0]

    @property
    def tag(self) -> str:
        """The place of an action, if another action has the same name."""
        return self.text.partition(TAG_GAP)[2]

    @property
    def about(self) -> str:
        """The whole description."""
        return " · ".join(filter(None, (self.tag, self.help, self.command)))

    @property
    def group(self) -> str:
        """The entries whose columns are aligned: actions, or those of one kind."""
        return self.kind if self.kind in ENTRY_KINDS else ""


class LazyEntries(NamedTuple):
    """A group of perhaps thousands of entries, made only when needed."""

    first: Callable[[int | None], Iterable[PaletteEntry]]  # None: all


ListedEntries: TypeAlias = PaletteEntry | LazyEntries


def expand_entries(listed: Iterable[ListedEntries], most: int | None = None) -> Iterator[PaletteEntry]:
    """Yield the entries one by one; at most `most` of each lazy group."""
    for entry in listed:
        if isinstance(entry, LazyEntries):
            yield from entry.first(most)
        else:
            yield entry


class PaletteSource(NamedTuple):
    """What the palette needs to list entries of the panes and to run them."""

    context: ConsoleContext
    load_saved: Callable[[Path], object]
    open_workspace: Callable[[Path], object]


def listed_entries(screen: Screen[Any], source: PaletteSource | None = None) -> Iterator[ListedEntries]:
    """Yield actions first, then panes, events and hooks; over a dialog only the dialog's actions."""
    yield from _action_entries(screen, over_panes=source is not None)
    app = screen.app
    yield PaletteEntry("save", "Screenshot", "the screen as an SVG picture", app.deliver_screenshot)
    if source is not None:
        yield from _pane_entries(source.context)
    for name, theme in sorted(
        app.available_themes.items(), key=lambda item: ("hookscope" not in item[0], item[0])
    ):
        note = f"{'dark' if theme.dark else 'light'}{', current' if name == app.theme else ''}"
        if app.no_color:
            note = "unavailable: NO_COLOR is set"
        yield PaletteEntry("theme", name, note, partial(setattr, app, "theme", name))


def _pane_entries(context: ConsoleContext) -> Iterator[ListedEntries]:
    for title, change in PANE_ENTRIES:
        yield PaletteEntry("go to", title, "", partial(context.change, change))
    state = context.state
    for key in state.view.keys if state.view is not None else ():
        yield PaletteEntry("event", key, "compose it in Fire mode", partial(context.compose_event, key))
    yield LazyEntries(lambda most: (_hook_entry(context, row) for row in islice(state.rows, most)))


def _hook_entry(context: ConsoleContext, row: HookRow) -> PaletteEntry:
    about = f"{row.state_style.word}, {row.source}"
    return PaletteEntry("hook", row.name, about, partial(_show_row, context, row.id))


def _show_row(context: ConsoleContext, row: str) -> None:
    context.change(RowJumpedTo(row))
    context.change(SideChosen("why"))


def _action_entries(screen: Screen[Any], *, over_panes: bool) -> Iterator[PaletteEntry]:
    """Yield the focused widget's actions first, because its keys may differ; movements come last."""
    app = screen.app
    actions = [
        action
        for action in available_actions_of(all_nodes(screen), active_keymap())
        if action.node is not app or not over_panes  # the panes have the app's actions under their own ids
    ]
    named = Counter(action.binding.description for action in actions)
    for action in sorted(actions, key=lambda action: is_move(action.binding)):
        binding = action.binding
        title = binding.description
        if named[title] > 1:  # actions of the same name also show their scope
            title = f"{title}{TAG_GAP}{scope_of(action.id).title}"
        run = partial(run_action, app, action)
        about, command = with_keys(binding.tooltip), command_of(action.id)
        yield PaletteEntry(key_label(binding.key), title, about, run, command)


async def stored_entries(source: PaletteSource) -> tuple[PaletteEntry, ...]:
    """Return saved events to load, runs to show and workspaces to open. Read in a thread."""
    context = source.context
    view, bench = context.state.view, context.bench
    if view is None:
        return ()
    saved = await asyncio.to_thread(saved_event_entries, view)
    runs = await asyncio.to_thread(run_entries, bench, view, context.panes.fire_pane.run_view.runs.sheets)
    recent = await asyncio.to_thread(stored_console().recent)
    others = [path for path in recent if path != view.host.workspace]
    entries = [
        PaletteEntry("saved", event.name, event.about, partial(_load_saved_event, source, event.file))
        for event in saved
    ]
    for run in runs:
        title = f"{run.number}  {run.key}"
        entries.append(PaletteEntry("run", title, run.about, partial(_open_run, context, run)))
    for path in others:
        opens = partial(source.open_workspace, path)
        entries.append(PaletteEntry("open", str(path), "this workspace", opens))
    return tuple(entries)


def _load_saved_event(source: PaletteSource, file: Path) -> None:
    source.context.change(ModeChosen("fire"))
    source.load_saved(file)


def _open_run(context: ConsoleContext, run: RunEntry) -> None:
    pane = context.panes.fire_pane
    if run.past is not None:
        pane.run_view.show_past(run.past)
        context.change(ModeChosen("fire"))
    elif pane.run_view.show_run(run.number):
        context.change(ModeChosen("fire"))
    else:
        context.notify(f"Run {run.number} is no longer kept.", "warning")


def entries_before_typing(listed: Iterable[ListedEntries]) -> tuple[PaletteEntry, ...]:
    """Return the entries to show before anything is typed: the first of each kind."""
    seen = Counter[str]()
    shown = []
    for entry in expand_entries(listed, MOST_BEFORE_TYPING):
        seen[entry.kind] += 1
        if seen[entry.kind] <= MOST_BEFORE_TYPING:
            shown.append(entry)
    return tuple(shown)


def matching_entries(typed: str, entries: Sequence[PaletteEntry]) -> tuple[PaletteEntry, ...]:
    """Return the best matches. A query can start with the name of a kind; alone, it keeps their order."""
    kind = typed.strip()
    named = (
        (kind if entry.kind == kind else f"{entry.kind} {entry.text}", entry.about, entry)
        for entry in entries
    )
    bare = ((entry.text, entry.about, entry) for entry in entries)
    first = typed.split(maxsplit=1)[:1]
    kinds = {entry.kind for entry in entries}
    return filtered(typed, named if kinds.intersection(first) else bare, MOST_MATCHES)


ENTRY_KIND_WIDTH = 7, 12  # least and most cells of the kinds and keys
WIDEST_NAME = 32  # cells of a name
DETAIL_LINES = 2  # lines of the description of the entry under the cursor
PALETTE_FRAME = 6 + DETAIL_LINES  # lines of the frame, the field and the blank lines around the list


class PaletteList(LineList):
    """A line for each entry. It never has the focus, which stays in the field."""

    DEFAULT_CSS = """
    PaletteList > .lines--cursor { background: $block-cursor-background; }
    PaletteList:ansi > .lines--cursor { text-style: bold; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.can_focus = False
        self.entries: tuple[PaletteEntry, ...] = ()
        self._kinds = 0  # cells of the kinds and keys
        self._widths: dict[str, int] = {}  # cells of the names of a group

    @property
    def line_count(self) -> int:
        return len(self.entries)

    @property
    def entry(self) -> PaletteEntry | None:
        """The entry under the cursor."""
        return self.entries[self.cursor] if self.entries else None

    @property
    def empty(self) -> Content:
        return Content.styled("No matches.", MARK_MUTED)

    def line_at(self, index: int, width: int) -> Content:
        entry = self.entries[index]
        kind = fixed_width(safe_word(entry.kind), self._kinds, MARK_MUTED) + " "
        if not entry.help:
            return Content.assemble(kind, safe_word(entry.text))
        line = Content.assemble(
            kind,
            fixed_width(safe_word(entry.name), self._widths[entry.group]),
            "  ",
            (safe_word(entry.help, 200), MARK_MUTED),
        )
        gap = width - line.cell_length - word_width(entry.tag)
        return Content.assemble(line, " " * gap, (entry.tag, MARK_MUTED)) if gap > 1 else line

    def show(self, entries: tuple[PaletteEntry, ...], at: int = 0) -> None:
        """Show these entries with the cursor at `at`."""
        self.entries = entries
        least, most = ENTRY_KIND_WIDTH
        self._kinds = min(max([least - 1, *(word_width(entry.kind) for entry in entries)]), most)
        self._widths = {}
        for entry in entries:
            widest = max(self._widths.get(entry.group, 0), word_width(entry.name))
            self._widths[entry.group] = min(widest, WIDEST_NAME)
        self.lines_changed()
        self.cursor = at

    def on_click(self, event: events.Click) -> None:
        """Run the clicked entry at once."""
        index = event.y + round(self.scroll_y)
        event.prevent_default()
        if 0 <= index < self.line_count:
            self.cursor = index
            self.action_choose()


class PaletteScreen(Dialog[None]):
    """The palette: typing searches, enter runs."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="find.leave", tooltip="Close"),
        *picker_keys("find", "entry"),
        Binding(
            "pagedown",
            "page(1)",
            "Page down",
            show=False,
            priority=True,
            id="find.page_down",
            tooltip="A page down",
        ),
        Binding(
            "pageup", "page(-1)", "Page up", show=False, priority=True, id="find.page_up", tooltip="A page up"
        ),
        Binding(
            "ctrl+k",
            "app.change_key",
            "Change key",
            show=False,
            priority=True,
            id="find.change_key",
            tooltip="Choose one of the matches, and press its new key",
        ),
    ]
    DEFAULT_CSS = """
    PaletteScreen {
        & > Vertical { width: 94%; max-width: 140; }
        & Input { background: transparent; margin: 0 0 1 0; }
        & Static { height: 2; margin: 1 0 0 0; color: $text-muted; }
    }
    """

    def __init__(self, below: Screen[Any], source: PaletteSource | None = None) -> None:
        """`below`: the screen whose actions are listed."""
        super().__init__()
        self._asked_in, self._source = below, source
        self._listed: tuple[ListedEntries, ...] = ()
        self._all: tuple[PaletteEntry, ...] | None = None  # expanded for the first search
        self._shown = ""  # the query of the shown entries
        self._do_first = False  # enter was pressed before the search ended

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Find"
            frame.border_subtitle = key_hints(
                (ENTER_KEY, "run"), ("find.change_key", "change key"), ("find.leave", "back")
            )
            placeholder = "an action, a hook, an event, a saved event, a run"
            yield OneLineInput(placeholder=placeholder, compact=True, select_on_focus=False)
            yield PaletteList()
            yield Static(markup=False)

    @property
    def _findings(self) -> PaletteList:
        return self.query_one(PaletteList)

    def on_mount(self) -> None:
        self._leave_room()
        self._list((*listed_entries(self._asked_in, self._source),))
        if self._source is not None:
            self._work(partial(self._complete, self._source), "complete")

    async def _complete(self, source: PaletteSource) -> None:
        """Add the actions of panes that are created on demand, then the entries from disk."""
        panes = source.context.panes
        if not (panes.fire_pane.parts_mounted and panes.hosts_pane.parts_mounted):
            await panes.fire_pane.with_its_parts()
            await panes.hosts_pane.with_its_parts()
        on_disk = await stored_entries(source)
        if self.is_open:
            self._list((*listed_entries(self._asked_in, source), *on_disk))

    def _list(self, entries: tuple[ListedEntries, ...]) -> None:
        """Replace the entries; the cursor stays where it is."""
        self._listed, self._all = entries, None
        if self._typed:
            self._start_search(self._typed)
        else:
            self._findings.show(entries_before_typing(entries), self._findings.cursor)
            self._show_description()

    @property
    def _typed(self) -> str:
        return self.query_one(Input).value.strip()

    @on(events.Resize)
    def _leave_room(self) -> None:
        """Give the list a fixed height, whatever it shows."""
        height = self.app.size.height
        around = PALETTE_FRAME + (2 if height >= TALL_SCREEN else 0)
        self._findings.styles.height = max(1, height * 88 // 100 - around)

    @on(Input.Changed)
    def _typed_more(self, event: Input.Changed) -> None:
        event.stop()
        self._do_first = False
        if self._typed:
            self._start_search(self._typed)
        else:
            self.workers.cancel_group(self, "look")
            self._show("", entries_before_typing(self._listed))

    def _start_search(self, typed: str) -> None:
        self._work(partial(self._search, typed), "look")

    def _work(self, work: Callable[[], Coroutine[None, None, None]], group: str) -> None:
        """Run work in place of earlier work in the same group, which may not have started yet."""
        _: Worker[None] = self.run_worker(work, group=group, exclusive=True, exit_on_error=False)

    async def _search(self, typed: str) -> None:
        matches = await asyncio.to_thread(self._fitting, typed)
        if self.is_open and typed == self._typed:
            self._show(typed, matches)

    def _fitting(self, typed: str) -> tuple[PaletteEntry, ...]:
        """Return the matches, in a thread. Expanded entries are reused until the list changes."""
        listed, entries = self._listed, self._all
        if entries is None:
            entries = tuple(expand_entries(listed))
            if listed is self._listed:
                self._all = entries
        return matching_entries(typed, entries)

    def _show(self, typed: str, entries: tuple[PaletteEntry, ...]) -> None:
        again, self._shown = typed == self._shown, typed
        self._findings.show(entries, self._findings.cursor if again else 0)
        self._show_description()
        if self._do_first:
            self._run_selected()

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        if self._shown == self._typed:
            self._run_selected()
        else:
            self._do_first = True

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self._run_selected()

    def _run_selected(self) -> None:
        """Run the entry under the cursor on the screen below."""
        self._do_first = False
        entry = self._findings.entry
        if entry is not None and not self.leaving:
            self.dismiss(None)
            self.app.call_later(entry.run)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._show_description()

    def _show_description(self) -> None:
        entry = self._findings.entry
        update_text(
            self.query_one(Static), Content(safe_word(entry.about, 200)) if entry is not None else Content()
        )
        themes = getattr(self.app, "theme_manager", None)
        if themes is not None and entry is not None and entry.kind == "theme":
            themes.preview(entry.name)
        elif themes is not None:
            themes.end_preview()

    def dismiss(self, result: None = None) -> AwaitComplete:
        """Close the palette; a theme that was only previewed is not kept."""
        themes = getattr(self.app, "theme_manager", None)
        if themes is not None:
            themes.end_preview()
        return super().dismiss(result)

    def action_move(self, by: int) -> None:
        """Move the cursor; it wraps around."""
        findings = self._findings
        if findings.line_count:
            findings.cursor = (findings.cursor + by) % findings.line_count

    def action_page(self, direction: int) -> None:
        self._findings.action_page(direction)

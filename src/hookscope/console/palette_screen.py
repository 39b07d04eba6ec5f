"""The palette: a field, and below it what fits, the first of which enter does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static
from textual.worker import Worker

from hookscope.console.dialog import TALL, Dialog
from hookscope.console.keymap.hints import ENTER, hints
from hookscope.console.lines import Lines
from hookscope.console.marks import MUTED, fitted, word
from hookscope.console.one_line import OneLine
from hookscope.console.painting import rewritten
from hookscope.console.palette import Entry, Listed, fitting, kept, listed, unasked, written_out
from hookscope.console.screen import MainScreen

KIND = 7  # cells of what it is, or of its key
NARROW, WIDE = 24, 32  # cells of its name
ROOMY = 80  # cells of a line from which names have more of them
TOLD = 2  # lines of what is said of the entry under the cursor
AROUND = 6 + TOLD  # lines of the frame, the field and the blank ones below and above the list


class Findings(Lines):
    """A line for each entry. It never has the focus: one types meanwhile."""

    DEFAULT_CSS = """
    Findings > .lines--cursor { background: $block-cursor-background; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.can_focus = False
        self.entries: tuple[Entry, ...] = ()

    @property
    def line_count(self) -> int:
        return len(self.entries)

    @property
    def entry(self) -> Entry | None:
        """What the cursor is on."""
        return self.entries[self.cursor] if self.entries else None

    @property
    def empty(self) -> Content:
        return Content.styled("Nothing fits.", MUTED)

    def line_at(self, index: int, width: int) -> Content:
        entry = self.entries[index]
        name = WIDE if width >= ROOMY else NARROW
        return Content.assemble(
            fitted(word(entry.kind), KIND, MUTED),
            fitted(word(entry.text), name) if entry.help else word(entry.text),
            ("  ", ""),
            (word(entry.help, 200), MUTED),
        )

    def show(self, entries: tuple[Entry, ...], at: int = 0) -> None:
        """List these, the cursor on that one."""
        self.entries = entries
        self.lines_changed()
        self.cursor = at

    def on_click(self, event: events.Click) -> None:
        """A click does it: nobody picks a line here to read it."""
        index = event.y + round(self.scroll_y)
        event.prevent_default()
        if 0 <= index < self.line_count:
            self.cursor = index
            self.action_choose()


class PaletteScreen(Dialog[None]):
    """Type to find, enter to do."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Back", id="find.leave", tooltip="Do nothing, go back"),
        Binding("down", "move(1)", "Down", show=False, priority=True, id="find.down", tooltip="The next one"),
        Binding("up", "move(-1)", "Up", show=False, priority=True, id="find.up", tooltip="The one before"),
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
    ]
    DEFAULT_CSS = """
    PaletteScreen {
        & > Vertical { width: 94%; max-width: 110; }
        & Input { background: transparent; margin: 0 0 1 0; }
        & Static { height: 2; margin: 1 0 0 0; color: $text-muted; }
    }
    """

    def __init__(self, below: Screen[Any]) -> None:
        """`below`: the screen whose actions are found."""
        super().__init__()
        self._asked_in = below
        self._listed: tuple[Listed, ...] = ()
        self._all: tuple[Entry, ...] | None = None  # written out for the first search
        self._shown = ""  # what was typed for what is listed
        self._do_first = False  # enter was pressed before that was found

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Find"
            frame.border_subtitle = hints((ENTER, "does it"), ("find.leave", "back"))
            found = "an action, a hook, an event, a saved event, a run"
            yield OneLine(placeholder=found, compact=True, select_on_focus=False)
            yield Findings()
            yield Static(markup=False)

    @property
    def _findings(self) -> Findings:
        return self.query_one(Findings)

    def on_mount(self) -> None:
        self._leave_room()
        self._list((*listed(self._asked_in),))
        below = self._asked_in
        if isinstance(below, MainScreen):
            self._work(partial(self._complete, below), "complete")

    async def _complete(self, below: MainScreen) -> None:
        """The actions of panes that are made on demand, then what lies on disk."""
        if not (below.fire_pane.furnished and below.hosts_pane.furnished):
            await below.fire_pane.with_its_parts()
            await below.hosts_pane.with_its_parts()
        on_disk = await kept(below)
        if self.stands:
            self._list((*listed(below), *on_disk))

    def _list(self, entries: tuple[Listed, ...]) -> None:
        """These can be found from now on; the cursor stays where it is."""
        self._listed, self._all = entries, None
        if self._typed:
            self._look(self._typed)
        else:
            self._findings.show(unasked(entries), self._findings.cursor)
            self._tell()

    @property
    def _typed(self) -> str:
        return self.query_one(Input).value.strip()

    @on(events.Resize)
    def _leave_room(self) -> None:
        """A frame of one height, whatever is found."""
        height = self.app.size.height
        around = AROUND + (2 if height >= TALL else 0)
        self._findings.styles.height = max(1, height * 88 // 100 - around)

    @on(Input.Changed)
    def _typed_more(self, event: Input.Changed) -> None:
        event.stop()
        self._do_first = False
        if self._typed:
            self._look(self._typed)
        else:
            self.workers.cancel_group(self, "look")
            self._show("", unasked(self._listed))

    def _look(self, typed: str) -> None:
        self._work(partial(self._looked, typed), "look")

    def _work(self, work: Callable[[], Coroutine[None, None, None]], group: str) -> None:
        """In place of what is still at work for the same: that may have been called by nobody yet."""
        _: Worker[None] = self.run_worker(work, group=group, exclusive=True, exit_on_error=False)

    async def _looked(self, typed: str) -> None:
        found = await asyncio.to_thread(self._fitting, typed)
        if self.stands and typed == self._typed:
            self._show(typed, found)

    def _fitting(self, typed: str) -> tuple[Entry, ...]:
        """In a thread. What was written out serves the next letter, unless more can be found by then."""
        listed, entries = self._listed, self._all
        if entries is None:
            entries = tuple(written_out(listed))
            if listed is self._listed:
                self._all = entries
        return fitting(typed, entries)

    def _show(self, typed: str, found: tuple[Entry, ...]) -> None:
        again, self._shown = typed == self._shown, typed
        self._findings.show(found, self._findings.cursor if again else 0)
        self._tell()
        if self._do_first:
            self._do()

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        if self._shown == self._typed:
            self._do()
        else:
            self._do_first = True

    @on(Lines.Chosen)
    def _clicked(self, event: Lines.Chosen) -> None:
        event.stop()
        self._do()

    def _do(self) -> None:
        """Do what the cursor is on, where it was asked for."""
        self._do_first = False
        entry = self._findings.entry
        if entry is not None and not self.leaving:
            self.dismiss(None)
            self.app.call_later(entry.run)

    @on(Lines.Moved)
    def _moved(self, event: Lines.Moved) -> None:
        event.stop()
        self._tell()

    def _tell(self) -> None:
        """All that is said of the entry under the cursor."""
        entry = self._findings.entry
        rewritten(self.query_one(Static), Content(word(entry.help, 200)) if entry is not None else Content())

    def action_move(self, by: int) -> None:
        """Move the cursor, from the last one to the first."""
        findings = self._findings
        if findings.line_count:
            findings.cursor = (findings.cursor + by) % findings.line_count

    def action_page(self, direction: int) -> None:
        self._findings.action_page(direction)

    def action_leave(self) -> None:
        self.dismiss(None)

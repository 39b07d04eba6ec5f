"""Dialogs to choose an event, an environment, hosts to compare, and another workspace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from hookscope.app.console_files import is_workspace, matching_folders, typed_path
from hookscope.console.dialogs.base_dialogs import Dialog, Picker, filtered, picker_keys
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints, with_keys
from hookscope.console.state.fire_requests import EnvironmentChosen
from hookscope.console.theme.text_styles import MARK_MUTED, counted, fixed_width, keep_tail, safe_word
from hookscope.console.widgets.lines import LineList
from hookscope.model.host import Dialect
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.variables import VariableSources


WIDEST_KEY = 30


@dataclass(frozen=True, slots=True)
class EventKeyRow:
    """An event that can be fired."""

    key: str
    when: str
    listeners: int
    emitted: bool


def event_key_rows(view: Snapshot) -> tuple[EventKeyRow, ...]:
    """Return every event of the host, then other keys that hooks are subscribed to."""
    catalogue = view.host.dialect.catalogue()
    rows = []
    for key in view.keys:
        exact, event_type = catalogue.by_key.get(key), catalogue.find(key)
        when = (
            exact.when if exact else f"a hook subscribes to it; {view.host.dialect.product} has no such event"
        )
        if exact is None and event_type is not None and event_type.open:
            when = f"your own: {event_type.when}"
        dialect = view.host.dialect
        event = dialect.event_of(key)
        received_keys = set(dialect.system_of(event.kind).keys(event))
        listeners = sum(bool(received_keys & set(row.events or ())) for row in view.inventory.hooks)
        rows.append(EventKeyRow(key, when, listeners, catalogue.sends(key)))
    return tuple(rows)


def event_key_prompt(row: EventKeyRow, width: int) -> Content:
    """Return a row of the list: key, number of subscribed hooks, and when it is sent."""
    listeners = counted(row.listeners, "hook") if row.listeners else "–"
    when = row.when if row.emitted else f"never sent · {row.when}"
    return Content.assemble(
        fixed_width(safe_word(row.key), width, "" if row.emitted else MARK_MUTED),
        (f" {listeners:>8}  ", "" if row.listeners else MARK_MUTED),
        (safe_word(when), MARK_MUTED),
    )


class EventPicker(Picker[EventKeyRow, str]):
    """A list of events: typing filters it, enter chooses. Event keys that are not listed can be typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="keys.cancel", tooltip="Keep the event"),
        *picker_keys("keys", "event"),
    ]
    WIDTH = 120

    def __init__(self, view: Snapshot, current: str = "", typed: str = "") -> None:
        super().__init__()
        self._rows = event_key_rows(view)
        self._current, self._typed = current, typed
        self._product = view.host.dialect.product

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content("Which event?")
            frame.border_subtitle = Content.assemble(
                f"{self._product} · {counted(len(self._rows), 'event')}   ",
                key_hints((ENTER_KEY, "choose"), ("keys.cancel", "back")),
            )
            yield Input(
                self._typed, placeholder="search, or type any event key", compact=True, select_on_focus=False
            )
            keys = OptionList(compact=True)
            keys.can_focus = False
            yield keys

    def on_mount(self) -> None:
        self._fill(self._typed)
        at = next((index for index, row in enumerate(self.found) if row.key == self._current), 0)
        self.query_one(OptionList).highlighted = at if self.found else None

    @on(Input.Changed)
    def _typed_more(self, event: Input.Changed) -> None:
        event.stop()
        self._fill(event.value)

    def _fill(self, typed: str) -> None:
        rows = filtered(typed, ((row.key, row.when, row) for row in self._rows))
        width = min(max((cell_len(safe_word(row.key)) for row in self._rows), default=10), WIDEST_KEY)
        none = f"{ENTER_KEY} uses {safe_word(typed)}" if typed.strip() else "no events here"
        self.list_rows(rows, (event_key_prompt(row, width) for row in rows), none)

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        typed = event.value.strip()
        exact = any(row.key == typed for row in self._rows)
        self.dismiss(typed if exact or self.row is None else self.row.key)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self.found[event.option_index].key)


NO_ENVIRONMENT = "none"


class EnvironmentScreen(Dialog[EnvironmentChosen | None]):
    """The environments of the workspace; enter chooses one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="environment.cancel", tooltip="Keep the environment")
    ]
    DEFAULT_CSS = """
    EnvironmentScreen {
        & > Vertical { width: 48; max-height: 80%; }
        & OptionList {
            height: auto; max-height: 100%; border: none; padding: 0; background: transparent;
            text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        }
    }
    """

    def __init__(self, filling: VariableSources) -> None:
        super().__init__()
        self._names: tuple[str | None, ...] = (None, *filling.environments)
        self._current = filling.chosen

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content("Which environment?")
            frame.border_subtitle = key_hints((ENTER_KEY, "choose"), ("environment.cancel", "back"))
            names = OptionList(*(Option(self._prompt(name)) for name in self._names), compact=True)
            names.highlighted = self._names.index(self._current) if self._current in self._names else 0
            yield names

    def _prompt(self, name: str | None) -> Content:
        mark = Content("● " if name == self._current else "  ")
        return mark + (
            Content.styled(NO_ENVIRONMENT, MARK_MUTED) if name is None else Content(safe_word(name, 40))
        )

    @on(OptionList.OptionSelected)
    def _taken(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(EnvironmentChosen(self._names[event.option_index]))


LEAST_HOSTS = 2
HOST_NAME_WIDTH = 24


class HostChoices(LineList):
    """A line for each dialect, with a mark if it is chosen."""

    def __init__(self, known: Sequence[Dialect], chosen: Collection[str]) -> None:
        super().__init__()
        self.known = known
        self.chosen = set(chosen)

    @property
    def line_count(self) -> int:
        return len(self.known)

    def line_at(self, index: int, width: int) -> Content:
        dialect = self.known[index]
        mark = Content.styled("✓ ", "$text-success") if dialect.name in self.chosen else Content("· ")
        return Content.assemble(mark, fixed_width(dialect.name, HOST_NAME_WIDTH), (dialect.title, MARK_MUTED))

    def turn(self) -> None:
        """Choose the dialect under the cursor, or exclude it."""
        self.chosen ^= {self.known[self.cursor].name}
        self.refresh()


class HostChooser(Dialog[tuple[str, ...] | None]):
    """All dialects with HOOK.md folders; the chosen ones are marked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", "Choose", id="chooser.turn", tooltip="Include or exclude this host"),
        Binding("enter", "take", "Compare", priority=True, id="chooser.take", tooltip="Compare these hosts"),
        Binding("escape", "dismiss(None)", "Back", id="chooser.leave", tooltip="Keep the hosts"),
    ]
    DEFAULT_CSS = """
    HostChooser {
        & > Vertical { width: 72; max-width: 94%; max-height: 90%; }
    }
    """

    def __init__(self, known: Sequence[Dialect], chosen: Collection[str]) -> None:
        super().__init__()
        self.choices = HostChoices(known, chosen)

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Which hosts?"
            frame.border_subtitle = key_hints(
                ("chooser.turn", "choose"), ("chooser.take", "compare"), ("chooser.leave", "back")
            )
            self.choices.styles.height = self.choices.line_count
            yield self.choices

    def on_mount(self) -> None:
        self.choices.lines_changed()
        self.choices.focus()

    def action_turn(self) -> None:
        self.choices.turn()

    def action_take(self) -> None:
        chosen = self.choices.chosen
        if len(chosen) < LEAST_HOSTS:
            message = with_keys("Choose at least two hosts: {chooser.turn} marks one.")
            self.app.notify(message, severity="warning", markup=False)
            return
        self.dismiss(tuple(dialect.name for dialect in self.choices.known if dialect.name in chosen))

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.choices.turn()  # click on the line under the cursor


PATH_NOTE = 13  # cells of a folder's note and its gap


def recent_workspaces(recent: Sequence[Path], typed: str) -> tuple[Path, ...]:
    """Return the workspaces whose path matches, the best first."""
    return filtered(typed, ((str(path), "", path) for path in recent))


class WorkspaceScreen(Picker[Path, Path]):
    """Lets the user choose a workspace; returns its folder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="workspaces.leave", tooltip="Stay in this workspace"),
        Binding(
            "tab",
            "complete",
            "Complete",
            priority=True,
            id="workspaces.complete",
            tooltip="Complete the path, and open its folder",
        ),
        *picker_keys("workspaces", "folder"),
    ]

    def __init__(self, recent: Sequence[Path], here: Path, base: Path) -> None:
        """`here`: the workspace that is open. Relative paths start at `base`."""
        super().__init__()
        self._recent = tuple(path for path in recent if path != here)
        self._base = base

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Open a workspace"
            frame.border_subtitle = key_hints(
                (ENTER_KEY, "open"), ("workspaces.complete", "complete"), ("workspaces.leave", "back")
            )
            yield Input(placeholder="a folder; recent ones are listed", compact=True)
            yield OptionList(markup=False)

    async def on_mount(self) -> None:
        await self._fill("")

    @on(Input.Changed)
    async def _typed(self, event: Input.Changed) -> None:
        event.stop()
        await self._fill(event.value)

    async def _fill(self, typed: str) -> None:
        recent = recent_workspaces(self._recent, typed)
        below = await asyncio.to_thread(matching_folders, typed, self._base) if typed.strip() else ()
        if typed != self.typed:
            return  # more was typed meanwhile
        rows = tuple(dict.fromkeys((*recent, *below)))
        none = (
            "No folder matches this text." if typed.strip() else "No other workspace is known: type a path."
        )
        longest = max((cell_len(safe_word(str(path), 400)) for path in rows), default=0)
        width = min(longest, self.room - PATH_NOTE)
        self.list_rows(rows, (self._prompt(path, path in recent, width) for path in rows), none)

    @staticmethod
    def _prompt(path: Path, recent: bool, width: int) -> Content:
        note = "recent" if recent else "has hooks" if is_workspace(path) else ""
        shown = keep_tail(Content(safe_word(str(path), 400)), width)
        return Content.assemble(shown.truncate(width, pad=True), "  ", (note, MARK_MUTED))

    def action_complete(self) -> None:
        row, box = self.row, self.query_one(Input)
        if row is not None:
            box.value = f"{row}/"
            box.cursor_position = len(box.value)
        else:
            self.app.notify("No folder matches.", markup=False)

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        typed = event.value.strip()
        folder = typed_path(typed, self._base) if typed else None
        if folder is not None and os.path.isdir(folder):
            self.dismiss(folder.resolve())
        elif self.row is not None:
            self.dismiss(self.row)
        else:
            self.app.notify("There is no such folder.", severity="warning", markup=False)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.row is not None:
            self.dismiss(self.row)

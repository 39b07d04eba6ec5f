"""Dialogs to choose hosts to compare, and another workspace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList

from hookscope.app.workspaces import is_workspace, matching_folders, typed_path
from hookscope.console.dialogs.base_dialogs import Dialog, Picker, holds_words
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints, with_keys
from hookscope.console.theme.text_styles import MARK_MUTED, fixed_width, keep_tail, safe_word
from hookscope.console.widgets.lines import LineList
from hookscope.model.host import Dialect

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
        Binding("space", "turn", "Choose", id="chooser.turn", tooltip="Choose this host, or leave it out"),
        Binding(
            "enter", "take", "Take", priority=True, id="chooser.take", tooltip="Put these hosts side by side"
        ),
        Binding("escape,h", "leave", "Back", id="chooser.leave", tooltip="Leave the hosts as they are"),
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
            frame.border_title = "Hosts side by side"
            frame.border_subtitle = key_hints(
                ("chooser.turn", "choose"), ("chooser.take", "take"), ("chooser.leave", "back")
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
            message = with_keys("Choose two hosts or more: {chooser.turn} marks one.")
            self.app.notify(message, severity="warning", markup=False)
            return
        self.dismiss(tuple(dialect.name for dialect in self.choices.known if dialect.name in chosen))

    def on_line_list_chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self.choices.turn()  # click on the line under the cursor

    def action_leave(self) -> None:
        self.dismiss(None)


PATH_NOTE = 13  # cells of a folder's note and its gap


def recent_workspaces(recent: Sequence[Path], typed: str) -> tuple[Path, ...]:
    """Return the workspaces whose path contains every typed word."""
    return tuple(path for path in recent if holds_words(str(path), typed))


class WorkspaceScreen(Picker[Path, Path]):
    """Asks for a workspace; answers with a folder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="workspaces.leave", tooltip="Stay in this workspace"),
        Binding(
            "tab",
            "complete",
            "Complete",
            priority=True,
            id="workspaces.complete",
            tooltip="Write the path under the cursor, and go on into it",
        ),
        Binding(
            "down",
            "move(1)",
            "Down",
            show=False,
            priority=True,
            id="workspaces.down",
            tooltip="The next folder",
        ),
        Binding(
            "up", "move(-1)", "Up", show=False, priority=True, id="workspaces.up", tooltip="The folder before"
        ),
    ]

    def __init__(self, recent: Sequence[Path], here: Path, base: Path) -> None:
        """`here`: the workspace that is open. Relative paths start at `base`."""
        super().__init__()
        self._recent = tuple(path for path in recent if path != here)
        self._base = base

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Open another workspace"
            frame.border_subtitle = key_hints(
                (ENTER_KEY, "open"), ("workspaces.complete", "complete"), ("workspaces.leave", "back")
            )
            yield Input(placeholder="a folder; those used last are listed", compact=True)
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
        none = "No folder begins so." if typed.strip() else "No other one is known: type a path."
        longest = max((cell_len(safe_word(str(path), 400)) for path in rows), default=0)
        width = min(longest, self.room - PATH_NOTE)
        self.list_rows(rows, (self._prompt(path, path in recent, width) for path in rows), none)

    @staticmethod
    def _prompt(path: Path, recent: bool, width: int) -> Content:
        note = "open lately" if recent else "has hooks" if is_workspace(path) else ""
        shown = keep_tail(Content(safe_word(str(path), 400)), width)
        return Content.assemble(shown.truncate(width, pad=True), "  ", (note, MARK_MUTED))

    def action_complete(self) -> None:
        row, box = self.row, self.query_one(Input)
        if row is not None:
            box.value = f"{row}/"
            box.cursor_position = len(box.value)
        else:
            self.app.notify("No folder fits: there is nothing to complete.", markup=False)

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

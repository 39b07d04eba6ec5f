"""Asks for a workspace: one of those used last, or a path that is completed as it is typed."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from rich.cells import cell_len
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList

from hookscope.console.cutting import tail
from hookscope.console.keymap.hints import ENTER, hints
from hookscope.console.marks import MUTED, word
from hookscope.console.picking import Picker, holds
from hookscope.workbench.workspaces import folders_like, looks_like_one, path_meant

NOTE = 13  # cells of what is said of a folder, and before it


def recent_ones(recent: Sequence[Path], typed: str) -> tuple[Path, ...]:
    """The workspaces in whose path every typed word stands."""
    return tuple(path for path in recent if holds(str(path), typed))


class WorkspaceScreen(Picker[Path, Path]):
    """Answers with a folder."""

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
        """`here`: the workspace that is open. Relative paths count from `base`."""
        super().__init__()
        self._recent = tuple(path for path in recent if path != here)
        self._base = base

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Open another workspace"
            frame.border_subtitle = hints(
                (ENTER, "open"), ("workspaces.complete", "complete"), ("workspaces.leave", "back")
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
        recent = recent_ones(self._recent, typed)
        below = await asyncio.to_thread(folders_like, typed, self._base) if typed.strip() else ()
        if typed != self.typed:
            return  # more was typed meanwhile
        rows = tuple(dict.fromkeys((*recent, *below)))
        none = "No folder begins so." if typed.strip() else "No other one is known: type a path."
        longest = max((cell_len(word(str(path), 400)) for path in rows), default=0)
        width = min(longest, self.room - NOTE)
        self.list_rows(rows, (self._prompt(path, path in recent, width) for path in rows), none)

    @staticmethod
    def _prompt(path: Path, recent: bool, width: int) -> Content:
        note = "open lately" if recent else "has hooks" if looks_like_one(path) else ""
        shown = tail(Content(word(str(path), 400)), width)
        return Content.assemble(shown.truncate(width, pad=True), "  ", (note, MUTED))

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
        whole = path_meant(typed, self._base) if typed else None
        if whole is not None and os.path.isdir(whole):
            self.dismiss(whole.resolve())
        elif self.row is not None:
            self.dismiss(self.row)
        else:
            self.app.notify("There is no such folder.", severity="warning", markup=False)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self.row is not None:
            self.dismiss(self.row)

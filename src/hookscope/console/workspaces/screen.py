"""Asks for a workspace: one of those used last, or a path that is completed as it is typed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from hookscope.console.fire.marks import MUTED, word
from hookscope.console.keymap.hints import ENTER, hints
from hookscope.workbench.workspaces import folders_like, looks_like_one, path_meant


def recent_ones(recent: Sequence[Path], typed: str) -> tuple[Path, ...]:
    """The workspaces in whose path every typed word stands."""
    words = typed.casefold().split()
    return tuple(path for path in recent if all(word in str(path).casefold() for word in words))


class WorkspaceScreen(ModalScreen[Path | None]):
    """Answers with a folder."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Back", id="workspaces.leave", tooltip="Stay in this workspace"),
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
    DEFAULT_CSS = """
    WorkspaceScreen {
        align: center middle;
        & > Vertical {
            width: 90%; max-width: 96; height: auto; max-height: 80%;
            border: round $border; border-title-color: $foreground; border-title-style: none;
            border-subtitle-color: $text-muted;
            background: $surface; padding: 0 1;
        }
        & Input { background: transparent; margin: 0 0 1 0; }
        & OptionList {
            height: auto; max-height: 100%; border: none; padding: 0; background: transparent;
            text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        }
    }
    """

    def __init__(self, recent: Sequence[Path], here: Path, base: Path) -> None:
        """`here`: the workspace that is open. Relative paths count from `base`."""
        super().__init__()
        self._recent = tuple(path for path in recent if path != here)
        self._base = base
        self._found: tuple[Path, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Open another workspace"
            frame.border_subtitle = (
                f"{ENTER} open   {hints(('workspaces.complete', 'complete'), ('workspaces.leave', 'back'))}"
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
        listed, recent = self.query_one(OptionList), recent_ones(self._recent, typed)
        below = await asyncio.to_thread(folders_like, typed, self._base) if typed.strip() else ()
        if typed != self.query_one(Input).value:
            return  # more was typed meanwhile
        self._found = tuple(dict.fromkeys((*recent, *below)))
        listed.set_options(Option(self._prompt(path, path in recent)) for path in self._found)
        if not self._found:
            text = "No folder begins so." if typed.strip() else "None was open yet: type a path."
            listed.add_option(Option(Content.styled(text, MUTED), disabled=True))
        listed.highlighted = 0 if self._found else None

    @staticmethod
    def _prompt(path: Path, recent: bool) -> Content:
        note = "open lately" if recent else "has hooks" if looks_like_one(path) else ""
        return Content.assemble(word(str(path), 400), "  ", (note, MUTED))

    @property
    def _row(self) -> Path | None:
        at = self.query_one(OptionList).highlighted
        return self._found[at] if at is not None and at < len(self._found) else None

    def action_move(self, by: int) -> None:
        listed = self.query_one(OptionList)
        (listed.action_cursor_down if by > 0 else listed.action_cursor_up)()

    def action_complete(self) -> None:
        row, box = self._row, self.query_one(Input)
        if row is not None:
            box.value = f"{row}/"
            box.cursor_position = len(box.value)

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        event.stop()
        typed = event.value.strip()
        whole = path_meant(typed, self._base) if typed else None
        if whole is not None and whole.is_dir():
            self.dismiss(whole.resolve())
        elif self._row is not None:
            self.dismiss(self._row)
        else:
            self.app.notify("There is no such folder.", severity="warning", markup=False)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if self._row is not None:
            self.dismiss(self._row)

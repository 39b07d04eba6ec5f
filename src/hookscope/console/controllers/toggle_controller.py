"""Switches hooks on and off, and undoes edits. The edit is shown before it is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.console.dialogs.edit_preview import (
    EditQuestion,
    EditScreen,
    ForgetScreen,
    stuck_sheet,
    toggle_sheet,
    undo_sheet,
)
from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.state.messages import (
    SettingsWritten,
    Severity,
    TogglePlanned,
    ToggleRequested,
    UndoPlanned,
)

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.toggle import Toggle, Undoing
    from hookscope.console.context import ConsoleContext
    from hookscope.storage.edits.change import Change


class EditController:
    """From a wish to an edit on disk. The first toggle of a sitting is shown before it is written."""

    def __init__(self, context: ConsoleContext, taken_back: Callable[[Sequence[Path]], object]) -> None:
        """`taken_back`: these files are as they were before."""
        self.context, self._taken_back = context, taken_back
        self._shown = False  # has a toggle's edit been shown in this sitting

    def toggle(self, asked: ToggleRequested) -> None:
        """Find out what it takes."""
        if self.context.state.view is not None:
            self.context.bridge.plan_toggle(self.context.state.view, asked.name, asked.on)

    def toggle_planned(self, planned: TogglePlanned) -> None:
        """Show the edit, or write it."""
        toggle, view, bridge = planned.toggle, self.context.state.view, self.context.bridge
        if toggle is None or view is None:
            self._say(planned.problem or "Still looking.")
        elif not toggle.needed:
            self._say(f"{toggle.name} is {toggle.after} already.")
        elif self._shown:
            bridge.apply_toggle(toggle)
        else:
            title = f"Switch {'on' if toggle.on else 'off'}?"
            sheet = toggle_sheet(toggle, view.host.machine)
            self._ask(
                EditScreen(title, sheet, with_keys("{hooks.undo} undoes it later   shown once")),
                self._agreed(toggle),
            )

    def _agreed(self, toggle: Toggle) -> Callable[[], None]:
        def write() -> None:
            self._shown = True
            self.context.bridge.apply_toggle(toggle)

        return write

    def undo_planned(self, planned: UndoPlanned) -> None:
        """Take the last edit back, give it up, or say why neither can be."""
        undoing, view = planned.undoing, self.context.state.view
        if planned.stuck is not None and view is not None:
            stuck = planned.stuck
            sheet = stuck_sheet(planned.problem, stuck, view.host.machine)
            self._ask(ForgetScreen("Give up this undo?", sheet), lambda: self._give_up(stuck))
        elif undoing is None or view is None:
            self._say(planned.problem or "Still looking.")
        else:
            self._take_back(undoing, view)

    def _take_back(self, undoing: Undoing, view: Snapshot) -> None:
        """Ask first where its file has changed since, and where it was not made here."""
        bridge = self.context.bridge
        ours = self.context.bench.edits.is_own(undoing.change)
        if ours and not undoing.file_changed:
            bridge.apply_undo(undoing)
            return
        sheet = undo_sheet(undoing, view.host.machine, ours=ours)
        self._ask(EditScreen("Take back this edit?", sheet), lambda: bridge.apply_undo(undoing))

    def _give_up(self, change: Change) -> None:
        """Forget an edit that cannot be taken back."""
        edits = self.context.bench.edits
        told = SettingsWritten("undo", f"forgotten: {change.meaning}")
        self.context.bridge.ask("settings", lambda: edits.forget(change), lambda _: self.written(told))

    def written(self, written: SettingsWritten) -> None:
        """An edit is on disk, or could not be: say so, and look."""
        if written.problem:
            self._say(written.problem)
            return
        self.context.log_line("config", written.text, subject=written.subject)
        if written.text.startswith("on, but") or written.subject == "undo":
            self._say(f"{written.subject}: {written.text}", "information")
        if written.files:
            self._taken_back(written.files)
        self.context.bridge.look()

    def _ask(self, question: EditQuestion, write: Callable[[], None]) -> None:
        def answered(agreed: bool | None) -> None:
            if agreed:
                write()

        self.context.push_dialog(question, answered)

    def _say(self, text: str, severity: Severity = "warning") -> None:
        self.context.notify(text, severity)

"""Creates a hook, pack, plugin or module: asks for it, writes it, selects it and opens the editor."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.preferences import editor_of
from hookscope.console.keymap.active_keys import key_of
from hookscope.console.state.messages import EditorRequested
from hookscope.console.state.state_changes import RowJumpedTo
from hookscope.console.theme.text_styles import counted
from hookscope.model.failure import Refusal
from hookscope.model.hook import FilePosition
from hookscope.model.text import one_line

if TYPE_CHECKING:
    from hookscope.authoring.scaffold.request import ScaffoldRequest
    from hookscope.authoring.scaffold.scaffold_plan import ScaffoldPlan
    from hookscope.authoring.scaffold.scaffold_writer import ScaffoldResult
    from hookscope.console.context import ConsoleContext
    from hookscope.console.dialogs.new_hook_form import NewHookAnswer

SCAFFOLD_GROUP = "new"


class ScaffoldController:
    """Creates new hooks and packs. Files are previewed before they are written."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        self._awaited: Path | None = None  # the new hook, which no scan has found yet

    def ask(self) -> None:
        """Open the form."""
        view = self.context.scanned()
        if view is None:
            return
        from hookscope.console.dialogs.new_hook_form import NewHookForm

        self.context.push_dialog(NewHookForm(view, self._plan), self._agreed)

    def _plan(self, wish: ScaffoldRequest, answered: NewHookAnswer) -> None:
        bench, view = self.context.bench, self.context.state.view
        if view is None:
            return

        def planning() -> ScaffoldPlan | str:
            from hookscope.authoring.scaffold.scaffold_writer import plan_new

            try:
                return plan_new(bench, view, wish)
            except Refusal as refused:
                return str(refused)

        self.context.bridge.ask(SCAFFOLD_GROUP, planning, answered)

    def _agreed(self, scaffold: ScaffoldPlan | None) -> None:
        if scaffold is None:
            return

        def writing() -> ScaffoldResult:
            from hookscope.authoring.scaffold.scaffold_writer import write_scaffold

            return write_scaffold(self.context.bench, scaffold)

        self.context.bridge.ask(SCAFFOLD_GROUP, writing, self._written)

    def _written(self, made: ScaffoldResult) -> None:
        scaffold = made.plan
        name = one_line(scaffold.request.name, 60)
        what = f"{scaffold.kind}, {counted(len(scaffold.files), 'file')}"
        self.context.log_line("new", f"{what} in {scaffold.root}", subject=name)
        for note in made.notes:
            self.context.log_line("new", note, "warning", name)
        first = made.statuses[0] if made.statuses else None
        if first is None or first.row is None:
            said = f"{name} is created, but not listed here. Next: {made.next_commands[0]}"
        elif first.failed_gates:
            said = f"{name} is created, but {first.row.state}: {one_line(first.failed_gates[0].reason, 160)}"
        else:
            fire, undo = key_of("hooks.fire"), key_of("hooks.undo")
            said = f"{name} is created and ready: {fire} fires an event, {undo} undoes the creation."
        self.context.notify(said)
        self._awaited = scaffold.main_file
        self.context.bridge.scan()
        if editor_of(os.environ):  # a scan follows when it ends
            self.context.post(EditorRequested(FilePosition(scaffold.main_file)))

    def scanned(self) -> None:
        """Select the new hook as soon as a scan has found it."""
        if self._awaited is None:
            return
        found = (row for row in self.context.state.rows if row.hook and row.hook.handler == self._awaited)
        row = next(found, None)
        if row is not None:
            self._awaited = None
            self.context.change(RowJumpedTo(row.id))

"""Reads the files of the selected hook, once nobody passes it by on the way to another one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hookscope.model.hook_status import HookStatus

if TYPE_CHECKING:
    from textual.timer import Timer

    from hookscope.app.runs.activation_links import Activity
    from hookscope.console.context import ConsoleContext

SELECTION_DELAY = 0.1  # seconds that a hook is selected before its files are read: nobody reads faster


class SourceReader:
    """Reads once for each selection, scan and run."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        # The row whose file was asked for, in which look, during which run.
        self._reading = ("", 0, "")
        self._passing: Timer | None = None  # whether that row is passed by on the way to another one

    def read_selected(self) -> None:
        """Read what belongs beside the selected row, unless that is on its way."""
        state = self.context.state
        row, view = state.row, state.view
        if row is None or view is None:
            return
        reading = (row.id, state.generation, state.job)
        if self._reading == reading:
            return
        self._reading = reading
        if self._passing is not None:
            self._passing.stop()
        reads = partial(self.context.bridge.read, row.id, row.manifest, row.item, view)
        self._passing = self.context.after(SELECTION_DELAY, reads, "read")

    def happened(self, what: Activity) -> None:
        """Others did this: what has come of the selected hook is read anew, if it is about that one."""
        row, view = self.context.state.row, self.context.state.view
        if row is None or view is None or not isinstance(row.item, HookStatus):
            return
        if what.concerns(row.item, view):
            self._reading = ("", 0, "")
            self.read_selected()

"""Takes what a scan has found to whoever acts on it, reports it in the log, and scans again after saves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hookscope.console.process import preload
from hookscope.console.state.messages import FilesChanged, PastRunsLoaded, StateChanged
from hookscope.console.state.state_changes import ScanFailed, ScanFinished, WatchedFilesChanged
from hookscope.model.hook_status import HookStatus
from hookscope.model.text import local_now

if TYPE_CHECKING:
    from textual.timer import Timer

    from hookscope.app.runs.activation_chain import Activity
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.context import ConsoleContext
    from hookscope.console.state.console_state import ConsoleState
    from hookscope.console.state.log_entries import LogEntry


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


NEW_FOLDER_DELAY = 0.5  # seconds in which a file is there whose folder has just come


class ScanListener(Protocol):
    """Who acts on scans."""

    def looked(self, view: Snapshot) -> None:
        """A scan has ended."""

    def look_failed(self) -> None:
        """A scan could not be made."""

    def first_looked(self, view: Snapshot) -> None:
        """The first scan has ended, and its hooks are on the screen."""

    def follow(self, view: Snapshot) -> None:
        """Watch what belongs to this view from now on."""

    def saved_files(self, paths: frozenset[Path]) -> None:
        """Files were saved; a scan of them follows."""


class ScanController:
    """Scans, and what is said of them."""

    def __init__(self, context: ConsoleContext, listener: ScanListener, *, watches: bool) -> None:
        """`watches`: scan again when files change."""
        self.context, self._listener, self._watches = context, listener, watches
        self._told_to_look = False  # by its user, who wants an answer in any case
        self._first_look: Sequence[LogEntry] = ()  # stands in the log below what was before it

    def look(self) -> None:
        """Scan, as the user has asked."""
        self._told_to_look = True
        self.context.bridge.look()

    def changed(self, message: StateChanged) -> None:
        """Reduce a change into the state; what a scan has found goes to whoever acts on it."""
        context, change = self.context, message.change
        before = context.state
        context.change(change)
        if isinstance(change, ScanFinished):
            self._looked(before, change)
        elif isinstance(change, ScanFailed):
            context.bridge.look_ended()
            self._listener.look_failed()
            context.log_line("look", change.text, "error")
            context.notify(f"Looking failed: {change.text}", "error")

    def _looked(self, before: ConsoleState, look: ScanFinished) -> None:
        from hookscope.console.state import log_messages  # here, and below: the first paint tells nothing yet

        context, first = self.context, before.view is None
        entries = log_messages.scan_entries(local_now(), before.rows, context.state.rows, look.took, first)
        if first:
            self._first_look = entries
        else:
            context.log_entries(entries)
        if not first and len(entries) == 1 and self._told_to_look:
            context.notify("Looked again: nothing is different.")
        elif not first and len(entries) > 1 and "list" not in context.panes.shown:
            context.notify(f"Looked again: {len(entries) - 1} different. The log says which.")
        self._told_to_look = False
        self._listener.looked(look.view)
        if first:
            context.after_paint(partial(self._first_rows, look))  # they stand there before all this begins
        else:
            self._follow(look)

    def _first_rows(self, look: ScanFinished) -> None:
        """The first hooks are on the screen: what was before, and what is to come."""
        self._listener.first_looked(look.view)
        self._follow(look)
        preload()

    def _follow(self, look: ScanFinished) -> None:
        """Hear of what happens on disk from now on."""
        self._listener.follow(look.view)
        if self._watches:
            self.context.change(WatchedFilesChanged(self.context.bridge.follow(look.view)))

    def files_changed(self, event: FilesChanged) -> None:
        """Files changed on disk: scan, unless only what Hookscope has learned of hooks did."""
        from hookscope.console.state import log_messages

        context, bridge = self.context, self.context.bridge
        saved = frozenset(path for path in event.paths if not bridge.is_learned(path))
        if not saved:
            self._learned()
            if not event.paths <= set(
                context.bench.shared_state_files
            ):  # their folder: they come a moment later
                context.after(NEW_FOLDER_DELAY, self._learned, "new folder")
            return
        if context.state.view is not None:
            context.log_entries(log_messages.saved_file_entries(local_now(), saved, context.state.view))
        self._listener.saved_files(saved)
        bridge.look()

    def _learned(self) -> None:
        """Another command has trusted or loaded something, perhaps: no save that an armed event waits for."""
        view = self.context.state.view
        if view is None:
            return
        if self.context.bench.is_outdated(view):
            self.context.bridge.look()
        elif self._watches:
            self.context.bridge.follow(view)

    def past_runs(self, event: PastRunsLoaded) -> None:
        """What was fired here before: in the Fire pane, and in the log below the first scan."""
        from hookscope.console.state import log_messages

        self.context.panes.remember(event.runs)
        others = log_messages.skipped_run_entries(local_now(), event.others)
        runs = (log_messages.past_run_entry(run) for run in event.runs)
        self.context.log_entries([*others, *runs, *self._first_look])
        self._first_look = ()

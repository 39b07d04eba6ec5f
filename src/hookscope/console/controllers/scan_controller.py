"""Passes scan results on, reports them in the log, and scans again after saves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hookscope.console.process import preload
from hookscope.console.state.messages import FilesChanged, PastRunsLoaded, StateChanged
from hookscope.console.state.state_changes import (
    ScanFailed,
    ScanFinished,
    VerificationShown,
    WatchedFilesChanged,
)
from hookscope.console.theme.text_styles import counted
from hookscope.model.hook_status import HookStatus
from hookscope.model.text import local_now

if TYPE_CHECKING:
    from textual.timer import Timer

    from hookscope.app.runs.activation_chain import Activity
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.context import ConsoleContext
    from hookscope.console.state.console_state import ConsoleState
    from hookscope.console.state.log_entries import LogEntry


SELECTION_DELAY = 0.1  # seconds from a selection to reading its files: spares rows that are passed
AGE_INTERVAL = 10.0  # seconds after which "2 min ago" is outdated


class SourceReader:
    """Reads the selected hook's file once for each selection, scan and run."""

    def __init__(self, context: ConsoleContext) -> None:
        self.context = context
        # What was read last: the row, the scan, and the job with the event.
        self._reading = ("", 0, "")
        self._passing: Timer | None = None  # the delay before the selected row is read
        self._aging: Timer | None = None  # until the ages of the selected row are read again

    def read_selected(self) -> None:
        """Read the file of the selected row, unless that is in progress."""
        state = self.context.state
        row, view = state.row, state.view
        if row is None or view is None:
            return
        reading = (row.id, state.generation, f"{state.job} {state.asked_event}")
        if self._reading == reading:
            return
        self._reading = reading
        if self._passing is not None:
            self._passing.stop()
        reads = partial(self.context.bridge.read, row.id, row.manifest, row.item, view, state.asked_event)
        self._passing = self.context.after(SELECTION_DELAY, reads, "read")
        self._await_ages()

    def _await_ages(self) -> None:
        if self._aging is not None:
            self._aging.stop()
        self._aging = self.context.after(AGE_INTERVAL, self._refresh_ages, "ages")

    def _refresh_ages(self) -> None:
        """Read the selected hook's history again if the Why pane is visible and shows an age."""
        checked = self.context.state.checked
        if "why" in self.context.panes.shown and checked and any(link.at for link in checked.links):
            self._read_again()
        else:
            self._await_ages()

    def _read_again(self) -> None:
        self._reading = ("", 0, "")
        self.read_selected()

    def note_activity(self, activity: Activity) -> None:
        """Read the selected hook's history again if new activity concerns it."""
        row, view = self.context.state.row, self.context.state.view
        if row is None or view is None or not isinstance(row.item, HookStatus):
            return
        if activity.concerns(row.item, view):
            self._read_again()


NEW_FOLDER_DELAY = 0.5  # seconds after which a new folder has its file


class ScanListener(Protocol):
    """Receives the results of scans."""

    def scanned(self, view: Snapshot) -> None: ...

    def after_failed_scan(self) -> None: ...

    def after_first_scan(self, view: Snapshot) -> None:
        """The first scan has ended, and its hooks are visible."""

    def follow(self, view: Snapshot) -> None:
        """Watch what belongs to this snapshot from now on."""

    def saved_files(self, paths: frozenset[Path]) -> None:
        """Files were saved; a scan follows."""


class ScanController:
    """Scans, and reports the results."""

    def __init__(self, context: ConsoleContext, listener: ScanListener, *, watches: bool) -> None:
        """`watches`: scan again when files change."""
        self.context, self._listener, self._watches = context, listener, watches
        self._is_requested = False  # by the user: the result is reported in any case
        self._first_entries: Sequence[LogEntry] = ()  # shown in the log below earlier runs

    def scan(self) -> None:
        """Scan because the user requested it."""
        self._is_requested = True
        self.context.bridge.scan()

    def changed(self, message: StateChanged) -> None:
        """Apply a change to the state; pass on the result of a scan."""
        context, change = self.context, message.change
        before = context.state
        context.change(change)
        if isinstance(change, ScanFinished):
            self._scan_finished(before, change)
        elif isinstance(change, ScanFailed):
            context.bridge.scan_ended()
            self._listener.after_failed_scan()
            text = f"The scan failed: {change.text}"
            context.log_line("scan", text, "error", toast=text)

    def _scan_finished(self, before: ConsoleState, scan: ScanFinished) -> None:
        from hookscope.console.state import log_messages  # not needed for the first paint

        context, first = self.context, before.view is None
        entries = log_messages.scan_entries(local_now(), before.rows, context.state.rows, scan.took, first)
        if first:
            self._first_entries = entries
        else:
            context.log_entries(entries)
        if not first and len(entries) == 1 and self._is_requested:
            context.notify("Scanned again: no changes.")
        elif not first and len(entries) > 1 and "list" not in context.panes.shown:
            changes = counted(len(entries) - 1, "change")
            context.notify(f"Scanned again: {changes}, listed in the log.")
        self._is_requested = False
        self._listener.scanned(scan.view)
        if first:
            context.after_paint(partial(self._first_rows, scan))  # show the hooks before all this begins
        else:
            self._follow(scan)

    def _first_rows(self, scan: ScanFinished) -> None:
        """Load earlier runs and start watching, now that the first hooks are visible."""
        self._listener.after_first_scan(scan.view)
        self._follow(scan)
        preload()

    def _follow(self, scan: ScanFinished) -> None:
        """Watch the files on disk from now on."""
        self._listener.follow(scan.view)
        if self._watches:
            self.context.change(WatchedFilesChanged(self.context.bridge.follow(scan.view)))

    def files_changed(self, event: FilesChanged) -> None:
        """Handle changed files: scan, unless only Hookscope's own state changed."""
        from hookscope.console.state import log_messages

        context, bridge = self.context, self.context.bridge
        saved = frozenset(path for path in event.paths if not bridge.is_shared_state(path))
        if not saved:
            self._shared_state_changed()
            if not event.paths <= set(context.bench.shared_state_files):  # a new folder: its files follow
                context.after(NEW_FOLDER_DELAY, self._shared_state_changed, "new folder")
            return
        if context.state.view is not None:
            context.log_entries(log_messages.saved_file_entries(local_now(), saved, context.state.view))
        context.change(VerificationShown(""))
        self._listener.saved_files(saved)
        bridge.scan()

    def _shared_state_changed(self) -> None:
        """Scan again if another command has trusted or loaded something. Armed events do not fire."""
        view = self.context.state.view
        if view is None:
            return
        if self.context.bench.is_outdated(view):
            self.context.bridge.scan()
        elif self._watches:
            self.context.bridge.follow(view)

    def past_runs(self, event: PastRunsLoaded) -> None:
        """Show earlier runs in the Fire pane, and in the log among the other entries, in order of time."""
        from hookscope.console.state import log_messages

        self.context.panes.remember(event.runs)
        others = log_messages.skipped_run_entries(local_now(), event.others)
        runs = (entry for run in event.runs for entry in log_messages.past_run_entries(run))
        self.context.log_entries([*others, *runs, *self._first_entries])
        self.context.panes.log.sort_by_time()
        self._first_entries = ()

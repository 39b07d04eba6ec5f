"""Shows real events and external runs in the log; opens, saves and summarizes real events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.app.runs.activation_chain import Activity, activity_of_runs
from hookscope.app.runs.past_runs import ExternalRuns
from hookscope.console.state import log_messages
from hookscope.console.state.messages import RealEventsReported
from hookscope.console.state.state_changes import ModeChosen
from hookscope.model.text import local_now
from hookscope.recording.spool import ArrivedEvents, SpoolFollower
from hookscope.recording.tap_files import spool_path

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.authoring.testing.recorded_events import SavedRecordedEvent
    from hookscope.console.context import ConsoleContext
    from hookscope.model.run import Event
    from hookscope.recording.spool import RecordedEvent

REAL_GROUP = "real events"


class RealEventsController:
    """Follows recorded events and external runs. Everything is read in threads."""

    def __init__(self, context: ConsoleContext, on_activity: Callable[[Activity], object]) -> None:
        """`on_activity` is called with the hooks that new events or runs concern."""
        self.context, self._happened = context, on_activity
        self._follow = SpoolFollower(self._report_arrived)
        self._elsewhere = ExternalRuns(self._ran)

    def scanned(self, view: Snapshot) -> None:
        """Follow the spool of this host and the journal of this workspace from now on."""
        self._follow.follow(spool_path(view.host))
        self._elsewhere.follow(view.host)

    def close(self) -> None:
        """Stop following."""
        self._follow.close()
        self._elsewhere.close()

    def _report_arrived(self, show: ArrivedEvents) -> None:
        """Post new events as log lines. Runs in the thread that follows the spool: events may be large."""
        heard = Activity(frozenset(event.key for event in show.events))
        self.context.post(
            RealEventsReported(tuple(log_messages.real_event_entries(local_now(), show)), heard)
        )

    def _ran(self, runs: tuple[PastRun, ...]) -> None:
        """Post new external runs. Runs in the thread that follows the journal."""
        now = local_now()
        entries = tuple(log_messages.external_run_entry(now, past) for past in runs)
        self.context.post(RealEventsReported(entries, activity_of_runs(runs), runs))

    def show(self, event: RealEventsReported) -> None:
        """Show new events in the log, and new runs in the Fire pane too."""
        self.context.log_entries(event.entries)
        self.context.panes.remember(event.runs)
        self._happened(event.happened)

    def open(self, name: str) -> None:
        """Put a real event into the composer, marked as real for its handlers."""
        view = self.context.scanned()
        if view is None:
            return

        def reading() -> tuple[RecordedEvent, Event]:
            from hookscope.authoring.testing.recorded_events import (
                event_from_recorded,
                marked_as_real,
                select_recorded,
            )

            (heard,) = select_recorded(view, [name])
            return heard, marked_as_real(event_from_recorded(heard, view.host), heard)

        self.context.bridge.ask(REAL_GROUP, reading, lambda found: self._opened(*found), opens=True)

    def _opened(self, heard: RecordedEvent, event: Event) -> None:
        self.context.change(ModeChosen("fire"))
        self.context.panes.fire_pane.event_view.load_event(event)
        if heard.cut:
            self.context.notify("Parts of this event were shortened when it was recorded.", "warning")

    def save(self, name: str) -> None:
        """Save a real event as a saved event."""
        view = self.context.scanned()
        if view is None:
            return

        def saving() -> SavedRecordedEvent:
            from hookscope.authoring.testing.recorded_events import save_recorded, select_recorded

            (heard,) = select_recorded(view, [name])
            redaction = self.context.bench.redaction_of(view.host)
            return save_recorded(heard, view, redaction)

        self.context.bridge.ask(REAL_GROUP, saving, self._saved)

    def _saved(self, done: SavedRecordedEvent) -> None:
        variables = f"; from the environment: {', '.join(done.variables)}" if done.variables else ""
        self.context.log_line("saved", f"{done.file}{variables}", subject=done.file.name)
        self.context.notify(f"Saved as {done.file.name}.")

    def show_lists(self) -> None:
        """Show subscriptions that never received an event, and events without subscribed hooks."""
        view, bench = self.context.scanned(), self.context.bench
        if view is not None:
            from hookscope.analysis.tap_report import tap_report_of
            from hookscope.console.dialogs.tap_and_workers import TapScreen

            self.context.bridge.ask(
                REAL_GROUP,
                lambda: tap_report_of(bench, view),
                lambda report: self.context.push_dialog(TapScreen(report, view)),
                opens=True,
            )

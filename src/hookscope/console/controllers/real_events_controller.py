"""Shows real events and external runs in the log; opens, saves and summarizes real events."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hookscope.app.runs.activation_chain import Activity, activity_of_runs
from hookscope.app.runs.past_runs import ExternalRuns
from hookscope.console.panes.log_pane import LogPane
from hookscope.console.state import log_messages
from hookscope.console.state.messages import RealEventsReported
from hookscope.console.state.state_changes import ModeChosen
from hookscope.model.failure import Refusal
from hookscope.model.text import local_now
from hookscope.recording.spool import ArrivedEvents, SpoolFollower
from hookscope.recording.taps import TAP_NAME, spool_path

if TYPE_CHECKING:
    from textual.content import Content

    from hookscope.app.runs.session_log import SessionLog, SessionTurn
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.authoring.testing.recorded_events import SavedRecordedEvent
    from hookscope.console.context import ConsoleContext
    from hookscope.console.dialogs.session_screen import SessionScreen
    from hookscope.console.state.log_entries import LogEntry
    from hookscope.model.run import Event
    from hookscope.recording.installation import TapPlan
    from hookscope.recording.spool import RecordedEvent

REAL_GROUP, DETAILS_GROUP = "real events", "log details"


class RealEventsController:
    """Follows recorded events and external runs. Everything is read in threads."""

    def __init__(self, context: ConsoleContext, on_activity: Callable[[Activity], object]) -> None:
        """`on_activity` is called with the hooks that new events or runs concern."""
        self.context, self._on_activity = context, on_activity
        self._follow = SpoolFollower(self._report_arrived)
        self._elsewhere = ExternalRuns(self._ran)
        self._session: SessionScreen | None = None  # the session that was opened last
        self._started = local_now()

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
        entries = tuple(entry for past in runs for entry in log_messages.external_run_entries(now, past))
        self.context.post(RealEventsReported(entries, activity_of_runs(runs), runs))

    def show(self, event: RealEventsReported) -> None:
        """Show new events in the log, and new runs in the Fire pane too."""
        self.context.log_entries(event.entries)
        if event.entries and event.entries[0].at < self._started:  # events before this console
            self.context.panes.log.sort_by_time()
        self.context.panes.remember(event.runs)
        self._on_activity(event.activity)
        self.refresh_session()

    def open(self, name: str) -> None:
        """Put a real event into the composer, and replay it on copies, marked as real for its handlers."""
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
        self.context.panes.fire_pane.fire_recorded(event)
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
            return save_recorded(heard, self.context.bench, view)

        self.context.bridge.ask(REAL_GROUP, saving, self._saved)

    def _saved(self, done: SavedRecordedEvent) -> None:
        variables = f"; from the environment: {', '.join(done.variables)}" if done.variables else ""
        text = f"Saved as {done.file.name}{variables}"
        self.context.log_line("saved", text, subject=done.file.name, toast=f"{text}.")

    def details(self, entry: LogEntry) -> None:
        """Show in the log what the run of an entry did, or what its real event holds."""
        view, bench = self.context.state.view, self.context.bench
        if view is None:
            return

        def reading() -> Content:
            from hookscope.app.runs.session_log import planned_hooks, session_of
            from hookscope.authoring.testing.recorded_events import select_recorded
            from hookscope.console.panes.log_lines import entry_details, real_details, run_details

            try:
                if entry.real is not None:
                    (heard,) = select_recorded(view, [entry.real])
                    payload = dict(heard.context) | ({"ctx": heard.ctx} if heard.ctx else {})
                    would_run = planned_hooks(bench, view, heard)
                    return real_details(heard.key, session_of(heard), payload, would_run)
                run = bench.run_record.run(view, entry.run or 0).run
            except (Refusal, OSError):  # still running, deleted, or of another dialect
                return entry_details(entry)
            if run is None:
                return entry_details(entry)
            return run_details(entry.run or 0, run, entry.subject if entry.kind == "step" else "")

        show = self.context.panes.log.show_details
        self.context.bridge.ask(DETAILS_GROUP, reading, lambda details: show(entry, details), scans=True)

    def show_session(self, session: str) -> None:
        """Show a session as a conversation; without a name, the last used one."""
        view, bench = self.context.scanned(), self.context.bench
        if view is None:
            return
        from hookscope.app.runs.session_log import session_log
        from hookscope.console.dialogs.session_screen import SessionScreen

        def opened(log: SessionLog) -> None:
            self._session = SessionScreen(log, lambda name: session_log(bench, view, name))
            self.context.push_dialog(self._session, self._chosen_turn)

        self.context.bridge.ask(REAL_GROUP, lambda: session_log(bench, view, session), opened, opens=True)

    def refresh_session(self) -> None:
        """Show new events and runs in the open session."""
        if self._session is not None:
            self._session.read_again()

    def _chosen_turn(self, turn: SessionTurn | None) -> None:
        self._session = None
        if turn is not None and turn.number is not None:
            self.context.post(LogPane.RunRequested(turn.number))
        elif turn is not None:
            self.open(turn.real)

    def show_lists(self) -> None:
        """Show the tap, its unused and its missing subscriptions; if there is none, offer to install it."""
        view, bench = self.context.scanned(), self.context.bench
        if view is None:
            return
        from hookscope.analysis.tap_report import TapReport, tap_report_of
        from hookscope.console.dialogs.tap_and_workers import TapScreen
        from hookscope.recording.installation import plan_tap_install

        def reading() -> tuple[TapReport, TapPlan | None]:
            report = tap_report_of(bench, view)
            try:
                return report, None if report.taps else plan_tap_install(view.host, "typescript")
            except Refusal:  # the host is not installed, or other files are in the way
                return report, None

        def show(found: tuple[TapReport, TapPlan | None]) -> None:
            report, plan = found
            if plan is None:
                self.context.push_dialog(TapScreen(report, view))
            else:
                self._ask_install(view, plan)

        self.context.bridge.ask(REAL_GROUP, reading, show, opens=True)

    def _ask_install(self, view: Snapshot, plan: TapPlan) -> None:
        from hookscope.console.dialogs.edit_preview import EditScreen
        from hookscope.console.dialogs.tap_and_workers import tap_question
        from hookscope.recording.installation import apply_tap_plan

        bench = self.context.bench

        def installing() -> None:
            apply_tap_plan(plan)
            for note in plan.notes:
                bench.edits.record(TAP_NAME, note)

        def installed(_: None) -> None:
            notices = view.host.dialect.switch_rules.when_noticed
            text = f"The tap is installed. {notices}".rstrip()
            self.context.log_line("tap", text, subject=TAP_NAME, toast=text)
            self.context.bridge.scan()

        def answered(agreed: bool | None) -> None:
            if agreed:
                self.context.bridge.ask(REAL_GROUP, installing, installed)

        question = EditScreen("Install the tap?", tap_question(plan, view), "hookscope tap remove undoes it")
        self.context.push_dialog(question, answered)

"""Plans and fires the composed event: trust before the first run, steps as they arrive, fire on save."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.trust_requests import waiting_for_trust
from hookscope.app.variables import filled_event
from hookscope.app.watching import AUTHORED
from hookscope.console.controllers import job_runner
from hookscope.console.dialogs.fire_reports import FuzzScreen, RepeatScreen, fuzz_summary, order_conclusions
from hookscope.console.dialogs.trust_question import TrustAnswer, allowed_folders, ask_trust
from hookscope.console.keymap.active_keys import key_of
from hookscope.console.state import log_messages
from hookscope.console.state.console_state import ComposedEvent, ConsoleState
from hookscope.console.state.log_entries import LogEntry
from hookscope.console.state.messages import FiringEnded, FiringStarted, SessionEnded, StepsReported
from hookscope.console.state.state_changes import FireOnSaveChanged, JobChanged, ModeChosen
from hookscope.model.failure import Refusal
from hookscope.model.run import Event, Plan, Result, Run, Slow
from hookscope.model.text import local_now

if TYPE_CHECKING:
    from hookscope.analysis.fuzzing import FuzzResult
    from hookscope.analysis.order_findings import OrderFindings
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.console.context import ConsoleContext
    from hookscope.console.controllers.saved_events_controller import SavedEventsController
    from hookscope.console.panes.fire.fire_pane import FirePane
    from hookscope.console.state.fire_requests import StepCommand
    from hookscope.model.hook import Hook
    from hookscope.model.run_comparison import Repetition
    from hookscope.model.trust import TrustTarget


class FireController:
    """Plans drafts and fires them; the composer shows the results."""

    def __init__(
        self, context: ConsoleContext, saved: Callable[[], SavedEventsController], *, watches: bool
    ) -> None:
        """`saved`: returns the controller of saved events. `watches`: saved files are noticed."""
        self.context, self._saved, self._watches = context, saved, watches
        self._waiting: Callable[[], None] | None = None  # fires after a scan has seen the new trust
        self._event_keys: dict[int, str] = {}  # of running firings, by number
        self._due = False  # the armed event fires after the next scan, or after the running job

    @property
    def state(self) -> ConsoleState:
        return self.context.state

    @property
    def pane(self) -> FirePane:
        return self.context.panes.fire_pane

    def show_plan(self) -> None:
        """Plan the current draft for the current view."""
        draft = self.state.draft
        if draft.event is None or self.state.view is None:
            self.pane.run_view.show_plan(None)
            return
        plan, problem = self._plan(draft)
        self.pane.run_view.show_plan(plan, problem)

    def _plan(self, draft: ComposedEvent, automatic: bool = False) -> tuple[Plan | None, str]:
        view, event = self.state.view, draft.event
        if view is None or event is None:
            return None, "Still scanning."
        try:
            plan = self.context.bench.plan(view, event, only=draft.only, automatic=automatic)
            return plan, ""
        except Exception as error:  # mostly a Refusal; no other error may end the console
            return None, str(error) or type(error).__name__

    def _filled(self, draft: ComposedEvent) -> tuple[ComposedEvent, str]:
        """Return the draft with its variables filled in, or the reason why they cannot be."""
        filling = self.state.filling
        if not draft.written or draft.event is None or filling is None:
            return draft, ""
        try:
            event = filled_event(draft.event, filling, self.context.bench.filler.fill)
        except Refusal as refused:
            return replace(draft, event=None), str(refused)
        return replace(draft, event=event, written=False), ""

    def ask(self, draft: ComposedEvent) -> None:
        """Fire an event. If subscribed handlers are not trusted yet, ask first."""
        view = self.state.view
        draft, unset = self._filled(draft)
        plan, problem = self._plan(draft) if not unset else (None, unset)
        if view is None or plan is None:
            self.context.notify(problem or "Still scanning.", "warning")
            return
        targets = waiting_for_trust(view, plan)
        if targets:
            self._ask_trust(targets, view, lambda: self._fire_draft(draft))
        else:
            self._fire(plan, draft)

    def play(self, message: str) -> None:
        """Simulate a session that starts with this message. Ask first if its agents' code is untrusted."""
        view = self.context.scanned()
        if view is None:
            return
        from hookscope.sessions.session_agents import session_trust_targets

        filling, bench = self.state.filling, self.context.bench
        try:
            if filling is not None:
                now = datetime.now(UTC)
                message = str(bench.filler.fill(message, filling.variables, now, "The message"))
            targets = session_trust_targets(view)
        except Exception as error:  # no sessions, an unreadable agent, an unset variable
            self.context.notify(str(error) or type(error).__name__, "warning")
            return
        if targets:
            self._ask_trust(targets, view, lambda: self._play(message))
        else:
            self._play(message)

    def _play(self, message: str) -> None:
        runner = self.context.runner
        runner.start("The session", lambda: job_runner.session_job(runner, message))

    def session_ended(self, event: SessionEnded) -> None:
        """Log the outcome of a simulated session."""
        if event.result is None:
            text = f"The session could not be simulated: {event.problem}"
            self.context.log_line("play", text, "error", toast=text)
            return
        entries = log_messages.session_entries(local_now(), event.result)
        self.context.log_entries(entries)
        self.context.notify(
            entries[0].text, "warning" if event.result.failure or event.result.failed else "information"
        )

    def _ask_trust(self, targets: Sequence[TrustTarget], view: Snapshot, fire: Callable[[], None]) -> None:
        """Ask whether to trust these folders, then fire: once the trust is scanned, or without it."""

        def answered(answer: TrustAnswer | None) -> None:
            if answer == "trust":
                self._waiting = fire
                self.context.bridge.trust(allowed_folders(targets))
            elif answer == "without":
                fire()

        ask_trust(self.context, targets, view, answered, firing=True)

    def _fire_draft(self, draft: ComposedEvent, automatic: bool = False) -> None:
        plan, problem = self._plan(draft, automatic)
        if plan is not None:
            self._fire(plan, draft, automatic)
        else:
            self.context.notify(problem, "warning")

    def scanned(self) -> None:
        """Plan again after a scan, and fire the event that waited for trust."""
        self.show_plan()
        if self._waiting is not None and not self.context.bridge.is_scanning:
            fire, self._waiting = self._waiting, None
            fire()
        self._fire_armed()

    def saved(self, paths: frozenset[Path]) -> None:
        """Handle changed files: fire the armed event after the next scan.

        Only code and settings count: files that handlers write must not fire them again.
        """
        if self.state.armed is None or self.state.view is None:
            return
        settings = self.state.view.host.settings.file
        self._due = self._due or any(path.suffix in AUTHORED or path == settings for path in paths)

    def _fire_armed(self) -> None:
        """Fire the armed event once saved files are scanned and no run is active; once for several saves."""
        draft = self.state.armed
        if not self._due or self.context.bridge.is_scanning or self.context.runner.busy:
            return
        self._due = False
        if draft is not None and draft.event is not None:
            draft = replace(draft, event=replace(draft.event, timestamp=datetime.now(UTC)))
            draft, unset = self._filled(draft)
            if unset:
                self.context.notify(f"Not fired on save: {unset}", "warning")
            else:
                self._fire_draft(draft, automatic=True)

    def trust_failed(self) -> None:
        """Drop the event that waited for trust."""
        self._waiting = None

    def _fire(self, plan: Plan, draft: ComposedEvent, automatic: bool = False) -> None:
        view, bench, runner = self.state.view, self.context.bench, self.context.runner
        if view is None:
            return
        event, short = plan.event, view.host.machine.short

        def plan_again(ready: Snapshot) -> Plan:
            return bench.plan(ready, event, only=draft.only, automatic=automatic)

        def show_repetition(report: Repetition | OrderFindings) -> None:
            copies = draft.options is not None and draft.options.guarded
            for text in order_conclusions(report):  # readable after the report is closed
                self.context.log_line("order", text, "warning")
            self.context.push_dialog(RepeatScreen(event.key, report, short, copies=copies))

        if draft.options is not None:
            runner.start(
                "The run", lambda: job_runner.fire_with_options(runner, view, event, draft, show_repetition)
            )
        else:
            runner.start("The run", lambda: job_runner.fire_job(runner, view, plan, plan_again, draft))

    def fuzz(self, event: Event, only: str | None) -> None:
        """Find the smallest events that make hooks fail, and offer to load them."""
        view = self.context.scanned()
        if view is None:
            return
        draft, unset = self._filled(ComposedEvent(event, only, written=True))
        filled, runner = draft.event, self.context.runner
        if filled is None:
            self.context.notify(unset, "warning")
        elif runner.start(
            "The search", lambda: job_runner.fuzz_job(runner, view, filled, only, self._fuzzed)
        ):
            self.context.notify(
                f"Fuzzing {event.key} on copies of your files. Press {key_of('fire.leave')} to stop."
            )

    def _fuzzed(self, fuzzed: FuzzResult) -> None:
        level = "error" if fuzzed.failures else "info"
        self.context.log_line("fuzz", fuzz_summary(fuzzed), level, fuzzed.template.key)

        def chosen(file: Path | None) -> None:
            if file is not None:
                self._saved().load(file)

        self.context.push_dialog(FuzzScreen(fuzzed), chosen)

    def cancel(self) -> None:
        """Cancel the running job."""
        if not self.context.runner.cancel():
            self.context.notify("Nothing is running.")

    def arm(self, armed: ComposedEvent) -> None:
        """Fire this event whenever a file is saved; if it is already armed, disarm it."""
        from hookscope.console.panes.fire.event_draft import same_event

        event, before = armed.event, self.state.armed
        assert event is not None, "the composer posts only valid events"
        if not self._watches:
            self.context.notify("Events cannot fire on save, because files are not watched.", "warning")
        elif before and same_event(before.event, event) and before.only == armed.only:
            self.context.change(FireOnSaveChanged(None))
            self.context.notify(f"{event.key} no longer fires on save.")
        else:
            self.context.change(FireOnSaveChanged(armed))
            stop = f"Press {key_of('fire.arm')} to stop."
            self.context.notify(f"{event.key} fires again whenever a file is saved. {stop}")

    def step(self, word: StepCommand) -> None:
        """Send this command to the paused handler, if a handler is still paused."""
        stepper = self.context.runner.stepper
        if stepper is not None:
            getattr(stepper, word)()

    def started(self, event: FiringStarted) -> None:
        self._event_keys[event.number] = event.plan.event.key
        self.pane.run_view.firing_started(event.number, event.plan, event.asked)
        if self.state.view is not None:
            file = event.asked.file if event.asked is not None else None
            self._saved().fired(event.number, self.state.view, event.plan, file)
        self.context.log_entries([log_messages.run_started_entry(local_now(), event.number, event.plan)])

    def steps(self, event: StepsReported) -> None:
        now = local_now()
        with self.context.batch():
            for step in event.steps:
                self.pane.run_view.step(event.number, step)
        reported = [step for step in event.steps if isinstance(step, Result | Slow)]
        key = self._event_keys.get(event.number, "")
        self.context.log_entries(
            [log_messages.handler_entry(now, event.number, step, key) for step in reported]
        )

    def ended(self, event: FiringEnded) -> None:
        key = self._event_keys.pop(event.number, "")
        if event.run is None:
            self.pane.run_view.firing_ended(event.number, None, event.problem)
            kind, run = ("run", event.number) if event.number else ("fire", None)
            text = f"The run failed: {event.problem}"
            self.context.log_entries([LogEntry(local_now(), kind, key, text, "error", run)], toast=text)
            return
        self.pane.run_view.firing_ended(event.number, event.run)
        self._saved().ran(event.number, event.run)
        entry = log_messages.run_ended_entry(local_now(), event.number, event.run)
        is_shown = "fire" in self.context.panes.shown
        self.context.log_entries([entry], toast="" if is_shown else f"{entry.subject}: {entry.text}")
        self._report_quarantine(event.run)

    def job_ended(self) -> None:
        """Fire the event that was saved while a run was in progress."""
        self.context.change(JobChanged(""))
        self._fire_armed()
        if self.state.view is not None and self.context.bench.is_outdated(self.state.view):
            self.context.bridge.scan()

    def show_run(self, number: int) -> None:
        """Show a run of this session or of the journal in Fire mode."""
        bench, view = self.context.bench, self.state.view
        if self.pane.run_view.show_run(number):
            self.context.change(ModeChosen("fire"))
        elif view is not None:  # Fire mode keeps only the last runs; the journal keeps more

            def show(past: PastRun) -> None:
                self.pane.run_view.show_past(past)
                self.context.change(ModeChosen("fire"))

            self.context.bridge.ask("journal", lambda: bench.run_record.run(view, number), show)

    def lift_quarantine(self, hook: Hook) -> None:
        """Let automatic fires run a hook again."""
        if self.context.bench.worker_pools.lift_quarantine(hook):
            self.context.log_line("quarantine", "ended: automatic fires run it again", subject=hook.name)
            self.context.bridge.scan()

    def _report_quarantine(self, run: Run) -> None:
        """Report the hooks that automatic fires skip from now on."""
        view = self.state.view
        bench = self.context.bench
        hooks = [result.call.hook for result in run.failed if result.call.hook is not None]
        known = view.quarantined if view is not None else frozenset()
        quarantined = [
            hook for hook in hooks if bench.worker_pools.quarantined(hook) and hook.handler not in known
        ]
        for hook in quarantined:
            text = "three faults within five minutes; only manual fires run it"
            self.context.log_line("quarantine", text, "warning", hook.name)
            self.context.notify(
                f"{hook.name}: {text}. Press {key_of('hooks.lift')} in the hook list to end this.", "warning"
            )
        if quarantined:
            self.context.bridge.scan()

"""The main screen: handles the messages of panes, threads and keys, and passes each to its controller."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.worker import Worker, WorkerState

from hookscope.console.keymap.active_keys import key_of, with_keys
from hookscope.console.panes.log_pane import LogPane
from hookscope.console.preload import preload
from hookscope.console.screens.main_frame import MainFrame
from hookscope.console.state import fire_requests
from hookscope.console.state.console_state import ComposedEvent, ConsoleState, Mode
from hookscope.console.state.messages import (
    ComposeForHookRequested,
    ConsoleTaskFailed,
    CopyRequested,
    DebugEnded,
    EditorRequested,
    FilesChanged,
    FiringEnded,
    FiringStarted,
    FixRequested,
    HandlerStopped,
    HostsRequested,
    JobEnded,
    JobStarted,
    LateOutputReported,
    NewHookRequested,
    NoticeShown,
    PacksRequested,
    PastRunsLoaded,
    PreferencesSaved,
    QuarantineEndRequested,
    RealEventsReported,
    ScanRequested,
    SessionEnded,
    SettingsWritten,
    StateChanged,
    StepsReported,
    ThreadAnswered,
    TogglePlanned,
    ToggleRequested,
    TrustRequested,
    TrustWritten,
    UndoPlanned,
    UndoRequested,
    UnprotectedReported,
    WhatIfRequested,
    WorkbenchFailed,
)
from hookscope.console.state.state_changes import (
    EventComposed,
    FireOnSaveChanged,
    JobChanged,
    ModeChosen,
    PaneZoomed,
    ScanFailed,
    ScanFinished,
    SteppedBack,
    WatchedFilesChanged,
)
from hookscope.console.widgets.focus_targets import focus_place, pane_of
from hookscope.console.widgets.header import ModeTab
from hookscope.model.hook import FilePosition
from hookscope.model.text import local_now

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun
    from hookscope.console.app import Console
    from hookscope.console.controllers.bridge import WorkbenchOpener
    from hookscope.console.dialogs.jump import JumpAction
    from hookscope.console.dialogs.trust_question import TrustAnswer
    from hookscope.console.state.log_entries import LogEntry
    from hookscope.model.trust import TrustTarget


class FireHandlers(MainFrame):
    """Composing, firing, and what is seen of it."""

    @on(fire_requests.DraftChanged)
    def _drafted(self, event: fire_requests.DraftChanged) -> None:
        self.change(EventComposed(ComposedEvent(event.event, event.only)))

    @on(fire_requests.FireRequested)
    def _fire(self, event: fire_requests.FireRequested) -> None:
        self.desk.ask(
            ComposedEvent(event.event, event.only, event.guarded, event.written, event.way, event.file)
        )

    @on(fire_requests.EnvironmentChosen)
    def _environment_asked(self, event: fire_requests.EnvironmentChosen) -> None:
        self.bridge.bench.use_environment(event.name)
        self.bridge.look()

    @on(fire_requests.SavedEventsRequested)
    def _saved_asked(self) -> None:
        self.saved.show_list()

    @on(fire_requests.SaveEventRequested)
    def _save_asked(self, event: fire_requests.SaveEventRequested) -> None:
        self.saved.save(event.saved, event.file, event.draft)

    @on(fire_requests.FuzzRequested)
    def _fuzz_asked(self, event: fire_requests.FuzzRequested) -> None:
        self.desk.fuzz(event.event, event.only)

    @on(fire_requests.ReplayRequested)
    def _replay_asked(self, event: fire_requests.ReplayRequested) -> None:
        self.comparing.replay(event.start)

    @on(fire_requests.ComparisonRequested)
    def _compare_asked(self) -> None:
        self.comparing.show()

    @on(fire_requests.AcceptRequested)
    def _accept_asked(self, event: fire_requests.AcceptRequested) -> None:
        self.saved.accept(event.number, event.checked)

    @on(fire_requests.SessionRequested)
    def _play(self, event: fire_requests.SessionRequested) -> None:
        self.desk.play(event.text)

    @on(fire_requests.FireOnSaveRequested)
    def _arm(self, event: fire_requests.FireOnSaveRequested) -> None:
        from hookscope.console.panes.fire.event_draft import same_event

        draft, armed = ComposedEvent(event.event, event.only, written=True, file=event.file), self.state.armed
        if not self.watches:
            self.say("Nothing is watched, so no save would be noticed.", "warning")
        elif armed and same_event(armed.event, draft.event) and armed.only == draft.only:
            self.change(FireOnSaveChanged(None))
            self.say(f"{event.event.key} no longer fires on save.")
        else:
            self.change(FireOnSaveChanged(draft))
            self.say(f"{event.event.key} fires again whenever a file is saved; {key_of('fire.arm')} ends it.")

    @on(fire_requests.StepRequested)
    def _step(self, event: fire_requests.StepRequested) -> None:
        self.desk.step(event.word)

    @on(fire_requests.DebuggerRequested)
    def _debug(self) -> None:
        self.debugging.open()

    @on(HandlerStopped)
    def _handler_stopped(self, event: HandlerStopped) -> None:
        self.debugging.stopped(event)

    @on(DebugEnded)
    def _debug_over(self) -> None:
        self.debugging.over()

    @on(fire_requests.CancelRequested)
    def _cancel(self) -> None:
        self.desk.cancel()

    @on(LogPane.RunAsked)
    def _run_asked(self, event: LogPane.RunAsked) -> None:
        bench, view = self.bridge.bench, self.state.view
        if self.fire_pane.show_run(event.number):
            self.change(ModeChosen("fire"))
        elif view is not None:  # the Fire mode keeps the last ones, the journal more

            def show(past: PastRun) -> None:
                self.fire_pane.show_past(past)
                self.change(ModeChosen("fire"))

            self.bridge.ask("journal", lambda: bench.record.run(view, event.number), show)

    @on(LogPane.RealAsked)
    def _real_asked(self, event: LogPane.RealAsked) -> None:
        (self.real.save if event.save else self.real.open)(event.name)

    @on(LogPane.TapAsked)
    def _tap_asked(self) -> None:
        self.real.show_lists()

    @on(HostsRequested)
    def _hosts_asked(self, event: HostsRequested) -> None:
        self.hosts.asked(event.what)

    @on(RealEventsReported)
    def _real_came(self, event: RealEventsReported) -> None:
        self.log_entries(event.entries)
        self.remember(event.runs)
        self.happened(event.happened)

    @on(JobStarted)
    def _job_began(self, event: JobStarted) -> None:
        self.change(JobChanged(event.job))

    @on(JobEnded)
    def _job_over(self) -> None:
        self.change(JobChanged(""))
        self.desk.rested()
        if self.state.view is not None and self.bridge.bench.knows_more(self.state.view):
            self.bridge.look()

    @on(FiringStarted)
    def _firing_started(self, event: FiringStarted) -> None:
        self.desk.started(event)

    @on(StepsReported)
    def _steps_came(self, event: StepsReported) -> None:
        self.desk.steps(event)

    @on(SessionEnded)
    def _play_over(self, event: SessionEnded) -> None:
        self.desk.played(event)

    @on(FiringEnded)
    def _firing_over(self, event: FiringEnded) -> None:
        self.desk.over(event)


NEW_FOLDER_DELAY = 0.5  # seconds in which a file is there whose folder has just come


class ScanHandlers(FireHandlers):
    """Takes what a look has found to whoever wants it, and has the log tell it."""

    def __init__(self, bench: WorkbenchOpener, watches: bool) -> None:
        super().__init__(bench, watches)
        self._told_to_look = False  # by its user, who wants an answer in any case
        self._first_look: Sequence[LogEntry] = ()  # stands in the log below what was before it

    @on(StateChanged)
    def _changed(self, message: StateChanged) -> None:
        message.stop()
        before = self.state
        self.change(message.change)
        if isinstance(message.change, ScanFinished):
            self._looked(before, message.change)
        elif isinstance(message.change, ScanFailed):
            self.bridge.look_ended()
            if self.sits("desk"):
                self.desk.trust_failed()
            self.log_line("look", message.change.text, "error")
            self.say(f"Looking failed: {message.change.text}", "error")

    def _looked(self, before: ConsoleState, look: ScanFinished) -> None:
        from hookscope.console.state import log_messages  # here, and below: the first paint tells nothing yet

        first = before.view is None
        entries = log_messages.scan_entries(local_now(), before.rows, self.state.rows, look.took, first)
        if first:
            self._first_look = entries
        else:
            self.log_entries(entries)
        if not first and len(entries) == 1 and self._told_to_look:
            self.say("Looked again: nothing is different.")
        elif not first and len(entries) > 1 and "list" not in self.panes:
            self.say(f"Looked again: {len(entries) - 1} different. The log says which.")
        self._told_to_look = False
        self.whatif.looked(look.view)
        if self.sits("hosts"):
            self.hosts.looked()
        if self.sits("new"):
            self.new.looked()
        if self.sits("packs"):
            self.packs.looked()
        self.bridge.look_ended()
        if self.sits("desk"):
            self.desk.looked()
        if first:
            self.call_after_paint(partial(self._first_rows, look))  # they stand there before all this begins
        else:
            self._follow(look)

    def _first_rows(self, look: ScanFinished) -> None:
        """The first hooks are on the screen: what was before, and what is to come."""
        self.runner.remember(look.view)
        self.last_time.looked(look.view)
        self._follow(look)
        preload()

    def _follow(self, look: ScanFinished) -> None:
        """Hear of what happens on disk from now on."""
        self.real.looked(look.view)
        if self.watches:
            self.preferences.follow()
            self.change(WatchedFilesChanged(self.bridge.follow(look.view)))

    @on(ScanRequested)
    def _look(self) -> None:
        self._told_to_look = True
        self.bridge.look()

    @on(FilesChanged)
    def _files_changed(self, event: FilesChanged) -> None:
        from hookscope.console.state import log_messages

        view = self.state.view
        saved = frozenset(path for path in event.paths if not self.bridge.is_learned(path))
        if not saved:
            self._learned()
            if not event.paths <= set(self.bridge.bench.learned_in):  # their folder: they come a moment later
                self.set_timer(NEW_FOLDER_DELAY, self._learned)
            return
        if view is not None:
            self.log_entries(log_messages.saved_file_entries(local_now(), saved, view))
        self.desk.saved(saved)
        self.bridge.look()

    def _learned(self) -> None:
        """Another command has trusted or loaded something, perhaps: no save that an armed event waits for."""
        view = self.state.view
        if view is None:
            return
        if self.bridge.bench.knows_more(view):
            self.bridge.look()
        elif self.watches:
            self.bridge.follow(view)

    @on(PreferencesSaved)
    def _preferences_saved(self) -> None:
        self.preferences.read_again()

    @on(PastRunsLoaded)
    def _past_runs(self, event: PastRunsLoaded) -> None:
        from hookscope.console.state import log_messages

        self.remember(event.runs)
        others = log_messages.skipped_run_entries(local_now(), event.others)
        self.log_entries(
            [*others, *(log_messages.past_run_entry(run) for run in event.runs), *self._first_look]
        )
        self._first_look = ()


class MainScreen(ScanHandlers):
    """Hooks, Fire, Log and Hosts: carries words between panes, desks and bridge."""

    # What the user wants.

    def action_mode(self, mode: Mode) -> None:
        before = self.state
        self.change(ModeChosen(mode))
        if focus_place(self.state) == focus_place(before):
            self.say(f"This is {mode.capitalize()} already.")

    @on(ModeTab.Clicked)
    def _tab_clicked(self, event: ModeTab.Clicked) -> None:
        self.change(ModeChosen(event.mode))

    def action_zoom(self) -> None:
        pane = pane_of(self.focused)
        if self.state.zoom is None and pane is None:
            self.say(with_keys("Nothing is in focus: {console.next} goes to a pane."), "warning")
        elif self.state.zoom is None and self.panes == (pane,):
            self.say("This pane has all the room already.")
        else:
            self.change(PaneZoomed(None if self.state.zoom is not None else pane))

    def action_workspaces(self) -> None:
        view = self.state.view
        if view is None:
            self.say("Still looking.", "warning")
            return

        def ask(recent: tuple[Path, ...]) -> None:
            from hookscope.console.dialogs.choosers import WorkspaceScreen

            there = WorkspaceScreen(recent, view.host.workspace, view.host.surroundings.cwd)
            self.app.push_screen(there, self.open_workspace)

        def recent() -> tuple[Path, ...]:
            from hookscope.app.console_files import stored_console

            return stored_console().recent()

        self.bridge.ask("workspaces", recent, ask, opens=True)

    def open_workspace(self, folder: Path | None) -> None:
        """Show another one in place of this."""
        if folder is not None:
            self.app.call_later(cast("Console", self.app).open_workspace, folder)

    def action_export(self) -> None:
        self.export.ask()

    def action_jump(self) -> None:
        from hookscope.console.dialogs.jump import JumpScreen
        from hookscope.console.widgets.focus_targets import jump_targets_of

        self.app.push_screen(JumpScreen(jump_targets_of(self)), self._jumped)

    def _jumped(self, go: JumpAction | None) -> None:
        if go is not None:
            go()

    def action_back(self) -> None:
        if self.state.job and self.state.mode == "fire":
            self.desk.cancel()
            return
        before = self.state
        self.change(SteppedBack())
        if self.state is before:
            self.say(with_keys("Nothing is open here. {console.quit} leaves the console."))

    def compose_event(self, key: str, only: str | None = None, first: str = "") -> None:
        """Go to the composer with a fresh event of this key."""
        self.change(ModeChosen("fire"))
        self.fire_pane.compose_event(key, only, first)

    @on(ComposeForHookRequested)
    def _fire_hook(self, event: ComposeForHookRequested) -> None:
        self.compose_event(event.key, first=event.hook)

    @on(CopyRequested)
    def _copy(self, event: CopyRequested) -> None:
        self.app.copy_to_clipboard(event.text)
        self.say(f"Copied the {event.what}.")

    @on(EditorRequested)
    def _edit(self, event: EditorRequested) -> None:
        self._open(event.place)

    def _open(self, place: FilePosition) -> None:
        from hookscope.console.controllers.edit_controller import open_editor

        view = self.state.view
        workspace = view.host.workspace if view is not None else Path()
        problem = open_editor(self.app, place, os.environ, workspace)
        if problem:
            self.say(problem, "warning")
        else:
            self.bridge.look()

    @on(ToggleRequested)
    def _toggle(self, event: ToggleRequested) -> None:
        self.edits.toggle(event)

    @on(TogglePlanned)
    def _toggle_planned(self, event: TogglePlanned) -> None:
        self.edits.toggle_planned(event)

    @on(FixRequested)
    def _fix(self, event: FixRequested) -> None:
        self.fixes.ask(event)

    @on(NewHookRequested)
    def _new(self) -> None:
        self.new.ask()

    @on(PacksRequested)
    def _packs(self) -> None:
        self.packs.open()

    @on(UndoRequested)
    def _undo(self) -> None:
        self.bridge.plan_undo()

    @on(UndoPlanned)
    def _undo_planned(self, event: UndoPlanned) -> None:
        self.edits.undo_planned(event)

    @on(SettingsWritten)
    def _settings_written(self, event: SettingsWritten) -> None:
        self.edits.written(event)

    @on(QuarantineEndRequested)
    def _lift(self, event: QuarantineEndRequested) -> None:
        if self.bridge.bench.crew.lift(event.hook):
            self.log_line("quarantine", "lifted: automatic fires run it again", subject=event.hook.name)
            self.bridge.look()

    @on(LateOutputReported)
    def _late_came(self, event: LateOutputReported) -> None:
        self.log_line("late", event.text, "warning", event.who)

    @on(UnprotectedReported)
    def _warn_unprotected(self, event: UnprotectedReported) -> None:
        self.log_line("copies", event.text, "warning")
        self.say(event.text, "warning")

    def action_dialect(self) -> None:
        """The next one: each guide, then the program of that host as it ships."""
        view = self.state.view
        if view is None:
            self.say("Still looking.", "warning")
            return
        from hookscope.app.host_detection import dialect_after

        then = dialect_after(view.host.dialect)
        self.bridge.bench.use_dialect(then.name)
        self.say(f"{then.name}: {then.title}. {key_of('console.dialect')} goes on to the next.")
        self.bridge.look()

    def action_what_if(self) -> None:
        self.whatif.open()

    @on(WhatIfRequested)
    def _strip_clicked(self) -> None:
        self.whatif.open()

    def action_all_real(self) -> None:
        self.whatif.reset()

    def action_workers(self) -> None:
        from hookscope.console.dialogs.tap_and_workers import WorkersScreen

        if self.bridge.opener.opened is None:
            self.say("Still looking.", "warning")
        else:
            self.app.push_screen(WorkersScreen(self.bridge.bench))

    @on(TrustRequested)
    def _ask_trust(self, event: TrustRequested) -> None:
        self._question(event.folders)

    def _question(self, targets: tuple[TrustTarget, ...]) -> None:
        view = self.state.view
        if view is None:
            self.say("Still looking.", "warning")
            return

        from hookscope.console.dialogs.trust_question import allowed_folders, ask_trust

        def answered(answer: TrustAnswer | None) -> None:
            if answer == "trust":
                self.bridge.trust(allowed_folders(targets))

        ask_trust(self, targets, view, answered, firing=False)

    @on(TrustWritten)
    def _trusted(self, event: TrustWritten) -> None:
        if event.problem:
            if self.sits("desk"):
                self.desk.trust_failed()
            self.say(event.problem, "error")
            return
        for folder in event.folders:
            self.log_line("trust", f"{folder} may run now", subject=folder.name)
        self.bridge.look()

    @on(fire_requests.SourceEditRequested)
    def _edit_from_fire(self, event: fire_requests.SourceEditRequested) -> None:
        self._open(FilePosition(event.path, event.line))

    @on(fire_requests.FoldersTrustRequested)
    def _trust_from_fire(self, event: fire_requests.FoldersTrustRequested) -> None:
        self._question(event.folders)

    # What is said.

    @on(WorkbenchFailed)
    def _not_opened(self, event: WorkbenchFailed) -> None:
        cast("Console", self.app).give_up(event.error)

    @on(ThreadAnswered)
    def _answered(self, event: ThreadAnswered) -> None:
        event.take()

    @on(NoticeShown)
    def _said(self, event: NoticeShown) -> None:
        self.say(event.text, event.severity)

    @on(ConsoleTaskFailed)
    def _failed(self, event: ConsoleTaskFailed) -> None:
        self.log_line(event.subject, event.text, "error")
        self.say(f"The console failed in {event.subject}: {event.text}", "error")

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.bridge.failed(event.worker.name, event.worker.error)

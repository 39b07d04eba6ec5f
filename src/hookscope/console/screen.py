"""The one screen: holds the state, shows it in its panes, and carries words between panes and bridge."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from hookscope.console import narrate
from hookscope.console.bridge import Bridge
from hookscope.console.editor import open_editor
from hookscope.console.edits import EditDesk
from hookscope.console.fire.draft import same_event
from hookscope.console.fire.pane import FirePane
from hookscope.console.firing import FireDesk
from hookscope.console.focus import first_focusable, pane_of, pane_wanted, whereabouts
from hookscope.console.header import Header, ModeTab
from hookscope.console.help import HelpScreen
from hookscope.console.hooks.list import HookList
from hookscope.console.hooks.pane import HooksPane
from hookscope.console.hooks.why import source_path
from hookscope.console.keys import EVERYWHERE, KeyBar, keys_of
from hookscope.console.layout import Layout, Mode, Pane, arrange, every_class, too_small
from hookscope.console.log.model import LogEntry
from hookscope.console.log.pane import LogPane
from hookscope.console.messages import (
    Changed,
    CopyAsked,
    EditAsked,
    Failed,
    FilesChanged,
    FireHookAsked,
    FiringOver,
    FiringStarted,
    LateCame,
    LiftAsked,
    LookAsked,
    PastRuns,
    PlayOver,
    Said,
    SettingsWritten,
    Severity,
    StepsCame,
    ToggleAsked,
    TogglePlanned,
    TrustAsked,
    Trusted,
    UndoAsked,
    UndoPlanned,
)
from hookscope.console.problems import ProblemLines
from hookscope.console.start import StartHere
from hookscope.console.state import (
    Armed,
    Change,
    ConsoleState,
    Draft,
    Drafted,
    FiringBegan,
    FiringEnded,
    Looked,
    LookFailed,
    ModeChosen,
    PaneFocused,
    Watching,
    WentBack,
    Zoomed,
    reduce,
)
from hookscope.console.text import plain
from hookscope.console.trust import Answer, TrustScreen
from hookscope.console.workers import WorkersScreen
from hookscope.core.hooks import Place
from hookscope.workbench.options import dialect_after

if TYPE_CHECKING:
    from hookscope.workbench import Workbench


class MainScreen(Screen[None]):
    """Hooks, Fire and Log."""

    BINDINGS: ClassVar[list[BindingType]] = [*EVERYWHERE]

    def __init__(self, bench: Workbench, watches: bool) -> None:
        super().__init__()
        self.watches = watches
        self.state = ConsoleState()
        self.bridge = Bridge(self, bench)
        self.desk = FireDesk(self)
        self.edits = EditDesk(self)
        self.panes: tuple[Pane, ...] = ()
        self._told_to_look = False  # by its user, who wants an answer in any case
        self._reading = ("", 0)  # the row whose file was asked for, and in which look

    def compose(self) -> ComposeResult:
        yield Header(id="header")
        yield ProblemLines(id="problems")
        with Container(id="body"):
            yield HooksPane(id="hooks")
            yield FirePane(id="fire")
            with Container(id="right"):
                yield StartHere(id="start")
                yield LogPane(id="log")
        yield Static(id="tiny")
        yield KeyBar(id="keybar")

    def on_mount(self) -> None:
        self.bindings_updated_signal.subscribe(self, lambda _: self._show_keys())
        self._show(ConsoleState())
        self.query_one(HookList).focus()
        self.bridge.hear_late()
        self.bridge.look()

    def on_unmount(self) -> None:
        self.bridge.close()

    # State: one way in, one way out.

    def change(self, change: Change) -> None:
        """Reduce a change into the state, and show what is different."""
        before, self.state = self.state, reduce(self.state, change)
        if self.state is not before:
            self._show(before)

    @on(Changed)
    def _changed(self, message: Changed) -> None:
        message.stop()
        before = self.state
        self.change(message.change)
        if isinstance(message.change, Looked):
            self._looked(before, message.change)
        elif isinstance(message.change, LookFailed):
            self.bridge.look_ended()
            self.desk.trust_failed()
            self.log_line("look", message.change.text, "error")
            self._say(f"Looking failed: {message.change.text}", "error")

    def _looked(self, before: ConsoleState, look: Looked) -> None:
        first = before.view is None
        entries = narrate.looked(datetime.now(), before.rows, self.state.rows, look.took, first)
        self.log_entries(entries)
        if not first and len(entries) == 1 and self._told_to_look:
            self._say("Looked again: nothing is different.")
        elif not first and len(entries) > 1 and "list" not in self.panes:
            self._say(f"Looked again: {len(entries) - 1} different. The log says which.")
        self._told_to_look = False
        if first:
            self.bridge.remember(look.view)
        self.bridge.look_ended()
        self.desk.looked()
        if self.watches:
            self.change(Watching(self.bridge.follow(look.view)))

    def _show(self, before: ConsoleState) -> None:
        state = self.state
        with self.app.batch_update():
            self._arrange()
            header = self.query_one(Header)
            header.mode, header.view, header.rows = state.mode, state.view, state.rows
            header.watching = state.watching
            event = state.armed.event if state.armed is not None else None
            header.armed = event.key if event is not None else ""
            self.query_one(HooksPane).show(state)
            start = self.query_one(StartHere)
            start.view, start.row, start.folders = state.view, state.row, state.folders_shown
            if state.view is not before.view and state.view is not None:
                self.query_one(FirePane).view = state.view
                self.query_one(ProblemLines).show(state.view)
        if state.draft is not before.draft:
            self.desk.show_plan()
        self._read_source()
        self._show_keys()
        if whereabouts(before) != whereabouts(state):
            self.call_after_refresh(self._settle_focus)

    def _read_source(self) -> None:
        row, view = self.state.row, self.state.view
        if row is None or view is None or self._reading == (row.id, self.state.generation):
            return
        self._reading = (row.id, self.state.generation)
        path = source_path(row)
        if path is not None:
            self.bridge.read(row.id, path, view.host.surroundings)

    def _show_keys(self) -> None:
        if self.is_mounted and self.app.screen is self:
            bindings = [active.binding for active in self.active_bindings.values()]
            self.query_one(KeyBar).keys = keys_of(bindings, self.state)

    # Layout and focus.

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width, event.size.height)

    def _arrange(self, width: int = 0, height: int = 0) -> None:
        width, height = width or self.app.size.width, height or self.app.size.height
        state = self.state
        layout = arrange(
            width, height, state.mode, state.zoom, side=state.side, reading=state.reading, start=state.start
        )
        covered, self.panes = not self.panes, layout.panes
        self._set_layout(layout)
        if covered and self.panes:  # the screen was too small, and whoever had the focus lost it
            self.call_after_refresh(self._settle_focus)
        if layout.size == "tiny":
            self.query_one("#tiny", Static).update(plain(too_small(width, height)))

    def _set_layout(self, layout: Layout) -> None:
        for name in every_class():
            self.set_class(name in layout.classes, name)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        pane = pane_of(event.widget)
        if pane is not None and pane in self.panes:
            self.change(PaneFocused(pane))
        self._show_keys()

    def _settle_focus(self) -> None:
        """The keys belong to the pane that was asked for."""
        wanted = pane_wanted(self.state)
        if self.state.filtering or pane_of(self.focused) == wanted or not self.panes:
            return
        target = first_focusable(self.query_one("#rows" if wanted == "list" else f"#{wanted}"))
        if target is not None:
            target.focus()

    # What the user wants.

    def action_mode(self, mode: Mode) -> None:
        self.change(ModeChosen(mode))

    @on(ModeTab.Clicked)
    def _tab_clicked(self, event: ModeTab.Clicked) -> None:
        self.change(ModeChosen(event.mode))

    def action_zoom(self) -> None:
        pane = pane_of(self.focused)
        if self.state.zoom is None and pane is None:
            self._say("Nothing is in focus: tab goes to a pane.", "warning")
        elif self.state.zoom is None and self.panes == (pane,):
            self._say("This pane has all the room already.")
        else:
            self.change(Zoomed(None if self.state.zoom is not None else pane))

    def action_back(self) -> None:
        if self.state.firing is not None and self.state.mode == "fire":
            self.desk.cancel()
            return
        before = self.state
        self.change(WentBack())
        if self.state is before:
            self._say("Nothing is open here. q leaves the console.")

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen(self.focused, self), lambda _: self._show_keys())

    def compose_event(self, key: str, only: str | None = None) -> None:
        """Go to the composer with a fresh event of this key."""
        self.change(ModeChosen("fire"))
        self.query_one(FirePane).compose_event(key, only)

    @on(FireHookAsked)
    def _fire_hook(self, event: FireHookAsked) -> None:
        self.compose_event(event.key)

    @on(FilesChanged)
    def _files_changed(self, event: FilesChanged) -> None:
        if self.state.view is not None:
            self.log_entries(narrate.saved(datetime.now(), event.paths, self.state.view))
        self.desk.saved(event.paths)
        self.bridge.look()

    @on(LookAsked)
    def _look(self) -> None:
        self._told_to_look = True
        self.bridge.look()

    @on(CopyAsked)
    def _copy(self, event: CopyAsked) -> None:
        self.app.copy_to_clipboard(event.text)
        self._say(f"Copied the {event.what}.")

    @on(EditAsked)
    def _edit(self, event: EditAsked) -> None:
        self._open(event.place)

    def _open(self, place: Place) -> None:
        problem = open_editor(self.app, place, os.environ)
        if problem:
            self._say(problem, "warning")
        else:
            self.bridge.look()

    @on(ToggleAsked)
    def _toggle(self, event: ToggleAsked) -> None:
        self.edits.toggle(event)

    @on(TogglePlanned)
    def _toggle_planned(self, event: TogglePlanned) -> None:
        self.edits.toggle_planned(event)

    @on(UndoAsked)
    def _undo(self) -> None:
        self.bridge.plan_undo()

    @on(UndoPlanned)
    def _undo_planned(self, event: UndoPlanned) -> None:
        self.edits.undo_planned(event)

    @on(SettingsWritten)
    def _settings_written(self, event: SettingsWritten) -> None:
        self.edits.written(event)

    @on(LiftAsked)
    def _lift(self, event: LiftAsked) -> None:
        if self.bridge.bench.lift(event.hook):
            self.log_line("quarantine", "lifted: automatic fires run it again", subject=event.hook.name)
            self.bridge.look()

    @on(LateCame)
    def _late_came(self, event: LateCame) -> None:
        self.log_line("late", event.text, "warning", event.who)

    def action_dialect(self) -> None:
        """The next one: each guide, then the program of that host as it ships."""
        view = self.state.view
        if view is None:
            self._say("Still looking.", "warning")
            return
        then = dialect_after(view.host.dialect)
        self.bridge.bench.use_dialect(then.name)
        self._say(f"{then.name}: {then.title}. D goes on to the next.")
        self.bridge.look()

    def action_workers(self) -> None:
        self.app.push_screen(WorkersScreen(self.bridge.bench), lambda _: self._show_keys())

    @on(TrustAsked)
    def _ask_trust(self, event: TrustAsked) -> None:
        self._question(event.folders)

    def _question(self, folders: tuple[Path, ...]) -> None:
        view = self.state.view
        if view is None:
            self._say("Still looking.", "warning")
            return

        def answered(answer: Answer | None) -> None:
            if answer == "trust":
                self.bridge.trust(folders)

        self.app.push_screen(TrustScreen(folders, view, firing=False), answered)

    @on(Trusted)
    def _trusted(self, event: Trusted) -> None:
        if event.problem:
            self.desk.trust_failed()
            self._say(event.problem, "error")
            return
        for folder in event.folders:
            self.log_line("trust", f"{folder} may run now", subject=folder.name)
        self.bridge.look()

    # The composer.

    @on(FirePane.DraftChanged)
    def _drafted(self, event: FirePane.DraftChanged) -> None:
        self.change(Drafted(Draft(event.event, event.only)))

    @on(FirePane.FireAsked)
    def _fire(self, event: FirePane.FireAsked) -> None:
        self.desk.ask(Draft(event.event, event.only, event.guarded))

    @on(FirePane.PlayAsked)
    def _play(self, event: FirePane.PlayAsked) -> None:
        self.desk.play(event.text)

    @on(FirePane.ArmAsked)
    def _arm(self, event: FirePane.ArmAsked) -> None:
        draft, armed = Draft(event.event, event.only), self.state.armed
        if not self.watches:
            self._say("Nothing is watched, so no save would be noticed.", "warning")
        elif armed and same_event(armed.event, draft.event) and armed.only == draft.only:
            self.change(Armed(None))
            self._say(f"{event.event.key} no longer fires on save.")
        else:
            self.change(Armed(draft))
            self._say(f"{event.event.key} fires again whenever a file is saved; w ends it.")

    @on(FirePane.CancelAsked)
    def _cancel(self) -> None:
        self.desk.cancel()

    @on(FirePane.EditAsked)
    def _edit_from_fire(self, event: FirePane.EditAsked) -> None:
        self._open(Place(event.path, event.line))

    @on(FirePane.TrustAsked)
    def _trust_from_fire(self, event: FirePane.TrustAsked) -> None:
        self._question(event.folders)

    @on(LogPane.RunAsked)
    def _run_asked(self, event: LogPane.RunAsked) -> None:
        if self.query_one(FirePane).show_run(event.number):
            self.change(ModeChosen("fire"))
        else:
            self._say(f"Run {event.number} is no longer kept.", "warning")

    @on(PastRuns)
    def _past_runs(self, event: PastRuns) -> None:
        self.query_one(FirePane).remember(event.runs)
        self.log_entries([narrate.remembered(run) for run in event.runs])

    @on(FiringStarted)
    def _firing_started(self, event: FiringStarted) -> None:
        self.change(FiringBegan(event.number))
        self.desk.started(event)

    @on(StepsCame)
    def _steps_came(self, event: StepsCame) -> None:
        self.desk.steps(event)

    @on(PlayOver)
    def _play_over(self, event: PlayOver) -> None:
        self.desk.played(event)

    @on(FiringOver)
    def _firing_over(self, event: FiringOver) -> None:
        self.change(FiringEnded(event.number))
        self.desk.over(event)

    # What is said.

    @on(Said)
    def _said(self, event: Said) -> None:
        self._say(event.text, event.severity)

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.log_line(event.subject, event.text, "error")
        self._say(f"The console failed in {event.subject}: {event.text}", "error")

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.bridge.failed(event.worker.name, event.worker.error)

    def _say(self, text: str, severity: Severity = "information") -> None:
        self.app.notify(plain(text, 400).plain, severity=severity, markup=False)

    def log_line(self, kind: str, text: str, level: str = "info", subject: str = "") -> None:
        """One line of the log."""
        self.log_entries([LogEntry(datetime.now(), kind, subject, text, level)])

    def log_entries(self, entries: Sequence[LogEntry]) -> None:
        """Lines of the log."""
        if entries:
            self.query_one(LogPane).add(entries)

"""The one screen: what its panes, the bridge and its user say, and to whom it goes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from textual import on
from textual.worker import Worker, WorkerState

from hookscope.console.fire import asked
from hookscope.console.focus import pane_of, whereabouts
from hookscope.console.happening import ModeChosen, WentBack, Zoomed
from hookscope.console.header import ModeTab
from hookscope.console.keymap.hints import key_of, with_keys
from hookscope.console.layout import Mode
from hookscope.console.looking import Looker
from hookscope.console.messages import (
    Answered,
    CopyAsked,
    EditAsked,
    Failed,
    FireHookAsked,
    FixAsked,
    LateCame,
    LiftAsked,
    NewAsked,
    NotOpened,
    PacksAsked,
    Said,
    SettingsWritten,
    ToggleAsked,
    TogglePlanned,
    TrustAsked,
    Trusted,
    UndoAsked,
    UndoPlanned,
    Unprotected,
    WhatIfAsked,
)
from hookscope.core.hooks import Place

if TYPE_CHECKING:
    from hookscope.console.app import Console
    from hookscope.console.jump.screen import Going
    from hookscope.console.trust import Answer
    from hookscope.core.trust import TrustTarget


class MainScreen(Looker):
    """Hooks, Fire, Log and Hosts: carries words between panes, desks and bridge."""

    # What the user wants.

    def action_mode(self, mode: Mode) -> None:
        before = self.state
        self.change(ModeChosen(mode))
        if whereabouts(self.state) == whereabouts(before):
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
            self.change(Zoomed(None if self.state.zoom is not None else pane))

    def action_workspaces(self) -> None:
        view = self.state.view
        if view is None:
            self.say("Still looking.", "warning")
            return

        def ask(recent: tuple[Path, ...]) -> None:
            from hookscope.console.workspaces.screen import WorkspaceScreen

            there = WorkspaceScreen(recent, view.host.workspace, view.host.surroundings.cwd)
            self.app.push_screen(there, self.open_workspace)

        def recent() -> tuple[Path, ...]:
            from hookscope.workbench.last_time import last_time

            return last_time().recent()

        self.bridge.ask("workspaces", recent, ask, opens=True)

    def open_workspace(self, folder: Path | None) -> None:
        """Show another one in place of this."""
        if folder is not None:
            self.app.call_later(cast("Console", self.app).open_workspace, folder)

    def action_export(self) -> None:
        self.export.ask()

    def action_jump(self) -> None:
        from hookscope.console.jump.screen import JumpScreen
        from hookscope.console.jump.spots import spots_of

        self.app.push_screen(JumpScreen(spots_of(self)), self._jumped)

    def _jumped(self, go: Going | None) -> None:
        if go is not None:
            go()

    def action_back(self) -> None:
        if self.state.job and self.state.mode == "fire":
            self.desk.cancel()
            return
        before = self.state
        self.change(WentBack())
        if self.state is before:
            self.say(with_keys("Nothing is open here. {console.quit} leaves the console."))

    def compose_event(self, key: str, only: str | None = None, first: str = "") -> None:
        """Go to the composer with a fresh event of this key."""
        self.change(ModeChosen("fire"))
        self.fire_pane.compose_event(key, only, first)

    @on(FireHookAsked)
    def _fire_hook(self, event: FireHookAsked) -> None:
        self.compose_event(event.key, first=event.hook)

    @on(CopyAsked)
    def _copy(self, event: CopyAsked) -> None:
        self.app.copy_to_clipboard(event.text)
        self.say(f"Copied the {event.what}.")

    @on(EditAsked)
    def _edit(self, event: EditAsked) -> None:
        self._open(event.place)

    def _open(self, place: Place) -> None:
        from hookscope.console.editor import open_editor

        view = self.state.view
        workspace = view.host.workspace if view is not None else Path()
        problem = open_editor(self.app, place, os.environ, workspace)
        if problem:
            self.say(problem, "warning")
        else:
            self.bridge.look()

    @on(ToggleAsked)
    def _toggle(self, event: ToggleAsked) -> None:
        self.edits.toggle(event)

    @on(TogglePlanned)
    def _toggle_planned(self, event: TogglePlanned) -> None:
        self.edits.toggle_planned(event)

    @on(FixAsked)
    def _fix(self, event: FixAsked) -> None:
        self.fixes.ask(event)

    @on(NewAsked)
    def _new(self) -> None:
        self.new.ask()

    @on(PacksAsked)
    def _packs(self) -> None:
        self.packs.open()

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
        if self.bridge.bench.crew.lift(event.hook):
            self.log_line("quarantine", "lifted: automatic fires run it again", subject=event.hook.name)
            self.bridge.look()

    @on(LateCame)
    def _late_came(self, event: LateCame) -> None:
        self.log_line("late", event.text, "warning", event.who)

    @on(Unprotected)
    def _warn_unprotected(self, event: Unprotected) -> None:
        self.log_line("copies", event.text, "warning")
        self.say(event.text, "warning")

    def action_dialect(self) -> None:
        """The next one: each guide, then the program of that host as it ships."""
        view = self.state.view
        if view is None:
            self.say("Still looking.", "warning")
            return
        from hookscope.workbench.which_host import dialect_after

        then = dialect_after(view.host.dialect)
        self.bridge.bench.use_dialect(then.name)
        self.say(f"{then.name}: {then.title}. {key_of('console.dialect')} goes on to the next.")
        self.bridge.look()

    def action_what_if(self) -> None:
        self.whatif.open()

    @on(WhatIfAsked)
    def _strip_clicked(self) -> None:
        self.whatif.open()

    def action_all_real(self) -> None:
        self.whatif.reset()

    def action_workers(self) -> None:
        from hookscope.console.workers import WorkersScreen

        if self.bridge.opener.opened is None:
            self.say("Still looking.", "warning")
        else:
            self.app.push_screen(WorkersScreen(self.bridge.bench))

    @on(TrustAsked)
    def _ask_trust(self, event: TrustAsked) -> None:
        self._question(event.folders)

    def _question(self, targets: tuple[TrustTarget, ...]) -> None:
        view = self.state.view
        if view is None:
            self.say("Still looking.", "warning")
            return

        from hookscope.console.trust import allowed, ask_trust

        def answered(answer: Answer | None) -> None:
            if answer == "trust":
                self.bridge.trust(allowed(targets))

        ask_trust(self, targets, view, answered, firing=False)

    @on(Trusted)
    def _trusted(self, event: Trusted) -> None:
        if event.problem:
            if self.sits("desk"):
                self.desk.trust_failed()
            self.say(event.problem, "error")
            return
        for folder in event.folders:
            self.log_line("trust", f"{folder} may run now", subject=folder.name)
        self.bridge.look()

    @on(asked.EditAsked)
    def _edit_from_fire(self, event: asked.EditAsked) -> None:
        self._open(Place(event.path, event.line))

    @on(asked.TrustAsked)
    def _trust_from_fire(self, event: asked.TrustAsked) -> None:
        self._question(event.folders)

    # What is said.

    @on(NotOpened)
    def _not_opened(self, event: NotOpened) -> None:
        cast("Console", self.app).give_up(event.error)

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        event.take()

    @on(Said)
    def _said(self, event: Said) -> None:
        self.say(event.text, event.severity)

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.log_line(event.subject, event.text, "error")
        self.say(f"The console failed in {event.subject}: {event.text}", "error")

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.bridge.failed(event.worker.name, event.worker.error)

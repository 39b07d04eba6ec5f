"""Which controller takes which message of the panes, of threads and of other controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from hookscope.console.panes.log_pane import LogPane
from hookscope.console.state import fire_requests, messages
from hookscope.console.state.console_message import ConsoleMessage
from hookscope.console.state.console_state import ComposedEvent
from hookscope.console.state.state_changes import EventComposed, JobChanged, ModeChosen
from hookscope.console.widgets.header import ModeTab
from hookscope.model.hook import FilePosition

if TYPE_CHECKING:
    from hookscope.console.context import ConsoleContext
    from hookscope.console.controllers.registry import Controllers

Routed = TypeVar("Routed", bound=ConsoleMessage)


class MessageRoutes:
    """A table from the class of a message to what takes it."""

    def __init__(self) -> None:
        self._takers: dict[type[ConsoleMessage], Callable[[Any], object]] = {}

    def add(self, kind: type[Routed], take: Callable[[Routed], object]) -> None:
        """Messages of this class are taken by that."""
        self._takers[kind] = take

    def take(self, message: ConsoleMessage) -> None:
        """Hand a message to what takes its class."""
        self._takers[type(message)](message)


def console_routes(
    context: ConsoleContext, made: Controllers, give_up: Callable[[Exception], object]
) -> MessageRoutes:
    """The routes of the main screen. A controller is made when its first message comes."""
    routes = MessageRoutes()
    _route_firing(routes, context, made)
    _route_runs(routes, made)
    _route_saved_events(routes, made)
    _route_hooks(routes, made)
    _route_scans(routes, context, made)
    _route_reports(routes, context, give_up)
    return routes


def _route_firing(routes: MessageRoutes, context: ConsoleContext, made: Controllers) -> None:
    """What the composer asks for, and the jobs that come of it."""
    add = routes.add
    add(
        fire_requests.DraftChanged,
        lambda m: context.change(EventComposed(ComposedEvent(m.event, m.only))),
    )
    add(
        fire_requests.FireRequested,
        lambda m: made.desk.ask(ComposedEvent(m.event, m.only, m.guarded, m.written, m.way, m.file)),
    )
    add(
        fire_requests.FireOnSaveRequested,
        lambda m: made.desk.arm(ComposedEvent(m.event, m.only, written=True, file=m.file)),
    )
    add(fire_requests.EnvironmentChosen, lambda m: made.workspaces.use_environment(m.name))
    add(fire_requests.FuzzRequested, lambda m: made.desk.fuzz(m.event, m.only))
    add(fire_requests.SessionRequested, lambda m: made.desk.play(m.text))
    add(fire_requests.StepRequested, lambda m: made.desk.step(m.word))
    add(fire_requests.CancelRequested, lambda _: made.desk.cancel())
    add(fire_requests.DebuggerRequested, lambda _: made.debugging.open())
    add(messages.ComposeForHookRequested, lambda m: context.compose_event(m.key, first=m.hook))
    add(messages.JobStarted, lambda m: context.change(JobChanged(m.job)))
    add(messages.JobEnded, lambda _: made.desk.rested())


def _route_runs(routes: MessageRoutes, made: Controllers) -> None:
    """What runs do, and what is asked of them."""
    add = routes.add
    add(messages.FiringStarted, lambda m: made.desk.started(m))
    add(messages.StepsReported, lambda m: made.desk.steps(m))
    add(messages.FiringEnded, lambda m: made.desk.over(m))
    add(messages.SessionEnded, lambda m: made.desk.played(m))
    add(messages.HandlerStopped, lambda m: made.debugging.stopped(m))
    add(messages.DebugEnded, lambda _: made.debugging.over())
    add(fire_requests.ReplayRequested, lambda m: made.comparing.replay(m.start))
    add(fire_requests.ComparisonRequested, lambda _: made.comparing.show())
    add(LogPane.RunAsked, lambda m: made.desk.show_run(m.number))
    add(messages.PastRunsLoaded, lambda m: made.scan.past_runs(m))


def _route_saved_events(routes: MessageRoutes, made: Controllers) -> None:
    """Saved events, and those that a tap has recorded."""
    add = routes.add
    add(fire_requests.SavedEventsRequested, lambda _: made.saved.show_list())
    add(fire_requests.SaveEventRequested, lambda m: made.saved.save(m.saved, m.file, m.draft))
    add(fire_requests.AcceptRequested, lambda m: made.saved.accept(m.number, m.checked))
    add(LogPane.RealAsked, lambda m: (made.real.save if m.save else made.real.open)(m.name))
    add(LogPane.TapAsked, lambda _: made.real.show_lists())
    add(messages.RealEventsReported, lambda m: made.real.came(m))


def _route_hooks(routes: MessageRoutes, made: Controllers) -> None:
    """What is asked of hooks: edits, trust, new ones, packs, hosts."""
    add = routes.add
    add(messages.ToggleRequested, lambda m: made.edits.toggle(m))
    add(messages.TogglePlanned, lambda m: made.edits.toggle_planned(m))
    add(messages.UndoPlanned, lambda m: made.edits.undo_planned(m))
    add(messages.SettingsWritten, lambda m: made.edits.written(m))
    add(messages.FixRequested, lambda m: made.fixes.ask(m))
    add(messages.EditorRequested, lambda m: made.editor.open(m.place))
    add(fire_requests.SourceEditRequested, lambda m: made.editor.open(FilePosition(m.path, m.line)))
    add(messages.TrustRequested, lambda m: made.trust.ask(m.folders))
    add(fire_requests.FoldersTrustRequested, lambda m: made.trust.ask(m.folders))
    add(messages.TrustWritten, lambda m: made.trust.written(m))
    add(messages.QuarantineEndRequested, lambda m: made.desk.lift_quarantine(m.hook))
    add(messages.NewHookRequested, lambda _: made.new.ask())
    add(messages.PacksRequested, lambda _: made.packs.open())
    add(messages.HostsRequested, lambda m: made.hosts.asked(m.what))
    add(messages.WhatIfRequested, lambda _: made.whatif.open())


def _route_scans(routes: MessageRoutes, context: ConsoleContext, made: Controllers) -> None:
    """What changes the state, and what is found on disk."""
    add = routes.add
    add(messages.StateChanged, lambda m: made.scan.changed(m))
    add(messages.ScanRequested, lambda _: made.scan.look())
    add(messages.FilesChanged, lambda m: made.scan.files_changed(m))
    add(messages.PreferencesSaved, lambda _: made.preferences.read_again())
    add(messages.UndoRequested, lambda _: context.bridge.plan_undo())
    add(ModeTab.Clicked, lambda m: context.change(ModeChosen(m.mode)))


def _route_reports(
    routes: MessageRoutes, context: ConsoleContext, give_up: Callable[[Exception], object]
) -> None:
    """What is only shown, and what a thread has answered."""

    def unprotected(message: messages.UnprotectedReported) -> None:
        context.log_line("copies", message.text, "warning")
        context.notify(message.text, "warning")

    def copy(message: messages.CopyRequested) -> None:
        context.copy(message.text)
        context.notify(f"Copied the {message.what}.")

    def failed(message: messages.ConsoleTaskFailed) -> None:
        context.log_line(message.subject, message.text, "error")
        context.notify(f"The console failed in {message.subject}: {message.text}", "error")

    add = routes.add
    add(messages.ThreadAnswered, lambda m: m.take())
    add(messages.WorkbenchFailed, lambda m: give_up(m.error))
    add(messages.LateOutputReported, lambda m: context.log_line("late", m.text, "warning", m.who))
    add(messages.UnprotectedReported, unprotected)
    add(messages.CopyRequested, copy)
    add(messages.ConsoleTaskFailed, failed)

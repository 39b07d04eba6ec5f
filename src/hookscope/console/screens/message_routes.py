"""The controller for each message from panes, threads and other controllers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from hookscope.console.panes.log_pane import LogPane
from hookscope.console.state import fire_requests, messages, state_changes
from hookscope.console.state.console_message import ConsoleMessage
from hookscope.console.state.console_state import ComposedEvent
from hookscope.console.theme.text_styles import safe_word
from hookscope.console.widgets.header import ModeTab
from hookscope.model.hook_status import State

if TYPE_CHECKING:
    from hookscope.console.context import ConsoleContext
    from hookscope.console.controllers.registry import Controllers

Routed = TypeVar("Routed", bound=ConsoleMessage)


class MessageRoutes:
    """Handlers by message class."""

    def __init__(self) -> None:
        self._handlers: dict[type[ConsoleMessage], Callable[[Any], object]] = {}

    def add(self, kind: type[Routed], handler: Callable[[Routed], object]) -> None:
        """Register the handler of a message class."""
        self._handlers[kind] = handler

    def handle(self, message: ConsoleMessage) -> None:
        """Call the handler of the message's class."""
        self._handlers[type(message)](message)


def console_routes(
    context: ConsoleContext, controllers: Controllers, give_up: Callable[[Exception], object]
) -> MessageRoutes:
    """Return the routes of the main screen. A controller is created for its first message."""
    routes = MessageRoutes()
    _route_commands(routes, context, controllers)
    _route_firing(routes, context, controllers)
    _route_runs(routes, controllers)
    _route_saved_events(routes, controllers)
    _route_hooks(routes, context, controllers)
    _route_scans(routes, context, controllers)
    _route_reports(routes, context, give_up)
    return routes


def _show_why(context: ConsoleContext, message: messages.WhyRequested) -> None:
    """Show in the Hooks mode why this hook runs or not on this event."""
    view, hook = context.state.view, message.hook
    if isinstance(hook, str):
        named = [row for row in context.state.rows if row.name == hook]
        row = min(named, key=lambda row: row.state is State.SHADOWED, default=None)
    else:
        item = view.status_of(hook) if view is not None else None
        row = next((row for row in context.state.rows if item is not None and row.item is item), None)
    if row is None:
        name = hook if isinstance(hook, str) else hook.name
        context.notify(f"{safe_word(name)} is no longer listed.", "warning")
        return
    context.change(state_changes.RowJumpedTo(row.id, message.key))
    context.change(state_changes.SideChosen("why"))


def _route_commands(routes: MessageRoutes, context: ConsoleContext, controllers: Controllers) -> None:
    """Add the route of requests that have no data."""
    calls: dict[messages.Command, Callable[[], object]] = {
        "cancel": lambda: controllers.fire.cancel(),
        "compare runs": lambda: controllers.comparing.show(),
        "debugger": lambda: controllers.debugging.open(),
        "fix all": lambda: controllers.fixes.ask_all(),
        "new hook": lambda: controllers.new.ask(),
        "packs": lambda: controllers.packs.open(),
        "saved events": lambda: controllers.saved.show_list(),
        "scan": lambda: controllers.scan.scan(),
        "tap status": lambda: controllers.real.show_lists(),
        "undo": lambda: context.bridge.plan_undo(),
        "what if": lambda: controllers.whatif.open(),
    }
    routes.add(messages.CommandRequested, lambda m: calls[m.command]())


def _route_firing(routes: MessageRoutes, context: ConsoleContext, controllers: Controllers) -> None:
    """Add the routes of the composer's requests, and of jobs."""
    add = routes.add
    add(
        fire_requests.DraftChanged,
        lambda m: context.change(state_changes.EventComposed(ComposedEvent(m.event, m.only))),
    )
    add(fire_requests.FireRequested, lambda m: controllers.fire.ask(m.asked))
    add(fire_requests.FireOnSaveRequested, lambda m: controllers.fire.arm(m.asked))
    add(fire_requests.EnvironmentChosen, lambda m: controllers.workspaces.use_environment(m.name))
    add(fire_requests.FuzzRequested, lambda m: controllers.fire.fuzz(m.event, m.only))
    add(fire_requests.SessionRequested, lambda m: controllers.fire.play(m.text))
    add(fire_requests.StepRequested, lambda m: controllers.fire.step(m.word))
    add(
        messages.ComposeForHookRequested,
        lambda m: context.compose_event(m.key, m.hook if m.fires else None, m.hook, fires=m.fires),
    )
    add(messages.JobStarted, lambda m: context.change(state_changes.JobChanged(m.job)))
    add(messages.JobEnded, lambda _: controllers.fire.job_ended())


def _route_runs(routes: MessageRoutes, controllers: Controllers) -> None:
    """Add the routes of reports and requests about runs."""

    def ended(message: messages.FiringEnded) -> None:
        controllers.fire.ended(message)
        controllers.real.refresh_session()

    add = routes.add
    add(messages.FiringStarted, lambda m: controllers.fire.started(m))
    add(messages.StepsReported, lambda m: controllers.fire.steps(m))
    add(messages.FiringEnded, ended)
    add(messages.SessionEnded, lambda m: controllers.fire.session_ended(m))
    add(messages.HandlerStopped, lambda m: controllers.debugging.stopped(m))
    add(messages.DebugEnded, lambda _: controllers.debugging.ended())
    add(fire_requests.ReplayRequested, lambda m: controllers.comparing.replay(m.start))
    add(LogPane.RunRequested, lambda m: controllers.fire.show_run(m.number))
    add(messages.PastRunsLoaded, lambda m: controllers.scan.past_runs(m))


def _route_saved_events(routes: MessageRoutes, controllers: Controllers) -> None:
    add = routes.add
    add(fire_requests.SaveEventRequested, lambda m: controllers.saved.save(m))
    add(fire_requests.AcceptRequested, lambda m: controllers.saved.accept(m.number, m.checked))
    add(
        LogPane.RealEventRequested,
        lambda m: (controllers.real.save if m.save else controllers.real.open)(m.name),
    )
    add(LogPane.DetailsRequested, lambda m: controllers.real.details(m.entry))
    add(LogPane.SessionRequested, lambda m: controllers.real.show_session(m.session))
    add(messages.RealEventsReported, lambda m: controllers.real.show(m))


def _route_hooks(routes: MessageRoutes, context: ConsoleContext, controllers: Controllers) -> None:
    """Add the routes of requests about hooks: edits, trust, new hooks, packs, hosts."""
    add = routes.add
    add(messages.ToggleRequested, lambda m: controllers.edits.toggle(m))
    add(messages.TogglePlanned, lambda m: controllers.edits.toggle_planned(m))
    add(messages.UndoPlanned, lambda m: controllers.edits.undo_planned(m))
    add(messages.SettingsWritten, lambda m: controllers.edits.written(m))
    add(messages.WhyRequested, lambda m: _show_why(context, m))
    add(messages.FixRequested, lambda m: controllers.fixes.ask(m))
    add(messages.EditorRequested, lambda m: controllers.editor.open(m.place))
    add(messages.TrustRequested, lambda m: controllers.trust.ask(m.folders))
    add(messages.TrustWritten, lambda m: controllers.trust.written(m))
    add(messages.QuarantineEndRequested, lambda m: controllers.fire.lift_quarantine(m.hook))
    add(messages.HostsRequested, lambda m: controllers.hosts.handle(m.what))


def _route_scans(routes: MessageRoutes, context: ConsoleContext, controllers: Controllers) -> None:
    add = routes.add
    add(messages.StateChanged, lambda m: controllers.scan.changed(m))
    add(messages.FilesChanged, lambda m: controllers.scan.files_changed(m))
    add(messages.PreferencesSaved, lambda _: controllers.preferences.read_again())
    add(ModeTab.Clicked, lambda m: context.change(state_changes.ModeChosen(m.mode)))


def _route_reports(
    routes: MessageRoutes, context: ConsoleContext, give_up: Callable[[Exception], object]
) -> None:
    """Add the routes of notices and of results of threads."""

    def unprotected(message: messages.UnprotectedReported) -> None:
        context.log_line("copies", message.text, "warning", toast=message.text)

    def copy(message: messages.CopyRequested) -> None:
        context.copy(message.text)
        context.notify(f"Copied the {message.what}.")

    def failed(message: messages.ConsoleTaskFailed) -> None:
        toast = f"The console failed in {message.subject}: {message.text}"
        context.log_line(message.subject, message.text, "error", toast=toast)

    add = routes.add
    add(messages.ThreadAnswered, lambda m: m.call())
    add(messages.WorkbenchFailed, lambda m: give_up(m.error))
    add(messages.LateOutputReported, lambda m: context.log_line("late", m.text, "warning", m.who))
    add(messages.UnprotectedReported, unprotected)
    add(messages.CopyRequested, copy)
    add(messages.ConsoleTaskFailed, failed)

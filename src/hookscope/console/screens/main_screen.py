"""The main screen: owns the panes and controllers, shows the state, and handles the keys of all panes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from hookscope.console.context import AppServices, ConsoleContext
from hookscope.console.controllers.bridge import Bridge
from hookscope.console.controllers.registry import Controllers
from hookscope.console.keymap import available_actions
from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.panes.hook_list import HookList
from hookscope.console.panes.pane_set import PaneSet
from hookscope.console.screens.message_routes import console_routes
from hookscope.console.state import state_changes
from hookscope.console.state.console_message import ConsoleMessage
from hookscope.console.state.console_state import ConsoleState, Mode
from hookscope.console.state.fire_requests import PartsMounted
from hookscope.console.state.messages import NoticeShown
from hookscope.console.theme.text_styles import safe_text
from hookscope.console.widgets.focus_targets import (
    first_focusable,
    focus_place,
    jump_targets_of,
    pane_of,
    pane_to_focus,
)
from hookscope.console.widgets.painting import PaintedOnce

if TYPE_CHECKING:
    from textual.screen import Screen

    from hookscope.console.controllers.bridge import WorkbenchOpener
    from hookscope.console.dialogs.jump import JumpAction
    from hookscope.console.dialogs.palette import PaletteSource
    from hookscope.console.widgets.task_bar import Task

STILL_SCANNING = "Still scanning."
# These need the first scan.
SCAN_ACTIONS = frozenset(
    {"dialect", "what_if", "all_real", "verify", "report", "workers", "workspaces", "share"}
)


class PaneFocus:
    """The focus of one screen. Moving it to another pane changes the state."""

    def __init__(
        self,
        screen: Screen[Any],
        store: state_changes.ConsoleStore,
        panes: PaneSet,
        moved: Callable[[], object],
    ) -> None:
        """`moved` is called once the focus is in its pane."""
        self._screen, self._store, self._panes, self._moved = screen, store, panes, moved
        self.settled = True  # False while the focus moves to the wanted pane

    def came_to(self, widget: Widget) -> None:
        """Handle a widget that has received the focus."""
        pane = pane_of(widget)
        if self.settled or pane == pane_to_focus(self._store.state):
            self.settled = True
            if pane is not None and pane in self._panes.shown:
                self._store.change(state_changes.PaneFocused(pane))
        self._moved()

    def settle(self) -> None:
        """Move the focus to the pane that the state names."""
        self.settled = False  # events about an older focus are ignored
        if self._store.state.filtering:  # the filter field is about to take the focus
            self._screen.call_after_refresh(self.settle_now)
        else:  # at once: hiding the focused pane would first move the focus elsewhere
            self.settle_now()

    def settle_now(self) -> None:
        """Move the focus to its pane without delay."""
        screen, panes = self._screen, self._panes
        wanted, target = pane_to_focus(self._store.state), None
        if (wanted == "fire" and not panes.fire_pane.parts_mounted) or (
            wanted == "hosts" and not panes.hosts_pane.parts_mounted
        ):
            return  # PartsMounted follows
        if not self._store.state.filtering and pane_of(screen.focused) != wanted and panes.shown:
            target = first_focusable(screen.query_one("#rows" if wanted == "list" else f"#{wanted}"))
        if target is not None:
            screen.set_focus(target, scroll_visible=False)  # at once: the app may wait for this focus
            screen.call_after_refresh(self._bring_in_sight, target)
        if target is None or screen.focused is not target:
            self.settled = True  # else the focus event does this
            self._moved()

    def _bring_in_sight(self, widget: Widget) -> None:
        """Scroll to the focused widget once its place is known."""
        screen = self._screen
        if screen.focused is widget and not screen.can_view_entire(widget):
            screen.scroll_to_center(widget, origin_visible=True)


class MainScreen(PaintedOnce[None]):
    """The screen with Hooks, Fire, Log and Hosts."""

    BINDINGS: ClassVar[list[BindingType]] = [*available_actions.GLOBAL_BINDINGS]
    AUTO_FOCUS = "#rows"

    def __init__(
        self, opener: WorkbenchOpener, services: AppServices, *, watches: bool, tasks: Sequence[Task] = ()
    ) -> None:
        """`watches`: scan again when files change. `tasks`: shown one after another above the keys."""
        super().__init__()
        self.store = state_changes.ConsoleStore(self._state_changed)
        self.bridge = Bridge(self, opener)
        self.panes = PaneSet(self, self.store, tasks)
        self.pane_focus = PaneFocus(self, self.store, self.panes, self._show_keys)
        self.context = ConsoleContext(self.store, self.bridge, self.panes, self)
        self.controllers = Controllers(self.context, services, watches=watches)
        self._last_keys = ("", "")  # the last two pressed
        self._routes = console_routes(self.context, self.controllers, services.give_up)

    @property
    def state(self) -> ConsoleState:
        return self.store.state

    def compose(self) -> Iterator[Widget]:
        yield from self.panes.compose()

    def on_mount(self) -> None:
        made = self.controllers
        self.bindings_updated_signal.subscribe(self, lambda _: self._show_keys())
        self._show(self.state)
        made.preferences.read()
        self.app.theme_changed_signal.subscribe(self, made.preferences.theme_changed)
        self.set_focus(self.query_one(HookList))
        # After the first frame: nothing is painted while the app starts.
        self.app.call_later(self.call_after_refresh, self.bridge.open, self._opened)

    def _opened(self) -> None:
        """The workbench is open: restore the view, and scan."""
        self.controllers.restore.begin()

    def on_screen_resume(self) -> None:
        self._show_keys()  # not updated while a dialog is open

    def on_unmount(self) -> None:
        self.controllers.close()

    # What is shown.

    def _state_changed(self, before: ConsoleState) -> None:
        self._show(before)
        self._compare_hosts()
        if self.panes.task_bar is not None:
            self.panes.task_bar.check_state(self.state)

    def _compare_hosts(self) -> None:
        if self.controllers.is_created("hosts") or "hosts" in self.panes.shown:
            self.controllers.hosts.refresh()

    def _show(self, before: ConsoleState) -> None:
        state, panes = self.state, self.panes
        with self.app.batch_update():
            self._arrange()
            panes.show(before)
            if state.draft is not before.draft and panes.is_created("fire_pane"):
                self.controllers.fire.show_plan()
            if state.view is not before.view:
                panes.show_problems(self.controllers.preferences.problems)
        self.controllers.source.read_selected()
        self._show_keys()
        if focus_place(before) != focus_place(state):
            self.pane_focus.settle()

    def _show_keys(self) -> None:
        """Update the key bar, unless the focus is about to move to a widget with other keys."""
        if self.is_mounted and self.pane_focus.settled and self.app.screen is self:
            self.query_one(available_actions.KeyBar).keys = available_actions.keys_of_screen(self, self.state)

    def _arrange(self, width: int = 0, height: int = 0) -> None:
        if self.panes.arrange(width, height):  # the focused widget was hidden
            self.call_after_refresh(self.pane_focus.settle_now)

    def on_resize(self, event: events.Resize) -> None:
        self._arrange(event.size.width, event.size.height)

    @on(PartsMounted)
    def _parts_mounted(self) -> None:
        """Focus the parts of a new pane if the state still names that pane."""
        if "hosts" in self.panes.shown:
            self.controllers.hosts.refresh()
        self.pane_focus.settle()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.pane_focus.came_to(event.widget)

    @property
    def is_half_painted(self) -> bool:
        """True while the focus moves. The old and the new focused widget are painted together."""
        return not self.pane_focus.settled

    @property
    def is_settled(self) -> bool:
        """True if the focus has arrived and no dialog is about to open."""
        return self.is_mounted and self.pane_focus.settled and not self.bridge.awaits_dialog

    def touched(self, key: str) -> None:
        """Note a key (empty for a click) before it acts. The user intends the next change of focus."""
        if key:
            self._last_keys = (self._last_keys[1], key)
        self.pane_focus.settled = True
        self.controllers.restore.touched()

    # Messages.

    @on(ConsoleMessage)
    def _route(self, message: ConsoleMessage) -> None:
        self._routes.handle(message)
        if self.panes.task_bar is not None:
            self.panes.task_bar.check_message(message)

    @on(NoticeShown)
    def _notify(self, event: NoticeShown) -> None:
        self.app.notify(safe_text(event.text, 400).plain, severity=event.severity, markup=False)

    @on(Worker.StateChanged)
    def _worker_changed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.bridge.failed(event.worker.name, event.worker.error)

    # Keys of all panes.

    def cannot(self, action: str) -> str:
        """Return why an action would have no effect; the menu then omits it."""
        if action == "zoom" and self.state.zoom is None and len(self.panes.shown) == 1:
            return "This is the only pane."
        if action in SCAN_ACTIONS and self.state.view is None:
            return STILL_SCANNING
        return self.controllers.whatif.why_no_reset() if action == "all_real" else ""

    def action_mode(self, mode: Mode) -> None:
        before = self.state
        self.store.change(state_changes.ModeChosen(mode))
        if focus_place(self.state) == focus_place(before):
            self.context.notify(f"{mode.capitalize()} is already shown.")

    def action_fire(self) -> None:
        self.context.fire_composed()

    def action_zoom(self) -> None:
        pane, zoom = pane_of(self.focused), self.state.zoom
        if zoom is None and pane is None:
            self.context.notify(with_keys("No pane has the focus: {console.next} selects one."), "warning")
        elif why := self.cannot("zoom"):
            self.context.notify(why)
        else:
            self.store.change(state_changes.PaneZoomed(None if zoom is not None else pane))

    def action_back(self) -> None:
        if self.state.job and self.state.mode == "fire":
            self.controllers.fire.cancel()
            return
        before = self.state
        is_second = self._last_keys[0] == self._last_keys[1]
        if before.mode != "hooks" and before.zoom is None and not is_second:
            self.context.notify(with_keys("Press {console.back} again to go back to Hooks."))
            return
        self.store.change(state_changes.SteppedBack())
        if self.state is before:
            self.context.notify(with_keys("Nothing is open here. {console.quit} leaves the console."))

    def action_jump(self) -> None:
        from hookscope.console.dialogs.jump import JumpScreen

        def jump(go: JumpAction | None) -> None:
            if go is not None:
                go()

        self.app.push_screen(JumpScreen(jump_targets_of(self)), jump)

    def action_menu(self) -> None:
        from hookscope.console.dialogs.help import MenuScreen

        def run(action: available_actions.AvailableAction | None) -> None:
            if action is not None:
                self.app.call_later(available_actions.run_action, self.app, action)

        self.app.push_screen(MenuScreen(self, self.state), run)

    def palette_source(self) -> PaletteSource:
        """Return the hooks, events and runs that the palette finds."""
        from hookscope.console.dialogs.palette import PaletteSource

        made = self.controllers
        return PaletteSource(self.context, lambda file: made.saved.load(file), made.workspaces.open)

    def action_workspaces(self) -> None:
        self.controllers.workspaces.ask()

    def action_export(self) -> None:
        self.controllers.export.ask()

    def action_share(self) -> None:
        self.controllers.export.share()

    def action_dialect(self) -> None:
        self.controllers.workspaces.next_dialect()

    def action_what_if(self) -> None:
        self.controllers.whatif.open()

    def action_all_real(self) -> None:
        self.controllers.whatif.reset()

    def action_verify(self) -> None:
        self.controllers.verification.ask()

    def action_report(self) -> None:
        self.controllers.verification.write_report()

    def action_workers(self) -> None:
        from hookscope.console.dialogs.tap_and_workers import WorkersScreen

        if self.bridge.opener.opened is None:
            self.context.notify(STILL_SCANNING, "warning")
        else:
            self.app.push_screen(WorkersScreen(self.bridge.bench))

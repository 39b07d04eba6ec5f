"""Keeps the focus in the pane that the screen is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.widget import Widget

from hookscope.console.state.state_changes import ConsoleStore, PaneFocused
from hookscope.console.widgets.focus_targets import first_focusable, pane_of, pane_wanted

if TYPE_CHECKING:
    from textual.screen import Screen

    from hookscope.console.panes.pane_set import PaneSet


class PaneFocus:
    """The focus of one screen. A key that moves it elsewhere changes what the screen is about."""

    def __init__(
        self, screen: Screen[Any], store: ConsoleStore, panes: PaneSet, moved: Callable[[], object]
    ) -> None:
        """`moved`: the focus is where it belongs."""
        self._screen, self._store, self._panes, self._moved = screen, store, panes, moved
        self.settled = True  # the focus is not on its way to the pane that is wanted

    def came_to(self, widget: Widget) -> None:
        """A widget got the focus."""
        pane = pane_of(widget)
        if self.settled or pane == pane_wanted(self._store.state):
            self.settled = True
            if pane is not None and pane in self._panes.shown:
                self._store.change(PaneFocused(pane))
        self._moved()

    def settle(self) -> None:
        """The focus goes to what the screen is about now."""
        self.settled = False  # news of an older focus says nothing any more
        if self._store.state.filtering:  # it is on its way to where one types
            self._screen.call_after_refresh(self.settle_now)
        else:  # at once: a pane that is hidden with the focus in it would pass it on to some other first
            self.settle_now()

    def settle_now(self) -> None:
        """The keys belong to the pane that was asked for."""
        screen, panes = self._screen, self._panes
        wanted, target = pane_wanted(self._store.state), None
        if (wanted == "fire" and not panes.fire_pane.furnished) or (
            wanted == "hosts" and not panes.hosts_pane.furnished
        ):
            return  # it says when it is
        if not self._store.state.filtering and pane_of(screen.focused) != wanted and panes.shown:
            target = first_focusable(screen.query_one("#rows" if wanted == "list" else f"#{wanted}"))
        if target is not None:
            screen.set_focus(target, scroll_visible=False)  # at once: the app itself may wait for it
            screen.call_after_refresh(self._bring_in_sight, target)
        if target is None or screen.focused is not target:
            self.settled = True  # else the news of it is what is waited for
            self._moved()

    def _bring_in_sight(self, widget: Widget) -> None:
        """Scroll to what has the focus, now that its place is known."""
        screen = self._screen
        if screen.focused is widget and not screen.can_view_entire(widget):
            screen.scroll_to_center(widget, origin_visible=True)

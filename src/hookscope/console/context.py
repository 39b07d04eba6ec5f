"""The part of the console that controllers may use: state, workbench, panes, messages and timers."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from hookscope.console.state.log_entries import LogEntry
from hookscope.console.state.messages import NoticeShown, Severity, post_to
from hookscope.console.state.state_changes import ModeChosen
from hookscope.model.text import local_now

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

    from textual.app import App
    from textual.message import Message
    from textual.screen import Screen
    from textual.timer import Timer
    from textual.widget import Widget

    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.console.controllers.bridge import Bridge
    from hookscope.console.controllers.job_runner import JobRunner
    from hookscope.console.panes.pane_set import PaneSet
    from hookscope.console.state.console_state import ConsoleState
    from hookscope.console.state.state_changes import ConsoleStore, StateChange
    from hookscope.console.theme.theme_manager import ThemeManager
    from hookscope.console.widgets.painting import PaintedOnce

DialogAnswer = TypeVar("DialogAnswer")
SEVERITIES: Mapping[str, Severity] = {"error": "error", "warning": "warning"}  # by the level of an entry


@dataclass(frozen=True)
class ConsoleContext:
    """Gives controllers the parts of the console that they may use, but not the screen itself."""

    store: ConsoleStore
    bridge: Bridge
    panes: PaneSet
    _screen: PaintedOnce[None]  # receives the messages, and owns timers and workers

    @property
    def state(self) -> ConsoleState:
        return self.store.state

    def change(self, change: StateChange) -> None:
        """Apply a change to the state, and show the result."""
        self.store.change(change)

    @property
    def bench(self) -> Workbench:
        """The workbench; the first access opens it."""
        return self.bridge.bench

    def scanned(self) -> Snapshot | None:
        """Return the last snapshot. Before the first scan has ended: notify the user, and return None."""
        if self.state.view is None:
            self.notify("Still scanning.", "warning")
        return self.state.view

    @cached_property
    def runner(self) -> JobRunner:
        from hookscope.console.controllers.job_runner import JobRunner  # not needed for the first paint

        return JobRunner(self._screen, self.bridge)

    # Answers to the user.

    def notify(self, text: str, severity: Severity = "information") -> None:
        """Show a toast. Safe from any thread."""
        self.post(NoticeShown(text, severity))

    def log_line(
        self, kind: str, text: str, level: str = "info", subject: str = "", *, toast: str = ""
    ) -> None:
        """Add an entry to the log; `toast` as in `log_entries`."""
        self.log_entries([LogEntry(local_now(), kind, subject, text, level)], toast=toast)

    def log_entries(self, entries: Sequence[LogEntry], *, toast: str = "") -> None:
        """Add entries to the log. `toast`: shown too, unless the log shows the whole last entry."""
        if not entries:
            return
        log, entry = self.panes.log, entries[-1]
        log.add(entries)
        is_log_visible = "log" in self.panes.shown and not self.is_covered
        if toast and not (is_log_visible and log.shows_whole(entry)):
            self.notify(toast, SEVERITIES.get(entry.level, "information"))

    def push_dialog(
        self, dialog: Screen[DialogAnswer], then: Callable[[DialogAnswer | None], None] | None = None
    ) -> None:
        """Open a dialog over the panes; `then` receives its answer."""
        self._screen.app.push_screen(dialog, then)

    @property
    def focused(self) -> Widget | None:
        """The focused widget of the panes."""
        return self._screen.focused

    @property
    def is_covered(self) -> bool:
        """True if another screen is above the panes."""
        return self._screen.app.screen is not self._screen  # Textual also calls a covered screen current

    def copy(self, text: str) -> None:
        """Copy a text to the clipboard."""
        self._screen.app.copy_to_clipboard(text)

    def compose_event(
        self, key: str, only: str | None = None, first: str = "", *, fires: bool = False
    ) -> None:
        """Open Fire mode with a new event of this key, and fire it if `fires`.

        `only`: the only hook to call. `first`: the hook at which the event's runs open.
        """
        self.change(ModeChosen("fire"))
        self.panes.fire_pane.event_view.compose_event(key, only, first, focus=not fires)
        if fires:
            self.panes.fire_pane.fire_composed()

    def fire_composed(self) -> None:
        """Open Fire mode, and fire the event in the composer."""
        self.change(ModeChosen("fire"))
        self.panes.fire_pane.fire_composed()

    # Messages, timers and workers.

    def post(self, message: Message) -> None:
        """Send a message to its controller. Safe from any thread."""
        post_to(self._screen, message)

    @property
    def is_mounted(self) -> bool:
        """True if the panes are mounted."""
        return self._screen.is_mounted

    def after(self, seconds: float, call: Callable[[], object], name: str) -> Timer:
        """Call a function after a delay."""
        return self._screen.set_timer(seconds, call, name=name)

    def after_paint(self, call: Callable[[], object]) -> None:
        """Call a function once the terminal shows the latest changes."""
        self._screen.call_after_paint(call)

    def after_refresh(self, call: Callable[[], object]) -> None:
        """Call a function after the next layout."""
        self._screen.call_after_refresh(call)

    def run(self, work: Coroutine[Any, Any, object], name: str, group: str) -> None:
        """Run a coroutine in the background; a failure becomes a message."""
        self._screen.run_worker(work, name=name, group=group, exit_on_error=False)

    def batch(self) -> AbstractContextManager[None]:
        """Paint all changes in this block at once."""
        return self._screen.app.batch_update()


@dataclass(frozen=True)
class AppServices:
    """Parts of the app that its main screen gets."""

    app: App[Any]
    themes: ThemeManager
    give_up: Callable[[Exception], object]  # ends the console: the workbench cannot be opened
    open_workspace: Callable[[Path], Coroutine[Any, Any, object]]  # replaces the current workspace

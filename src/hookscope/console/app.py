"""The Textual app: theme, keymap, workspaces, and a queue that handles keys in the order typed."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from contextvars import Context
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from textual.app import App, ScreenStackError
from textual.binding import Binding, BindingType
from textual.dom import DOMNode
from textual.events import Event, Key, MouseDown, MouseScrollDown, MouseScrollUp, Paste
from textual.message_pump import MessagePump
from textual.screen import ModalScreen
from textual.widgets import Input

from hookscope.console.context import AppServices
from hookscope.console.controllers.bridge import WorkbenchOpener
from hookscope.console.keymap.active_keys import DEFAULT_KEYMAP, Keymap, active_keymap, use_keymap
from hookscope.console.keymap.available_actions import focused_nodes
from hookscope.console.process import IdleCollector
from hookscope.console.screens.main_screen import MainScreen
from hookscope.console.theme.theme_manager import ThemeManager, read_theme_files
from hookscope.model.failure import Refusal

if TYPE_CHECKING:
    from textual.notifications import Notify

    from hookscope.app.options import Options
    from hookscope.app.workbench import Workbench
    from hookscope.console.keymap.available_actions import AvailableAction
    from hookscope.console.widgets.task_bar import Task


KEY_TIMEOUT = 2.0  # seconds; a key waits no longer for the effects of the previous key
THREAD_POLL = 0.005  # seconds between two checks whether a thread has answered

KeyPress: TypeAlias = Key | Paste


class KeyQueue:
    """Handles one key at a time: later keys wait until the effects of the earlier one are complete."""

    def __init__(self, app: Console) -> None:
        self._app = app
        self._held: deque[KeyPress] = deque()
        self._let_through: KeyPress | None = None
        self._following: asyncio.Task[None] | None = None

    def holds(self, press: KeyPress) -> bool:
        """Return True if the key must wait. The queue posts it again when its turn comes."""
        if press is self._let_through:
            self._let_through = None
            return False
        if self._following is None and self._is_settled():
            self._following = asyncio.create_task(self._post_held())
            return False
        self._held.append(press)
        if self._following is None:
            self._following = asyncio.create_task(self._post_held())
        return True

    async def _post_held(self) -> None:
        try:
            await self._until_settled()
            while self._held:
                self._let_through = self._held.popleft()
                self._app.post_message(self._let_through)
                await self._until_settled()
        finally:
            self._following = None

    async def _until_settled(self) -> None:
        """Wait until the last key has taken effect, but at most KEY_TIMEOUT seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(KEY_TIMEOUT):
                while True:
                    while not self._is_settled():  # noqa: ASYNC110  (a queue does not signal when it is empty)
                        await asyncio.sleep(0 if self._app.is_settled else THREAD_POLL)
                    before = self._where()
                    # From the focused widget up to the app, twice: handling a message may post others.
                    for pump in (self._app, *self._receivers(), *self._receivers()):
                        await _queue_drained(pump)
                    if before == self._where() and self._is_settled():
                        return

    def _where(self) -> tuple[object, ...]:
        """Return the screen and its focused widget, which would receive a key now."""
        with suppress(ScreenStackError):
            return self._app.screen, self._app.screen.focused
        return ()

    def _is_settled(self) -> bool:
        """Return True if nothing is pending that would change which widgets receive a key."""
        return self._app.is_settled and not any(pump.message_queue_size for pump in self._receivers())

    def _receivers(self) -> Iterator[MessagePump]:
        """Yield the nodes that receive a key, from the focused widget up to the app."""
        with suppress(ScreenStackError):
            screen = self._app.screen
            yield from (screen.focused or screen).ancestors_with_self


async def _queue_drained(pump: MessagePump) -> None:
    """Wait until the message queue of a node is empty."""
    done = asyncio.Event()
    if pump.is_running and pump.call_later(done.set):
        await done.wait()


TOAST_LINES = 2  # lines of all toasts: the key bar, and the border above it
TOAST_FRAME = 3  # cells of a toast beside its text


class Console(App[None]):
    """The app. It shows one workbench at a time."""

    TITLE = "hookscope"
    DEFAULT_MODE = "workspace 1"  # each workspace is a Textual mode, with its own stack of screens
    CSS_PATH = "console.tcss"
    ENABLE_COMMAND_PALETTE = False  # Textual's palette; ours is a dialog
    NOTIFICATION_TIMEOUT = 4
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True, id="app.quit",
                tooltip="Quit, also from editors"),
        Binding("f1,ctrl+g", "help", "Help", show=False, priority=True, id="app.help",
                tooltip="Actions and keys here, also in editors and dialogs"),
        Binding("ctrl+p", "command_palette", "Commands", show=False, priority=True, id="app.palette",
                tooltip="Find an action, also in editors and dialogs"),
    ]  # fmt: skip

    def __init__(
        self, bench: Workbench | Callable[[], Workbench], *, watches: bool = True, tasks: Sequence[Task] = ()
    ) -> None:
        """`bench`: a workbench, or a function that opens one after the first paint. `watches`: scan again
        when files change.
        """
        no_color = "NO_COLOR" in os.environ  # without ANSI mode, Textual would drop ANSI colours
        super().__init__(ansi_color=True if no_color else None)
        # Before any widget is styled: a later change of the theme would style all of them again.
        self.theme_manager = ThemeManager(self, no_color)
        self.theme_manager.apply_files(read_theme_files())
        self.opener = WorkbenchOpener(partial(self._open, bench))
        self.gave_up: Exception | None = None  # why the workbench could not be opened
        self._began: Options | None = None  # of the first workspace
        self._opened = 1
        services = AppServices(self, self.theme_manager, self.give_up, self.open_workspace)
        self._main_screen = partial(MainScreen, services=services, watches=watches, tasks=tasks)
        self.add_mode(self.DEFAULT_MODE, partial(self._main_screen, self.opener))
        self.keymap = DEFAULT_KEYMAP
        self._typed = KeyQueue(self)
        self._pauses = IdleCollector()

    def on_load(self) -> None:
        """Start tasks from the event loop, as Python 3.11 does, and not eagerly.

        From Python 3.12 on, Textual starts each task as it is created. The widgets of a mode's first screen
        would then be mounted before the mode has that screen.
        """
        asyncio.get_running_loop().set_task_factory(None)

    def _open(self, bench: Workbench | Callable[[], Workbench]) -> Workbench:
        opened = bench() if callable(bench) else bench
        self._began = opened.options
        return opened

    @property
    def bench(self) -> Workbench:
        """The workbench of the open workspace."""
        return self.opener()

    def give_up(self, error: Exception) -> None:
        """End the console because there is no workbench. `run` raises this error."""
        self.gave_up = error
        self.exit()

    @property
    def keymap(self) -> Keymap:
        """The active keymap."""
        return active_keymap()

    @keymap.setter
    def keymap(self, keymap: Keymap) -> None:
        use_keymap(keymap)

    def on_notify(self, event: Notify) -> None:
        """Show a repeated toast once, and only the last toasts that fit into `TOAST_LINES`."""
        new, width = event.notification.message, max(self.size.width - TOAST_FRAME, 1)
        free_lines = TOAST_LINES - len(wrap(new, width))
        for toast in reversed([*self._notifications]):
            if toast.message != new:
                free_lines -= len(wrap(toast.message, width))
            if toast.message == new or free_lines < 0:
                self._unnotify(toast, refresh=False)

    def simulate_key(self, key: str) -> None:
        """Post a key as if the user had pressed it.

        Textual stops a message at the widget that sent it, here a clicked frame, which may contain the
        focused widget. In a new context the message has no sender.
        """
        self.post_message(Context().run(Key, key, None))

    def action_command_palette(self) -> None:
        """Open the command palette."""
        from hookscope.console.dialogs.palette import PaletteScreen

        below = self.screen
        if not isinstance(below, PaletteScreen):
            source = below.palette_source() if isinstance(below, MainScreen) else None
            self.push_screen(PaletteScreen(below, source))

    def action_help(self) -> None:
        """Show the available actions; a click on a line runs its action."""
        from hookscope.console.dialogs.help import HelpScreen

        if isinstance(self.screen, HelpScreen):  # pressed again
            self._open_manual(self.screen.nodes)
        else:
            self.push_screen(HelpScreen(self.screen), self._helped)

    def _helped(self, action: AvailableAction | None) -> None:
        if action is not None:
            from hookscope.console.keymap.available_actions import run_action

            self.call_later(run_action, self, action)

    def action_manual(self) -> None:
        """Open the manual at the chapter about the focused pane."""
        self._open_manual(focused_nodes(self.screen))

    def _open_manual(self, nodes: Sequence[DOMNode]) -> None:
        from hookscope.console.dialogs.help import ManualScreen, topic_of

        self.push_screen(ManualScreen(topic_of(nodes)))

    def action_change_key(self) -> None:
        """Open the key editor in place of help or the palette, with the text that was typed there."""
        from hookscope.console.dialogs.key_editor import KeyEditor

        below, field = self.screen, self.screen.focused
        if isinstance(below, ModalScreen):
            below.dismiss(None)
        self.push_screen(KeyEditor(field.value if isinstance(field, Input) else ""))

    async def open_workspace(self, folder: Path) -> None:
        """Open a workspace as if the console had started there, and end the current one's workers."""
        before, main = self.bench, self._main_screens()[0]
        if main.controllers.firing:
            main.context.notify("An event is running. Wait until it has ended, or cancel it.", "warning")
            return
        try:
            bench = await asyncio.to_thread(self._bench_of, folder, main)
        except Refusal as refused:
            main.context.notify(str(refused), "warning")
            return
        self.opener = opener = WorkbenchOpener(lambda: bench)
        self._opened += 1
        left, mode = self.current_mode, f"workspace {self._opened}"
        self.add_mode(mode, partial(self._main_screen, opener))
        await self.switch_mode(mode)
        await self.remove_mode(left)
        await before.close()

    def _bench_of(self, folder: Path, main: MainScreen) -> Workbench:
        """Return a workbench for `folder`, and list its workspace and the current one as recent."""
        from hookscope.app.console_files import stored_console, workbench_in

        here = main.state.view.host.workspace if main.state.view is not None else None
        bench = workbench_in(self.bench, self._began or self.bench.options, folder)
        for workspace in filter(None, (here, bench.open().workspace)):
            with suppress(Refusal):  # reported when the view is saved
                stored_console().write(workspace, None)
        return bench

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key | Paste):
            if not self.screen_stack:
                return  # the app is ending: no screen is left
            if not event.is_forwarded and self._typed.holds(event):
                return
        if isinstance(event, Key | MouseDown | MouseScrollDown | MouseScrollUp | Paste):
            self._pauses.end()
            for screen in self._main_screens():
                screen.touched(event.key if isinstance(event, Key) and not event.is_forwarded else "")
        await super().on_event(event)

    @property
    def is_settled(self) -> bool:
        """True if no pending effect of a key changes what the next key does."""
        return all(screen.is_settled for screen in self._main_screens())

    def _main_screens(self) -> list[MainScreen]:
        return [screen for screen in self.screen_stack if isinstance(screen, MainScreen)]

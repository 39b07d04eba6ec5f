"""The console as a Textual app: theme, palette and screen put together."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Event, Key, MouseDown, MouseScrollDown, MouseScrollUp, Paste
from textual.screen import Screen

from hookscope.console.keymap.resolve import DEFAULT
from hookscope.console.messages import Said
from hookscope.console.palette import Kept, Palette
from hookscope.console.screen import MainScreen
from hookscope.console.themes.wardrobe import Wardrobe, read_clothes

if TYPE_CHECKING:
    from hookscope.workbench import Workbench


class Console(App[None]):
    """One workbench on one screen."""

    TITLE = "hookscope"
    CSS_PATH = "console.tcss"
    COMMANDS: ClassVar = {Palette, Kept}
    ENABLE_COMMAND_PALETTE = True
    NOTIFICATION_TIMEOUT = 4
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+q",
            "quit",
            "Quit",
            show=False,
            priority=True,
            id="app.quit",
            tooltip="Leave, from editors too",
        ),
    ]

    def __init__(self, bench: Workbench, *, watches: bool = True) -> None:
        """`watches`: look again by itself when files change."""
        no_color = "NO_COLOR" in os.environ  # without it Textual makes greys of colours; ANSI ones it drops
        super().__init__(ansi_color=True if no_color else None)
        self.wardrobe = Wardrobe(self, no_color)
        self.bench = bench
        self.watches = watches
        self.keymap = DEFAULT  # the keys in force, where they are others than the bindings say

    def get_default_screen(self) -> Screen[None]:
        return MainScreen(self.bench, self.watches)

    def on_mount(self) -> None:
        self.wardrobe.put_on(read_clothes())
        notice = self.bench.setup.notice
        if notice:
            self.screen.post_message(Said(notice, "warning"))

    async def on_event(self, event: Event) -> None:
        if isinstance(event, Key | MouseDown | MouseScrollDown | MouseScrollUp | Paste):
            for screen in self.screen_stack:
                if isinstance(screen, MainScreen):
                    screen.last_time.touched()
        await super().on_event(event)

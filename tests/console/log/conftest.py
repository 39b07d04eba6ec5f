"""A tiny app around the log pane."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import pytest
from tests.drawing import TURNS, draw_when_looked_at, drawn
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from hookscope.console.panes.log_pane import LogPane
from hookscope.console.panes.log_view import LogView
from hookscope.console.theme.theme_manager import BUILTIN_THEMES, DEFAULT_THEME


class LogApp(App[None]):
    CSS = "LogPane { width: 1fr; height: 1fr; }"
    NOTIFICATION_TIMEOUT = 600  # a slow machine reads as slowly as it draws

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[int] = []
        self.copied = ""

    def compose(self) -> ComposeResult:
        yield LogPane()

    def on_mount(self) -> None:
        for theme in BUILTIN_THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME
        self.query_one(LogView).focus()

    def on_log_pane_run_requested(self, message: LogPane.RunRequested) -> None:
        self.runs.append(message.number)

    def copy_to_clipboard(self, text: str) -> None:
        self.copied = text


@dataclass
class Log:
    """The running pane, and what its screen says."""

    app: LogApp
    pilot: Pilot[None]

    @property
    def pane(self) -> LogPane:
        return self.app.query_one(LogPane)

    @property
    def screen(self) -> str:
        strips = drawn(self.app)
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def shows(self, *texts: str) -> None:
        """Wait until the screen shows all of these."""
        for _ in range(TURNS):
            if all(text in self.screen for text in texts):
                return
            await self.pilot.pause(0.02)
        missing = [text for text in texts if text not in self.screen]
        raise AssertionError(f"the screen never showed {missing}:\n{self.screen}")

    async def hides(self, *texts: str) -> None:
        """Wait until the screen shows none of these."""
        for _ in range(TURNS):
            if not any(text in self.screen for text in texts):
                return
            await self.pilot.pause(0.02)
        raise AssertionError(f"the screen still shows one of {texts}:\n{self.screen}")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()


Opened = Callable[..., AbstractAsyncContextManager[Log]]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    draw_when_looked_at(monkeypatch)


@pytest.fixture
def log() -> Opened:
    @asynccontextmanager
    async def opened(size: tuple[int, int] = (80, 24)) -> AsyncIterator[Log]:
        app = LogApp()
        async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            await pilot.pause()
            yield Log(app, pilot)

    return opened

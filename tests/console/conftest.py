"""The console on a screen of a given size, over real hooks in real folders."""

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.drawing import TURNS, draw_when_looked_at, drawn
from textual.pilot import Pilot

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console import app
from hookscope.console.app import Console
from hookscope.console.keymap.active_keys import DEFAULT_KEYMAP, use_keymap
from hookscope.console.panes.fire import fire_display
from hookscope.console.screens.main_screen import MainScreen
from hookscope.console.widgets.focus_targets import pane_of
from hookscope.console.widgets.task_bar import Task
from hookscope.model.hook_event import iso
from hookscope.recording.installation import apply_tap_plan, plan_tap_install
from hookscope.runtime.limits import Limits

SIZES = [(80, 24), (120, 36), (200, 50)]
EXTREMES = [SIZES[0], SIZES[-1]]  # for what hangs less on the room that there is
USUAL = SIZES[1]  # for what does not
at_every_size = pytest.mark.parametrize("size", SIZES, ids=str)
at_extremes = pytest.mark.parametrize("size", EXTREMES, ids=str)
small, medium, large = (pytest.mark.parametrize("size", [size], ids=str) for size in SIZES)

READY = "{openclaw: {events: [command:new]}}"


class Story:
    """One console and its user."""

    def __init__(self, app: Console, pilot: Pilot[None]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def screen(self) -> MainScreen:
        main = self.app.screen_stack[0]
        assert isinstance(main, MainScreen)
        return main

    def lines(self) -> list[str]:
        """The screen as its user reads it."""
        strips = drawn(self.app)
        return ["".join(segment.text for segment in strip) for strip in strips]

    def text(self) -> str:
        return "\n".join(self.lines())

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, condition: Callable[[], object], name: str) -> None:
        """Wait for a named condition; no clock but the event loop's own turns."""
        for _ in range(TURNS):
            if condition():
                return
            await self.pilot.pause(0.01)
        pytest.fail(f"waited in vain until {name}; the screen:\n{self.text()}")

    async def shows(self, *texts: str) -> None:
        """Wait until all of this stands on the screen, or stood there one after the other."""
        awaited = [*texts]
        for _ in range(TURNS):
            shown = self.text()
            while awaited and awaited[0] in shown:
                del awaited[0]
            if not awaited:
                return
            await self.pilot.pause(0.01)
        pytest.fail(f"waited in vain until the screen shows {awaited[0]!r}:\n{self.text()}")

    async def hides(self, text: str) -> None:
        """Wait until this is nowhere on the screen."""
        await self.until(lambda: text not in self.text(), f"the screen is without {text!r}")

    async def focus_in(self, pane: str) -> None:
        """Wait until this pane has the focus."""
        await self.until(lambda: pane_of(self.screen.focused) == pane, f"{pane} has the focus")


async def at_fire(story: Story) -> None:
    """To the Fire mode, with an event for the selected hook, and out of its editors."""
    await story.press("f")
    await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
    await story.focus_in("fire")


Open = Callable[..., AbstractAsyncContextManager[Story]]


@pytest.fixture
def console(workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """console(size, **options) opens the real console over `workspace`, and waits for the first look.

    It paints what is looked at; with `paints=True` each change, as in a terminal.
    """
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(Console, "NOTIFICATION_TIMEOUT", 600)  # a slow machine reads as slowly as it draws
    monkeypatch.setattr(
        app, "KEY_TIMEOUT", 60.0
    )  # and a key waits as long for what the one before has opened
    monkeypatch.setattr(
        fire_display, "JUST_ENDED_SECONDS", 0.0
    )  # nobody here presses a key too late, who does not wait
    bundled = tmp_path / "bundled"
    bundled.mkdir(exist_ok=True)

    @asynccontextmanager
    async def opened(
        size: tuple[int, int] = (120, 36),
        limits: Limits = Limits(),
        watches: bool = False,
        paints: bool = False,
        tasks: Sequence[Task] = (),
        **options: object,
    ) -> AsyncIterator[Story]:
        if not paints:
            draw_when_looked_at(monkeypatch)
        chosen = Options(**{"workspace": workspace, "bundled": bundled, **options})  # type: ignore[arg-type]
        bench = Workbench(chosen, limits=limits)
        app = Console(bench, watches=watches, tasks=tasks)
        try:
            async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
                story = Story(app, pilot)
                await story.until(lambda: story.screen.state.view is not None, "the first look is there")
                await pilot.pause()
                yield story
        finally:  # a story that failed leaves no workers behind, whom other tests would meet
            await bench.close()
            use_keymap(DEFAULT_KEYMAP)

    return opened


@pytest.fixture
def spool(home: Path, workspace: Path) -> Path:
    """OpenClaw with a tap that has recorded nothing yet."""
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    apply_tap_plan(
        plan_tap_install(Workbench(Options(dialect="openclaw", workspace=workspace)).open(), "typescript")
    )
    return home / ".openclaw" / "hookscope" / "events.jsonl"


def sent(spool: Path, key: str, context: dict[str, Any] | None = None, **more: Any) -> None:
    """What the tap writes when its host sends an event."""
    told = {
        "tap": 1,
        "at": iso(datetime.now(UTC)),
        "kind": "folder",
        "key": key,
        "host": "openclaw",
        "pid": 7,
    }
    with spool.open("a") as file:
        file.write(
            json.dumps({**told, "session": "agent:main:main", "context": context or {}, **more}) + "\n"
        )

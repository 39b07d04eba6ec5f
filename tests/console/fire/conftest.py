"""A tiny app around the fire pane, a workspace with a few hooks, and runs made by hand."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from tests.drawing import TURNS, draw_when_looked_at, drawn
from textual.app import App, ComposeResult
from textual.message import Message
from textual.pilot import Pilot

from hookscope.app.snapshot import Snapshot
from hookscope.console.panes.fire.fire_pane import FirePane
from hookscope.console.state import fire_requests
from hookscope.console.state.messages import WhyRequested
from hookscope.console.theme.theme_manager import BUILTIN_THEMES, DEFAULT_THEME
from hookscope.engine.discovery import discover
from hookscope.engine.examination import examine
from hookscope.engine.planning import make_plan, registrations_of
from hookscope.engine.registry import Registry
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.host import Overrides, Trust
from hookscope.model.machine import real_machine
from hookscope.model.run import Ending, Event, Plan, Result, Run

SIZES = [(80, 24), (120, 36)]  # below each other, beside each other; odd ones have a story of their own


class FireApp(App[None]):
    """The pane alone; it plans as the shell does, and keeps what was asked for."""

    CSS = "FirePane { width: 1fr; height: 1fr; }"
    NOTIFICATION_TIMEOUT = 600  # a slow machine reads as slowly as it draws

    def __init__(self, view: Snapshot) -> None:
        super().__init__()
        self.look = view
        self.asked: list[Message] = []
        self.whys: list[str] = []  # hooks whose reason was requested
        self.copied = ""

    def compose(self) -> ComposeResult:
        yield FirePane()

    def on_mount(self) -> None:
        for theme in BUILTIN_THEMES:
            self.register_theme(theme)
        self.theme = DEFAULT_THEME
        self.pane.view = self.look

    @property
    def pane(self) -> FirePane:
        return self.query_one(FirePane)

    def copy_to_clipboard(self, text: str) -> None:
        self.copied = text

    def on_draft_changed(self, message: fire_requests.DraftChanged) -> None:
        self.asked.append(message)
        if message.event is None:
            self.pane.run_view.show_plan(None)
        else:
            self.pane.run_view.show_plan(planned(self.look, message.event))

    def _keep(self, message: Message) -> None:
        self.asked.append(message)

    def on_why_requested(self, message: WhyRequested) -> None:
        self.whys.append(message.hook if isinstance(message.hook, str) else message.hook.name)

    on_fire_requested = _keep
    on_command_requested = _keep
    on_editor_requested = _keep
    on_trust_requested = _keep


def planned(view: Snapshot, event: Event) -> Plan:
    return make_plan(event, view.registry, view.inventory, view.host)


def looked(workspace: Path, *, trusted: bool = True) -> Snapshot:
    host = open_host(
        DIALECTS["openclaw"],
        real_machine(),
        Overrides(workspace=workspace, bundled=workspace / "none"),
        trust=Trust(everything=trusted),
    )
    inventory = examine(discover(host), host)
    registry = Registry(1, registrations_of(inventory, host))
    return Snapshot(host, inventory, registry, "for a test")


@dataclass
class Console:
    """The running app, and what its screen says."""

    app: FireApp
    pilot: Pilot[None]
    made: list[Run] = field(default_factory=list)

    @property
    def pane(self) -> FirePane:
        return self.app.pane

    @property
    def screen(self) -> str:
        """The screen as lines of text."""
        strips = drawn(self.app)
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    async def settle(self) -> None:
        """Wait until every message has been handled and drawn."""
        for _ in range(3):
            await self.pilot.pause()

    async def shows(self, *texts: str) -> str:
        """Wait until the screen shows all of these."""
        for _ in range(TURNS):
            screen = self.screen
            if all(text in screen for text in texts):
                return screen
            await self.pilot.pause(0.02)
        missing = [text for text in texts if text not in self.screen]
        raise AssertionError(f"the screen never showed {missing}:\n{self.screen}")

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    def last(self, kind: type[Message]) -> Any:
        """The newest message of this kind."""
        return next(message for message in reversed(self.app.asked) if isinstance(message, kind))

    async def fired(
        self, number: int, change: Callable[[Result], Result] = lambda result: result, **run: Any
    ) -> Run:
        """Start and end a run of the draft; `change` makes each result what the test wants."""
        event = self.last(fire_requests.DraftChanged).event
        plan = planned(self.app.look, event)
        results = tuple(
            change(Result(call, "ok", started=index * 0.01, took=0.01))
            for index, call in enumerate(plan.calls)
        )
        self.pane.run_view.firing_started(number, plan)
        whole = {"took": 0.01 * max(len(results), 1), **run}
        made = Run(number, event, results, plan.not_run, whole.pop("ending", Ending()), **whole)
        self.pane.run_view.firing_ended(number, made)
        self.made.append(made)
        await self.settle()
        return made


Opened = Callable[..., AbstractAsyncContextManager[Console]]


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    draw_when_looked_at(monkeypatch)
    monkeypatch.setenv("TEXTUAL_ANIMATIONS", "none")


@pytest.fixture
def hooks(workspace: Path, make_hook: Callable[..., Path]) -> Path:
    """Two that listen to command:new, one that is blocked, two that listen to something else."""
    folder = workspace / "hooks"
    push = "def handler(event):\n    event.messages.append('hi')\n"
    make_hook(folder, "command-logger", "{openclaw: {events: [command]}}", push)
    make_hook(
        folder,
        "session-memory",
        '{openclaw: {events: ["command:new"]}}',
        "import json\n\n\ndef handler(event):\n    root = event.context['workspaceDirectory']\n    json.dumps(root)\n",  # noqa: E501
    )
    make_hook(
        folder, "slack-post", '{openclaw: {events: ["command:new"], requires: {env: [NO_TOKEN]}}}', push
    )
    make_hook(folder, "greet", '{openclaw: {events: ["gateway:startup"]}}', push)
    make_hook(folder, "audit", '{openclaw: {events: ["agent:bootstrap"]}}', push)
    return workspace


@pytest.fixture
def view(hooks: Path) -> Snapshot:
    return looked(hooks)


@pytest.fixture
def untrusted(hooks: Path) -> Snapshot:
    return looked(hooks, trusted=False)


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def size(request: pytest.FixtureRequest) -> tuple[int, int]:
    chosen: tuple[int, int] = request.param
    return chosen


@pytest.fixture
def console(view: Snapshot) -> Opened:
    """console(size=(80, 24), view=…, key="command:new") → the running pane."""

    @asynccontextmanager
    async def opened(
        size: tuple[int, int] = (80, 24),
        view: Snapshot = view,
        key: str | None = "command:new",
        only: str | None = None,
    ) -> AsyncIterator[Console]:
        app = FireApp(view)
        async with app.run_test(size=size, notifications=True, tooltips=True) as pilot:
            console = Console(app, pilot)
            await console.settle()
            if key is not None:
                app.pane.event_view.compose_event(key, only)
            await console.settle()
            yield console

    return opened


@pytest.fixture
def renamed(view: Snapshot) -> Callable[[str], Snapshot]:
    """renamed(name) → the same look, its first listener of command:new under another name."""

    def rename(name: str) -> Snapshot:
        calls = tuple(
            replace(call, name=name) if call.name == "session-memory" else call
            for call in view.registry.registrations
        )
        return replace(view, registry=Registry(2, calls))

    return rename

"""Variables in the composer: kept as they are written, filled when the event is fired."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.console.conftest import READY, Open, Story
from tests.console.test_reload import saved

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.run_history import RecentRuns
from hookscope.model.run import Event

ECHO = "def handler(event):\n    event.messages.append(str(event.context.get('senderId')))\n"


@pytest.fixture
def agent(workspace: Path, make_hook: Callable[..., Path]) -> Path:
    make_hook(workspace / "hooks", "echo", READY, ECHO)
    folder = workspace / ".hookscope" / "environments"
    folder.mkdir(parents=True)
    (folder / "dev.yaml").write_text("variables: {WHO: ada}\n")
    (folder / "ci.yaml").write_text("variables: {WHO: robot}\n")
    (workspace / ".env").write_text("API_TOKEN=sk-live-0123456789abcdef\n")
    Workbench(Options(workspace=workspace)).trust(workspace)
    return workspace


def write(story: Story, text: str) -> None:
    story.screen.query_one(JsonEditor).text = text


def runs(story: Story) -> RecentRuns:
    return story.screen.panes.fire_pane.run_view.runs


def fired(story: Story) -> Event:
    sheet = runs(story).current
    assert sheet is not None
    return sheet.plan.event


async def ran(story: Story) -> None:
    await story.until(lambda: runs(story).current and runs(story).running is None, "the run is over")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_the_environment_fills_variables_of_a_fired_event(
    console: Open, agent: Path, size: tuple[int, int]
) -> None:
    async with console(size) as story:
        await story.press("2")
        await story.focus_in("fire")
        write(story, '{\n  "senderId": "${WHO} ${now-2h} $${WHO}"\n}')
        await story.shows("✗ line 2, column 16: ${WHO} is not set")
        await story.press("f5")
        await story.shows("Not fired: line 2")
        assert not story.screen.state.job
        story.screen.query_one("#fire-key").focus()
        await story.press("V")
        await story.shows("Which environment?", "● none")
        await story.press("down", "down", "enter")
        await story.shows("environment dev")
        await story.press("f5")
        await ran(story)
        said = fired(story).context["senderId"].split()
        assert (said[0], said[2], said[1][-1]) == ("ada", "${WHO}", "Z")
        assert "${WHO} ${now-2h} $${WHO}" in story.screen.query_one(Composer).draft.text


async def test_a_saved_env_file_applies_to_the_next_fire(console: Open, agent: Path) -> None:
    async with console((120, 36), watches=True) as story:
        await story.press("2")
        await story.focus_in("fire")
        write(story, '{"senderId": "${NEW}"}')
        await story.shows("${NEW} is not set")
        await story.until(lambda: story.screen.state.watching, "it watches")
        await saved(story, agent / ".env", "NEW=there\n", lambda: "✓ JSON object" in story.text())
        await story.press("f5")
        await ran(story)
        assert fired(story).context["senderId"] == "there"


async def test_a_secret_reaches_handlers_and_is_never_shown(console: Open, agent: Path) -> None:
    async with console((120, 36)) as story:
        await story.press("2")
        await story.focus_in("fire")
        await story.press("tab", "tab")
        editor = story.screen.query_one(JsonEditor)
        write(story, '{"senderId": "${API_TOKEN}"}')
        editor.move_cursor((0, 20))
        await story.shows("${API_TOKEN}: •••• · from .env")
        await story.press("f5")
        await ran(story)
        assert fired(story).context["senderId"] == "sk-live-0123456789abcdef"


async def test_an_armed_event_fills_its_variables_at_every_save(console: Open, agent: Path) -> None:
    async with console((120, 36), watches=True) as story:
        await story.press("2")
        await story.focus_in("fire")
        write(story, '{"senderId": "${now:ms}"}')
        await story.press("f6")
        await story.shows("fires again whenever a file is saved")
        await story.until(lambda: story.screen.state.watching, "it watches")
        handler = agent / "hooks" / "echo" / "handler.py"
        for number in (1, 2):
            await saved(story, handler, f"{ECHO}# {number}", lambda n=number: len(runs(story).sheets) >= n)  # type: ignore[misc]
        assert len({sheet.plan.event.context["senderId"] for sheet in runs(story).sheets}) > 1


async def test_an_unreadable_environment_prevents_the_fire(console: Open, agent: Path) -> None:
    (agent / ".hookscope" / "environments" / "ci.yaml").write_text("variables: [\n")
    async with console((80, 24)) as story:
        await story.press("2")
        await story.focus_in("fire")
        await story.press("V", "down", "enter")
        await story.shows("environment ci", "ci.yaml")
        await story.press("f5")
        await story.shows("Not fired")
        await story.press("V", "up", "enter")
        await story.shows("✓ JSON object")

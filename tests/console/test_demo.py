"""`hookscope demo`: five tasks, each checked off by what its user does."""

from pathlib import Path

import pytest
from tests.console.conftest import Open, at_every_size

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.widgets.task_bar import DEMO_TASKS
from hookscope.hosts.dialects.catalogues import write_demo


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace of the demo, trusted, without TypeScript."""
    workspace = write_demo(tmp_path / "demo", typescript=False)
    monkeypatch.setenv("HOME", str(tmp_path / "demo" / "home"))
    monkeypatch.chdir(workspace)
    Workbench(Options(workspace=workspace)).trust(workspace)
    return workspace


@at_every_size
async def test_each_demo_task_is_checked_off_when_done(
    console: Open, demo: Path, size: tuple[int, int]
) -> None:
    async with console(size, workspace=demo, tasks=DEMO_TASKS) as story:
        await story.shows("····· Task 1 of 5", "deploy-note is blocked")
        await story.press("e")
        await story.shows("Set DEPLOY_DIR")
        await story.press(*"/srv", "enter")
        await story.shows("deploy-note: ▲ blocked → ● ready")
        await story.press("w")
        await story.shows("✓···· Task 2 of 5", "welcome is silent")
        await story.press(*["down"] * 4, "e")
        await story.shows("comand:new → command:new")
        await story.press("w")
        await story.shows("✓✓··· Task 3 of 5")
        await story.press("down", "down")
        await story.shows("✓✓✓·· Task 4 of 5")
        await story.press("f")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.shows("IndexError: list index out of range", "✓✓✓✓· Task 5 of 5")
        await story.press("s")
        await story.shows("delete")
        await story.press("enter")
        await story.until(lambda: story.screen.state.draft.event is not None, "the saved event is composed")
        await story.press("ctrl+r")
        await story.shows("guard: rm -rf is never run", "✓✓✓✓✓ That is all.")


async def test_demo_tasks_can_be_done_in_any_order(console: Open, demo: Path) -> None:
    async with console(workspace=demo, tasks=DEMO_TASKS) as story:
        await story.shows("····· Task 1 of 5")
        await story.press("f")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.shows("···✓· Task 1 of 5")

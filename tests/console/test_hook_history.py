"""What has come of a hook stands below its checks, and follows what is fired; who near misses is told."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.controllers import scan_controller

LAME = "import no_such_thing\n\n\ndef handler(event): pass\n"


@pytest.mark.parametrize("size", SIZES[:2], ids=str)
async def test_the_history_of_a_hook_follows_its_fires(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a-good", READY)
    make_hook(workspace / "hooks", "slip", "{openclaw: {events: ['command:nwe']}}")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        if size[0] == 80:
            await story.press("enter")
        await story.shows("no such event has")
        await story.press("f")
        await story.shows("1 would run", "subscribes to command:nwe – no host sends")
        await story.press("ctrl+r")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.shows("✓ ok")
        await story.press("1")
        await story.shows("a-good runs on command:new", "in run 1")
        if size[0] > 80:
            await story.press("enter", "enter", *["down"] * 9)
            await story.shows("✓ its module loads", "✓ it is registered", "✓ an event has arrived")


@pytest.mark.parametrize("size", SIZES[:2], ids=str)
async def test_a_hook_that_does_not_load_is_listed_as_broken_at_once(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    handler = make_hook(workspace / "hooks", "a-lame", READY, handler=LAME) / "handler.py"
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await story.shows("● ready")
        await story.until(lambda: "✗" not in story.lines()[1], "line 1 is without it")
        await story.press("f")
        await story.press("ctrl+r")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.press("1")
        await story.until(lambda: "✗ 1 broken" in story.lines()[1], "the header counts it")
        await story.shows("✗ broken", "does not load: ")
        if size[0] == 80:
            await story.press("enter")
        await story.shows("✗ broken – does not load", "to open the error")
        handler.write_text("def handler(event): pass\n")
        await story.press("R")
        await story.until(lambda: "✗" not in story.lines()[1], "what was saved since is another file")


async def test_the_age_of_the_last_run_grows_while_the_console_is_open(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_controller, "AGE_INTERVAL", 0.1)
    make_hook(workspace / "hooks", "a-good", READY)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console() as story:
        await story.press("ctrl+r")
        await story.shows("✓ ok")
        await story.press("1")
        await story.shows("a-good runs on command:new")
        ages: set[str] = set()

        def several_ages() -> bool:
            why = " ".join(line.split("│")[-2] for line in story.lines() if line.count("│") > 1)
            ages.add(why.partition("in run 1,")[2][:12])
            return len(ages) > 2

        await story.until(several_ages, "the same run has several ages, one after the other")


async def test_a_failed_run_is_explained_once_and_the_log_details_one_handler(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a-fails", READY, "def handler(event):\n    raise KeyError('user')\n")
    make_hook(
        workspace / "hooks", "b-good", READY, "def handler(event):\n    event.messages.append('hello')\n"
    )
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((120, 36)) as story:
        await story.press("2")
        await story.until(lambda: story.screen.state.draft.event, "an event is composed")
        await story.press("f5")
        await story.shows("KeyError: 'user'")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.press("1")
        await story.shows("a-fails runs on command:new and fails", "✗ ran")
        assert "✗ ran: error" not in story.text()
        await story.press("3", "end")
        await story.shows("Run 1", "✗ a-fails", "✓ b-good", "message hello")
        await story.press("right", "down")
        await story.shows("step", "enter why", "✗ a-fails")
        await story.hides("message hello")

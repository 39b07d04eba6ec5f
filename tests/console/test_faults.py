"""Hooks that do their worst are fired from the console: it stays alive and says what happened."""

import os
import sys
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import SIZES, Open

from hookscope.workbench import Limits, Options, Workbench

FAULTS = {
    "a-loops": ("def handler(event):\n    while True: pass\n", "timeout"),
    "b-leaves": ("import os\ndef handler(event): os._exit(1)\n", "crashed"),
    "c-floods": ("def handler(event):\n    for _ in range(1000): print('x' * 100_000)\n", "ok"),
    "[/x]": ("def handler(event): event.messages.append('[/x] [@click=app.quit]x[/]')\n", "ok"),
    "d-raises": ("def handler(event): raise ValueError('[/boom] \\x1b[2J')\n", "error"),
}


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_the_console_survives_what_hooks_do_and_says_it(
    size: tuple[int, int], console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    for number, (name, (source, _)) in enumerate(FAULTS.items()):
        folder = make_hook(
            workspace / "hooks", f"hook-{number}", "{openclaw: {events: ['command:new']}}", source
        )
        manifest = folder / "HOOK.md"
        manifest.write_text(manifest.read_text().replace(f"name: hook-{number}", f"name: '{name}'"))
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size, limits=Limits(run=1.0)) as story:
        await story.shows("[/x]")
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.press("f5")
        await story.shows("Run 1")
        await story.until(lambda: story.screen.state.firing is None, "the run is over")
        await story.shows("3 of 5 failed")
        screen = story.text()
        assert "\x1b" not in screen
        await story.press("3")
        for name, (_, outcome) in FAULTS.items():
            await story.shows(name[:6], outcome)
        await story.press("1")
        await story.shows("● ready")


async def test_a_run_is_cancelled_by_hand(console: Open, workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "loops", "{openclaw: {events: ['command:new']}}", FAULTS["a-loops"][0])
    make_hook(workspace / "hooks", "next", "{openclaw: {events: ['command:new']}}")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console() as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.press("f5")
        await story.shows("» running")
        await story.press("escape")
        await story.until(lambda: story.screen.state.firing is None, "the run is over")
        await story.shows("⊘ cancelled", "the run was cancelled")


async def test_the_console_process_runs_no_handler(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    source = (
        "import os\nimport a_helper_of_mine\ndef handler(event): event.messages.append(f'pid {os.getpid()}')"
    )
    folder = make_hook(workspace / "hooks", "who", "{openclaw: {events: ['command:new']}}", source)
    (folder / "a_helper_of_mine.py").write_text("")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console() as story:
        await story.press("f")
        await story.until(lambda: story.screen.state.draft.event is not None, "an event is composed")
        await story.press("f5")
        await story.shows("pid ")
        assert f"pid {os.getpid()}" not in story.text()
    assert not [name for name in sys.modules if "a_helper_of_mine" in name]

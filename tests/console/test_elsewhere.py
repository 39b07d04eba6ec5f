"""Runs of other programs come into an open console's log."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import MakeHook
from tests.console.conftest import READY, Open

from hookscope.console.log.pane import LogPane
from hookscope.workbench import Workbench

FAILS = "def handler(event):\n    raise KeyError('user')\n"


def fired_in_a_shell(workspace: Path, code: int) -> None:
    """As its user would, in another terminal."""
    command = [sys.executable, "-m", "hookscope", "--workspace", str(workspace), "fire", "command:new"]
    done = subprocess.run([*command, "--only", "greet"], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr


async def test_a_run_of_a_shell_beside_the_console_stands_in_its_log_and_opens(
    console: Open, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    make_hook(workspace / "hooks", "greet", READY, FAILS)
    Workbench().trust(workspace / "hooks")
    async with console((120, 36)) as story:
        fired_in_a_shell(workspace, 1)
        await story.press("3")
        await story.shows("✗ 1 of 1 failed")
        await story.shows("fired by another program")
        await story.press("G", "up", "down", "enter")
        await story.shows("KeyError: 'user'")


async def test_its_own_runs_are_told_once(
    console: Open, workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    make_hook(workspace / "hooks", "greet", READY, FAILS)
    Workbench().trust(workspace / "hooks")
    async with console((120, 36)) as story:
        await story.press("2")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.shows("KeyError: 'user'")
        fired_in_a_shell(workspace, 1)
        await story.press("3")
        await story.shows("fired by another program")
        entries = [entry.text for entry in story.screen.query_one(LogPane).entries() if entry.kind == "run"]
        assert len(entries) == 2
        assert sum("another program" in text for text in entries) == 1

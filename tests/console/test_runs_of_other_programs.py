"""Runs of other programs come into an open console's log."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story

from hookscope.app.workbench import Workbench
from hookscope.console.panes.log_pane import LogPane

FAILS = "def handler(event):\n    raise KeyError('user')\n"


@pytest.fixture
def greet_that_fails(workspace: Path, home: Path, make_hook: MakeHook) -> Path:
    """A workspace of OpenClaw's whose one hook raises; its folder may run."""
    (home / ".openclaw").mkdir()
    make_hook(workspace / "hooks", "greet", READY, FAILS)
    Workbench().trust(workspace / "hooks")
    return workspace


def fired_in_a_shell(workspace: Path, code: int) -> None:
    """As its user would, in another terminal."""
    command = [sys.executable, "-m", "hookscope", "--workspace", str(workspace), "fire", "command:new"]
    done = subprocess.run([*command, "--only", "greet"], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr


@contextmanager
def firing_in_a_shell(workspace: Path, begun: Path) -> Iterator[None]:
    """As long as this is open there is a run, whose handler has begun."""
    command = [sys.executable, "-m", "hookscope", "--workspace", str(workspace), "fire", "command:new"]
    with subprocess.Popen([*command, "--only", "greet"], stdout=subprocess.DEVNULL) as shell:
        while not begun.exists():
            assert shell.poll() is None
        yield


async def follows(story: Story) -> None:
    """From now on it is told what others fire: the log has what was before, and the first look behind it."""
    log = story.screen.query_one(LogPane)
    await story.until(lambda: any(entry.kind == "scan" for entry in log.entries()), "the log tells the look")


async def test_a_run_fired_in_a_shell_appears_in_the_log_and_opens(
    console: Open, greet_that_fails: Path
) -> None:
    async with console((120, 36)) as story:
        await story.press("3")
        await follows(story)
        fired_in_a_shell(greet_that_fails, 1)
        await story.shows("✗ 1 of 1 failed")
        await story.shows("another program")
        await story.press("G", "up", "down", "enter")
        await story.shows("KeyError: 'user'")


async def test_a_run_that_was_running_at_start_is_logged_when_it_ends(
    console: Open, workspace: Path, home: Path, make_hook: MakeHook, tmp_path: Path
) -> None:
    (home / ".openclaw").mkdir()
    gate = tmp_path / "gate"
    waits = f"import os, time\ndef handler(event):\n    open({str(gate) + '.begun'!r}, 'w').close()\n"
    waits += f"    while not os.path.exists({str(gate)!r}):\n        time.sleep(0.01)\n"
    make_hook(workspace / "hooks", "greet", READY, waits)
    Workbench().trust(workspace / "hooks")
    with firing_in_a_shell(workspace, Path(f"{gate}.begun")):
        async with console((120, 36)) as story:
            await story.press("3")
            await follows(story)
            gate.touch()
            await story.shows("1 ok")
            await story.shows("another program")


async def test_a_run_fired_in_a_shell_joins_the_runs_and_keeps_the_shown_one(
    console: Open, greet_that_fails: Path
) -> None:
    async with console((120, 36)) as story:
        await follows(story)
        fired_in_a_shell(greet_that_fails, 1)
        await story.shows("another program")
        await story.press("2")
        await story.shows("Runs 1", "Run 1", "KeyError: 'user'")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.shows("Run 2   command:new")
        fired_in_a_shell(greet_that_fails, 1)
        await story.shows("Runs 3")
        assert "Run 2   command:new" in story.text()
        await story.press("right_square_bracket")
        await story.shows("Run 3   command:new")


async def test_the_consoles_own_runs_are_logged_once(console: Open, greet_that_fails: Path) -> None:
    async with console((120, 36)) as story:
        await story.press("2")
        await story.focus_in("fire")
        await story.press("ctrl+r")
        await story.shows("KeyError: 'user'")
        fired_in_a_shell(greet_that_fails, 1)
        await story.press("3")
        await story.shows("another program")
        entries = [entry.text for entry in story.screen.query_one(LogPane).entries() if entry.kind == "run"]
        assert len(entries) == 2
        assert sum("another program" in text for text in entries) == 1


async def test_the_selected_hooks_history_follows_runs_fired_in_a_shell(
    console: Open, greet_that_fails: Path, make_hook: MakeHook
) -> None:
    make_hook(greet_that_fails / "hooks", "later", READY)
    Workbench().trust(greet_that_fails / "hooks")
    async with console((200, 50)) as story:
        await story.shows("no such event has")
        await follows(story)
        fired_in_a_shell(greet_that_fails, 1)
        await story.shows("greet runs on command:new and fails", "KeyError")
        await story.press("down")
        await story.shows("later would run on command:new; it has not")
        fired_in_a_shell(greet_that_fails, 1)
        await story.shows("another program", ", run 2")

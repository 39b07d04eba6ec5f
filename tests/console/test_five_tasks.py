"""The five tasks that the console is for: each needs at most eight keys besides typed text."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open, Story, sent

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.panes.log_view import LogView

MOST_KEYS = 8
NEEDY = "{openclaw: {events: [command:new], requires: {env: [MEMORY_DIR]}}}"
GREET = "def handler(event):\n    event.messages.append('hello ' + event.context['senderId'])\n"
FAILS = "def handler(event):\n    event.context['nobody']\n"
at_two_sizes = pytest.mark.parametrize("size", SIZES[:2], ids=str)


class Task:
    """Presses keys in a story and counts them."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.keys: list[str] = []

    async def press(self, *keys: str) -> None:
        self.keys += keys
        await self.story.press(*keys)

    def end(self) -> None:
        assert len(self.keys) <= MOST_KEYS, self.keys


def trust(workspace: Path) -> None:
    Workbench(Options(workspace=workspace)).trust(workspace / "hooks")


@at_two_sizes
async def test_find_why_a_hook_is_blocked_and_fix_it(
    console: Open, size: tuple[int, int], home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "keep", NEEDY)
    trust(workspace)
    async with console(size) as story:
        task = Task(story)
        await story.shows("▲ blocked")
        await task.press("enter")
        await story.shows("keep does not run on command:new", "MEMORY_DIR unset")
        await task.press("e")
        await story.shows("enter shows the edit")
        await story.press("slash", "m")
        await task.press("enter")
        await story.shows("▲ blocked → ● ready")
        await task.press("w")
        await story.until(lambda: "● ready" in story.text(), "it is ready")
        await story.hides("does not run")
        task.end()


@at_two_sizes
async def test_find_which_copy_wins(
    console: Open, size: tuple[int, int], home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(home / ".openclaw" / "hooks", "greet", READY)
    make_hook(workspace / "hooks", "greet", READY)
    trust(workspace)
    async with console(size) as story:
        task = Task(story)
        await story.shows("greet")
        await task.press("enter")
        await story.shows("Precedence", "▸ 1 workspace", "2 managed", ".openclaw/hooks/greet")
        task.end()


@at_two_sizes
async def test_fire_and_read_an_error(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, FAILS)
    trust(workspace)
    async with console(size) as story:
        task = Task(story)
        await story.shows("greet")
        await task.press("ctrl+r")
        await story.shows("KeyError: 'nobody'", "2 │")
        task.end()


@at_two_sizes
async def test_save_an_event_as_a_test_and_accept_its_results(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREET)
    trust(workspace)
    async with console(size) as story:
        task = Task(story)
        await story.shows("greet")
        await task.press("ctrl+r")
        await story.shows("hello ")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await task.press("A")
        await story.shows("Save event as")
        await task.press("enter")
        await story.shows("Accept these results?")
        await task.press("w")
        (file,) = (workspace / ".hookscope" / "events").glob("*.yaml")
        await story.until(lambda: "expect:" in file.read_text(), "it is accepted")
        task.end()


@at_two_sizes
async def test_fire_a_real_event_again(
    console: Open, size: tuple[int, int], workspace: Path, spool: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREET)
    trust(workspace)
    sent(spool, "command:new", {"senderId": "Ada"})
    async with console(size, dialect="openclaw") as story:
        task = Task(story)
        await task.press("3")
        await story.until(lambda: isinstance(story.screen.focused, LogView), "the log has the focus")
        await story.shows("≈ real")
        await task.press("8")  # real events only: the scan may be logged before or after them
        await story.shows("8 from real")
        await task.press("enter")
        await story.shows("on copies", "hello Ada")
        task.end()


async def test_fire_a_real_event_again_while_the_agent_runs(
    console: Open, workspace: Path, spool: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY, GREET)
    trust(workspace)
    async with console(dialect="openclaw") as story:
        task = Task(story)
        await task.press("3")
        await story.until(lambda: isinstance(story.screen.focused, LogView), "the log has the focus")
        sent(spool, "command:new", {"senderId": "Ada"})
        await story.shows("≈ real", "enter replay on copies")
        await task.press("enter")
        await story.shows("on copies", "hello Ada")
        assert len(task.keys) == 2
        task.end()

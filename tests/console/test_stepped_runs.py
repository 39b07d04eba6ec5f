"""A run that is gone through handler by handler."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open, at_fire, small

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.run_pane import RunPane

COUNTS = "def handler(event):\n    event.context['n'] = event.context.get('n', 0) + 1\n"


@pytest.fixture(autouse=True)
def three(workspace: Path, make_hook: MakeHook) -> None:
    """Three hooks that count in the event."""
    for name in ("a-first", "b-second", "c-third"):
        make_hook(workspace / "hooks", name, READY, COUNTS)
    Workbench(Options(workspace=workspace)).trust(workspace)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_each_handler_waits_and_shows_the_current_event(console: Open, size: tuple[int, int]) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("b")
        await story.shows("‖ waits before a-first", "Paused: b runs this handler")
        await story.until(lambda: "Skip" in story.lines()[-1], "its keys are named")
        await story.press("b")
        await story.shows("‖ waits before b-second")
        await story.press("minus")
        await story.shows("‖ waits before c-third")
        assert '"n": 1' in story.screen.query_one(RunPane).copied_text(), "b-second was passed over"
        await story.press("b")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        await story.shows("2 handlers ran", "skipped by the user")
        await story.until(lambda: "Skip" not in story.lines()[-1], "its keys are named no more")


@small
async def test_a_stepped_run_can_continue_to_the_end(console: Open, size: tuple[int, int]) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("b")
        await story.shows("‖ waits before a-first")
        await story.press("C")
        await story.shows("3 handlers ran")


@small
async def test_a_stepped_run_can_be_cancelled_and_useless_keys_are_explained(
    console: Open, size: tuple[int, int]
) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("minus")
        await story.shows("No handler is paused. Press b to fire step by step.")
        await story.press("b")
        await story.shows("‖ waits before a-first")
        await story.press("b")
        await story.shows("‖ waits before b-second")
        await story.press("Q")
        await story.shows("cancelled, 1 of 3 ran")
        await story.press("ctrl+r")
        await story.shows("3 handlers ran")


@small
async def test_stepping_works_in_a_sandbox_and_from_the_editor(console: Open, size: tuple[int, int]) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("tab", "tab")
        await story.until(lambda: isinstance(story.screen.focused, JsonEditor), "the editor has the focus")
        await story.press("f3", *["down"] * 6, "space", "down", "space")
        await story.shows("handlers work on copies", "waits before each handler")
        await story.press("enter")
        await story.shows("‖ waits before a-first")
        await story.press("minus")  # no letter of the editor's
        await story.shows("‖ waits before b-second")
        await story.press("C")
        await story.until(lambda: not story.screen.state.job, "the run is over")
        run = story.screen.panes.fire_pane.run_view.runs.current
        assert run is not None
        assert run.run is not None
        assert run.run.guarded is not None
        assert [result.call.name for result in run.run.results] == ["b-second", "c-third"]
        assert "i" not in story.screen.query_one(JsonEditor).text.splitlines()[0]

"""One thing on its way at a time: its number, how it is fired again, and its end when that is wanted."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.dialogs.palette import run_entries
from hookscope.console.panes.fire import fire_display
from hookscope.console.panes.fire.run_history import History

WRITES = """
from pathlib import Path

def handler(event):
    Path(event.context["workspaceDir"], "written").touch()
"""
WAITS = """
from threading import Event

def handler(event):
    Event().wait()
"""


def save(workspace: Path, name: str, text: str) -> None:
    file = workspace / ".hookscope" / "events" / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


async def rests(story: Story) -> None:
    await story.until(lambda: not story.screen.state.job, "nothing goes on")


async def test_a_run_has_its_journal_number_and_can_be_repeated(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "writes", READY, WRITES)
    save(workspace, "new", f"event: command:new\ncontext: {{workspaceDir: '{workspace}'}}\n")
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console((80, 24)) as story:
        await story.press("2", "s")
        await story.shows("Saved events")
        await story.press("ctrl+r")
        await story.shows("✓ as expected")
        await rests(story)
        (workspace / "written").unlink()
        await story.press("enter")
        await story.shows("new.yaml")
        await story.press("g")
        await story.shows("Run 2", "on copies", "1 file written")
        await rests(story)
        await story.press("r")
        await story.shows("Run 3", "on copies", "1 file written")
        await rests(story)
        assert not (workspace / "written").exists(), "what was fired on copies is fired again on copies"
        view = story.screen.state.view
        assert view is not None
        assert [past.id for past in story.screen.bridge.bench.run_record.runs(view)] == [1, 2, 3]
        lines = run_entries(
            story.screen.bridge.bench, view, story.screen.panes.fire_pane.run_view.runs.sheets
        )
        assert [line.number for line in lines] == [3, 2, 1], "the palette has the test's run, too"
        # A limit to one hook holds for the run that has it, not for the one that comes next.
        await story.press("o", "right", "enter")
        await story.shows("Run 4")
        await rests(story)
        await story.press("f5")
        await story.shows("Run 5")
        await rests(story)
        asked = story.screen.panes.fire_pane.run_view.requests
        assert [asked[number].only for number in (4, 5)] == ["writes", None]
        await story.press("3")
        await story.focus_in("log")
        await story.press("slash", *"kind:test", "enter")
        await story.shows("Log 1 of", "new.yaml")
        await story.press("enter")
        await story.shows("[2 Fire]", "Run 1   command:new")


async def test_a_running_search_is_shown_on_small_screens(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "waits", READY, WAITS)
    Workbench(Options(workspace=workspace)).trust(workspace)
    monkeypatch.setattr(fire_display, "START_SECONDS", 0.001)
    async with console((80, 24)) as story:
        await story.press("2")
        await story.focus_in("fire")
        await story.press("Z")
        await story.shows("» The search")
        await story.press("escape")
        await story.shows("Fuzz   command:new")
        await story.press("escape")
        await rests(story)
        await story.hides("» The search")


async def test_a_running_job_is_named_and_can_be_cancelled(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "waits", READY, WAITS)
    for name in ("first", "second"):
        save(workspace, name, "event: command:new\nexpect: {errors: 0}\n")
    Workbench(Options(workspace=workspace)).trust(workspace)
    monkeypatch.setattr(fire_display, "NOTICEABLE_SECONDS", 0.0)
    async with console((80, 24)) as story:
        await story.press("2", "s")
        await story.shows("Saved events")
        await story.press("ctrl+r")
        await story.shows("first", "» running")
        await story.press("ctrl+r")
        await story.shows("The test is still running; esc cancels it.")
        await story.press("escape")
        await rests(story)
        assert "second" in story.text(), "the list stays"
        assert not story.screen.panes.fire_pane.run_view.runs.sheets
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "the list is left")
        assert story.screen.query_one(History).line_count == 0
        await story.press("ctrl+r")
        await story.shows("Run 2", "» running")
        await story.press("Q")
        await story.shows("⊘ cancelled")
        await rests(story)
        monkeypatch.setattr(fire_display, "JUST_ENDED_SECONDS", 3600.0)
        await story.press("Q")  # a moment too late: it was to stop the run, and exports nothing
        await story.shows("The run has already ended.")
        story.app.clear_notifications()  # two of them would cover the pane's last line
        await story.press("Z")
        await story.shows("» The search")
        await story.press("escape")
        await story.shows("Fuzz   command:new", "stopped early")
        await story.press("escape")
        await rests(story)
        await story.until(lambda: "» The search" not in story.text(), "nothing is said to go on")

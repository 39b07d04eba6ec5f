"""n in the list: a form, its preview, and the new hook standing there, selected, ready to be fired at."""

from pathlib import Path

import pytest
from tests.authoring.scaffold.conftest import tree
from tests.conftest import MakeHook
from tests.console.conftest import EXTREMES, READY, Open, Story

from hookscope.console.dialogs.new_hook_form import NewHookForm
from hookscope.console.keymap.available_actions import why_unavailable
from hookscope.console.panes.hooks_pane import HooksPane
from hookscope.console.state.console_state import ConsoleState


def selected(story: Story) -> str:
    row = story.screen.state.row
    return row.name if row is not None else ""


@pytest.mark.parametrize("size", EXTREMES, ids=str)
async def test_three_keys_create_a_hook_that_runs(
    console: Open, size: tuple[int, int], workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    before = tree(workspace)
    async with console(size) as story:
        await story.shows("create your own")
        await story.press("n")
        await story.shows("Enter a name.", "enter write", "language")
        await story.press("enter")
        assert isinstance(story.app.screen, NewHookForm)
        await story.press(*"greet")
        await story.shows("hooks/greet/HOOK.md", "hooks/greet/handler.py", ".hookscope/events/greet.yaml")
        assert tree(workspace) == before
        await story.press("enter")
        await story.until(lambda: selected(story) == "greet", "it is selected")
        await story.shows("● ready", "greet")
        await story.press("f")
        await story.until(lambda: story.screen.state.mode == "fire", "its event is composed")
        await story.press("ctrl+r")
        await story.shows("greet: command:new")
        await story.press("1", "u")
        await story.until(lambda: tree(workspace) == before, "all of it is taken back")
        await story.until(lambda: story.screen.state.rows == (), "it is gone from the list")


async def test_the_new_hook_form_uses_every_field_and_opens_the_editor(
    console: Open, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    monkeypatch.setenv("EDITOR", "true")
    async with console((120, 36)) as story:
        await story.press("n", *"greet")
        await story.shows("./hooks/greet already exists.") if Path.cwd() == workspace else await story.shows(
            "already"
        )
        await story.press("enter")
        assert isinstance(story.app.screen, NewHookForm)
        await story.press("2", "down", "right", "right", "right", "down")  # a plugin
        await story.shows("plugins/greet2/plugin.py")
        await story.press(*"af", "right", "ctrl+space")
        await story.shows("Which event?")
        await story.press(*"message_r", "enter")
        await story.press("down", "right", "right", "down", "down", "down", *"says")
        await story.shows("after_tool_call, message_received", "plugins/greet2/index.ts", "says")
        await story.press("enter")
        await story.until(lambda: len(story.app.screen_stack) == 1, "the form is closed")
        await story.until(lambda: (workspace / "plugins/greet2/index.ts").exists(), "it is written")
        await story.until(lambda: selected(story) == "greet2", "it is selected")
        assert "says" in (workspace / "plugins/greet2/openclaw.plugin.json").read_text()


async def test_escape_in_the_new_hook_form_writes_nothing(console: Open, workspace: Path) -> None:
    before = tree(workspace)
    assert why_unavailable("new", ConsoleState()).startswith("Still scanning")
    async with console((80, 24)) as story:
        await story.press("n", *"a/b")
        await story.shows("'a/b' cannot be a hook's name.")
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "the form is closed")
        assert story.screen.query_one(HooksPane).has_focus_within
        assert tree(workspace) == before

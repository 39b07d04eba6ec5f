"""Whoever types fast, or pastes, is understood as though each key had been waited for."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story, small
from textual import events
from textual.widgets import Input

from hookscope.console import app
from hookscope.console.dialogs.base_dialogs import Question
from hookscope.console.dialogs.edit_preview import EditScreen
from hookscope.console.dialogs.new_hook_form import NewHookForm

ENV = "{openclaw: {events: [command:new], requires: {env: [NOT_SET_HERE]}}}"


def at_once(story: Story, *keys: str) -> None:
    """All of them before the console has answered the first."""
    for key in keys:
        story.app.post_message(events.Key(key, key if len(key) == 1 else None))


@small
async def test_quick_keys_reach_the_dialog_that_earlier_keys_opened(
    console: Open,
    workspace: Path,
    make_hook: MakeHook,
    size: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app, "KEY_TIMEOUT", 600.0)  # it is not this that ends the waiting
    for number in range(5):
        make_hook(workspace / "hooks", f"hook-{number:04}", READY)
    make_hook(workspace / "hooks", "wants", ENV)
    async with console(size) as story:
        screen = story.screen

        def value(of: type[Input]) -> str:
            return next((field.value for field in story.app.screen.query(of)), "")

        at_once(story, "slash", *"hook-0003")
        await story.until(lambda: screen.state.filter == "hook-0003", "the filter has every letter")
        await story.until(lambda: screen.state.row and screen.state.row.name == "hook-0003", "it is found")
        at_once(story, "escape", "3", "slash", *"look", "enter", "slash", *"ed", "escape", "1")
        await story.until(lambda: screen.state.mode == "hooks" and not screen.state.filter, "the list again")
        at_once(story, "slash", *"wants", "enter", "e", *"a value")
        await story.until(lambda: isinstance(story.app.screen, Question), "a value is asked for")
        await story.until(lambda: value(Input) == "a value", "the question has every letter")
        at_once(story, "enter", "escape", "escape", "n", *"my-hook")
        await story.until(lambda: isinstance(story.app.screen, NewHookForm), "the form of a new hook is open")
        await story.until(lambda: value(Input) == "my-hook", "its name has every letter")
        await story.until(
            lambda: story.lines()[-1].rstrip().endswith("f1 Help"), "the bottom line is the form's"
        )
        at_once(story, "escape", "ctrl+p", *"zoom")
        await story.until(lambda: value(Input) == "zoom", "the palette has every letter")
        at_once(story, "escape", "space", "w", "2", "v")
        await story.shows("[form]")
        assert not isinstance(story.app.screen, EditScreen)


async def test_the_menu_omits_the_action_of_the_key_that_closes_it(console: Open) -> None:
    async with console((120, 36)) as story:
        await story.press("2")
        await story.focus_in("fire")
        await story.press("f9")
        await story.shows("Menu   press a key", "On save")
        assert "esc  Cancel" not in story.text()

"""The key editor: an action is chosen, a key is pressed, and `keys.yaml` has it."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open, Story, at_every_size
from textual.widgets import Input, OptionList

from hookscope.app.preferences import read_keys, write_keys_of
from hookscope.console.dialogs.key_editor import KeyEditor, KeyQuestion
from hookscope.console.keymap.active_keys import all_actions, resolve_keymap, spelled_key
from hookscope.model.failure import Refusal
from hookscope.storage.state_files import config_folder


def keys_file() -> Path:
    return config_folder() / "keys.yaml"


def write(text: str) -> None:
    keys_file().parent.mkdir(parents=True, exist_ok=True)
    keys_file().write_text(text)


async def at_question(story: Story, action: str) -> None:
    """Open the question for the new key of the first action with this name."""
    await story.press("ctrl+k", *action, "enter")
    await story.until(lambda: isinstance(story.app.screen, KeyQuestion), "a key is expected")


@at_every_size
async def test_a_pressed_key_is_written_and_works_at_once(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console(size) as story:
        await at_question(story, "group")
        await story.shows("Group: press a key", "Now: v", "delete default")
        await story.press("f16")
        await story.until(lambda: isinstance(story.app.screen, KeyEditor), "the question is closed")
        assert keys_file().read_text() == 'hooks.group: "f16"\n'
        await story.shows("f16")
        await story.press("escape")
        await story.shows("f16 group")
        before = story.screen.state.grouping
        await story.press("f16")
        await story.until(lambda: story.screen.state.grouping != before, "the new key works")
        await at_question(story, "group")
        await story.press("delete")
        await story.until(lambda: not read_keys().preferences, "the line is removed")
        await story.press("escape")
        await story.shows("v group")


async def test_a_key_that_is_taken_or_writes_text_is_refused_with_the_reason(console: Open) -> None:
    async with console(SIZES[0]) as story:
        await at_question(story, "group")
        await story.press("e")
        await story.shows("Group keeps v: e already belongs to Fix.", "Press another")
        await story.press("escape", "escape")
        await at_question(story, "find an action")
        await story.press("x")
        await story.shows("it works while typing", "x cannot be its")
        assert not keys_file().exists()
        await story.press("escape")
        await story.until(lambda: isinstance(story.app.screen, KeyEditor), "the question is closed")


async def test_help_and_palette_lead_to_the_editor_with_what_was_typed(console: Open) -> None:
    async with console(SIZES[1]) as story:
        await story.press("question_mark", *"recheck", "ctrl+k")
        await story.until(lambda: isinstance(story.app.screen, KeyEditor), "the editor is open")
        await story.shows("Scan all hooks again")
        await story.press("escape", "ctrl+p", *"scan all")
        await story.shows("Recheck")
        await story.press("ctrl+k")
        await story.until(lambda: isinstance(story.app.screen, KeyEditor), "the editor is open")
        await story.press("enter")
        await story.shows("Recheck: press a key", "hooks.recheck")


async def test_a_file_that_cannot_be_edited_stays_and_the_reason_is_shown(console: Open) -> None:
    write("- hooks.group\n")
    async with console(SIZES[0]) as story:
        await at_question(story, "group")
        await story.press("f16")
        await story.shows("was not changed", "Edit the file yourself.")
        assert keys_file().read_text() == "- hooks.group\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'hooks.fix: "b"\n'),
        ("# mine\npreset: vim", '# mine\npreset: vim\nhooks.fix: "b"\n'),
        ("hooks.fix: x  # no e\nhooks.new: N\n", 'hooks.fix: "b"  # no e\nhooks.new: N\n'),
        ("hooks.fix:\n- x\n- y\n", 'hooks.fix: "b"\n'),
        ("hooks.fix:   # none\nhooks.new: N\n", None),
    ],
)
def test_every_other_byte_of_the_file_stays(before: str, after: str | None) -> None:
    write(before)
    write_keys_of("hooks.fix", ("b",))
    kept = {one.action: one.keys for one in read_keys().preferences}
    assert kept["hooks.fix"] == ("b",)
    if after is not None:
        assert keys_file().read_text() == after
    write_keys_of("hooks.fix", None)
    assert "hooks.fix" not in keys_file().read_text()
    assert all(word in keys_file().read_text() for word in ("mine", "vim", "hooks.new") if word in before)


@pytest.mark.parametrize("text", ["--- \nhooks.fix: e\n---\nhooks.new: N\n", "hooks.fix: [e\n", "[1, 2]\n"])
def test_a_file_of_another_shape_is_never_written(text: str) -> None:
    write(text)
    with pytest.raises(Refusal, match="was not changed"):
        write_keys_of("hooks.fix", ("b",))
    assert keys_file().read_text() == text


def test_every_default_key_can_be_written_as_it_is_pressed() -> None:
    for action in all_actions().values():
        for key in action.keys:
            write(f"{action.id}: ['{spelled_key(key)}']\n" if spelled_key(key) != "'" else "")
            assert not resolve_keymap(read_keys()).problems, (action.id, key)


async def test_the_field_stays_in_its_place_while_typing_narrows_the_list(console: Open) -> None:
    async with console((80, 24)) as story:
        await story.press("ctrl+k")
        await story.shows("Change a key")
        line = story.app.screen.query_one(Input).region.y
        await story.press(*"group")
        await story.until(lambda: "Quit" not in story.text(), "the list is shorter")
        await story.until(lambda: story.app.screen.query_one(OptionList).size.height == 1, "as is the frame")
        assert story.app.screen.query_one(Input).region.y == line

"""The jump mode: a letter on everything that can be gone to, and the names beside them as they were."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import MakeHook
from tests.console.conftest import EXTREMES, READY, Open, Story

from hookscope.console.dialogs.jump import JumpScreen, jump_letters
from hookscope.console.panes.fire.composer import KeyField
from hookscope.console.panes.fire.context_editor import JsonEditor

ODD = "[/odd] [@click=app.quit]x"


@given(st.integers(0, 26 * 26))
def test_no_jump_label_is_a_prefix_of_another(count: int) -> None:
    labels = jump_letters(count)
    assert len(set(labels)) == len(labels) == count
    single = {label for label in labels if len(label) == 1}
    assert all(len(label) <= 2 and (label in single or label[0] not in single) for label in labels)
    assert count > 26 or len(single) == count


def label_before(story: Story, text: str) -> str:
    """The label at the left end of the row, or before the tab, that has this text."""
    row = next(row for row in story.lines() if text in row)
    return row[: row.index(text)].split("┃")[-1].split("│")[-1].split("]")[-1].strip()[-2:].strip()


async def jump(story: Story, text: str = "", label: str = "") -> None:
    await story.press("ctrl+o")
    await story.until(lambda: isinstance(story.app.screen, JumpScreen), "labels are shown")
    await story.pilot.pause()
    await story.press(*(label or label_before(story, text)))
    await story.until(lambda: len(story.app.screen_stack) == 1, "the label was taken")


@pytest.mark.parametrize("size", EXTREMES, ids=str)
async def test_jump_labels_reach_every_row_and_pane(
    console: Open, size: tuple[int, int], workspace: Path, home: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw" / "openclaw.json").write_text("{}")
    for name in ("alpha", "beta"):
        make_hook(workspace / "hooks", name, READY)
    folder = make_hook(workspace / "hooks", "odd", READY)
    manifest = folder / "HOOK.md"
    manifest.write_text(manifest.read_text().replace("name: odd", f'name: "{ODD}"'))
    async with console(size) as story:
        await jump(story, "beta")
        await story.until(lambda: story.screen.state.row and story.screen.state.row.name == "beta", "beta")
        await story.press("ctrl+o")
        await story.until(lambda: isinstance(story.app.screen, JumpScreen), "labels are shown")
        await story.shows("[/odd]")
        await story.press("1")
        await story.shows("No label matches")
        await story.press("escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "the labels are gone")
        await jump(story, "2 Fire")
        await story.focus_in("fire")
        await story.until(lambda: isinstance(story.screen.focused, KeyField), "the event has the focus")
        await jump(story, "{")
        await story.until(lambda: isinstance(story.screen.focused, JsonEditor), "the editor has the focus")
        text = story.screen.focused.text  # type: ignore[union-attr]
        await jump(story, "1 Hooks")  # from inside an editor, whose text is as it was
        assert story.screen.query_one(JsonEditor).text == text
        await story.focus_in("list")
        await jump(story, ODD[:6])
        await story.until(
            lambda: story.screen.state.row and story.screen.state.row.name == ODD, "the odd one"
        )

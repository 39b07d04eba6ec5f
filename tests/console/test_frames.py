"""Whatever stands over the panes has room for what its frame says, and names no key twice."""

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import SIZES, Open, Story

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.dialogs.base_dialogs import Overlay
from hookscope.console.keymap.active_keys import keys_in_hints
from hookscope.console.keymap.available_actions import KeyBar, key_line
from hookscope.console.state.console_state import LEAST_SIZE

# The keys that open each, by mode.
OPENED = {
    "1": ("question_mark", "x", "O", "P", "W", "n", "I", "e", "space", "down t"),
    "2": ("ctrl+@", "f2", "f3"),
    "3": ("T",),
    "4": ("v",),
}
CORNERS = 6  # cells of a frame's line that hold no words: corners, lines, blanks
BLOCKED = "{openclaw: {events: [command:new], requires: {env: [NO_SUCH_KEY]}}}"


def crowded(screen: Overlay[object]) -> list[str]:
    """What does not fit: a frame on the screen, words in a frame, keys in the line at the bottom."""
    found, bar = [], screen.query_one(KeyBar)
    for frame in screen.children:
        if screen.region.intersection(frame.region) != frame.region:
            found.append(f"{frame} leaves the screen: {frame.region}")
        for words in (frame._border_title, frame._border_subtitle):
            if words is not None and words.cell_length > frame.outer_size.width - CORNERS:
                found.append(f"{words.plain!r} in {frame.outer_size.width} cells")
    if any(frame._border_subtitle is not None for frame in screen.children):  # else it fills the screen
        shown = key_line(bar.keys, screen.size.width).plain
        found += [f"{key.what} is not in {shown!r}" for key in bar.keys if key.what not in shown]
    return found


def twice(screen: Overlay[object]) -> set[str]:
    """Keys that a frame names, and the line at the bottom once more."""
    named = {key for part in screen.children for key in keys_in_hints(part._border_subtitle)}
    return named & {key.key for key in screen.query_one(KeyBar).keys}


async def opened(story: Story, key: str) -> Overlay[object]:
    await story.press(*key.split())
    await story.until(lambda: isinstance(story.app.screen, Overlay), f"{key} opens something")
    await story.pilot.pause()
    assert isinstance(story.app.screen, Overlay)
    return story.app.screen


@pytest.mark.parametrize("size", [LEAST_SIZE, SIZES[0]], ids=str)
async def test_frames_show_their_titles_in_full_and_each_key_once(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", BLOCKED)
    make_hook(workspace / "hooks", "other", BLOCKED)
    Workbench(Options(workspace=workspace)).trust(workspace / "hooks" / "greet")
    found: list[str] = []
    async with console(size, dialect="openclaw") as story:
        for mode, keys in OPENED.items():
            await story.press(mode)
            for key in keys:
                screen = await opened(story, key)
                name = type(screen).__name__
                found += [f"{name}: {text}" for text in crowded(screen)]
                found += [f"{name} names {key} twice" for key in twice(screen)]
                await story.press("escape")
                await story.until(lambda: len(story.app.screen_stack) == 1, f"{name} is closed")
    assert not found

"""The manual in the console: it opens at the chapter about the place where it was asked for."""

import pytest
from tests.console.conftest import SIZES, Open, Story, at_every_size

from hookscope.console.dialogs.help import TOPICS, ManualScreen
from hookscope.console.keymap.active_keys import KEY_SCOPES
from hookscope.manual import chapters


async def opened(story: Story, topic: str) -> None:
    await story.until(lambda: isinstance(story.app.screen, ManualScreen), "the manual is open")
    await story.shows(f"{chapters()[topic].title}   ")


def test_each_topic_is_a_chapter_and_each_scope_exists() -> None:
    assert {*TOPICS.values()} <= chapters().keys()
    assert TOPICS.keys() <= {scope.name for scope in KEY_SCOPES}


@at_every_size
async def test_the_manual_opens_at_the_chapter_about_the_pane(console: Open, size: tuple[int, int]) -> None:
    async with console(size) as story:
        await story.press("number_sign")
        await opened(story, "why")
        await story.shows("hookscope why NAME EVENT")
        await story.press("right_square_bracket")
        await opened(story, "lint")
        await story.press("left_square_bracket", "left_square_bracket")
        await opened(story, "browser")
        await story.press("escape", "3", "m", "number_sign")
        await opened(story, "log")


@pytest.mark.parametrize(
    ("key", "topic"), [("W", "what-if"), ("n", "write"), ("P", "workers"), ("ctrl+p", "console")]
)
async def test_help_leads_from_a_dialog_to_its_chapter(console: Open, key: str, topic: str) -> None:
    async with console(SIZES[0]) as story:
        await story.press(key, "f1")
        await story.shows("f1 manual")
        await story.press("f1")
        await opened(story, topic)
        await story.press("q", "escape", "escape")
        await story.until(lambda: len(story.app.screen_stack) == 1, "each was closed by its key")


async def test_comments_of_long_code_lines_are_above_them(console: Open) -> None:
    async with console((120, 36)) as story:
        await story.press("3", "number_sign")
        await opened(story, "log")
        lines = [line.strip(" │┃") for line in story.lines()]
        at = next(n for n, line in enumerate(lines) if line.endswith("hookscope log 12"))
        assert "# one run: its event, and all that its handlers did" in lines[at - 1]

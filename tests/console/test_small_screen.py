"""A screen that was too small for a while gives everything back."""

from pathlib import Path

from tests.conftest import MakeHook
from tests.console.conftest import READY, Open


async def test_the_focus_and_the_keys_come_back_with_the_room(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console((120, 36)) as story:
        await story.press("2")
        await story.focus_in("fire")
        await story.pilot.resize_terminal(40, 10)
        await story.shows("needs 60x16")
        await story.pilot.resize_terminal(120, 36)
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("Allow this folder to run?")

"""A small screen says all that it asks, and gives everything back when there is room."""

from pathlib import Path

from tests.conftest import MakeHook
from tests.console.conftest import READY, Open
from tests.console.test_killed import terminal, until

ANSWERS = "Cancel", "Fire without them", "Trust and fire"


async def test_focus_and_keys_return_when_the_screen_grows(
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


async def test_a_dialog_shows_all_answers_in_full_at_any_width(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    for number in range(20):
        make_hook(workspace / "hooks", f"greet-{number}", READY)
    async with console((60, 16)) as story:
        await story.press("2")
        await story.focus_in("fire")
        await story.press("f5")
        await story.shows("Allow this folder to run?", *ANSWERS, "esc cancel")
        assert not [line for line in story.lines() if ANSWERS[0] in line and ANSWERS[2] in line]
        await story.pilot.resize_terminal(80, 24)
        await story.until(
            lambda: [line for line in story.lines() if all(one in line for one in ANSWERS)],
            "all stand side by side",
        )
        await story.pilot.resize_terminal(60, 16)
        await story.shows("Allow this folder to run?", *ANSWERS, "esc cancel")


async def test_notes_move_above_the_answers_on_narrow_screens(
    console: Open, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    async with console((60, 16)) as story:
        await story.press("space")
        await story.shows(
            "Switch off greet?", "undoes it later   shown only once", "Cancel", "w  Write", "esc cancel"
        )


def test_a_dialog_stays_open_while_the_terminal_grows(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    with terminal(workspace) as console:
        until(lambda: console.shows("greet"), "the hook is listed")
        console.press(b"f")
        until(lambda: console.shows("sessionId"), "an event is composed")
        console.press(b"\x12")  # ctrl+r
        until(lambda: console.shows("Trust and fire"), "it is asked")
        console.grow(200, 50)
        until(lambda: console.shows("\x1b[50;"), "the larger screen is painted")
        console.press(b"w")
        until(lambda: console.shows("not allowed to run yet"), "it is answered")

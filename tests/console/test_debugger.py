"""A handler that is gone through line by line."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.console.conftest import READY, SIZES, Open, at_fire, small
from textual.widgets import Input

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.console.screens.debugger import DebugScreen, SourceLines

PYTHON = """\
def louder(text):
    return text.upper()

def handler(event):
    text = louder("hello")
    event.messages.append(text)
    raise KeyError("user")
"""
TYPESCRIPT = """\
function louder(text: string) {
  return text.toUpperCase();
}
export default function handler(event: any) {
  const text = louder("hello");
  event.messages.push(text);
  throw new RangeError("user");
}
"""


@pytest.fixture(params=["handler.py", "handler.ts"])
def greet(request: pytest.FixtureRequest, workspace: Path, make_hook: MakeHook) -> str:
    """A trusted hook of that file: its name."""
    source = PYTHON if request.param == "handler.py" else TYPESCRIPT
    make_hook(workspace / "hooks", "greet", READY, source, file=request.param)
    Workbench(Options(workspace=workspace)).trust(workspace)
    return str(request.param)


@pytest.mark.parametrize("size", SIZES, ids=str)
async def test_a_handler_is_stepped_through_and_inspected(
    console: Open, size: tuple[int, int], greet: str
) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("B")
        await story.shows("greet", f"{greet}:5 in handler", "at its first line")
        assert "Caller" not in story.lines()[-1]
        await story.press("f11")
        await story.shows(f"{greet}:2 in louder", "call 2 of 2", "[ Caller")
        assert "Called" not in story.lines()[-1]
        await story.press("left_square_bracket")
        await story.shows(f"{greet}:5 in handler", "call 1 of 2")
        await story.press("left_square_bracket")
        await story.shows("This is the outermost call.")
        await story.press("right_square_bracket", "f12", "f10")
        await story.until(
            lambda: f"{greet}:6" in story.text() or f"{greet}:7" in story.text(), "a later line"
        )
        await story.press("greater_than_sign", *"text", "enter")
        await story.shows("HELLO")
        await story.press("f8")  # letters are typed
        await story.shows(f"{greet}:7 in handler", "Error: ")
        await story.press("escape", "f8")
        await story.until(lambda: not isinstance(story.app.screen, DebugScreen), "the run is over")
        await story.shows("1 failed")


@small
async def test_breakpoints_are_set_by_file_and_line(console: Open, size: tuple[int, int], greet: str) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("B")
        await story.shows("at its first line")
        await story.press("down", "space")
        await story.shows(f"stops at {greet}:6 too", "● 6")
        await story.press("f8")
        await story.shows(f"{greet}:6 in handler", "at a breakpoint")
        await story.press("enter")
        await story.shows(f"no longer stops at {greet}:6")
        await story.press("C")
        await story.until(lambda: not isinstance(story.app.screen, DebugScreen), "the run is over")
        await story.shows("1 failed")


@small
async def test_a_closed_debugger_keeps_waiting_and_the_run_can_be_cancelled(
    console: Open, size: tuple[int, int], greet: str
) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("B")
        await story.shows("at its first line")
        await story.press("escape")
        await story.shows("» running", "The handler is still stopped: B shows it, Q ends the run")
        await story.press("B")
        await story.shows("at its first line")
        await story.press("y")
        await story.shows("Copied the position and variables.")
        assert f"{greet}:5 in handler" in story.app.clipboard
        assert "event = " in story.app.clipboard
        await story.press("Q")
        await story.until(lambda: not isinstance(story.app.screen, DebugScreen), "the run is over")
        await story.shows("cancelled")


@small
async def test_a_variable_is_shown_in_full_and_escape_leaves_the_field_first(
    console: Open, size: tuple[int, int], greet: str
) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("f3", *["down"] * 6, "space", "down", "down", "space")
        await story.shows("handlers work on copies", "stops in each handler")
        await story.press("enter")
        await story.shows("at its first line")
        await story.press("tab", "enter")
        await story.until(lambda: story.app.screen.query_one("#debug-said").display, "it is answered")
        await story.press("greater_than_sign", *"event.type", "enter")
        await story.shows("command")
        await story.press("escape")
        assert isinstance(story.app.screen.focused, SourceLines)
        assert not story.app.screen.query_one(Input).has_focus
        await story.press("Q")
        await story.until(lambda: not isinstance(story.app.screen, DebugScreen), "the run is over")


@small
async def test_an_error_is_shown_in_full_and_replaced_by_the_next_answer(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    source = (
        "def handler(event):\n    raise ValueError('no room: ' + 'and so it goes on, ' * 6 + 'the end')\n"
    )
    make_hook(workspace / "hooks", "greet", READY, source)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await at_fire(story)
        await story.press("B")
        await story.shows("at its first line")
        await story.press("f8")
        await story.shows("2 in handler   ValueError", "the end")
        await story.press("greater_than_sign", *"event.type", "enter")
        await story.shows("'command'")
        await story.press(*"1+1", "enter")
        await story.until(lambda: story.app.screen.query_one(Input).value == "1+1", "another question")
        await story.press("escape", "y")
        await story.until(lambda: "the end" in story.app.clipboard, "all of the error")
        await story.press("Q")
        await story.until(lambda: not isinstance(story.app.screen, DebugScreen), "the run is over")


@small
async def test_a_conditional_breakpoint_stops_if_its_condition_holds(
    console: Open, size: tuple[int, int], greet: str
) -> None:
    async with console(size) as story:
        await at_fire(story)
        await story.press("B")
        await story.shows("at its first line")
        await story.press("down", "ampersand")
        assert story.app.screen.query_one(Input).value == "b 6 if "
        await story.press(*"text == 'no'", "enter")
        await story.shows(f"stops at {greet}:6 where text == 'no'", "● 6")
        await story.press("escape", "down", "ampersand", *"nowhere > 1", "enter")
        await story.shows(f"stops at {greet}:7 where nowhere > 1")
        await story.press("escape", "f8")  # past the line 6
        await story.shows(f"{greet}:7 in handler", "the condition raises", "`nowhere > 1` raises")
        await story.press("y")
        await story.until(lambda: "`nowhere > 1` raises" in story.app.clipboard, "the cause is copied")
        await story.press("Q")
        await story.until(lambda: not isinstance(story.app.screen, DebugScreen), "the run is over")


@small
async def test_long_lines_scroll_sideways_and_the_current_line_stays_visible(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    long = " + ".join(f"len('word {number}')" for number in range(12))
    source = f"def handler(event):\n    held = {long} + 4711\n    pass\n    raise KeyError('user')\n"
    make_hook(workspace / "hooks", "greet", READY, source)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await at_fire(story)
        await story.press("B")
        await story.shows("at its first line", "held = len")
        await story.hides("4711")
        assert "→ more" in story.text()
        await story.press(*["right"] * 12)
        await story.shows("4711", "No line has more text.", "→ 2  …")
        await story.press("left")
        await story.until(lambda: "4711" not in story.text(), "the end is aside again")
        await story.press("f10")
        await story.shows("handler.py:3", "→ 3      pass", "held = len")
        await story.press("Q")
        await story.until(lambda: not isinstance(story.app.screen, DebugScreen), "the run is over")


@small
async def test_long_names_do_not_hide_the_reason_of_the_stop(
    console: Open, size: tuple[int, int], workspace: Path, make_hook: MakeHook
) -> None:
    name, inner = "a-hook-with-a-name-of-thirty-ch", "a_function_whose_name_is_long_too"
    source = f"def {inner}():\n    raise UnicodeError('no')\n\ndef handler(event):\n    {inner}()\n"
    make_hook(workspace / "hooks", name, READY, source)
    Workbench(Options(workspace=workspace)).trust(workspace)
    async with console(size) as story:
        await at_fire(story)
        await story.press("B")
        await story.shows("at its first line")
        await story.press("f8")
        await story.shows(":2 in a_", "call 2 of 2   UnicodeError")
        await story.press("Q")
        await story.until(lambda: not isinstance(story.app.screen, DebugScreen), "the run is over")

"""What somebody does in the form of an event."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.context_form import ValueInput
from hookscope.console.state import fire_requests

Size = tuple[int, int]
SMALL = [(80, 24), (120, 36)]
sizes = pytest.mark.parametrize("size", SMALL, ids=lambda size: f"{size[0]}x{size[1]}")


def text(c: Any) -> str:
    shown: str = c.pane.query_one(Composer).draft.text
    return shown


async def open_form(c: Any) -> None:
    await c.press("f4", "tab", "tab")
    assert isinstance(c.app.focused, ValueInput)


@sizes
async def test_a_field_is_edited_and_fired(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await open_form(c)
        await c.shows("[form]", "▸ sessionId", "Aa 3f1c", "✓ JSON object")
        await c.press("down", "ctrl+u", *"sms", "ctrl+r")
        assert c.last(fire_requests.FireRequested).asked.event.context["commandSource"] == "sms"
        await c.press("f4")
        await c.shows('"commandSource": "sms"', "[JSON]")


async def test_typing_adds_a_known_missing_field(console: Any) -> None:
    async with console((80, 24)) as c:
        c.pane.query_one(JsonEditor).text = '{"sessionId": "1"}'
        await open_form(c)
        await c.press("down")
        await c.shows("▸ sessionEntry")
        await c.press("down", "x")
        assert list(json.loads(text(c)))[-1] == "sessionFile"
        await c.press("y")
        assert json.loads(text(c))["sessionFile"] == "xy"
        await c.shows("Aa xy")
        await c.press("ctrl+l")
        assert "sessionFile" not in text(c)


async def test_enter_inserts_the_example_and_a_new_field_can_be_named(console: Any) -> None:
    async with console((120, 36)) as c:
        c.pane.query_one(JsonEditor).text = "{}"
        await open_form(c)
        await c.press("up", "up", "home")
        await c.press("enter")
        first = next(iter(json.loads(text(c))))
        await c.press("pagedown", "pagedown")
        await c.shows("▸ + field")
        await c.press(*"mine", "enter", *"it is")
        assert json.loads(text(c))["mine"] == "it is"
        await c.press(
            "pagedown", "pagedown", *"mine", "enter", "!"
        )  # it is there already: its row is gone to
        assert json.loads(text(c))["mine"] == "it is!"
        assert first in text(c)


async def test_the_form_edits_values_of_every_kind(console: Any) -> None:
    async with console((120, 36)) as c:
        c.pane.query_one(JsonEditor).text = '{"n": 1.10, "on": true, "t": "7", "deep": {"a": [1]}}'
        await open_form(c)
        await c.shows("12 1.10", "tf true", "Aa 7", '{} {"a": [1]}')
        await c.press("5", "down", "space", "down", "ctrl+n", "0", "down", "left", "left", *", 2")
        assert json.loads(text(c)) == {"n": 1.105, "on": False, "t": 70, "deep": {"a": [1, 2]}}
        assert '"n": 1.105' in text(c)


@pytest.mark.parametrize("size", [(60, 16)], ids=str)
async def test_an_incomplete_value_does_not_fire_and_can_be_corrected(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        c.pane.query_one(JsonEditor).text = '{"n": 1, "m": 2}'
        await open_form(c)
        await c.press("minus")
        await c.shows("✗ line 1, column 8", "✗  1-", "12 2")
        await c.press("down", "ctrl+r")
        await c.shows("Not fired", "▸ n")
        assert not any(isinstance(message, fire_requests.FireRequested) for message in c.app.asked)
        await c.press("backspace", "f4")
        assert json.loads(text(c)) == {"n": 1, "m": 2}


@pytest.mark.parametrize("size", [(120, 36), (60, 16)], ids=str)
async def test_invalid_json_has_no_form(console: Any, size: Size) -> None:
    async with console(size=size) as c:
        await c.press("tab", "tab", "comma", "f4")
        await c.shows("✗ line 1, column 1: Expecting value", "The form needs valid JSON")
        assert "telegram" not in c.screen
        await c.press("ctrl+r", "delete", "f4")  # to the mistake, and without it
        await c.shows("[form]", "Aa telegram")


async def test_the_form_returns_when_the_json_is_valid_again(console: Any) -> None:
    async with console((80, 24)) as c:
        await c.press("tab", "tab", "comma", "f4")
        await c.shows("The form needs valid JSON")
        await c.press("ctrl+t", "x")
        assert json.loads(text(c))["sessionId"] == "3f1cx"


async def test_undo_works_in_the_form(console: Any) -> None:
    async with console((120, 36)) as c:
        before = text(c)
        await open_form(c)
        await c.press("ctrl+l")
        await c.press("ctrl+z")
        assert text(c) == before
        await c.shows("sessionId     Aa 3f1c")


async def test_several_lines_can_be_pasted_into_a_text_field(console: Any) -> None:
    from textual import events

    async with console((120, 36)) as c:
        await open_form(c)
        await c.press("ctrl+u")
        c.app.focused.post_message(events.Paste('C:\\new\n"two"\x1b'))
        await c.settle()
        assert json.loads(text(c))["sessionId"] == 'C:\\new\n"two"\x1b'
        assert "\x1b" not in c.screen


async def test_the_mouse_selects_rows_and_views(console: Any) -> None:
    async with console((120, 36)) as c:
        row = next(y for y, line in enumerate(c.screen.splitlines()) if "[JSON] form" in line)
        column = c.screen.splitlines()[row].index("form")
        await c.pilot.click(offset=(column, row))
        await c.shows("[form]", "▸ sessionId")
        row = next(y for y, line in enumerate(c.screen.splitlines()) if "senderId" in line)
        await c.pilot.click(offset=(5, row))
        await c.press("!")
        assert json.loads(text(c))["senderId"] == "dev!"


async def test_the_value_follows_the_selection_in_a_long_form(console: Any) -> None:
    async with console((80, 24)) as c:
        c.pane.query_one(JsonEditor).text = json.dumps({f"field{n}": n for n in range(25)})
        await open_form(c)
        await c.press("pagedown", "up", "0")
        changed = [name for name, value in json.loads(text(c)).items() if name != f"field{value}"]
        assert len(changed) == 1
        await c.shows(f"▸ {changed[0]}")
        await c.press(*["pagedown"] * 20)
        await c.shows("▸ + field")


async def test_a_reload_keeps_the_field_that_is_being_edited(console: Any, view: Any) -> None:
    """A reload changes nothing that is being typed."""
    async with console((80, 24)) as c:
        await open_form(c)
        await c.press("down", "x")
        c.pane.query_one(Composer).show_view(view)
        await c.press("y")
        assert json.loads(text(c))["commandSource"] == "telegramxy"


async def test_a_schema_violation_is_noted_at_its_line_and_fires(console: Any) -> None:
    async with console((80, 24)) as c:
        c.pane.query_one(JsonEditor).text = '{\n  "sendrId": "dev",\n  "sessionId": 5\n}'
        await c.press("tab", "tab")
        await c.shows("! line 2: sendrId is not a known field; did you mean")
        await c.press("down", "down")
        await c.shows("! line 3: sessionId: expected a text")
        await c.press("f4")
        await c.shows("12 5", "[form]", "sendrId is no")
        await c.press("ctrl+r")
        assert c.last(fire_requests.FireRequested).asked.event.context == {"sendrId": "dev", "sessionId": 5}


async def test_ctx_is_edited_beside_the_context(console: Any) -> None:
    async with console((80, 24), key="before_tool_call") as c:
        await c.shows("[context] ctx", '"toolName": "exec"')
        await c.press("c")
        await c.shows(" context [ctx]", '"runId"')
        await c.press("tab", "tab", *["down"] * 9, "home", *', "more": 1')
        await c.press("ctrl+b")
        await c.shows("[context] ctx", '"toolName": "exec"')
        await c.press("ctrl+r")
        asked_for = c.last(fire_requests.FireRequested).asked.event
        assert asked_for.ctx["more"] == 1
        assert "more" not in asked_for.context


async def test_an_error_in_ctx_moves_the_cursor_there(console: Any) -> None:
    async with console((120, 36), key="before_tool_call") as c:
        await c.press("c", "tab", "tab", "comma", "ctrl+b")
        await c.shows("[context] ctx", "✗ ctx, line 1, column 1: Expecting value")
        await c.press("ctrl+r")
        await c.shows(" context [ctx]", "Not fired")
        await c.press("delete")
        await c.shows("✓ JSON object")


async def test_folder_hooks_have_no_second_argument(console: Any) -> None:
    async with console((80, 24)) as c:
        assert "ctx" not in c.screen
        await c.press("c")
        assert "[ctx]" not in c.screen

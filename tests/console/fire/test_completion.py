"""What is offered at the cursor of a context, and what becomes of the text when it is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.console.fire.test_fields import OBJECTS
from textual.geometry import Offset

from hookscope.app.event_templates import parse_context
from hookscope.console.dialogs.completion_list import list_corner, matching_completions
from hookscope.console.panes.fire.composer import Composer
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.context_fields import (
    Completion,
    KnownField,
    complete_text,
    completion_place_at,
    completions_at,
)

KNOWN = (
    KnownField("text", "", example='"x"'),
    KnownField(
        "deep", "", example='{\n  "k": 1\n}', members=(KnownField("k", "", example="1"), KnownField("z", ""))
    ),
    KnownField("source", "", example='"tg"', values=('"tg"', '"wa"')),
)
MINE = Completion("new one", "", '{\n  "a": [\n    1\n  ]\n}')


@pytest.mark.parametrize(
    ("text", "offered", "after"),
    [
        ("{|}", ["text", "deep", "source"], '{\n  "text": "x"\n}'),
        ("{ | }", ["text", "deep", "source"], '{\n  "text": "x"\n}'),
        ('{\n  "text": "x"|\n}', ["deep", "source"], '{\n  "text": "x",\n  "deep": {\n    "k": 1\n  }\n}'),
        ('{\n  "deep": 1,|\n}', ["text", "source"], '{\n  "deep": 1,\n  "text": "x"\n}'),
        ('{\n  "deep": 1\n  |\n}', ["text", "source"], '{\n  "deep": 1,\n  "text": "x"\n}'),
        ('{\n  "te|\n}', ["text", "deep", "source"], '{\n  "text": "x"\n}'),
        ('{\n"de|\n  "text": 1\n}', ["deep", "source"], '{\n  "deep": {\n    "k": 1\n  },\n  "text": 1\n}'),
        ('{\n  "te|": 5\n}', ["text", "deep", "source"], '{\n  "text": 5\n}'),
        ('{|"deep": 1}', ["text", "source"], '{"text": "x", "deep": 1}'),
        ('{"deep": 1, |"text": 2}', ["source"], '{"deep": 1, "source": "tg", "text": 2}'),
        ('{"deep": {"k": 1,|}, "text": 2}', ["z"], '{"deep": {"k": 1, "z": ""}, "text": 2}'),
        ('{"deep": [{"k": 2}, {|}]}', ["k", "z"], '{"deep": [{"k": 2}, {\n  "k": 1\n}]}'),
        ('{"source": |}', ['"tg"', '"wa"'], '{"source": "tg"}'),
        ('{"source": "w|"}', ['"tg"', '"wa"'], '{"source": "tg"}'),
        ('{"text": |', ['"x"'], '{"text": "x"'),
        ('{"strange": |}', [], ""),
        ("[|]", [], ""),
        ("|", [], ""),
    ],
)
def test_completion_offers_fields_and_values_and_inserts_them(
    text: str, offered: list[str], after: str
) -> None:
    at = text.index("|")
    text = text.replace("|", "")
    spot = completion_place_at(text, at)
    choices = completions_at(spot, KNOWN) if spot is not None else ()
    assert [choice.shown for choice in choices] == offered
    if spot is not None and choices:
        done = complete_text(text, spot, choices[0])
        assert text[: done.start] + done.text + text[done.end :] == after


@given(OBJECTS, st.data())
def test_completing_a_valid_text_keeps_it_valid(text: str, data: Any) -> None:
    at = data.draw(st.integers(0, len(text)))
    spot = completion_place_at(text, at)
    if spot is None or spot.slot == "value":
        return
    done = complete_text(text, spot, MINE)
    after = text[: done.start] + done.text + text[done.end :]
    assert '"new one"' in after
    if spot.slot == "name" and not spot.typed and spot.start and text[: spot.start].rstrip()[-1] == ",":
        return  # behind a comma that a member follows, perhaps in the middle of its spaces
    parse_context(after)


@given(st.text('{}[],:"ab\\ \n', max_size=30), st.integers(0, 30))
def test_completion_accepts_any_text(text: str, at: int) -> None:
    spot = completion_place_at(text, min(at, len(text)))
    if spot is not None:
        assert spot.start <= min(at, len(text)) <= spot.end
        complete_text(text, spot, MINE)


def test_completion_lists_prefix_matches_first() -> None:
    choices = [Completion("b", "has sess", ""), Completion("sessionId", "", ""), Completion("c", "", "")]
    assert [choice.shown for choice in matching_completions(choices, "Sess")] == ["sessionId", "b"]


@given(
    st.tuples(st.integers(0, 200), st.integers(0, 70)), st.tuples(st.integers(60, 200), st.integers(16, 70))
)
def test_the_completion_list_stays_on_the_screen(cursor: tuple[int, int], screen: tuple[int, int]) -> None:
    x, y = list_corner(Offset(min(cursor[0], screen[0]), min(cursor[1], screen[1] - 1)), screen, (50, 8))
    assert 0 <= x <= screen[0] - 50
    assert 0 <= y <= screen[1] - 8
    row = min(cursor[1], screen[1] - 1)
    assert not y <= row < y + 8  # what is written stays visible


@pytest.mark.parametrize("size", [(60, 16)], ids=str)
async def test_a_completed_field_selects_its_value_for_typing(console: Any, size: tuple[int, int]) -> None:
    async with console(size=size) as c:
        c.pane.query_one(JsonEditor).text = '{\n  "sessionId": "1"\n}'
        await c.press("tab", "tab", "down", "end", "ctrl+@")
        await c.shows("Fields", "senderId", "who gave the command")
        await c.press(*"gave", "enter")
        await c.shows("✓ JSON object")
        assert json.loads(c.pane.query_one(Composer).draft.text)["senderId"], "it is read at once"
        await c.press(*"me")
        assert json.loads(c.pane.query_one(Composer).draft.text) == {"sessionId": "1", "senderId": "me"}
        await c.press("ctrl+@", "escape", "!")
        assert json.loads(c.pane.query_one(Composer).draft.text)["senderId"] == "me!"


async def test_the_form_offers_the_values_of_a_field(console: Any) -> None:
    async with console((80, 24), key="before_tool_call") as c:
        c.pane.query_one(JsonEditor).text = "{}"
        await c.press("f4", "tab", "tab")
        await c.shows("▸ toolName")
        await c.press("ctrl+@")
        screen = await c.shows("Values of toolName", "an example of toolName")
        frame = next(line for line in screen.splitlines() if "Values of toolName" in line)
        assert frame.rindex("╮") - frame.rindex("╭") < 40  # as wide as what it says
        await c.press("enter")
        await c.shows("▸ toolName   Aa exec")
        await c.press("pagedown", "ctrl+@")
        await c.shows("No values are known")

"""Drafts checked and explained, without a screen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.app.event_templates import parse_context
from hookscope.app.snapshot import Snapshot
from hookscope.console.panes.fire.context_fields import known_field_help, known_fields
from hookscope.console.panes.fire.event_draft import (
    EventDraft,
    check_draft,
    escape_controls,
    field_name_at,
    offsets_of,
    readable_json,
    template_draft,
)
from hookscope.console.panes.fire.fire_layout import layout_classes

TEXT = '{\n  "a": {"x": 1},\n  "b": [\n    "c", {"d": 2}\n  ], "e": "f:g"\n}'


@pytest.mark.parametrize(
    ("line", "column", "field"),
    [
        (0, 0, None),
        (1, 0, "a"),
        (1, 9, "a"),
        (2, 2, "b"),
        (3, 11, "b"),
        (4, 2, "e"),
        (4, 9, "e"),
        (9, 9, "e"),
    ],
)
def test_field_name_at_finds_the_field_under_the_cursor(line: int, column: int, field: str | None) -> None:
    assert field_name_at(TEXT, line, column) == field


@given(st.text(max_size=200), st.integers(0, 20), st.integers(0, 50))
def test_field_name_at_accepts_any_text(text: str, line: int, column: int) -> None:
    field_name_at(text, line, column)


@pytest.mark.parametrize("key", ["", " ", ":new", "a b", "a\x1b[2J"])
def test_an_invalid_key_gives_no_event(key: str) -> None:
    assert check_draft(EventDraft(key), None).event is None


def test_a_json_error_has_its_line_and_column() -> None:
    checked = check_draft(EventDraft("command:new", text='{\n  "a": 1,,\n}'), None)
    assert (checked.event, checked.line, checked.column) == (None, 2, 10)


def test_a_bare_type_is_an_event_without_action() -> None:
    event = check_draft(EventDraft("command"), None).event
    assert event is not None
    assert (event.type, event.action, event.key) == ("command", "", "command")


def test_settings_in_the_text_override_the_real_ones() -> None:
    draft = EventDraft("command:new", text='{"cfg": {"mine": 1}}', cfg={"theirs": 2})
    event = check_draft(draft, None).event
    assert event is not None
    assert event.context["cfg"] == {"mine": 1}


def test_a_context_that_violates_the_schema_is_noted_and_still_fired(view: Snapshot) -> None:
    checked = check_draft(EventDraft("command:new", text='{"senderID": "dev", "sessionId": 7}'), view)
    assert checked.event is not None
    assert [str(noted) for noted in checked.notes] == [
        "line 1: senderID is not a known field; did you mean senderId?",
        "line 1: sessionId: expected a text, but 7 is a number",
    ]
    assert [noted.column for noted in checked.notes] == [2, 21]
    (noted,) = check_draft(EventDraft("message:sendt", text='{"senderID": 1}'), view).notes
    assert noted.text.startswith("unknown to")
    for key in view.keys:
        if key in view.host.dialect.catalogue().by_key and view.host.dialect.catalogue().sends(key):
            assert check_draft(template_draft(key, view), view).notes == (), key


def test_the_field_under_the_cursor_has_a_help_text(view: Snapshot) -> None:
    known = view.host.dialect.catalogue().find("message:received")
    assert known is not None
    fields = known_fields(known.fields, known.required)
    told = known_field_help(fields, "channelId", "{}")
    assert (
        told == "channelId: where it came from: whatsapp, telegram, signal; such as telegram · text, required"
    )
    absent = known_field_help(fields, None, '{"from": 1}')
    assert absent.startswith("other fields:  content, channelId, timestamp")
    assert known_field_help((), "x", "{}") == ""


def test_every_template_is_a_valid_event(view: Snapshot) -> None:
    for key in view.keys:
        checked = check_draft(template_draft(key, view), view)
        assert checked.event is not None
        assert checked.event.key == key
        assert not checked.notes


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=8), max_size=4))
def test_escapes_do_not_change_values(value: dict[str, str]) -> None:
    assert parse_context(readable_json(value)) == value


def test_invisible_characters_are_escaped() -> None:
    assert escape_controls("a\u202eb\x1b\r\n") == "a\\u202eb\\u001b\n"


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((80, 20), {"stacked"}),
        ((80, 14), {"stacked", "flat"}),
        ((96, 44), {"tall"}),
        ((120, 33), {"beside"}),
        ((200, 48), {"beside"}),
    ],
)
def test_the_layout_follows_the_size(size: tuple[int, int], expected: set[str]) -> None:
    assert layout_classes(*size) == expected


def test_places_of_nested_members_are_found_in_one_pass() -> None:
    text = '{"a": [1, {"b": 2}], "c": {"b": {"d": 3}}, "c": {"e": 4}}'
    paths: list[tuple[str | int, ...]] = [
        ("a",),
        ("a", 1, "b"),
        ("c", "e"),
        ("c", "b", "d"),
        ("x",),
        ("a", "b"),
    ]
    found = offsets_of(text, paths)
    assert {path: text[at : at + 3] for path, at in found.items()} == {
        ("a",): '"a"',
        ("a", 1, "b"): '"b"',
        ("c", "e"): '"e"',  # of the last `c`
    }
    assert offsets_of("", []) == {}

"""A form edits the text of its object, and nothing else of it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.app.event_templates import BadContext, parse_context
from hookscope.console.panes.fire.context_fields import (
    JsonForm,
    KnownField,
    one_line_json,
    read_json_form,
    shown_text,
)
from hookscope.console.panes.fire.context_form import ADD_FIELD, form_columns, form_row_line, form_rows_of
from hookscope.console.panes.fire.event_draft import escape_controls

SPACE = st.sampled_from(["", " ", "\n", "\n    ", "\t", " \n "])
NUMBERS = st.sampled_from(["0", "-1.10", "12345678901234567890123456789", "1e5", "0.1000000000000000055"])
TEXTS = st.text(max_size=12).map(json.dumps) | st.text(max_size=12).map(
    lambda text: escape_controls(json.dumps(text, ensure_ascii=False))
)
KEYS = st.sampled_from(["a", "b", "long name", "ü", "日本", "[/x]", 'q"', "\\"])


def _list(items: list[str], gap: str) -> str:
    return f"[{gap}{f',{gap}'.join(items)}{gap}]"


def _object(members: list[tuple[str, str]], gap: str) -> str:
    written = (f"{json.dumps(key, ensure_ascii=False)}{gap}:{gap}{value}" for key, value in members)
    return f"{{{gap}{f'{gap},{gap}'.join(written)}{gap}}}"


VALUES = st.recursive(
    NUMBERS | TEXTS | st.sampled_from(["true", "false", "null"]),
    lambda inner: (
        st.builds(_list, st.lists(inner, max_size=3), SPACE)
        | st.builds(_object, st.lists(st.tuples(KEYS, inner), max_size=3), SPACE)
    ),
    max_leaves=5,
)
OBJECTS = st.builds(_object, st.lists(st.tuples(KEYS, VALUES), max_size=5), SPACE)
SOME = st.builds(_object, st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=5), SPACE)


def sources(form: JsonForm) -> list[tuple[str, str]]:
    return [(field.name, form.text[field.at : field.end]) for field in form.fields]


@given(OBJECTS)
def test_a_form_has_every_member_in_its_order(text: str) -> None:
    form = read_json_form(text)
    assert form.text == text
    pairs = json.loads(text, object_pairs_hook=list)
    assert [(name, json.loads(source, object_pairs_hook=list)) for name, source in sources(form)] == pairs
    for field in form.fields:
        assert "\n" not in field.shown
        if not field.is_text:
            assert json.loads(field.shown) == json.loads(text[field.at : field.end])


@given(SOME, st.data())
def test_visiting_a_field_does_not_change_the_text(text: str, data: Any) -> None:
    form = read_json_form(text)
    index = data.draw(st.integers(0, len(form.fields) - 1))
    assert form.write(index, form.fields[index].shown) is form
    field = form.fields[index]
    if field.is_text:  # and what was typed again means the same
        again = form.write(index, field.shown + "x").write(index, field.shown)
        assert again.text == text


@given(SOME, VALUES, st.data())
def test_writing_a_value_keeps_all_others(text: str, value: str, data: Any) -> None:
    form = read_json_form(text)
    index = data.draw(st.integers(0, len(form.fields) - 1))
    meant = data.draw(st.text(max_size=12)) if form.fields[index].is_text else json.loads(value)
    typed = shown_text(meant) if form.fields[index].is_text else one_line_json(value)
    after = form.write(index, typed)
    assert [name for name, _ in sources(after)] == [name for name, _ in sources(form)]
    others = [source for at, source in enumerate(sources(form)) if at != index]
    assert [source for at, source in enumerate(sources(after)) if at != index] == others
    assert json.loads(sources(after)[index][1]) == meant


@given(st.text(max_size=30))
def test_any_text_can_be_written(text: str) -> None:
    form = read_json_form('{"a": ""}').write(0, shown_text(text))
    assert parse_context(form.text) == {"a": text}
    assert form.fields[0].shown == shown_text(text)


@given(SOME, st.text(max_size=12), st.data())
def test_an_invalid_value_is_kept_and_can_be_corrected(text: str, typed: str, data: Any) -> None:
    """Whatever is typed, the rows are those of the text, or, while that is invalid, those of before."""
    form = read_json_form(text)
    index = data.draw(st.integers(0, len(form.fields) - 1))
    after = form.write(index, typed)
    try:
        assert after == read_json_form(after.text)
    except BadContext:
        assert [name for name, _ in sources(after)] == [name for name, _ in sources(form)]
        assert after.fields[index].problem
        mended = after.write(index, "0" if not after.fields[index].is_text else "x")
        assert mended == read_json_form(mended.text)


@given(OBJECTS, KEYS, VALUES)
def test_an_added_field_is_last_and_can_be_removed(text: str, name: str, value: str) -> None:
    form = read_json_form(text)
    added = form.add(name, value)
    assert sources(added) == [*sources(form), (name, value)]
    assert sources(added.remove(len(form.fields))) == sources(form)


@given(SOME, st.data())
def test_remove_deletes_one_field(text: str, data: Any) -> None:
    form = read_json_form(text)
    index = data.draw(st.integers(0, len(form.fields) - 1))
    left = form.remove(index)
    assert sources(left) == [source for at, source in enumerate(sources(form)) if at != index]


@given(SOME, st.data())
def test_a_value_converted_to_text_and_back_is_unchanged(text: str, data: Any) -> None:
    form = read_json_form(text)
    index = data.draw(st.integers(0, len(form.fields) - 1))
    field = form.fields[index]
    turned = form.turn(index)
    if field.is_text:
        assert turned is form or not turned.fields[index].is_text
    else:
        assert parse_context(turned.text)[field.name] == field.shown or form.find(field.name) != index
        assert turned.turn(index).fields[index].shown == field.shown


def test_the_layout_of_a_nested_value_is_kept_and_short_ones_stay_short() -> None:
    text = '{\n  "params": {\n    "command": "ls"\n  },\n  "tags": ["a"]\n}'
    form = read_json_form(text).write(0, '{"command": "ls", "cwd": [1.10, {}]}').write(1, '["a", "b"]')
    assert form.text == (
        '{\n  "params": {\n    "command": "ls",\n    "cwd": [\n      1.10,\n      {}\n    ]\n  },\n'
        '  "tags": ["a", "b"]\n}'
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", '{\n  "n": 1\n}'),
        ("{}", '{\n  "n": 1\n}'),
        ('{"a": 1}', '{"a": 1, "n": 1}'),
        ('{"a":1,"b":2}', '{"a":1,"b":2,"n": 1}'),
        ('{\n    "a": 1\n}', '{\n    "a": 1,\n    "n": 1\n}'),
    ],
)
def test_a_new_field_is_indented_like_its_neighbours(text: str, after: str) -> None:
    assert read_json_form(text).add("n", "1").text == after


def test_typing_a_whole_text_into_a_number_makes_it_a_text() -> None:
    form = read_json_form('{"a": 1}').write(0, '"x')
    assert (form.fields[0].kind, form.fields[0].problem) == ("value", "not a JSON value")
    form = form.write(0, '"x"')
    assert (form.fields[0].kind, form.fields[0].shown) == ("text", "x")


def test_a_typed_value_with_two_fields_gives_two_rows() -> None:
    assert [field.name for field in read_json_form('{"a": 1}').write(0, '1, "b": 2').fields] == ["a", "b"]


def test_huge_values_and_numbers_stay_out_of_the_form() -> None:
    form = read_json_form(json.dumps({"a": "x" * 20_000, "b": 1}))
    assert form.fields[0].too_long
    assert form.write(0, "y") is form
    assert (
        read_json_form('{"n": 1}').write(0, "9" * 5_000).fields[0].name == "n"
    )  # no integer that Python reads


def test_a_duplicate_field_marks_the_first_as_ignored() -> None:
    known = (KnownField("a", "what it is"), KnownField("z", "could be"))
    rows = form_rows_of(read_json_form('{"a": 1, "a": 2}'), known)
    assert [(row.name, row.overridden, row.field is None) for row in rows] == [
        ("a", True, False),
        ("a", False, False),
        ("z", False, True),
        ("", False, True),
    ]


@given(OBJECTS, st.integers(1, 200))
def test_rows_are_aligned_at_any_width(text: str, width: int) -> None:
    rows = form_rows_of(read_json_form(text), (KnownField("z", "could be [/]", example='{"a": 1}'),))
    at = form_columns(width, len(ADD_FIELD))
    lines = [form_row_line(row, at).plain for row in rows]
    assert all("\n" not in line for line in lines)
    assert at.before_value + at.value + at.help <= max(width, 12)

import json
from collections import OrderedDict
from datetime import date
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.runtime.python_worker.protocol import MAX_BODY, pack
from hookscope.runtime.python_worker.safe_values import to_plain


class Colour(IntEnum):
    RED = 1


class Hostile:
    def __class_getitem__(cls, _: object) -> None:
        raise SystemExit

    def __fspath__(self) -> str:
        raise SystemExit

    def __repr__(self) -> str:
        raise SystemExit


class HostileDict(dict[str, int]):
    def items(self) -> Any:
        raise KeyboardInterrupt

    def __iter__(self) -> Any:
        raise KeyboardInterrupt


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()) | st.binary()
    | st.sets(st.integers()) | st.builds(object) | st.dates(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers() | st.booleans(), inner),
    max_leaves=30,
)  # fmt: skip


@given(anything)
def test_anything_becomes_json_that_a_frame_can_hold(value: Any) -> None:
    copy, _ = to_plain(value)
    packed = pack({"value": copy})
    assert json.loads(packed[4:])["value"] == copy
    json.dumps(copy, allow_nan=False, ensure_ascii=False).encode("utf-8")


@given(anything)
def test_plain_values_are_left_as_they_are_and_nothing_is_said(value: Any) -> None:
    once, _ = to_plain(value)
    again, notes = to_plain(once)
    assert (again, notes) == (once, [])


@pytest.mark.parametrize(
    ("value", "copy", "note"),
    [
        ({1, 2}, [1, 2], "it is a set, shown as a list"),
        (b"ab", "<bytes, 2 bytes>", "it is bytes, not text"),
        (object(), "<object>", "it is an object, which JSON cannot hold"),
        (float("nan"), "<float nan>", "it is nan, which JSON cannot hold"),
        (date(2026, 1, 2), "2026-01-02", "it is a date, shown as text"),
        (Path("/a"), "/a", "it is a PosixPath, shown as text"),
        ("a\udc80", "a?", "it holds half a character (a lone surrogate), shown as ?"),
        ({3: 4}, {"3": 4}, "it has an int as a key"),
        (1 << 5000, "<int of 5,001 bits>", "it is too large a number"),
        (Hostile(), "<unreadable Hostile>", "it could not be read (SystemExit)"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_hold_is_named_by_its_type(value: Any, copy: Any, note: str) -> None:
    assert to_plain(value) == (copy, [note])


@pytest.mark.parametrize("value", [Colour.RED, OrderedDict(a=1), HostileDict(a=1), (1, 2)], ids=type)
def test_subclasses_of_jsons_types_are_no_news(value: Any) -> None:
    copy, notes = to_plain(value)
    assert notes == []
    assert type(copy) in (int, dict, list)


def test_a_cycle_is_named_where_it_closes() -> None:
    value: dict[str, Any] = {"a": []}
    value["a"].append(value)
    assert to_plain(value, "context") == ({"a": ["<cycle: dict>"]}, ["context.a[0] holds itself"])


def test_the_same_value_twice_is_no_cycle() -> None:
    shared = [1]
    assert to_plain([shared, shared]) == ([[1], [1]], [])


def test_depth_is_limited() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    copy, notes = to_plain(value)
    assert "too deep" in str(copy)
    assert notes[0].endswith("is nested more than 64 deep")


@pytest.mark.parametrize("value", ["x" * 50_000_000, "\x00" * 5_000_000, ["\U0001f40d" * 100] * 90_000])
def test_however_large_a_value_it_fits_into_a_frame(value: Any) -> None:
    copy, notes = to_plain(value)
    assert len(pack({"value": copy})) < MAX_BODY
    assert notes


def test_many_changes_are_counted() -> None:
    _, notes = to_plain([b""] * 100)
    assert len(notes) == 13
    assert notes[-1] == "and 88 more such changes"

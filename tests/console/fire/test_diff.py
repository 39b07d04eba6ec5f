"""A patch read as before → after says what the patch does."""

from functools import reduce
from typing import Any

import jsonpatch
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from jsonpointer import JsonPointerException

from hookscope.console.panes.fire.run_sheet import (
    ABSENT,
    ValueChange,
    apply_change,
    patch_changes,
    pointer_path,
)

keys = st.text(st.sampled_from("ab/~é"), max_size=3)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(keys, values, max_size=5)


def patch_between(before: Any, after: Any) -> tuple[Any, ...]:
    """A patch of a library; it fails on some moves between lists and objects, and gets others wrong."""
    try:
        patch = tuple(jsonpatch.make_patch(before, after).patch)
        led_to = jsonpatch.apply_patch(before, patch)
    except (TypeError, jsonpatch.JsonPatchException, JsonPointerException):
        reject()
    if led_to != after:
        reject()
    return patch


@given(documents, documents)
def test_applying_a_patchs_changes_gives_the_result(before: Any, after: Any) -> None:
    patch = patch_between(before, after)
    changes, result = patch_changes(before, patch)
    assert result == after
    assert reduce(apply_change, changes, before) == after


@given(documents, documents)
def test_a_patch_does_not_modify_the_original_document(before: Any, after: Any) -> None:
    kept = repr(before)
    patch_changes(before, patch_between(before, after))
    assert repr(before) == kept


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/a/-", "value": 3}, ValueChange(("a", "2"), ABSENT, 3)),
        ({"op": "add", "path": "/a/0", "value": 3}, ValueChange(("a", "0"), ABSENT, 3)),
        ({"op": "add", "path": "/b", "value": 3}, ValueChange(("b",), None, 3)),
        ({"op": "remove", "path": "/b"}, ValueChange(("b",), None, ABSENT)),
        ({"op": "replace", "path": "/a/1", "value": 9}, ValueChange(("a", "1"), 2, 9)),
        ({"op": "copy", "from": "/a/0", "path": "/c"}, ValueChange(("c",), ABSENT, 1)),
    ],
)
def test_each_operation_names_the_previous_value(operation: dict[str, Any], expected: ValueChange) -> None:
    changes, _ = patch_changes({"a": [1, 2], "b": None}, (operation,))
    assert changes == (expected,)


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "replace", "path": "/no/way", "value": 1},
        {"op": "remove", "path": "/a/7"},
        {"op": "add", "path": "/a/x", "value": 1},
        {"op": "move", "from": "/no", "path": "/b"},
        {"op": "add", "path": "/a/²", "value": 1},
        {"op": "add", "path": "/a" * 100_000, "value": 1},
        {"path": 7},
    ],
)
def test_an_operation_that_does_not_apply_changes_nothing(operation: dict[str, Any]) -> None:
    document = {"a": [1]}
    _, after = patch_changes(document, (operation,))
    assert after == document


def test_json_pointers_are_unescaped() -> None:
    assert pointer_path("/a~1b/c~0d") == ("a/b", "c~d")

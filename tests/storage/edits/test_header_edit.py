"""One place of a HOOK.md's header changed, no other byte, and nothing at all where that is not certain."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.storage.edits.atomic_files import CannotEdit
from hookscope.storage.edits.header_edit import (
    parse_header_text,
    with_header_first,
    with_header_key,
    with_header_value,
    with_one_line,
    with_wrapped,
    without_header_member,
)

Edit = Callable[[bytes], bytes]
BLOCK = b"""---
name: h # mine
metadata:
  # above
  clawd:
    events: ['command:nwe', command:reset]
    os:
---

Prose: {stays}.
"""
FLOW = b'---\r\nname: h\r\nmetadata: {"clawd": {"events": ["command:nwe"]}}\r\n---\r\nProse.\r\n'


CLAWD = ("metadata", "clawd")
EDITS: tuple[tuple[Edit, bytes, bytes], ...] = (
    (lambda s: with_header_value(s, (*CLAWD, "events", 0), "command:new"), b"command:nwe", b"command:new"),
    (lambda s: with_header_value(s, (*CLAWD, "events", 1), "a: b"), b"command:reset", b'"a: b"'),
    (lambda s: with_header_value(s, (*CLAWD, "os"), ["linux"]), b"os:", b'os: ["linux"]'),
    (lambda s: with_header_value(s, ("homepage",), "x"), b"---\n\nProse", b'homepage: "x"\n---\n\nProse'),
    (lambda s: with_header_key(s, CLAWD, "openclaw"), b"  clawd:", b"  openclaw:"),
    (lambda s: without_header_member(s, "name"), b"name: h # mine\n", b""),
    (lambda s: with_header_first(b"\xef\xbb\xbf\n" + s), b"", b""),
)


@pytest.mark.parametrize(("edit", "gone", "came"), EDITS)
def test_a_header_edit_changes_no_other_byte(edit: Edit, gone: bytes, came: bytes) -> None:
    assert edit(BLOCK) == BLOCK.replace(gone, came, 1)


def test_a_header_edit_uses_the_files_line_ends_and_quotes() -> None:
    renamed = with_header_key(FLOW, ("metadata", "clawd"), "openclaw")
    assert renamed == FLOW.replace(b'"clawd"', b'"openclaw"')
    member = with_header_value(FLOW, ("metadata", "eliza"), {"events": ["a"]})
    assert member == FLOW.replace(b'{"clawd"', b'{"eliza": {"events": ["a"]}, "clawd"')
    added = with_header_value(FLOW, ("homepage",), "https://a.b")
    assert b"\r\nhomepage:" in added
    assert b"\n" not in added.replace(b"\r\n", b"")


def test_metadata_is_moved_under_its_key_on_one_line() -> None:
    bare = b"---\nmetadata:\n  events: [a]\n  requires:\n    bins: [b]\n---\n"
    wrapped = with_wrapped(bare, ("metadata",), "openclaw")
    assert wrapped == b"---\nmetadata:\n  openclaw:\n    events: [a]\n    requires:\n      bins: [b]\n---\n"
    line = with_one_line(wrapped, "metadata", parse_header_text(wrapped)["metadata"])
    assert line == b'---\nmetadata: {"openclaw": {"events": ["a"], "requires": {"bins": ["b"]}}}\n---\n'


UNREAD = (
    b"",
    b"no header",
    b"---\nname: h\n",
    b"---\na: [\n---\n",
    b"---\n\xff\n---\n",
    b"---\na: &x 1\n---\n",
)


@pytest.mark.parametrize("source", [*UNREAD, b"---\n- a\n---\n"])
def test_an_unreadable_header_is_not_edited(source: bytes) -> None:
    edits: tuple[Edit, ...] = (
        lambda s: with_header_value(s, ("a", "b"), 1),
        lambda s: with_header_key(s, ("a",), "b"),
        lambda s: with_wrapped(s, ("a",), "b"),
        lambda s: without_header_member(s, "a"),
    )
    for edit in edits:
        with pytest.raises(CannotEdit):
            edit(source)


words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(words, values, max_size=4), st.lists(words, min_size=1, max_size=3), values, st.booleans()
)
def test_any_header_edit_changes_only_its_value_or_is_refused(
    header: dict[str, object], path: list[str], value: object, flow: bool
) -> None:
    yaml = (
        json.dumps(header)
        if flow
        else "\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in header.items())
    )
    source = f"---\n{yaml}\n---\nProse\n".encode()
    try:
        before = parse_header_text(source)
        after = with_header_value(source, tuple(path), value)
    except CannotEdit:
        return
    found: object = parse_header_text(after)
    for step in path:
        assert isinstance(found, dict)
        found = found[step]
    assert found == value
    others = {key: part for key, part in before.items() if key != path[0]}
    assert {key: part for key, part in parse_header_text(after).items() if key != path[0]} == others
    assert after.endswith(b"---\nProse\n")

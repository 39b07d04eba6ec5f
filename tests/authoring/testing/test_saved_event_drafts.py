"""A saved event is edited in place: what was not touched stays as its author wrote it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.authoring.testing.saved_events import SavedDraft, overwrite_saved_event, read_draft
from hookscope.model.failure import Refusal

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
DRAFTS = st.builds(
    SavedDraft,
    st.sampled_from(["command:new", "before_tool_call"]),
    st.none() | TEXTS.filter(bool),
    st.dictionaries(TEXTS, VALUES, max_size=3),
    st.dictionaries(TEXTS, VALUES, max_size=2),
)
SOURCES = (
    "event: command:new\n",
    "# mine\nevent: command:new   # why\nsession: s-1\ncontext:\n  who: Ada  # her\nexpect: {errors: 0}\n",
    "event: command:new\ncontext: {who: '${USER}'}\nctx: {runId: run-1}\nexpect:\n  messages: [hi]  # one\n",
    "expect: {errors: 1}\ncontext:\n    deep: {a: [1, 2]}\nevent: command:new",
    "event: command:new\r\ncontext:\r\n  who: Ada\r\n",
)


@pytest.mark.parametrize("source", SOURCES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(DRAFTS)
def test_overwritten_event_reads_back_and_keeps_expectations(
    tmp_path: Path, source: str, draft: SavedDraft
) -> None:
    file = tmp_path / "one.yaml"
    file.write_bytes(source.encode())
    hidden = overwrite_saved_event(file, draft)
    written = file.read_bytes().decode()
    if not hidden:
        read = read_draft(file)
        assert (read.key, dict(read.context), dict(read.ctx)) == (draft.key, draft.context, draft.ctx)
        assert read.session == draft.session
    for kept in ("# mine", "# why", "expect: {errors: 0}", "  messages: [hi]  # one"):
        assert (kept in source) <= (kept in written)


def test_one_value_is_replaced_in_its_own_style(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("event: command:new\ncontext:\n  who: Ada\nexpect: {messages: [hi]}  # one\n")
    overwrite_saved_event(file, SavedDraft("command:reset", None, {"who": "Bob", "n": 2}))
    assert file.read_text() == (
        'event: command:reset\ncontext:\n  who: "Bob"\n  n: 2\nexpect: {messages: [hi]}  # one\n'
    )


def test_change_from_number_to_boolean_is_written(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("event: command:new\ncontext: {dry: 1, all: [0]}\n")
    overwrite_saved_event(file, SavedDraft("command:new", None, {"dry": True, "all": [False]}))
    assert read_draft(file).context["dry"] is True
    assert file.read_text() == 'event: command:new\ncontext: {"dry": true, "all": [false]}\n'


def test_new_fields_are_written_before_expectations(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("event: command:new\nexpect: {messages: [hi]}\n")
    overwrite_saved_event(
        file, SavedDraft("command:new", "s-2", {"token": "sk-live-51H8aQ2eZvKYlo2C7rT9bWx"})
    )
    assert file.read_text() == (
        'event: command:new\nsession: s-2\ncontext:\n  token: "${TOKEN}"\nexpect: {messages: [hi]}\n'
    )


def test_overwriting_keeps_variables(tmp_path: Path) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("event: command:new\ncontext: {who: '${USER}', at: '${now-2h}'}\n")
    draft = read_draft(file)
    assert draft.context == {"who": "${USER}", "at": "${now-2h}"}
    before = file.read_bytes()
    assert overwrite_saved_event(file, draft) == ()
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "source", ["", "- 1\n", "event: 3\n", "event: a:b\ncontext: [1]\n", "event: a:b\nx: 1\n"]
)
def test_overwrite_refuses_invalid_saved_events(tmp_path: Path, source: str) -> None:
    file = tmp_path / "one.yaml"
    file.write_text(source)
    with pytest.raises(Refusal):
        overwrite_saved_event(file, SavedDraft("command:new"))
    assert file.read_text() == source

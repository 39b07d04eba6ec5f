"""Any run can be stored and shown again. Nothing here looks like a secret."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookscope.model.failure import Failure, Frame
from hookscope.model.hook import LogLine
from hookscope.model.run import (
    Code,
    Ending,
    Event,
    EventKind,
    Exclusion,
    FileChange,
    NotRun,
    Registration,
    Result,
    Run,
    SandboxResult,
    Status,
)
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.records import run_document, run_of
from hookscope.storage.journal.secrets import is_secret_key

texts = st.text(max_size=12).filter(
    lambda text: not is_secret_key(text)
)  # those are masked: see test_secrets
few_texts = st.lists(texts, max_size=3).map(tuple)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, json_values, max_size=3)
seconds = st.integers(0, 10**9).map(lambda microseconds: microseconds / 1e6)
moments = st.integers(0, 4 * 10**12).map(lambda ms: datetime.fromtimestamp(ms // 1000, UTC))
events = st.builds(
    Event, texts, texts, texts, objects, few_texts, moments, st.sampled_from(get_args(EventKind)), objects
)
paths = st.sampled_from(["/hooks/a", "/hooks/ä b"]).map(Path)
codes = st.builds(Code, paths, texts, paths, st.sampled_from(["python", "typescript"]), texts)
calls = st.builds(Registration, texts, texts, codes)
frames = st.builds(Frame, texts, st.integers(0, 10**6), texts, texts, st.integers(0, 999))
failures = st.builds(
    Failure, texts, texts, st.lists(frames, max_size=2).map(tuple), st.sampled_from(["spawn", "load", "run"])
)
changes = st.builds(
    lambda path, value: {"op": "add", "path": f"/context/{path}", "value": value}, texts, json_values
)
not_runs = st.builds(
    NotRun,
    texts,
    texts,
    subscribed=st.booleans(),
    near_miss=texts,
    exclusion=st.sampled_from(get_args(Exclusion)),
)
results = st.builds(
    Result,
    calls,
    st.sampled_from(get_args(Status)),
    seconds,
    seconds,
    seconds,
    few_texts,
    json_values,
    texts,
    texts,
    st.none() | failures,
    st.lists(changes, max_size=2).map(tuple),
    few_texts,
    st.booleans(),
    st.none() | failures,
)
file_changes = st.builds(
    FileChange,
    paths,
    st.sampled_from(["written", "changed", "deleted"]),
    st.none() | st.integers(0, 10**9),
    st.none() | st.integers(0, 10**9),
    texts,
)
guards = st.builds(
    SandboxResult,
    texts,
    st.booleans(),
    st.booleans(),
    st.lists(file_changes, max_size=2).map(tuple),
    st.integers(0, 9),
    few_texts,
)
endings = st.builds(
    Ending,
    st.none() | objects,
    st.none() | texts,
    st.lists(events, max_size=1).map(tuple),
    st.lists(st.builds(LogLine, texts, texts), max_size=2).map(tuple),
)


def runs_with(caused: Any) -> st.SearchStrategy[Run]:
    return st.builds(
        Run,
        st.just(0),
        events,
        st.lists(results, max_size=3).map(tuple),
        st.lists(not_runs, max_size=2).map(tuple),
        endings,
        few_texts,
        objects,
        caused,
        seconds,
        st.booleans(),
        st.booleans(),
        few_texts,
        st.frozensets(texts, max_size=2),
        st.none() | guards,
    )


runs = runs_with(st.lists(runs_with(st.just(())), max_size=1).map(tuple))


def same_calls(found: Sequence[Result], expected: Sequence[Result]) -> tuple[Result, ...]:
    """The found results with the expected registrations, which are equal to themselves only."""
    for one, other in zip(found, expected, strict=True):
        assert (one.call.key, one.call.name, one.call.target) == (
            other.call.key,
            other.call.name,
            other.call.target,
        )
    pairs = zip(found, expected, strict=True)
    return tuple(_rounded(replace(one, call=other.call)) for one, other in pairs)


def _rounded(result: Result) -> Result:
    return replace(
        result, started=round(result.started, 6), took=round(result.took, 6), loaded=round(result.loaded, 6)
    )


def assert_same(found: Run, expected: Run) -> None:
    assert same_calls(found.results, expected.results) == tuple(map(_rounded, expected.results))
    assert round(found.took, 6) == round(expected.took, 6)
    for one, other in zip(found.caused, expected.caused, strict=True):
        assert_same(one, other)
    assert replace(found, results=(), caused=(), took=0) == replace(expected, results=(), caused=(), took=0)


@given(runs)
@settings(deadline=None)
def test_a_run_equals_its_stored_document(run: Run) -> None:
    assert_same(run_of(json.loads(json.dumps(run_document(run, "d")))), run)


async def store_and_read(run: Run, folder: str) -> tuple[Run, Run]:
    with Journal(Path(folder) / "journal.db", "w", "d") as journal:
        run = replace(run, id=await journal.begin(run.event))
        await journal.end(run)
        stored = journal.run(run.id)
    assert stored is not None
    assert stored.document["masked"] == []
    return run, run_of(stored.document)


@given(runs)
@settings(max_examples=30, deadline=None)
def test_any_run_survives_being_stored(run: Run) -> None:
    with TemporaryDirectory() as folder:
        expected, found = asyncio.run(store_and_read(run, folder))
    assert_same(found, expected)


@pytest.mark.parametrize(
    ("reason", "left_out"),
    [("left out: only two was asked for", "unasked"), ("left out: all but it were asked for", "")],
)
def test_an_old_journal_marks_excluded_hooks_by_their_reason(reason: str, left_out: str) -> None:
    run = Run(1, Event("command"), (), (NotRun("one", reason, exclusion="unasked"),), Ending())
    document = run_document(run, "openclaw")
    del document["not_run"][0]["left_out"]
    assert run_of(document).not_run == (NotRun("one", reason, exclusion=left_out),)  # type: ignore[arg-type]


def test_a_restored_run_has_no_callable_handler() -> None:
    run = Run(1, Event("a"), (Result(Registration("a", "h", print), "ok"),), (), Ending())
    (result,) = run_of(run_document(run, "d")).results
    assert callable(result.call.target)
    with pytest.raises(LookupError, match="known from the journal only"):
        result.call.target(None)

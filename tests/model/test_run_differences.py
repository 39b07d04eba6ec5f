"""What is different between two runs: everything that is, once, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookscope.model.failure import Failure
from hookscope.model.run import Ending, Event, Registration, Result, Run
from hookscope.model.run_comparison import RunDifference, run_differences

EVENT = Event("command", "new")
NAMES = st.sampled_from(["greet", "audit", "guard"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3)
    ),
    max_leaves=8,
)
CONTEXTS = st.dictionaries(st.sampled_from(["a", "b", "c"]), VALUES, max_size=3)


@st.composite
def results(draw: st.DrawFn) -> Result:
    error = draw(st.none() | st.builds(Failure, st.just("ValueError"), st.text("xy", max_size=2)))
    call = Registration("command:new", draw(NAMES), print)
    return Result(call, "error" if error else "ok", error=error, took=draw(st.floats(0, 1)))


RUNS = st.builds(
    Run,
    id=st.integers(1, 99),
    event=st.just(EVENT),
    results=st.lists(results(), max_size=4).map(tuple),
    not_run=st.just(()),
    ending=st.builds(Ending, answer=CONTEXTS, verdict=st.sampled_from(["", "allowed", "blocked"])),
    messages=st.lists(st.sampled_from(["Hello", "Bye", ""]), max_size=4).map(tuple),
    context=CONTEXTS,
    took=st.floats(0, 9),
)


def turned(one: RunDifference) -> tuple[Any, ...]:
    return (one.kind, one.subject, repr(one.after), repr(one.before))


@given(RUNS, st.floats(0, 9), st.integers(100, 200))
def test_durations_and_ids_are_no_difference(run: Run, took: float, number: int) -> None:
    later = replace(run, id=number, took=took, results=tuple(replace(it, took=took) for it in run.results))
    assert run_differences(run, later) == ()


@given(RUNS, RUNS)
def test_reversed_comparison_swaps_before_and_after(before: Run, after: Run) -> None:
    there = [item for item in run_differences(before, after) if item.kind != "message"]
    back = [item for item in run_differences(after, before) if item.kind != "message"]
    assert sorted(map(turned, there)) == sorted(
        (one.kind, one.subject, repr(one.before), repr(one.after)) for one in back
    )


@given(RUNS, RUNS)
def test_message_differences_turn_one_list_into_the_other(before: Run, after: Run) -> None:
    said = [item for item in run_differences(before, after) if item.kind == "message"]
    gone = [item.before for item in said if item.after is None]
    came = [item.after for item in said if item.before is None]
    assert len(gone) + len(came) == len(said)
    assert sorted([*after.messages, *gone]) == sorted([*before.messages, *came])
    assert bool(said) == (before.messages != after.messages)


@given(RUNS, RUNS)
def test_no_difference_means_equal_runs(before: Run, after: Run) -> None:
    if not run_differences(before, after):
        assert before.messages == after.messages
        assert [(it.call.name, it.status) for it in before.results] == [
            (it.call.name, it.status) for it in after.results
        ]


def test_nested_differences_have_paths() -> None:
    before = Run(
        1, EVENT, (), (), Ending(), context={"list": [1, {"a": 1}], "gone": 1, "replayed": {"run": 3}}
    )
    after = Run(2, EVENT, (), (), Ending(), context={"list": [1, {"a": 2}, 3]})
    assert run_differences(before, after) == (
        RunDifference("context", "list[1].a", 1, 2),
        RunDifference("context", "list[2]", None, 3),
        RunDifference("context", "gone", 1, None),
    )


def test_booleans_differ_from_numbers_and_equal_numbers_do_not_differ() -> None:
    before = Run(1, EVENT, (), (), Ending(), context={"on": True, "count": 1, "list": [0]})
    after = Run(2, EVENT, (), (), Ending(), context={"on": 1, "count": 1.0, "list": [False]})
    assert run_differences(before, after) == (
        RunDifference("context", "on", True, 1),
        RunDifference("context", "list[0]", 0, False),
    )

"""What a saved event may expect, one expectation at a time: met, and missed by a little."""

from collections.abc import Mapping
from typing import Any

import pytest

from hookscope.authoring.testing.expectations import UNKNOWN, unmet_expectations
from hookscope.model.failure import Failure, Refusal
from hookscope.model.run import Ending, Event, Registration, Result, Run

CALL = Registration("command", "greet", print)
BROKE = Result(CALL, "error", error=Failure("ValueError", "no"))


def a_run(*results: Result, verdict: str = "", messages: tuple[str, ...] = ()) -> Run:
    event = Event("command", "new")
    return Run(1, event, results, (), Ending(verdict=verdict), messages=messages, context={"a": [{"b": 1}]})


def missed(expect: Mapping[str, Any], run: Run, files: tuple[str, ...] | None = None) -> list[str]:
    return [miss.what for miss in unmet_expectations(expect, run, files)]


@pytest.mark.parametrize(
    ("files", "patterns", "met"),
    [
        (("a.txt", "b/c.md"), ["*.txt", "b/*"], True),
        (("a.txt",), ["*.txt", "b/*"], False),
        (("a.txt", "strange"), ["*.txt"], False),
        ((), [], True),
        (("a.txt",), [], False),
        (("a.txt", "b.txt"), 2, True),
        (("a.txt",), 2, False),
        (("gone.txt (deleted)",), ["gone.txt (deleted)"], True),
    ],
)
def test_files_must_match_all_written_files(files: tuple[str, ...], patterns: object, met: bool) -> None:
    assert missed({"files": patterns}, a_run(), files) == ([] if met else ["files"])


def test_files_are_unknown_without_a_sandbox() -> None:
    (miss,) = unmet_expectations({"files": []}, a_run())
    assert miss.got is UNKNOWN


def test_output_matches_lines_of_both_streams() -> None:
    run = a_run(Result(CALL, "ok", stdout="one\ntwo\n", stderr="warning: three\n"))
    assert missed({"output": {"greet": ["two", "warning: *"]}}, run) == []
    assert missed({"output": {"greet": ["tw"]}}, run) == ["output.greet"]
    assert missed({"output": {"other": ["two"]}}, run) == ["output.other"]


@pytest.mark.parametrize(
    ("verdict", "blocked"),
    [
        ("blocked by guard: no", True),
        ("cancelled by guard", True),
        ("turn cancelled by guard", True),
        ("failed closed: guard: no", True),
        ("allowed", False),
        ("changed params", False),
        ("", False),
    ],
)
def test_blocked_covers_every_way_of_stopping_the_host(verdict: str, blocked: bool) -> None:
    run = a_run(verdict=verdict)
    assert missed({"blocked": blocked}, run) == []
    assert missed({"blocked": not blocked}, run) == ["blocked"]


def test_errors_default_to_none_expected() -> None:
    assert missed({}, a_run(BROKE)) == ["errors"]
    assert missed({"errors": 1}, a_run(BROKE)) == []
    assert missed({"errors": 1}, a_run()) == ["errors"]


def test_messages_must_match_in_order_and_number() -> None:
    run = a_run(messages=("Saved 3", "Done"))
    assert missed({"messages": ["Saved *", "Done"]}, run) == []
    assert missed({"messages": ["Done", "Saved *"]}, run) == ["messages"]
    assert missed({"messages": ["Saved *"]}, run) == ["messages"]
    assert missed({"messages": 2}, run) == []
    assert missed({"messages": 1}, run) == ["messages"]


def test_took_checks_the_slowest_handler() -> None:
    run = a_run(Result(CALL, "ok", took=0.2), Result(CALL, "ok", took=0.1))
    assert missed({"max_ms": 200}, run) == []
    assert missed({"max_ms": 199}, run) == ["max_ms"]


def test_a_value_of_the_context_is_found_by_its_path() -> None:
    assert missed({"context": {"a[0].b": 1}}, a_run()) == []
    assert missed({"context": {"a[1].b": 1, "a[0].b": True}}, a_run()) == ["context.a[1].b", "context.a[0].b"]


def test_unknown_expectation_suggests_the_closest_match() -> None:
    with pytest.raises(Refusal, match="did you mean messages"):
        unmet_expectations({"mesages": []}, a_run())

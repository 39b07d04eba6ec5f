"""What was accepted is what is expected: whatever handlers say, and however the file is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.app.variables import Variables, filled_value
from hookscope.authoring.testing.acceptance import accept
from hookscope.authoring.testing.expectations import unmet_expectations
from hookscope.authoring.testing.saved_events import read_saved
from hookscope.authoring.testing.sequences import read_sequence
from hookscope.authoring.testing.test_runs import SavedEventResult
from hookscope.model.failure import Refusal
from hookscope.model.run import Ending, Event, Registration, Result, Run

ODD = [
    "a*b",
    "[x]?",
    "one\ntwo",
    "- no",
    "# no",
    "'",
    '"',
    "\x85",
    "\u2028",
    "\ufeff",
    "{",
    "😀",
    "null",
    "1",
]
REFERENCES = ["${X}", "${now-1h?}", "$${X}"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(ODD + REFERENCES)
STARTS = st.sampled_from(
    [
        "event: command:new",
        "event: command:new\n",
        "event: command:new\r\ncontext: {}\r\n",
        "event: command:new\nexpect:\n",
        "event: command:new\nexpect: {}\ncontext: {a: 1}\n",
        "event: command:new\nexpect:\n  # first\n  messages: 9\n  ran:\n  - nobody\n",
        "event: command:new\nexpect:\n  ran:\n      - nobody # yet\n\n# last\n",
        "event: command:new\nexpect: {messages: [never, again], ran: [nobody]}\n",
        "\ufeffevent: command:new\nexpect: {'errors': 4}\ncontext: {a: 1}  # last",
    ]
)
RESULTS = st.lists(
    st.builds(Result, st.builds(Registration, st.just("command"), TEXTS, st.just(print)), st.just("ok")),
    max_size=3,
)
RUNS = st.builds(
    lambda messages, results: Run(
        1, Event("command", "new"), tuple(results), (), Ending(), messages=tuple(messages)
    ),
    st.lists(TEXTS, max_size=3),
    RESULTS,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("events")


@given(STARTS, RUNS)
def test_an_accepted_run_passes_and_a_second_accept_writes_nothing(
    folder: Path, start: str, run: Run
) -> None:
    file = folder / "hello.yaml"
    file.write_bytes(start.encode())
    if accept(SavedEventResult(file, run, unmet_expectations(read_saved(file).expect, run))):
        written = file.read_bytes()
        expect = filled_value(read_saved(file).expect, Variables(), run.event.timestamp)
        assert unmet_expectations(expect, run) == ()
        assert accept(SavedEventResult(file, run, ())) is False
        assert file.read_bytes() == written
    else:
        assert unmet_expectations(read_saved(file).expect, run) == ()


def test_accept_refuses_half_characters_and_writes_nothing(folder: Path) -> None:
    file = folder / "half.yaml"
    file.write_text("event: command:new\n")
    run = Run(1, Event("command", "new"), (), (), Ending(), messages=("half \ud800",))
    with pytest.raises(Refusal, match="cannot be edited safely"):
        accept(SavedEventResult(file, run, ()))
    assert file.read_text() == "event: command:new\n"


STEPS = """# as it was sent
steps:
  - event: command:new  # first
    with: {a: 1}
  - {event: command:new, expect: {messages: [never]}}
  - {event: command:new, expect: {ran: [somebody]}}
  - event: command:new
    expect:
      ran: [nobody]
  - {file: hello.yaml, expect: {ran: [nobody]}}
"""


@given(st.lists(RUNS, min_size=5, max_size=5))
def test_accept_writes_expectations_into_their_steps(folder: Path, runs: list[Run]) -> None:
    file = folder / "steps.yaml"
    (folder / "hello.yaml").write_text("event: command:new\n")
    file.write_text(STEPS)

    def checked() -> SavedEventResult:
        events = [step.event for step in read_sequence(file).steps]
        expected = [
            filled_value(event.expect, Variables(), run.event.timestamp)
            for event, run in zip(events, runs, strict=True)
        ]
        done = [
            SavedEventResult(event.file, run, unmet_expectations(expect, run))
            for event, expect, run in zip(events, expected, runs, strict=True)
        ]
        return SavedEventResult(file, None, steps=tuple(done))

    accept(checked())
    assert checked().passed
    assert accept(checked()) is False
    assert file.read_text().startswith("# as it was sent\nsteps:\n  - event: command:new  # first\n")


def test_accept_refuses_a_step_with_expectations_in_another_file(folder: Path) -> None:
    file, other = folder / "far.yaml", folder / "other.yaml"
    file.write_text("steps:\n- {event: command:new}\n- {file: other.yaml}\n")
    other.write_text("event: command:new\nexpect: {ran: [nobody]}\n")
    run = Run(1, Event("command", "new"), (), (), Ending())
    steps = (
        SavedEventResult(file, run),
        SavedEventResult(other, run, unmet_expectations({"ran": ["nobody"]}, run)),
    )
    with pytest.raises(Refusal, match=r"far.yaml, step 2 uses the expectations in other.yaml"):
        accept(SavedEventResult(file, None, steps=steps))
    assert "expect" not in file.read_text()

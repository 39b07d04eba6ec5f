"""Breakpoints of an editor that stop at some times alone, and those that say something in place of that."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conftest import MakeHook
from tests.integrations.dap.editor import Editor, Message

COMMAND = '{openclaw: {events: ["command:new"]}}'


@dataclass(frozen=True)
class Counting:
    """A handler that counts to six: in its line 4 `number` has a value, and `held` holds `limit`."""

    file: str
    source: str
    unknown: str  # the error of a name that is none
    every: str  # an expression whose inner function sees the handler's variables


PYTHON = Counting(
    "handler.py",
    """\
def handler(event):
    held = {"limit": 4}
    for number in range(1, 7):
        event.messages.append(f"number {number}")
        print("past", number, flush=True)
""",
    "NameError: name 'nowhere' is not defined",
    "any(number == other for other in (2, 5))",
)
TYPESCRIPT = Counting(
    "handler.ts",
    """\
export default async function handler(event: { messages: string[] }) {
  const held: { limit: number } = { limit: 4 };
  for (let number = 1; number < 7; number += 1) {
    event.messages.push(`number ${number}`);
    console.log("past", number);
  }
}
""",
    "ReferenceError: nowhere is not defined",
    "[2, 5].some((other) => number === other)",
)
COUNTING = [PYTHON, TYPESCRIPT]


@pytest.fixture(params=COUNTING, ids=lambda one: one.file)
def counting(request: pytest.FixtureRequest) -> Counting:
    one: Counting = request.param
    return one


@pytest.fixture
def handler(counting: Counting, workspace: Path, make_hook: MakeHook) -> Path:
    """Its file."""
    return (
        make_hook(workspace / "hooks", "counts", COMMAND, counting.source, file=counting.file) / counting.file
    )


def stops(editor: Editor, file: Path, *points: Message) -> list[str]:
    """The `number` at each stop of a run with these breakpoints."""
    editor.begin({file: list(points)}, event="command:new")
    found = []
    while "terminated" not in (event := next_of(editor)):
        found.append(editor.value("number", event["stopped"]))
        editor.do("continue", threadId=event["stopped"]["threadId"])
    return found


def next_of(editor: Editor) -> dict[str, Message]:
    """The next stop, or the end."""
    while True:
        for event in editor.events:
            if event["event"] in ("stopped", "terminated"):
                return {event["event"]: editor.event(event["event"])}
        editor.do("threads")


def logs(editor: Editor) -> list[Message]:
    """What lines have said."""
    return [one for one in editor.outputs if "source" in one]


@pytest.mark.parametrize(
    ("wish", "at"),
    [
        ({"condition": "number > held['limit']"}, ["5", "6"]),
        ({"condition": "number == 99"}, []),
        ({"hitCondition": "2"}, ["2"]),
        ({"hitCondition": ">= 5"}, ["5", "6"]),
        ({"hitCondition": "%3"}, ["3", "6"]),
        ({"condition": "number % 2 == 0", "hitCondition": "> 1"}, ["4", "6"]),
        ({"condition": " ", "hitCondition": "< 2"}, ["1"]),
    ],
)
def test_breakpoint_stops_when_its_condition_and_hit_count_match(
    editor: Editor, counting: Counting, handler: Path, wish: Message, at: list[str]
) -> None:
    assert stops(editor, handler, {"line": 4, **wish}) == at


def test_a_function_in_a_condition_sees_the_handlers_variables(
    editor: Editor, counting: Counting, handler: Path
) -> None:
    assert stops(editor, handler, {"line": 4, "condition": counting.every}) == ["2", "5"]


def test_a_condition_that_raises_stops_and_is_told_once(
    editor: Editor, counting: Counting, handler: Path
) -> None:
    editor.begin({handler: [{"line": 4, "condition": "nowhere > 1"}]}, event="command:new")
    told = editor.event("output", lambda body: body["category"] == "important")["output"]
    stopped = editor.stopped("breakpoint")
    assert stopped["text"] == f"its condition `nowhere > 1` raises {counting.unknown}"
    assert told == f"Stopped at {counting.file}:4, because {stopped['text']}.\n"
    editor.do("continue", threadId=stopped["threadId"])
    assert editor.stopped("breakpoint")["text"] == stopped["text"]
    assert editor.printed("important") == ""
    mended = {"line": 4, "condition": "number == 5"}
    editor.do("setBreakpoints", source={"path": str(handler)}, breakpoints=[mended])
    editor.do("continue", threadId=stopped["threadId"])
    stopped = editor.stopped("breakpoint")
    assert "text" not in stopped
    assert editor.value("number", stopped) == "5"


def test_a_line_that_logs_says_so_and_does_not_stop(
    editor: Editor, counting: Counting, handler: Path
) -> None:
    said = r"{number} of {held['limit']}, \{so}, {nowhere} {"
    point = {"line": 4, "condition": "number > 4", "logMessage": said}
    assert stops(editor, handler, point) == []
    logged = logs(editor)
    assert [one["output"] for one in logged] == [
        f"{number} of 4, {{so}}, <{counting.unknown}> {{\n" for number in (5, 6)
    ]
    assert [(one["source"]["path"], one["line"]) for one in logged] == [(str(handler), 4)] * 2


def test_a_line_that_logs_does_so_too_where_steps_come_by(
    editor: Editor, counting: Counting, handler: Path
) -> None:
    editor.begin({handler: [2, {"line": 4, "logMessage": "at {number}"}]}, event="command:new")
    stopped = editor.stopped("breakpoint")
    while not editor.place(stopped).endswith(":5"):
        editor.do("next", threadId=stopped["threadId"])
        stopped = editor.stopped("step")
    assert [one["output"] for one in logs(editor)] == ["at 1\n"]


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        ({"hitCondition": "often"}, "`often` is not a hit count; write 3, >= 3 or % 3."),
        ({"condition": "x" * 10000}, "10,000 characters are too many; at most 8,192 are allowed."),
    ],
)
def test_impossible_breakpoint_is_unverified_with_a_reason(
    editor: Editor, counting: Counting, handler: Path, wish: Message, why: str
) -> None:
    point, other = editor.begin({handler: [{"line": 4, **wish}, 5]}, event="command:new")
    assert (point["verified"], point["message"]) == (False, why)
    assert editor.place(editor.stopped("breakpoint")) == f"{counting.file}:5"
    assert other["id"] != point["id"]


def test_a_condition_that_is_no_expression_is_hollow_and_says_why(
    editor: Editor, counting: Counting, handler: Path
) -> None:
    editor.begin({handler: [{"line": 4, "condition": "number >"}]}, event="command:new")
    hollow = editor.event("breakpoint")["breakpoint"]
    assert not hollow["verified"]
    assert "`number >` is not an expression" in hollow["message"]
    editor.event("terminated")

"""What throws, cancels, tools and subagents come to in a session: recorded with 0.18.1 and 0.80.1."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.hosts.streams.playing import ADD, FAILS, HELP, NONE, Hook, stage_of, told

from hookscope.hosts.dialects.eve_sessions import GUIDE_SESSIONS, SESSIONS_0_18, SESSIONS_0_80
from hookscope.hosts.streams.session_machine import advance_session, begin_session
from hookscope.hosts.streams.session_messages import (
    ChildOutcomes,
    ModelReply,
    Published,
    SessionAgent,
    SessionFinished,
    Thrown,
    ToolResult,
    UserMessage,
    WaitingForUser,
)
from hookscope.hosts.streams.session_rules import SessionRules
from hookscope.hosts.streams.session_state import display_title, error_in, first_sentence

# What hooks' throws come to: recorded with 0.18.1 at each place.

INSIDE = ["message.appended", "message.completed", "actions.requested", "action.result", "step.completed"]
OUTSIDE = ["session.started", "turn.started", "message.received", "step.started", "turn.completed"]


@pytest.mark.parametrize("kind", INSIDE)
def test_under_0_18_a_throw_within_the_models_step_fails_the_turn(kind: str) -> None:
    reply = {"text": "Look", "toolCalls": [ADD]}
    stage = stage_of(SESSIONS_0_18, [reply, "Done"], Hook("a", kind, {"throws": "boom"}))
    session, command = stage.play("hi")
    kinds = told(stage, session.id)
    assert kinds[kinds.index(kind) :] == [kind, "step.failed", "turn.failed", "session.waiting"]
    data = stage.streams[session.id][-2][1]
    assert (data["code"], data["message"]) == ("MODEL_CALL_FAILED", "boom")
    assert data["details"]["message"] == "Error: boom"
    assert command == WaitingForUser(command.output, "boom")


@pytest.mark.parametrize("kind", [*OUTSIDE, "session.waiting"])
def test_under_0_18_a_throw_elsewhere_repeats_the_step_and_then_fails_the_session(kind: str) -> None:
    stage = stage_of(SESSIONS_0_18, ["Done"], Hook("a", kind, {"throws": "boom"}), Hook("b", "*"))
    session, command = stage.play("hi", "not heard")
    kinds = told(stage, session.id)
    assert kinds.count(kind) == 4
    assert kinds[-1] == "session.failed"
    assert "session.failed" not in {heard for _, _, heard, _ in stage.calls}
    text = 'Step "step//eve@0.18.1//turnStep" failed after 3 retries: boom'
    assert stage.streams[session.id][-1][1]["message"] == text
    assert command == SessionFinished(command.output, text)


def test_under_0_18_a_later_step_is_repeated_alone() -> None:
    stage = stage_of(
        SESSIONS_0_18, [{"toolCalls": [ADD]}, "Done"], Hook("a", "turn.completed", {"throws": "boom"})
    )
    session, _ = stage.play("hi")
    counts = Counter(told(stage, session.id))
    assert (counts["turn.started"], counts["actions.requested"], counts["turn.completed"]) == (1, 1, 4)
    steps = [data["stepIndex"] for kind, data in stage.streams[session.id] if kind == "step.started"]
    assert steps == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("kind", ["subagent.completed", "action.result"])
def test_under_0_18_a_throw_at_a_subagents_result_repeats_it_without_calling_again(kind: str) -> None:
    stage = stage_of(SESSIONS_0_18, [{"toolCalls": [HELP]}, "Done"], Hook("a", kind, {"throws": "boom"}))
    session, command = stage.play("hi")
    counts = Counter(told(stage, session.id))
    assert (counts["subagent.called"], counts[kind], len(stage.streams)) == (1, 4, 2)
    assert isinstance(command, SessionFinished)


@pytest.mark.parametrize("calls", [[HELP], [ADD, HELP]])
def test_under_0_18_a_step_that_fails_after_subagents_forgets_their_calls(calls: list[Any]) -> None:
    stage = stage_of(SESSIONS_0_18, [{"toolCalls": calls}, {"fail": "down"}])
    session, _ = stage.play("hi")
    assert [entry.role for entry in session.history] == ["user"]


@pytest.mark.parametrize("kind", ["step.failed", "turn.failed"])
def test_a_throw_in_the_cascade_fails_the_session_by_the_guide(kind: str) -> None:
    stage = stage_of(GUIDE_SESSIONS, [{"fail": "down"}], Hook("a", kind, {"throws": "boom"}), Hook("b", "*"))
    session, command = stage.play("hi", "two")
    assert told(stage, session.id)[-2:] == [kind, "session.failed"]
    assert [heard for _, hook, heard, _ in stage.calls if hook.slug == "b"][-1] == "session.failed"
    assert command == SessionFinished("", "boom")


@pytest.mark.parametrize("kind", [*INSIDE, *OUTSIDE])
def test_a_throw_anywhere_else_fails_the_turn_by_the_guide(kind: str) -> None:
    reply = {"text": "Look", "toolCalls": [ADD]}
    stage = stage_of(GUIDE_SESSIONS, [reply, "Done"], Hook("a", kind, {"throws": "boom"}))
    session, command = stage.play("hi")
    assert told(stage, session.id)[-3:] == [kind, "turn.failed", "session.waiting"]
    assert command.failure == "boom"


def test_by_the_guide_a_hook_that_always_throws_ends_the_session() -> None:
    stage = stage_of(GUIDE_SESSIONS, ["Done"], Hook("a", "session.waiting", {"throws": "boom"}))
    session, command = stage.play("hi")
    assert told(stage, session.id)[-3:] == ["turn.failed", "session.waiting", "session.failed"]
    assert isinstance(command, SessionFinished)


# Cancels: recorded with 0.80.1 at each place.

CANCELLED = ["turn.cancelled", "session.waiting"]


@pytest.mark.parametrize("kind", [*INSIDE, *OUTSIDE[1:4]])
def test_a_cancelled_turn_ends_at_once_and_the_next_one_counts_on(kind: str) -> None:
    reply = {"text": "Look", "toolCalls": [ADD, FAILS]}
    stage = stage_of(SESSIONS_0_80, [reply, "-", "Done"], Hook("a", kind, {"cancel": True}))
    session, command = stage.play("hi")
    assert told(stage, session.id)[-3:] == [kind, *CANCELLED]
    assert command == WaitingForUser()
    stage.hooks = ()
    session, _ = stage.rested(*advance_session(session, UserMessage("two")))
    begun = [data for kind, data in stage.streams[session.id] if kind == "turn.started"]
    assert begun[-1] == {"sequence": 1, "turnId": "turn_1"}
    assert told(stage, session.id)[-1] == "session.waiting"


def test_a_session_cancelled_before_its_first_turn_has_no_turn() -> None:
    stage = stage_of(SESSIONS_0_80, ["Done"], Hook("a", "session.started", {"cancel": True}))
    session, _ = stage.play("one", "two")
    kinds = told(stage, session.id)
    assert kinds[:4] == ["session.started", "session.waiting", "turn.started", "message.received"]
    assert stage.streams[session.id][2][1] == {"sequence": 0, "turnId": "turn_0"}
    assert [entry.text for entry in session.history if entry.role == "user"] == ["one", "two"]


def test_a_cancel_settles_the_tasks_of_the_turn_and_their_sessions_run_to_their_end() -> None:
    stage = stage_of(
        SESSIONS_0_80, [{"toolCalls": [HELP]}, "Done"], Hook("a", "message.completed", {"cancel": True})
    )
    session, _ = stage.play("hi")
    assert told(stage, session.id)[-4:] == ["task.settled", *CANCELLED, "agent.started"]
    settled = dict(stage.streams[session.id])["task.settled"]
    assert (settled["status"], settled["cancel"]) == ("cancelled", {"reason": "turn_cancelled"})
    (child,) = set(stage.streams) - {session.id}
    assert told(stage, child)[-1] == "session.waiting"


def test_a_failed_turn_settles_its_tasks_after_it() -> None:
    stage = stage_of(SESSIONS_0_80, [{"toolCalls": [HELP]}, {"fail": "down"}])
    session, command = stage.play("hi")
    ended = ["step.failed", "turn.failed", "session.waiting", "task.settled", "agent.started"]
    assert told(stage, session.id)[-5:] == ended
    assert dict(stage.streams[session.id])["task.settled"]["cancel"] == {"reason": "turn_ended"}
    assert command == WaitingForUser("", "down")


# Replies, tools and subagents.


def test_two_tasks_are_settled_one_after_another() -> None:
    again = {"name": "helper", "input": {"message": "again"}}
    stage = stage_of(SESSIONS_0_80, [{"toolCalls": [HELP, again]}, "-", "Done"])
    session, _ = stage.play("hi")
    kinds = [
        kind for kind in told(stage, session.id) if not kind.startswith(("message", "actions", "action"))
    ]
    step = ["step.started", "step.completed"]
    assert kinds[2:] == [
        *step,
        *["task.started"] * 2,
        *step,
        "turn.waiting",
        *["agent.started"] * 2,
        "task.settled",
        *step,
        "turn.waiting",
        "task.settled",
        *step,
        "turn.completed",
        "session.waiting",
    ]


@pytest.mark.parametrize(
    ("rules", "wanted"),
    [
        (SESSIONS_0_18, {"code": "SUBAGENT_EXECUTION_FAILED", "message": "child is down"}),
        (
            SESSIONS_0_80,
            {
                "message": "The agent's turn failed: child is down\n"
                "This task has ended; to retry, call helper without taskId."
            },
        ),
    ],
)
def test_a_subagent_that_fails_is_told_as_such(rules: SessionRules, wanted: dict[str, str]) -> None:
    stage = stage_of(rules, [{"toolCalls": [HELP]}, "Done"], child=[{"fail": "child is down"}])
    session, command = stage.play("hi")
    errors = [data["error"] for _, data in stage.streams[session.id] if "error" in data]
    assert errors == [wanted]
    assert command == WaitingForUser("Done")


@pytest.mark.parametrize("rules", [SESSIONS_0_18, SESSIONS_0_80])
def test_a_call_of_nothing_is_no_event_and_counts_as_a_result(rules: SessionRules) -> None:
    stage = stage_of(rules, [{"toolCalls": [NONE]}, "Done"])
    session, _ = stage.play("hi")
    kinds = told(stage, session.id)
    assert kinds[3:6] == ["step.started", "step.completed", "step.started"]
    assert [entry.failed for entry in session.history if entry.call] == [True]


def test_a_subagent_without_a_message_is_called_by_the_older_version_only() -> None:
    call = {"toolCalls": [{"name": "helper", "input": {}}]}
    streams = [stage_of(rules, [call, "Done"]) for rules in (SESSIONS_0_18, SESSIONS_0_80)]
    for stage in streams:
        stage.play("hi")
    assert [len(stage.streams) for stage in streams] == [2, 1]


@pytest.mark.parametrize("text", ["", "  "])
def test_no_answer_fails_the_older_version_after_it_has_asked_again(text: str) -> None:
    older, newer = stage_of(SESSIONS_0_18, [text]), stage_of(SESSIONS_0_80, [text])
    session, command = older.play("hi")
    assert len(older.asked) == 2
    assert command.failure == "The model did not return a response. Please try again."
    assert told(older, session.id).count("message.appended") == (2 if text else 0)
    session, command = newer.play("hi")
    assert (len(newer.asked), command.failure) == (1, None)
    assert told(newer, session.id)[-3:] == ["step.completed", "turn.completed", "session.waiting"]


def test_a_failing_tool_in_both_versions() -> None:
    shared = {"callId": "call_1", "kind": "tool-result", "output": "tool is broken", "toolName": "fails"}
    wanted = {
        SESSIONS_0_18: ({**shared, "isError": True}, {}),
        SESSIONS_0_80: ({**shared, "isError": True, "errorName": "Error"}, {"name": "Error"}),
    }
    for rules, (result, named) in wanted.items():
        stage = stage_of(rules, [{"toolCalls": [FAILS]}, "Sorry"])
        session, _ = stage.play("hi")
        data = dict(stage.streams[session.id])["action.result"]
        assert (data["result"], data["status"]) == (result, "failed")
        assert data["error"] == {"code": "ACTION_RESULT_FAILED", "message": "tool is broken", **named}
        assert [entry.output for entry in session.history if entry.call] == ["Error: tool is broken"]


ENDED = [
    (SESSIONS_0_80, [("a", None, 0), ("b", "x", 0)], "ab"),
    (SESSIONS_0_18, [("a", None, 0), ("b", "x", 0), ("c", None, 0), ("d", "x", 0)], "bdac"),
    (SESSIONS_0_80, [("a", None, 0.3), ("b", None, 0)], "ba"),
    (SESSIONS_0_18, [("a", None, 0), ("b", "x", 0.3)], "ab"),
]


@pytest.mark.parametrize(("rules", "results", "order"), ENDED)
def test_results_are_told_as_tools_end(rules: SessionRules, results: list[Any], order: str) -> None:
    made = [ToolResult(name, None, Thrown(why) if why else None, after) for name, why, after in results]
    assert "".join(result.id for result in rules.by_completion(made)) == order


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ({"code": "NOPE", "message": "no"}, {"code": "NOPE", "message": "no"}),
        ('{"code": "NOPE", "message": "no"}', {"code": "NOPE", "message": "no"}),
        ({"code": "NOPE"}, None),
        ({"code": "NOPE", "message": ""}, None),
        ("no", None),
        (None, None),
    ],
)
def test_an_output_that_is_an_error_in_the_older_version(output: Any, error: Any) -> None:
    assert error_in(output) == error


@pytest.mark.parametrize(
    ("name", "title"),
    [("helper", "Helper"), ("weather_helper", "Weather helper"), ("readPDF", "Read PDF"), ("a__b-c", "B c")],
)
def test_the_title_of_a_name(name: str, title: str) -> None:
    assert display_title(name) == title


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Do it. Then stop.", "Do it."),
        ("please help", "please help"),
        ("\n  \n  Two\twords \n more", "Two words"),
        ("1. First thing. Second", "1. First thing."),
        ("is it e.g. this", "is it e.g. this"),
        ("", ""),
    ],
)
def test_the_first_sentence_of_a_text(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


@pytest.mark.parametrize("wrong", [Published(), ModelReply("hi"), ChildOutcomes(())])
def test_an_answer_to_no_question_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match="answers no request"):
        advance_session(begin_session(SESSIONS_0_80, SessionAgent("app"), "seed"), wrong)


def test_ids_are_made_of_the_seed_alone() -> None:
    plays = [stage_of(SESSIONS_0_80, [{"toolCalls": [HELP]}, "Done"]) for _ in range(2)]
    assert plays[0].play("hi") == plays[1].play("hi")
    assert plays[0].streams == plays[1].streams

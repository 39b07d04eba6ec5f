"""A session's events in one line each."""

import pytest

from hookscope.app.runs.session_log import event_summary, turn_kind


@pytest.mark.parametrize(
    ("context", "summary"),
    [
        ({"from": "Ada", "content": "Please\ndeploy"}, "Ada: Please deploy"),
        (
            {"toolName": "exec", "params": {"command": "make", "args": ["-j"]}},
            'exec: command=make args=["-j"]',
        ),
        ({"senderId": "dev", "sessionId": "s", "cfg": {"token": "t"}, "list": [1]}, "dev: sessionId=s"),
        ({"data": {"text": "hello"}, "type": "x"}, "hello"),
        ({"replayed": {"real": "1"}}, ""),
    ],
    ids=["message", "tool call", "without settings", "stream", "empty"],
)
def test_an_event_in_one_line(context: dict[str, object], summary: str) -> None:
    assert event_summary(context) == summary


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("command:new", "command"),
        ("message:received", "in"),
        ("message_sending", "out"),
        ("before_tool_call", "tool"),
        ("actions.requested", "tool"),
        ("session_start", "event"),
    ],
)
def test_the_part_of_a_conversation(key: str, kind: str) -> None:
    assert turn_kind(key) == kind

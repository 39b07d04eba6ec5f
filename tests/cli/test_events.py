"""What a host sends, as a script and a person ask for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.hosts.dialects import DIALECTS

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_lists_its_events(hookscope: Program, dialect: str) -> None:
    listed = hookscope("--dialect", dialect, "events", "--json").json
    assert [item["key"] for item in listed] == [event.key for event in DIALECTS[dialect].catalogue().events]
    assert all(item["when"] and item["kind"] in DIALECTS[dialect].kinds for item in listed)
    assert hookscope("--dialect", dialect, "events").out.startswith(f"{dialect}: {len(listed)} events")


def test_events_shows_subscribers_and_fields_of_one_event(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}")
    shown = hookscope("events", "command:new", "--json").json
    assert "greet" in shown["listeners"]
    assert shown["fields"]["senderId"] == "who gave the command"
    assert shown["delivered"] is True
    text = hookscope("events", "command:new").out
    assert "pushed messages reach the user" in text
    assert "`hookscope fire command:new` fires it." in text


def test_a_plugin_hook_is_found_in_either_spelling(hookscope: Program) -> None:
    shown = hookscope("events", "before-tool-call", "--json").json
    assert (shown["key"], shown["policy"], shown["mutable"]) == ("before_tool_call", "modify", ["params"])
    assert "merged, in call order" in hookscope("events", "before_tool_call").out
    shipped = hookscope("--dialect", "openclaw@2026.9", "events", "before_tool_call", "--json").json
    assert shipped["limit"] == 15


def test_events_shows_the_required_fields_of_a_stream_event(hookscope: Program) -> None:
    text = hookscope("--dialect", "eve@0.80", "events", "turn.started").out
    assert "turnId    text    needed; the turn's id; such as turn_0" in text
    assert "ctx.cancel() ends the turn" in text
    assert "by       the runtime of the stream" in text
    assert "not      in a subagent, whose own hooks receive it" in text
    assert "nodeId             text    which subagent it is; such as subagents/helper" in text


def test_an_event_has_a_schema(hookscope: Program) -> None:
    shown = hookscope("--dialect", "openclaw@2026.9", "events", "before_tool_call", "--json").json
    assert shown["schema"]["required"] == ["toolName", "params"]
    assert shown["schema"]["properties"]["toolName"]["type"] == "string"
    assert shown["ctx_schema"]["properties"]["agentId"]["examples"] == ["main"]
    assert (shown["by"], shown["when_not"]) == (
        "the call of a tool",
        "to a handler whose matcher does not name the tool",
    )
    assert hookscope("events", "command:new", "--json").json["ctx_schema"] is None


@pytest.mark.parametrize(
    ("dialect", "key", "line"),
    [
        ("milady", "command:new", "no source describes it; any field may be valid"),
        ("openclaw", "gateway_start", "no source describes the rest; any other field may be valid"),
        ("eve", "session.completed", "fields\n  none\n"),
        ("eliza@2.0.0-beta.2", "session:end", "Eliza documents it and never sends it"),
    ],
)
def test_events_says_if_no_source_describes_an_event(
    hookscope: Program, dialect: str, key: str, line: str
) -> None:
    assert line in hookscope("--dialect", dialect, "events", key).out


def test_a_context_that_does_not_match_the_schema_is_noted_and_fired(
    hookscope: Program, workspace: Path
) -> None:
    context = '{"senderID": "dev", "sessionId": 7}'
    fired = hookscope("fire", "command:new", "--context", context, "--json")
    assert fired.code == 0
    assert fired.json["event"]["context"]["senderID"] == "dev"
    assert "note: command:new: senderID is not a known field; did you mean senderId?" in fired.err
    assert "note: command:new: sessionId: expected a text, but 7 is a number" in fired.err
    assert hookscope("fire", "command:new").err.count("note:") == 0


def test_a_run_says_whether_the_host_delivers_its_messages(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    handler = "def handler(event): event.messages.append('hi')\n"
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command:new, message:sent]}}", handler)
    for key, delivered, fate in (
        ("command:new", True, "delivered to the user"),
        ("message:sent", False, "ignored by this host"),
    ):
        fired = hookscope("fire", key, "--only", "greet", "--trust", "--json").json
        assert (fired["delivered"], fired["results"][0]["delivered"]) == (delivered, delivered)
        assert f"messages ({fate})" in hookscope("fire", key, "--only", "greet", "--trust").out


def test_events_suggests_the_closest_event_name(hookscope: Program) -> None:
    done = hookscope("events", "comand:new")
    assert (done.code, done.out) == (1, "")
    assert "Did you mean command:new?" in done.err


def test_a_saved_event_carries_its_second_argument(hookscope: Program, workspace: Path) -> None:
    plugin = workspace / "plugins/who/plugin.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(
        "def register(api):\n    api.on('message_received', lambda event, ctx: print(ctx.sender_id))\n"
    )
    saved = workspace / "hello.yaml"
    saved.write_text("event: message-received\ncontext: {content: Hi}\nctx: {senderId: '${WHO}'}\n")
    fired = hookscope("fire", "hello.yaml", "--trust", "--json", env={"WHO": "ada"}).json
    assert [item["stdout"] for item in fired["results"]] == ["ada\n"]
    saved.write_text("event: message-received\nctx: [1]\n")
    assert hookscope("fire", "hello.yaml").code == 2

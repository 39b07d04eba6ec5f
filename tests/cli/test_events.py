"""What a host sends, as a script and a person ask for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.dialects import DIALECTS

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_lists_its_events(hookscope: Program, dialect: str) -> None:
    listed = hookscope("--dialect", dialect, "events", "--json").json
    assert [item["key"] for item in listed] == [event.key for event in DIALECTS[dialect].catalogue().events]
    assert all(item["when"] and item["kind"] in DIALECTS[dialect].kinds for item in listed)
    assert hookscope("--dialect", dialect, "events").out.startswith(f"{dialect}: {len(listed)} events")


def test_one_event_says_who_listens_and_what_it_may_hold(
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
    assert "merged, one after another" in hookscope("events", "before_tool_call").out
    shipped = hookscope("--dialect", "openclaw@2026.9", "events", "before_tool_call", "--json").json
    assert shipped["limit"] == 15


def test_a_stream_event_says_what_it_needs(hookscope: Program) -> None:
    text = hookscope("--dialect", "eve@0.80", "events", "turn.started").out
    assert "needed; the turn's id" in text
    assert "ctx.cancel() ends the turn" in text


def test_an_unknown_event_names_the_nearest(hookscope: Program) -> None:
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

"""A plugin's handler that changes the event where its host reads what it returns, or keeps the change.

What openclaw@2026.9 keeps was asked of its own runner of hooks (2026.9.6).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Program

SHIPPED, GUIDE = "openclaw@2026.9", "openclaw"


def fired(hookscope: Program, home: Path, dialect: str, event: str, *bodies: str) -> dict[str, Any]:
    """The run of a plugin with a handler of that event for each body."""
    folder = home / ".openclaw" / ("extensions" if dialect == SHIPPED else "plugins") / "mine"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "openclaw.plugin.json").write_text(
        json.dumps({"id": "mine", "configSchema": {"type": "object"}})
    )
    allowed = {"plugins": {"entries": {"mine": {"hooks": {"allowConversationAccess": True}}}}}
    (home / ".openclaw" / "openclaw.json").write_text(json.dumps(allowed))
    calls = "".join(f"  api.on('{event}', (event) => {{ {body} }});\n" for body in bodies)
    (folder / "index.js").write_text(f"export default (api) => {{\n{calls}}};\n")
    document: dict[str, Any] = hookscope("--dialect", dialect, "fire", event, "--trust", "--json").json
    return document


@pytest.mark.parametrize(
    ("dialect", "event", "body", "note"),
    [
        (
            SHIPPED,
            "message_sending",
            "event.content = 'x';",
            "the handler's change to event.content has no effect: return { content }",
        ),
        (
            GUIDE,
            "message_sending",
            "event.content = 'x';",
            "the handler's change to event.content has no effect: return { content }",
        ),
        (
            SHIPPED,
            "message_sending",
            "event.cancel = true;",
            "the handler's change to event.cancel has no effect: return { cancel }",
        ),
        (
            SHIPPED,
            "before_tool_call",
            "event.params.n = 1;",
            "the handler's change to event.params has no effect: return { params }",
        ),
        (
            SHIPPED,
            "before_tool_call",
            "event.block = true;",
            "the handler's change to event.block has no effect: return { block }",
        ),
        (
            SHIPPED,
            "before_tool_call",
            "event.params = {}; event.block = true; return { block: true };",
            "the handler's change to event.params has no effect: return { params }",
        ),
        (
            SHIPPED,
            "reply_payload_sending",
            "event.payload.text = 'x';",
            "event.payload has no effect: return { payload }",
        ),
        (
            SHIPPED,
            "tool_result_persist",
            "event.message = {};",
            "event.message has no effect: return { message }",
        ),
        (
            SHIPPED,
            "before_prompt_build",
            "event.prompt += '!';",
            "event.prompt has no effect: only the return value counts",
        ),
        (
            SHIPPED,
            "before_prompt_build",
            "event.messages.push({});",
            "event.messages has no effect: only the return value counts",
        ),
        (
            SHIPPED,
            "message_sent",
            "event.content = 'x';",
            "event.content has no effect: message_sent only notifies",
        ),
    ],
)
def test_a_change_of_the_event_that_the_host_ignores_is_noted(
    hookscope: Program, home: Path, dialect: str, event: str, body: str, note: str
) -> None:
    (result,) = fired(hookscope, home, dialect, event, body)["results"]
    (told,) = result["notes"]
    assert note in told


@pytest.mark.parametrize(
    ("event", "body"),
    [
        ("message_sending", "event.content += '!'; return { content: event.content };"),
        ("message_sending", "event.content += '!'; return event;"),
        ("message_sent", "event.seen = true;"),
        ("before_tool_call", "event.mine = 1; return { params: event.params };"),
        ("tool_result_persist", "event.message.content = [];"),
    ],
)
def test_effective_changes_have_no_note(hookscope: Program, home: Path, event: str, body: str) -> None:
    (result,) = fired(hookscope, home, SHIPPED, event, body)["results"]
    assert result["notes"] == []


def test_message_changed_in_place_is_kept(hookscope: Program, home: Path) -> None:
    seen = "console.log(event.message.content[0].text);"
    run = fired(hookscope, home, SHIPPED, "tool_result_persist", "event.message.content[0].text = 'x';", seen)
    assert run["results"][1]["stdout"] == "x\n"
    assert run["result"]["message"]["content"][0]["text"] == "x"

    run = fired(hookscope, home, SHIPPED, "before_message_write", "event.message.content = 'x';")
    assert run["result"] is None
    assert run["context"]["message"]["content"] == "x"

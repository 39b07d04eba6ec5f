"""How plugins spell the events that they register for, and what the hosts make of it.

openclaw@2026.9 was asked itself (2026.9.6): `unknown typed hook "message-sent" ignored`; what `registerHook`
registers for an event of hook folders is called.
"""

from __future__ import annotations

import json
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.cli.conftest import Program

SHIPPED = ("--dialect", "openclaw@2026.9")


def plugin(home: Path, place: str, *statements: str) -> None:
    folder = home / ".openclaw" / place / "mine"
    folder.mkdir(parents=True)
    (folder / "openclaw.plugin.json").write_text(
        json.dumps({"id": "mine", "configSchema": {"type": "object"}})
    )
    (folder / "index.js").write_text(f"export default (api) => {{\n{chr(10).join(statements)}\n}};\n")


def row_of(hookscope: Program, *more: str) -> dict[str, Any]:
    hooks = hookscope(*more, "list", "--json").json["hooks"]
    (row,) = [hook for hook in hooks if hook["name"] == "mine"]
    found: dict[str, Any] = row
    return found


def test_shipped_openclaw_rejects_hyphens_in_plugin_events(hookscope: Program, home: Path) -> None:
    plugin(home, "extensions", "api.on('message-sent', () => {});")
    row = row_of(hookscope, *SHIPPED)
    shut = {gate["gate"]: gate["reason"] for gate in row["gates"] if gate["passed"] is False}
    assert shut["sent"].startswith("OpenClaw never sends message-sent: names of plugin events have `_`")
    assert shut["sent"].endswith("did you mean message_sent?")
    assert hookscope(*SHIPPED, "fire", "message-sent", "--trust", "--json").json["results"] == []
    assert "Write `message_sent`." in hookscope(*SHIPPED, "lint", "mine").out
    report = hookscope(*SHIPPED, "load", "mine", "--trust").out
    assert (
        "message-sent is not an event of OpenClaw: names of plugin events have `_`; "
        "did you mean message_sent?" in report
    )


def test_the_guide_accepts_both_spellings_of_plugin_events(hookscope: Program, home: Path) -> None:
    plugin(home, "plugins", "api.on('message-sent', () => {});")
    assert row_of(hookscope)["events"] == ["message_sent"]
    fired = hookscope("fire", "message-sent", "--trust", "--json").json
    assert [result["hook"] for result in fired["results"]] == ["mine"]


def test_a_folder_event_registered_by_a_plugin_is_accepted_only_where_it_is_sent(
    hookscope: Program, home: Path
) -> None:
    statement = "api.registerHook('agent:bootstrap', () => {}, { name: 'x' });"
    plugin(home, "extensions", statement)
    assert "agent:bootstrap" not in hookscope(*SHIPPED, "lint", "mine").out
    rmtree(home / ".openclaw" / "extensions")
    plugin(home, "plugins", statement, "api.on('message_sent', () => {});")
    told = "in its guide; openclaw@2026.9 calls those that `registerHook` registers"
    assert any(note.endswith(told) for note in row_of(hookscope)["notes"])

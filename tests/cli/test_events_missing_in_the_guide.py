"""What a user is told of an event that the guide lacks and the program sends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Program
    from tests.conftest import MakeHook

PATCH = "{openclaw: {events: ['session:patch']}}"


def test_a_hook_for_a_later_event_is_ready_and_names_the_host_that_sends_it(
    hookscope: Program, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "patch", PATCH, "def handler(event):\n    event.messages.append('seen')\n")
    (hook,) = [one for one in hookscope("list", "--json").json["hooks"] if one["name"] == "patch"]
    (sent,) = [gate for gate in hook["gates"] if gate["gate"] == "sent"]
    assert (sent["passed"], sent["found"]) == (True, "by openclaw@2026.9; not listed in this guide")
    assert "session:patch is not in OpenClaw's guide; openclaw@2026.9 sends it" in hook["notes"]
    fired = hookscope("fire", "session:patch", "--trust")
    assert "`--dialect openclaw@2026.9` has an example" in fired.err
    assert "seen" in fired.out
    assert hookscope("info", "patch").code == 0
    asked = hookscope("events", "message:transcribed")
    assert asked.code == 1
    assert "openclaw@2026.9 sends it" in asked.err

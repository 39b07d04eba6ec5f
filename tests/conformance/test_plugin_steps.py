"""The runner of `plugin-hook` steps: what its handlers can do, beyond the recorded cases."""

from pathlib import Path
from typing import Any

import pytest
from tests.conformance.openclaw_plugins import plugin_hook

from hookscope import HookEngine
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.machine import Machine

STEPS: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    (
        {"hook": "before_tool_call", "handlers": [{"id": "a", "delayMs": 200, "timeoutMs": 30}]},
        {
            "threw": "[hooks] before_tool_call handler from a failed: timed out after 30ms",
            "calls": ["start a"],
            "callsAfterReturn": ["end a"],
        },
    ),
    (
        {
            "hook": "message_sending",
            "handlers": [
                {"id": "a", "delayMs": 200, "timeoutMs": 30},
                {"id": "b", "returns": {"content": "B"}},
            ],
        },
        {"result": {"content": "B"}, "calls": ["start a", "start b", "end b"], "callsAfterReturn": ["end a"]},
    ),
    (
        {
            "hook": "tool_result_persist",
            "event": {"message": {"content": "long"}},
            "handlers": [
                {"id": "a", "priority": 2, "promise": True, "returns": {"message": {"content": "late"}}},
                {"id": "b", "see": "message.content", "returns": {"message": {"content": "short"}}},
            ],
        },
        {
            "result": {"message": {"content": "short"}},
            "seen": {"b": "long"},
            "calls": ["start a", "start b", "end b"],
            "callsAfterReturn": ["end a"],
        },
    ),
    (
        {
            "hook": "before_tool_call",
            "event": {"toolName": "exec", "params": {"cmd": "ls"}},
            "handlers": [
                {"id": "a", "priority": 2, "mutate": {"toolName": "read"}, "matcher": ["exec"]},
                {"id": "b", "see": "toolName", "promise": True, "returns": {"params": {"cmd": "b"}}},
                {"id": "c", "matcher": ["read"]},
            ],
        },
        {
            "result": {"params": {"cmd": "b"}},
            "seen": {"b": "exec"},
            "calls": ["start a", "end a", "start b", "end b"],
        },
    ),
    (
        {
            "hook": "before_agent_reply",
            "ctx": {"trigger": "user"},
            "handlers": [
                {"id": "cron", "eligibleTriggers": ["cron"], "returns": {"handled": True}},
                {"id": "user", "eligibleTriggers": ["user"], "returns": {"handled": True, "reply": {}}},
            ],
        },
        {"result": {"handled": True, "reply": {}}, "calls": ["start user", "end user"]},
    ),
    ({"hook": "resolve_exec_env", "handlers": []}, {"hasHooks": False, "result": {}, "calls": []}),
    (
        {"hook": "skill_proposal_evaluate", "handlers": [{"id": "a", "returns": {"decision": "pass"}}]},
        {
            "result": [
                {"evaluatorId": "a", "pluginId": "a", "status": "completed", "result": {"decision": "pass"}}
            ],
            "calls": ["start a", "end a"],
        },
    ),
)


@pytest.mark.parametrize(("step", "expected"), STEPS)
async def test_a_step_gives_what_the_program_would_give(
    step: dict[str, Any], expected: dict[str, Any], tmp_path: Path
) -> None:
    here = Machine("linux", {"HOME": str(tmp_path)}, tmp_path, tmp_path)
    engine = HookEngine(open_host(DIALECTS["openclaw@2026.9"], here))
    answer = await plugin_hook(engine, step)
    await engine.close()
    assert answer == {"hasHooks": True, **expected}

"""The plugin examples of guides 003 and 004: in TypeScript as printed, in Python as translated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope import PluginApi, get_global_hook_runner

if TYPE_CHECKING:
    from tests.seeds.conftest import Fire, Write

# As guide 003 prints it, within the function that its own text says it stands in.
AUDIT_TS = """
const auditLog = { async record(entry: object) { console.log(JSON.stringify(entry)); } };

export function register(api: any) {
// Example: audit logging hook
api.registerHook({
event: "message-sent",
handler: async (ctx) => {
await auditLog.record({
sessionKey: ctx.sessionKey,
channel: ctx.channel,
direction: ctx.direction,
timestamp: Date.now(),
});
},
priority: 100, // Run after other hooks
});
}
"""
AUDIT_PY = """
import json
import time


def register(api):
    async def record(ctx):
        told = {"sessionKey": ctx.session_key, "channel": ctx.channel, "direction": ctx.direction}
        print(json.dumps({**told, "timestamp": time.time()}))

    api.register_hook({"event": "message-sent", "handler": record, "priority": 100})
"""


@pytest.mark.parametrize(("file", "source"), [("index.ts", AUDIT_TS), ("plugin.py", AUDIT_PY)])
async def test_the_audit_hook_of_guide_003(fire: Fire, write: Write, file: str, source: str) -> None:
    write(f"plugins/audit/{file}", source)
    run = await fire("message-sent", dialect="openclaw", sessionKey="s-1", channel="telegram")
    (result,) = run.results
    assert (result.status, result.call.key, result.call.priority) == ("ok", "message_sent", 100)
    for text in ('"sessionKey"', '"s-1"', '"telegram"', '"sent"', '"timestamp"'):
        assert text in result.stdout


async def test_lower_numbers_go_first_and_one_that_throws_stops_nobody(fire: Fire, write: Write) -> None:
    write(
        "plugins/order/index.ts",
        """
        export default (api) => {
          for (const priority of [30, 10, 20]) {
            api.registerHook({ event: "before-agent-start", priority, handler: () => {} });
          }
          const bad = () => { throw new Error("no"); };
          api.registerHook({ event: "before-agent-start", priority: 15, handler: bad });
        };
        """,
    )
    run = await fire("before_agent_start", dialect="openclaw")
    assert [result.call.priority for result in run.results] == [10, 15, 20, 30]
    assert [result.status for result in run.results] == ["ok", "error", "ok", "ok"]
    assert run.ending.failure is None


async def test_a_tools_context_says_what_the_event_says(fire: Fire, write: Write) -> None:
    """Guide 003, "Tool Context": before includes args, after includes result; facts, never examples."""
    write(
        "plugins/tools/index.ts",
        """
        export default (api) => {
          for (const name of ["before", "after"]) {
            api.on(`${name}_tool_call`, (event, ctx) => { console.log(JSON.stringify(ctx)); });
          }
        };
        """,
    )
    given = {"toolName": "read", "params": {"path": "/"}, "result": ""}
    before = await fire("before-tool-call", dialect="openclaw", context=given)
    after = await fire("after-tool-call", dialect="openclaw", context=given, runId="mine")
    assert json.loads(before.results[0].stdout) == {
        "runId": "run-1",
        "toolName": "read",
        "args": {"path": "/"},
    }
    assert json.loads(after.results[0].stdout) == {"runId": "mine", "toolName": "read", "result": ""}


async def test_what_ran_side_by_side_is_told_by_priority(fire: Fire, write: Write) -> None:
    write(
        "plugins/crowd/index.ts",
        """
        export default (api) => {
          let release;
          const gate = new Promise((open) => { release = open; });
          api.on("message_sent", async () => { await gate; console.log("first"); }, { priority: 1 });
          api.on("message_sent", () => { release(); }, { priority: 2 });
        };
        """,
    )
    run = await fire("message_sent", dialect="openclaw")
    assert [result.call.priority for result in run.results] == [1, 2]


async def test_the_global_runner_of_guide_004(workspace: Path) -> None:
    """The guide's own lines, in Python: a call that is changed, and one that is blocked."""
    runner = get_global_hook_runner()
    assert not runner.has_hooks("before_tool_call")
    api = PluginApi("policy")

    async def policy(event: dict[str, object]) -> object:
        if event["toolName"] == "exec":
            return {"block": True}
        return {"params": {"path": "/safe"}}

    api.on("before_tool_call", policy)
    assert runner.has_hooks("before_tool_call")
    read = await runner.run_before_tool_call({"toolName": "read", "params": {"path": "/"}, "toolCallId": "1"})
    assert (read.blocked, read.params) == (False, {"path": "/safe"})
    exec_ = await runner.run_before_tool_call(
        {"toolName": "exec", "params": {}, "toolCallId": "2", "ctx": {}}
    )
    assert exec_.blocked
    assert api.unregister("before_tool_call", policy)
    assert not runner.has_hooks("before_tool_call")

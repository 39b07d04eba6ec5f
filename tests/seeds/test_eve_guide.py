"""The examples of guide 002: in TypeScript as they are printed, in Python as they translate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hookscope.model.run import Run

if TYPE_CHECKING:
    from tests.seeds.conftest import Fire, Write

AUDIT_TS = """
import { defineHook } from "eve/hooks";

export default defineHook({
  events: {
    async "session.started"(_event, ctx) {
      console.info("session started", { sessionId: ctx.session.id });
    },
    async "message.completed"(event) {
      console.info("model finished", { length: event.data.message?.length ?? 0 });
    },
  },
});
"""
AUDIT_PY = """
from hookscope import define_hook


async def session_started(_event, ctx):
    print("session started", {"sessionId": ctx.session.id})


async def message_completed(event):
    print("model finished", {"length": len(event.data.get("message") or "")})


default = define_hook(events={"session.started": session_started, "message.completed": message_completed})
"""
RESULTS_TS = """
import { defineHook } from "eve/hooks";
import { toolResultFrom } from "eve/tools";
import getWeather from "../tools/get-weather";
import linear from "../connections/linear";

export default defineHook({
  events: {
    "action.result"(event) {
      // Authored tool: output is typed as the tool's return type
      const weather = toolResultFrom(event.data.result, getWeather);
      if (weather) {
        console.log(weather.output.temperature);
      }

      // MCP connection: output is unknown, toolName is qualified
      const linearResult = toolResultFrom(event.data.result, linear);
      if (linearResult) {
        console.log(linearResult.connectionToolName, linearResult.output);
      }
    },
  },
});
"""
WEATHER_TS = """
import { defineTool } from "eve/tools";
import { z } from "zod";

export default defineTool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  async execute({ city }) { return { city, temperature: 21 }; },
});
"""
LINEAR_TS = """
import { defineConnection } from "eve/connections";

export default defineConnection({ description: "Issues.", url: "mcp" });
"""
RESULTS_PY = """
from connections.linear import default as linear
from hookscope import define_hook, tool_result_from
from tools.get_weather import default as get_weather


def action_result(event):
    weather = tool_result_from(event.data.result, get_weather)
    if weather:
        print(weather.output.temperature)
    found = tool_result_from(event.data.result, linear)
    if found:
        print(found.connection_tool_name, found.output)


default = define_hook(events={"action.result": action_result})
"""
WEATHER_PY = """
from hookscope import define_tool

default = define_tool(description="The weather of a city.", execute=lambda given: {"temperature": 21})
"""
LINEAR_PY = """
from hookscope import define_connection

default = define_connection(description="Issues.", url="mcp")
"""
STEP = {"turnId": "turn_0", "sequence": 0, "stepIndex": 0}
DIALECTS = ("eve", "eve@0.18", "eve@0.80")


def printed(run: Run) -> list[str]:
    return [text for result in run.results for text in result.stdout.splitlines()]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("file", "source"), [("audit.ts", AUDIT_TS), ("audit.py", AUDIT_PY)])
async def test_the_audit_hook(fire: Fire, write: Write, dialect: str, file: str, source: str) -> None:
    write(f"agent/hooks/{file}", source)
    run = await fire("session.started", dialect=dialect, context={}, session={"id": "s-1"})
    assert [result.call.name for result in run.results] == ["audit"]
    assert [text.replace('"', "'") for text in printed(run)] in (
        ["session started { sessionId: 's-1' }"],
        ["session started {'sessionId': 's-1'}"],
    )
    message = {**STEP, "message": "Hello", "finishReason": "stop"}
    (line,) = printed(await fire("message.completed", dialect=dialect, context=message))
    assert line.startswith("model finished")
    assert "5" in line


NAMED_TS = """
import { defineHook, HookContext, HookDefinition } from "eve/hooks";

const hook: HookDefinition = {
  events: {
    "turn.started"(_event, ctx: HookContext) {
      const { agent, channel, session } = ctx;
      console.log([agent.name, agent.nodeId ?? "root", channel.kind, typeof session.id].join());
    },
  },
};
export default defineHook(hook);
"""
NAMED_PY = """
from hookscope import define_hook


def turn_started(_event, ctx):
    agent, kind = ctx.agent, type(ctx.session.id).__name__
    print(agent.name, agent.node_id or "root", ctx.channel.kind, kind, sep=",")


default = define_hook(events={"turn.started": turn_started})
"""


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("file", "source"), [("named.ts", NAMED_TS), ("named.py", NAMED_PY)])
async def test_the_context_has_what_its_interface_names_and_the_types_are_there(
    fire: Fire, write: Write, dialect: str, file: str, source: str
) -> None:
    write(f"agent/hooks/{file}", source)
    run = await fire("turn.started", dialect=dialect)
    (line,) = printed(run)
    name, node, kind, session = line.split(",")
    assert (name, node, kind) == ("workspace", "root", "http")
    assert session in ("string", "str")
    assert [note for result in run.results for note in result.notes] == []  # nothing was stubbed


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("language", ["ts", "py"])
async def test_tool_results_are_narrowed_to_one_tool_or_connection(
    fire: Fire, write: Write, dialect: str, language: str
) -> None:
    if language == "ts":
        write("agent/hooks/results.ts", RESULTS_TS)
        write("agent/tools/get-weather.ts", WEATHER_TS)
        write("agent/connections/linear.ts", LINEAR_TS)
        tool = "get-weather"
    else:
        write("agent/hooks/results.py", RESULTS_PY)
        write("agent/tools/get_weather.py", WEATHER_PY)
        write("agent/connections/linear.py", LINEAR_PY)
        tool = "get_weather"

    async def shown(name: str, output: object, **more: object) -> list[str]:
        result = {"kind": "tool-result", "callId": "c", "toolName": name, "output": output, **more}
        data = {**STEP, "status": "completed", "result": result}
        return printed(await fire("action.result", dialect=dialect, context=data))

    assert await shown(tool, {"temperature": 21}) == ["21"]
    assert await shown("linear__list", "two issues") == ["list two issues"]
    assert await shown(tool, {"temperature": 21}, isError=True) == []
    assert await shown("another", {"temperature": 21}) == []


async def test_slugs_come_from_paths(fire: Fire, write: Write) -> None:
    write("agent/hooks/audit.ts", AUDIT_TS)
    write("agent/hooks/auth/load-profile.ts", AUDIT_TS)
    run = await fire("session.started", dialect="eve", context={})
    assert [result.call.name for result in run.results] == ["auth/load-profile", "audit"]


async def test_typed_handlers_come_before_the_wildcard_and_answers_are_ignored(
    fire: Fire, write: Write
) -> None:
    write(
        "agent/hooks/both.ts",
        """
        export default {
          events: {
            "*": (event) => { console.log("any", event.type); return { ignored: true }; },
            "turn.started": () => { console.log("typed"); },
          },
        };
        """,
    )
    run = await fire("turn.started", dialect="eve")
    assert printed(run) == ["typed", "any turn.started"]
    assert run.ending.answer is None


async def test_a_throw_fails_the_turn_and_then_the_session(fire: Fire, write: Write) -> None:
    write(
        "agent/hooks/bad.ts",
        """
        import { defineHook } from "eve/hooks";

        export default defineHook({
          events: {
            "turn.completed"() { throw new Error("first"); },
            "turn.failed"() { throw new Error("second"); },
          },
        });
        """,
    )
    run = await fire("turn.completed", dialect="eve")
    assert run.ending.failure == "first"
    (failed,) = run.caused
    assert (failed.event.key, failed.ending.failure) == ("turn.failed", "second")
    assert [caused.event.key for caused in failed.caused] == ["session.failed"]


@pytest.mark.parametrize("dialect", ["eve", "eve@0.80"])
@pytest.mark.parametrize(("scope", "heard"), [("", "parent"), ("subagents/helper", "child")])
async def test_a_subagents_hooks_hear_its_own_events_alone(
    fire: Fire, write: Write, scope: str, heard: str, dialect: str
) -> None:
    write("agent/hooks/parent.ts", AUDIT_TS)
    write("agent/subagents/helper/hooks/child.ts", AUDIT_TS)
    if dialect != "eve":  # the guide asks for no module of a subagent
        write("agent/subagents/helper/agent.ts", "export default { description: 'Helps.' };")
    agent = {"name": "a", **({"nodeId": scope} if scope else {})}
    run = await fire("session.started", dialect=dialect, context={}, agent=agent)
    assert [result.call.name for result in run.results] == [heard]

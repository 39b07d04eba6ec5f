"""A fire at a hook that would not run: off, blocked, silent, or of another event."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.authoring.testing.fire_request import forced_plan
from hookscope.model.failure import Refusal
from hookscope.model.run import Run

if TYPE_CHECKING:
    from tests.conftest import MakeHook

SAY = "def handler(event): event.messages.append(f'{event.type} {event.action}')"
EVE_HOOK = """
from hookscope import define_hook

def handle(event, ctx):
    print("heard", event.type)

default = define_hook(events={"turn.started": handle, "session.failed": handle})
"""
PLUGIN = """
def guard(event, ctx):
    return {"block": True, "blockReason": "no"}

def register(api):
    api.on("before_tool_call", guard, matcher="exec")
"""


async def fired(options: Options, key: str, name: str, *, trusted: bool = True) -> Run:
    """The run of a forced fire at that hook."""
    bench = Workbench(options, trust_all=trusted)
    try:
        view = bench.scan()
        event = bench.template(view, key)
        view = await bench.load_modules(view, event.kind)
        return await bench.fire(view, await forced_plan(bench, view, event, name))
    finally:
        await bench.close()


@pytest.fixture
def options(workspace: Path, tmp_path: Path) -> Options:
    (tmp_path / "bundled").mkdir()
    return Options(dialect="openclaw", workspace=workspace, bundled=tmp_path / "bundled")


@pytest.mark.parametrize(
    ("metadata", "settings", "key"),
    [
        ("{openclaw: {events: [command]}}", "{a: {enabled: false}}", "command"),
        ("{openclaw: {events: [command], requires: {bins: [no-such]}}}", "{}", "command"),
        ("{openclaw: {events: ['gateway:startup']}}", "{}", "command:new"),
        ("{openclaw: {}}", "{}", "command:new"),
    ],
    ids=["off", "blocked", "another event", "no event at all"],
)
async def test_forced_hook_runs_and_is_marked(
    metadata: str, settings: str, key: str, options: Options, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text(f"{{hooks: {{internal: {{entries: {settings}}}}}}}")
    make_hook(workspace / "hooks", "a", metadata, SAY)
    make_hook(workspace / "hooks", "other", "{openclaw: {events: [command]}}", SAY)
    run = await fired(options, "command:new", "a")
    (result,) = run.results
    assert (result.call.name, result.call.key, result.status) == ("a", key, "ok")
    assert result.forced
    assert run.messages == ("command new",)
    assert [(item.name, item.reason) for item in run.not_run] == [("other", "skipped: only a was requested")]


async def test_ready_hook_is_not_marked_as_forced(
    options: Options, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", "{openclaw: {events: [command]}}", SAY)
    (result,) = (await fired(options, "command:new", "a")).results
    assert not result.forced


@pytest.mark.parametrize(
    ("source", "trusted", "says"),
    [
        ("def handler(event:\n", True, "it is broken: handler.py, line 1"),
        ("def other(): pass\n", True, "it is broken: "),
        (SAY, False, "is not trusted. `hookscope trust"),
    ],
)
async def test_force_refuses_broken_and_untrusted_hooks(
    source: str, trusted: bool, says: str, options: Options, workspace: Path, make_hook: MakeHook
) -> None:
    make_hook(workspace / "hooks", "a", "{openclaw: {events: ['gateway:startup']}}", source)
    with pytest.raises(Refusal, match=says):
        await fired(options, "command:new", "a", trusted=trusted)


async def test_force_refuses_an_untrusted_disabled_hook(
    options: Options, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{hooks: {internal: {entries: {a: {enabled: false}}}}}")
    make_hook(workspace / "hooks", "a", "{openclaw: {events: [command]}}", SAY)
    with pytest.raises(Refusal, match="is not trusted"):
        await fired(options, "command:new", "a", trusted=False)


async def test_force_overrides_the_switch_and_matcher_of_a_plugin(
    options: Options, home: Path, workspace: Path, make_hook: MakeHook
) -> None:
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text("{plugins: {entries: {guard: {enabled: false}}}}")
    plugin = workspace / "plugins/guard/plugin.py"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(PLUGIN.replace('"exec"', '"another"'))
    run = await fired(options, "before_tool_call", "guard")
    assert [(result.call.key, result.forced) for result in run.results] == [("before_tool_call", True)]
    assert run.ending.verdict == "blocked by guard: no"
    assert "guard" not in [item.name for item in run.not_run]
    with pytest.raises(Refusal, match="no handler of agent_end; it has before_tool_call"):
        await fired(options, "agent_end", "guard")
    with pytest.raises(Refusal, match="it is a plugin hook, and command:new is an event of folder hooks"):
        await fired(options, "command:new", "guard")


async def test_force_calls_a_stream_module_for_unreachable_events(workspace: Path) -> None:
    module = workspace / "agent/subagents/helper/hooks/watch.py"
    module.parent.mkdir(parents=True)
    module.write_text(EVE_HOOK)
    (workspace / "agent/subagents/helper/agent.py").write_text("default = {}\n")
    options = Options(dialect="eve", workspace=workspace)
    name = next(row.hook.name for row in Workbench(options).scan().inventory.hooks)
    run = await fired(options, "turn.started", name)
    assert [(result.forced, result.stdout) for result in run.results] == [(True, "heard turn.started\n")]
    with pytest.raises(Refusal, match="no handler of turn"):
        await fired(options, "turn.completed", name)

"""Plugin and stream hooks in the console: answers step by step, bars side by side, lanes, what follows."""

from pathlib import Path

import pytest
from tests.console.conftest import Open, Story, at_extremes, large, small

from hookscope.app.workbench import Workbench
from hookscope.console.panes.fire.context_editor import JsonEditor
from hookscope.console.panes.fire.waterfall import Waterfall

GUARD = """
async def guard(event, ctx):
    return {"block": True, "blockReason": "no exec on Fridays"}


def change(event, ctx):
    return {"params": {"command": "ls -l"}}


def register(api):
    api.on("before_tool_call", change, priority=1)
    api.on("before_tool_call", guard, priority=2)
    api.on("before_tool_call", change, priority=3)
"""
LISTENERS = """
export default (api) => {
  const hold = {};
  hold.met = new Promise((resolve) => { hold.meet = resolve; });
  api.on("message_received", async () => { await hold.met; }, { priority: 1 });
  api.on("message_received", async () => { hold.meet(); }, { priority: 2 });
};
"""
STOP = """
from hookscope import define_hook

default = define_hook(events={"turn.started": lambda event, ctx: ctx.cancel(), "*": lambda event: None})
"""
BAD = """
from hookscope import define_hook


def bad(event):
    raise ValueError("boom")


default = define_hook(events={"turn.started": bad})
"""


def write(workspace: Path, name: str, source: str) -> None:
    file = workspace / name
    file.parent.mkdir(parents=True)
    file.write_text(source)
    if name.startswith("agent/"):
        (workspace / "agent" / "instructions.md").touch()  # without which its host builds nothing
    Workbench().trust(file.parent.parent if "plugins" in name else file.parent)


async def composed(story: Story, key: str) -> None:
    await story.press("f")
    await story.focus_in("fire")
    await story.shows(key)


@at_extremes
async def test_a_blocked_call_shows_how_the_answers_were_merged(
    console: Open, size: tuple[int, int], workspace: Path
) -> None:
    write(workspace, "plugins/guard/plugin.py", GUARD)
    async with console(size, dialect="openclaw") as story:
        await story.shows("guard", "before_tool")
        await composed(story, "before_tool_call")
        await story.press("ctrl+r")
        await story.shows("⊘ blocked by guard")
        await story.shows("→ blocked = true", "→ blockReason =", "later handlers are not called")
        story.screen.query_one(Waterfall).focus()
        await story.press("up")
        await story.shows("→ params =", "merged so far")


@small
async def test_observers_run_side_by_side(console: Open, size: tuple[int, int], workspace: Path) -> None:
    write(workspace, "plugins/listeners/index.js", LISTENERS)
    async with console(size, dialect="openclaw") as story:
        await composed(story, "message_received")
        await story.shows("handlers observe" if size[0] > 80 else "message_received")
        await story.press("ctrl+r")
        await story.shows("✓ 2 handlers ran")  # one after another they would wait for each other for ever


@large
async def test_a_stream_event_shows_its_lanes_and_the_events_after_a_cancel(
    console: Open, size: tuple[int, int], workspace: Path
) -> None:
    write(workspace, "agent/hooks/stop.py", STOP)
    async with console(size, dialect="eve@0.80") as story:
        await composed(story, "turn.started")
        await story.press("ctrl+r")
        await story.shows("⊘ turn cancelled by stop", "typed", "hooks of every event", "requested: cancel")
        if size[1] > 30:  # else the list scrolls
            await story.shows("recorded", "evt_", "↳ turn.cancelled", "↳ session.waiting")


@small
@pytest.mark.parametrize(("dialect", "follows"), [("eve", "turn.failed"), ("eve@0.18", "session.failed")])
async def test_a_thrown_error_shows_the_follow_up_events(
    console: Open, size: tuple[int, int], workspace: Path, dialect: str, follows: str
) -> None:
    write(workspace, "agent/hooks/bad.py", BAD)
    async with console(size, dialect=dialect) as story:
        await composed(story, "turn.started")
        await story.press("ctrl+r")
        await story.shows("1 of 1 failed", "ValueError")
        if size[1] > 30:
            await story.shows(f"↳ {follows} follows; no hook ran on it")


@large
async def test_a_missing_required_field_is_shown_before_the_fire(
    console: Open, size: tuple[int, int], workspace: Path
) -> None:
    write(workspace, "agent/hooks/stop.py", STOP)
    async with console(size, dialect="eve") as story:
        await composed(story, "turn.started")
        story.screen.query_one(JsonEditor).text = '{"sequence": 0}'
        await story.until(lambda: "has no `turnId`" in story.text(), "what is missing is named")


AGENT = """
from hookscope import define_agent, mock_model

agent = define_agent(model=mock_model("Hello back"))
"""


@at_extremes
async def test_a_session_is_simulated_from_first_to_last_event(
    console: Open, size: tuple[int, int], workspace: Path
) -> None:
    write(workspace, "agent/hooks/bad.py", BAD)
    (workspace / "agent/agent.py").write_text(AGENT)
    async with console(size, dialect="eve@0.80") as story:
        await composed(story, "turn.started")
        await story.press("M")
        await story.shows("Allow this folder to run?", "agent")
        await story.press("t")
        await story.shows("9 events", "1 failed")
        await story.shows("session.waiting")
        await story.press("3")
        await story.shows("rule: a h")


@small
async def test_a_host_without_streams_simulates_no_session(
    console: Open, size: tuple[int, int], workspace: Path
) -> None:
    write(workspace, "plugins/guard/plugin.py", GUARD)
    async with console(size, dialect="openclaw") as story:
        await composed(story, "before_tool_call")
        await story.hides("m Play")
        await story.press("M", "ctrl+r")
        await story.shows("blocked by guard")

"""Plugins that register handlers after their `register` (guide 003: "supporting dynamic addition"), and what
their api says of the settings.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from hookscope import HookEngine, embedded_host
from hookscope.model.run import Event

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Program

TYPESCRIPT = """
export default function register(api) {
  api.registerHook({ event: "session-start", handler: async () => {
    const heard = async (ctx) => { console.log("heard", ctx.channel); };
    api.registerHook({ event: "message-sent", handler: heard, priority: 5 });
  } });
}
"""
PYTHON = """
def register(api):
    def started(event, ctx):
        api.register_hook({"event": "message-sent", "handler": heard, "priority": 5})

    def heard(event, ctx):
        print("heard", ctx.channel)

    api.register_hook({"event": "session-start", "handler": started})
"""


@pytest.mark.parametrize(("file", "source"), [("index.ts", TYPESCRIPT), ("plugin.py", PYTHON)])
def test_a_late_handler_is_called_from_the_next_event(
    hookscope: Program, workspace: Path, file: str, source: str
) -> None:
    write(workspace / "plugins/late" / file, source)
    once = workspace / ".hookscope/sequences/once.yaml"
    write(once, "steps: [{event: message-sent}, {event: session-start}, {event: message-sent}]")
    done = hookscope("--dialect", "openclaw", "sequence", "once", "--trust", "--json").json
    before, at, after = [step["run"]["results"] for step in done["steps"]]
    assert before == []
    assert [result["stdout"] for result in after] == ["heard telegram\n"]
    (note,) = at[0]["notes"]
    assert note == (
        "late registers a handler of message-sent after `register`: it is called from the next event on"
    )


def test_openclaw_2026_9_rejects_registrations_after_register_returns(
    hookscope: Program, workspace: Path
) -> None:
    """openclaw@2026.9: recorded from the program."""
    folder = workspace / ".openclaw/extensions/late"
    write(folder / "openclaw.plugin.json", '{"id": "late", "configSchema": {"type": "object"}}')
    write(workspace / ".openclaw/openclaw.json", "{plugins: {entries: {late: {enabled: true}}}}")
    body = "api.on('session_start', () => { api.on('message_sent', () => console.log('heard')); });"
    write(folder / "index.js", f"module.exports = {{ id: 'late', register(api) {{ {body} }} }};")
    once = workspace / ".hookscope/sequences/once.yaml"
    write(once, "steps: [{event: session_start}, {event: message_sent}]")
    shipped = ("--dialect", "openclaw@2026.9", "--home", str(workspace))
    done = hookscope(*shipped, "sequence", "once", "--trust", "--json").json
    at, after = [step["run"]["results"] for step in done["steps"]]
    assert after == []
    assert "as in its host" in at[0]["notes"][0]


@pytest.mark.parametrize(
    ("file", "source"),
    [
        (
            "index.ts",
            "export default (api) => { api.on('session_start', () => { "
            "console.log(JSON.stringify(api.config.channels)); }); };",
        ),
        (
            "plugin.py",
            "import json\ndef register(api):\n"
            "    api.on('session_start', lambda event, ctx: print(json.dumps(api.config['channels'])))\n",
        ),
    ],
)
def test_a_plugin_reads_its_config_from_the_settings(
    hookscope: Program, workspace: Path, home: Path, file: str, source: str
) -> None:
    write(home / ".openclaw/openclaw.json", '{channels: {telegram: {enabled: true, allow: ["a"]}}}')
    write(workspace / "plugins/reader" / file, source)
    run = hookscope("--dialect", "openclaw", "fire", "session_start", "--trust", "--json").json
    (result,) = run["results"]
    assert json.loads(result["stdout"]) == {"telegram": {"enabled": True, "allow": ["a"]}}


async def test_the_library_calls_late_handlers_too(workspace: Path) -> None:
    write(workspace / "plugins/late/plugin.py", PYTHON.replace('print("heard", ctx.channel)', "return {}"))
    engine = HookEngine(embedded_host(workspace_path=workspace, host_config={}, dialect="openclaw"))
    try:
        await engine.load()
        sent, started = event_of("message_sent"), event_of("session_start")
        assert not engine.has_listeners_for(sent)
        await engine.fire(started)
        await engine.fire(started)
        assert engine.has_listeners_for(sent)
        run = await engine.fire(sent)
        assert [result.status for result in run.results] == ["ok", "ok"]
        await engine.load()  # its module is the same one: what it has registered since counts
        assert len(engine.plan(sent).calls) == 2
    finally:
        await engine.close()


def event_of(key: str) -> Event:
    return Event(key, kind="plugin", context={"channel": "telegram"})


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)

"""The taps of plugins and of Eve's agents, loaded as their hosts load them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.recording.conftest import node

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.model.host import Host
from hookscope.recording.installation import apply_tap_plan, plan_tap_install
from hookscope.recording.taps import TapLanguage, spool_path

PLUGIN_HOST = """
import { pathToFileURL } from "node:url";
const register = (await import(pathToFileURL(process.argv[2]).href)).default;
const hooks = new Map();
register({ on: (name, handler) => hooks.set(name, handler) });
const ctx = { sessionKey: "s1", config: { token: "x" }, runId: "run-1" };
const returned = hooks.get("message_received")({ from: "me", content: "Hello" }, ctx);
hooks.get("session_end")({ sessionKey: "s2", get messageCount() { throw new Error("mine"); } });
console.log(JSON.stringify({ names: [...hooks.keys()], returned: returned ?? null }));
"""
PLUGIN_HOST_IN_PYTHON = """
import json, runpy, sys
sys.dont_write_bytecode = True
hooks = {}
class Api:
    def on(self, name, handler): hooks[name] = handler
runpy.run_path(sys.argv[1])["register"](Api())
ctx = {"sessionKey": "s1", "config": {"token": "x"}, "runId": "run-1"}
returned = hooks["message_received"]({"from": "me", "content": "Hello"}, ctx)
hooks["session_end"]({"sessionKey": "s2"})
print(json.dumps({"names": list(hooks), "returned": returned}))
"""
STREAM_HOST = """
import { pathToFileURL } from "node:url";
const hook = (await import(pathToFileURL(process.argv[2]).href)).default;
const channel = { kind: "http", continuationToken: "t" };
const ctx = { agent: { name: "app" }, channel, session: { id: "s1" },
  cancel() { throw new Error("asked"); }, getSandbox() {} };
const meta = { id: "evt_1", at: "2026-11-20T12:00:00.000Z" };
await hook.events["*"]({ type: "turn.started", data: { turnId: "turn_0", sequence: 1 }, meta }, ctx);
await hook.events["*"]({ type: "session.completed" }, ctx);
await hook.events["*"](null, null);
"""
STREAM_HOST_IN_PYTHON = """
import runpy, sys
sys.dont_write_bytecode = True
hook = runpy.run_path(sys.argv[1])["default"]
every = hook["events"]["*"]
channel = {"kind": "http", "continuationToken": "t"}
ctx = {"agent": {"name": "app"}, "channel": channel, "session": {"id": "s1"}}
meta = {"id": "evt_1", "at": "2026-11-20T12:00:00.000Z"}
every({"type": "turn.started", "data": {"turnId": "turn_0", "sequence": 1}, "meta": meta}, ctx)
every({"type": "session.completed"}, ctx)
every(None, None)
"""


def hosted(language: TapLanguage, source: tuple[str, str], module: Path, scratch: Path) -> str:
    """Run a host of that language over a module of ours; what it printed."""
    program, file = (node(), "host.mjs") if language == "typescript" else (sys.executable, "host.py")
    script = scratch / file
    script.write_text(source[language == "python"])
    env = {name: value for name, value in os.environ.items() if name != "HOOKSCOPE_HOST_STATE"}
    done = subprocess.run(
        [program, str(script), str(module)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**env, "NODE_NO_WARNINGS": "1"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def written(host: Host) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (spool_path(host) / "events.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("dialect", ["openclaw", "openclaw@2026.9"])
def test_the_plugin_tap_records_observing_hooks(
    home: Path, workspace: Path, tmp_path: Path, language: TapLanguage, dialect: str
) -> None:
    (home / ".openclaw").mkdir()
    host = Workbench(Options(dialect=dialect, workspace=workspace)).open()
    plan = plan_tap_install(host, language, plugin_hooks=True)
    apply_tap_plan(plan)
    tap = plan.steps[1].tap
    assert tap is not None
    said = json.loads(hosted(language, (PLUGIN_HOST, PLUGIN_HOST_IN_PYTHON), tap.module, tmp_path))
    assert said == {"names": list(tap.events), "returned": None}
    assert {host.dialect.catalogue().by_key[key].policy for key in tap.events} == {"observe"}
    loaded, first, second = written(host)
    assert loaded["kind"] == "loaded"
    assert (first["key"], first["kind"], first["session"]) == ("message_received", "plugin", "s1")
    assert first["context"] == {"from": "me", "content": "Hello"}
    assert (first["ctx"], first["left_out"]) == ({"sessionKey": "s1", "runId": "run-1"}, ["config"])
    assert (second["key"], second["session"]) == ("session_end", "s2")


def test_the_eve_tap_records_the_whole_stream(tmp_path: Path, language: TapLanguage) -> None:
    app = tmp_path / "app"
    (app / "agent").mkdir(parents=True)
    eve = app / "node_modules" / "eve"  # as installed, as far as a hook needs it
    eve.mkdir(parents=True)
    (eve / "package.json").write_text(
        '{"name": "eve", "type": "module", "exports": {"./hooks": "./hooks.js"}}'
    )
    (eve / "hooks.js").write_text("export const defineHook = (hook) => hook;\n")
    host = Workbench(Options(dialect="eve@0.80", workspace=app)).open()
    apply_tap_plan(plan_tap_install(host, language))
    suffix = ".ts" if language == "typescript" else ".py"
    hosted(
        language, (STREAM_HOST, STREAM_HOST_IN_PYTHON), app / "agent/hooks" / f"event-tap{suffix}", tmp_path
    )
    loaded, first, second = written(host)
    assert loaded["kind"] == "loaded"
    assert (first["key"], first["kind"], first["session"]) == ("turn.started", "stream", "s1")
    assert first["context"] == {"turnId": "turn_0", "sequence": 1}
    assert first["meta"] == {"id": "evt_1", "at": first["timestamp"]}
    assert first["ctx"] == {
        "agent": {"name": "app"},
        "channel": {"kind": "http", "continuationToken": "t"},
        "session": {"id": "s1"},
    }
    assert (second["key"], second["context"]) == ("session.completed", {})

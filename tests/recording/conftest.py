"""Agents that load a tap as a host does, in a process of their own, and send it events."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.recording.installation import apply_tap_plan, plan_tap_install
from hookscope.recording.taps import TAP_MODULE, TapLanguage, spool_path
from hookscope.runtime.executors import Node, find_node

LANGUAGES: tuple[TapLanguage, ...] = ("typescript", "python")

# What a host does: load the module, and call it for every event. `said` is asked for after each.
NODE_HOST = """
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
const tap = (await import(pathToFileURL(process.argv[2]).href)).default;
const event = (context = {}, type = "command", action = "new") => ({
  type, action, context, sessionKey: "agent:main:main", timestamp: new Date("2026-11-20T12:00:00Z"),
  messages: [],
});
"""
PYTHON_HOST = """
import json, sys
from datetime import datetime, timezone
from importlib.util import module_from_spec, spec_from_file_location
from hookscope.model.hook_event import HookEvent
sys.dont_write_bytecode = True
spec = spec_from_file_location("handler", sys.argv[1])
module = module_from_spec(spec)
spec.loader.exec_module(module)
tap = module.handler if hasattr(module, "handler") else None
def event(context=None, type="command", action="new"):
    moment = datetime(2026, 11, 20, 12, tzinfo=timezone.utc)
    return HookEvent(type, action, "agent:main:main", {} if context is None else context, moment)
"""
SEND_FROM_NODE = """
for (const [type, action, context] of JSON.parse(readFileSync(process.argv[3], "utf8"))) {
  tap(event(context, type, action));
}
"""
SEND_FROM_PYTHON = """
with open(sys.argv[2]) as file:
    for type, action, context in json.load(file):
        tap(event(context, type, action))
"""

Sent = tuple[str, str, Mapping[str, Any]]


@dataclass(frozen=True)
class Agent:
    """A host with a tap in its folder. `path` is the module that it loads."""

    language: TapLanguage
    path: Path
    spool: Path
    scratch: Path

    def start(self, *events: Sent, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Send these events from a process of its own."""
        told = self.scratch / f"events-{len(list(self.scratch.glob('events-*')))}.json"
        told.write_text(json.dumps(events))
        body = SEND_FROM_NODE if self.language == "typescript" else SEND_FROM_PYTHON
        return self._process(body, str(told), env=env)

    def send(self, *events: Sent, env: Mapping[str, str] | None = None) -> None:
        """The same, and wait for its end. Nothing of the tap may be felt."""
        _ended_well(self.start(*events, env=env))

    def run(self, body: str, env: Mapping[str, str] | None = None) -> str:
        """Run this with `tap` and `event` at hand; what it printed."""
        return _ended_well(self._process(body, env=env))

    def _process(self, body: str, *more: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        suffix, head = (".mjs", NODE_HOST) if self.language == "typescript" else (".py", PYTHON_HOST)
        script = self.scratch / f"host-{abs(hash(body))}{suffix}"
        if not script.exists():  # another process may just be reading it
            script.write_text(head + body)
        program = node() if self.language == "typescript" else sys.executable
        clean = {name: value for name, value in os.environ.items() if name != "HOOKSCOPE_HOST_STATE"}
        return subprocess.Popen(
            [program, str(script), str(self.path), *more],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**clean, "NODE_NO_WARNINGS": "1", **(env or {})},
        )

    def changed(self, old: str, new: str) -> None:
        """Write the module with other limits: reaching the real ones would take megabytes."""
        source = self.path.read_text()
        assert old in source
        self.path.write_text(source.replace(old, new))

    def lines(self, name: str = "events.jsonl") -> list[dict[str, Any]]:
        """The events of the spool, loads left out. Every line must be whole; where several write, one may
        be empty."""
        file = self.spool / name
        data = file.read_bytes() if file.exists() else b""
        assert not data or data.endswith(b"\n")
        lines = [json.loads(line) for line in data.split(b"\n") if line]
        return [line for line in lines if line["kind"] != "loaded"]


def node() -> str:
    found = find_node(shutil.which("node"))
    assert isinstance(found, Node), found
    return found.path


def _ended_well(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    return out


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> TapLanguage:
    chosen: TapLanguage = request.param
    return chosen


@pytest.fixture
def agent(home: Path, tmp_path: Path, workspace: Path, language: TapLanguage) -> Agent:
    """OpenClaw with a tap, in each language."""
    (home / ".openclaw").mkdir()
    bench = Workbench(Options(dialect="openclaw", workspace=workspace))
    host = bench.open()
    apply_tap_plan(plan_tap_install(host, language))
    path = home / ".openclaw" / "hooks" / "event-tap" / TAP_MODULE["folder"][language]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    return Agent(language, path, spool_path(host), scratch)

"""Running a recorded case of Eve: each version that was recorded, through the dialect that follows it.

Discovery and publishing are here; what loads modules and plays turns is in eve_turns.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance import eve_turns
from tests.conformance.layouts import Case, StandIns, copied, differences
from tests.hosts.streams.asking import AskingLane

from hookscope.engine.hook_engine import HookEngine
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.streams import stream_system_of
from hookscope.hosts.streams.agent_layout import Discovery, agents_of, discover_agent, ordered_diagnostics
from hookscope.model.hook import Folder, Hook, LogLine
from hookscope.model.host import Host, Overrides, Trust
from hookscope.model.machine import Machine
from hookscope.model.run import Event, Handler, Registration, Result, Run
from hookscope.runtime.executors import Executors

DIALECT_OF_VERSION = {"0.80.1": "eve@0.80", "0.18.1": "eve@0.18"}
LINE = re.compile(r"\[eve:(?P<source>[\w.-]+)\] (?P<text>.*?)(?P<told> \{.*\})?", re.DOTALL)


async def differences_of(case: Case, folder: Path, node: str) -> list[str]:
    """Where our answers differ from the recorded ones; empty where they do not."""
    found = []
    for version, expected in case.expected["versions"].items():
        app = folder / version / "case-app"
        copied(case.folder / "tree", app)
        host = opened(DIALECT_OF_VERSION[version], app)
        if case.given["mode"] == "publish":
            answers = await published(case, host)
        else:
            stand_ins = StandIns({"<APP>": app})
            answers = stand_ins.show(discovered(host))
            if "compiled" not in expected:
                del answers["compiled"]
            if case.given["mode"] != "discover":
                found += await loaded_differences(case, host, expected, version, node)
            expected = _without_what_is_loaded({name: expected[name] for name in answers})
        found += [f"{version}{line}" for line in differences(expected, answers)]
    return found


async def loaded_differences(
    case: Case, host: Host, expected: Mapping[str, Any], version: str, node: str
) -> list[str]:
    """As `differences_of`, of what takes modules to be loaded."""
    trace = host.workspace.parent / "trace.ndjson"
    answers = await eve_turns.answers_of(case, eve_turns.tracing(host, trace), node, trace)
    answers = StandIns({"<APP>": host.workspace}).show(answers)  # what a module throws may name its own file
    recorded = eve_turns.as_recorded(expected, answers)
    return [f"{version}{line}" for line in differences(recorded, eve_turns.in_order(answers))]


def opened(dialect: str, workspace: Path) -> Host:
    """The project as that version finds it, trusted."""
    here = Machine("linux", {}, workspace, workspace)
    return open_host(DIALECTS[dialect], here, Overrides(workspace=workspace), trust=Trust(everything=True))


def discoveries_of(host: Host) -> list[Discovery]:
    """What is found of every agent, the root agent first."""
    rules, files = stream_system_of(host.dialect).file_rules, host.machine.files
    return [discover_agent(agent, rules, files) for agent in agents_of(host.workspace, rules, files)]


def discovered(host: Host) -> dict[str, Any]:
    """What Eve says of the whole project, and which hooks it finds of the root agent, before it loads any."""
    discovery, *others = discoveries_of(host)
    said = ordered_diagnostics([discovery, *others])
    paths = {source.slug: source.path.relative_to(discovery.agent.root) for source in discovery.hooks.found}
    return {
        "diagnostics": [
            {"code": one.code, "message": one.message, "sourcePath": str(one.path), "severity": one.severity}
            for _, one in said
        ],
        "discovered": [str(path) for path in paths.values()],
        "compiled": [{"slug": slug, "logicalPath": str(path)} for slug, path in paths.items()],
    }


def _without_what_is_loaded(expected: dict[str, Any]) -> dict[str, Any]:
    """The recorded answers without the event names, which only a loaded module tells."""
    if "compiled" in expected:
        kept = ("slug", "logicalPath")
        expected["compiled"] = [{name: one[name] for name in kept} for one in expected["compiled"]]
    return expected


async def published(case: Case, host: Host) -> dict[str, Any]:
    """The steps of every scenario, by its name."""
    return {name: await Stage(scenario, host).steps() for name, scenario in case.given["scenarios"].items()}


@dataclass
class Stage:
    """A scenario's channel, record and hooks, as functions of this process."""

    scenario: Mapping[str, Any]
    host: Host
    seen: dict[Registration, bool] = field(default_factory=dict)  # had the event an id, as its handler saw it
    written: list[dict[str, Any]] = field(default_factory=list)

    async def begin(self, event: Event) -> int:
        if self.scenario.get("writeFails"):
            raise OSError("disk full")
        self.written.append({"step": "write", "type": event.type, "hasId": "id" in event.meta})
        return len(self.written)

    async def end(self, run: Run) -> None:
        pass

    async def steps(self) -> list[dict[str, Any]]:
        engine = HookEngine(self.host, Executors(AskingLane()), self)
        engine.registry = engine.registry.with_registrations([*self._channel(), *self._hooks()])
        steps: list[dict[str, Any]] = []
        for told in self.scenario["events"]:
            self.written.clear()
            run = await engine.fire(Event(told["type"], context=told["data"], kind="stream"))
            steps += self._steps_of(run)
        await engine.close()
        return steps

    def _channel(self) -> list[Registration]:
        def channel(*_: Any) -> None:
            if self.scenario.get("channelThrows"):
                raise RuntimeError("channel broke")

        hook = a_hook("channels/http", self.host, role="channel")
        keys = dict.fromkeys(told["type"] for told in self.scenario["events"])
        return [Registration(key, hook.name, channel, hook) for key in keys]

    def _hooks(self) -> list[Registration]:
        return [
            self._hook(a_hook(slug, self.host), key, told)
            for slug, subscriptions in self.scenario["hooks"].items()
            for key, told in subscriptions.items()
        ]

    def _hook(self, hook: Hook, key: str, told: Mapping[str, Any]) -> Registration:
        def handler(view: Any) -> None:
            self.seen[call] = "id" in view["event"]["meta"]
            if told.get("cancel"):
                view["asked"].append("cancel")
            if "throws" in told:
                raise RuntimeError(told["throws"])

        target: Handler = handler
        call = Registration(key, hook.name, target, hook)
        return call

    def _steps_of(self, run: Run) -> list[dict[str, Any]]:
        lines = list(run.ending.log)
        unwritten = [] if self.written else [lines.pop(0)]
        in_channel = [result for result in run.results if _is_channel(result)]
        in_hooks = [result for result in run.results if not _is_channel(result)]
        steps = [step for result in in_channel for step in self._steps_of_result(result, run, lines)]
        steps += self.written[:1]
        steps += [{"step": "publish failed", "error": line.text.rpartition(": ")[2]} for line in unwritten]
        steps += [step for result in in_hooks for step in self._steps_of_result(result, run, lines)]
        return [*steps, *(logged(line) for line in lines)]

    def _steps_of_result(self, result: Result, run: Run, lines: list[LogLine]) -> list[dict[str, Any]]:
        call, kind = result.call, run.event.type
        if _is_channel(result):
            steps: list[dict[str, Any]] = [{"step": "channel", "type": kind}]
        else:
            hook = {"step": "hook", "slug": call.name, "subscription": call.key}
            steps = [{**hook, "type": kind, "hasId": self.seen[call]}]
        if "cancel" in result.asked and run.ending.answer == {"cancel": call.name}:
            steps.append({"step": "turn cancelled by hook"})
        elif "cancel" in result.asked or result.error is not None:
            steps.append(logged(lines.pop(0)))
        return steps


def _is_channel(result: Result) -> bool:
    return result.call.hook is not None and result.call.hook.role == "channel"


def logged(line: LogLine) -> dict[str, Any]:
    """A log line in the words of the cases."""
    match = LINE.fullmatch(line.text)
    assert match is not None, line
    told = json.loads(match["told"] or "{}")
    kept = {name: told[name] for name in ("hook", "subscription") if name in told}
    return {"step": "log", "level": line.level, "from": match["source"], "text": match["text"], **kept}


def a_hook(name: str, host: Host, role: str = "") -> Hook:
    """A hook of the root agent that stands in no file."""
    folder = Folder("agent", "hooks", host.workspace / "agent/hooks", 1, trusted=True)
    return Hook(name, "stream", folder, None, role=role)

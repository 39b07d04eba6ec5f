"""The `compile` and `turn` cases of Eve: modules loaded, and a whole session played with their own files."""

from __future__ import annotations

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.conformance.layouts import Case

from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.registry import LoadReport
from hookscope.model.hook import Hook, LogLine
from hookscope.model.host import Host
from hookscope.runtime.executors import Executors, in_process_executors
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import node_executor
from hookscope.sessions.session_runner import SessionRequest, Simulation, SimulationResult

LINE = re.compile(r"\[eve:(?P<source>[\w.-]+)\] (?P<text>.*?)(?P<told> \{.*\})?", re.DOTALL)
LOGGED = ("hook", "subscription", "eventType", "error", "code")  # of a line's details
LEFT_OUT = ("usage", "trace", "description")  # of events' data
LATE = "already returned"  # of lines about what a hook does after its event
PATIENCE = 60  # seconds for a hook that does something late
NONE = Limits(spawn=None, load=None, run=None, warn=None, memory=None)


async def answers_of(case: Case, host: Host, node: str, trace: Path) -> dict[str, Any]:
    """What is recorded of a case beside files and slugs: what compiled, who listens, and what was played."""
    late: list[tuple[str, str]] = []
    told = asyncio.Event()

    def hear(who: str, text: str) -> None:
        late.append((who, text))
        told.set()

    here = host.machine.cwd
    lane = node_executor(env=dict(host.env), cwd=here, node=node, limits=NONE, on_late=hear)
    lanes = in_process_executors()
    engine = HookEngine(
        host, Executors(lanes.functions, {**lanes.code, "typescript": lane, "javascript": lane})
    )
    try:
        report = await engine.load(strict=True)
        answers = compiled(engine, report)
        if case.given["mode"] == "turn" and report.committed:
            play = await Simulation(engine, SessionRequest(tuple(case.given["messages"]), "seed"))
            late += _late_in_results(play)  # where a slow machine was still at the next event
            if _wants_late(case, host) and not late:
                await asyncio.wait_for(told.wait(), PATIENCE)
            answers |= played(play, trace, late)
        return answers
    finally:
        await engine.close()


def _late_in_results(play: SimulationResult) -> list[tuple[str, str]]:
    """What a hook did late, as it is told with the next result: whose it was, then what."""
    notes = [note for scene in play.events for result in scene.run.results for note in result.notes]
    told = [note.removeprefix("before this, ").partition(" ") for note in notes if LATE in note]
    return [(who, text) for who, _, text in told]


def _wants_late(case: Case, host: Host) -> bool:
    version = case.expected["versions"].get(host.dialect.version, {})
    return any(LATE in line.get("text", "") for line in version.get("log", ()))


def compiled(engine: HookEngine, report: LoadReport) -> dict[str, Any]:
    """What came of loading the root agent's hooks, or the error that stopped it."""
    if not report.committed:
        newer = engine.host.dialect.since != ""
        name = ("compileError", "Error") if newer else ("resolveError", "ResolveAgentError")
        return {name[0]: {"name": name[1], "message": report.refusal}}
    rows = [row for row in engine.inventory.hooks if _is_of_root(row.hook)]
    typed: dict[str, list[str]] = defaultdict(list)
    for call in engine.registry.registrations:
        if call.hook is not None and _is_of_root(call.hook):
            typed[call.key].append(call.name)
    every = typed.pop("*", [])
    events = {row.hook.name: list(row.declared or ()) for row in rows}
    return {"eventNames": events, "registry": {"typed": dict(typed), "wildcard": every}}


def _is_of_root(hook: Hook) -> bool:
    return hook.kind == "stream" and not hook.scope and not hook.role


def played(play: SimulationResult, trace: Path, late: list[tuple[str, str]]) -> dict[str, Any]:
    """The root session's stream, the calls as the handlers themselves wrote them down, and the log."""
    scenes = play.stream()
    lines = [line for scene in play.events for line in scene.run.ending.log]
    return {
        "stream": [
            {
                "type": scene.run.event.type,
                "data": shown(scene.run.event.context),
                "metaKeys": sorted(scene.run.event.meta.keys() & {"id", "at"}),
            }
            for scene in scenes
        ],
        "calls": list(_noted(trace, play)),
        "log": [*map(logged, lines), *({"from": "hooks", "text": text, "hook": who} for who, text in late)],
    }


def shown(data: Any) -> Any:
    """Data without what the recordings leave out; of `runtime` they give the names alone."""
    if isinstance(data, list):
        return [shown(one) for one in data]
    if not isinstance(data, Mapping):
        return data
    kept = {name: shown(value) for name, value in data.items() if name not in LEFT_OUT}
    return {**kept, "runtime": sorted(kept["runtime"])} if "runtime" in kept else kept


def _noted(trace: Path, play: SimulationResult) -> Iterator[dict[str, Any]]:
    places = {scene.run.event.meta.get("id"): scene.position for scene in play.stream()}
    lines = trace.read_text().splitlines() if trace.exists() else []
    for line in map(json.loads, lines):
        event, session = line.pop("id", None), line.pop("session")
        placed = {"streamIndex": places.get(event)} if event is not None else {}
        yield {**line, **placed, **({} if session == play.session else {"otherSession": True})}


def logged(line: LogLine) -> dict[str, Any]:
    """A log line in the words of the cases."""
    match = LINE.fullmatch(line.text)
    assert match is not None, line
    told = json.loads(match["told"] or "{}")
    kept = {name: told[name] for name in LOGGED if name in told}
    return {"from": match["source"], "text": match["text"], **kept}


def as_recorded(expected: Mapping[str, Any], answers: Mapping[str, Any]) -> dict[str, Any]:
    """The recorded answers in the shape of ours; what changes from run to run has our value."""
    told = {name: expected[name] for name in ("registry", "compileError", "resolveError") if name in expected}
    if "eventNames" in answers:
        recorded = {one["slug"]: one.get("eventNames") for one in expected["compiled"]}
        ours = answers["eventNames"]  # the older version does not tell them
        told["eventNames"] = {
            slug: ours.get(slug) if names is None else names for slug, names in recorded.items()
        }
    if "registry" not in expected and "registry" in answers:
        told["registry"] = answers["registry"]
    if "stream" in answers:
        told["stream"] = [_filled(one, ours) for one, ours in _paired(expected["stream"], answers["stream"])]
        told["calls"] = sorted_by_session(expected["calls"])
        told["log"] = sorted(map(_known_of_late, expected["log"]), key=str)
    return told


def in_order(answers: dict[str, Any]) -> dict[str, Any]:
    """Our answers with calls by session, and the log by its text: what is late comes when it comes."""
    if "calls" not in answers:
        return answers
    calls = sorted_by_session(answers["calls"])
    return {**answers, "calls": calls, "log": sorted(map(_known_of_late, answers["log"]), key=str)}


def sorted_by_session(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The order within each session is fixed; between two it is not."""
    return sorted(calls, key=lambda call: call.get("otherSession", False))


def _known_of_late(line: Mapping[str, Any]) -> dict[str, Any]:
    """Of what a hook does late, Hookscope tells who and what; its event is over."""
    late = LATE in line["text"]
    return {name: value for name, value in line.items() if not (late and name == "eventType")}


def _paired(expected: list[Any], ours: list[Any]) -> list[tuple[Any, Any]]:
    return [(one, ours[at] if at < len(ours) else None) for at, one in enumerate(expected)]


def _filled(expected: Any, ours: Any) -> Any:
    """The recorded value; where it holds a placeholder that ours fits, ours."""
    if isinstance(expected, str) and "<" in expected and isinstance(ours, str):
        pattern = "".join(".+" if part.startswith("<") else re.escape(part) for part in _parts(expected))
        return ours if re.fullmatch(pattern, ours, re.DOTALL) else expected
    if isinstance(expected, Mapping):
        inner = ours if isinstance(ours, Mapping) else {}
        return {name: _filled(value, inner.get(name)) for name, value in expected.items()}
    if isinstance(expected, list) and isinstance(ours, list):
        return [_filled(one, other) for one, other in _paired(expected, ours)]
    return expected


def _parts(text: str) -> list[str]:
    return re.split(r"(<[A-Z]+>)", text)


def tracing(host: Host, trace: Path) -> Host:
    """The host whose handlers write their calls to this file."""
    env = {**host.env, "HOOK_TRACE": str(trace)}
    return replace(host, env=env, machine=replace(host.machine, env=env))

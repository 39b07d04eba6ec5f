"""A played session for people and for programs: its events in order, and what hooks made of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hookscope.cli import cells, run_tables
from hookscope.core.runs import Result
from hookscope.core.surroundings import Surroundings
from hookscope.core.text import one_line
from hookscope.workbench import run_documents
from hookscope.workbench.documents import Document
from hookscope.workbench.play import Played, Scene, Use
from hookscope.workbench.stage import NO_MODEL

RESTS = {
    "waiting": "the session waits for the next message",
    "ended": "the session is over",
    "cancelled": "the play was cancelled",
    "stopped": "the play was stopped",
}


def document(played: Played, dialect: str) -> Document:
    """`play --json`."""
    return {
        "dialect": dialect,
        "rule": played.rule,
        "session": played.session,
        "rest": played.rest,
        "failure": played.failure,
        "events": [_scene(scene) for scene in played.scenes],
        "uses": [_use(use) for use in played.uses],
        "notes": list(played.notes),
    }


def _scene(scene: Scene) -> Document:
    run = scene.run
    return {
        "session": scene.session,
        "agent": scene.node,
        "place": scene.place,
        "type": run.event.type,
        "data": run_documents.plain(run.event.context),
        "meta": run_documents.plain(run.event.meta),
        "results": [run_documents.result(result, run.delivers) for result in run.results],
        "not_run": [run_documents.not_run(item) for item in run.not_run if item.listens],
        "verdict": run.ending.verdict,
        "failure": run.ending.failure,
        "log": run_documents.log(run.ending.log),
        "ms": run_documents.ms(run.took),
    }


def _use(use: Use) -> Document:
    failure = None if use.failure is None else use.failure.text
    return {"session": use.session, "what": use.what, "name": use.name, "failure": failure}


def text(played: Played, here: Surroundings) -> str:
    """`play`: a line for each event with its place in its stream, under it what ran; then what failed."""
    width = cells.column((_title(scene) for scene in played.scenes), 60)
    names = cells.column((one_line(result.call.name) for result in _results(played)), 32)
    lines: list[str] = []
    for number, scene in enumerate(played.scenes):
        lines += _used(played, number)
        lines += _lines(scene, width, names, here)
    lines += [*_used(played, len(played.scenes)), "", *_ending(played)]
    return "\n".join(line.rstrip() for line in lines)


def _results(played: Played) -> Iterator[Result]:
    return (result for scene in played.scenes for result in scene.run.results)


def _title(scene: Scene) -> str:
    indent = "    " if scene.node else ""
    owner = f"  ({one_line(str(scene.run.event.ctx['agent']['name']), 60)})" if scene.node else ""
    return f"{indent}{scene.place:>3}  {one_line(scene.run.event.type)}{owner}"


def _lines(scene: Scene, width: int, names: int, here: Surroundings) -> Iterator[str]:
    run = scene.run
    verdict = f"  {one_line(run.ending.verdict, 200)}" if run.ending.verdict else ""
    yield f"{cells.fitted(_title(scene), width)}  {_told(scene)}{verdict}"
    indent = "        " if scene.node else "    "
    for result in run.results:
        given = run_tables.given_to(result, run.event, run.results)
        yield from (f"{indent}{line}" for line in run_tables.result(result, names, here, given))
    for note in run.notes:
        yield f"{indent}  note: {one_line(note, 400)}"


def _told(scene: Scene) -> str:
    """What of the event's data people want to read."""
    data = scene.run.event.context
    words = (data.get(name) for name in ("message", "messageDelta", "status", "output", "name"))
    actions, result = data.get("actions"), data.get("result")
    if isinstance(actions, list):
        told = ", ".join(str(one.get("toolName") or one.get("name")) for one in actions)
    elif isinstance(result, Mapping):
        told = f"{result.get('toolName') or result.get('subagentName')}: {result.get('output')}"
    else:
        told = next((word for word in words if isinstance(word, str)), "")
    return one_line(told, 80)


def _used(played: Played, after: int) -> list[str]:
    """Models and tools that failed at this place; what they answered stands in the events."""
    failed = [use for use in played.uses if use.after == after and use.failure is not None]
    return [
        f"       {use.what} {one_line(use.name)} failed: {one_line(use.failure.text, 400)}"
        for use in failed
        if use.failure is not None
    ]


def _ending(played: Played) -> Iterator[str]:
    failed = played.failed
    count = f"{len(played.scenes)} events"
    said = f"✗ {len(failed)} failed" if failed else "✓ no hook failed"
    yield f"{count}  {said}  {RESTS[played.rest]}"
    for scene, result in failed:
        message = result.error.message if result.error is not None else result.status
        place = f"{scene.run.event.type} ({scene.place})"
        yield f"  ✗ {one_line(result.call.name)} at {place}: {one_line(message, 400)}"
    if played.failure is not None:
        then = "; `--reply TEXT` answers in its place" if played.failure.endswith(NO_MODEL) else ""
        yield f"  failed: {one_line(played.failure, 400)}{then}"
    yield from (f"note: {one_line(note, 400)}" for note in played.notes)
    yield f"rule: {played.rule}"

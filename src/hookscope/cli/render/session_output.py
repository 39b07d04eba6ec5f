"""A simulated session as text and JSON: its events in order, with the hooks' results (`play`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.cli.render import layout, run_output
from hookscope.model.machine import Machine
from hookscope.model.run import Result
from hookscope.model.text import one_line
from hookscope.sessions.session_runner import NO_MODEL_FILE, CodeCall, SessionEvent
from hookscope.sessions.simulation import SimulationResult

SESSION_ENDINGS = {
    "waiting": "the session waits for the next message",
    "ended": "the session is over",
    "cancelled": "the play was cancelled",
    "stopped": "the play was stopped",
}


def session_document(played: SimulationResult, dialect: str) -> Document:
    """Return the document of `play --json`."""
    return {
        "dialect": dialect,
        "rule": played.rule,
        "session": played.session,
        "rest": played.rest,
        "failure": played.failure,
        "events": [_scene_document(scene) for scene in played.scenes],
        "uses": [_usage_document(use) for use in played.uses],
        "notes": list(played.notes),
    }


def _scene_document(scene: SessionEvent) -> Document:
    run = scene.run
    return {
        "session": scene.session,
        "agent": scene.node,
        "place": scene.place,
        "type": run.event.type,
        "data": json_documents.plain_value(run.event.context),
        "meta": json_documents.plain_value(run.event.meta),
        "results": [json_documents.result_document(result, run.delivers) for result in run.results],
        "not_run": [json_documents.not_run_document(item) for item in run.not_run if item.listens],
        "verdict": run.ending.verdict,
        "failure": run.ending.failure,
        "log": json_documents.log_documents(run.ending.log),
        "ms": json_documents.milliseconds(run.took),
    }


def _usage_document(use: CodeCall) -> Document:
    failure = None if use.failure is None else use.failure.text
    return {"session": use.session, "what": use.what, "name": use.name, "failure": failure}


def session_text(played: SimulationResult, here: Machine) -> str:
    """Return the text of `play`: a line for each event and its handlers, then the failures."""
    width = layout.column_width((_scene_title(scene) for scene in played.scenes), 60)
    names = layout.column_width((one_line(result.call.name) for result in _handler_results(played)), 32)
    lines: list[str] = []
    for number, scene in enumerate(played.scenes):
        lines += _failed_call_lines(played, number)
        lines += _scene_lines(scene, width, names, here)
    lines += [*_failed_call_lines(played, len(played.scenes)), "", *_ending_lines(played)]
    return "\n".join(line.rstrip() for line in lines)


def _handler_results(played: SimulationResult) -> Iterator[Result]:
    return (result for scene in played.scenes for result in scene.run.results)


def _scene_title(scene: SessionEvent) -> str:
    indent = "    " if scene.node else ""
    owner = f"  ({one_line(str(scene.run.event.ctx['agent']['name']), 60)})" if scene.node else ""
    return f"{indent}{scene.place:>3}  {one_line(scene.run.event.type)}{owner}"


def _scene_lines(scene: SessionEvent, width: int, names: int, here: Machine) -> Iterator[str]:
    run = scene.run
    verdict = f"  {one_line(run.ending.verdict, 200)}" if run.ending.verdict else ""
    yield f"{layout.fit_to_width(_scene_title(scene), width)}  {_scene_data_text(scene)}{verdict}"
    indent = "        " if scene.node else "    "
    for result in run.results:
        given = run_output.input_of_failed_handler(result, run.event, run.results)
        yield from (f"{indent}{line}" for line in run_output.result_lines(result, names, here, given))
    for note in run.notes:
        yield f"{indent}  note: {one_line(note, 400)}"


def _scene_data_text(scene: SessionEvent) -> str:
    """Return the part of the event's data that people want to read."""
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


def _failed_call_lines(played: SimulationResult, after: int) -> list[str]:
    """Return models and tools that failed here; their answers are in the events."""
    failed = [use for use in played.uses if use.after == after and use.failure is not None]
    return [
        f"       {use.what} {one_line(use.name)} failed: {one_line(use.failure.text, 400)}"
        for use in failed
        if use.failure is not None
    ]


def _ending_lines(played: SimulationResult) -> Iterator[str]:
    failed = played.failed
    count = f"{len(played.scenes)} events"
    said = f"✗ {len(failed)} failed" if failed else "✓ no hook failed"
    yield f"{count}  {said}  {SESSION_ENDINGS[played.rest]}"
    for scene, result in failed:
        message = result.error.message if result.error is not None else result.status
        place = f"{scene.run.event.type} ({scene.place})"
        yield f"  ✗ {one_line(result.call.name)} at {place}: {one_line(message, 400)}"
    if played.failure is not None:
        then = "; `--reply TEXT` answers in its place" if played.failure.endswith(NO_MODEL_FILE) else ""
        yield f"  failed: {one_line(played.failure, 400)}{then}"
    yield from (f"note: {one_line(note, 400)}" for note in played.notes)
    yield f"rule: {played.rule}"

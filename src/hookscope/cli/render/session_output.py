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


def session_document(simulation: SimulationResult, dialect: str) -> Document:
    """Return the document of `play --json`."""
    return {
        "dialect": dialect,
        "rule": simulation.throw_effect,
        "session": simulation.session,
        "rest": simulation.end,
        "failure": simulation.failure,
        "events": [_scene_document(event) for event in simulation.events],
        "uses": [_usage_document(use) for use in simulation.code_calls],
        "notes": list(simulation.notes),
    }


def _scene_document(session_event: SessionEvent) -> Document:
    run = session_event.run
    return {
        "session": session_event.session,
        "agent": session_event.node,
        "place": session_event.position,
        "type": run.event.type,
        "data": json_documents.plain_value(run.event.context),
        "meta": json_documents.plain_value(run.event.meta),
        "results": [json_documents.result_document(result, run.delivers) for result in run.results],
        "not_run": [json_documents.not_run_document(item) for item in run.not_run if item.subscribed],
        "verdict": run.ending.verdict,
        "failure": run.ending.failure,
        "log": json_documents.log_documents(run.ending.log),
        "ms": json_documents.milliseconds(run.took),
    }


def _usage_document(use: CodeCall) -> Document:
    failure = None if use.failure is None else use.failure.text
    return {"session": use.session, "what": use.kind, "name": use.name, "failure": failure}


def session_text(simulation: SimulationResult, machine: Machine) -> str:
    """Return the text of `play`: a line for each event and its handlers, then the failures."""
    width = layout.column_width((_scene_title(event) for event in simulation.events), 60)
    name_width = layout.column_width(
        (one_line(result.call.name) for result in _handler_results(simulation)), 32
    )
    lines: list[str] = []
    for number, event in enumerate(simulation.events):
        lines += _failed_call_lines(simulation, number)
        lines += _scene_lines(event, width, name_width, machine)
    lines += [*_failed_call_lines(simulation, len(simulation.events)), "", *_ending_lines(simulation)]
    return "\n".join(line.rstrip() for line in lines)


def _handler_results(simulation: SimulationResult) -> Iterator[Result]:
    return (result for event in simulation.events for result in event.run.results)


def _scene_title(event: SessionEvent) -> str:
    indent = "    " if event.node else ""
    owner = f"  ({one_line(str(event.run.event.ctx['agent']['name']), 60)})" if event.node else ""
    return f"{indent}{event.position:>3}  {one_line(event.run.event.type)}{owner}"


def _scene_lines(event: SessionEvent, width: int, name_width: int, machine: Machine) -> Iterator[str]:
    run = event.run
    verdict = f"  {one_line(run.ending.verdict, 200)}" if run.ending.verdict else ""
    yield f"{layout.fit_to_width(_scene_title(event), width)}  {_scene_data_text(event)}{verdict}"
    indent = "        " if event.node else "    "
    for result in run.results:
        failed_input = run_output.input_of_failed_handler(result, run.event, run.results)
        yield from (
            f"{indent}{line}" for line in run_output.result_lines(result, name_width, machine, failed_input)
        )
    for note in run.notes:
        yield f"{indent}  note: {one_line(note, 400)}"


def _scene_data_text(event: SessionEvent) -> str:
    """Return the part of the event's data that people want to read."""
    data = event.run.event.context
    words = (data.get(name) for name in ("message", "messageDelta", "status", "output", "name"))
    actions, result = data.get("actions"), data.get("result")
    if isinstance(actions, list):
        text = ", ".join(str(action.get("toolName") or action.get("name")) for action in actions)
    elif isinstance(result, Mapping):
        text = f"{result.get('toolName') or result.get('subagentName')}: {result.get('output')}"
    else:
        text = next((word for word in words if isinstance(word, str)), "")
    return one_line(text, 80)


def _failed_call_lines(simulation: SimulationResult, after: int) -> list[str]:
    """Return models and tools that failed here; their answers are in the events."""
    failed = [use for use in simulation.code_calls if use.events_before == after and use.failure is not None]
    return [
        f"       {use.kind} {one_line(use.name)} failed: {one_line(use.failure.text, 400)}"
        for use in failed
        if use.failure is not None
    ]


def _ending_lines(simulation: SimulationResult) -> Iterator[str]:
    failed = simulation.failed
    count = f"{len(simulation.events)} events"
    outcome = f"✗ {len(failed)} failed" if failed else "✓ no hook failed"
    yield f"{count}  {outcome}  {SESSION_ENDINGS[simulation.end]}"
    for event, result in failed:
        message = result.error.message if result.error is not None else result.status
        place = f"{event.run.event.type} ({event.position})"
        yield f"  ✗ {one_line(result.call.name)} at {place}: {one_line(message, 400)}"
    if simulation.failure is not None:
        hint = "; `--reply TEXT` answers in its place" if simulation.failure.endswith(NO_MODEL_FILE) else ""
        yield f"  failed: {one_line(simulation.failure, 400)}{hint}"
    yield from (f"note: {one_line(note, 400)}" for note in simulation.notes)
    yield f"rule: {simulation.throw_effect}"

"""`hookscope play [MESSAGE...]`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.app.options import Options
from hookscope.app.trust_requests import topmost_targets, untrusted_folders
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import cancel_on_interrupt
from hookscope.cli.render import layout, run_output
from hookscope.cli.shared_options import timeout_option, wait_option
from hookscope.engine.registry import LoadReport
from hookscope.model.failure import Refusal
from hookscope.model.machine import Machine
from hookscope.model.text import one_line
from hookscope.sessions.session_agents import (
    ReplyScript,
    read_script,
    session_agents_of,
    session_engine,
    untrusted_agent_folders,
)
from hookscope.sessions.session_runner import (
    NO_MODEL_FILE,
    CodeCall,
    SessionEvent,
    SessionRequest,
    Simulation,
    SimulationResult,
)
from hookscope.storage.journal.records import milliseconds, plain_json

if TYPE_CHECKING:
    from hookscope.model.trust import TrustTarget

SESSION_ENDINGS = {
    "waiting": "the session waits for the next message",
    "ended": "the session is over",
    "cancelled": "the simulation was cancelled",
    "stopped": "the simulation was stopped",
}


def _scene_document(session_event: SessionEvent) -> Document:
    run = session_event.run
    return {
        "session": session_event.session,
        "agent": session_event.node,
        "place": session_event.position,
        "type": run.event.type,
        "data": plain_json(run.event.context),
        "meta": plain_json(run.event.meta),
        "results": [json_documents.result_document(result, run.delivers) for result in run.results],
        "not_run": [json_documents.not_run_document(item) for item in run.not_run if item.subscribed],
        "verdict": run.ending.verdict,
        "failure": run.ending.failure,
        "log": json_documents.log_documents(run.ending.log),
        "ms": milliseconds(run.took),
    }


def _usage_document(use: CodeCall) -> Document:
    failure = None if use.failure is None else use.failure.text
    return {"session": use.session, "what": use.kind, "name": use.name, "failure": failure}


def session_text(simulation: SimulationResult, machine: Machine) -> str:
    """Return the text of `play`: a line for each event and its handlers, then the failures."""
    width = layout.column_width((_scene_title(event) for event in simulation.events), 60)
    name_width = layout.column_width(
        (one_line(result.call.name) for event in simulation.events for result in event.run.results), 32
    )
    lines: list[str] = []
    for number, event in enumerate(simulation.events):
        lines += _failed_call_lines(simulation, number)
        lines += _scene_lines(event, width, name_width, machine)
    lines += [*_failed_call_lines(simulation, len(simulation.events)), "", *_ending_lines(simulation)]
    return "\n".join(line.rstrip() for line in lines)


def _scene_title(event: SessionEvent) -> str:
    indent = "    " if event.node else ""
    owner = f"  ({one_line(str(event.run.event.ctx['agent']['name']), 60)})" if event.node else ""
    return f"{indent}{event.position:>3}  {one_line(event.run.event.type)}{owner}"


def _scene_lines(event: SessionEvent, width: int, name_width: int, machine: Machine) -> Iterator[str]:
    run = event.run
    verdict = f"  {one_line(run.ending.verdict, 200)}" if run.ending.verdict else ""
    yield f"{layout.fit_to_width(_scene_title(event), width)}  {_event_data_text(event)}{verdict}"
    indent = "        " if event.node else "    "
    for result in run.results:
        failed_input = run_output.input_of_failed_handler(result, run.event, run.results)
        yield from (
            f"{indent}{line}" for line in run_output.result_lines(result, name_width, machine, failed_input)
        )
    for note in run.notes:
        yield f"{indent}  note: {one_line(note, 400)}"


def _event_data_text(event: SessionEvent) -> str:
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
    """Return a line for each model or tool that failed after `after` events. Answers are in the events."""
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
        hint = "; use `--reply TEXT` instead of a model" if simulation.failure.endswith(NO_MODEL_FILE) else ""
        yield f"  failed: {one_line(simulation.failure, 400)}{hint}"
    yield from (f"note: {one_line(note, 400)}" for note in simulation.notes)
    yield f"rule: {simulation.throw_effect}"


FIRST_MESSAGE = "hi"  # the message without arguments
PARAMETERS = (
    click.Argument(["messages"], metavar="[MESSAGE...]", nargs=-1),
    click.Option(
        ["--reply", "replies"], metavar="TEXT", multiple=True, help="A reply of the model. Repeatable."
    ),
    click.Option(["--script"], metavar="FILE", help="A YAML or JSON list of the model's replies."),
    timeout_option(),
    wait_option(),
    click.Option(["--trust"], is_flag=True, help="Also run code in untrusted folders, this time only."),
)


@answers.command("play", *PARAMETERS)
def play_command(
    options: Options,
    messages: Sequence[str],
    replies: Sequence[str],
    script: str | None,
    timeout: float | None,
    wait: float,
    trust: bool,
) -> Answer:
    """Simulate a session: send messages, and show every event with what its hooks did.

    The model is the scripted one of the project's agent, or the replies of --reply or --script. The number of
    tool results so far selects the reply; the last reply is repeated if needed. Tools and subagents are the
    project's own.
    """
    late: list[str] = []
    bench = answers.workbench_for(
        options,
        trust_all=trust,
        timeout=timeout,
        on_late=lambda who, what: late.append(f"{who}, after its result: {what}"),
        compare_shipped=False,
    )
    request = SessionRequest(
        tuple(messages) or (FIRST_MESSAGE,), secrets.token_hex(8), _read_script(replies, script)
    )
    result, report, folders = asyncio.run(_play_session(bench, request, late, wait))
    not_trusted = answers.untrusted_folder_warnings(topmost_targets(folders), bench.setup.machine)
    not_loaded = [f"{name} did not load; `hookscope load` shows why." for name in report.failed]
    return Answer(
        {
            "dialect": bench.dialect.name,
            "rule": result.throw_effect,
            "session": result.session,
            "rest": result.end,
            "failure": result.failure,
            "events": [_scene_document(event) for event in result.events],
            "uses": [_usage_document(use) for use in result.code_calls],
            "notes": list(result.notes),
        },
        session_text(result, bench.setup.machine),
        ok=not (not_trusted or report.failed) and is_success(result),
        notes=(*not_trusted, *not_loaded, *late),
    )


def is_success(result: SimulationResult) -> bool:
    """Return True if no hook and no turn has failed."""
    return not result.failed and result.failure is None and result.end == "waiting"


def _read_script(replies: Sequence[str], script: str | None) -> ReplyScript | None:
    """Return the model's replies. Raises Refusal if both options are given, or the file is not a script."""
    if replies and script is not None:
        raise Refusal("--reply and --script both set the model's replies.", "Use one of them.", code=2)
    if script is not None:
        return read_script(Path(script))
    return tuple(replies) or None


async def _play_session(
    bench: Workbench, request: SessionRequest, late: list[str], wait: float
) -> tuple[SimulationResult, LoadReport, Sequence[TrustTarget]]:
    """Simulate the session. Ctrl-C cancels it; the events so far are returned.

    Appends to `late` what handlers did after the session had ended.
    """
    try:
        engine, report = await session_engine(bench)
        folders = untrusted_folders(bench.scan())
        simulation = Simulation(engine, request)
        with cancel_on_interrupt(simulation.cancel):
            result = await simulation
        if result.end != "cancelled":
            late += await bench.wait_for_background_work(wait)
        refused = (
            untrusted_agent_folders(session_agents_of(engine.host), engine.host) if result.untrusted else ()
        )
        return result, report, (*folders, *refused)
    except OSError as error:
        raise Refusal(f"Cannot read the project's agents: {error}.", "No session was simulated.") from None
    finally:
        await bench.close()

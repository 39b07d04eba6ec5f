"""`hookscope play [MESSAGE...]`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.app.options import Options
from hookscope.app.trust_requests import topmost_targets, untrusted_folders
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import cancel_on_interrupt
from hookscope.cli.render import session_output
from hookscope.cli.shared_options import timeout_option, wait_option
from hookscope.engine.registry import LoadReport
from hookscope.model.refusal import Refusal
from hookscope.sessions.scripted_replies import ReplyScript, read_script
from hookscope.sessions.session_agents import session_agents_of, untrusted_agent_folders
from hookscope.sessions.session_engine import session_engine
from hookscope.sessions.session_runner import SessionRequest
from hookscope.sessions.simulation import Simulation, SimulationResult

if TYPE_CHECKING:
    from hookscope.model.trust import TrustTarget

FIRST_MESSAGE = "hi"  # the message without arguments
PARAMETERS = (
    click.Argument(["messages"], metavar="[MESSAGE...]", nargs=-1),
    click.Option(
        ["--reply", "replies"], metavar="TEXT", multiple=True, help="What the model says; repeat it."
    ),
    click.Option(["--script"], metavar="FILE", help="A YAML or JSON list of the model's replies."),
    timeout_option(),
    wait_option(),
    click.Option(["--trust"], is_flag=True, help="Run code of untrusted folders too, this once."),
)


@answers.command("play", *PARAMETERS)
def command(
    options: Options,
    messages: Sequence[str],
    replies: Sequence[str],
    script: str | None,
    timeout: float | None,
    wait: float,
    trust: bool,
) -> Answer:
    """Play a whole session: send messages, and see every event with what its hooks did.

    The model is the scripted one of the project's agent, or what --reply or --script say: the reply used is
    the one at the number of tool results so far, the last one after that. Tools and subagents are the
    project's own.
    """
    late: list[str] = []
    bench = answers.workbench_for(
        options,
        trust_all=trust,
        timeout=timeout,
        on_late=lambda who, what: late.append(f"{who}, after it had answered: {what}"),
        compare_shipped=False,
    )
    request = SessionRequest(
        tuple(messages) or (FIRST_MESSAGE,), secrets.token_hex(8), _read_script(replies, script)
    )
    result, report, folders = asyncio.run(_play_session(bench, request, late, wait))
    not_trusted = answers.untrusted_folder_warnings(topmost_targets(folders), bench.setup.machine)
    not_loaded = [f"{name} did not load; `hookscope load` says why." for name in report.failed]
    return Answer(
        session_output.session_document(result, bench.dialect.name),
        session_output.session_text(result, bench.setup.machine),
        ok=not (not_trusted or report.failed) and is_success(result),
        notes=(*not_trusted, *not_loaded, *late),
    )


def is_success(result: SimulationResult) -> bool:
    """Return True if no hook and no turn has failed."""
    return not result.failed and result.failure is None and result.end == "waiting"


def _read_script(replies: Sequence[str], script: str | None) -> ReplyScript | None:
    """Return the model's replies. Raises Refusal if both options are given, or the file is no script."""
    if replies and script is not None:
        raise Refusal("--reply and --script both say what the model answers.", "Give one of them.", code=2)
    if script is not None:
        return read_script(Path(script))
    return tuple(replies) or None


async def _play_session(
    bench: Workbench, request: SessionRequest, late: list[str], wait: float
) -> tuple[SimulationResult, LoadReport, Sequence[TrustTarget]]:
    """Simulate the session. Ctrl-C cancels it, and the events so far are still the answer.

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
        raise Refusal(f"Cannot read the project's agents: {error}.", "Nothing was played.") from None
    finally:
        await bench.close()

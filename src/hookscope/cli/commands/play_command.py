"""`hookscope play [MESSAGE...]`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.cli import answers, plays
from hookscope.cli.answers import Answer
from hookscope.cli.firing_options import timeout_option, wait_option
from hookscope.cli.interrupting import ended_by_interrupt
from hookscope.core.registry import LoadReport
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.cast import cast_of, untrusted_in
from hookscope.workbench.left_out import topmost, untrusted_folders
from hookscope.workbench.loads import staged
from hookscope.workbench.play import Played, Playing, Wanted
from hookscope.workbench.replies import Script, read_script

if TYPE_CHECKING:
    from hookscope.core.trust import TrustTarget

FIRST = "hi"  # what is said where nobody says anything
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
    bench = answers.bench_of(
        options,
        trust_all=trust,
        timeout=timeout,
        told_late=lambda who, what: late.append(f"{who}, after it had answered: {what}"),
        compares=False,
    )
    wanted = Wanted(tuple(messages) or (FIRST,), secrets.token_hex(8), _script(replies, script))
    played, report, folders = asyncio.run(_play(bench, wanted, late, wait))
    left = answers.not_trusted(topmost(folders), bench.setup.surroundings)
    not_loaded = [f"{name} did not load; `hookscope load` says why." for name in report.failed]
    return Answer(
        plays.document(played, bench.dialect.name),
        plays.text(played, bench.setup.surroundings),
        yes=not (left or report.failed) and went_well(played),
        aside=(*left, *not_loaded, *late),
    )


def went_well(played: Played) -> bool:
    """No hook has failed, and the last turn has not."""
    return not played.failed and played.failure is None and played.rest == "waiting"


def _script(replies: Sequence[str], script: str | None) -> Script | None:
    """Raises Refusal where both are given, or the file holds no script."""
    if replies and script is not None:
        raise Refusal("--reply and --script both say what the model answers.", "Give one of them.", code=2)
    if script is not None:
        return read_script(Path(script))
    return tuple(replies) or None


async def _play(
    bench: Workbench, wanted: Wanted, late: list[str], wait: float
) -> tuple[Played, LoadReport, Sequence[TrustTarget]]:
    """Ctrl-C cancels it, and what was played is still the answer. `late` gets what comes behind it."""
    try:
        engine, report = await staged(bench)
        folders = untrusted_folders(bench.look())
        playing = Playing(engine, wanted)
        with ended_by_interrupt(playing.cancel):
            played = await playing
        if played.rest != "cancelled":
            late += await bench.settled(wait)
        refused = untrusted_in(cast_of(engine.host), engine.host) if played.untrusted else ()
        return played, report, (*folders, *refused)
    except OSError as error:
        raise Refusal(f"Cannot read the project's agents: {error}.", "Nothing was played.") from None
    finally:
        await bench.close()

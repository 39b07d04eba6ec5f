"""`hookscope replay [RUN...]`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import click

from hookscope.cli import answers, documents, replay_tables, tables
from hookscope.cli.answers import Answer
from hookscope.core.runs import Plan
from hookscope.workbench import Options, PastRun, Refusal, Workbench
from hookscope.workbench.replay import Replayed, again, past_run

SECONDS = click.FloatRange(min=0, min_open=True)
PARAMETERS = (
    click.Argument(["numbers"], metavar="[RUN...]", nargs=-1, type=click.IntRange(min=1)),
    click.Option(["--only"], metavar="HOOK", help="Fire at this hook alone."),
    click.Option(["--dry"], is_flag=True, help="Say who would run, and run nothing."),
    click.Option(["--timeout"], type=SECONDS, metavar="S", help="Seconds for each handler; else 30."),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies; so is what ran on copies then."),
    click.Option(["--trust"], is_flag=True, help="Run handlers of untrusted folders too, this once."),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks of every run."""

    only: str | None
    sandbox: bool
    dry: bool


@answers.command("replay", *PARAMETERS)
def command(
    options: Options,
    numbers: Sequence[int],
    only: str | None,
    dry: bool,
    sandbox: bool,
    timeout: float | None,
    trust: bool,
) -> Answer:
    """Fire the event of an earlier run again, the last one's where none is named, and say what is different:
    handlers, order, messages, context, verdict. Handlers find which run it was in `replayed`. Exit 1 where
    anything is different."""
    bench = answers.bench_of(options, trust_all=trust, timeout=timeout)
    try:
        past = [past_run(bench, number) for number in numbers or (None,)]
    except OSError as error:
        raise Refusal(str(error)) from None
    asked = Asked(only, sandbox, dry)
    done = asyncio.run(_all(bench, past, asked))
    if dry:
        plans = [plan for plan in done if isinstance(plan, Plan)]
        return Answer([documents.plan(plan) for plan in plans], "\n\n".join(map(tables.plan, plans)))
    runs = [one for one in done if isinstance(one, Replayed)]
    aside = tuple(dict.fromkeys(sentence for one in runs for sentence in one.left))
    return Answer(
        [replay_tables.document(one, bench.dialect.name) for one in runs],
        "\n\n".join(map(replay_tables.text, runs)),
        yes=all(one.same for one in runs),
        aside=aside,
    )


async def _all(bench: Workbench, past: Sequence[PastRun], asked: Asked) -> list[Replayed | Plan]:
    try:
        return [
            await again(bench, one, only=asked.only, sandbox=asked.sandbox, dry=asked.dry) for one in past
        ]
    except OSError as error:
        raise Refusal(f"Cannot make copies for the sandbox: {error}.", "Nothing more was fired.") from None
    finally:
        await bench.close()

"""`hookscope replay [RUN...]`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import click

from hookscope.cli import answers, replay_tables
from hookscope.cli.answers import Answer
from hookscope.cli.dry import only_planned
from hookscope.cli.filters import filter_options, wanted_of
from hookscope.cli.firing_options import only_option, timeout_option, trust_option, wait_option
from hookscope.cli.interrupting import Running, fired_in_turn
from hookscope.cli.numbers import Whole
from hookscope.core.runs import Plan
from hookscope.values import dataclass
from hookscope.workbench import Options, PastRun, Refusal, Workbench
from hookscope.workbench.replay import Replayed, again, past_runs

PARAMETERS = (
    click.Argument(["numbers"], metavar="[RUN...]", nargs=-1, type=Whole(min=1)),
    click.Option(["--last"], type=Whole(1, 10_000), metavar="N", help="The last N runs; else one."),
    click.Option(["--all", "every"], is_flag=True, help="All runs, or all of those below."),
    *filter_options(),
    only_option(),
    click.Option(
        ["--from", "start"], metavar="K|HOOK", help="Fire from its handler K on, with the event as it was."
    ),
    click.Option(["--dry"], is_flag=True, help="Say who would run, and run nothing."),
    timeout_option(),
    wait_option(),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies; so is what ran on copies then."),
    trust_option(),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the command line asks of every run."""

    only: str | None
    start: str | None
    sandbox: bool
    dry: bool


@answers.command("replay", *PARAMETERS)
def command(
    options: Options,
    numbers: Sequence[int],
    last: int | None,
    every: bool,
    only: str | None,
    start: str | None,
    dry: bool,
    sandbox: bool,
    timeout: float | None,
    wait: float,
    trust: bool,
    **given: Any,
) -> Answer:
    """Fire the event of an earlier run again, the last one's where none is named, and say what is different:
    handlers, order, messages, context, verdict. Handlers find which run it was in `replayed`. Exit 1 where
    anything is different.

    The last ones are those that were no replays themselves, so that each is compared with what was first.
    Where a window or an event is asked for (--since, --event, …) all of those are fired again.

    With --from the handlers before that one are not fired: what they changed is laid on the event as it was
    recorded.
    """
    if start is not None and only is not None:
        raise Refusal("--from and --only leave out different handlers.", "Choose one of them.", code=2)
    asked_for = [name for name, value in given.items() if value and name != "failed"]
    if numbers and (every or last or asked_for or given["failed"]):
        raise Refusal("Runs are named by number, or looked for.", "Leave out one of them.", code=2)
    wide = last is None and (every or bool(asked_for))
    bench = answers.bench_of(options, trust_all=trust, timeout=timeout, lingers=wait, compares=False)
    try:
        past = past_runs(bench, numbers, wanted_of(given), None if wide else last or 1)
    except OSError as error:
        raise Refusal(str(error)) from None
    asked = Asked(only, start, sandbox, dry)
    done, refused = asyncio.run(_all(bench, past, asked))
    if dry:
        return only_planned([plan for plan in done if isinstance(plan, Plan)], refused)
    runs = [one for one in done if isinstance(one, Replayed)]
    left = dict.fromkeys(sentence for one in runs for sentence in one.left)
    return Answer(
        [replay_tables.document(one, bench.dialect.name) for one in runs],
        "\n\n".join(map(replay_tables.text, runs)),
        yes=all(one.same for one in runs) and not refused,
        aside=(*left, *refused),
    )


async def _all(
    bench: Workbench, past: Sequence[PastRun], asked: Asked
) -> tuple[list[Replayed | Plan], list[str]]:
    def fire(one: PastRun, told: Callable[[Running], object]) -> Awaitable[Replayed | Plan]:
        start, sandbox = asked.start, asked.sandbox
        return again(bench, one, only=asked.only, start=start, sandbox=sandbox, dry=asked.dry, told=told)

    return await fired_in_turn(bench, past, fire, lambda one: f"Run {one.id}")

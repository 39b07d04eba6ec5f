"""`hookscope tap fire [ID...]`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import click

from hookscope.cli import answers, run_tables
from hookscope.cli.answers import Answer
from hookscope.cli.dry import only_planned
from hookscope.cli.firing_options import only_option, timeout_option, trust_option
from hookscope.cli.interrupting import Running, fired_in_turn
from hookscope.cli.numbers import Whole
from hookscope.cli.tap import shown
from hookscope.core.runs import Plan
from hookscope.workbench import Options, Workbench
from hookscope.workbench.tap.events import picked
from hookscope.workbench.tap.firing import Fired, fire_real
from hookscope.workbench.tap.spool import Heard


@answers.command(
    "fire",
    click.Argument(["names"], metavar="[ID...]", nargs=-1),
    click.Option(["--last"], type=Whole(1, 1_000), metavar="N", default=1, help="The last N; else one."),
    only_option(),
    click.Option(["--dry"], is_flag=True, help="Say who would run, and run nothing."),
    timeout_option(),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies, and show what they did to them."),
    trust_option(),
)
def command(
    options: Options,
    names: Sequence[str],
    last: int,
    only: str | None,
    dry: bool,
    timeout: float | None,
    sandbox: bool,
    trust: bool,
) -> Answer:
    """Fire real events again, the newest where none is named, and see what each handler does. Handlers find
    which event it was in `replayed`. Ids are those of `tap events`; four characters will do.
    """
    bench = answers.bench_of(options, trust_all=trust, timeout=timeout, compares=False)
    try:
        events = picked(bench.look(), names, last)
    except OSError as error:
        raise shown.unreadable(error) from None
    done, refused = asyncio.run(_all(bench, events, only, sandbox, dry))
    if dry:
        return only_planned([plan for plan in done if isinstance(plan, Plan)], refused)
    runs = [one for one in done if isinstance(one, Fired)]
    left = dict.fromkeys(sentence for one in runs for sentence in one.left)
    return Answer(
        [shown.fired_document(one, bench.dialect.name) for one in runs],
        "\n\n".join(
            f"{shown.was(one.heard)}\n{run_tables.run(one.run, bench.setup.surroundings, one.plan)}"
            for one in runs
        ),
        yes=all(one.well for one in runs) and not refused,
        aside=(*left, *refused),
    )


async def _all(
    bench: Workbench, events: Sequence[Heard], only: str | None, sandbox: bool, dry: bool
) -> tuple[list[Fired | Plan], list[str]]:
    def fire(heard: Heard, told: Callable[[Running], object]) -> Awaitable[Fired | Plan]:
        return fire_real(bench, heard, only=only, sandbox=sandbox, dry=dry, told=told)

    return await fired_in_turn(bench, events, fire, shown.short)

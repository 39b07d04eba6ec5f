"""`hookscope pin RUN...`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import click

from hookscope.app.options import Options
from hookscope.app.runs.past_runs import NEXT_STEP
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.options import WholeNumber
from hookscope.model.failure import Refusal

PARAMETERS = (
    click.Argument(
        ["numbers"], metavar="RUN...", nargs=-1, required=True, type=WholeNumber(1, 2**62)
    ),
    click.Option(["--off"], is_flag=True, help="Unpin the runs."),
)  # fmt: skip


@answers.command("pin", *PARAMETERS)
def command(options: Options, numbers: Sequence[int], off: bool) -> Answer:
    """Pin runs, so that they are never deleted to make room.

    `hookscope log` shows the numbers; with --pinned, only pinned runs. Exit code 1: a run does not exist.
    """
    bench = answers.workbench_for(options)
    journal = bench.run_record.journal(bench.open())
    distinct = tuple(dict.fromkeys(numbers))
    try:
        changed = asyncio.run(journal.pin(distinct, on=not off))
    except OSError as error:
        raise Refusal(str(error)) from None
    finally:
        bench.close_now()
    missing = [number for number in distinct if number not in changed]
    outcome = "no longer pinned" if off else "pinned"
    return Answer(
        {"pinned": not off, "runs": sorted(changed), "missing": missing},
        "\n".join(f"Run {number} is {outcome}." for number in sorted(changed)),
        ok=not missing,
        notes=tuple(f"There is no run {number} in this workspace. {NEXT_STEP}" for number in missing),
    )

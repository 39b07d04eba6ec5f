"""`hookscope tap remove`."""

from __future__ import annotations

import os

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.tap import shown
from hookscope.workbench import Options
from hookscope.workbench.tap.installing import carry_out, drop_spool, removing
from hookscope.workbench.tap.record import NAME


@answers.command(
    "remove",
    click.Option(["--events"], is_flag=True, help="Also remove what was recorded."),
    click.Option(["--dry-run"], is_flag=True, help="Show what would be removed, and remove nothing."),
)
def command(options: Options, events: bool, dry_run: bool) -> Answer:
    """Take the tap away: what `tap install` has written, and the folders that it made.

    What was recorded stays, unless --events is given. Refused where a file of it was changed since.
    """
    bench = answers.bench_of(options)
    host = bench.open()
    plan = removing(host)
    if not dry_run:
        carry_out(plan)
        if events:
            drop_spool(plan.spool)
        for done in plan.notes:
            bench.edits.note(NAME, done)
        bench.close_now()
    kept = os.path.isdir(plan.spool) and not events
    return Answer(
        {**shown.writing(plan, written=not dry_run), "events_kept": kept},
        shown.removed(plan, host, dry_run=dry_run, kept=kept),
    )

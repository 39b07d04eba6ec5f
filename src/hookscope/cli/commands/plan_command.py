"""`hookscope plan KEY`."""

import click

from hookscope.cli import answers, plan_tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options, run_documents


@answers.command("plan", click.Argument(["key"]))
def command(options: Options, key: str) -> Answer:
    """Who would run for an event such as command:new, in order, and who not. Runs nothing."""
    bench = answers.bench_of(options)
    view = bench.look()
    plan = bench.plan(view, bench.template(view, key))
    aside = answers.unread_settings(view.host)
    return Answer(run_documents.plan(plan), plan_tables.plan(plan, view), aside=aside)

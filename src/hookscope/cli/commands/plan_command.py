"""`hookscope plan KEY`."""

import click

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render import run_output


@answers.command("plan", click.Argument(["key"]))
def plan_command(options: Options, key: str) -> Answer:
    """Show which handlers would run for an event such as command:new, in order. Runs nothing."""
    bench = answers.workbench_for(options)
    view = bench.scan()
    plan = bench.plan(view, bench.template(view, key))
    notes = answers.unreadable_settings_warnings(view.host)
    return Answer(json_documents.plan_document(plan), run_output.plan_text(plan, view), notes=notes)

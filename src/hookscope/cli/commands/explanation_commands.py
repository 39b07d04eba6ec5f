"""`hookscope why NAME [EVENT]` and `hookscope plan KEY`: which hooks an event calls, and why not others."""

import click

from hookscope.analysis.why_chain import MOST_CHAINS, why_chains, why_chains_document
from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render import run_output
from hookscope.cli.render.hook_output import why_chains_text
from hookscope.model.failure import Refusal
from hookscope.model.text import one_line


@answers.command("why", click.Argument(["name"]), click.Argument(["event"], required=False))
def why_command(options: Options, name: str, event: str | None) -> Answer:
    """Show why a hook does not run: one sentence, and each step from its file to the user.

    Failed steps are marked, and the first one names the command that fixes it. Without EVENT: for each event
    that the hook subscribes to. Runs nothing. Exit code 0: it would run on at least one event.
    """
    bench = answers.workbench_for(options)
    view = bench.scan()
    rejected = (item for item in view.inventory.rejected if name in (item.name, item.path.name))
    row = view.inventory.find(name) or next(rejected, None) or bench.hook(view, name)
    try:
        chains = why_chains(bench, view, row, event)
    except OSError as error:  # the journal cannot be read
        raise Refusal(str(error), f"`hookscope info {one_line(name)}` shows every check.") from None
    more = len(getattr(row, "events", None) or ()) - MOST_CHAINS if event is None else 0
    omitted = (f"{more:,} more events are omitted: `why NAME EVENT` shows one.",) if more > 0 else ()
    return Answer(
        why_chains_document(chains),
        lambda: why_chains_text(chains),
        ok=any(chain.would_run for chain in chains),
        notes=(*answers.unreadable_settings_warnings(view.host), *omitted),
    )


@answers.command("plan", click.Argument(["key"]))
def plan_command(options: Options, key: str) -> Answer:
    """Show which handlers would run for an event such as command:new, in order. Runs nothing."""
    bench = answers.workbench_for(options)
    view = bench.scan()
    plan = bench.plan(view, bench.template(view, key))
    notes = answers.unreadable_settings_warnings(view.host)
    return Answer(json_documents.plan_document(plan), run_output.plan_text(plan, view), notes=notes)

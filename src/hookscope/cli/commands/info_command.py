"""`hookscope info NAME`."""

from dataclasses import replace

import click

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.cli import answers, host_format
from hookscope.cli.answers import Answer
from hookscope.cli.render import hook_output


@answers.command(
    "info",
    click.Argument(["name"]),
    click.Option(["--places"], is_flag=True, help="List the places searched for each missing requirement."),
    host_format.format_option(),
)
def command(options: Options, name: str, places: bool, shape: str) -> Answer:
    """Show one hook, by name or settings key: every check, its history (loaded, registered, last event, last
    run), which copy takes precedence, and its metadata.
    """
    if host_format.is_host_format(shape):
        return host_format.host_info(options, name)
    bench = answers.workbench_for(options)
    view = bench.scan()
    row = bench.hook(view, name)
    from hookscope.app.runs.activation_chain import (
        activation_chain,  # it imports the database
        chain_problem,
        gates_with_links,
    )

    notes = answers.unreadable_settings_warnings(view.host)
    try:
        links = activation_chain(bench, view, row)
    except OSError as error:
        links, notes = (), (*notes, f"The hook's history is unknown: {error}.")
    verdict = replace(row.verdict, gates=gates_with_links(row.verdict.gates, links))
    shown = replace(row, verdict=verdict)
    document = {
        **json_documents.hook_document(shown, view),
        **json_documents.declared_document(row.hook),
        "chain": [json_documents.link_document(link) for link in links],
        "limits": json_documents.limits_document(view.limits_of(row.hook)),
    }
    return Answer(
        document,
        hook_output.hook_info_text(view, shown, links, chain_problem(links), places=places),
        notes=notes,
    )

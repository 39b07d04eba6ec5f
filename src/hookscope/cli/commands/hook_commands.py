"""`hookscope list`, `info` and `check`."""

from dataclasses import replace
from functools import partial

import click

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import untrusted_program_messages
from hookscope.cli import answers, host_format
from hookscope.cli.answers import Answer
from hookscope.model.hook_status import Inventory


@answers.command("list", *host_format.host_list_options())
def list_command(options: Options, shape: str, eligible: bool, verbose: bool) -> Answer:
    """List all hooks, and why some would not run."""
    if host_format.is_host_format(shape):
        return host_format.host_list(options, eligible, verbose)
    view = answers.workbench_for(options).scan()
    inventory = view.inventory
    if eligible:
        view = only_eligible(view)
    text = partial(_list_text, view, verbose, inventory)
    return Answer(
        json_documents.inventory_document(view, inventory), text, notes=untrusted_program_messages(view)
    )


def _list_text(view: Snapshot, verbose: bool, inventory: Inventory) -> str:
    from hookscope.cli.render import hook_output  # JSON needs no tables

    return hook_output.hook_list_text(view, verbose=verbose, full_inventory=inventory)


def only_eligible(view: Snapshot) -> Snapshot:
    """Return the snapshot without rejected hooks, and without hooks whose requirements are not met."""
    hooks = tuple(row for row in view.inventory.hooks if row.verdict.eligible)
    return replace(view, inventory=replace(view.inventory, hooks=hooks, rejected=()))


@answers.command(
    "info",
    click.Argument(["name"]),
    click.Option(["--places"], is_flag=True, help="List the places searched for each missing requirement."),
    host_format.format_option(),
)
def info_command(options: Options, name: str, places: bool, shape: str) -> Answer:
    """Show one hook, by name or settings key: every check, its history (loaded, registered, last event, last
    run), which copy takes precedence, and its metadata.
    """
    if host_format.is_host_format(shape):
        return host_format.host_info(options, name)
    bench = answers.workbench_for(options)
    view = bench.scan()
    row = bench.hook(view, name)
    # it imports the database
    from hookscope.app.runs.activation_chain import activation_chain, chain_problem, gates_with_links
    from hookscope.cli.render import hook_output

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


@answers.command("check", *host_format.host_list_options())
def check_command(options: Options, shape: str, eligible: bool, verbose: bool) -> Answer:
    """Count the hooks that are ready, and show what stops the others."""
    if host_format.is_host_format(shape, eligible=eligible):
        return host_format.host_check(options, verbose)
    view = answers.workbench_for(options).scan()
    from hookscope.cli.render import hook_output

    text = hook_output.check_text(view, verbose=verbose)
    return Answer(json_documents.check_document(view), text, notes=untrusted_program_messages(view))

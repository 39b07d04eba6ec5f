"""`hookscope list`."""

from dataclasses import replace
from functools import partial

from hookscope.app import json_documents
from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import untrusted_program_messages
from hookscope.cli import answers, host_format
from hookscope.cli.answers import Answer
from hookscope.model.hook_status import Inventory


@answers.command("list", *host_format.host_list_options())
def command(options: Options, shape: str, eligible: bool, verbose: bool) -> Answer:
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
    """Return the snapshot without rejected hooks and hooks whose requirements are not met."""
    hooks = tuple(row for row in view.inventory.hooks if row.verdict.eligible)
    return replace(view, inventory=replace(view.inventory, hooks=hooks, rejected=()))

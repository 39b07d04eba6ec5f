"""`hookscope list`."""

from dataclasses import replace
from functools import partial

from hookscope.cli import answers, host_format
from hookscope.cli.answers import Answer
from hookscope.core.inventory import Inventory
from hookscope.workbench import Options, View, documents
from hookscope.workbench.left_out import not_trusted_programs


@answers.command("list", *host_format.asked_options())
def command(options: Options, shape: str, eligible: bool, verbose: bool) -> Answer:
    """What hooks there are, and why some would not run."""
    if host_format.is_host(shape):
        return host_format.listed(options, eligible, verbose)
    view = answers.bench_of(options).look()
    found = view.inventory
    if eligible:
        view = only_eligible(view)
    told = partial(_in_words, view, verbose, found)
    return Answer(documents.inventory(view, found), told, aside=not_trusted_programs(view))


def _in_words(view: View, verbose: bool, found: Inventory) -> str:
    from hookscope.cli import tables  # here: JSON sets no tables

    return tables.inventory(view, verbose=verbose, found=found)


def only_eligible(view: View) -> View:
    """The same look, without the hooks whose requirements are not met and without what is none."""
    hooks = tuple(row for row in view.inventory.hooks if row.verdict.eligible)
    return replace(view, inventory=replace(view.inventory, hooks=hooks, rejected=()))

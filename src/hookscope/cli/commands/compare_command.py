"""`hookscope compare [NAME...]`."""

from __future__ import annotations

from collections.abc import Sequence

import click

from hookscope.cli import answers, compare_tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options, Refusal
from hookscope.workbench.hosts import chosen_dialects, compared, only, usual_dialects

PARAMETERS = (
    click.Argument(["names"], metavar="[NAME...]", nargs=-1),
    click.Option(["--dialects"], metavar="A,B,...", help="These dialects, in this order."),
    click.Option(["--shipped"], is_flag=True, help="The programs as they ship, not their guides."),
    click.Option(["--different"], is_flag=True, help="Only hooks that the hosts treat differently."),
)


@answers.command("compare", *PARAMETERS)
def command(
    options: Options, names: Sequence[str], dialects: str | None, shipped: bool, different: bool
) -> Answer:
    """The same hooks under the rules of several hosts, side by side: who finds them, reads their metadata,
    calls them, in which order; what differs, and what to change so that every host calls them. Runs nothing.

    Without --dialects: the guides of all hosts with HOOK.md folders; in place of one guide the dialect in
    force, where that is its program. All get the same workspace, each its own settings and managed hooks.
    Trust is left out. Exit 1 where something differs.
    """
    if dialects is not None and shipped:
        raise Refusal("--dialects and --shipped both say which hosts.", "Give one of them.", code=2)
    bench = answers.bench_of(options)
    chosen = chosen_dialects(dialects) if dialects is not None else usual_dialects(bench, shipped=shipped)
    found = compared(bench, chosen)
    if names:
        found = only(found, names)
    return Answer(
        compare_tables.document(found, different=different),
        compare_tables.text(found, different=different),
        yes=not found.differing,
    )

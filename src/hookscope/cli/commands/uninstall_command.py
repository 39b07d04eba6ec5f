"""`hookscope uninstall ID`."""

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.packs import asking
from hookscope.cli.packs.asking import How
from hookscope.workbench import Options


@answers.command("uninstall", click.Argument(["id"]), asking.yes_option(), asking.dry_run_option())
def command(options: Options, id: str, yes: bool, dry_run: bool, as_json: bool) -> Answer:  # noqa: A002
    """Take back exactly what an install did: its folders, and its edits of the settings.

    Where the settings have changed since, its edits alone are taken back. Files that were changed or added
    since are kept aside, and it says where.
    """
    bench, desk = asking.desk_of(options, writes=not dry_run)
    planned = desk.plan_uninstall(id)
    return asking.carried_out(bench, desk, planned, How(yes, dry_run, as_json))

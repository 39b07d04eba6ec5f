"""`hookscope uninstall ID`."""

import click

from hookscope.app.options import Options
from hookscope.cli import answers, pack_operations
from hookscope.cli.answers import Answer
from hookscope.cli.pack_operations import ConfirmationOptions


@answers.command(
    "uninstall", click.Argument(["id"]), pack_operations.yes_option(), pack_operations.dry_run_option()
)
def command(options: Options, id: str, yes: bool, dry_run: bool, as_json: bool) -> Answer:  # noqa: A002
    """Revert exactly what an install did: its folders, and its edits of the settings.

    If the settings have changed since, only the pack's edits are reverted. Files that were changed or added
    since are kept aside, and the answer says where.
    """
    bench, manager = pack_operations.open_pack_manager(options, writes=not dry_run)
    plan = manager.plan_uninstall(id)
    return pack_operations.confirm_and_apply(bench, manager, plan, ConfirmationOptions(yes, dry_run, as_json))

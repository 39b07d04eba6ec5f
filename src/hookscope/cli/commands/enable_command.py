"""`hookscope enable NAME`."""

import click

from hookscope.cli import answers, toggling
from hookscope.cli.answers import Answer
from hookscope.workbench import Options


@answers.command(
    "enable",
    click.Argument(["name"]),
    click.Option(["--dry-run"], is_flag=True, help="Show the edit and write nothing."),
)
def command(options: Options, name: str, dry_run: bool) -> Answer:
    """Switch a hook on in the host's settings, as its own command does; prints the edit."""
    return toggling.switched(options, name, True, dry_run)

"""`hookscope disable NAME`."""

import click

from hookscope.cli import answers, host_format, toggling
from hookscope.cli.answers import Answer
from hookscope.workbench import Options


@answers.command(
    "disable",
    click.Argument(["name"]),
    click.Option(["--dry-run"], is_flag=True, help="Show the edit and write nothing."),
    host_format.format_option(),
)
def command(options: Options, name: str, dry_run: bool, shape: str) -> Answer:
    """Switch a hook off in the host's settings, as its own command does; prints the edit."""
    if host_format.is_host(shape):
        return host_format.switched(options, name, False, dry_run)
    return toggling.switched(options, name, False, dry_run)

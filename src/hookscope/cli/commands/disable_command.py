"""`hookscope disable NAME`."""

import click

from hookscope.app.options import Options
from hookscope.cli import answers, hook_toggle, host_format
from hookscope.cli.answers import Answer


@answers.command(
    "disable",
    click.Argument(["name"]),
    click.Option(["--dry-run"], is_flag=True, help="Show the edit and write nothing."),
    host_format.format_option(),
)
def command(options: Options, name: str, dry_run: bool, shape: str, as_json: bool) -> Answer:
    """Switch a hook off in the host's settings, as the host's own command does; print the edit."""
    if host_format.is_host_format(shape):
        return host_format.host_toggle(options, name, False, dry_run, as_json)
    return hook_toggle.toggle_hook(options, name, False, dry_run)

"""`hookscope completion`."""

import json
import os
from pathlib import PurePath

import click

from hookscope.cli.completion_shells import SETUP_LINES, SHELLS, completion_script
from hookscope.cli.lazy_group import ExampledCommand


@click.command("completion", cls=ExampledCommand)
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def command(shell: str | None, as_json: bool) -> int:
    """Print the script that completes commands, hooks, events, dialects, packs, runs and saved events.

    Without a name, it is for the shell in SHELL. Candidates are looked up at each Tab; no hook is run.
    """
    shell = shell or PurePath(os.environ.get("SHELL", "")).name
    if shell not in SHELLS:
        raise click.UsageError(f"Name the shell, one of {', '.join(SHELLS)}: `{SETUP_LINES['bash']}`.")
    script = completion_script(shell)
    document = {"shell": shell, "read_by": SETUP_LINES[shell], "script": script}
    click.echo(json.dumps(document, indent=2) if as_json else script.rstrip())
    return 0

"""`hookscope undo`."""

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.core.text import printable
from hookscope.workbench import Options, Refusal


@answers.command("undo", click.Option(["--dry-run"], is_flag=True, help="Show the edit and write nothing."))
def command(options: Options, dry_run: bool) -> Answer:
    """Take back the last change that Hookscope made to a settings file; prints the edit."""
    bench = answers.bench_of(options)
    change = bench.last_change() if dry_run else bench.undo()
    bench.close_now()
    if change is None:
        raise Refusal("There is nothing to undo.", "Only what Hookscope itself changed can be taken back.")
    back = change.undo()
    document = {
        "file": str(back.path),
        "meaning": back.meaning,
        "written": not dry_run,
        "diff": back.preview(),
    }
    return Answer(document, printable(back.preview()).rstrip())

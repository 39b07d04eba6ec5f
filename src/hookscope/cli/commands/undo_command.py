"""`hookscope undo`."""

import click

from hookscope.cli import answers, diffs
from hookscope.cli.answers import Answer
from hookscope.core.text import one_line
from hookscope.workbench import Options, Refusal


@answers.command(
    "undo",
    click.Option(["--dry-run"], is_flag=True, help="Show the edit and write nothing."),
    click.Option(
        ["--keep-later"],
        is_flag=True,
        help="Where the file has changed since: take back this edit alone and keep what came later.",
    ),
)
def command(options: Options, dry_run: bool, keep_later: bool) -> Answer:
    """Take back the last change that Hookscope made to your files; prints the edit.

    That is the settings, a HOOK.md, or all that one `new` has written.
    """
    bench = answers.bench_of(options)
    undoing = bench.edits.undoing(asked_only=dry_run)
    back = undoing.back
    if not dry_run:
        if undoing.alone and not keep_later:
            raise Refusal(
                f"{back.path} has changed since that edit; nothing was written.",
                "`hookscope undo --keep-later` takes back the edit alone; --dry-run shows it.",
            )
        bench.edits.undo(undoing)
        bench.close_now()
    document = {
        "file": str(back.path),
        "meaning": back.meaning,
        "written": not dry_run,
        "alone": undoing.alone,
        "diff": back.preview(),
    }
    said = "Would be taken back" if dry_run else "Taken back"
    lines = [
        *diffs.lines(back, bench.setup.surroundings),
        f"{said}: {one_line(undoing.change.meaning)}.",
    ]
    return Answer(document, "\n".join(lines))

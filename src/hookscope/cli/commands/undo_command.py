"""`hookscope undo`."""

from collections.abc import Iterable
from pathlib import Path

import click

from hookscope.cli import answers, diffs
from hookscope.cli.answers import Answer
from hookscope.core.text import one_line
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.shown import preview_of
from hookscope.workbench.toggle import passed_over


@answers.command(
    "undo",
    click.Option(["--dry-run"], is_flag=True, help="Show the edit and write nothing."),
    click.Option(
        ["--keep-later"],
        is_flag=True,
        help="Where the file has changed since: take back this edit alone and keep what came later.",
    ),
    click.Option(
        ["--forget"],
        is_flag=True,
        help="Give the last edit up: its files stay as they are, and the one before it is next.",
    ),
)
def command(options: Options, dry_run: bool, keep_later: bool, forget: bool) -> Answer:
    """Take back the last change that Hookscope made to your files; prints the edit.

    That is the settings, a HOOK.md, or all that one `new` has written. What cannot be taken back stays the
    next one, until it can be, or --forget gives it up.
    """
    bench = answers.bench_of(options)
    if forget:
        if keep_later:
            raise Refusal("--forget takes nothing back, so it has no --keep-later.", "Take one.", code=2)
        return _given_up(bench, dry_run)
    undoing = bench.edits.undoing()
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
        "diff": preview_of(back),
        **_document(False, undoing.unreadable),
    }
    said = "Would be taken back" if dry_run else "Taken back"
    lines = [
        *diffs.lines(back, bench.setup.surroundings),
        f"{said}: {one_line(undoing.change.meaning)}.",
    ]
    return Answer(document, "\n".join(lines), aside=undoing.passed_over)


def _given_up(bench: Workbench, dry_run: bool) -> Answer:
    """Forget the last edit; its files stay as they are."""
    change, unreadable = bench.edits.last()
    if not dry_run:
        bench.edits.forget(change)
    document = {
        "file": str(change.path),
        "meaning": change.meaning,
        "written": False,
        "alone": False,
        "diff": "",
        **_document(not dry_run, unreadable),
    }
    said = "Would be forgotten" if dry_run else "Forgotten"
    text = f"{said}: {one_line(change.meaning)}. Its files stay as they are."
    return Answer(document, text, aside=passed_over(unreadable))


def _document(forgotten: bool, unreadable: Iterable[Path]) -> dict[str, object]:
    return {"forgotten": forgotten, "unreadable": [str(file) for file in unreadable]}

"""`hookscope undo`."""

from collections.abc import Iterable
from pathlib import Path

import click

from hookscope.app.edits import unreadable_edits_text
from hookscope.app.options import Options
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render import change_output
from hookscope.model.failure import Refusal
from hookscope.model.text import one_line
from hookscope.storage.edits.masked_preview import masked_preview


@answers.command(
    "undo",
    click.Option(["--dry-run"], is_flag=True, help="Show the edit and write nothing."),
    click.Option(
        ["--keep-later"],
        is_flag=True,
        help="If the file has changed since: undo only this edit, and keep later changes.",
    ),
    click.Option(
        ["--forget"],
        is_flag=True,
        help="Forget the last edit without changing its files. The next undo reverts the edit before it.",
    ),
)
def undo_command(options: Options, dry_run: bool, keep_later: bool, forget: bool) -> Answer:
    """Undo the last change that Hookscope made to your files; print the edit.

    A change is an edit of the settings or a HOOK.md, or everything that one `new` wrote. A change that cannot
    be undone blocks the older ones, until it can be undone or --forget discards it.
    """
    bench = answers.workbench_for(options)
    if forget:
        if keep_later:
            raise Refusal("--forget undoes nothing, so it has no --keep-later.", "Use one.", code=2)
        return _forget_edit(bench, dry_run)
    undoing = bench.edits.pending_undo()
    reverse = undoing.inverse
    if not dry_run:
        if undoing.file_changed and not keep_later:
            raise Refusal(
                f"{reverse.path} has changed since that edit; nothing was written.",
                "`hookscope undo --keep-later` undoes only that edit; --dry-run shows it.",
            )
        bench.edits.undo(undoing)
        bench.close_now()
    document = {
        "file": str(reverse.path),
        "meaning": reverse.meaning,
        "written": not dry_run,
        "alone": undoing.file_changed,
        "diff": masked_preview(reverse),
        **_undo_document(False, undoing.unreadable),
    }
    verb = "Would be undone" if dry_run else "Undone"
    lines = [
        *change_output.diff_lines(reverse, bench.setup.machine),
        f"{verb}: {one_line(undoing.change.meaning)}.",
    ]
    return Answer(document, "\n".join(lines), notes=undoing.skipped_messages)


def _forget_edit(bench: Workbench, dry_run: bool) -> Answer:
    """Forget the last edit; its files stay as they are."""
    change, unreadable = bench.edits.newest()
    if not dry_run:
        bench.edits.forget(change)
    document = {
        "file": str(change.path),
        "meaning": change.meaning,
        "written": False,
        "alone": False,
        "diff": "",
        **_undo_document(not dry_run, unreadable),
    }
    verb = "Would be forgotten" if dry_run else "Forgotten"
    text = f"{verb}: {one_line(change.meaning)}. Its files are unchanged."
    return Answer(document, text, notes=unreadable_edits_text(unreadable))


def _undo_document(forgotten: bool, unreadable: Iterable[Path]) -> dict[str, object]:
    return {"forgotten": forgotten, "unreadable": [str(file) for file in unreadable]}

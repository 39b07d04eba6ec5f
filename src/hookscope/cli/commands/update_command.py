"""`hookscope update ID`, `hookscope update --all`."""

import click

from hookscope.app.options import Options
from hookscope.app.pack_manager import PackManager
from hookscope.app.workbench import Workbench
from hookscope.cli import answers, pack_operations
from hookscope.cli.answers import Answer
from hookscope.cli.host_format import format_option, is_host_format
from hookscope.cli.pack_operations import ConfirmationOptions, confirm_and_apply
from hookscope.cli.render import pack_output
from hookscope.model.refusal import Refusal
from hookscope.model.text import printable
from hookscope.packs.plan import PackUpToDate


@answers.command(
    "update",
    click.Argument(["ids"], nargs=-1, metavar="[ID]..."),
    click.Option(["--all", "everything"], is_flag=True, help="Every pack that is installed here."),
    click.Option(["--force"], is_flag=True, help="Put it in place again even if there is nothing newer."),
    pack_operations.accept_changed_option(),
    pack_operations.yes_option(),
    pack_operations.dry_run_option(),
    pack_operations.diff_option(),
    format_option(),
)
def command(
    options: Options,
    ids: tuple[str, ...],
    everything: bool,
    force: bool,
    accept_changed: bool,
    yes: bool,
    dry_run: bool,
    diff: bool,
    shape: str,
    as_json: bool,
) -> Answer:
    """Fetch packs again from where they came, and put in place what is newer.

    Where a registry gives other bytes for the same version, or files have changed on disk since, nothing is
    written without --accept-changed, which keeps copies of such files. Exit code 1: one of them could not be
    updated.
    """
    if is_host_format(shape):
        return pack_operations.update_in_host_format(
            options, ids, everything=everything, dry_run=dry_run, accept_changed=accept_changed
        )
    if bool(ids) == everything:
        raise click.UsageError("Name the packs to update, or --all.")
    bench, desk = pack_operations.open_pack_desk(options, writes=not dry_run)
    for name in ids:
        desk.record(name)
    how = ConfirmationOptions(yes, dry_run, as_json, diff, accept_changed)
    found = [_update_pack(bench, desk, name, how, force=force) for name in (ids or tuple(desk.installed()))]
    texts = [text for one in found if (text := one.in_words())] if found else ["No pack is installed here."]
    aside = tuple(sentence for one in found for sentence in one.aside)
    if everything and (theirs := [one.id for one in desk.of_host()]):
        aside += (
            printable(f"Left to {bench.open().dialect.product}, which installed it: {', '.join(theirs)}."),
        )
    document = {"updates": [one.document for one in found]}
    return Answer(document, "\n\n".join(texts), yes=all(one.yes for one in found), aside=aside)


def _update_pack(
    bench: Workbench, desk: PackManager, name: str, how: ConfirmationOptions, *, force: bool
) -> Answer:
    """Update one pack. A problem with it does not stop the update of others."""
    try:
        planned = desk.plan_update(name, force=force, progress=pack_operations.progress_reporter(how.as_json))
        if isinstance(planned, PackUpToDate):
            return Answer(
                pack_output.up_to_date_document(planned), pack_output.up_to_date_text(planned, bench.open())
            )
        return confirm_and_apply(bench, desk, planned, how)
    except Refusal as error:
        document = {"id": name, "written": False, "error": error.what, "next": error.then}
        return Answer(document, "", yes=False, aside=(printable(str(error)),))

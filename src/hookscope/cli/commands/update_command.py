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
from hookscope.model.failure import Refusal
from hookscope.model.text import printable
from hookscope.packs.plan import PackUpToDate


@answers.command(
    "update",
    click.Argument(["ids"], nargs=-1, metavar="[ID]..."),
    click.Option(["--all", "everything"], is_flag=True, help="Update every installed pack."),
    click.Option(["--force"], is_flag=True, help="Reinstall even if nothing is newer."),
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
    """Fetch packs again from their source, and install newer versions.

    If a registry has other bytes for the same version, or files have changed on disk since, nothing is
    written without --accept-changed, which keeps copies of such files. Exit code 1: a pack could not be
    updated.
    """
    if is_host_format(shape):
        return pack_operations.update_in_host_format(
            options, ids, everything=everything, dry_run=dry_run, accept_changed=accept_changed
        )
    if bool(ids) == everything:
        raise click.UsageError("Name the packs to update, or --all.")
    bench, manager = pack_operations.open_pack_manager(options, writes=not dry_run)
    for name in ids:
        manager.record(name)
    confirmation = ConfirmationOptions(yes, dry_run, as_json, diff, accept_changed)
    updates = [
        _update_pack(bench, manager, name, confirmation, force=force)
        for name in (ids or tuple(manager.installed()))
    ]
    texts = (
        [text for update in updates if (text := update.rendered_text())]
        if updates
        else ["No pack is installed here."]
    )
    notes = tuple(sentence for update in updates for sentence in update.notes)
    if everything and (host_packs := [update.id for update in manager.installed_by_host()]):
        notes += (
            printable(
                f"Packs of {bench.open().dialect.product} itself, not updated: {', '.join(host_packs)}."
            ),
        )
    document = {"updates": [update.document for update in updates]}
    return Answer(document, "\n\n".join(texts), ok=all(update.ok for update in updates), notes=notes)


def _update_pack(
    bench: Workbench, manager: PackManager, name: str, confirmation: ConfirmationOptions, *, force: bool
) -> Answer:
    """Update one pack. A problem with it does not stop the update of others."""
    try:
        plan = manager.plan_update(
            name, force=force, progress=pack_operations.progress_reporter(confirmation.as_json)
        )
        if isinstance(plan, PackUpToDate):
            return Answer(
                pack_output.up_to_date_document(plan), pack_output.up_to_date_text(plan, bench.open())
            )
        return confirm_and_apply(bench, manager, plan, confirmation)
    except Refusal as error:
        document = {"id": name, "written": False, "error": error.problem, "next": error.next_step}
        return Answer(document, "", ok=False, notes=(printable(str(error)),))

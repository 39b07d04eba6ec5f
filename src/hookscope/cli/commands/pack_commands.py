"""`hookscope packs`, and `install`, `update` and `uninstall`, which show a plan, confirm it and write."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

import click

from hookscope.app.options import Options
from hookscope.app.pack_manager import PackManager
from hookscope.app.workbench import Workbench
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.host_format import answer_from_host_output, format_option, is_host_format
from hookscope.cli.render import pack_output
from hookscope.model.failure import Refusal
from hookscope.model.host import CommandOutput, Host, PackMessages
from hookscope.model.text import one_line, printable
from hookscope.packs.errors import Progress
from hookscope.packs.install_plan import InstallOptions
from hookscope.packs.plan import PackPlan, PackUpToDate, check_integrity_accepted
from hookscope.values import dataclass


def confirmation_options() -> list[click.Parameter]:
    """Return the options `--yes` and `--dry-run`: new ones, because a click option belongs to one command."""
    dry_run = "Show every change, and make none."
    return [
        click.Option(["--yes", "-y"], is_flag=True, help="Do not ask; for scripts."),
        click.Option(["--dry-run"], is_flag=True, help=dry_run),
    ]


def shared_install_options() -> list[click.Parameter]:
    """Return the options that `install` and `update` share."""
    accept_changed = "Overwrite changed files, and accept different content for the same version."
    return [
        click.Option(["--accept-changed"], is_flag=True, help=accept_changed),
        *confirmation_options(),
        click.Option(["--diff"], is_flag=True, help="Show a diff of each file."),
        format_option(),
    ]


def open_pack_manager(options: Options, *, writes: bool = True) -> tuple[Workbench, PackManager]:
    """Return the workbench and its pack manager, after finishing an interrupted operation.

    Raises Refusal if something would be written under a what-if.
    """
    bench = answers.workbench_for(options)
    assumed = bench.setup.machine.assumed - {"home"}
    if writes and assumed:
        raise Refusal(
            f"Packs cannot be installed under a what-if ({', '.join(sorted(assumed))}).",
            "Leave out the what-if, or add --dry-run.",
            code=2,
        )
    manager = PackManager(bench)
    if finished := manager.recover():
        click.echo(f"hookscope: {one_line(finished, 400)}", err=True)
    return bench, manager


def progress_reporter(as_json: bool) -> Progress:
    """Return a reporter that names slow steps on a terminal."""
    if as_json or not sys.stderr.isatty():
        return Progress()
    return Progress(report=lambda what: click.echo(f"hookscope: {one_line(what)} …", err=True))


@dataclass(frozen=True, slots=True)
class ConfirmationOptions:
    """How a plan is shown and confirmed."""

    yes: bool
    dry_run: bool
    as_json: bool
    diff: bool = False
    accept_changed: bool = False


def confirm_plan(plan: PackPlan, host: Host, options: ConfirmationOptions) -> None:
    """Show the plan and ask for confirmation. Raises Refusal without one."""
    if options.yes:
        return
    verb = plan.action
    if options.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal(
            f"{plan.id} was not {verb.rstrip('e')}ed: there is no terminal to confirm on.",
            "--yes confirms in a script, --dry-run shows what would be written.",
        )
    click.echo(pack_output.pack_plan_text(plan, host, diff=options.diff))
    if not click.confirm(f"\n{verb.capitalize()} it?", default=False):
        raise Refusal(f"{plan.id} was not {verb.rstrip('e')}ed; nothing was written.")


def confirm_and_apply(
    bench: Workbench, manager: PackManager, planned: PackPlan, options: ConfirmationOptions
) -> Answer:
    """Ask the user to confirm the plan, apply it, and return the result. A dry run returns only the plan."""
    host = bench.open()
    document = pack_output.pack_plan_document(planned, diff=options.diff)
    plan_text = "" if options.as_json else pack_output.pack_plan_text(planned, host, diff=options.diff)
    if options.dry_run:
        return Answer(document, plan_text)
    check_integrity_accepted(planned, accepted=options.accept_changed)
    confirm_plan(planned, host, options)
    applied = manager.apply(
        planned, progress_reporter(options.as_json), accept_changed=options.accept_changed
    )
    bench.close_now()
    text = pack_output.applied_plan_text(applied, host)
    return Answer(
        pack_output.applied_plan_document(document, applied),
        f"{plan_text}\n\n{text}" if options.yes else text,
    )


NPM_SOURCE, LOCAL_SOURCE = "npm", "path"


def install_in_host_format(
    options: Options, text: str, install_options: InstallOptions, confirm: ConfirmationOptions
) -> Answer:
    """Return the answer of the host's `install`; --force confirms it, and replaces an installed pack."""
    bench, manager, messages = _open_pack_host(options)
    lines = [messages.deprecated.format(verb="install")]
    machine = bench.setup.machine
    try:
        spec = manager.spec(text)
    except Refusal as error:
        if text.startswith((".", "/", "~")):
            return _host_refusal(messages.no_such_path.format(path=machine.absolute(text)), lines)
        return _host_refusal(str(error), lines)
    if install_options.pin and spec.source != NPM_SOURCE:
        return _host_refusal(messages.cannot_pin, lines)
    warned = messages.unreviewed_source.format(spec=text).split("\n") if spec.path is not None else []
    if not install_options.force:
        return _host_refusal("\n".join((*warned, messages.unconfirmed)), lines)
    lines += warned
    try:
        planned = manager.plan_install(
            text, replace(install_options, own_handlers=True), progress_reporter(True)
        )
        if not confirm.dry_run:
            manager.apply(planned, accept_changed=confirm.accept_changed)
            bench.close_now()
    except Refusal as error:
        packaged = spec.path is not None and os.path.isfile(spec.path / "package.json")
        first = messages.refused_package if packaged else messages.refused_folder
        reason = messages.refused.format(reason=error.problem.rstrip("."))
        return _host_refusal(f"{first}\n{reason}", lines)
    target = next((str(folder) for folder in planned.trees), text)
    installed = messages.installed.format(name=planned.id, target=target)
    return _host_answer(CommandOutput(lines=tuple(installed.split("\n"))), lines)


def update_in_host_format(
    options: Options, names: Sequence[str], confirm: ConfirmationOptions, *, everything: bool
) -> Answer:
    """Return the answer of the host's `update`: packs from npm only."""
    bench, manager, messages = _open_pack_host(options)
    lines = [messages.deprecated.format(verb="update")]
    if not names and not everything:
        return _host_refusal(messages.nothing_to_update, lines)
    installed = manager.installed()
    if missing := next((name for name in names if name not in installed), None):
        return _host_refusal(messages.not_installed.format(name=missing), lines)
    failed: list[str] = []
    for name in names or installed:
        source = installed[name].source
        if source != NPM_SOURCE:
            shown_source = LOCAL_SOURCE if source == "folder" else source
            lines.append(messages.skipped.format(name=name, source=shown_source))
            continue
        try:
            planned = manager.plan_update(name)
            if isinstance(planned, PackPlan) and not confirm.dry_run:
                manager.apply(planned, accept_changed=confirm.accept_changed)
        except Refusal as error:
            failed.append(str(error))
    bench.close_now()
    return _host_answer(CommandOutput(1 if failed else 0, errors=tuple(failed)), lines)


def _open_pack_host(options: Options) -> tuple[Workbench, PackManager, PackMessages]:
    bench, manager = open_pack_manager(replace(options, as_host=True))
    host = bench.open()
    messages = host.dialect.command.packs if host.dialect.command is not None else None
    if messages is None:
        raise Refusal(
            f"The dialect {host.dialect.name} has no command of {host.dialect.product}'s own about packs.",
            "Leave out --format, or name a version with --dialect.",
            code=2,
        )
    return bench, manager, messages


def _host_answer(output: CommandOutput, first_lines: Sequence[str]) -> Answer:
    return answer_from_host_output(replace(output, lines=(*first_lines, *output.lines)))


def _host_refusal(text: str, first_lines: Sequence[str]) -> Answer:
    return _host_answer(CommandOutput(1, errors=tuple(text.split("\n"))), first_lines)


@answers.command(
    "install",
    click.Argument(["spec"]),
    click.Option(["--link", "-l"], is_flag=True, help="Link to the folder instead of copying it."),
    click.Option(["--pin"], is_flag=True, help="npm only: `update` keeps this version and its checksum."),
    click.Option(["--force"], is_flag=True, help="Replace what is installed under this name."),
    click.Option(["--dependencies"], is_flag=True, help="Install its dependencies too, without scripts."),
    *shared_install_options(),
)
def install_command(
    options: Options,
    spec: str,
    link: bool,
    pin: bool,
    force: bool,
    dependencies: bool,
    shape: str,
    as_json: bool,
    **confirmation: bool,
) -> Answer:
    """Install a hook or a pack into the host's own folder, and switch it on in the settings.

    SPEC is a folder, an archive (.zip .tgz .tar.gz .tar), an npm package (name, name@version, name@tag),
    python:NAME (an installed package with hooks) or a git address (git+https://…#ref). It is fetched and
    checked as a whole. Then Hookscope shows everything that it would write, and asks on a terminal. No
    package code runs. `hookscope uninstall` reverts exactly this.
    """
    install_options = InstallOptions(link=link, pin=pin, force=force, dependencies=dependencies)
    confirm = ConfirmationOptions(as_json=as_json, **confirmation)
    if is_host_format(shape):
        return install_in_host_format(options, spec, install_options, confirm)
    bench, manager = open_pack_manager(options, writes=not confirm.dry_run)
    planned = manager.plan_install(spec, install_options, progress_reporter(confirm.as_json))
    return confirm_and_apply(bench, manager, planned, confirm)


@answers.command(
    "update",
    click.Argument(["ids"], nargs=-1, metavar="[ID]..."),
    click.Option(["--all", "everything"], is_flag=True, help="Update every installed pack."),
    click.Option(["--force"], is_flag=True, help="Reinstall even if nothing is newer."),
    *shared_install_options(),
)
def update_command(
    options: Options,
    ids: tuple[str, ...],
    everything: bool,
    force: bool,
    shape: str,
    as_json: bool,
    **confirmation: bool,
) -> Answer:
    """Fetch packs again from their source, and install newer versions.

    If a registry has different content for the same version, or files have changed on disk since the install,
    nothing is written without --accept-changed, which keeps copies of such files. Exit code 1: a pack could
    not be updated.
    """
    confirm = ConfirmationOptions(as_json=as_json, **confirmation)
    if is_host_format(shape):
        return update_in_host_format(options, ids, confirm, everything=everything)
    if bool(ids) == everything:
        raise click.UsageError("Name the packs to update, or --all.")
    bench, manager = open_pack_manager(options, writes=not confirm.dry_run)
    for name in ids:
        manager.record(name)
    names = ids or tuple(manager.installed())
    updates = [_update_pack(bench, manager, name, confirm, force=force) for name in names]
    texts = [text for update in updates if (text := update.rendered_text())]
    if not updates:
        texts = ["No pack is installed here."]
    notes = [sentence for update in updates for sentence in update.notes]
    if everything and (host_packs := [pack.id for pack in manager.installed_by_host()]):
        product = bench.open().dialect.product
        notes.append(printable(f"Packs of {product} itself, not updated: {', '.join(host_packs)}."))
    document = {"updates": [update.document for update in updates]}
    ok = all(update.ok for update in updates)
    return Answer(document, "\n\n".join(texts), ok=ok, notes=tuple(notes))


def _update_pack(
    bench: Workbench, manager: PackManager, name: str, confirm: ConfirmationOptions, *, force: bool
) -> Answer:
    """Update one pack. A problem with it does not stop the update of others."""
    try:
        plan = manager.plan_update(name, force=force, progress=progress_reporter(confirm.as_json))
        if isinstance(plan, PackUpToDate):
            return Answer(
                pack_output.up_to_date_document(plan), pack_output.up_to_date_text(plan, bench.open())
            )
        return confirm_and_apply(bench, manager, plan, confirm)
    except Refusal as error:
        document = {"id": name, "written": False, "error": error.problem, "next": error.next_step}
        return Answer(document, "", ok=False, notes=(printable(str(error)),))


@answers.command("uninstall", click.Argument(["id"]), *confirmation_options())
def uninstall_command(options: Options, id: str, yes: bool, dry_run: bool, as_json: bool) -> Answer:  # noqa: A002
    """Revert exactly what an install did: its folders, and its edits of the settings.

    If the settings have changed since the install, only the pack's edits are reverted. Files that were
    changed or added since are kept elsewhere, and the answer says where.
    """
    bench, manager = open_pack_manager(options, writes=not dry_run)
    plan = manager.plan_uninstall(id)
    return confirm_and_apply(bench, manager, plan, ConfirmationOptions(yes, dry_run, as_json))


@answers.command("packs")
def packs_command(options: Options) -> Answer:
    """List installed packs: version, source, hooks, and files that have changed on disk since the install."""
    bench, manager = open_pack_manager(options, writes=False)
    host = bench.open()
    statuses, host_installs = manager.statuses(), manager.installed_by_host()
    document = {
        "dialect": host.dialect.name,
        "packs": [pack_output.pack_status_document(item) for item in statuses],
        "of_host": [pack_output.host_install_document(item) for item in host_installs],
    }
    return Answer(document, pack_output.pack_list_text(statuses, host, host_installs))

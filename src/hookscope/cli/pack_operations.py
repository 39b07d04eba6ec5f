"""Install, update and remove packs: show the plan, ask, write."""

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
from hookscope.cli.host_format import answer_from_host_output
from hookscope.cli.render import pack_output
from hookscope.model.host import CommandOutput, Host, PackMessages
from hookscope.model.refusal import Refusal
from hookscope.model.text import one_line
from hookscope.packs.errors import Progress
from hookscope.packs.install_plan import InstallOptions
from hookscope.packs.plan import PackPlan, check_integrity_accepted
from hookscope.values import dataclass

DRY_RUN = "Show everything that would be written, and write nothing."


def yes_option() -> click.Option:
    """Return `--yes`."""
    return click.Option(["--yes", "-y"], is_flag=True, help="Do not ask: for scripts.")


def diff_option() -> click.Option:
    """Return `--diff`."""
    return click.Option(["--diff"], is_flag=True, help="Show each file against what stands there now.")


def accept_changed_option() -> click.Option:
    """Return `--accept-changed`."""
    return click.Option(
        ["--accept-changed"],
        is_flag=True,
        help="Install over files that changed on disk, and take other bytes for the same version.",
    )


def dry_run_option() -> click.Option:
    """Return `--dry-run`."""
    return click.Option(["--dry-run"], is_flag=True, help=DRY_RUN)


def open_pack_desk(options: Options, *, writes: bool = True) -> tuple[Workbench, PackManager]:
    """Return the workbench and its pack manager, after finishing an interrupted operation.

    Raises Refusal if something would be written under a what-if.
    """
    bench = answers.workbench_for(options)
    assumed = bench.setup.surroundings.assumed - {"home"}
    if writes and assumed:
        raise Refusal(
            f"What is installed is real, and {' and '.join(sorted(assumed))} would be assumed.",
            "Leave out the what-if; --dry-run may have one.",
            code=2,
        )
    desk = PackManager(bench)
    if finished := desk.recover():
        click.echo(f"hookscope: {one_line(finished, 400)}", err=True)
    return bench, desk


def progress_reporter(as_json: bool) -> Progress:
    """Return a reporter that names slow steps on a terminal."""
    if as_json or not sys.stderr.isatty():
        return Progress()
    return Progress(tell=lambda what: click.echo(f"hookscope: {one_line(what)} …", err=True))


@dataclass(frozen=True, slots=True)
class ConfirmationOptions:
    """How a plan is shown and confirmed."""

    yes: bool
    dry_run: bool
    as_json: bool
    diff: bool = False
    accept_changed: bool = False


def confirm_plan(planned: PackPlan, host: Host, how: ConfirmationOptions) -> None:
    """Show the plan and ask for confirmation. Raises Refusal without one."""
    if how.yes:
        return
    verb = planned.action
    if how.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal(
            f"{planned.id} is not {verb.rstrip('e')}ed: nobody was asked.",
            "--yes answers for a script, --dry-run shows what would be written.",
        )
    click.echo(pack_output.pack_plan_text(planned, host, diff=how.diff))
    if not click.confirm(f"\n{verb.capitalize()} it?", default=False):
        raise Refusal(f"{planned.id} is not {verb.rstrip('e')}ed; nothing was written.")


def confirm_and_apply(
    bench: Workbench, desk: PackManager, planned: PackPlan, how: ConfirmationOptions
) -> Answer:
    """Confirm the plan, apply it, and return what was written."""
    host = bench.open()
    document = pack_output.pack_plan_document(planned, diff=how.diff)
    plan = "" if how.as_json else pack_output.pack_plan_text(planned, host, diff=how.diff)
    if how.dry_run:
        return Answer(document, plan)
    check_integrity_accepted(planned, accepted=how.accept_changed)
    confirm_plan(planned, host, how)
    done = desk.carry_out(planned, progress_reporter(how.as_json), accept_changed=how.accept_changed)
    bench.close_now()
    text = pack_output.applied_plan_text(done, host)
    return Answer(pack_output.applied_plan_document(document, done), f"{plan}\n\n{text}" if how.yes else text)


NPM_SOURCE, LOCAL_SOURCE = "npm", "path"


def install_in_host_format(
    options: Options, text: str, asked: InstallOptions, *, dry_run: bool, accept_changed: bool = False
) -> Answer:
    """Return the answer of the host's `install`: --force confirms, and replaces."""
    bench, desk, words = _open_pack_host(options)
    said = list(words.deprecated("install"))
    surroundings = bench.setup.surroundings
    try:
        spec = desk.spec(text)
    except Refusal as error:
        if text.startswith((".", "/", "~")):
            return _host_answer(words.absent(str(surroundings.absolute(text))), said)
        return _host_answer(CommandOutput(1, errors=(str(error),)), said)
    if asked.pin and spec.source != NPM_SOURCE:
        return _host_answer(words.only_registry(), said)
    warned = words.warned(text) if spec.path is not None else ()
    if not asked.force:
        return _host_answer(replace(words.unasked(), errors=(*warned, *words.unasked().errors)), said)
    said += warned
    try:
        planned = desk.plan_install(text, replace(asked, own_handlers=True), progress_reporter(True))
        if not dry_run:
            desk.carry_out(planned, accept_changed=accept_changed)
            bench.close_now()
    except Refusal as error:
        packaged = spec.path is not None and os.path.isfile(spec.path / "package.json")
        return _host_answer(words.refused(error.what.rstrip("."), packaged=packaged), said)
    target = next((str(folder) for folder in planned.trees), text)
    return _host_answer(CommandOutput(lines=words.installed(planned.id, target)), said)


def update_in_host_format(
    options: Options,
    names: Sequence[str],
    *,
    everything: bool,
    dry_run: bool,
    accept_changed: bool = False,
) -> Answer:
    """Return the answer of the host's `update`: packs from npm only."""
    bench, desk, words = _open_pack_host(options)
    said = list(words.deprecated("update"))
    if not names and not everything:
        return _host_answer(words.nothing_named(), said)
    known = desk.installed()
    if missing := next((name for name in names if name not in known), None):
        return _host_answer(words.unknown(missing), said)
    failed: list[str] = []
    for name in names or known:
        source = known[name].source
        if source != NPM_SOURCE:
            said.append(words.skipped(name, LOCAL_SOURCE if source == "folder" else source))
            continue
        try:
            planned = desk.plan_update(name)
            if isinstance(planned, PackPlan) and not dry_run:
                desk.carry_out(planned, accept_changed=accept_changed)
        except Refusal as error:
            failed.append(str(error))
    bench.close_now()
    return _host_answer(CommandOutput(1 if failed else 0, errors=tuple(failed)), said)


def _open_pack_host(options: Options) -> tuple[Workbench, PackManager, PackMessages]:
    bench, desk = open_pack_desk(replace(options, as_host=True))
    host = bench.open()
    words = host.dialect.command.packs if host.dialect.command is not None else None
    if words is None:
        raise Refusal(
            f"The dialect {host.dialect.name} knows no command of {host.dialect.product}'s own about packs.",
            "Leave out --format, or name a version with --dialect.",
            code=2,
        )
    return bench, desk, words


def _host_answer(said: CommandOutput, before: Sequence[str]) -> Answer:
    return answer_from_host_output(replace(said, lines=(*before, *said.lines)))

"""From a plan to a yes: shown, asked where there is a terminal, and carried out."""

from __future__ import annotations

import sys

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.packs import documents, shown
from hookscope.core.dialect import Host
from hookscope.core.text import one_line
from hookscope.values import dataclass
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.packs.desk import PackDesk
from hookscope.workbench.packs.planned import Planned, Progress
from hookscope.workbench.packs.refusals import check_accepted

DRY_RUN = "Show everything that would be written, and write nothing."


def yes_option() -> click.Option:
    """`--yes`."""
    return click.Option(["--yes", "-y"], is_flag=True, help="Do not ask: for scripts.")


def diff_option() -> click.Option:
    """`--diff`."""
    return click.Option(["--diff"], is_flag=True, help="Show each file against what stands there now.")


def accept_changed_option() -> click.Option:
    """`--accept-changed`."""
    return click.Option(
        ["--accept-changed"],
        is_flag=True,
        help="Install over files that changed on disk, and take other bytes for the same version.",
    )


def dry_run_option() -> click.Option:
    """`--dry-run`."""
    return click.Option(["--dry-run"], is_flag=True, help=DRY_RUN)


def desk_of(options: Options, *, writes: bool = True) -> tuple[Workbench, PackDesk]:
    """The desk; what was interrupted is finished first. Raises Refusal for a what-if."""
    bench = answers.bench_of(options)
    assumed = bench.setup.surroundings.assumed - {"home"}
    if writes and assumed:
        raise Refusal(
            f"What is installed is real, and {' and '.join(sorted(assumed))} would be assumed.",
            "Leave out the what-if; --dry-run may have one.",
            code=2,
        )
    desk = PackDesk(bench)
    if finished := desk.recover():
        click.echo(f"hookscope: {one_line(finished, 400)}", err=True)
    return bench, desk


def progress(as_json: bool) -> Progress:
    """Says on a terminal what takes time."""
    if as_json or not sys.stderr.isatty():
        return Progress()
    return Progress(tell=lambda what: click.echo(f"hookscope: {one_line(what)} …", err=True))


@dataclass(frozen=True, slots=True)
class How:
    """How a plan is shown and who says yes."""

    yes: bool
    dry_run: bool
    as_json: bool
    diff: bool = False
    accept_changed: bool = False


def asked(planned: Planned, host: Host, how: How) -> None:
    """Show the plan and wait for a yes. Raises Refusal where nobody says it."""
    if how.yes:
        return
    verb = planned.action
    if how.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refusal(
            f"{planned.id} is not {verb.rstrip('e')}ed: nobody was asked.",
            "--yes answers for a script, --dry-run shows what would be written.",
        )
    click.echo(shown.plan(planned, host, diff=how.diff))
    if not click.confirm(f"\n{verb.capitalize()} it?", default=False):
        raise Refusal(f"{planned.id} is not {verb.rstrip('e')}ed; nothing was written.")


def carried_out(bench: Workbench, desk: PackDesk, planned: Planned, how: How) -> Answer:
    """Ask, write, say what was written."""
    host = bench.open()
    document = documents.planned(planned, diff=how.diff)
    plan = "" if how.as_json else shown.plan(planned, host, diff=how.diff)
    if how.dry_run:
        return Answer(document, plan)
    check_accepted(planned, accepted=how.accept_changed)
    asked(planned, host, how)
    done = desk.carry_out(planned, progress(how.as_json), accept_changed=how.accept_changed)
    bench.close_now()
    text = shown.done(done, host)
    return Answer(documents.written(document, done), f"{plan}\n\n{text}" if how.yes else text)

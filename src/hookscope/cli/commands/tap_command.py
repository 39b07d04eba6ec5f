"""`hookscope tap …`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import cast

import click

from hookscope.analysis.tap_report import event_usage_of, spool_summary_of, tap_statuses
from hookscope.app.options import Options
from hookscope.authoring.testing.recorded_events import (
    RefiredEvent,
    fire_recorded,
    save_recorded,
    select_recorded,
    short_id,
)
from hookscope.authoring.testing.saved_events import saved_event_path
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.interrupts import fire_one_by_one
from hookscope.cli.lazy_group import LazyGroup
from hookscope.cli.options import WholeNumber
from hookscope.cli.render import run_output, tap_output
from hookscope.cli.render.run_output import dry_run_answer
from hookscope.cli.shared_options import only_option, timeout_option, trust_option
from hookscope.model.failure import Refusal
from hookscope.model.run import Plan
from hookscope.model.text import error_reason, nearest_word, one_line, printable_line
from hookscope.recording.installation import apply_tap_plan, plan_tap_install, plan_tap_removal, remove_spool
from hookscope.recording.spool import RecordedEvent, newest_events, open_spool
from hookscope.recording.taps import TAP_NAME, TapLanguage, spool_path

# Name → the line in `--help`.
TAP_COMMANDS = {
    "install": "Install the tap in the host's own hooks folder.",
    "status": "Show the tap's state, what else the host needs, and the recorded events.",
    "events": "List the recorded real events, newest last.",
    "fire": "Fire a real event again, and see what each handler does.",
    "save": "Save a real event for `fire` and `test`.",
    "lists": "List subscriptions without events, and events without subscribed hooks.",
    "remove": "Remove the tap completely.",
}


@contextmanager
def readable_spool() -> Iterator[None]:
    """Raise Refusal if the spool exists and cannot be read."""
    try:
        yield
    except OSError as error:
        raise Refusal(
            f"Cannot read {error.filename or 'the spool'}: {error_reason(error)}.",
            "Make it readable, or `hookscope tap remove` and install the tap again.",
        ) from None


class TapGroup(LazyGroup):
    """The subcommands of `tap`."""

    commands_by_name = TAP_COMMANDS

    def module_of(self, name: str) -> str:
        return __name__

    def unknown_command_message(self, name: str) -> str:
        closest = nearest_word(name, TAP_COMMANDS)
        next_step = (
            f"did you mean `hookscope tap {closest}`?" if closest else f"it has {', '.join(TAP_COMMANDS)}."
        )
        return f"`hookscope tap` has no command {one_line(name)!r}; {next_step}"


@click.group("tap", cls=TapGroup, invoke_without_command=True)
@click.pass_context
def tap_command(ctx: click.Context) -> None:
    """Record the real events of a running agent, and work with them here.

    The tap is a small hook of the host's own kind. It appends every event that the host sends to a file, and
    changes nothing.
    """
    if ctx.invoked_subcommand is None:
        raise click.UsageError(f"`hookscope tap` needs one of {', '.join(TAP_COMMANDS)}.", ctx)


@answers.command(
    "install",
    click.Option(
        ["--language"],
        type=click.Choice(["typescript", "python"]),
        default="typescript",
        help="The tap's language; default: TypeScript, which every host runs.",
    ),
    click.Option(
        ["--plugin-hooks"], is_flag=True, help="Also install a plugin that records observe-only plugin hooks."
    ),
    click.Option(["--dry-run"], is_flag=True, help="Show what would be written, and write nothing."),
)
def install_command(options: Options, language: str, plugin_hooks: bool, dry_run: bool) -> Answer:
    """Install the tap into the host's own hooks folder, where it receives every event that the host sends.

    Prints the written files, and what the host still needs before it runs the tap. In an Eve project every
    agent gets one. Other files are not touched; run it again to update the tap.
    """
    bench = answers.workbench_for(options)
    host = bench.open()
    plan = plan_tap_install(host, cast(TapLanguage, language), plugin_hooks=plugin_hooks)
    if not dry_run:
        apply_tap_plan(plan)
        for note in plan.notes:
            bench.edits.record(TAP_NAME, note)
        bench.close_now()
    view = bench.scan()
    taps = () if dry_run else tap_statuses(bench, view)
    notices = host.dialect.switch_rules.when_noticed
    return Answer(
        {
            **tap_output.tap_change_document(plan, written=not dry_run),
            "language": language,
            "taps": [tap_output.tap_document(tap) for tap in taps],
            "notices": notices,
        },
        tap_output.planned_install_text(plan, host)
        if dry_run
        else tap_output.installed_text(plan, taps, host),
    )


@answers.command("status")
def status_command(options: Options) -> Answer:
    """Show whether the tap is unchanged, what the host still needs before it runs it, and what was recorded.

    Exit code 1: no tap is installed, or something is missing.
    """
    bench = answers.workbench_for(options)
    view = bench.scan()
    taps = tap_statuses(bench, view)
    with readable_spool():
        recorded = spool_summary_of(view)
    return Answer(
        {
            "dialect": view.host.dialect.name,
            "taps": [tap_output.tap_document(tap) for tap in taps],
            "recorded": tap_output.recording_document(recorded),
        },
        tap_output.tap_status_text(taps, recorded, view),
        ok=bool(taps) and all(tap.files_state == "installed" and not tap.blockers for tap in taps),
    )


POLL_SECONDS = 0.25  # seconds between two checks for new events


@answers.command(
    "events",
    click.Option(
        ["--limit"],
        metavar="N",
        type=WholeNumber(1, 10_000),
        default=20,
        help="Number of events; default: 20.",
    ),
    click.Option(["--event"], metavar="KEY", help="Only events of this key."),
    click.Option(["--follow"], is_flag=True, help="Keep showing new events until Ctrl-C."),
)
def events_command(options: Options, limit: int, event: str | None, follow: bool, as_json: bool) -> Answer:
    """List the recorded real events, newest last: id, time, key, session, host.

    `tap fire ID` fires one again. Context is stored as received: only values under keys such as `token` are
    masked.
    """
    bench = answers.workbench_for(options)
    spool = spool_path(bench.open())
    with readable_spool():
        if follow:
            _follow_events(spool, limit, event, as_json)
        events, skipped = newest_events(spool, limit, event)
    document = {
        "spool": str(spool),
        "events": [tap_output.recorded_event_document(recorded) for recorded in events],
        "skipped": skipped,
    }
    return Answer(document, tap_output.recorded_events_text(events, skipped))


def _follow_events(spool: Path, limit: int, key: str | None, as_json: bool) -> None:
    """Print the events so far, then each new event. Ends by Ctrl-C only."""
    for events in _events_as_they_come(spool, limit, key):
        for event in events:
            if event.kind != "loaded" and key in (None, event.key):
                click.echo(
                    json.dumps(tap_output.recorded_event_document(event))
                    if as_json
                    else tap_output.recorded_event_line(event)
                )
        sys.stdout.flush()


def _events_as_they_come(spool: Path, limit: int, key: str | None) -> Iterator[Sequence[RecordedEvent]]:
    events, tail = open_spool(spool, limit, key)
    if not events:
        click.echo(
            "hookscope: no such event yet. New ones are shown as they arrive; press Ctrl-C to stop.", err=True
        )
    yield events
    while True:
        batch = tail.read_new()
        yield batch.events
        if batch.missed:
            click.echo("hookscope: some events arrived too fast to be shown here.", err=True)
        if not batch.events:
            time.sleep(POLL_SECONDS)


@answers.command(
    "fire",
    click.Argument(["names"], metavar="[ID...]", nargs=-1),
    click.Option(
        ["--last"], type=WholeNumber(1, 1_000), metavar="N", default=1, help="The last N events; default: 1."
    ),
    only_option(),
    click.Option(["--dry"], is_flag=True, help="Show which handlers would run; run nothing."),
    timeout_option(),
    click.Option(["--sandbox"], is_flag=True, help="Run handlers on copies, and show their changes."),
    trust_option(),
)
def fire_command(
    options: Options,
    names: Sequence[str],
    last: int,
    only: str | None,
    dry: bool,
    timeout: float | None,
    sandbox: bool,
    trust: bool,
) -> Answer:
    """Fire real events again, by default the newest, and show what each handler does.

    Handlers find the event's id as `replayed` in the context, in a plugin's `ctx`, or in a stream event's
    `meta`. `tap events` shows the ids; four characters are enough.
    """
    bench = answers.workbench_for(options, trust_all=trust, timeout=timeout, compare_shipped=False)
    with readable_spool():
        events = select_recorded(bench.scan(), names, last)
    fire = partial(fire_recorded, bench, only=only, sandbox=sandbox, dry=dry)
    results, failures = asyncio.run(fire_one_by_one(bench, events, fire, short_id))
    if dry:
        return dry_run_answer([plan for plan in results if isinstance(plan, Plan)], failures)
    runs = [refired for refired in results if isinstance(refired, RefiredEvent)]
    not_run = dict.fromkeys(sentence for refired in runs for sentence in refired.could_not_run)
    return Answer(
        [tap_output.fired_document(refired, bench.dialect.name) for refired in runs],
        "\n\n".join(
            f"{tap_output.fired_again_text(refired.recorded)}\n"
            f"{run_output.run_text(refired.run, bench.setup.machine, refired.plan)}"
            for refired in runs
        ),
        ok=all(refired.passed for refired in runs) and not failures,
        notes=(*not_run, *failures),
    )


@answers.command(
    "save",
    click.Argument(["name"], metavar="ID"),
    click.Argument(["file"], metavar="[NAME|FILE]", required=False),
)
def save_command(options: Options, name: str, file: str | None) -> Answer:
    """Save a real event in .hookscope/events, or in a file, for `fire` and `test`.

    Without a name, the file is named after the event's key and id. Secrets become names of variables.
    """
    bench = answers.workbench_for(options)
    view = bench.scan()
    with readable_spool():
        (event,) = select_recorded(view, [name])
    place = saved_event_path(file, view.host.workspace, view.host.machine.cwd) if file else None
    saved = save_recorded(event, bench, view, place)
    variables = ", ".join(saved.variables)
    secrets_note = f" Set its secrets as environment variables: {variables}." if saved.variables else ""
    return Answer(
        {
            "event": tap_output.recorded_event_document(event),
            "file": str(saved.file),
            "variables": list(saved.variables),
        },
        f"Saved {one_line(event.key)} as "
        f"{printable_line(view.host.machine.short(saved.file))}.{secrets_note}",
    )


@answers.command("lists")
def lists_command(options: Options) -> Answer:
    """List subscriptions that never received an event, and events without subscribed hooks.

    Both lists cover only the time since the tap started recording, which is shown.
    """
    bench = answers.workbench_for(options)
    view = bench.scan()
    with readable_spool():
        usage = event_usage_of(view)
    return Answer(tap_output.coverage_document(usage, view), tap_output.coverage_text(usage))


@answers.command(
    "remove",
    click.Option(["--events"], is_flag=True, help="Also remove recorded events."),
    click.Option(["--dry-run"], is_flag=True, help="Show what would be removed, and remove nothing."),
)
def remove_command(options: Options, events: bool, dry_run: bool) -> Answer:
    """Remove the tap: the files that `tap install` wrote, and the folders that it created.

    Recorded events stay, unless --events is given. Hookscope refuses if a file of the tap has changed
    since the install.
    """
    bench = answers.workbench_for(options)
    host = bench.open()
    plan = plan_tap_removal(host)
    if not dry_run:
        apply_tap_plan(plan)
        if events:
            remove_spool(plan.spool)
        for note in plan.notes:
            bench.edits.record(TAP_NAME, note)
        bench.close_now()
    kept = os.path.isdir(plan.spool) and not events
    return Answer(
        {**tap_output.tap_change_document(plan, written=not dry_run), "events_kept": kept},
        tap_output.removed_text(plan, host, dry_run=dry_run, kept=kept),
    )

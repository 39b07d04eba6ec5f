"""`hookscope tap install`."""

from __future__ import annotations

from typing import cast

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.tap import shown
from hookscope.workbench import Options
from hookscope.workbench.tap.installing import carry_out, installing
from hookscope.workbench.tap.record import NAME
from hookscope.workbench.tap.status import taps_in
from hookscope.workbench.tap.templates import TapLanguage


@answers.command(
    "install",
    click.Option(
        ["--language"],
        type=click.Choice(["typescript", "python"]),
        default="typescript",
        help="Of the tap; else TypeScript, which every host runs.",
    ),
    click.Option(
        ["--plugin-hooks"], is_flag=True, help="Also hear the plugin hooks that only observe, by a plugin."
    ),
    click.Option(["--dry-run"], is_flag=True, help="Show what would be written, and write nothing."),
)
def command(options: Options, language: str, plugin_hooks: bool, dry_run: bool) -> Answer:
    """Put the tap into the host's own folder of hooks, where it hears every event that the host sends.

    Prints what is written, and what else the host wants before it runs the tap. Of Eve, every agent of the
    project gets one. Nothing of anybody else's is touched; run again, it brings the tap up to date.
    """
    bench = answers.bench_of(options)
    host = bench.open()
    plan = installing(host, cast(TapLanguage, language), plugin_hooks=plugin_hooks)
    if not dry_run:
        carry_out(plan)
        for done in plan.notes:
            bench.edits.note(NAME, done)
        bench.close_now()
    view = bench.look()
    taps = () if dry_run else taps_in(bench, view)
    notices = host.dialect.switching.notices
    return Answer(
        {
            **shown.writing(plan, written=not dry_run),
            "language": language,
            "taps": [shown.tap_document(tap) for tap in taps],
            "notices": notices,
        },
        shown.would_install(plan, host) if dry_run else shown.installed(plan, taps, host),
    )

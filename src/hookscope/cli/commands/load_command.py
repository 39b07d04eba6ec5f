"""`hookscope load`."""

import asyncio

import click

from hookscope.cli import answers, run_tables
from hookscope.cli.answers import Answer
from hookscope.core.registry import LoadReport
from hookscope.core.standing import State
from hookscope.core.trust import trust_target
from hookscope.workbench import Options, Workbench, run_documents
from hookscope.workbench.left_out import untrusted_folders
from hookscope.workbench.loads import load


@answers.command(
    "load",
    click.Argument(["name"], required=False),
    click.Option(["--trust"], is_flag=True, help="Import handlers of untrusted folders too, this once."),
)
def command(options: Options, name: str | None, trust: bool) -> Answer:
    """Import all trusted handlers, or that of one hook, in a worker process and report as the host's
    loader does."""
    bench = answers.bench_of(options, trust_all=trust)
    view = bench.look()
    folders = untrusted_folders(view)
    if name is not None:
        row = bench.hook(view, name)
        name = row.hook.name
        folders = (trust_target(row.hook, view.host),) if row.state is State.UNTRUSTED else ()
    left = answers.not_trusted(folders, bench.setup.surroundings)
    report = asyncio.run(_load(bench, name))
    return Answer(
        run_documents.load(report),
        run_tables.load(report, bench.setup.surroundings),
        yes=not (report.failed or report.stopped or left) and (name is None or report.registered > 0),
        aside=(*answers.unread_settings(view.host), *left),
    )


async def _load(bench: Workbench, name: str | None) -> LoadReport:
    try:
        return await load(bench, only=name)
    finally:
        await bench.close()

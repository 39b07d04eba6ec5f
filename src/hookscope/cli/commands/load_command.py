"""`hookscope load`."""

import asyncio

import click

from hookscope.cli import answers, documents, run_tables
from hookscope.cli.answers import Answer
from hookscope.core.runs import LoadReport
from hookscope.workbench import Options, Workbench


@answers.command(
    "load",
    click.Option(["--trust"], is_flag=True, help="Import handlers of untrusted folders too, this once."),
)
def command(options: Options, trust: bool) -> Answer:
    """Import all trusted handlers in a worker process and report as the host's loader does."""
    bench = answers.bench_of(options, trust_all=trust)
    left = answers.not_trusted(bench.untrusted_folders(bench.look()))
    report = asyncio.run(_load(bench))
    return Answer(
        documents.load(report),
        run_tables.load(report),
        yes=not (report.failed or report.stopped or left),
        aside=tuple(left),
    )


async def _load(bench: Workbench) -> LoadReport:
    try:
        return await bench.load()
    finally:
        await bench.close()

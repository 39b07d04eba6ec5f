"""`hookscope test [FILE|DIR...]`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from hookscope.cli import answers, test_tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.testing import Tested, saved_events, tested

SECONDS = click.FloatRange(min=0, min_open=True)
PARAMETERS = (
    click.Argument(["what"], metavar="[FILE|DIR...]", nargs=-1),
    click.Option(["--junit"], metavar="FILE", help="Write JUnit's XML there too."),
    click.Option(["--timeout"], type=SECONDS, metavar="S", help="Seconds for each handler; else 30."),
    click.Option(["--trust"], is_flag=True, help="Run handlers of untrusted folders too, this once."),
)


@answers.command("test", *PARAMETERS)
def command(
    options: Options, what: Sequence[str], junit: str | None, timeout: float | None, trust: bool
) -> Answer:
    """Fire saved events, those of .hookscope/events where none is named, and compare each run with the
    `expect:` of its file. Exit 1 where one misses."""
    bench = answers.bench_of(options, trust_all=trust, timeout=timeout)
    files = saved_events(bench.open().workspace, [Path(name) for name in what])
    items = asyncio.run(_all(bench, files))
    if junit is not None:
        try:
            Path(junit).write_text(test_tables.junit(items), encoding="utf-8")
        except OSError as error:
            raise Refusal(f"Cannot write {junit}: {error.strerror}.", code=2) from None
    documents = [test_tables.document(item, bench.dialect.name) for item in items]
    return Answer(documents, test_tables.text(items), yes=all(item.passed for item in items))


async def _all(bench: Workbench, files: Sequence[Path]) -> list[Tested]:
    try:
        return [await tested(bench, file) for file in files]
    finally:
        await bench.close()

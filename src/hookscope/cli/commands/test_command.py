"""`hookscope test [FILE|DIR...]`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from hookscope.cli import answers, test_tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options, Refusal, Workbench
from hookscope.workbench.accepting import accept as accept_run
from hookscope.workbench.testing import Checked, checked, saved_events

SECONDS = click.FloatRange(min=0, min_open=True)
PARAMETERS = (
    click.Argument(["what"], metavar="[FILE|DIR...]", nargs=-1),
    click.Option(["--junit"], metavar="FILE", help="Write JUnit's XML there too."),
    click.Option(
        ["--accept"], is_flag=True, help="Write what happened into the files that missed or had nothing."
    ),
    click.Option(["--timeout"], type=SECONDS, metavar="S", help="Seconds for each handler; else 30."),
    click.Option(["--trust"], is_flag=True, help="Run handlers of untrusted folders too, this once."),
)


@answers.command("test", *PARAMETERS)
def command(
    options: Options, what: Sequence[str], junit: str | None, accept: bool, timeout: float | None, trust: bool
) -> Answer:
    """Fire saved events, those of .hookscope/events where none is named, and compare each run with the
    `expect:` of its file. Exit 1 where one misses.

    With --accept what happened is expected from now on: missed values are replaced where they stand, and
    a file without `expect:` gets a first draft.
    """
    bench = answers.bench_of(options, trust_all=trust, timeout=timeout)
    files = saved_events(bench.open().workspace, [Path(name) for name in what])
    items = asyncio.run(_all(bench, files))
    refused: list[str] = []
    if accept:
        items = [_accepted(item, refused) for item in items]
    if junit is not None:
        try:
            Path(junit).write_text(test_tables.junit(items), encoding="utf-8")
        except OSError as error:
            raise Refusal(f"Cannot write {junit}: {error.strerror}.", code=2) from None
    documents = [test_tables.document(item, bench.dialect.name) for item in items]
    return Answer(
        documents, test_tables.text(items), yes=all(item.passed for item in items), aside=tuple(refused)
    )


def _accepted(item: Checked, refused: list[str]) -> Checked:
    try:
        return replace(item, accepted=accept_run(item))
    except Refusal as error:
        refused.append(str(error))
        return item


async def _all(bench: Workbench, files: Sequence[Path]) -> list[Checked]:
    try:
        return [await checked(bench, file) for file in files]
    finally:
        await bench.close()

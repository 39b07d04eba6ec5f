"""`hookscope info NAME`."""

import click

from hookscope.cli import answers, documents, tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options


@answers.command("info", click.Argument(["name"]))
def command(options: Options, name: str) -> Answer:
    """One hook, by its name or settings key: every check, which copy wins, what it declares."""
    bench = answers.bench_of(options)
    view = bench.look()
    row = bench.hook(view, name)
    document = {**documents.hook(row), "limits": documents.limits(view.limits_of(row.hook))}
    return Answer(document, tables.info(view, row))

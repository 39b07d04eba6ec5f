"""`hookscope info NAME`."""

import click

from hookscope.cli import answers, documents, host_format, tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options


@answers.command(
    "info",
    click.Argument(["name"]),
    click.Option(["--places"], is_flag=True, help="Also list where each missing thing was looked for."),
    host_format.format_option(),
)
def command(options: Options, name: str, places: bool, shape: str) -> Answer:
    """One hook, by its name or settings key: every check, which copy wins, what it declares."""
    if host_format.is_host(shape):
        return host_format.described(options, name)
    bench = answers.bench_of(options)
    view = bench.look()
    row = bench.hook(view, name)
    document = {**documents.hook(row), "limits": documents.limits(view.limits_of(row.hook))}
    return Answer(document, tables.info(view, row, places=places))

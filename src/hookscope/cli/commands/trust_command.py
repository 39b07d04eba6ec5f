"""`hookscope trust DIR`."""

from pathlib import Path

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.core.text import printable
from hookscope.workbench import Options


@answers.command("trust", click.Argument(["folder"], metavar="DIR", type=click.Path(path_type=Path)))
def command(options: Options, folder: Path) -> Answer:
    """Allow the handlers in DIR, and in all folders below it, to run on this machine."""
    bench = answers.bench_of(options)
    real = bench.trust(folder)
    where = printable(bench.setup.surroundings.short(real))
    text = f"Handlers in {where} may run now, in all folders below it too."
    return Answer({"trusted": str(real)}, text)

"""`hookscope list`."""

from hookscope.cli import answers, documents, tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options


@answers.command("list")
def command(options: Options) -> Answer:
    """What hooks there are, and why some would not run."""
    view = answers.bench_of(options).look()
    return Answer(documents.inventory(view), tables.inventory(view))

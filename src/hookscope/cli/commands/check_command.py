"""`hookscope check`."""

from hookscope.cli import answers, documents, tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options


@answers.command("check")
def command(options: Options) -> Answer:
    """How many hooks are ready, and what stops the others."""
    view = answers.bench_of(options).look()
    return Answer(documents.check(view), tables.check(view))

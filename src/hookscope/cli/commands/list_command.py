"""`hookscope list`."""

from hookscope.cli import answers, documents, host_format, tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options


@answers.command("list", *host_format.asked_options())
def command(options: Options, shape: str, eligible: bool, verbose: bool) -> Answer:
    """What hooks there are, and why some would not run."""
    if host_format.is_host(shape, eligible=eligible, verbose=verbose):
        return host_format.listed(options, eligible, verbose)
    view = answers.bench_of(options).look()
    return Answer(documents.inventory(view), tables.inventory(view))

"""`hookscope check`."""

from hookscope.cli import answers, host_format, tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options, documents


@answers.command("check", *host_format.asked_options())
def command(options: Options, shape: str, eligible: bool, verbose: bool) -> Answer:
    """How many hooks are ready, and what stops the others."""
    if host_format.is_host(shape, eligible=eligible):
        return host_format.checked(options, verbose)
    view = answers.bench_of(options).look()
    return Answer(documents.check(view), tables.check(view, verbose=verbose))

"""`hookscope check`."""

from hookscope.cli import answers, host_format, tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options, documents
from hookscope.workbench.left_out import not_trusted_programs


@answers.command("check", *host_format.asked_options())
def command(options: Options, shape: str, eligible: bool, verbose: bool) -> Answer:
    """How many hooks are ready, and what stops the others."""
    if host_format.is_host(shape, eligible=eligible):
        return host_format.checked(options, verbose)
    view = answers.bench_of(options).look()
    told = tables.check(view, verbose=verbose)
    return Answer(documents.check(view), told, aside=not_trusted_programs(view))

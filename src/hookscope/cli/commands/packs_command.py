"""`hookscope packs`."""

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.packs import asking, documents, shown
from hookscope.workbench import Options


@answers.command("packs")
def command(options: Options) -> Answer:
    """What is installed for this host: version, source, hooks, and what has changed on disk since."""
    bench, desk = asking.desk_of(options, writes=False)
    host = bench.open()
    statuses, theirs = desk.statuses(), desk.of_host()
    document = {
        "dialect": host.dialect.name,
        "packs": [documents.status(item) for item in statuses],
        "of_host": [documents.of_host(item) for item in theirs],
    }
    return Answer(document, shown.packs(statuses, host, theirs))

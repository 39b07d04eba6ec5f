"""`hookscope events [KEY]`, `hookscope events --saved`."""

import click

from hookscope.cli import answers, event_tables, saved_tables
from hookscope.cli.answers import Answer
from hookscope.workbench import Options
from hookscope.workbench.asking import no_such_event
from hookscope.workbench.saved import saved_listing

PARAMETERS = (
    click.Argument(["key"], metavar="[KEY]", required=False),
    click.Option(["--saved"], is_flag=True, help="The saved events of .hookscope/events; with KEY, of it."),
)


@answers.command("events", *PARAMETERS)
def command(options: Options, key: str | None, saved: bool) -> Answer:
    """What the host sends: when, with which fields, what becomes of answers, and who listens."""
    bench = answers.bench_of(options)
    if saved:
        host = bench.open()
        rows, canonical = saved_listing(host.workspace), host.dialect.catalogue().canonical
        rows = tuple(row for row in rows if key is None or canonical(row.key) == canonical(key))
        return Answer([saved_tables.document(row) for row in rows], saved_tables.listed(rows, key or ""))
    view = bench.look()
    catalogue = view.host.dialect.catalogue()
    if key is None:
        documents = [event_tables.document(event, view) for event in catalogue.events]
        return Answer(documents, event_tables.listed(view))
    event = catalogue.by_key.get(catalogue.canonical(key))
    if event is None:
        raise no_such_event(view, key, catalogue.nearest(key))
    return Answer(event_tables.document(event, view), event_tables.shown(event, view))

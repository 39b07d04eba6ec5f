"""`hookscope events [KEY]`, `hookscope events --saved`."""

import click

from hookscope.app.options import Options
from hookscope.app.unknown_names import no_such_event
from hookscope.authoring.testing.saved_events import saved_listing
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render import event_output

PARAMETERS = (
    click.Argument(["key"], metavar="[KEY]", required=False),
    click.Option(["--saved"], is_flag=True, help="The saved events of .hookscope/events; with KEY, of it."),
)


@answers.command("events", *PARAMETERS)
def command(options: Options, key: str | None, saved: bool) -> Answer:
    """What the host sends: when, with which fields, what becomes of answers, and who listens."""
    bench = answers.workbench_for(options)
    if saved:
        host = bench.open()
        rows, canonical = saved_listing(host.workspace), host.dialect.catalogue().canonical
        rows = tuple(row for row in rows if key is None or canonical(row.key) == canonical(key))
        return Answer(
            [event_output.saved_event_document(row) for row in rows],
            event_output.saved_event_list_text(rows, key or ""),
        )
    view = bench.scan()
    catalogue = view.host.dialect.catalogue()
    if key is None:
        documents = [event_output.event_type_document(event, view) for event in catalogue.events]
        return Answer(documents, event_output.event_list_text(view))
    event = catalogue.by_key.get(catalogue.canonical(key))
    if event is None:
        raise no_such_event(view, key, catalogue.nearest(key))
    return Answer(event_output.event_type_document(event, view), event_output.event_type_text(event, view))

"""`hookscope tap save ID NAME|FILE`."""

from __future__ import annotations

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.tap import shown
from hookscope.core.text import one_line, printable
from hookscope.workbench import Options
from hookscope.workbench.saving import place_of
from hookscope.workbench.tap.events import picked, save_real


@answers.command(
    "save",
    click.Argument(["name"], metavar="ID"),
    click.Argument(["file"], metavar="[NAME|FILE]", required=False),
)
def command(options: Options, name: str, file: str | None) -> Answer:
    """Keep a real event in .hookscope/events, or in a file, for `fire` and `test`.

    Without a name it is called after its key and id. Secrets become names of variables.
    """
    bench = answers.bench_of(options)
    view = bench.look()
    try:
        (heard,) = picked(view, [name])
    except OSError as error:
        raise shown.unreadable(error) from None
    place = place_of(file, view.host.workspace, view.host.surroundings.cwd) if file else None
    saved = save_real(heard, view, bench.redaction_of(view.host), place)
    variables = ", ".join(saved.variables)
    then = f" Its secrets are taken from the environment: {variables}." if saved.variables else ""
    return Answer(
        {"event": shown.event_document(heard), "file": str(saved.file), "variables": list(saved.variables)},
        f"Saved {one_line(heard.key)} as {printable(view.host.surroundings.short(saved.file))}.{then}",
    )

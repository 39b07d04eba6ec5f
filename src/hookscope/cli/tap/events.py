"""`hookscope tap events`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.numbers import Whole
from hookscope.cli.tap import shown
from hookscope.workbench import Options
from hookscope.workbench.tap.places import spool_place
from hookscope.workbench.tap.spool import Heard, last, opened

PATIENCE = 0.25  # seconds between two looks for new events


@answers.command(
    "events",
    click.Option(["--limit"], metavar="N", type=Whole(1, 10_000), default=20, help="How many; else 20."),
    click.Option(["--event"], metavar="KEY", help="Only events of this key."),
    click.Option(["--follow"], is_flag=True, help="Go on with new ones as they come; Ctrl-C ends it."),
)
def command(options: Options, limit: int, event: str | None, follow: bool, as_json: bool) -> Answer:
    """The real events that were recorded, newest last: id, time, key, session, host. `tap fire ID` fires one
    again. Context is as the tap was given it: only values under keys such as `token` are masked.
    """
    bench = answers.bench_of(options)
    spool = spool_place(bench.open())
    try:
        if follow:
            _follow(spool, limit, event, as_json)
        events, skipped = last(spool, limit, event)
    except OSError as error:
        raise shown.unreadable(error) from None
    document = {
        "spool": str(spool),
        "events": [shown.event_document(heard) for heard in events],
        "skipped": skipped,
    }
    return Answer(document, shown.events(events, skipped))


def _follow(spool: Path, limit: int, key: str | None, as_json: bool) -> None:
    """Print what is there, then every event as it comes. Ends by Ctrl-C only."""
    for events in _as_they_come(spool, limit, key):
        for heard in events:
            if heard.kind != "loaded" and key in (None, heard.key):
                click.echo(json.dumps(shown.event_document(heard)) if as_json else shown.event_line(heard))
        sys.stdout.flush()


def _as_they_come(spool: Path, limit: int, key: str | None) -> Iterator[Sequence[Heard]]:
    events, tail = opened(spool, limit, key)
    if not events:
        click.echo(
            "hookscope: no such event has come yet: each is shown as it comes, Ctrl-C ends it.", err=True
        )
    yield events
    while True:
        news = tail.news()
        yield news.events
        if news.missed:
            click.echo("hookscope: some events came too fast to be shown here.", err=True)
        if not news.events:
            time.sleep(PATIENCE)

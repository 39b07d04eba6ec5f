"""Whether an event that the hook listens to has come: fired here, or really sent where a tap records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from hookscope.core.bystanders import kind_of_key, kinds_of
from hookscope.core.event_types import EVERY
from hookscope.core.standing import Standing
from hookscope.core.text import ago, one_line
from hookscope.journal import Journal, Wanted
from hookscope.workbench.links.link import Link
from hookscope.workbench.slips import slip_of
from hookscope.workbench.tap.lists import Seen, counted
from hookscope.workbench.tap.places import spool_place
from hookscope.workbench.tap.spool import FILE, OLD, Reading

if TYPE_CHECKING:
    from hookscope.workbench.view import View

MOST_KEYS = 12  # events whose last run is looked for, of a hook that listens to more


def arrived(view: View, row: Standing, journal: Journal, now: datetime) -> Link:
    """The last event that it listens to: of the journal's runs, and of those that its host really sent."""
    if row.events is None:
        return Link("arrived", None, "what it listens to is known after a load")
    keys = tuple(islice(_keys(view, row), MOST_KEYS))
    runs = [run for key in keys for run in journal.select(_wanted(key), 1)]
    newest = max(runs, key=lambda run: run.id, default=None)
    real = [one for one in _recorded(view) if one.kind in kinds_of(row) and _is_one_of(one.key, keys)]
    product = view.host.dialect.product
    parts = []
    if newest is not None:
        parts.append(f"{newest.key} was fired {ago(newest.started, now)}, run {newest.id}")
    if real:
        latest = max(real, key=lambda one: one.last)
        times = sum(one.count for one in real)
        parts.append(f"{product} sent {latest.key} {ago(latest.last, now)}, {times:,} × in all")
    moments = [*([newest.started] if newest else []), *(one.last for one in real)]
    if parts:
        run = newest.id if newest is not None else None
        return Link("arrived", True, "; ".join(parts), "", max(moments), run)
    never = next((gate.reason for gate in row.verdict.shut() if gate.name == "sent"), "")
    if never:
        return Link("arrived", False, never)
    first = next((key for key in keys if key != EVERY), "")
    known = view.host.dialect.catalogue().by_key.get(first)
    slip = slip_of(row, view)
    first = slip[0] if slip is not None else first
    dialect = view.host.dialect
    later = (dialect.later_plugin if row.hook.kind == "plugin" else dialect.later).get(first)
    when = f": {later} sends {first}" if later else f": {product} lists no {first}" if first else ""
    when += f", perhaps {slip[1]} was meant" if slip is not None else ""
    if known is not None:
        when = f": {product} {'sends' if known.emitted else 'documents, and never sends,'} {known.key} – "
        when += one_line(known.when, 120)
        when += f"; not {one_line(known.when_not, 120)}" if known.when_not else ""
    then = f"`hookscope fire {quote(first)}` fires it" if first else ""
    return Link("arrived", None, f"subscribed, never seen{when}", then)


def _wanted(key: str) -> Wanted:
    return Wanted() if key == EVERY else Wanted(key=key)


def _is_one_of(key: str, keys: tuple[str, ...]) -> bool:
    return key in keys or EVERY in keys or key.partition(":")[0] in keys


def _keys(view: View, row: Standing) -> Iterator[str]:
    """What it listens to, its host's spelling; of a whole type each event that is documented."""
    catalogue = view.host.dialect.catalogue()
    for key in row.events or ():
        key = catalogue.canonical(key)
        yield key
        if ":" not in key and kind_of_key(key, row) == "folder":
            yield from (event.key for event in catalogue.events if event.key.startswith(f"{key}:"))


def _recorded(view: View) -> tuple[Seen, ...]:
    """What taps have recorded, counted once for each content of the spool. Raises OSError."""
    folder = spool_place(view.host)
    marks = tuple(_mark(folder / name) for name in (OLD, FILE))
    return _counted(folder, marks) if any(marks) else ()


def _mark(file: Path) -> tuple[int, int] | None:
    try:
        facts = os.stat(file)
    except OSError:
        return None
    return facts.st_size, facts.st_mtime_ns


@lru_cache(maxsize=4)
def _counted(folder: Path, marks: tuple[tuple[int, int] | None, ...]) -> tuple[Seen, ...]:
    return counted(Reading(folder))[0]

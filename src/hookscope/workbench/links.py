"""The last links of a hook's chain, behind its gates: loaded, registered, an event has come, it ran.

Gates say what a look at the disk tells. These links are what has happened: in this workbench's workers, in
the journal's runs and loads, in what taps recorded. Asking runs nothing, and reads a few indexed rows for
one hook; nobody asks for a whole list.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

from hookscope.core.bystanders import kind_of_key, kinds_of, may_run
from hookscope.core.event_types import EVERY
from hookscope.core.examine import digest
from hookscope.core.plan import code_of
from hookscope.core.standing import Standing, State
from hookscope.core.text import ago, duration, one_line
from hookscope.journal import Journal, StoredRun, Wanted
from hookscope.loading import IS_CLASS, NO_FUNCTION
from hookscope.values import dataclass
from hookscope.workbench.slips import slip_of
from hookscope.workbench.tap.lists import Seen, counted
from hookscope.workbench.tap.places import spool_place
from hookscope.workbench.tap.spool import FILE, OLD, Reading

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View

LinkName = Literal["loads", "export", "registered", "arrived", "ran"]
TITLES: Mapping[LinkName, str] = {
    "loads": "its module loads",
    "export": "its export is a function",
    "registered": "it is registered",
    "arrived": "an event has come",
    "ran": "it ran",
}
MOST_KEYS = 12  # events whose last run is looked for, of a hook that listens to more
LOADS = 20  # entries of the journal in which its last load is looked for


@dataclass(frozen=True, slots=True)
class Link:
    """One link: what is on record of it. None: nobody has looked yet, or nothing is on record."""

    name: LinkName
    passed: bool | None
    found: str
    then: str = ""  # the next step, where there is one
    at: datetime | None = None
    run: int | None = None  # of the journal

    @property
    def title(self) -> str:
        """Its name for people."""
        return TITLES[self.name]


def in_short(links: tuple[Link, ...]) -> tuple[bool | None, str]:
    """What they come to in one line: the last thing that is known to have happened."""
    named = {link.name: link for link in links}
    loads, arrived, ran = named["loads"], named["arrived"], named["ran"]
    if loads.passed is False:
        return False, f"does not load: {loads.found}"
    if ran.passed is not None:
        return ran.passed, f"ran: {ran.found}"
    if arrived.passed:
        return None, f"no run of it is on record, though an event has come: {arrived.found}"
    return None, "no event that it listens to has come so far"


def unfit(links: tuple[Link, ...]) -> str:
    """What has come out since its checks were passed: it cannot run as its file is. Empty: nothing."""
    words: Mapping[str, str] = {"loads": "does not load", "export": "has nothing to call"}
    failed = (link for link in links if link.name in words and link.passed is False)
    return next((f"{words[link.name]}: {link.found}" for link in failed), "")


@dataclass(frozen=True, slots=True)
class _Loaded:
    """What is known of a load. `failed`: the error's type and sentence."""

    passed: bool | None
    found: str
    failed: tuple[str, str] | None = None
    at: datetime | None = None
    run: int | None = None


def links_of(bench: Workbench, view: View, row: Standing) -> tuple[Link, ...]:
    """The links of one hook, in their order. Blocks; raises OSError where the journal cannot be read."""
    if row.verdict.shadowed_by is not None or row.hook.handler is None:
        return ()
    journal, now = bench.record.journal(view.host), datetime.now(UTC)
    last = next(iter(journal.select(Wanted(hook=row.hook.name), 1)), None)
    last = last if last is not None and _result(last, row) is not None else None
    loaded = _loaded(bench, view, row, journal, last, now)
    return (
        _loads(loaded, row),
        _export(loaded),
        _registered(view, row, loaded),
        _arrived(view, row, journal, now),
        _ran(row, last, now),
    )


def _result(run: StoredRun, row: Standing) -> Mapping[str, Any] | None:
    """The last answer of this very hook in a run; another of its name, in another folder, has other files."""
    found = (one for one in reversed(run.document["results"]) if one["hook"] == row.hook.name)
    return next((one for one in found if one["handler"] in (None, str(row.hook.handler))), None)


# Loaded


def _loaded(
    bench: Workbench, view: View, row: Standing, journal: Journal, last: StoredRun | None, now: datetime
) -> _Loaded:
    """Now in a worker, else what the newest of its last run and its last load says of the file as it is."""
    gate = next((gate for gate in row.verdict.gates if gate.name == "load"), None)
    if gate is not None and gate.passed is False:
        return _Loaded(False, gate.reason, (gate.found, gate.reason))
    if gate is not None or bench.crew.holds(code_of(row.hook, view.host)):
        return _Loaded(True, "a worker holds it")
    told = [
        one for one in (_by_run(view, row, last, now), _by_load(view, row, journal, now)) if one is not None
    ]
    newest = max(told, key=lambda one: one.at or now, default=_Loaded(None, "nobody has loaded it yet"))
    marked = view.failed_loads.get(row.hook)
    if marked is not None and newest.passed is not False:  # perhaps the journal could not be written
        kind, _, text = marked.error.partition(": ")
        said = f"{marked.error} ({ago(marked.at, now)})"
        return _Loaded(False, said, (kind, text), marked.at, marked.run)
    return newest


def _is_over(view: View, row: Standing) -> bool:
    """Did it fail as something else: its list does not say so of it as it stands."""
    return row.state is State.READY and row.hook not in view.failed_loads


def _by_run(view: View, row: Standing, last: StoredRun | None, now: datetime) -> _Loaded | None:
    result = _result(last, row) if last is not None else None
    if last is None or result is None or row.hook.handler is None:
        return None
    where = f"in run {last.id}, {ago(last.started, now)}"
    then = next((one.digest for one in last.handlers if one.path == str(row.hook.handler)), "")
    if then and then != digest(row.hook.handler, view.host.surroundings.files):
        return _Loaded(None, f"it was another file {where}", None, last.started, last.id)
    error = result["error"]
    if error is not None and error["phase"] == "load" and _is_over(view, row):
        return _Loaded(None, f"as it stood then it did not load, {where}", None, last.started, last.id)
    if error is not None and error["phase"] == "load":
        failed = (str(error["type"]), one_line(str(error["message"]), 200))
        return _Loaded(False, f"{': '.join(failed)} ({where})", failed, last.started, last.id)
    if error is not None and error["phase"] == "spawn":
        return None
    return _Loaded(True, where, None, last.started, last.id)


def _by_load(view: View, row: Standing, journal: Journal, now: datetime) -> _Loaded | None:
    """What the last `hookscope load` that came to this hook says, if its file was not written since."""
    name = row.hook.name
    for entry in journal.entries(LOADS, kind="load"):
        detail = entry.detail if isinstance(entry.detail, dict) else {}
        if detail.get("only") not in (None, name):
            continue
        at = f"at the load {ago(entry.at, now)}"
        if row.hook.handler is None or _written(row.hook.handler) > entry.at.timestamp():
            return _Loaded(None, f"its file was written since, {at}", None, entry.at)
        if name in detail.get("failed", ()) and _is_over(view, row):
            return _Loaded(None, f"as it stood then it did not load, {at}", None, entry.at)
        if name in detail.get("failed", ()):
            kind, _, text = str(detail.get("errors", {}).get(name, "")).partition(": ")
            said = f"{kind}: {text}" if kind else "it failed"
            return _Loaded(False, f"{one_line(said, 200)} ({at})", (kind, text), entry.at)
        if any(str(one).partition(":")[0] == name for one in detail.get("skipped", ())):
            return None  # it was not imported then
        return _Loaded(True, at, None, entry.at)
    return None


def _written(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _loads(loaded: _Loaded, row: Standing) -> Link:
    if loaded.failed is not None and loaded.failed[0] in (NO_FUNCTION, IS_CLASS):
        return Link("loads", True, "it loads, and has nothing to call", "", loaded.at, loaded.run)
    command = f"`hookscope load {quote(row.hook.name)}`"
    then = {None: f"{command} loads it", False: f"mend it; {command} tries again", True: ""}[loaded.passed]
    return Link("loads", loaded.passed, loaded.found, then, loaded.at, loaded.run)


def _export(loaded: _Loaded) -> Link:
    if loaded.failed is not None and loaded.failed[0] in (NO_FUNCTION, IS_CLASS):
        return Link("export", False, loaded.found, "name the function in `export:`, or write it")
    known = loaded.passed if loaded.failed is None else None
    return Link("export", known, "it could be called" if known else "known after a load")


# Registered


def _registered(view: View, row: Standing, loaded: _Loaded) -> Link:
    keys = [call.key for call in view.registry.registrations if call.hook is row.hook]
    if keys and loaded.passed is False:
        return Link("registered", None, f"as {', '.join(dict.fromkeys(keys))}, once it loads")
    if keys:
        return Link("registered", True, f"as {', '.join(dict.fromkeys(keys))}")
    if row.events is None:
        return Link("registered", None, "what it registers is known after a load")
    stopped = not may_run(row)
    return Link("registered", False, f"it is {row.state}" if stopped else "it registers nothing")


# Arrived


def _arrived(view: View, row: Standing, journal: Journal, now: datetime) -> Link:
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
    first = next((key for key in keys if key != EVERY), "")
    known = view.host.dialect.catalogue().by_key.get(first)
    slip = slip_of(row, view)
    first = slip[0] if slip is not None else first
    when = f": {product} lists no {first}" if first else ""
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


# Ran


def _ran(row: Standing, last: StoredRun | None, now: datetime) -> Link:
    result = _result(last, row) if last is not None else None
    if last is None or result is None:
        return Link("ran", None, "no run of it is on record")
    where = f"in run {last.id}, {ago(last.started, now)}"
    if result["status"] == "ok":
        return Link("ran", True, f"{duration(result['ms'] / 1000)} {where}", "", last.started, last.id)
    error = result["error"]
    said = f": {error['type']}: {one_line(str(error['message']), 160)}" if error is not None else ""
    then = f"`hookscope replay {last.id}` fires it again"
    return Link("ran", False, f"{result['status']} {where}{said}", then, last.started, last.id)

"""What the journal gives back: queries on a connection of the caller's."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from heapq import merge
from itertools import islice
from typing import Any, cast

from hookscope.core.event import from_iso
from hookscope.core.runs import Event
from hookscope.journal.circumstances import HandlerFile, handlers_of
from hookscope.journal.owner import Owner
from hookscope.journal.records import Outcome, begun_document, event_of
from hookscope.journal.search import ENDED, has_index, match_of
from hookscope.journal.storable import storable
from hookscope.journal.thin import whole
from hookscope.journal.wanted import Wanted
from hookscope.values import dataclass

COLUMNS = """
    r.id, w.path, c.dialect, c.version, r.key, r.event, r.started_ms, r.owner_pid, r.owner_started,
    r.outcome, r.took, r.document, r.pinned, c.handlers,
    (select lower(hex(s.digest)) from settings s where s.id = c.settings)"""
# `cross join` everywhere: tables are asked in the order in which they stand, so that nothing is sorted.
NAMED = "cross join workspaces w on w.id = r.workspace cross join circumstances c on c.id = r.circumstances"
LAST = 2**63 - 1
MASK = re.compile(r"\$\{SECRET:(\w+)\}")
ENTRY_COLUMNS = "id, at, workspace, kind, subject, level, text, detail"


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as it is on record, with its secrets masked.

    `document` has the shape of `fire --json` and some more; `run_of` makes a Run of it. Of a run without
    an end it has the event and no results.
    """

    id: int
    event: Event
    key: str
    started: datetime  # when it was put on record
    took: float | None  # seconds; None without an end
    outcome: Outcome  # interrupted: no end, and its owner is dead
    document: Mapping[str, Any]
    owner: Owner
    workspace: str
    dialect: str
    version: str = ""  # of the program that the dialect follows to the letter; empty: of a guide
    pinned: bool = False
    handlers: tuple[HandlerFile, ...] = ()  # those that were planned, in order
    settings: str | None = None  # the digest of the host's settings in force; None: it had none


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened and is no run: a load, a change, a notice."""

    id: int
    at: datetime
    workspace: str
    kind: str
    subject: str
    level: str
    text: str
    detail: Any = None


@dataclass(frozen=True, slots=True)
class Condition:
    """A part of a query's `where`, and the values of its question marks."""

    sql: str
    values: tuple[object, ...]


def moment(when: datetime) -> int:
    """Milliseconds since 1970, for comparing in SQL."""
    return round(when.timestamp() * 1000)


def select_runs(
    database: sqlite3.Connection,
    workspace: str,
    wanted: Wanted,
    limit: int,
    *,
    after: int = 0,
    newest_first: bool = True,
) -> tuple[StoredRun, ...]:
    """The first runs of a workspace that are wanted. `after`: only those with a higher id."""
    found = database.execute("select id from workspaces where path = ?", (workspace,)).fetchone()
    if found is None:
        return ()
    low, high = _within(database, wanted, after)
    here = [Condition("r.workspace = ?", found), Condition("r.id between ? and ?", (low, high))]
    if wanted.until is not None:
        until = moment(wanted.until)
        here.append(Condition("(r.at <= ? or r.started_ms <= ?)", (until, until)))
    order = "desc" if newest_first else "asc"
    alive = cache(_is_alive)  # many runs have one owner, and asking may need a program

    def runs(source: str, more: Sequence[Condition] = (), by: str = "r.id") -> Iterator[StoredRun]:
        """Read one by one: nothing is sorted, and who has enough asks for no more."""
        where = " and ".join(part.sql for part in (*more, *here))
        query = f"select {COLUMNS} from {source} {NAMED} where {where} order by {by} {order}"
        values = [value for part in (*more, *here) for value in part.values]
        return (_stored(row, alive) for row in database.execute(query, values))

    if not wanted.asks_inside:
        return tuple(islice(runs("runs r"), limit))
    told = _told(wanted)
    if not has_index(database):
        return tuple(islice(filter(wanted.takes, runs("runs r", told)), limit))
    fresh = filter(wanted.takes, runs("fresh f cross join runs r on r.id = f.run", told, by="f.run"))
    match = match_of(wanted, *found)
    filed: Iterable[StoredRun] = ()
    if match is not None:
        sought = [
            Condition("s.search match ?", (match.text,)),
            Condition("s.rowid between ? and ?", (low, high)),
        ]
        filed = runs("search s cross join runs r on r.id = s.rowid", sought, by="s.rowid")
        filed = filed if match.exact else filter(wanted.takes, filed)
    both = merge(fresh, filed, key=lambda run: run.id, reverse=newest_first)
    return tuple(islice(both, limit))


def _within(database: sqlite3.Connection, wanted: Wanted, after: int) -> tuple[int, int]:
    """The lowest and the highest id that may be wanted: ids come in the order of time.

    Where the clock is behind that of an earlier run, no run since then tells by its place when it began.
    """
    low = after + 1
    if wanted.since is not None:
        low = max(low, _first_at(database, moment(wanted.since)))
    if wanted.until is None or _is_set_back(database):
        return low, LAST
    return low, _first_at(database, moment(wanted.until) + 1) - 1


def _is_set_back(database: sqlite3.Connection) -> bool:
    last = database.execute("select at > started_ms from runs order by id desc limit 1").fetchone()
    return last is not None and bool(last[0])


def _first_at(database: sqlite3.Connection, when: int) -> int:
    """The id of the first run that did not begin before; one that no run has yet, where all did."""
    low = 1
    high = database.execute("select coalesce(max(id), 0) + 1 from runs").fetchone()[0]
    while low < high:
        middle = (low + high) // 2
        row = database.execute("select id, at from runs where id >= ? limit 1", (middle,)).fetchone()
        if row is None or row[1] >= when:
            high = middle
        else:
            low = row[0] + 1
    return int(low)


def _told(wanted: Wanted) -> list[Condition]:
    """What columns tell, so that not every document is read."""
    found = [Condition("r.pinned", ())] if wanted.pinned else []
    if wanted.key is not None:
        found.append(Condition("r.key = ?", (storable(wanted.key),)))
    if wanted.outcomes is not None:
        ended = ", ".join(f"'{one}'" for one in sorted(wanted.outcomes & ENDED))
        open_ones = " or r.outcome is null" if wanted.outcomes - ENDED else ""
        found.append(Condition(f"(r.outcome in ({ended}){open_ones})", ()))
    return found


def select_run(database: sqlite3.Connection, run_id: int) -> StoredRun | None:
    """The run of that id, of whatever workspace."""
    query = f"select {COLUMNS} from runs r {NAMED} where r.id = ?"
    row = database.execute(query, (run_id,)).fetchone()
    return None if row is None else _stored(row, _is_alive)


def select_settings(database: sqlite3.Connection, digests: Iterable[str]) -> dict[str, Any]:
    """The settings that runs name, each once: `{"file": …, "value": …}`."""
    found = {}
    for digest in dict.fromkeys(digests):
        row = database.execute(
            "select text from settings where digest = ?", (bytes.fromhex(digest),)
        ).fetchone()
        if row is not None:
            found[digest] = json.loads(row[0])
    return found


def select_entries(
    database: sqlite3.Connection, wanted: Sequence[Condition], limit: int, *, newest_first: bool = True
) -> tuple[Entry, ...]:
    """The entries that all conditions hold for."""
    where = " and ".join(part.sql for part in wanted) or "true"
    order = "desc" if newest_first else "asc"
    values = [value for part in wanted for value in part.values]
    query = f"select {ENTRY_COLUMNS} from entries where {where} order by id {order} limit ?"
    return tuple(_entry(row) for row in database.execute(query, (*values, limit)))


def _is_alive(owner: Owner) -> bool:
    return owner.alive


def _stored(row: tuple[Any, ...], alive: Callable[[Owner], bool]) -> StoredRun:
    run_id, workspace, dialect, version, key, event_text, started, pid, owner_started, *more = row
    outcome, took, rest, pinned, handlers, settings = more
    event_json = json.loads(event_text)
    event = event_of(event_json)
    owner = Owner(pid, owner_started)
    if rest is None:
        document = {**begun_document(run_id, event, dialect), "masked": _masked_in(event_text)}
    else:
        document = {"id": run_id, "event": event_json, **whole(json.loads(rest), event_json)}
    if outcome is None:
        outcome = "running" if alive(owner) else "interrupted"
    return StoredRun(
        run_id,
        event,
        key,
        datetime.fromtimestamp(started / 1000, UTC),
        took,
        cast(Outcome, outcome),
        document,
        owner,
        workspace,
        dialect,
        version,
        bool(pinned),
        handlers_of(handlers),
        settings,
    )


def _masked_in(text: str) -> list[str]:
    return list(dict.fromkeys(MASK.findall(text)))


def _entry(row: tuple[Any, ...]) -> Entry:
    entry_id, at, workspace, kind, subject, level, text, detail = row
    value = None if detail is None else json.loads(detail)
    return Entry(entry_id, from_iso(at), workspace, kind, subject, level, text, value)

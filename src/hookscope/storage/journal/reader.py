"""Reads runs and entries of one workspace from the journal."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import Any, cast

from hookscope.model.hook_event import from_iso
from hookscope.model.run import Event
from hookscope.storage.journal.database import error_explanation, open_reading
from hookscope.storage.journal.encodings import complete_document
from hookscope.storage.journal.records import Outcome, begun_document, event_of, storable_text
from hookscope.storage.journal.run_environment import HandlerFile, RunOwner, handlers_from_text
from hookscope.storage.journal.run_filter import (
    ENDED,
    NOT_FAILED_OUTCOMES,
    RunFilter,
    has_index,
    index_query_of,
)
from hookscope.storage.journal.secrets import MASKED_SECRET
from hookscope.values import dataclass

COLUMNS = """
    r.id, w.path, c.dialect, c.version, r.key, r.event, r.started_ms, r.owner_pid, r.owner_started,
    r.outcome, r.took, r.document, r.pinned, c.handlers,
    (select lower(hex(s.digest)) from settings s where s.id = c.settings)"""
# `cross join` everywhere makes SQLite read the tables in this order, so that nothing is sorted.
RUN_JOINS = (
    "cross join workspaces w on w.id = r.workspace cross join circumstances c on c.id = r.circumstances"
)
LAST_ID = 2**63 - 1
ENTRY_COLUMNS = "id, at, workspace, kind, subject, level, text, detail"


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A recorded run with masked secrets.

    `document` has the members of `fire --json` and more; `run_of` returns its Run. An unfinished run has
    an event but no results.
    """

    id: int
    event: Event
    key: str
    started: datetime  # when it was recorded
    took: float | None  # seconds; None without an end
    outcome: Outcome  # interrupted: no end, and its owner is dead
    document: Mapping[str, Any]
    owner: RunOwner
    workspace: str
    dialect: str
    version: str = ""  # of the host program that the dialect follows; empty: a guide
    pinned: bool = False
    handlers: tuple[HandlerFile, ...] = ()  # those that were planned, in order
    settings: str | None = None  # the digest of the host's settings; None: it had none


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A recorded load, change or notice."""

    id: int
    at: datetime
    workspace: str
    kind: str
    subject: str
    level: str
    text: str
    detail: Any = None


@dataclass(frozen=True, slots=True)
class QueryCondition:
    """A part of a query's `where`, and its parameters."""

    sql: str
    values: tuple[object, ...]


def milliseconds_of(when: datetime) -> int:
    """Return milliseconds since 1970, for comparing in SQL."""
    return round(when.timestamp() * 1000)


def select_runs(
    database: sqlite3.Connection,
    workspace: str,
    run_filter: RunFilter,
    limit: int,
    *,
    after: int = 0,
    newest_first: bool = True,
) -> tuple[StoredRun, ...]:
    """Return the first matching runs of a workspace. `after`: only those with a higher id."""
    found = database.execute("select id from workspaces where path = ?", (workspace,)).fetchone()
    if found is None:
        return ()
    low, high = _id_range(database, run_filter, after)
    conditions = [
        QueryCondition("r.workspace = ?", found),
        QueryCondition("r.id between ? and ?", (low, high)),
    ]
    if run_filter.until is not None:
        until = milliseconds_of(run_filter.until)
        conditions.append(QueryCondition("(r.at <= ? or r.started_ms <= ?)", (until, until)))
    order = "desc" if newest_first else "asc"
    alive = cache(_owner_is_alive)  # many runs have one owner, and the check may run a program

    def runs(source: str, more: Sequence[QueryCondition] = (), by: str = "r.id") -> Iterator[StoredRun]:
        """Read runs one by one: nothing is sorted, and the caller may stop at any time."""
        where = " and ".join(part.sql for part in (*more, *conditions))
        query = f"select {COLUMNS} from {source} {RUN_JOINS} where {where} order by {by} {order}"
        values = [value for part in (*more, *conditions) for value in part.values]
        return (_stored_run(row, alive) for row in database.execute(query, values))

    if not run_filter.uses_index:
        return tuple(islice(runs("runs r"), limit))
    column_conditions = _column_conditions(run_filter)
    if not has_index(database):
        return tuple(islice(filter(run_filter.matches, runs("runs r", column_conditions)), limit))
    fresh = filter(
        run_filter.matches, runs("fresh f cross join runs r on r.id = f.run", column_conditions, by="f.run")
    )
    match = index_query_of(run_filter, *found)
    filed: Iterable[StoredRun] = ()
    if match is not None:
        sought = [
            QueryCondition("s.search match ?", (match.text,)),
            QueryCondition("s.rowid between ? and ?", (low, high)),
        ]
        filed = runs("search s cross join runs r on r.id = s.rowid", sought, by="s.rowid")
        filed = filed if match.is_exact else filter(run_filter.matches, filed)
    both = merge(fresh, filed, key=lambda run: run.id, reverse=newest_first)
    return tuple(islice(both, limit))


def _id_range(database: sqlite3.Connection, run_filter: RunFilter, after: int) -> tuple[int, int]:
    """Return the lowest and highest id that can match: ids are in the order of time.

    If the clock was set back, the highest id is unlimited.
    """
    low = after + 1
    if run_filter.since is not None:
        low = max(low, _first_id_at(database, milliseconds_of(run_filter.since)))
    if run_filter.until is None or _clock_was_set_back(database):
        return low, LAST_ID
    return low, _first_id_at(database, milliseconds_of(run_filter.until) + 1) - 1


def _clock_was_set_back(database: sqlite3.Connection) -> bool:
    last = database.execute("select at > started_ms from runs order by id desc limit 1").fetchone()
    return last is not None and bool(last[0])


def _first_id_at(database: sqlite3.Connection, when: int) -> int:
    """Return the id of the first run that started at or after a time; an unused id if there is none."""
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


def _column_conditions(run_filter: RunFilter) -> list[QueryCondition]:
    """Return the conditions that columns can check, so that not every document is read."""
    found = [QueryCondition("r.pinned", ())] if run_filter.pinned else []
    if run_filter.key is not None:
        found.append(QueryCondition("r.key = ?", (storable_text(run_filter.key),)))
    if run_filter.outcomes is not None:
        ended = ", ".join(f"'{one}'" for one in sorted(run_filter.outcomes & ENDED))
        open_ones = " or r.outcome is null" if run_filter.outcomes - ENDED else ""
        found.append(QueryCondition(f"(r.outcome in ({ended}){open_ones})", ()))
    return found


def _owner_is_alive(owner: RunOwner) -> bool:
    return owner.alive


def _stored_run(row: tuple[Any, ...], alive: Callable[[RunOwner], bool]) -> StoredRun:
    run_id, workspace, dialect, version, key, event_text, started, pid, owner_started, *more = row
    outcome, took, rest, pinned, handlers, settings = more
    event_json = json.loads(event_text)
    event = event_of(event_json)
    owner = RunOwner(pid, owner_started)
    if rest is None:
        masked = list(dict.fromkeys(MASKED_SECRET.findall(event_text)))
        document = {**begun_document(run_id, event, dialect), "masked": masked}
    else:
        document = {"id": run_id, "event": event_json, **complete_document(json.loads(rest), event_json)}
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
        handlers_from_text(handlers),
        settings,
    )


def _entry(row: tuple[Any, ...]) -> JournalEntry:
    entry_id, at, workspace, kind, subject, level, text, detail = row
    value = None if detail is None else json.loads(detail)
    return JournalEntry(entry_id, from_iso(at), workspace, kind, subject, level, text, value)


GARBLED = (ValueError, LookupError, TypeError, AttributeError, RecursionError)  # raised for invalid documents
PAGE = 500  # runs read at once when all are requested


class JournalReader:
    """Reads the record of one workspace; the file may contain others.

    Reading creates no file: before the first write, all results are empty. Safe from any thread; blocks, so
    do not call it in the thread that draws the screen. Raises JournalError, an OSError with a text for the
    user.
    """

    def __init__(self, path: Path, workspace: str) -> None:
        self.path = path
        self.workspace = storable_text(workspace)

    def recent(
        self,
        limit: int = 200,
        *,
        hook: str | None = None,
        key: str | None = None,
        failed: bool | None = None,
        since: datetime | None = None,
        text: str | None = None,
    ) -> tuple[StoredRun, ...]:
        """Return the last matching runs of this workspace, newest first; see `select`.

        Args:
            failed: True: only failed runs; False: only others, including unfinished ones.
        """
        outcomes: frozenset[Outcome] | None = None
        if failed is not None:
            outcomes = frozenset({"failed"}) if failed else NOT_FAILED_OUTCOMES
        return self.select(RunFilter(hook, key, outcomes, since, None, text), limit)

    def select(
        self, run_filter: RunFilter, limit: int = 200, *, after: int = 0, newest_first: bool = True
    ) -> tuple[StoredRun, ...]:
        """Return the last matching runs of this workspace, newest first; or the first ones, oldest first.

        `after`: only those with a higher id.
        """
        with self._reading() as database:
            if database is None:
                return ()
            return select_runs(
                database, self.workspace, run_filter, limit, after=after, newest_first=newest_first
            )

    def iterate(self, run_filter: RunFilter) -> Iterator[StoredRun]:
        """Yield all matching runs of this workspace, oldest first, read in portions."""
        after = 0
        while page := self.select(run_filter, PAGE, after=after, newest_first=False):
            yield from page
            after = page[-1].id

    def newer_than(self, run_id: int, limit: int = 1_000) -> tuple[StoredRun, ...]:
        """Return this workspace's runs that are newer than the given one, oldest first.

        Such a run may be unfinished; read it again with `run`.
        """
        return self.select(RunFilter(), limit, after=run_id, newest_first=False)

    def run(self, run_id: int) -> StoredRun | None:
        """Return the run with that id, of any workspace; None if it does not exist or was deleted."""
        query = f"select {COLUMNS} from runs r {RUN_JOINS} where r.id = ?"
        with self._reading() as database:
            row = None if database is None else database.execute(query, (run_id,)).fetchone()
            return None if row is None else _stored_run(row, _owner_is_alive)

    def settings(self, runs: Iterable[StoredRun]) -> dict[str, Any]:
        """Return the settings of these runs by digest, each once: `{"file": …, "value": …}`."""
        query, found = "select text from settings where digest = ?", dict[str, Any]()
        digests = dict.fromkeys(run.settings for run in runs if run.settings is not None)
        with self._reading() as database:
            if database is None:
                return {}
            for digest in digests:
                row = database.execute(query, (bytes.fromhex(digest),)).fetchone()
                if row is not None:
                    found[digest] = json.loads(row[0])
        return found

    def entries(
        self, limit: int = 200, *, kind: str | None = None, newer_than: int | None = None
    ) -> tuple[JournalEntry, ...]:
        """Return the last entries of this workspace, newest first; with `newer_than`, oldest first."""
        conditions = [QueryCondition("workspace = ?", (self.workspace,))]
        if kind is not None:
            conditions.append(QueryCondition("kind = ?", (storable_text(kind),)))
        if newer_than is not None:
            conditions.append(QueryCondition("id > ?", (newer_than,)))
        where = " and ".join(part.sql for part in conditions)
        order = "desc" if newer_than is None else "asc"
        values = [value for part in conditions for value in part.values]
        query = f"select {ENTRY_COLUMNS} from entries where {where} order by id {order} limit ?"
        with self._reading() as database:
            if database is None:
                return ()
            return tuple(_entry(row) for row in database.execute(query, (*values, limit)))

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection | None]:
        """Open a connection for one query; None if nothing was written yet."""
        database = open_reading(self.path)
        try:
            yield database
        except (sqlite3.Error, *GARBLED) as error:
            raise error_explanation(self.path, error) from error
        finally:
            if database is not None:
                database.close()

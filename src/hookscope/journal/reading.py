"""What the journal gives back: queries on a connection of the caller's."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, cast

from hookscope.core.event import from_iso
from hookscope.core.runs import Event
from hookscope.journal.owner import Owner
from hookscope.journal.records import Outcome, begun_document, event_of

COLUMNS = (
    "id, workspace, dialect, key, event, started, owner_pid, owner_started, ended, outcome, took, document"
)
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


def storable(text: str) -> str:
    """The text as a column can hold it: lone surrogates (file names in broken UTF-8) are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def moment(when: datetime) -> int:
    """Milliseconds since 1970, for comparing in SQL."""
    return round(when.timestamp() * 1000)


def conditions(
    *, hook: str | None, key: str | None, failed: bool | None, since: datetime | None, text: str | None
) -> tuple[Condition, ...]:
    """What `Journal.recent` was asked for; nothing for what is None."""
    found = []
    if hook is not None:
        found.append(Condition("id in (select run from results where hook = ?)", (storable(hook),)))
    if key is not None:
        found.append(Condition("key = ?", (storable(key),)))
    if failed is not None:
        found.append(Condition("outcome = 'failed'" if failed else "outcome is not 'failed'", ()))
    if since is not None:
        found.append(Condition("started_ms >= ?", (moment(since),)))
    if text:
        found.append(_mentions(text))
    return tuple(found)


def _mentions(text: str) -> Condition:
    """Only texts are searched, not the documents' keys; letters of ASCII in either case."""
    sql = "exists (select 1 from json_tree({0}) where type = 'text' and instr(lower(atom), lower(?)))".format
    wanted = storable(text)
    return Condition(f"({sql('event')} or {sql('document')})", (wanted, wanted))


def select_runs(
    database: sqlite3.Connection, wanted: Sequence[Condition], limit: int, *, newest_first: bool = True
) -> tuple[StoredRun, ...]:
    """The runs that all conditions hold for."""
    rows = _select(database, f"select {COLUMNS} from runs", wanted, limit, newest_first=newest_first)
    alive = cache(_is_alive)  # many runs have one owner, and asking may need a program
    return tuple(_stored(row, alive) for row in rows)


def select_entries(
    database: sqlite3.Connection, wanted: Sequence[Condition], limit: int, *, newest_first: bool = True
) -> tuple[Entry, ...]:
    """The entries that all conditions hold for."""
    rows = _select(database, f"select {ENTRY_COLUMNS} from entries", wanted, limit, newest_first=newest_first)
    return tuple(_entry(row) for row in rows)


def _select(
    database: sqlite3.Connection, head: str, wanted: Sequence[Condition], limit: int, *, newest_first: bool
) -> list[Any]:
    where = " and ".join(part.sql for part in wanted) or "true"
    order = "desc" if newest_first else "asc"
    values = [value for part in wanted for value in part.values]
    return database.execute(f"{head} where {where} order by id {order} limit ?", (*values, limit)).fetchall()


def _is_alive(owner: Owner) -> bool:
    return owner.alive


def _stored(row: tuple[Any, ...], alive: Callable[[Owner], bool]) -> StoredRun:
    run_id, workspace, dialect, key, event_text, started, pid, owner_started, ended, outcome, took, rest = row
    event_json = json.loads(event_text)
    event = event_of(event_json)
    owner = Owner(pid, owner_started)
    if rest is None:
        document = {**begun_document(run_id, event, dialect), "masked": _masked_in(event_text)}
    else:
        document = {"id": run_id, "event": event_json, **json.loads(rest)}
    if ended is None:
        outcome = "running" if alive(owner) else "interrupted"
    return StoredRun(
        run_id,
        event,
        key,
        from_iso(started),
        took,
        cast(Outcome, outcome),
        document,
        owner,
        workspace,
        dialect,
    )


def _masked_in(text: str) -> list[str]:
    return list(dict.fromkeys(MASK.findall(text)))


def _entry(row: tuple[Any, ...]) -> Entry:
    entry_id, at, workspace, kind, subject, level, text, detail = row
    value = None if detail is None else json.loads(detail)
    return Entry(entry_id, from_iso(at), workspace, kind, subject, level, text, value)

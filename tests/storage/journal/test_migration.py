"""A journal that an earlier version wrote: all of it is there afterwards."""

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hookscope.model.hook_event import iso
from hookscope.model.run import Ending, Event, NotRun, Registration, Result, Run
from hookscope.storage.journal.database import APPLICATION, MIGRATIONS, SCHEMA_VERSION, open_database
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.records import event_document, run_document, storable_text
from hookscope.storage.journal.run_filter import RunFilter

STARTED = datetime(2026, 11, 20, 10, tzinfo=UTC)
EVENTS = [
    Event("command", "new", "agent:main", {"text": "first words"}, timestamp=STARTED),
    Event("command", "\udcff", context={"\udcff": "\udcfe"}, timestamp=STARTED),
    Event("gateway", "startup", timestamp=STARTED),
]


@pytest.fixture
def path_of_version_1(path: Path) -> Path:
    """As version 1 wrote it: three runs here, the last without an end, one elsewhere; the newest is gone."""
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as old, old:
        old.executescript(MIGRATIONS[0])
        old.execute(f"pragma application_id = {APPLICATION}")
        old.execute("pragma user_version = 1")
        places = ["/agents/agent"] * 3 + ["/agents/other", "/agents/agent"]
        for number, (event, workspace) in enumerate(zip([*EVENTS, *EVENTS[:2]], places, strict=True), 1):
            put(old, number, event, workspace, ended=number != 3)
        old.execute("delete from runs where id = 5")
        values = (iso(STARTED), 0, "/agents/agent", "load", "hooks", "info", "2 were loaded")
        names = "at, at_ms, workspace, kind, subject, level, text"
        old.execute(f"insert into entries ({names}) values (?, ?, ?, ?, ?, ?, ?)", values)
    return path


def put(old: sqlite3.Connection, number: int, event: Event, workspace: str, ended: bool) -> None:
    call = Registration(event.key, "greet", print)
    result = Result(
        call, "error" if number == 2 else "ok", messages=("hello",), stdout="printed\n", took=0.25
    )
    left = NotRun("other", "it is off", subscribed=False)
    run = Run(number, event, (result,), (left,), Ending(), ("hello",), {"after": number}, took=0.5)
    document = {**run_document(run, "openclaw"), "masked": ["NAME"]}
    del document["event"], document["id"]
    text, rest = json.dumps(event_document(event)), json.dumps(document)
    columns = "id, workspace, dialect, key, event, started, started_ms, owner_pid, owner_started, size"
    dialect = "openclaw" if number < 4 else "eve"
    moment = round(STARTED.timestamp() * 1000) - (5_000 if number == 2 else 0)  # the clock was set back
    row = (
        number,
        workspace,
        dialect,
        storable_text(event.key),
        text,
        iso(STARTED),
        moment,
        2**22 + 1,
        "then",
    )
    old.execute(f"insert into runs ({columns}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, len(text)))
    if ended:
        outcome = "failed" if number == 2 else "ok"
        changes = (iso(STARTED), outcome, 0.5, rest, len(rest), number)
        query = "update runs set ended = ?, outcome = ?, took = ?, document = ?, size = size + ? where id = ?"
        old.execute(query, changes)
        old.execute(
            "insert into results values (?, 0, 'greet', ?, 'ok', 0.25)", (number, storable_text(event.key))
        )


def check(journal: Journal) -> None:
    third, second, first = journal.recent()
    assert [run.id for run in (first, second, third)] == [1, 2, 3]
    assert [run.event for run in (first, second, third)] == EVENTS
    assert [run.outcome for run in (first, second, third)] == ["ok", "failed", "interrupted"]
    assert (first.took, third.took) == (0.5, None)
    assert first.started == STARTED
    assert (first.workspace, first.dialect, first.version) == ("/agents/agent", "openclaw", "")
    assert (first.handlers, first.settings, first.pinned) == ((), None, False)
    assert first.owner.pid == 2**22 + 1
    assert first.document["context"] == {"after": 1}
    assert first.document["masked"] == ["NAME"]
    assert first.document["results"][0]["stdout"] == "printed\n"
    assert first.document["not_run"] == [{"hook": "other", "reason": "it is off", "listens": False}]
    other = journal.run(4)
    assert other is not None
    assert (other.workspace, other.dialect) == ("/agents/other", "eve")
    assert [entry.text for entry in journal.entries()] == ["2 were loaded"]
    assert [run.id for run in journal.recent(text="first words")] == [1]
    assert [run.id for run in journal.recent(hook="greet", failed=True)] == [2]
    assert [run.id for run in journal.recent(key="command:\udcff")] == [2]
    assert [run.id for run in journal.select(RunFilter(since=STARTED))] == [3, 2, 1]


def test_reading_migrates_an_old_journal(path_of_version_1: Path) -> None:
    journal = Journal(path_of_version_1, "/agents/agent", "d")
    check(journal)
    with closing(sqlite3.connect(path_of_version_1)) as database:
        assert database.execute("pragma user_version").fetchone() == (SCHEMA_VERSION,)
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
        names = {name for (name,) in database.execute("select name from sqlite_master")}
    assert not {"results", "runs_of_version_1"} & names


async def test_run_ids_continue_in_a_migrated_journal(path_of_version_1: Path) -> None:
    with Journal(path_of_version_1, "/agents/agent", "d") as journal:
        assert await journal.begin(Event("command")) == 6  # 5 was given, and is gone
        number = await journal.begin(Event("command"))
        assert await journal.pin([1, number]) == {1, number}
    pinned = journal.select(RunFilter(pinned=True))
    assert [run.id for run in pinned] == [7, 1]
    with (
        closing(sqlite3.connect(path_of_version_1)) as database,
        database,
    ):  # all that has ended is in the index
        assert database.execute("select run from fresh order by run").fetchall() == [(3,), (6,), (7,)]
        database.execute("delete from runs where id > 4")
        database.execute("update runs set pinned = 0")


def test_cleaning_up_keeps_a_migrated_journal(path_of_version_1: Path) -> None:
    with Journal(path_of_version_1, "/agents/agent", "d") as journal:
        asyncio.run(journal.note("notice", "", ""))
    with closing(sqlite3.connect(path_of_version_1)) as database, database:
        database.execute("delete from entries where kind = 'notice'")
    check(Journal(path_of_version_1, "/agents/agent", "d"))


def test_an_empty_old_journal_is_migrated(path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as old, old:
        old.executescript(MIGRATIONS[0])
        old.execute(f"pragma application_id = {APPLICATION}")
        old.execute("pragma user_version = 1")
    open_database(path).close()
    journal = Journal(path, "w", "d")
    assert journal.recent() == ()
    assert asyncio.run(journal.begin(Event("command"))) == 1
    journal.close()


async def test_several_processes_can_migrate_at_once(path_of_version_1: Path) -> None:
    journals = [Journal(path_of_version_1, "/agents/agent", "d") for _ in range(6)]
    numbers = await asyncio.gather(*(journal.begin(Event("command")) for journal in journals))
    assert sorted(numbers) == list(range(6, 12))
    for journal in journals:
        journal.close()
    assert len(journals[0].recent()) == 9

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing
from pathlib import Path

import pytest

from hookscope.model.run import Event, Run
from hookscope.storage.journal.database import commit_together, open_database
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.writer import JOBS_BETWEEN_CLEANUPS, Writer, clean_up
from hookscope.storage.state_files import Retention

NOTE = (
    "insert into entries (at, at_ms, workspace, kind, subject, level, text) values ('', 0, '', '', '', '', ?)"
)


def note(text: str) -> Callable[[sqlite3.Connection], int]:
    return lambda database: database.execute(NOTE, (text,)).lastrowid or 0


def notes(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as database:
        return [text for (text,) in database.execute("select text from entries order by id")]


def size_of(path: Path) -> int:
    return path.stat().st_size


def refuse(_: sqlite3.Connection) -> int:
    raise ValueError("not this one")


@pytest.fixture
def writer(path: Path) -> Iterator[Writer]:
    made = Writer(path)
    yield made
    made.close()


def test_waiting_writes_share_one_transaction(path: Path) -> None:
    gate, seen = threading.Event(), list[str]()

    def connect(path: Path) -> sqlite3.Connection:
        database = open_database(path)
        database.set_trace_callback(seen.append)
        gate.wait(60)
        return database

    writer = Writer(path, connect=connect)
    first = writer.submit(note("first"))  # its batch waits at the gate
    rest = [writer.submit(note(str(number))) for number in range(20)]
    gate.set()
    writer.close()
    assert first.result(0) == 1
    assert len({job.result(0) for job in rest}) == 20
    assert sum(text.lower().startswith("commit") for text in seen) <= 3  # first, rest, tidying


def test_a_failed_transaction_is_reported_to_every_writer(path: Path) -> None:
    def full(database: sqlite3.Connection) -> int:
        database.execute("rollback")  # as SQLite does by itself then
        raise sqlite3.OperationalError("database or disk is full")

    with closing(open_database(path)) as database:
        with pytest.raises(sqlite3.OperationalError, match="is full"):
            commit_together(database, [note("before"), full, note("after")])
        commit_together(database, [note("later")])
    assert notes(path) == ["later"]


def test_a_busy_journal_is_cleaned_up_too(path: Path) -> None:
    writer = Writer(path, Retention(entries=5), idle=1_000_000.0)
    for number in range(
        JOBS_BETWEEN_CLEANUPS + 1
    ):  # the last one is written when the others have been tidied
        writer.submit(note(str(number))).result(60)
    assert len(notes(path)) == 6
    writer.close()


def test_a_failed_write_does_not_affect_others(path: Path) -> None:
    def half(database: sqlite3.Connection) -> int:
        note("half")(database)
        return refuse(database)

    with closing(open_database(path)) as database:
        answers = commit_together(database, [note("before"), half, note("after")])
        (alone,) = commit_together(database, [half])
        commit_together(database, [note("at last")])
    assert isinstance(answers[1], ValueError)
    assert isinstance(alone, ValueError)
    assert notes(path) == ["before", "after", "at last"]


def test_closing_writes_everything_that_waits(writer: Writer, path: Path) -> None:
    jobs = [writer.submit(note(str(number))) for number in range(200)]
    writer.close()
    assert all(job.done() for job in jobs)
    assert notes(path) == [str(number) for number in range(200)]


def test_a_write_of_a_cancelled_caller_is_kept(path: Path) -> None:
    gate = threading.Event()

    def connect(path: Path) -> sqlite3.Connection:
        gate.wait(60)
        return open_database(path)

    writer = Writer(path, connect=connect)
    gone: Future[int] = writer.submit(note("gone"))
    gone.cancel()
    gate.set()
    writer.close()
    assert notes(path) == ["gone"]


async def fill(path: Path, retention: Retention, count: int, run_of_id: Callable[..., Run]) -> Journal:
    """A closed journal: closing tidies."""
    with Journal(path, "w", "d", retention) as journal:
        for number in range(count):
            event = Event("command", str(number), context={"text": "x" * 1_000})
            await journal.end(run_of_id(await journal.begin(event), event=event))
            await journal.note("notice", str(number), "")
    return journal


async def test_retention_keeps_the_newest_runs(path: Path, run_of_id: Callable[..., Run]) -> None:
    journal = await fill(path, Retention(runs=3, entries=2), 10, run_of_id)
    assert [run.event.action for run in journal.recent()] == ["9", "8", "7"]
    assert [entry.subject for entry in journal.entries()] == ["9", "8"]


async def test_retention_keeps_the_size_and_always_the_newest(
    path: Path, run_of_id: Callable[..., Run]
) -> None:
    journal = await fill(path, Retention(size=10_000), 20, run_of_id)
    kept = [int(run.event.action) for run in journal.recent()]
    assert kept == list(range(19, 19 - len(kept), -1))
    assert 3 <= len(kept) < 10
    assert len((await fill(path, Retention(size=1), 2, run_of_id)).recent()) == 1


async def test_run_ids_are_never_reused(path: Path, run_of_id: Callable[..., Run]) -> None:
    await fill(path, Retention(runs=1), 3, run_of_id)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("delete from runs")
    journal = await fill(path, Retention(runs=1), 1, run_of_id)
    assert [run.id for run in journal.recent()] == [4]


async def test_the_end_of_a_deleted_run_is_ignored(
    journal: Journal, path: Path, run_of_id: Callable[..., Run]
) -> None:
    run_id = await journal.begin(Event("command", "new"))
    with closing(open_database(path)) as database:
        clean_up(database, Retention(runs=0))
    await journal.end(run_of_id(run_id))
    assert journal.recent() == ()


def test_an_idle_writer_cleans_up(path: Path) -> None:
    tidied = threading.Event()

    def connect(path: Path) -> sqlite3.Connection:
        database = open_database(path)
        database.set_trace_callback(lambda text: tidied.set() if "wal_checkpoint" in text else None)
        return database

    writer = Writer(path, connect=connect, idle=0.001)
    writer.submit(note("x")).result(10)
    assert tidied.wait(60)
    writer.close()


async def test_the_file_shrinks_when_old_runs_go(path: Path, run_of_id: Callable[..., Run]) -> None:
    await fill(path, Retention(), 300, run_of_id)
    before = size_of(path)
    await fill(path, Retention(runs=10), 1, run_of_id)
    assert size_of(path) < before / 2

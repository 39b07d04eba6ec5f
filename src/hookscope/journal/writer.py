"""The thread that writes: jobs through a queue, all that waits in one transaction, old runs cleared away."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import TypeAlias

from hookscope.journal.database import JournalError, explained, open_database

Work: TypeAlias = Callable[[sqlite3.Connection], int]

IDLE = 0.5  # seconds without a job until the journal is tidied
OFTEN = 1_000  # jobs after which it is tidied although it is never idle
PAGES_GIVEN_BACK = 2_000  # to the disk, each time: tidying must not hold up the next event for long


@dataclass(frozen=True, slots=True)
class Retention:
    """How much is kept. The newest run is kept whatever its size; `entries` are counted apart."""

    runs: int = 10_000
    size: int = 64 * 2**20  # bytes, of documents; the file is a little larger
    entries: int = 10_000


KEPT = Retention()


@dataclass(frozen=True, slots=True)
class _Job:
    work: Work
    done: Future[int] = field(default_factory=Future)


class Writer:
    """One thread that owns the connection; it starts with the first job, and opens the file then.

    A file that could not be opened or written is opened anew for the next job: its user may have done
    what the error's sentence asks for.

    Args:
        connect: opens the connection, in the thread; raises JournalError.
        idle: seconds without a job until old runs are cleared away.
    """

    def __init__(
        self,
        path: Path,
        retention: Retention = KEPT,
        *,
        connect: Callable[[Path], sqlite3.Connection] = open_database,
        idle: float = IDLE,
    ) -> None:
        self._path = path
        self._retention = retention
        self._connect = connect
        self._idle = idle
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._closed = False

    def submit(self, work: Work) -> Future[int]:
        """What `work` returns, once it is committed. Fails with a JournalError where it cannot be.

        `work` runs in the thread, inside a transaction that it may share with other jobs.
        """
        job = _Job(work)
        with self._lock:
            if self._closed:
                raise JournalError(f"{self._path} is closed in this process. Open a new Journal to write.")
            if self._thread is None:
                # A daemon: who forgets `close` must not hang at exit, and has lost nothing acknowledged.
                self._thread = Thread(target=self._run, name="journal writer", daemon=True)
                self._thread.start()
            self._jobs.put(job)
        return job.done

    def close(self) -> None:
        """Write all that waits, and wait for the thread's end. Again is nothing."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._jobs.put(None)
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        database: sqlite3.Connection | None = None
        untidy, closing = 0, False
        while not closing:
            jobs, closing = self._next_jobs(self._idle if untidy else None)
            if jobs:
                database = self._write(database, jobs)
                untidy += len(jobs)
            if not jobs or closing or untidy >= OFTEN:
                if database is not None and untidy:
                    tidy(database, self._retention)
                untidy = 0
        if database is not None:
            database.close()

    def _next_jobs(self, timeout: float | None) -> tuple[list[_Job], bool]:
        """All jobs that wait, at least one unless time runs out; and whether it was asked to close."""
        try:
            taken = [self._jobs.get(timeout=timeout)]
        except Empty:
            return [], False
        while not self._jobs.empty():
            taken.append(self._jobs.get())
        return [job for job in taken if job is not None], None in taken

    def _write(self, database: sqlite3.Connection | None, jobs: Sequence[_Job]) -> sqlite3.Connection | None:
        """The connection to go on with; None where this one is of no more use."""
        answers: Sequence[int | Exception]
        try:
            database = self._connect(self._path) if database is None else database
            answers = commit(database, [job.work for job in jobs])
        except (JournalError, sqlite3.Error) as error:
            if database is not None:
                database.close()
                database = None
            answers = [explained(self._path, error)] * len(jobs)
        for job, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, sqlite3.Error):
                answer = explained(self._path, answer)
            _tell(job.done, answer)
        return database


def commit(database: sqlite3.Connection, works: Sequence[Work]) -> list[int | Exception]:
    """One transaction for all. A job that fails, fails alone; a commit that fails raises, for all."""
    database.execute("begin immediate")
    try:
        answers = [_attempt(database, work) for work in works]
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise
    return answers


def _attempt(database: sqlite3.Connection, work: Work) -> int | Exception:
    database.execute("savepoint job")
    try:
        answer: int | Exception = work(database)
    except Exception as error:  # whoever asked is told; the others' jobs go on
        if not database.in_transaction:
            raise  # SQLite gave up the whole transaction, as it does on a full disk
        database.execute("rollback to job")
        answer = error
    database.execute("release job")
    return answer


def _tell(done: Future[int], answer: int | Exception) -> None:
    if not done.set_running_or_notify_cancel():
        return  # whoever asked has gone; the row stays
    if isinstance(answer, Exception):
        done.set_exception(answer)
    else:
        done.set_result(answer)


def tidy(database: sqlite3.Connection, retention: Retention) -> None:
    """Clear away the oldest runs and entries, and move the write-ahead log into the file."""
    try:
        commit(database, [lambda database: _forget(database, retention)])
        # A script, since `execute` takes one step, and a step gives back one page.
        database.executescript(f"pragma incremental_vacuum({PAGES_GIVEN_BACK})")
        database.execute("pragma wal_checkpoint(passive)").fetchall()
    except sqlite3.Error:
        return  # nothing is lost; the next time comes soon, and a write says what is wrong


def _forget(database: sqlite3.Connection, retention: Retention) -> int:
    too_many = "delete from {0} where id <= (select id from {0} order by id desc limit 1 offset ?)"
    # A run goes when the runs after it alone fill the size.
    too_large = """
        delete from runs where id <= (
            select max(id) from (select id, sum(size) over (order by id desc) - size as after from runs)
            where after >= ?
        )"""
    database.execute(too_many.format("runs"), (retention.runs,))
    database.execute(too_large, (retention.size,))
    return database.execute(too_many.format("entries"), (retention.entries,)).rowcount

"""The journal's writer thread: writes jobs in batches, then indexes finished runs and deletes old ones."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from hookscope.model.machine import file_identity
from hookscope.storage.journal.database import (
    DatabaseWork,
    JournalError,
    close_moved,
    commit_together,
    error_explanation,
    open_database,
    refused_by_version,
)
from hookscope.storage.journal.run_filter import DELETE_TERMS, INSERT_TERMS, IndexEntry, has_index
from hookscope.storage.state_files import DEFAULT_RETENTION, Retention
from hookscope.values import dataclass

PAGES_GIVEN_BACK = 2_000  # to the disk, each time: a cleanup must not delay the next event for long
RUNS_PER_ROUND = 100  # runs indexed or deleted in one transaction, which delays other writers
MOST_ENTRIES = 5_000  # runs per cleanup; the next one continues
RETAINED_WORKSPACES = 8  # all workspaces together may have this many times the limits of one
SELECT_ENDED_RUNS = """
    select r.id, r.workspace, r.key, r.outcome, r.pinned, r.event, r.document
    from {} cross join runs r on r.id = {}"""


def clean_up(
    database: sqlite3.Connection,
    retention: Retention,
    workspace: str | None = None,
    *,
    is_busy: Callable[[], bool] = lambda: False,
) -> bool:
    """Index new runs, delete the oldest runs and entries, and move the write-ahead log into the file.

    Return True if there is more to do: this round did enough, or a job waits.

    Args:
        workspace: whose runs to delete; None: all.
        is_busy: returns whether a job waits.
    """
    try:
        for _ in range(MOST_ENTRIES // RUNS_PER_ROUND):
            if not _committed(database, lambda database: _clean_up_round(database, retention, workspace)):
                break
            if is_busy():
                return True
        else:
            return True
        # A script, since `execute` takes one step, which gives back one page.
        database.executescript(f"pragma incremental_vacuum({PAGES_GIVEN_BACK})")
        database.execute("pragma wal_checkpoint(passive)").fetchall()
    except Exception:  # a run that cannot be read must not end the thread that writes all others
        pass  # nothing is lost: the next cleanup comes soon, and a write reports the error
    return False


def _committed(database: sqlite3.Connection, work: DatabaseWork) -> int:
    """Run work in a transaction. Raises sqlite3.Error."""
    (answer,) = commit_together(database, [work])
    if isinstance(answer, Exception):
        raise answer
    return answer


def _clean_up_round(database: sqlite3.Connection, retention: Retention, workspace: str | None) -> int:
    """Do as much as one transaction should; return how many runs were indexed or deleted."""
    filed = _index_ended_runs(database) if has_index(database) else 0
    if filed == RUNS_PER_ROUND:
        return filed  # count all waiting runs before deleting any
    done = filed
    for place in _workspace_places(database, workspace):
        done += sum(_delete_oldest(database, retention, place, interest) for interest in (0, 1))
    done += _delete_in_other_workspaces(database, retention)
    _delete_unused(database, retention)
    return done


def _index_ended_runs(database: sqlite3.Connection) -> int:
    """Count and index some newly finished runs; return their number."""
    query = (
        f"{SELECT_ENDED_RUNS.format('fresh f', 'f.run')} where r.outcome is not null order by f.run limit ?"
    )
    rows = database.execute(query, (RUNS_PER_ROUND,)).fetchall()
    database.executemany(INSERT_TERMS, ((run, IndexEntry(*facts).terms()) for run, *facts in rows))
    for run, *_ in rows:
        _count_run(database, run)
    database.executemany("delete from fresh where run = ?", ((run,) for run, *_ in rows))
    return len(rows)


def _count_run(database: sqlite3.Connection, run: int) -> None:
    query = "select workspace, interest, size, circumstances from runs where id = ?"
    workspace, interest, size, circumstances = database.execute(query, (run,)).fetchone()
    added = "insert or ignore into totals values (?, ?, 0, 0, ?)"
    database.execute(added, (workspace, interest, run))
    database.execute(
        """update totals set runs = runs + 1, size = size + ?, oldest = min(oldest, ?)
           where workspace = ? and interest = ?""",
        (size, run, workspace, interest),
    )
    database.execute("update circumstances set runs = runs + 1 where id = ?", (circumstances,))


def pin_run(database: sqlite3.Connection, run: int, workspace: str, on: bool) -> bool:
    """Pin or unpin a run. Return False if that workspace has no such run."""
    query = "select 1 from runs r join workspaces w on w.id = r.workspace where r.id = ? and w.path = ?"
    if database.execute(query, (run, workspace)).fetchone() is None:
        return False
    before = _index_entry_of(database, run)
    database.execute("update runs set pinned = ? where id = ?", (on, run))
    if before is not None:
        database.execute(DELETE_TERMS, (run, before.terms()))
        database.execute(INSERT_TERMS, (run, replace(before, pinned=on).terms()))
    return True


def _index_entry_of(database: sqlite3.Connection, run: int) -> IndexEntry | None:
    if not has_index(database):
        return None
    filed = "f.id = ? and not exists (select 1 from fresh where run = f.id)"
    row = database.execute(f"{SELECT_ENDED_RUNS.format('runs f', 'f.id')} where {filed}", (run,)).fetchone()
    return None if row is None else IndexEntry(*row[1:])


def _workspace_places(database: sqlite3.Connection, workspace: str | None) -> list[int]:
    query = "select id from workspaces where :path is null or path = :path"
    return [row[0] for row in database.execute(query, {"path": workspace})]


def _delete_oldest(database: sqlite3.Connection, retention: Retention, workspace: int, interest: int) -> int:
    """Delete the oldest runs of `interest` that exceed the limits, one round of them; return their number.

    Interest 0: ordinary; 1: failed. Pinned runs (2) stay.
    """
    runs, size, oldest = _held_runs(database, workspace, interest)
    if runs <= retention.runs and size <= retention.size:
        return 0
    indexed = "and interest > 0" if interest else ""  # lets SQLite use the index of those alone
    query = f"""
        select id, size from runs where workspace = ? and interest = ? {indexed} and id >= ?
        order by id limit ?"""
    going: list[int] = []
    for run, its_size in database.execute(query, (workspace, interest, oldest, RUNS_PER_ROUND)).fetchall():
        # A run is deleted only if the runs after it fill the size.
        if runs <= retention.runs and size - its_size < retention.size:
            break
        runs, size = runs - 1, size - its_size
        going.append(run)
    _delete_runs(database, going)
    if going:
        values = (going[-1] + 1, workspace, interest)
        database.execute("update totals set oldest = ? where workspace = ? and interest = ?", values)
    return len(going)


def _held_runs(database: sqlite3.Connection, workspace: int, interest: int) -> tuple[int, int, int]:
    """Return the number of runs of this interest, their size, and a lower bound of their ids."""
    kind = (workspace, interest)
    query = "select runs, size, oldest from totals where workspace = ? and interest = ?"
    runs, size, oldest = database.execute(query, kind).fetchone() or (0, 0, 1)
    query = """
        select count(*), coalesce(sum(r.size), 0), coalesce(min(r.id), ?) from fresh f
        cross join runs r on r.id = f.run where r.workspace = ? and r.interest = ?"""
    more, more_size, oldest_fresh = database.execute(query, (oldest, *kind)).fetchone()
    return runs + more, size + more_size, min(oldest, oldest_fresh)


def _delete_in_other_workspaces(database: sqlite3.Connection, retention: Retention) -> int:
    """If all workspaces together use too much, delete some runs of the least recently used one."""
    query = "select coalesce(sum(runs), 0), coalesce(sum(size), 0) from totals where interest < 2"
    runs, size = database.execute(query).fetchone()
    if runs <= RETAINED_WORKSPACES * retention.runs and size <= RETAINED_WORKSPACES * retention.size:
        return 0
    query = """
        select w.id from workspaces w
        where w.id <> (select workspace from runs order by id desc limit 1)
        and exists (select 1 from totals t where t.workspace = w.id and t.interest < 2 and t.runs > 0)
        order by (select max(r.id) from runs r where r.workspace = w.id) limit 1"""
    longest_ago = database.execute(query).fetchone()
    if longest_ago is None:
        return 0
    query = "select id from runs where workspace = ? and interest < 2 order by id limit ?"
    going = [run for (run,) in database.execute(query, (*longest_ago, RUNS_PER_ROUND)).fetchall()]
    _delete_runs(database, going)
    return len(going)


def _delete_runs(database: sqlite3.Connection, runs: Sequence[int]) -> None:
    for run in runs:
        entry = _index_entry_of(database, run)
        if entry is not None:
            database.execute(DELETE_TERMS, (run, entry.terms()))
    database.executemany("delete from runs where id = ?", ((run,) for run in runs))


def _delete_unused(database: sqlite3.Connection, retention: Retention) -> None:
    """Delete unused environments and settings, and old entries."""
    database.execute(
        """delete from circumstances where runs = 0
           and id not in (select r.circumstances from fresh f cross join runs r on r.id = f.run)"""
    )
    database.execute(
        "delete from settings where not exists (select 1 from circumstances c where c.settings = settings.id)"
    )
    database.execute(
        "delete from entries where id <= (select id from entries order by id desc limit 1 offset ?)",
        (retention.entries,),
    )


IDLE_SECONDS = 0.5  # seconds without a job until a cleanup
# jobs until a cleanup if the thread is never idle; a cleanup indexes more runs than this
JOBS_BETWEEN_CLEANUPS = 150


@dataclass(frozen=True, slots=True)
class _WriteJob:
    work: DatabaseWork
    done: Future[int] = field(default_factory=Future)


class Writer:
    """One thread that owns the connection. It starts with the first job, and opens the file then.

    A file that could not be opened or written is opened again for the next job, in case the user has fixed
    it; also one that was moved or removed meanwhile.

    Args:
        retention: how much to keep, of `workspace` or, if it is None, of each.
        connect: opens the connection, in the thread; raises JournalError.
        idle: seconds without a job until old runs are deleted.
    """

    def __init__(
        self,
        path: Path,
        retention: Retention = DEFAULT_RETENTION,
        workspace: str | None = None,
        *,
        connect: Callable[[Path], sqlite3.Connection] = open_database,
        idle: float = IDLE_SECONDS,
    ) -> None:
        self._path = path
        self._retention = retention
        self._workspace = workspace
        self._connect = connect
        self._idle = idle
        self._file: tuple[int, int] | None = None  # identity of the open file
        self._jobs: SimpleQueue[_WriteJob | None] = SimpleQueue()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._closed = False

    def submit(self, work: DatabaseWork) -> Future[int]:
        """Return a Future for the result of `work`, set once it is committed; fails with a JournalError.

        `work` runs in the thread, in a transaction that it may share with other jobs.
        """
        job = _WriteJob(work)
        with self._lock:
            if self._closed:
                raise JournalError(f"{self._path} is closed in this process. Open a new Journal to write.")
            if self._thread is None:
                # A daemon: a program without `close` must not hang at exit, and loses no acknowledged job.
                self._thread = Thread(target=self._run, name="journal writer", daemon=True)
                self._thread.start()
            self._jobs.put(job)
        return job.done

    def close(self) -> None:
        """Write everything pending, and wait for the thread's end. May be called repeatedly."""
        with self._lock:
            self._closed = True
            thread = self._thread
            self._jobs.put(None)
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        database: sqlite3.Connection | None = None
        jobs_since_cleanup, closing = 0, False
        while not closing:
            jobs, closing = self._next_jobs(self._idle if jobs_since_cleanup else None)
            if jobs:
                database = self._write(database, jobs)
                jobs_since_cleanup += len(jobs)
            if not jobs or closing or jobs_since_cleanup >= JOBS_BETWEEN_CLEANUPS:
                if database is not None and jobs_since_cleanup:
                    more = clean_up(
                        database, self._retention, self._workspace, is_busy=lambda: not self._jobs.empty()
                    )
                    jobs_since_cleanup = int(more)
                else:
                    jobs_since_cleanup = 0
        if database is not None:
            database.close()

    def _next_jobs(self, timeout: float | None) -> tuple[list[_WriteJob], bool]:
        """Return all waiting jobs, at least one before the timeout; and whether to close."""
        try:
            taken = [self._jobs.get(timeout=timeout)]
        except Empty:
            return [], False
        while not self._jobs.empty():
            taken.append(self._jobs.get())
        return [job for job in taken if job is not None], None in taken

    def _write(
        self, database: sqlite3.Connection | None, jobs: Sequence[_WriteJob]
    ) -> sqlite3.Connection | None:
        """Write the jobs. Return the connection to continue with; None if it is unusable."""
        answers: Sequence[int | Exception]
        if database is not None and file_identity(self._path) != self._file:
            close_moved(database, self._path)  # nobody would find what is written there
            database = None
        try:
            if database is None:
                database = self._connect(self._path)
                self._file = file_identity(self._path)
            answers = commit_together(database, [job.work for job in jobs])
        except (JournalError, sqlite3.Error) as error:
            if database is not None:
                database.close()
                database = None
            answers = [error_explanation(self._path, error)] * len(jobs)
        for job, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, sqlite3.Error):
                answer = error_explanation(self._path, refused_by_version(database, self._path) or answer)
            _resolve(job.done, answer)
        return database


def _resolve(done: Future[int], answer: int | Exception) -> None:
    if not done.set_running_or_notify_cancel():
        return  # the caller no longer waits; the row stays
    if isinstance(answer, Exception):
        done.set_exception(answer)
    else:
        done.set_result(answer)

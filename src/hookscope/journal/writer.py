"""The thread that writes: jobs through a queue, all that waits in one transaction; tidying in between."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread

from hookscope.core.surroundings import identity_of
from hookscope.journal.database import (
    JournalError,
    explained,
    leave_moved,
    open_database,
    refused_by_version,
)
from hookscope.journal.retention import KEPT, Retention
from hookscope.journal.tidying import tidy
from hookscope.journal.transactions import Work, commit
from hookscope.values import dataclass

IDLE = 0.5  # seconds without a job until the journal is tidied
OFTEN = 150  # jobs after which it is tidied although it is never idle: fewer runs than are filed at once


@dataclass(frozen=True, slots=True)
class _Job:
    work: Work
    done: Future[int] = field(default_factory=Future)


class Writer:
    """One thread that owns the connection; it starts with the first job, and opens the file then.

    A file that could not be opened or written is opened anew for the next job: its user may have done
    what the error's sentence asks for. So is one that was moved away or removed meanwhile.

    Args:
        retention: how much is kept, of `workspace` or, where it is None, of each.
        connect: opens the connection, in the thread; raises JournalError.
        idle: seconds without a job until old runs are cleared away.
    """

    def __init__(
        self,
        path: Path,
        retention: Retention = KEPT,
        workspace: str | None = None,
        *,
        connect: Callable[[Path], sqlite3.Connection] = open_database,
        idle: float = IDLE,
    ) -> None:
        self._path = path
        self._retention = retention
        self._workspace = workspace
        self._connect = connect
        self._idle = idle
        self._file: tuple[int, int] | None = None  # that the connection is to
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
                    busy = self._somebody_waits
                    untidy = int(tidy(database, self._retention, self._workspace, busy=busy))
                else:
                    untidy = 0
        if database is not None:
            database.close()

    def _somebody_waits(self) -> bool:
        return not self._jobs.empty()

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
        if database is not None and identity_of(self._path) != self._file:
            leave_moved(database, self._path)  # what is written there, nobody would find
            database = None
        try:
            if database is None:
                database = self._connect(self._path)
                self._file = identity_of(self._path)
            answers = commit(database, [job.work for job in jobs])
        except (JournalError, sqlite3.Error) as error:
            if database is not None:
                database.close()
                database = None
            answers = [explained(self._path, error)] * len(jobs)
        for job, answer in zip(jobs, answers, strict=True):
            if isinstance(answer, sqlite3.Error):
                answer = explained(self._path, refused_by_version(database, self._path) or answer)
            _tell(job.done, answer)
        return database


def _tell(done: Future[int], answer: int | Exception) -> None:
    if not done.set_running_or_notify_cancel():
        return  # whoever asked has gone; the row stays
    if isinstance(answer, Exception):
        done.set_exception(answer)
    else:
        done.set_result(answer)

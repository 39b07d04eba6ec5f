"""Jobs on a connection that writes: all that wait in one transaction, each failing alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeAlias

Work: TypeAlias = Callable[[sqlite3.Connection], int]


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

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
        attempt = _among_others if len(works) > 1 else _alone
        answers = [attempt(database, work) for work in works]
        if database.in_transaction:  # not so where the only job has failed
            database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise
    return answers


def _alone(database: sqlite3.Connection, work: Work) -> int | Exception:
    try:
        return work(database)
    except Exception as error:
        if not database.in_transaction:
            raise  # SQLite gave up the transaction, as it does on a full disk
        database.execute("rollback")
        return error


def _among_others(database: sqlite3.Connection, work: Work) -> int | Exception:
    database.execute("savepoint job")
    try:
        answer: int | Exception = work(database)
    except Exception as error:  # whoever asked is told; the others' jobs go on
        if not database.in_transaction:
            raise  # as above, with all that the others wrote
        database.execute("rollback to job")
        answer = error
    database.execute("release job")
    return answer

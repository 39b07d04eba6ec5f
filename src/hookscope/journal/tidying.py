"""What is done when nobody waits: runs that have ended are counted and put into the index, old ones go."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace

from hookscope.journal.retention import Retention
from hookscope.journal.search import DELETE, INSERT, IndexEntry, has_index
from hookscope.journal.transactions import Work, commit

PAGES_GIVEN_BACK = 2_000  # to the disk, each time: tidying must not hold up the next event for long
TOGETHER = 100  # runs filed, or cleared away, in one transaction: it holds up whoever writes
ENOUGH = 5_000  # of each, at once; the next time goes on
WORKSPACES = 8  # times what one workspace may have: what all may have together
ENTRIES = """
    select r.id, r.workspace, r.key, r.outcome, r.pinned, r.event, r.document
    from {} cross join runs r on r.id = {}"""


def tidy(
    database: sqlite3.Connection,
    retention: Retention,
    workspace: str | None = None,
    *,
    busy: Callable[[], bool] = lambda: False,
) -> bool:
    """File what is fresh, clear away the oldest runs and entries, move the write-ahead log into the file.
    True where there is more to do: it was enough for once, or somebody waits.

    Args:
        workspace: whose runs are cleared away; None: those of each.
        busy: does somebody wait.
    """
    try:
        for _ in range(ENOUGH // TOGETHER):
            if not _done(database, lambda database: _round(database, retention, workspace)):
                break
            if busy():
                return True
        else:
            return True
        # A script, since `execute` takes one step, and a step gives back one page.
        database.executescript(f"pragma incremental_vacuum({PAGES_GIVEN_BACK})")
        database.execute("pragma wal_checkpoint(passive)").fetchall()
    except Exception:  # a run that cannot be read must not end the thread that writes all others
        pass  # nothing is lost: the next time comes soon, and a write says what is wrong
    return False


def _done(database: sqlite3.Connection, work: Work) -> int:
    """Raises sqlite3.Error."""
    (answer,) = commit(database, [work])
    if isinstance(answer, Exception):
        raise answer
    return answer


def _round(database: sqlite3.Connection, retention: Retention, workspace: str | None) -> int:
    """As much as one transaction should take; how many runs were filed or cleared away."""
    filed = _file(database) if has_index(database) else 0
    if filed == TOGETHER:
        return filed  # what waits to be counted is counted first: then little is left that is not
    done = filed
    for place in _places(database, workspace):
        done += sum(_forget(database, retention, place, interest) for interest in (0, 1))
    done += _forget_elsewhere(database, retention)
    _forget_rest(database, retention)
    return done


def _file(database: sqlite3.Connection) -> int:
    """Count and index some of the runs that have ended since; how many."""
    query = f"{ENTRIES.format('fresh f', 'f.run')} where r.outcome is not null order by f.run limit ?"
    rows = database.execute(query, (TOGETHER,)).fetchall()
    database.executemany(INSERT, ((run, IndexEntry(*facts).words()) for run, *facts in rows))
    for run, *_ in rows:
        _count(database, run)
    database.executemany("delete from fresh where run = ?", ((run,) for run, *_ in rows))
    return len(rows)


def _count(database: sqlite3.Connection, run: int) -> None:
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


def pin(database: sqlite3.Connection, run: int, workspace: str, on: bool) -> bool:
    """Keep a run whatever is cleared away, or no longer. False where that workspace has no such run."""
    query = "select 1 from runs r join workspaces w on w.id = r.workspace where r.id = ? and w.path = ?"
    if database.execute(query, (run, workspace)).fetchone() is None:
        return False
    before = _entry_of(database, run)
    database.execute("update runs set pinned = ? where id = ?", (on, run))
    if before is not None:
        database.execute(DELETE, (run, before.words()))
        database.execute(INSERT, (run, replace(before, pinned=on).words()))
    return True


def _entry_of(database: sqlite3.Connection, run: int) -> IndexEntry | None:
    """What the index has of a run; None where it has nothing."""
    if not has_index(database):
        return None
    filed = "f.id = ? and not exists (select 1 from fresh where run = f.id)"
    row = database.execute(f"{ENTRIES.format('runs f', 'f.id')} where {filed}", (run,)).fetchone()
    return None if row is None else IndexEntry(*row[1:])


def _places(database: sqlite3.Connection, workspace: str | None) -> list[int]:
    query = "select id from workspaces where :path is null or path = :path"
    return [row[0] for row in database.execute(query, {"path": workspace})]


def _forget(database: sqlite3.Connection, retention: Retention, workspace: int, interest: int) -> int:
    """Delete the oldest runs of this interest while there are too many; how many went, at most TOGETHER.

    Interest 0: ordinary; 1: failed. Pinned runs, of interest 2, stay.
    """
    runs, size, oldest = _held(database, workspace, interest)
    if runs <= retention.runs and size <= retention.size:
        return 0
    indexed = "and interest > 0" if interest else ""  # lets SQLite use the index of those alone
    query = f"""
        select id, size from runs where workspace = ? and interest = ? {indexed} and id >= ?
        order by id limit ?"""
    going: list[int] = []
    for run, its_size in database.execute(query, (workspace, interest, oldest, TOGETHER)).fetchall():
        # It goes when the runs after it alone fill the size.
        if runs <= retention.runs and size - its_size < retention.size:
            break
        runs, size = runs - 1, size - its_size
        going.append(run)
    _delete(database, going)
    if going:
        values = (going[-1] + 1, workspace, interest)
        database.execute("update totals set oldest = ? where workspace = ? and interest = ?", values)
    return len(going)


def _held(database: sqlite3.Connection, workspace: int, interest: int) -> tuple[int, int, int]:
    """How many runs of this interest there are, their size, and an id that none of them is below."""
    kind = (workspace, interest)
    query = "select runs, size, oldest from totals where workspace = ? and interest = ?"
    runs, size, oldest = database.execute(query, kind).fetchone() or (0, 0, 1)
    query = """
        select count(*), coalesce(sum(r.size), 0), coalesce(min(r.id), ?) from fresh f
        cross join runs r on r.id = f.run where r.workspace = ? and r.interest = ?"""
    more, more_size, oldest_fresh = database.execute(query, (oldest, *kind)).fetchone()
    return runs + more, size + more_size, min(oldest, oldest_fresh)


def _forget_elsewhere(database: sqlite3.Connection, retention: Retention) -> int:
    """Where all workspaces together have too much: some runs of the one that was not used for longest."""
    query = "select coalesce(sum(runs), 0), coalesce(sum(size), 0) from totals where interest < 2"
    runs, size = database.execute(query).fetchone()
    if runs <= WORKSPACES * retention.runs and size <= WORKSPACES * retention.size:
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
    going = [run for (run,) in database.execute(query, (*longest_ago, TOGETHER)).fetchall()]
    _delete(database, going)
    return len(going)


def _delete(database: sqlite3.Connection, runs: Sequence[int]) -> None:
    """With their words, where they are in the index."""
    for run in runs:
        entry = _entry_of(database, run)
        if entry is not None:
            database.execute(DELETE, (run, entry.words()))
    database.executemany("delete from runs where id = ?", ((run,) for run in runs))


def _forget_rest(database: sqlite3.Connection, retention: Retention) -> None:
    """Circumstances and settings that no run has any more, and old entries."""
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

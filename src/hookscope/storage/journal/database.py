"""The journal's SQLite file: opening it, its tables version by version, transactions, and error messages."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TypeAlias

from hookscope.model.machine import file_identity
from hookscope.model.text import error_reason
from hookscope.storage.journal.run_filter import prepare_search

# One script per version, in order; `user_version` counts the scripts that have run. Never edit one: add one.
MIGRATIONS = (
    """
    create table runs (
        id integer primary key autoincrement,  -- never given twice, also after old runs are gone
        workspace text not null,
        dialect text not null,
        key text not null,
        event text not null,
        started text not null,
        started_ms integer not null,
        owner_pid integer not null,
        owner_started text not null,
        ended text,
        outcome text,
        took real,
        document text,
        size integer not null
    );
    create index runs_of_workspace on runs (workspace, id);
    create index runs_failed on runs (workspace, id) where outcome = 'failed';
    create index runs_by_size on runs (id, size);
    create table results (
        run integer not null references runs (id) on delete cascade,
        position integer not null,
        hook text not null,
        key text not null,
        status text not null,
        took real not null,
        primary key (run, position)
    ) without rowid;
    create index results_of_hook on results (hook, run);
    create index results_failed on results (hook, run) where status <> 'ok';
    create table entries (
        id integer primary key autoincrement,
        at text not null,
        at_ms integer not null,
        workspace text not null,
        kind text not null,
        subject text not null,
        level text not null,
        text text not null,
        detail text
    );
    create index entries_of_workspace on entries (workspace, id);
    """,
    """
    create table workspaces (id integer primary key, path text not null unique);
    insert into workspaces (path) select distinct workspace from runs;

    create table settings (id integer primary key, digest blob not null unique, text text not null);

    -- What many runs have in common. `runs` counts those that are not fresh.
    create table circumstances (
        id integer primary key,
        digest blob not null unique,
        dialect text not null,
        version text not null,
        settings integer,
        handlers text not null,
        runs integer not null default 0
    );
    create index circumstances_unused on circumstances (id) where runs = 0;
    create index circumstances_of_settings on circumstances (settings);
    insert into circumstances (digest, dialect, version, handlers)
        select distinct cast('1 ' || dialect as blob), dialect, '', '[]' from runs;

    -- For each workspace and interest: the runs that are not fresh. None of them is older than `oldest`.
    create table totals (
        workspace integer not null,
        interest integer not null,
        runs integer not null,
        size integer not null,
        oldest integer not null,
        primary key (workspace, interest)
    ) without rowid;

    create table fresh (run integer primary key);  -- neither counted nor searchable by index

    alter table runs rename to runs_of_version_1;
    create table runs (
        id integer primary key autoincrement,  -- never given twice, also after old runs are gone
        workspace integer not null,
        circumstances integer not null,
        key text not null,
        at integer not null,  -- never less than that of the run before, whatever the clock does
        started_ms integer not null,
        owner_pid integer not null,
        owner_started text not null,
        outcome text,  -- null: no end
        took real,
        pinned integer not null default 0,
        size integer not null,
        interest integer generated always as
            (case when pinned then 2 when outcome = 'failed' then 1 else 0 end) virtual,
        event text not null,
        document text
    );
    insert into runs (id, workspace, circumstances, key, at, started_ms, owner_pid, owner_started,
                      outcome, took, size, event, document)
        select r.id, w.id, c.id, r.key, max(r.started_ms) over (order by r.id), r.started_ms, r.owner_pid,
               r.owner_started, r.outcome, r.took, r.size, r.event, r.document
        from runs_of_version_1 r
        join workspaces w on w.path = r.workspace
        join circumstances c on c.dialect = r.dialect;
    -- A migrated table has the counter of its rows; the highest of them may have gone before.
    insert into sqlite_sequence (name, seq)
        select 'runs', 0 where not exists (select 1 from sqlite_sequence where name = 'runs');
    update sqlite_sequence set seq = max(seq, coalesce(
        (select seq from sqlite_sequence where name = 'runs_of_version_1'), 0)) where name = 'runs';
    drop table results;
    drop table runs_of_version_1;
    create index runs_of_workspace on runs (workspace);
    create index runs_of_interest on runs (workspace, interest) where interest > 0;
    insert into fresh select id from runs;

    create trigger run_comes after insert on runs begin
        insert into fresh values (new.id);
    end;
    create trigger run_goes after delete on runs begin
        update totals set runs = runs - 1, size = size - old.size
            where workspace = old.workspace and interest = old.interest
            and not exists (select 1 from fresh where run = old.id);
        update circumstances set runs = runs - 1
            where id = old.circumstances and not exists (select 1 from fresh where run = old.id);
        delete from fresh where run = old.id;
    end;
    create trigger run_is_pinned after update of pinned on runs
        when not exists (select 1 from fresh where run = old.id)
    begin
        update totals set runs = runs - 1, size = size - old.size
            where workspace = old.workspace and interest = old.interest;
        insert or ignore into totals values (new.workspace, new.interest, 0, 0, new.id);
        update totals set runs = runs + 1, size = size + new.size, oldest = min(oldest, new.id)
            where workspace = new.workspace and interest = new.interest;
    end;
    """,
)
SCHEMA_VERSION = len(MIGRATIONS)


def split_statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; those of a trigger stay together."""
    statement = ""
    for part in script.split(";")[:-1]:
        statement += f"{part};"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


BUSY = 5.0  # seconds to wait for another process that writes
APPLICATION = 0x486B5363  # "HkSc": marks files of Hookscope
WAL_KEPT = 4 * 2**20  # bytes; a longer write-ahead log is truncated


class JournalError(OSError):
    """The journal cannot be written or read. Its text is for the user."""


def open_database(path: Path) -> sqlite3.Connection:
    """Return a writing connection for the calling thread. Creates the file, private to its user.

    Transactions are started explicitly: the connection is in autocommit mode. Raises JournalError.
    """
    _make_private(path)
    database: sqlite3.Connection | None = None
    try:
        database = sqlite3.connect(path, timeout=BUSY, isolation_level=None)
        _prepare(database, path)
    except (sqlite3.Error, JournalError) as error:
        if database is not None:
            database.close()
        raise error_explanation(path, error) from error
    return database


def _make_private(path: Path) -> None:
    """Create the file if it is missing. An existing one is not opened: closing it would drop this process's
    own locks on it (POSIX).
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise JournalError(_cannot_open(path, "created", error_reason(error))) from error
    _check_regular_file(path)


def _check_regular_file(path: Path) -> None:
    """Raise JournalError for anything but a regular file: SQLite would wait for a pipe for ever."""
    if not os.path.isfile(path):
        raise JournalError(_not_a_journal(path))


def close_moved(database: sqlite3.Connection, path: Path) -> None:
    """Write all changes into a file that was moved or removed, and close the connection.

    The write-ahead log still has the old name. It is not used if a new journal has that name.
    """
    if file_identity(path) is None:
        with suppress(sqlite3.Error):
            database.execute("pragma wal_checkpoint(truncate)").fetchall()
    database.close()


def open_reading(path: Path) -> sqlite3.Connection | None:
    """Return a read-only connection for the calling thread; None if there is no file yet.

    An older journal is migrated first. Raises JournalError.
    """
    if not os.path.exists(path):
        return None
    _check_regular_file(path)
    try:
        database, version = _opened(path)
        if version == SCHEMA_VERSION:
            return database
        database.close()
        open_database(path).close()
        return _read_only(path)
    except sqlite3.Error as error:
        raise error_explanation(path, error) from error


def _opened(path: Path) -> tuple[sqlite3.Connection, int]:
    """Return a reading connection, and the version of the file.

    SQLite creates files beside a database, even for readers. If it cannot, and no process writes, the file
    is opened as immutable.
    """
    for more in ("", "&immutable=1"):
        database = _read_only(path, more)
        try:
            return database, _version(database, path)
        except BaseException as error:
            database.close()
            tried_all = bool(more) or not isinstance(error, sqlite3.OperationalError)
            if tried_all or os.access(path.parent, os.W_OK) or path.with_name(f"{path.name}-wal").exists():
                raise
    raise AssertionError("the loop above returns or raises")


def _read_only(path: Path, more: str = "") -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro{more}", uri=True, timeout=BUSY, isolation_level=None
    )


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    version = _version(database, path)  # before anything is changed: it may not be ours to change
    if version == 0:
        database.execute("pragma auto_vacuum = incremental")  # has an effect only before the first table
    _use_wal(database)
    database.execute("pragma synchronous = normal")  # a crash loses nothing, a power cut the last commits
    database.execute("pragma foreign_keys = on")
    database.execute(f"pragma journal_size_limit = {WAL_KEPT}")
    if version < SCHEMA_VERSION:
        _migrate(database, path)
    prepare_search(database)


def _use_wal(database: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite does not wait if two processes do so at once."""
    deadline = time.monotonic() + BUSY
    while True:
        try:
            database.execute("pragma journal_mode = wal")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _migrate(database: sqlite3.Connection, path: Path) -> None:
    database.execute("begin immediate")
    try:
        for script in MIGRATIONS[_version(database, path) :]:  # another process may have been faster
            for statement in split_statements(script):
                database.execute(statement)
        database.execute(f"pragma application_id = {APPLICATION}")
        database.execute(f"pragma user_version = {SCHEMA_VERSION}")
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise


def _version(database: sqlite3.Connection, path: Path) -> int:
    """Return how many migrations have run. Raises JournalError for a newer file, or another kind of file."""
    version, application, tables = _header_marks(database)
    if tables and application != APPLICATION:
        raise JournalError(_not_a_journal(path))
    if version > SCHEMA_VERSION:
        raise JournalError(
            f"{path} was written by a newer Hookscope (journal version {version}, this "
            f"one knows {SCHEMA_VERSION}). "
            "Update Hookscope, or point HOOKSCOPE_STATE_DIR at another folder."
        )
    return version


def refused_by_version(database: sqlite3.Connection | None, path: Path) -> JournalError | None:
    """Return why this version may not write the open file: a newer one may have changed it meanwhile."""
    with suppress(sqlite3.Error):  # the caller reports its own error instead
        try:
            if database is not None:
                _version(database, path)
        except JournalError as error:
            return error
    return None


def _header_marks(database: sqlite3.Connection) -> tuple[int, int, int]:
    """Return version, application id and number of tables in one read: another process may be creating it."""
    queries = ("pragma user_version", "pragma application_id", "select count(*) from sqlite_master")
    alone = not database.in_transaction
    if alone:
        database.execute("begin")
    version, application, tables = (database.execute(query).fetchone()[0] for query in queries)
    if alone:
        database.execute("commit")
    return version, application, tables


def error_explanation(path: Path, error: Exception) -> JournalError:
    """Return SQLite's error as a sentence with the file and the next step."""
    if isinstance(error, JournalError):
        return error
    match _result_code(error):
        case sqlite3.SQLITE_NOTADB:
            return JournalError(_not_a_journal(path))
        case sqlite3.SQLITE_CORRUPT:
            return JournalError(
                f"{path} is damaged ({error}). Move it away to start a new journal; nothing was deleted."
            )
        case sqlite3.SQLITE_FULL:
            return JournalError(f"{path} cannot grow: the disk is full. Free some space and try again.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            what = path if not os.access(path, os.W_OK) or os.access(path.parent, os.W_OK) else path.parent
            whose = "it" if what == path else "its folder"
            return JournalError(
                f"{path} cannot be written: {whose} is read-only. Run `chmod u+w {quote(str(what))}`, "
                "or set HOOKSCOPE_STATE_DIR to another folder."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return JournalError(
                f"{path} is locked by another process. Close the other Hookscope, and try again."
            )
        case sqlite3.SQLITE_CANTOPEN if path.exists() and not os.access(path.parent, os.W_OK):
            return JournalError(
                f"{path} cannot be read: another program is writing it or has crashed, and its folder "
                f"is read-only. Run `chmod u+w {quote(str(path.parent))}`."
            )
        case _:
            return JournalError(_cannot_open(path, "used", str(error)))


def _result_code(error: Exception) -> int:
    """Return SQLite's result code. Its lower byte is the family; invalid documents count as damage."""
    if not isinstance(error, sqlite3.Error):
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _not_a_journal(path: Path) -> str:
    return f"{path} is not a journal of Hookscope. Move it away to start a new one; it was not changed."


def _cannot_open(path: Path, verb: str, why: str) -> str:
    return f"{path} cannot be {verb}: {why}. Check the folder, or set HOOKSCOPE_STATE_DIR to another one."


DatabaseWork: TypeAlias = Callable[[sqlite3.Connection], int]


def commit_together(database: sqlite3.Connection, works: Sequence[DatabaseWork]) -> list[int | Exception]:
    """Run several jobs in one transaction. A failed job fails alone; a failed commit raises."""
    database.execute("begin immediate")
    try:
        attempt = _run_in_savepoint if len(works) > 1 else _commit_alone
        answers = [attempt(database, work) for work in works]
        if database.in_transaction:  # none is left if the only job has failed
            database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise
    return answers


def _commit_alone(database: sqlite3.Connection, work: DatabaseWork) -> int | Exception:
    try:
        return work(database)
    except Exception as error:
        if not database.in_transaction:
            raise  # SQLite gave up the transaction, as it does on a full disk
        database.execute("rollback")
        return error


def _run_in_savepoint(database: sqlite3.Connection, work: DatabaseWork) -> int | Exception:
    database.execute("savepoint job")
    try:
        answer: int | Exception = work(database)
    except Exception as error:  # the job's caller gets the error; other jobs continue
        if not database.in_transaction:
            raise  # as above; the writes of other jobs are lost too
        database.execute("rollback to job")
        answer = error
    database.execute("release job")
    return answer

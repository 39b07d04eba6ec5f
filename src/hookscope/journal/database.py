"""The journal's file: opening it, and what is wrong with it in a sentence."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from shlex import quote

from hookscope.core.surroundings import identity_of
from hookscope.core.text import why_of
from hookscope.journal.schema import MIGRATIONS, VERSION, statements
from hookscope.journal.search import prepare_search

BUSY = 5.0  # seconds to wait for another process that writes
APPLICATION = 0x486B5363  # "HkSc": tells our files from other programs'
WAL_KEPT = 4 * 2**20  # bytes; a longer write-ahead log is cut back


class JournalError(OSError):
    """The journal cannot be written or read. Its text is what to tell the user."""


def open_database(path: Path) -> sqlite3.Connection:
    """A connection that writes, in the thread that called. Makes the file, private to its user.

    Transactions are begun by hand: the connection is in autocommit mode. Raises JournalError.
    """
    _make_private(path)
    database: sqlite3.Connection | None = None
    try:
        database = sqlite3.connect(path, timeout=BUSY, isolation_level=None)
        _prepare(database, path)
    except (sqlite3.Error, JournalError) as error:
        if database is not None:
            database.close()
        raise explained(path, error) from error
    return database


def _make_private(path: Path) -> None:
    """Make the file where there is none. One that exists is not touched: to open and close it here would
    drop the locks that this process's own connections hold on it (POSIX)."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise JournalError(_cannot(path, "made", why_of(error))) from error
    _expect_file(path)


def _expect_file(path: Path) -> None:
    """SQLite would wait for ever for who writes into a pipe. Raises JournalError."""
    if not os.path.isfile(path):
        raise JournalError(_not_a_journal(path))


def leave_moved(database: sqlite3.Connection, path: Path) -> None:
    """Close the connection to a file that was moved or removed, with all that was written to it in it.

    Its write-ahead log stands under the old name. It is not touched where somebody has begun a new journal
    there: log and file would not be of one another.
    """
    if identity_of(path) is None:
        with suppress(sqlite3.Error):
            database.execute("pragma wal_checkpoint(truncate)").fetchall()
    database.close()


def open_reading(path: Path) -> sqlite3.Connection | None:
    """A connection that cannot write, in the thread that called; None where there is no file yet.

    A journal of an older version is brought up to date first. Raises JournalError.
    """
    if not os.path.exists(path):
        return None
    _expect_file(path)
    try:
        database, version = _opened(path)
        if version == VERSION:
            return database
        database.close()
        open_database(path).close()
        return _read_only(path)
    except sqlite3.Error as error:
        raise explained(path, error) from error


def _opened(path: Path) -> tuple[sqlite3.Connection, int]:
    """A connection for reading, and the version of what it reads.

    SQLite keeps files beside a database, for readers too. Where it may not make them and nobody writes,
    the file is read as one that stands still.
    """
    for more in ("", "&immutable=1"):
        database = _read_only(path, more)
        try:
            return database, _version(database, path)
        except BaseException as error:
            database.close()
            tried_all = bool(more) or not isinstance(error, sqlite3.OperationalError)
            if tried_all or os.access(path.parent, os.W_OK) or _is_written(path):
                raise
    raise AssertionError("the loop above returns or raises")


def _is_written(path: Path) -> bool:
    """Has somebody the database open who writes, or left there what he wrote last."""
    return path.with_name(f"{path.name}-wal").exists()


def _read_only(path: Path, more: str = "") -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=ro{more}", uri=True, timeout=BUSY, isolation_level=None
    )


def _prepare(database: sqlite3.Connection, path: Path) -> None:
    version = _version(database, path)  # before anything is changed: it may not be ours to change
    if version == 0:
        database.execute("pragma auto_vacuum = incremental")  # counts only before the first table
    _use_wal(database)
    database.execute("pragma synchronous = normal")  # a crash loses nothing, a power cut the last commits
    database.execute("pragma foreign_keys = on")
    database.execute(f"pragma journal_size_limit = {WAL_KEPT}")
    if version < VERSION:
        _migrate(database, path)
    prepare_search(database)


def _use_wal(database: sqlite3.Connection) -> None:
    """Two processes that do this at once meet a lock for which SQLite does not wait by itself."""
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
            for statement in statements(script):
                database.execute(statement)
        database.execute(f"pragma application_id = {APPLICATION}")
        database.execute(f"pragma user_version = {VERSION}")
        database.execute("commit")
    except BaseException:
        if database.in_transaction:
            database.execute("rollback")
        raise


def _version(database: sqlite3.Connection, path: Path) -> int:
    """How many migrations have run. Raises JournalError for what is newer, or no journal at all."""
    version, application, tables = _marks(database)
    if tables and application != APPLICATION:
        raise JournalError(_not_a_journal(path))
    if version > VERSION:
        raise JournalError(
            f"{path} was written by a newer Hookscope (journal version {version}, this one knows {VERSION}). "
            "Update Hookscope, or point HOOKSCOPE_STATE_DIR at another folder."
        )
    return version


def refused_by_version(database: sqlite3.Connection | None, path: Path) -> JournalError | None:
    """Why this version may no longer write the open file: a newer one may have changed it meanwhile."""
    with suppress(sqlite3.Error):  # as good a reason as the one that is told
        try:
            if database is not None:
                _version(database, path)
        except JournalError as error:
            return error
    return None


def _marks(database: sqlite3.Connection) -> tuple[int, int, int]:
    """Version, application and number of tables, at one moment: another process may be making the file."""
    queries = ("pragma user_version", "pragma application_id", "select count(*) from sqlite_master")
    alone = not database.in_transaction
    if alone:
        database.execute("begin")
    version, application, tables = (database.execute(query).fetchone()[0] for query in queries)
    if alone:
        database.execute("commit")
    return version, application, tables


def explained(path: Path, error: Exception) -> JournalError:
    """What SQLite met, as a sentence that names the file and the next step."""
    if isinstance(error, JournalError):
        return error
    match _family(error):
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
                f"{path} cannot be written: {whose} is read-only. `chmod u+w {quote(str(what))}` allows it, "
                "HOOKSCOPE_STATE_DIR names another folder."
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return JournalError(
                f"{path} is kept locked by another process. Close the other Hookscope, and try again."
            )
        case sqlite3.SQLITE_CANTOPEN if path.exists() and not os.access(path.parent, os.W_OK):
            return JournalError(
                f"{path} cannot be read: somebody writes it, or has not ended well, and its folder is "
                f"read-only. `chmod u+w {quote(str(path.parent))}` allows it."
            )
        case _:
            return JournalError(_cannot(path, "used", str(error)))


def _family(error: Exception) -> int:
    """SQLite's result code. Its lower byte is the family; a document that cannot be read is damage too."""
    if not isinstance(error, sqlite3.Error):
        return sqlite3.SQLITE_CORRUPT
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _not_a_journal(path: Path) -> str:
    return f"{path} is no journal of Hookscope. Move it away to start a new one; it was not changed."


def _cannot(path: Path, verb: str, why: str) -> str:
    return f"{path} cannot be {verb}: {why}. Check the folder, or name another with HOOKSCOPE_STATE_DIR."

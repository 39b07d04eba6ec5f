import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from hookscope.model.run import Event
from hookscope.storage.journal.database import SCHEMA_VERSION, JournalError, error_explanation, open_database
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.writer import JOBS_BETWEEN_CLEANUPS, Writer


def content_of(path: Path) -> bytes:
    return path.read_bytes()


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)


def overwrite_from_the_second_page(path: Path) -> None:
    head = path.read_bytes()[:4096]
    path.write_bytes(head + b"\xee" * (path.stat().st_size - 4096))


async def refusal(journal: Journal) -> str:
    """What begin and reading both say; they must say the same."""
    with pytest.raises(JournalError) as begun:
        await journal.begin(Event("command"))
    with pytest.raises(JournalError) as read:
        journal.recent()
    assert str(begun.value) == str(read.value)
    return str(begun.value)


@pytest.mark.parametrize("content", [b"this is not a database" * 300, b"SQLite format 3\0" + b"\xff" * 8192])
async def test_a_corrupt_journal_is_reported_and_unchanged(
    journal: Journal, path: Path, content: bytes
) -> None:
    write(path, content)
    text = await refusal(journal)
    assert text.startswith(f"{path} is ")
    assert "Move it away" in text
    journal.close()
    assert content_of(path) == content


async def test_a_damaged_page_is_reported(journal: Journal, path: Path) -> None:
    for _ in range(200):
        await journal.begin(Event("command", context={"text": "x" * 100}))
    journal.close()
    overwrite_from_the_second_page(path)
    with pytest.raises(JournalError, match=r"is damaged .* Move it away"):
        journal.recent()


@pytest.mark.parametrize("garbled", ["{", "[]", "{}", "7", "[" * 100_000], ids=lambda text: text[:2])
async def test_a_garbled_run_is_reported_and_writing_continues(
    journal: Journal, path: Path, garbled: str
) -> None:
    await journal.begin(Event("command"))
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("update runs set event = ?, outcome = 'ok', document = ?", (garbled, garbled))
    with pytest.raises(JournalError, match="is damaged"):
        journal.recent()
    for _ in range(JOBS_BETWEEN_CLEANUPS + 1):  # so often that the garbled one is filed meanwhile
        await asyncio.wait_for(journal.begin(Event("command")), 60)


async def test_a_journal_of_a_newer_version_is_refused_and_unchanged(journal: Journal, path: Path) -> None:
    open_database(path).close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"pragma user_version = {SCHEMA_VERSION + 1}")
    before = content_of(path)
    text = await refusal(journal)
    assert text == (
        f"{path} was written by a newer Hookscope (journal version "
        f"{SCHEMA_VERSION + 1}, this one knows {SCHEMA_VERSION}). "
        "Update Hookscope, or point HOOKSCOPE_STATE_DIR at another folder."
    )
    journal.close()
    assert content_of(path) == before


async def test_another_programs_database_is_refused_and_unchanged(journal: Journal, path: Path) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as foreign:
        foreign.execute("create table bookmarks (url)")
    before = content_of(path)
    assert "is not a journal of Hookscope" in await refusal(journal)
    journal.close()
    assert content_of(path) == before


async def test_a_journal_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        Journal(tmp_path / "file" / "journal.db", "w", "d") as journal,
        pytest.raises(JournalError, match=r"cannot be created: .*Check the folder"),
    ):
        await journal.begin(Event("command"))


def test_a_read_only_journal_is_reported(path: Path) -> None:
    open_database(path).close()

    def read_only(path: Path) -> sqlite3.Connection:  # root may write whatever the mode is; SQLite may not
        return sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)

    writer = Writer(path, connect=read_only)
    try:
        done = writer.submit(lambda database: database.execute("delete from runs").rowcount)
        with pytest.raises(JournalError, match="it is read-only"):
            done.result(10)
    finally:
        writer.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
async def test_a_journal_in_a_read_only_folder_can_be_read_and_writers_get_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with Journal(folder / "journal.db", "w", "d") as journal:
        await journal.begin(Event("command"))
    folder.chmod(0o500)
    try:
        with Journal(folder / "journal.db", "w", "d") as journal:
            assert [run.key for run in journal.recent(5)] == ["command"]
            with pytest.raises(JournalError, match=f"its folder is read-only. `chmod u.w {folder}`"):
                await journal.begin(Event("command"))
        folder.chmod(0o700)
        (folder / "journal.db-wal").write_bytes(b"left")
        folder.chmod(0o500)
        with pytest.raises(JournalError, match="has crashed, and its folder is read-only"):
            Journal(folder / "journal.db", "w", "d").recent(5)
    finally:
        folder.chmod(0o700)


def test_a_full_disk_is_reported_and_the_next_write_tries_again(path: Path) -> None:
    limits = [60, 100_000]  # pages: a disk that is full, and that has room again

    def small(path: Path) -> sqlite3.Connection:
        database = open_database(path)
        database.execute(f"pragma max_page_count = {limits.pop(0)}")
        return database

    def fill(database: sqlite3.Connection) -> int:
        names = "at, at_ms, workspace, kind, subject, level, text"
        row = ("", 0, "", "", "", "", "x" * 500_000)
        return database.execute(f"insert into entries ({names}) values (?,?,?,?,?,?,?)", row).lastrowid or 0

    writer = Writer(path, connect=small)
    try:
        with pytest.raises(JournalError, match="the disk is full"):
            writer.submit(fill).result(10)
        assert writer.submit(fill).result(10) > 0
    finally:
        writer.close()


def test_a_locked_journal_is_reported(path: Path) -> None:
    open_database(path).close()
    impatient = sqlite3.connect(path, timeout=0, isolation_level=None)
    with closing(impatient), closing(open_database(path)) as other:
        other.execute("begin immediate")
        with pytest.raises(sqlite3.OperationalError) as locked:
            impatient.execute("begin immediate")
    assert "is locked by another process" in str(error_explanation(path, locked.value))


async def test_many_processes_can_create_the_journal_at_once(path: Path) -> None:
    journals = [Journal(path, "w", "d") for _ in range(12)]
    ids = await asyncio.gather(*(journal.begin(Event("command")) for journal in journals))
    assert sorted(ids) == list(range(1, 13))
    for journal in journals:
        journal.close()


async def test_an_empty_file_becomes_a_journal(journal: Journal, path: Path) -> None:
    write(path, b"")
    assert journal.recent() == ()
    assert await journal.begin(Event("command")) == 1

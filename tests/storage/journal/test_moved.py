"""A journal whose file is moved away, removed or changed by a newer version, while a program writes it."""

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import pytest

from hookscope.model.run import Ending, Event, Run
from hookscope.storage.journal.database import JournalError
from hookscope.storage.journal.journal import Journal

StartChild = Callable[[str], "Popen[str]"]
AGENT = "/agents/agent"
NOTE = """
await journal.note("load", "s", "of another process")
print("written", flush=True)
sys.stdin.readline()
"""


def texts(path: Path) -> list[str]:
    return [entry.text for entry in Journal(path, AGENT, "d").entries()]


async def test_runs_written_after_the_file_was_deleted_are_kept(journal: Journal, path: Path) -> None:
    await journal.note("load", "s", "before")
    for file in path.parent.iterdir():
        file.unlink()
    await journal.note("load", "s", "after")
    await journal.note("load", "s", "later")
    assert texts(path) == ["later", "after"]


async def test_a_moved_journal_keeps_its_runs(journal: Journal, path: Path) -> None:
    away = path.with_name("away.db")
    await journal.note("load", "s", "before")
    os.rename(path, away)
    await journal.note("load", "s", "after")
    assert texts(path) == ["after"]
    assert texts(away) == ["before"]


async def test_a_journal_recreated_by_another_process_is_written_by_both(
    journal: Journal, path: Path, start_child: StartChild
) -> None:
    await journal.note("load", "s", "before")
    for file in path.parent.iterdir():
        file.unlink()
    other = start_child(NOTE)
    assert other.stdout is not None
    assert await asyncio.to_thread(other.stdout.readline) == "written\n"
    await journal.note("load", "s", "after")
    assert texts(path) == ["after", "of another process"]
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)


async def test_run_ids_continue_in_a_recreated_file(journal: Journal, path: Path) -> None:
    """Who follows the runs, or shows those of before too, knows them by their ids."""
    numbers = [await journal.begin(Event("command", name)) for name in "ab"]
    for file in path.parent.iterdir():
        file.unlink()
    numbers += [await journal.begin(Event("command", name)) for name in "cd"]
    assert numbers == sorted(set(numbers))
    assert [run.id for run in journal.newer_than(numbers[1])] == numbers[2:]
    for number in numbers[2:]:
        await journal.end(Run(number, Event("command"), (), (), Ending()))
    journal.close()  # which files them
    assert [run.key for run in journal.recent(text="c")] == ["command:c"]
    with Journal(path, AGENT, "d") as later:
        assert await later.begin(Event("command")) > numbers[-1]


async def test_the_end_of_a_run_in_a_removed_file_is_not_written_to_another_run(
    journal: Journal, path: Path
) -> None:
    gone, other = Event("command", "gone"), Event("command", "other")
    number = await journal.begin(gone)
    for file in path.parent.iterdir():
        file.unlink()
    with Journal(path, AGENT, "d") as beside:
        assert await beside.begin(other) == number
        await journal.end(Run(number, gone, (), (), Ending()))
        stored = journal.run(number)
    assert stored is not None
    assert (stored.key, stored.outcome) == ("command:other", "running")


async def test_a_migration_by_a_newer_version_meanwhile_is_reported(journal: Journal, path: Path) -> None:
    await journal.note("load", "s", "before")
    with closing(sqlite3.connect(path)) as newer:
        newer.executescript("alter table entries rename to notes; pragma user_version = 99;")
    with pytest.raises(JournalError, match=r"was written by a newer Hookscope .*version 99"):
        await journal.note("load", "s", "after")

"""What is kept, by interest, and that what is counted is what is there."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hookscope.model.run import Event, Run
from hookscope.storage.journal.database import open_database
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.run_filter import RunFilter
from hookscope.storage.journal.writer import clean_up
from hookscope.storage.state_files import Retention

RunOfId = Callable[..., Run]


async def fill(
    path: Path, retention: Retention, statuses: str, run_of_id: RunOfId, workspace: str = "w"
) -> list[int]:
    """Runs of about a thousand bytes: o for an ordinary one, f for a failed one, p for a pinned one."""
    with Journal(path, workspace, "d", retention) as journal:
        numbers = []
        for letter in statuses:
            event = Event("command", letter, context={"text": "x" * 1_000})
            number = await journal.begin(event)
            await journal.end(run_of_id(number, status="error" if letter == "f" else "ok", event=event))
            if letter == "p":
                await journal.pin([number])
            numbers.append(number)
    return numbers


def kept(path: Path, workspace: str = "w") -> str:
    """The letters of what is left, oldest first."""
    return "".join(run.event.action for run in Journal(path, workspace, "d").iterate(RunFilter()))


@pytest.fixture
def counted(path: Path) -> Iterator[None]:
    """In the end the journal's own count must be what is there."""
    yield
    with closing(sqlite3.connect(path)) as database:
        query = """select workspace, interest, count(*), sum(size) from runs
                   where id not in (select run from fresh) group by workspace, interest"""
        there = set(database.execute(query).fetchall())
        query = "select workspace, interest, runs, size from totals where runs > 0 or size <> 0"
        assert set(database.execute(query).fetchall()) == there
        query = "select circumstances, count(*) from runs where id not in (select run from fresh) group by 1"
        uses = dict(database.execute(query).fetchall())
        assert dict(database.execute("select id, runs from circumstances where runs > 0").fetchall()) == uses
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)


pytestmark = pytest.mark.usefixtures("counted")


async def test_ordinary_runs_displace_no_failed_or_pinned_run(path: Path, run_of_id: RunOfId) -> None:
    await fill(path, Retention(runs=5), "pfpf" + "o" * 40, run_of_id)
    assert kept(path) == "pfpfooooo"


async def test_failed_runs_have_their_own_limit(path: Path, run_of_id: RunOfId) -> None:
    await fill(path, Retention(runs=4), "op" + "f" * 20 + "oo", run_of_id)
    assert kept(path) == "opffffoo"
    await fill(path, Retention(size=3_000), "fo", run_of_id)
    assert kept(path) == "pffoofo"


async def test_an_unpinned_run_is_deleted_like_others(path: Path, run_of_id: RunOfId) -> None:
    first, *_ = await fill(path, Retention(runs=3), "p" + "o" * 10, run_of_id)
    assert kept(path) == "pooo"
    with Journal(path, "w", "d", Retention(runs=3)) as journal:
        assert await journal.pin([first, 999], on=False) == {first}
    assert kept(path) == "ooo"


async def test_a_run_of_another_workspace_is_not_pinned(path: Path, run_of_id: RunOfId) -> None:
    (number,) = await fill(path, Retention(), "o", run_of_id)
    with Journal(path, "other", "d") as other:
        assert await other.pin([number]) == frozenset()
    (run,) = Journal(path, "w", "d").select(RunFilter())
    assert not run.pinned


async def test_a_workspace_deletes_no_run_of_another(path: Path, run_of_id: RunOfId) -> None:
    await fill(path, Retention(), "ooooo", run_of_id, "large")
    await fill(path, Retention(runs=2), "ooooo", run_of_id, "small")
    assert (kept(path, "large"), kept(path, "small")) == ("ooooo", "oo")


async def test_the_least_recently_used_workspace_is_deleted_first(path: Path, run_of_id: RunOfId) -> None:
    for name in "abcdefghij":
        await fill(path, Retention(runs=2), "poo", run_of_id, name)
    assert [kept(path, name) for name in "abcdefghij"] == ["p", "p", *["poo"] * 8]


async def test_many_runs_are_deleted_in_batches(
    path: Path, run_of_id: RunOfId, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(path, Retention(), "o" * 40, run_of_id)
    monkeypatch.setattr("hookscope.storage.journal.writer.RUNS_PER_ROUND", 4)
    monkeypatch.setattr("hookscope.storage.journal.writer.MOST_ENTRIES", 12)
    with closing(open_database(path)) as database:
        assert clean_up(database, Retention(runs=5))
        assert len(kept(path)) == 28
        while clean_up(database, Retention(runs=5)):
            pass
    assert len(kept(path)) == 5


async def test_a_waiting_write_goes_before_cleaning_up(path: Path, run_of_id: RunOfId) -> None:
    await fill(path, Retention(), "o" * 300, run_of_id)
    with closing(open_database(path)) as database:
        assert clean_up(database, Retention(runs=5), is_busy=lambda: True)
        assert len(kept(path)) == 200


async def test_deleted_runs_are_not_found_by_text(path: Path, run_of_id: RunOfId) -> None:
    await fill(path, Retention(), "ofo", run_of_id)
    await fill(path, Retention(runs=1), "o", run_of_id)
    with closing(sqlite3.connect(path)) as database:
        query = "select rowid from search where search match ?"
        found = database.execute(query, ('"§1§x" *',)).fetchall()
    assert found == [(2,), (4,)]


async def test_runs_that_fill_the_size_limit_displace_all_older_ones(path: Path, run_of_id: RunOfId) -> None:
    await fill(path, Retention(), "oooo", run_of_id)
    with closing(open_database(path)) as database:
        (size,) = database.execute("select sum(size) from (select size from runs order by id desc limit 2)")
        while clean_up(database, Retention(size=size[0])):
            pass
        assert database.execute("select count(*) from runs").fetchone() == (2,)

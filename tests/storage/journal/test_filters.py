"""What is asked for is what is found, whether a run is in the index yet or not."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookscope.model.failure import Failure
from hookscope.model.run import Ending, Event, Registration, Result, Run
from hookscope.storage.journal.database import open_database
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.reader import StoredRun
from hookscope.storage.journal.run_filter import RunFilter, index_terms, parse_phrase
from hookscope.storage.journal.writer import clean_up
from hookscope.storage.state_files import Retention

RunOfId = Callable[..., Run]
HOOKS, KEYS = ("greet", "tidy", "hook\udcff"), ("command:new", "command:stop", "gateway")
WORDS = ("disk", "full", "Zoë", "naïve", "错误", "发生错误了", "snake_case", "a.b", "§", "*")
OUTCOMES = ("ok", "failed", "cancelled", "running")

texts = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)
runs = st.fixed_dictionaries(
    {
        "hooks": st.lists(st.sampled_from(HOOKS), max_size=2),
        "key": st.sampled_from(KEYS),
        "outcome": st.sampled_from(OUTCOMES),
        "text": texts,
        "pinned": st.booleans(),
        "filed": st.booleans(),  # all up to here are put into the index
        "there": st.booleans(),  # of another workspace
    }
)
questions = st.builds(
    RunFilter,
    hook=st.none() | st.sampled_from(HOOKS),
    key=st.none() | st.sampled_from(KEYS),
    outcomes=st.none() | st.frozensets(st.sampled_from(OUTCOMES), max_size=3),
    text=st.none() | texts | texts.map(lambda text: f"{text[:-1]}*"),
    pinned=st.booleans(),
)


async def put(journal: Journal, asked: dict[str, Any]) -> int:
    family, _, action = asked["key"].partition(":")
    event = Event(family, action, context={"text": asked["text"]})
    number = await journal.begin(event)
    if asked["outcome"] != "running":
        status = "error" if asked["outcome"] == "failed" else "ok"
        called = asked["hooks"] or (["greet"] if status == "error" else [])
        results = tuple(Result(Registration(event.key, name, print), status) for name in called)  # type: ignore[arg-type]
        cancelled = asked["outcome"] == "cancelled"
        await journal.end(Run(number, event, results, (), Ending(), cancelled=cancelled))
    if asked["pinned"]:
        await journal.pin([number])
    return number


def file_all(path: Path) -> None:
    with closing(open_database(path)) as database:
        clean_up(database, Retention())


def ids(found: tuple[StoredRun, ...]) -> list[int]:
    return [run.id for run in found]


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(runs, max_size=8), st.lists(questions, min_size=1, max_size=6), st.booleans())
def test_every_filter_finds_what_reading_all_runs_would_find(
    tmp_path_factory: pytest.TempPathFactory, made: list[Any], asked: list[RunFilter], all_filed: bool
) -> None:
    path = tmp_path_factory.mktemp("filters") / "journal.db"

    async def fill() -> None:
        with Journal(path, "/here", "d") as here, Journal(path, "/there", "d") as there:
            for one in made:
                await put(there if one["there"] else here, one)
                if one["filed"]:
                    file_all(path)

    asyncio.run(fill())
    if made and all_filed:
        file_all(path)
    journal = Journal(path, "/here", "d")
    everything = journal.select(RunFilter(), 100)
    assert ids(everything) == sorted(ids(everything), reverse=True)
    for wanted in asked:
        expected = [run.id for run in everything if wanted.matches(run)]
        assert ids(journal.select(wanted, 100)) == expected
        assert ids(journal.select(wanted, 2)) == expected[:2]
        assert [run.id for run in journal.iterate(wanted)] == expected[::-1]


@pytest.mark.parametrize(
    ("text", "sought", "found"),
    [
        ("ZeroDivisionError: division by zero", "division by ZERO", True),
        ("ZeroDivisionError: division by zero", "by division", False),
        ("ZeroDivisionError: division by zero", "zero", True),
        ("ZeroDivisionError: division", "zero", False),  # a part of a word
        ("ZeroDivisionError: division", "zero*", True),
        ("ZeroDivisionError: division", "vision*", False),
        ("/home/me/hooks/greet/handler.py", "greet/handler.py", True),
        ("before_tool_call", "tool", True),
        ("Café Zoë", "cafe zoe", True),
        ("处理时发生错误了", "错误", True),
        ("처리 중에 오류가 발생", "오류", True),
        ("straße", "STRASSE", True),
        ("x" * 100, "x" * 64 + "y", True),  # words are as long as 64 characters
        ("x" * 3_000, "", False),
    ],
)
def test_the_words_of_a_phrase_are_found_together(text: str, sought: str, found: bool) -> None:
    looked_for = parse_phrase(sought)
    assert (looked_for is not None and looked_for.is_in(" ".join(index_terms(text)))) is found


async def test_every_text_of_a_run_is_searched_without_field_names(
    journal: Journal, run_of_id: RunOfId
) -> None:
    event = Event("command", "new", "agent:main:ada", {"inKey": "invalue", "count": 4711}, ("before",))
    call = Registration("command:new", "greet", print)
    error = Failure("KeyError", "inmessage")
    result = Result(
        call, "error", messages=("pushed",), returned={"k": "answer"}, stdout="printed", error=error
    )
    number = await journal.begin(event)
    run = Run(number, event, (result,), (), Ending(failure="infailure"), notes=("innote",))
    await journal.end(run)
    file_all(journal.path)
    for word in (
        "invalue",
        "4711",
        "before",
        "keyerror",
        "inmessage",
        "pushed",
        "answer",
        "printed",
        "greet",
    ):
        assert ids(journal.recent(text=word)) == [number], word
    for word in ("infailure", "innote", "ada", "command:new"):
        assert ids(journal.recent(text=word)) == [number], word
    for word in ("inkey", "stdout", "status"):
        assert journal.recent(text=word) == (), word


async def test_the_beginning_of_a_long_text_is_searched(journal: Journal) -> None:
    event = Event("command", context={"text": "first " + "x " * 2_000 + "last"})
    await journal.end(Run(await journal.begin(event), event, (), (), Ending()))
    assert len(journal.recent(text="first")) == 1
    assert journal.recent(text="last") == ()


async def test_a_time_range_includes_both_ends(journal: Journal) -> None:
    numbers = [await journal.begin(Event(name)) for name in "abc"]
    second = journal.run(numbers[1])
    assert second is not None
    at = second.started
    with closing(sqlite3.connect(journal.path)) as database, database:
        for number, shift in zip(numbers, (-1_000, 0, 1_000), strict=True):
            database.execute(
                "update runs set at = at + ?, started_ms = started_ms + ?  where id = ?",
                (shift, shift, number),
            )
    minute = timedelta(minutes=1)
    assert ids(journal.select(RunFilter(since=at))) == [numbers[2], numbers[1]]
    assert ids(journal.select(RunFilter(until=at))) == [numbers[1], numbers[0]]
    assert ids(journal.select(RunFilter(since=at, until=at))) == [numbers[1]]
    assert ids(journal.select(RunFilter(since=at, key="c"))) == [numbers[2]]
    assert journal.select(RunFilter(since=at + minute)) == journal.select(RunFilter(until=at - minute)) == ()
    assert ids(journal.select(RunFilter(since=at - minute, until=at + minute))) == numbers[::-1]


async def test_a_clock_set_back_hides_no_run(journal: Journal) -> None:
    ahead = await journal.begin(Event("ahead"))
    with closing(sqlite3.connect(journal.path)) as database, database:
        database.execute("update runs set at = at + 3600000, started_ms = started_ms + 3600000")
    behind = await journal.begin(Event("behind"))
    hour = timedelta(minutes=59)
    assert ids(journal.select(RunFilter(since=datetime.now(UTC) + hour))) == [behind, ahead]
    assert ids(journal.select(RunFilter())) == [behind, ahead]
    assert ids(journal.select(RunFilter(until=datetime.now(UTC)))) == [behind]
    assert ids(journal.select(RunFilter(until=datetime.now(UTC), key="behind"))) == [behind]
    assert journal.select(RunFilter(until=datetime.now(UTC) - hour)) == ()


async def test_without_fts5_runs_are_searched_one_by_one(
    path: Path, monkeypatch: pytest.MonkeyPatch, run_of_id: RunOfId
) -> None:
    monkeypatch.setattr(
        "hookscope.storage.journal.run_filter.CREATE_INDEX", "create virtual table search using fts99 (words)"
    )
    with Journal(path, "w", "d", Retention(runs=3)) as journal:
        for number in range(6):
            event = Event("command", "new" if number % 2 else "stop", context={"text": f"word {number}"})
            await journal.end(run_of_id(await journal.begin(event), event=event))
    assert ids(journal.select(RunFilter())) == [6, 5, 4]
    assert ids(journal.select(RunFilter(key="command:new", hook="greet"))) == [6, 4]
    assert ids(journal.select(RunFilter(text="word 4"))) == [5]
    monkeypatch.undo()
    file_all(path)  # a SQLite that has it: now there is an index
    assert ids(journal.select(RunFilter(text="word 4"))) == [5]
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("select count(*) from fresh").fetchone() == (0,)


async def test_a_lost_index_is_rebuilt(journal: Journal, run_of_id: RunOfId) -> None:
    event = Event("command", "new", context={"text": "some words"})
    number = await journal.begin(event)
    await journal.end(run_of_id(number, event=event))
    file_all(journal.path)
    with closing(sqlite3.connect(journal.path)) as database, database:
        database.execute("drop table search")
    assert ids(journal.recent(text="some words")) == [number]  # runs are read one by one
    file_all(journal.path)
    with closing(sqlite3.connect(journal.path)) as database:
        assert database.execute("select rowid from search where search match '\"§1§some§words\"'").fetchall()
        assert database.execute("select runs from totals").fetchall() == [(1,)]


async def test_a_run_that_ends_late_is_found_by_its_result(journal: Journal, run_of_id: RunOfId) -> None:
    event = Event("command", "new")
    number = await journal.begin(event)
    file_all(journal.path)
    assert ids(journal.select(RunFilter(outcomes=frozenset({"running"})))) == [number]
    await journal.end(replace(run_of_id(number, status="error", event=event)))
    file_all(journal.path)
    assert ids(journal.recent(failed=True)) == [number]
    assert journal.select(RunFilter(outcomes=frozenset({"running"}))) == ()

"""Runs as a busy agent makes them, and how the journal's own statements put them into a database."""

import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate, count
from pathlib import Path
from time import perf_counter

from hookscope.model.failure import Failure, Frame
from hookscope.model.run import Code, Ending, Event, Registration, Result, Run
from hookscope.storage.journal.database import commit_together, open_database
from hookscope.storage.journal.encodings import compact_document
from hookscope.storage.journal.journal import END_RUN, INSERT_RUN
from hookscope.storage.journal.records import event_document, outcome_of, run_document

HERE, THERE = "/home/dev/agents/agent", "/home/dev/agents/other"
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
PER_RUN = timedelta(seconds=20)
SESSION = "SESSION"
FAMILIES = ("command", "session", "message", "agent", "gateway", "tool")
ACTIONS = ("new", "reset", "stop", "sent", "received", "start", "end", "bootstrap")
KEYS = [f"{family}:{action}" for family in FAMILIES for action in ACTIONS]
HOOKS = [f"hook-{number}" for number in range(60)]


class World:
    """Some events, hooks and words often, most seldom."""

    def __init__(self) -> None:
        self.dice = random.Random(7)
        letters = "abcdefghijklmnopqrstuvwxyz"
        self.words = ["".join(self.dice.choices(letters, k=self.dice.randint(3, 11))) for _ in range(30_000)]
        self.common = list(accumulate(1 / (rank + 1) for rank in range(len(self.words))))
        self.often = list(accumulate(1 / (rank + 1) for rank in range(len(KEYS))))
        self.said: list[str] = []  # the texts of the runs
        self.listeners = {key: self.dice.sample(HOOKS, self.dice.randint(0, 4)) for key in KEYS}

    def text(self, words: int) -> str:
        self.said.append(" ".join(self.dice.choices(self.words, cum_weights=self.common, k=words)))
        return self.said[-1]

    def session(self) -> str:
        return f"{self.dice.getrandbits(64):016x}"

    def run(self) -> Run:
        """One run; about one in twenty fails."""
        dice = self.dice
        family, _, action = dice.choices(KEYS, cum_weights=self.often)[0].partition(":")
        context = {"senderId": f"user-{dice.randint(1, 300)}", "channel": "telegram", "text": self.text(12)}
        event = Event(family, action, f"agent:main:{SESSION}", context, timestamp=BEGAN)
        results = tuple(self.result(name, event) for name in self.listeners[event.key])
        return Run(0, event, results, (), Ending(), (), context, took=0.004, delivers=True)

    def result(self, name: str, event: Event) -> Result:
        root = Path(f"{HERE}/hooks/{name}")
        call = Registration(event.key, name, Code(root / "handler.py", "handler", root, "python", "0" * 32))
        if self.dice.random() < 0.03:
            frame = Frame(str(root / "handler.py"), self.dice.randint(1, 90), "handler", "raise ValueError()")
            error = Failure("ValueError", self.text(4), (frame,))
            return Result(call, "error", took=0.001, error=error)
        return Result(call, "ok", took=0.001, messages=(self.text(3),))


class Model:
    """A run as the journal stores it; each that is put in has a session of its own."""

    def __init__(self, run: Run) -> None:
        document = {**run_document(run, "d"), "masked": []}
        thin = compact_document(document, document["event"])
        del thin["event"], thin["id"]
        self.key, self.outcome = run.event.key, outcome_of(run)
        self.event, self.document = json.dumps(event_document(run.event)), json.dumps(thin)


def row_of(model: Model, workspace: str, number: int, event: str) -> tuple[object, ...]:
    when = round((BEGAN + number * PER_RUN).timestamp() * 1000)
    owner = (1, "4a1c9d1e-0000-0000-0000-000000000000 123456")
    return (workspace, b"\0", model.key, when, when, *owner, len(event), event)


def put(database: sqlite3.Connection, model: Model, workspace: str, number: int, session: str) -> None:
    """With the journal's own statements: begun, and ended."""
    event = model.event.replace(SESSION, session)
    run = database.execute(INSERT_RUN, row_of(model, workspace, number, event)).lastrowid
    size = len(model.document)
    database.execute(END_RUN, (model.outcome, 0.004, model.document, size, run))


def prepared(path: Path) -> sqlite3.Connection:
    """A new journal that knows both workspaces."""
    database = open_database(path)
    for workspace in (HERE, THERE):
        database.execute("insert into workspaces (path) values (?)", (workspace,))
    database.execute(
        "insert into circumstances (digest, dialect, version, handlers) values (x'00', 'd', '', '[]')"
    )
    return database


class Appends:
    """Begin and end of one run, into a table without anything and into a journal: the same bytes, pragmas and
    transactions."""

    def __init__(self, bare: sqlite3.Connection, full: sqlite3.Connection, world: World, first: int) -> None:
        self.bare, self.full = bare, full
        self.models = [Model(world.run()) for _ in range(200)]
        self.numbers = count(first)

    def into_bare(self) -> float:
        model = self.models[next(self.numbers) % len(self.models)]
        began = perf_counter()
        for text in (model.event, model.document):
            commit_together(self.bare, [partial(_insert, text=text)])
        return perf_counter() - began

    def into_journal(self) -> float:
        number = next(self.numbers)
        model = self.models[number % len(self.models)]
        began = perf_counter()
        (run,) = commit_together(self.full, [partial(_begin, model=model, number=number)])
        commit_together(self.full, [partial(_end, model=model, run=run)])
        took = perf_counter() - began
        assert isinstance(run, int)
        return took


@contextmanager
def appending(bare: Path, journal: sqlite3.Connection, world: World, first: int) -> Iterator[Appends]:
    with closing(open_database(bare)) as database:
        database.execute("create table bare (id integer primary key, text text not null)")
        yield Appends(database, journal, world, first)


def _insert(database: sqlite3.Connection, text: str) -> int:
    return database.execute("insert into bare (text) values (?)", (text,)).lastrowid or 0


def _begin(database: sqlite3.Connection, model: Model, number: int) -> int:
    return database.execute(INSERT_RUN, row_of(model, HERE, number, model.event)).lastrowid or 0


def _end(database: sqlite3.Connection, model: Model, run: object) -> int:
    values = (model.outcome, 0.004, model.document, len(model.document), run)
    return database.execute(END_RUN, values).rowcount

"""A million runs in a journal: what every filter takes, and what an append costs beside a bare insert.

HOOKSCOPE_BENCHMARK_RUNS=100000 makes fewer. It needs some minutes, and 1.5 KB of disk for each run. What a
filter takes is the work of its thread: all is in the page cache, and the clock would tell of other programs.
"""

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from time import perf_counter, thread_time

from tests.benchmarks.measuring import Group, Target, Variant
from tests.benchmarks.recording import (
    BEGAN,
    HERE,
    HOOKS,
    KEYS,
    PER_RUN,
    THERE,
    Model,
    World,
    appending,
    prepared,
    put,
)

from hookscope.storage.journal.database import open_database
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.records import Outcome
from hookscope.storage.journal.run_filter import RunFilter
from hookscope.storage.journal.writer import clean_up
from hookscope.storage.state_files import Retention

RUNS = int(os.environ.get("HOOKSCOPE_BENCHMARK_RUNS", "1000000"))
TOGETHER = 10_000
TIMES = 4  # each filter, in one round
APPENDS = 200  # in one round
MOST = 0.005  # seconds for a filter
ALL = Retention(runs=10**9, size=10**15)
MODELS = 20_000  # different runs; all others differ from them in their session
BARE, OURS = "two bare inserts", "begin and end, into the million"
Filters = dict[str, Callable[[], RunFilter]]


def build(file: Path, world: World) -> None:
    """A journal of many runs, nine of ten in one workspace; each thousandth pinned."""
    began = perf_counter()
    with closing(prepared(file)) as database:
        fill(database, world)
        built = perf_counter() - began
        held = filed(database)
    took = perf_counter() - began - built
    size = sum(one.stat().st_size for one in file.parent.iterdir())
    say(f"{RUNS:,} runs: built in {built:.0f} s, filed in {took:.0f} s ({took / RUNS * 1e6:.0f} µs each),")
    p50, p99, worst = (sorted(held)[int((len(held) - 1) * part)] * 1e3 for part in (0.5, 0.99, 1))
    say(f"bit by bit, each of {p50:.0f} ms, p99 {p99:.0f}, worst {worst:.0f};")
    say(f"{size / 2**20:,.0f} MiB, {size / RUNS:.0f} bytes each")


def fill(database: sqlite3.Connection, world: World) -> None:
    models = [Model(world.run()) for _ in range(MODELS)]
    for first in range(1, RUNS + 1, TOGETHER):
        database.execute("begin immediate")
        for number in range(first, min(first + TOGETHER, RUNS + 1)):
            workspace = THERE if number % 10 == 0 else HERE
            put(database, world.dice.choice(models), workspace, number, world.session())
        database.execute("commit")
    database.execute("update runs set pinned = 1 where id % 1000 = 1")


def filed(database: sqlite3.Connection) -> list[float]:
    """Tidy it to the end; the seconds of work that somebody else would have waited for, each time."""
    held: list[float] = []
    more = True
    while more:
        work = thread_time()
        more = clean_up(database, ALL, is_busy=lambda: True)
        held.append(thread_time() - work)
    clean_up(database, ALL)
    return held


def filters(world: World) -> Filters:
    """Each filter of the command line with a value of the dice, and how they are combined."""
    dice = world.dice
    failed: frozenset[Outcome] = frozenset({"failed"})

    def key() -> str:
        return dice.choice(KEYS)

    def hook() -> str:
        return dice.choice(HOOKS)

    def word() -> str:
        return dice.choices(world.words, cum_weights=world.common)[0]

    def said() -> str:
        """Two words that some runs have side by side."""
        text = world.said[dice.randrange(len(world.said))].split()
        at = dice.randrange(len(text) - 1)
        return " ".join(text[at : at + 2])

    def window() -> tuple[datetime, datetime]:
        start = BEGAN + PER_RUN * dice.randint(0, RUNS)
        return start, start + PER_RUN * dice.randint(100, 100_000)

    return {
        "nothing": RunFilter,
        "event": lambda: RunFilter(key=key()),
        "hook": lambda: RunFilter(hook=hook()),
        "failed": lambda: RunFilter(outcomes=failed),
        "not failed": lambda: RunFilter(outcomes=frozenset({"ok", "cancelled"})),
        "interrupted": lambda: RunFilter(outcomes=frozenset({"interrupted"})),
        "time": lambda: RunFilter(since=(when := window())[0], until=when[1]),
        "pinned": lambda: RunFilter(pinned=True),
        "a word": lambda: RunFilter(text=word()),
        "a word of all": lambda: RunFilter(text="telegram"),
        "a word of one": lambda: RunFilter(text=world.session()),
        "a word of none": lambda: RunFilter(text="nowhere"),
        "two words side by side": lambda: RunFilter(text=said()),
        "the start of a rare word": lambda: RunFilter(text=f"{dice.choice(world.words[5_000:])[:6]}*"),
        "event, hook": lambda: RunFilter(key=key(), hook=hook()),
        "event, failed": lambda: RunFilter(key=key(), outcomes=failed),
        "hook, failed": lambda: RunFilter(hook=hook(), outcomes=failed),
        "event, hook, failed": lambda: RunFilter(key=key(), hook=hook(), outcomes=failed),
        "event, time": lambda: RunFilter(key=key(), since=(when := window())[0], until=when[1]),
        "hook, time": lambda: RunFilter(hook=hook(), since=(when := window())[0], until=when[1]),
        "failed, time": lambda: RunFilter(outcomes=failed, since=(when := window())[0], until=when[1]),
        "word, event": lambda: RunFilter(text=word(), key=key()),
        "word, hook": lambda: RunFilter(text=word(), hook=hook()),
        "word, failed": lambda: RunFilter(text=word(), outcomes=failed),
        "word, time": lambda: RunFilter(text=word(), since=(when := window())[0], until=when[1]),
        "word, event, hook, failed": lambda: RunFilter(text=word(), key=key(), hook=hook(), outcomes=failed),
        "pinned, event": lambda: RunFilter(pinned=True, key=key()),
        "pinned, failed": lambda: RunFilter(pinned=True, outcomes=failed),
        "pinned, hook": lambda: RunFilter(pinned=True, hook=hook()),
        "pinned, word": lambda: RunFilter(pinned=True, text=word()),
        # Known to be slow, since they read long lists to their end: told, without a target.
        "(two common words apart)": lambda: RunFilter(text=f"{world.words[dice.randint(0, 20)]} telegram"),
        "(the start of common words)": lambda: RunFilter(text=f"{dice.choice('aeiou')}*"),
    }


def selecting(journal: Journal, other: Journal, make: Callable[[], RunFilter]) -> Callable[[], float]:
    numbers = count()

    def sample() -> float:
        wanted, asked = make(), other if next(numbers) % 4 == 0 else journal
        work = thread_time()
        found = asked.select(wanted, 20)
        took = thread_time() - work
        assert all(wanted.matches(run) and wanted.is_in_time(run) for run in found)
        return took

    return sample


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    file, world = folder / "million" / "journal.db", World()
    file.parent.mkdir()
    build(file, world)
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(file, HERE, "d"))
        other = stack.enter_context(Journal(file, THERE, "d"))
        full = stack.enter_context(closing(open_database(file)))
        appends = stack.enter_context(appending(folder / "bare.db", full, world, RUNS))
        numbers = count(1)

        def append() -> float:
            took = appends.into_journal()
            if next(numbers) % APPENDS == 0:  # filed, as they are when nobody waits: filters look at all else
                while clean_up(full, ALL):
                    pass
            return took

        yield [
            Variant(BARE, appends.into_bare, APPENDS),
            Variant(OURS, append, APPENDS),
            *(Variant(name, selecting(journal, other, make), TIMES) for name, make in filters(world).items()),
        ]


def say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


NAMES = [name for name in filters(World()) if not name.startswith("(")]
GROUP = Group(
    "million",
    f"{RUNS:,} runs on record: an append, and 20 runs found by each filter",
    opened,
    floor=BARE,
    targets=(Target(OURS, 2.0, BARE), *(Target(name, MOST, part="p95") for name in NAMES)),
    only_named=True,
)

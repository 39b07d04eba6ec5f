"""A program that is killed in the middle of a burst: what was acknowledged is there."""

import asyncio
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from subprocess import Popen

import pytest

from hookscope.model.run import Event
from hookscope.storage.journal.journal import Journal
from hookscope.storage.journal.run_filter import RunFilter

StartChild = Callable[[str], "Popen[str]"]

# Prints a line for each id as it is acknowledged: b for a begun run, e for an ended one, p for a pinned one.
BURST = """
from hookscope.model.run import Registration, Result
def say(letter, number):
    sys.stdout.write(f"{letter} {number}\\n")
    sys.stdout.flush()
async def one(number):
    event = Event("burst", str(number), context={"text": f"run {number} " + "x" * (number * 37 % 3000)})
    run = await journal.begin(event)
    say("b", run)
    result = Result(Registration(event.key, "greet", print), "error" if number % 5 == 0 else "ok")
    await journal.end(Run(run, event, (result,), (), Ending()))
    say("e", run)
    if number % 7 == 0 and await journal.pin([run]):
        say("p", run)
for first in range(0, 1000000, 10):
    await asyncio.gather(*(one(number) for number in range(first, first + 10)))
"""
OTHER = """
say = lambda number: (sys.stdout.write(f"{number}\\n"), sys.stdout.flush())
while True:
    say(await journal.begin(Event("other")))
"""


@pytest.mark.parametrize("lines", [1, 40, 300, 1_500])
def test_kill_9_loses_no_acknowledged_run(path: Path, start_child: StartChild, lines: int) -> None:
    other, burst = start_child(OTHER), start_child(BURST)
    assert other.stdout is not None
    assert burst.stdout is not None
    said = [burst.stdout.readline() for _ in range(lines + random.Random(lines).randint(0, 40))]
    burst.kill()
    said += burst.stdout.read().splitlines(keepends=True)
    acknowledged = [line.split() for line in said if line.endswith("\n")]  # the last may be torn
    beside = [int(other.stdout.readline()) for _ in range(20)]
    other.kill()
    beside += [int(line) for line in other.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("pragma integrity_check").fetchone() == ("ok",)
    runs = {run.id: run for run in Journal(path, "/agents/agent", "d").iterate(RunFilter())}
    assert len(acknowledged) >= lines
    assert {int(number) for _, number in acknowledged} <= set(runs)
    assert {runs[int(number)].outcome for letter, number in acknowledged if letter == "e"} <= {"ok", "failed"}
    assert all(runs[int(number)].pinned for letter, number in acknowledged if letter == "p")
    assert set(beside) <= set(runs)


async def test_a_journal_continues_after_its_writer_was_killed(
    journal: Journal, path: Path, start_child: StartChild
) -> None:
    burst = start_child(BURST)
    assert burst.stdout is not None
    for _ in range(600):
        burst.stdout.readline()
    burst.kill()
    burst.wait()
    number = await journal.begin(Event("command", "new"))
    await asyncio.to_thread(journal.close)
    everything = journal.select(RunFilter(), 10_000)
    assert everything[0].id == number
    for wanted in (
        RunFilter(hook="greet"),
        RunFilter(outcomes=frozenset({"failed"})),
        RunFilter(text="run 3"),
        RunFilter(pinned=True),
    ):
        expected = [run.id for run in everything if wanted.matches(run)]
        assert [run.id for run in journal.select(wanted, 10_000)] == expected

"""What a record on disk costs beside an append in memory. Ratios only: absolute times are the machine's.

Runs when asked: HOOKSCOPE_BENCHMARKS=1 pytest -s tests/benchmarks
"""

import asyncio
import os
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from hookscope.core.runs import Ending, Event, Registration, Result, Run
from hookscope.journal import Journal

pytestmark = pytest.mark.skipif(
    os.environ.get("HOOKSCOPE_BENCHMARKS") != "1", reason="set HOOKSCOPE_BENCHMARKS=1 to measure"
)

EVENTS = 300
TOGETHER = 20
CONTEXT = {"senderId": "dev", "commandSource": "telegram", "text": "x" * 300}
CALLS = [Registration("command:new", name, print) for name in ("one", "two", "three")]
RESULTS = tuple(Result(call, "ok", messages=("done",), stdout="a line\n", took=0.001) for call in CALLS)
MOST = 4_000  # times a bare append, which takes well under a microsecond


class Memory:
    """The floor: a recorder that keeps nothing on disk."""

    def __init__(self) -> None:
        self.begun: list[Event] = []
        self.ended: list[Run] = []

    async def begin(self, event: Event) -> int:
        self.begun.append(event)
        return len(self.begun)

    async def end(self, run: Run) -> None:
        self.ended.append(run)


async def one_event(recorder: Journal | Memory) -> float:
    event = Event("command", "new", "agent:main:main", CONTEXT)
    began = perf_counter()
    run_id = await recorder.begin(event)
    await recorder.end(Run(run_id, event, RESULTS, (), Ending(), took=0.003))
    return perf_counter() - began


async def test_a_record_on_disk_costs_a_fraction_of_a_millisecond(tmp_path: Path) -> None:
    memory = Memory()
    floor = median([await one_event(memory) for _ in range(EVENTS)])
    with Journal(tmp_path / "journal.db", "w", "d") as journal:
        times = sorted([await one_event(journal) for _ in range(EVENTS)])
        began = perf_counter()
        for _ in range(EVENTS // TOGETHER):
            await asyncio.gather(*(one_event(journal) for _ in range(TOGETHER)))
        together = (perf_counter() - began) / EVENTS
        began = perf_counter()
        assert len(journal.recent()) == 200
        reading = perf_counter() - began
    alone, p95 = median(times), times[int(EVENTS * 0.95)]
    print(f"\nbegin and end: memory {floor * 1e6:.1f} µs; disk {alone * 1e6:.0f}, p95 {p95 * 1e6:.0f},")  # noqa: T201  (a benchmark)
    print(f"{TOGETHER} at once {together * 1e6:.0f} each; the last 200 runs {reading * 1e3:.1f} ms")  # noqa: T201
    assert alone <= floor * MOST

"""What a record on disk costs beside an append in memory, bare SQLite, and a worker's answer."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter

from tests.benchmarks import lanes
from tests.benchmarks.building import loop, seconds, seconds_async
from tests.benchmarks.measuring import Group, Target, Variant
from tests.benchmarks.recording import World, appending, prepared

from hookscope.model.run import Ending, Event, Registration, Result, Run
from hookscope.runtime.process_executor import ProcessExecutor
from hookscope.storage.journal.journal import Journal

TIMES = 20
TOGETHER = 20
CONTEXT = {"senderId": "dev", "commandSource": "telegram", "text": "x" * 300}
CALLS = [Registration("command:new", name, print) for name in ("one", "two", "three")]
RESULTS = tuple(Result(call, "ok", messages=("done",), stdout="a line\n", took=0.001) for call in CALLS)


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


def an_event() -> Event:
    return Event("command", "new", "agent:main:main", CONTEXT)


async def begun(recorder: Journal | Memory) -> float:
    event = an_event()
    return await seconds_async(lambda: recorder.begin(event))


async def whole(recorder: Journal | Memory) -> float:
    event = an_event()
    began = perf_counter()
    run_id = await recorder.begin(event)
    await recorder.end(Run(run_id, event, RESULTS, (), Ending(), took=0.003))
    return perf_counter() - began


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    with ExitStack() as stack:
        sampled = stack.enter_context(loop())
        journal = stack.enter_context(Journal(folder / "journal.db", "w", "d"))
        full = stack.enter_context(closing(prepared(folder / "full.db")))
        appends = stack.enter_context(appending(folder / "bare.db", full, World(), 1))
        lane, call = lanes.python(folder), lanes.hook(folder, "worker")
        stack.callback(sampled(partial(seconds_async, lane.close)))
        memory = Memory()

        async def together() -> float:
            took = await seconds_async(lambda: asyncio.gather(*(whole(journal) for _ in range(TOGETHER))))
            return took / TOGETHER

        def reading() -> None:
            assert journal.recent()

        yield [
            Variant("an append in memory", sampled(lambda: whole(memory)), TIMES),
            Variant("two bare inserts, each its own transaction", appends.into_bare, TIMES),
            Variant("begin and end, the journal's statements", appends.into_journal, TIMES),
            Variant("begin, before the first handler", sampled(lambda: begun(journal)), TIMES),
            Variant("begin and end, masked, by the writer's thread", sampled(lambda: whole(journal)), TIMES),
            Variant(f"the same, {TOGETHER} at once: each", sampled(together)),
            Variant("one handler's answer by a worker", sampled(answer(lane, call)), TIMES),
            Variant("the last 200 runs read", lambda: seconds(reading)),
        ]


def answer(lane: ProcessExecutor, call: Registration) -> lanes.Work:
    return lambda: seconds_async(lambda: lanes.fire(lane, call))


GROUP = Group(
    "journal",
    "A run on record",
    opened,
    floor="two bare inserts, each its own transaction",
    targets=(
        Target("begin and end, the journal's statements", 2.0, "two bare inserts, each its own transaction"),
        Target("begin, before the first handler", 1.0, "one handler's answer by a worker"),
        Target("begin and end, masked, by the writer's thread", 4_000, "an append in memory"),
    ),
)

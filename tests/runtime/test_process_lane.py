"""The lane alone, with a worker that only pretends."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import pytest
from tests.runtime.conftest import LONG

from hookscope.model.failure import Failure
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Registration, Result, Started, Step
from hookscope.runtime.batch import LateEvent, LateHandler, PrintedOutput, WorkerLost, WorkerNotStarted
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import MAX_OWN_WORKERS, MAX_PLUGIN_WORKERS, ProcessExecutor
from hookscope.runtime.python_worker.protocol import Message, Unpacker


@dataclass
class Fake:
    """A worker that answers, hangs or dies as the handlers' names say, and remembers that it was ended."""

    harmed: set[str] = field(default_factory=set)  # paths of those that do harm once, and have
    ended: bool = False
    prints: deque[PrintedOutput] = field(default_factory=deque)
    answers: deque[Message] = field(default_factory=deque)
    run: Message = field(default_factory=dict)
    known: dict[int, Message] = field(default_factory=dict)
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    mark: str = "a fake's mark"
    fence: str = "a fake's fence"
    pid: int = 0
    is_alive: bool = True
    has_late_events: bool = False
    late_handlers: Sequence[LateHandler] = ()
    shares_clock: bool = False
    started_at: float = 0.0

    async def start(self) -> None:
        return None

    @contextmanager
    def listening(self, *, outputs: bool = True) -> Iterator[None]:
        yield

    def read_outputs(self) -> None:
        """All that it prints is there from the beginning."""

    def send_available(self, frame: bytes) -> bytes | memoryview:
        return frame  # a pipe that is full

    async def send_frame(self, frame: bytes | memoryview) -> None:
        for message in Unpacker().feed(bytes(frame)):
            await self.send_message(message)

    async def send_message(self, message: Message) -> None:
        if message["do"] == "settings":
            return
        assert message["do"] == "run"
        self.known |= dict(message.get("know", ()))
        self.run = {**message, "calls": [self.known[number] for number in message["calls"]]}
        base = {"id": message["id"], "loaded": 0.25}
        self.answers.append({**base, "started": 0})
        last = len(message["calls"]) - 1
        for number in range(last + 1):
            answer = {
                "result": number,
                "status": "ok",
                "took": 0.5,
                "error": None,
                "notes": [],
                "printed": True,
            }
            self.answers.append({**base, **answer, "next": number < last})

    async def receive_each(self, take: Callable[[Message], bool], waits: Callable[[], object]) -> None:
        waits()
        self.interrupted.clear()
        over = asyncio.create_task(self.interrupted.wait())
        while True:
            hearing = asyncio.create_task(self.receive())
            try:
                await asyncio.wait([hearing, over], return_when=asyncio.FIRST_COMPLETED)
            finally:
                if not hearing.done():
                    hearing.cancel()
            if over.done() or take(hearing.result()):
                over.cancel()
                return

    def read_available(self) -> bool:
        return False

    def stop_receiving(self) -> None:
        self.interrupted.set()

    async def receive(self) -> Message:
        message = self.answers.popleft()
        name = Path(self.run["calls"][message.get("result", 0)]["code"]["path"]).stem
        if name == "dies as it loads":
            raise WorkerLost("exited with status 7", died=True)
        if name == "loads for ever" or ("result" in message and name == "hangs"):
            self.answers.appendleft(message)
            await asyncio.Event().wait()
        if "result" in message:
            if name == "dies":
                raise WorkerLost("exited with status 7", died=True)
            path = self.run["calls"][message["result"]]["code"]["path"]
            if name == "spoils" or (name == "harms once" and path not in self.harmed):
                self.harmed.add(path)
                message["dirty"] = True
            if name == "wears":
                message["worn"] = True
            if name == "lies":
                message["id"] = "something else"
        return message

    def take_received(self) -> Message | None:
        return None

    def take_output(self, *, of_one: bool = False) -> PrintedOutput:
        return self.prints.popleft() if self.prints else PrintedOutput()

    def keep_reading(self, news: Callable[[], None]) -> None:
        """It says nothing late."""

    def take_late_events(self) -> tuple[LateEvent, ...]:
        return ()

    async def send_urgent(self, message: Message) -> None:
        """It hangs, and hears nothing."""

    def signal(self, number: int) -> None:
        raise AssertionError("a fake prints no stack")

    async def end(self) -> None:
        await asyncio.sleep(0)
        self.ended = True


def call(name: str, limit: float | None = LONG) -> Registration:
    root = Path("/nowhere")
    return Registration(
        "command:new", name, Code(root / f"{name}.py", "default", root, "python"), limit=limit
    )


@pytest.fixture
def workers() -> list[Fake]:
    return []


@pytest.fixture
def lane(workers: list[Fake]) -> ProcessExecutor:
    def make() -> Fake:
        workers.append(Fake())
        return workers[-1]

    return ProcessExecutor(make, Limits(run=0.02))  # for what hangs: others have LONG


async def run(lane: ProcessExecutor, *calls: Registration) -> dict[str, Result]:
    steps: list[Step] = []
    await lane.run(calls, HookEvent("command", "new"), steps.append)
    return {step.call.name: step for step in steps if isinstance(step, Result)}


async def until(holds: Callable[[], object]) -> None:
    while not holds():  # noqa: ASYNC110  (a list that grows)
        await asyncio.sleep(0)


async def test_steps_come_as_they_happen_and_one_worker_serves_all(
    lane: ProcessExecutor, workers: list[Fake]
) -> None:
    steps: list[Step] = []
    await lane.run([call("a"), call("b")], HookEvent("command", "new"), steps.append)
    assert [(type(step), step.call.name) for step in steps] == [
        (Started, "a"),
        (Result, "a"),
        (Started, "b"),
        (Result, "b"),
    ]
    assert len(workers) == 1


@pytest.mark.parametrize(
    ("bad", "status", "said"),
    [
        ("hangs", "timeout", "did not answer within 0.02 s and was stopped"),
        ("dies", "crashed", "exited with status 7 before it answered"),
        ("lies", "crashed", "sent an answer without a request before it answered"),
    ],
)
async def test_the_batch_goes_on_behind_the_culprit_in_a_fresh_worker(
    lane: ProcessExecutor, workers: list[Fake], bad: str, status: str, said: str
) -> None:
    results = await run(lane, call("a"), call(bad, None if bad == "hangs" else LONG), call("b"))
    assert [(name, result.status) for name, result in results.items()] == [
        ("a", "ok"),
        (bad, status),
        ("b", "ok"),
    ]
    error = results[bad].error
    assert error is not None
    assert error.message == said
    assert [worker.ended for worker in workers] == [True, False]


async def test_a_spoilt_worker_is_replaced_and_its_answer_counts(
    lane: ProcessExecutor, workers: list[Fake]
) -> None:
    results = await run(lane, call("spoils"), call("b"))
    assert [result.status for result in results.values()] == ["ok", "ok"]
    assert [worker.ended for worker in workers] == [True, False]


async def test_a_registrations_own_limit_comes_before_the_lanes(workers: list[Fake]) -> None:
    results = await run(ProcessExecutor(Fake), call("hangs", limit=0.01))
    error = results["hangs"].error
    assert error is not None
    assert error.message == "did not answer within 0.01 s (the limit in its HOOK.md) and was stopped"


async def test_a_worker_cancelled_in_a_handler_is_never_used_again(workers: list[Fake]) -> None:
    def make() -> Fake:
        workers.append(Fake())
        return workers[-1]

    lane, seen = ProcessExecutor(make), list[Step]()
    batch = [call("a"), call("hangs"), call("b")]
    task = asyncio.create_task(lane.run(batch, HookEvent("command", "new"), seen.append))
    await until(lambda: len(seen) == 3)
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()  # an impatient user presses twice
    with pytest.raises(asyncio.CancelledError):
        await task
    assert workers[0].ended
    results = [(step.call.name, step.status) for step in seen if isinstance(step, Result)]
    assert results == [("a", "ok"), ("hangs", "cancelled")]


async def test_a_worker_that_died_between_two_batches_is_replaced_and_nobody_is_blamed(
    lane: ProcessExecutor, workers: list[Fake]
) -> None:
    await run(lane, call("a"))

    async def gone(_: Message) -> None:
        raise WorkerLost("was killed by signal 9 (SIGKILL)", died=True)

    workers[0].send_message = gone  # type: ignore[method-assign, assignment]  # this one only
    results = await run(lane, call("b"))
    assert results["b"].status == "ok"
    assert results["b"].notes == ("the worker was killed by signal 9 (SIGKILL) after a",)


async def test_late_output_is_said_with_the_next_result(lane: ProcessExecutor, workers: list[Fake]) -> None:
    await run(lane, call("a"))
    workers[0].prints.append(PrintedOutput(stdout="late\n"))
    results = await run(lane, call("b"))
    assert results["b"].notes == ("before this, a printed late: late",)
    assert results["b"].stdout == ""


async def test_without_a_worker_every_call_says_why() -> None:
    class Missing(Fake):
        async def start(self) -> None:
            raise WorkerNotStarted(Failure("NotStarted", "no such program", phase="spawn"))

    results = await run(ProcessExecutor(Missing), call("a"), call("b"))
    assert [result.status for result in results.values()] == ["crashed", "crashed"]
    assert {result.error.phase for result in results.values() if result.error} == {"spawn"}


async def test_who_dies_as_it_loads_in_a_fresh_worker_is_to_blame(
    lane: ProcessExecutor, workers: list[Fake]
) -> None:
    async with asyncio.timeout(LONG):  # whom nobody blames is tried again and again
        results = await run(lane, call("dies as it loads"), call("b"))
    error = results["dies as it loads"].error
    assert error is not None
    assert (error.message, error.phase) == ("exited with status 7 before it answered", "load")
    assert results["b"].status == "ok"
    assert [worker.ended for worker in workers] == [True, False]


async def test_what_does_not_load_is_told_so_and_not_that_it_did_not_answer(workers: list[Fake]) -> None:
    def make() -> Fake:
        workers.append(Fake())
        return workers[-1]

    never = replace(call("loads for ever"), load_limit=0.02)
    results = await run(ProcessExecutor(make, Limits(load=LONG)), never, call("b"))
    error = results["loads for ever"].error
    assert error is not None
    assert error.message.startswith("did not load within 0.02 s")
    assert error.phase == "load"
    assert results["b"].status == "ok"
    assert [worker.ended for worker in workers] == [True, False]


@pytest.mark.parametrize("last", ["spoils", "wears"])
async def test_a_worker_that_is_spoilt_or_worn_runs_no_other(
    lane: ProcessExecutor, workers: list[Fake], last: str
) -> None:
    results = await run(lane, call("a"), call(last), call("b"))
    assert [result.status for result in results.values()] == ["ok"] * 3
    assert [(len(worker.run["calls"]), worker.ended) for worker in workers] == [(3, True), (1, False)]


async def test_nobody_is_told_that_it_takes_long_at_the_moment_when_it_is_stopped() -> None:
    steps: list[Step] = []
    lane = ProcessExecutor(Fake, Limits(run=0.02, warn=0.02))
    await lane.run([call("hangs", None)], HookEvent("command", "new"), steps.append)
    assert [type(step) for step in steps] == [Started, Result]


async def test_a_worker_is_kept_behind_one_that_did_nothing_but_return(workers: list[Fake]) -> None:
    class Quiet(Fake):
        async def receive(self) -> Message:
            message = await super().receive()
            if "result" not in message or "dirty" in message:
                return message
            return {name: message[name] for name in ("id", "result", "took", "next")}

    def make() -> Fake:
        workers.append(Quiet())
        return workers[-1]

    lane = ProcessExecutor(make, Limits(run=LONG))
    results = await run(lane, call("spoils"), call("a"))
    results |= await run(lane, call("b"))
    assert [result.status for result in results.values()] == ["ok"] * 3
    assert [worker.ended for worker in workers] == [True, False]


async def test_a_worker_that_does_not_get_ready_is_ended() -> None:
    made: list[Fake] = []

    class Slow(Fake):
        async def start(self) -> None:
            made.append(self)
            await asyncio.Event().wait()

    async with asyncio.timeout(LONG):  # loading has no limit: that of starting is the only one
        results = await run(ProcessExecutor(Slow, Limits(spawn=0.01, load=None)), call("a"))
    assert results["a"].error is not None
    assert results["a"].error.message == "did not start within 0.01 s and was stopped"
    assert made[0].ended


async def test_a_closed_lane_starts_nothing(lane: ProcessExecutor, workers: list[Fake]) -> None:
    await run(lane, call("a"))
    await lane.close()
    results = await run(lane, call("b"))
    assert results["b"].error is not None
    assert results["b"].error.message == "this executor is closed"
    assert [worker.ended for worker in workers] == [True]


def in_folder(number: int, name: str, shape: Literal["hook", "plugin"] = "hook") -> Registration:
    root = Path(f"/nowhere/{number}")
    code = Code(root / f"{name}.py", "default", root, "python", shape=shape)
    return Registration("command:new", f"{name} {number}", code, limit=LONG)


def own_workers(lane: ProcessExecutor) -> list[str]:
    """For whom there is a worker of its own, the one that was idle longest first."""
    return [worker.role for worker in lane.workers() if worker.role != "shared"]


async def test_of_those_that_did_harm_the_last_eight_keep_a_worker_each() -> None:
    harmed: set[str] = set()
    workers: list[Fake] = []

    def make() -> Fake:
        workers.append(Fake(harmed))
        return workers[-1]

    lane = ProcessExecutor(make, Limits())
    calls = [in_folder(number, "harms once") for number in range(MAX_OWN_WORKERS + 2)]
    for call in (*calls, *calls):
        await run(lane, call)
    assert own_workers(lane) == ["2", "3", "4", "5", "6", "7", "8", "9"]
    await run(lane, calls[2])
    await run(lane, calls[0])
    assert own_workers(lane) == ["4", "5", "6", "7", "8", "9", "2", "0"]
    assert len(own_workers(lane)) == MAX_OWN_WORKERS
    await lane.close()
    assert all(worker.ended for worker in workers)


async def test_of_plugins_the_last_sixteen_keep_their_worker(
    lane: ProcessExecutor, workers: list[Fake]
) -> None:
    for number in (*range(MAX_PLUGIN_WORKERS), 0, MAX_PLUGIN_WORKERS):
        await run(lane, in_folder(number, "fine", "plugin"))
    assert own_workers(lane) == [*map(str, range(2, MAX_PLUGIN_WORKERS)), "0", str(MAX_PLUGIN_WORKERS)]
    assert [worker.ended for worker in workers] == [False, True] + [False] * (MAX_PLUGIN_WORKERS - 1)

"""What a worker process costs beside a bare pipe, a spawn for each call, and Node's own start."""

import asyncio
import json
import os
import struct
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from subprocess import PIPE
from time import perf_counter
from typing import TypeAlias

from tests.benchmarks.building import loop, node, seconds_async, started, with_node, write_hooks
from tests.benchmarks.measuring import Group, Target, Variant

from hookscope import HookEngine, create_hook_event, embedded_host
from hookscope.model.hook_event import HookEvent, to_document
from hookscope.model.run import Code, Registration, Result, Step
from hookscope.runtime.handler_code import with_digest
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, node_executor, python_executor

HANDLERS = 10
TIMES = 10  # samples in a round of what takes microseconds
IN_A_ROW = 20  # of such, whose median is one sample: the first behind other work finds nothing in the caches
Work: TypeAlias = Callable[[], Awaitable[float]]
LIMITS = Limits(spawn=30.0, load=30.0, run=30.0)
CONTEXT = {"text": "y" * 400}
GOOD = "def handler(event): pass"
CRASH = "import os\ndef handler(event): os._exit(1)"
# Answers a frame with its like. Before that it runs as many handlers as it is asked to, asks the system
# behind each for what that may have disturbed, and says that it has ended, as ours does.
ECHO = """
import _signal, fcntl, json, os, struct, sys, termios
source, target, looks = map(int, sys.argv[1:])
mask = os.umask(0o77)
limits, score = os.open("/proc/self/limits", os.O_RDONLY), os.open("/proc/self/oom_score_adj", os.O_RDONLY)
def look():
    os.stat("."); os.stat("/"); os.umask(mask)
    for timer in range(3): _signal.getitimer(timer)
    _signal.pthread_sigmask(0, ()); list(map(_signal.getsignal, range(1, 65)))
    os.pread(limits, 8192, 0); os.pread(score, 16, 0)
    os.getresuid(); os.getresgid(); os.getgroups(); os.getpriority(os.PRIO_PROCESS, 0)
    os.sched_getaffinity(0); os.sched_getscheduler(0); os.fstat(0)
    os.fstat(1); os.fstat(2)
    fcntl.ioctl(1, termios.FIONREAD, bytes(4)); fcntl.ioctl(2, termios.FIONREAD, bytes(4))
    os.close(os.dup(target))
    try: os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError: pass
def say(value):
    body = json.dumps(value).encode()
    os.write(target, struct.pack(">I", len(body)) + body)
def handler(event): pass
while head := os.read(source, 4):
    event = json.loads(os.read(source, struct.unpack(">I", head)[0]))
    for number in range(looks):
        handler(event)
        look()
        say({"result": number})
    say(event)
"""


@contextmanager
def echo(looks: int = 0) -> Iterator[Callable[[], float]]:
    """The seconds of one bare round trip: a frame of JSON to another process and back, with so many looks."""
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    argv = [sys.executable, "-c", ECHO, str(theirs_in), str(theirs_out), str(looks)]
    process = subprocess.Popen(argv, pass_fds=(theirs_in, theirs_out), stdout=PIPE, stderr=PIPE)

    def round_trip() -> float:
        began = perf_counter()
        body = json.dumps(CONTEXT).encode()
        os.write(ours_out, struct.pack(">I", len(body)) + body)
        for _ in range(looks + 1):
            json.loads(os.read(ours_in, struct.unpack(">I", os.read(ours_in, 4))[0]))
        return perf_counter() - began

    try:
        yield lambda: median(round_trip() for _ in range(IN_A_ROW))
    finally:
        process.kill()
        process.communicate()
        for descriptor in (theirs_in, ours_out, ours_in, theirs_out):
            os.close(descriptor)


def hook(folder: Path, name: str, source: str = GOOD, file: str = "handler.py") -> Registration:
    root = folder / name
    root.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(source)
    if file.endswith(".py"):
        return Registration("command:new", name, Code(root / file, "default", root, "python"))
    return Registration("command:new", name, Code(root / file, "default", root, "typescript"))


def loaded(call: Registration) -> Registration:
    """As it is registered by a load, for the content that its folder had then: a call looks at no files."""
    assert isinstance(call.target, Code)
    return replace(call, target=with_digest(call.target))


def python(folder: Path, *, spare: bool = False) -> ProcessExecutor:
    return python_executor(env=dict(os.environ), cwd=folder, limits=LIMITS, spare=spare)


async def fire(lane: ProcessExecutor, *calls: Registration) -> None:
    """Every call has a result, and none a failure."""
    steps: list[Step] = []
    await lane.run(calls, HookEvent("command", "new", "s", dict(CONTEXT)), steps.append)
    results = [step.status for step in steps if isinstance(step, Result)]
    assert results == ["ok"] * len(calls), results


async def in_a_row(work: Callable[[], Awaitable[object]]) -> float:
    """The median of what it takes, measured as the bare round trip is."""
    return median([await seconds_async(work) for _ in range(IN_A_ROW)])


@contextmanager
def beside_a_pipe(folder: Path) -> Iterator[list[Variant]]:
    unloaded = [hook(folder, f"h{number}") for number in range(HANDLERS)]
    calls = [loaded(call) for call in unloaded]
    with ExitStack() as stack:
        sampled, lane = stack.enter_context(loop()), python(folder)
        stack.callback(sampled(partial(seconds_async, lane.close)))
        round_trip, looked_at = map(stack.enter_context, (echo(), echo(HANDLERS)))
        ten = sampled(lambda: in_a_row(lambda: fire(lane, *calls)))
        one = sampled(lambda: in_a_row(lambda: fire(lane, calls[0])))
        looked = sampled(lambda: in_a_row(lambda: fire(lane, *unloaded)))
        yield [
            Variant(TRIP, round_trip, TIMES),
            Variant(LOOKS, looked_at, TIMES),
            Variant(f"ours, {HANDLERS} handlers at once", ten, TIMES),
            Variant("ours, one handler", one, TIMES),
            Variant(f"ours, {HANDLERS} handlers, each folder looked at", looked, TIMES),
            Variant("a spawn of sh", started("sh", "-c", ":")),
            Variant("a spawn of Python", started(sys.executable, "-c", "")),
            with_node("a spawn of Node", lambda path: started(path, "-e", "0")),
        ]


@contextmanager
def after_a_crash(folder: Path) -> Iterator[list[Variant]]:
    good, numbers = hook(folder, "good"), count()
    with ExitStack() as stack:
        sampled, lane = stack.enter_context(loop()), python(folder, spare=True)
        stack.callback(sampled(partial(seconds_async, lane.close)))

        async def fresh() -> float:
            other = python(folder)
            try:
                return await seconds_async(lambda: fire(other, good))
            finally:
                await other.close()

        async def crash() -> float:
            """From the first step of the handler that dies to the result of the one behind it."""
            bad = hook(folder, f"bad{next(numbers)}", CRASH)
            await fire(lane, good)
            while not any(worker.role == "spare" for worker in lane.workers()):
                await fire(lane, good)
            moments: list[float] = []
            await lane.run((bad, good), HookEvent("command", "new"), lambda _: moments.append(perf_counter()))
            return moments[-1] - moments[0]

        yield [
            Variant("a new worker, to its first result", sampled(fresh)),
            Variant("from a crash to the next result", sampled(crash), 3),
        ]


@contextmanager
def first_typescript(folder: Path) -> Iterator[list[Variant]]:
    source = "export default (event: { messages: string[] }) => {};"
    call, path = hook(folder, "ts", source, "handler.ts"), node()
    with loop() as sampled:

        async def first() -> float:
            assert path is not None
            lane = node_executor(
                env=dict(os.environ), cwd=folder, node=path, cache=folder / "cache", limits=LIMITS
            )
            try:
                return await seconds_async(lambda: fire(lane, call))
            finally:
                await lane.close()

        yield [
            with_node("Node's own start", lambda found: started(found, "-e", "0")),
            with_node("to the first result of a .ts", lambda _: sampled(first)),
        ]


EVENTS = 1000
PUSHES = "event.messages.push(`${event.context.number}`);"
ANSWERS = f"""
require("node:readline").createInterface({{ input: process.stdin }}).on("line", async (line) => {{
  const {{ id, event }} = JSON.parse(line);
  await (async () => {{ {PUSHES} }})();
  process.stdout.write(`${{JSON.stringify({{ id, event }})}}\\n`);
}});
"""


class BareNode:
    """Sends events as lines of JSON, and gives each answer to whoever waits for it."""

    async def fire(self, number: int) -> Sequence[str]:
        event = create_hook_event("command", "new", context={"number": number})
        answer: asyncio.Future[Sequence[str]] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        self._input.write(json.dumps({"id": number, "event": to_document(event)}).encode() + b"\n")
        return await answer

    async def start(self, path: str) -> None:
        self._waiting: dict[int, asyncio.Future[Sequence[str]]] = {}
        self.process = await asyncio.create_subprocess_exec(path, "-e", ANSWERS, stdin=PIPE, stdout=PIPE)
        assert self.process.stdin is not None
        self._input = self.process.stdin
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            answer = json.loads(line)
            self._waiting.pop(answer["id"]).set_result(answer["event"]["messages"])

    async def close(self) -> None:
        self.process.kill()
        await asyncio.gather(self.process.wait(), self._reading)


async def all_at_once(fire_one: Callable[[int], Awaitable[Sequence[str]]]) -> None:
    answers = await asyncio.gather(*(fire_one(number) for number in range(EVENTS)))
    assert [list(answer) for answer in answers] == [[str(number)] for number in range(EVENTS)]


@contextmanager
def events_at_once(folder: Path) -> Iterator[list[Variant]]:
    write_hooks(
        folder / "hooks", 1, handler=f"export default async (event) => {{ {PUSHES} }};", file="handler.ts"
    )
    bare = BareNode()
    with loop() as sampled:
        engine = HookEngine(embedded_host(folder, host_config={"hooks": {"internal": {"enabled": True}}}))

        async def open_both() -> float:
            await bare.start(node() or "node")
            await engine.load()
            return 0.0

        async def ours(number: int) -> Sequence[str]:
            return (
                await engine.fire(create_hook_event("command", "new", context={"number": number}))
            ).messages

        async def close_both() -> float:
            await asyncio.gather(bare.close(), engine.close())
            return 0.0

        sampled(open_both)()
        try:
            yield [
                with_node(BARE, lambda _: sampled(partial(seconds_async, partial(all_at_once, bare.fire)))),
                with_node(ALL_OURS, lambda _: sampled(partial(seconds_async, partial(all_at_once, ours)))),
            ]
        finally:
            sampled(close_both)()


BARE, ALL_OURS = f"{EVENTS:,} events, bare Node", f"{EVENTS:,} events, ours"
TEN, ONE, NEXT = f"ours, {HANDLERS} handlers at once", "ours, one handler", "from a crash to the next result"
TRIP = "bare round trip of JSON"
LOOKS = f"the same, with {HANDLERS} bare looks and answers"
GROUP = Group(
    "lanes",
    "A worker that is kept, beside a bare pipe and a spawn for each call",
    beside_a_pipe,
    floor=TRIP,
    targets=(
        Target(TEN, 3, LOOKS),
        Target(ONE, 1 / 4, "a spawn of sh", within=TRIP),
        Target(ONE, 1 / 40, "a spawn of Python", within=TRIP),
        Target(ONE, 1 / 80, "a spawn of Node", within=TRIP),
    ),
)
CRASHES = Group(
    "crashes",
    "After a crash, with a spare worker",
    after_a_crash,
    floor="a new worker, to its first result",
    targets=(
        Target(NEXT, 1 / 10, "a new worker, to its first result"),
        Target(NEXT, 1 / 2, "a new worker, to its first result", part="p95"),
        Target(NEXT, 0.002),
        Target(NEXT, 0.010, part="p95"),
    ),
)
TYPESCRIPT = Group(
    "typescript",
    "The first handler in TypeScript",
    first_typescript,
    floor="Node's own start",
    targets=(Target("to the first result of a .ts", 2.5, "Node's own start"),),
)
CONCURRENT = Group(
    "concurrent",
    "Events of one handler in TypeScript, all at once, in the library",
    events_at_once,
    floor=BARE,
    targets=(Target(ALL_OURS, 3.0, BARE),),
)

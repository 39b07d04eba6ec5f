"""What the in-process loop costs beside the bare `await`, and beside event libraries, which guard nothing."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.benchmarks.building import answering, loop, peer, with_node
from tests.benchmarks.measuring import Group, Target, Variant

from hookscope import HookEngine, embedded_host
from hookscope.model.run import Event
from hookscope.runtime.in_process_executor import BatchControl, CallRecord, call_handlers, limit_watch

HANDLERS = 10
EVENTS = 500  # in one sample
MINUTE = 60.0
NODE = """
const handlers = Array.from({ length: HANDLERS }, () => async () => {});
async function guarded(event) {
  const records = [];
  for (const handler of handlers) {
    const began = performance.now();
    let timer, error = null;
    try {
      const late = new Promise((_, fail) => { timer = setTimeout(() => fail(new Error("late")), 60000); });
      await Promise.race([handler(event), late]);
    } catch (caught) { error = caught; } finally { clearTimeout(timer); }
    records.push([handler, began, performance.now() - began, error]);
  }
}
require("readline").createInterface({ input: process.stdin }).on("line", async () => {
  const began = performance.now();
  for (let number = 0; number < EVENTS; number++) await guarded({});
  console.log((performance.now() - began) / 1000);
});
""".replace("HANDLERS", str(HANDLERS)).replace("EVENTS", str(EVENTS))


def made() -> Callable[[object], Awaitable[None]]:
    async def handler(_: object) -> None:
        """Answers at once."""

    return handler


TARGETS = [made() for _ in range(HANDLERS)]  # different ones: libraries take the same one once
OneEvent = Callable[[], Awaitable[object]]


async def bare() -> None:
    for target in TARGETS:
        await target(None)


async def isolated() -> None:
    records: list[CallRecord] = []
    await call_handlers(TARGETS, None, BatchControl(), records.append)


async def limited() -> None:
    records: list[CallRecord] = []
    cell = BatchControl(MINUTE)
    beat = limit_watch()
    beat.watch(cell)
    await call_handlers(TARGETS, None, cell, records.append)
    beat.unwatch(cell)


def with_pluggy(pluggy: Any) -> OneEvent:
    impl = pluggy.HookimplMarker("bench")

    class Spec:
        @pluggy.HookspecMarker("bench")  # type: ignore[untyped-decorator]
        def command(self, event: object) -> None:
            """What happened."""

    class Plugin:
        @impl  # type: ignore[untyped-decorator]
        async def command(self, event: object) -> None:
            """Answers at once."""

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    for _ in range(HANDLERS):
        manager.register(Plugin())

    async def one_event() -> None:
        for waiting in manager.hook.command(event=None):
            await waiting

    return one_event


def with_blinker(blinker: Any) -> OneEvent:
    signal = blinker.Signal()
    for target in TARGETS:
        signal.connect(target, weak=False)
    return partial(signal.send_async, None)


def with_pyee(pyee: Any) -> OneEvent:
    emitter: Any = None

    async def one_event() -> None:
        nonlocal emitter
        if emitter is None:
            emitter = pyee.AsyncIOEventEmitter(loop=asyncio.get_running_loop())
            for target in TARGETS:
                emitter.on("command", target)
        emitter.emit("command", None)
        await emitter.wait_for_complete()

    return one_event


def with_engine() -> OneEvent:
    """The whole way: the plan, a task, a Result for each handler, the Run."""
    engine = HookEngine(embedded_host(host_config={}))
    for target in TARGETS:
        engine.register("command:new", target)

    async def one_event() -> None:
        await engine.fire(Event("command", "new", "agent:main:main", {"senderId": "dev"}))

    return one_event


async def per_handler(one_event: OneEvent) -> float:
    began = perf_counter()
    for _ in range(EVENTS):
        await one_event()
    return (perf_counter() - began) / EVENTS / HANDLERS


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    with ExitStack() as stack:
        sampled = stack.enter_context(loop())

        def sample(one_event: OneEvent) -> Callable[[], float]:
            return sampled(partial(per_handler, one_event))

        def node_sample(path: str) -> Callable[[], float]:
            asked = stack.enter_context(answering(path, "-e", NODE))
            return lambda: asked() / EVENTS / HANDLERS

        yield [
            Variant("bare loop of awaits", sample(bare)),
            Variant("ours, timed and isolated", sample(isolated)),
            Variant("ours, with a limit too", sample(limited)),
            Variant("ours, engine.fire to its Run", sample(with_engine())),
            peer("pluggy", "pluggy", lambda module: sample(with_pluggy(module))),
            peer("blinker, async", "blinker", lambda module: sample(with_blinker(module))),
            peer("pyee", "pyee", lambda module: sample(with_pyee(module)), module="pyee.asyncio"),
            with_node("Node, timed, with a limit", node_sample),
        ]


GROUP = Group(
    "dispatch",
    f"Dispatch in the process: a handler, of {HANDLERS} on one event",
    opened,
    floor="bare loop of awaits",
    targets=(
        Target("ours, timed and isolated", 2.6, "bare loop of awaits"),
        Target("ours, with a limit too", 4.0, "bare loop of awaits"),
        Target("ours, with a limit too", 0.9, "pluggy"),
        Target("ours, with a limit too", 0.7, "blinker, async"),
        Target("ours, with a limit too", 0.1, "pyee"),
        Target("ours, with a limit too", 0.7, "Node, timed, with a limit"),
        Target("ours, engine.fire to its Run", 3.0, "pyee"),  # which makes a task for each handler
    ),
)

"""What it costs to ask the handlers of one plugin hook, beside pluggy doing the same.

The same work for both: the handlers of `before_tool_call` in order of priority, one after another, each
timed, the error of one kept from the others, the answers merged so that the last params win. Pluggy itself
has neither timing nor isolation, so its handlers stand in a wrapper. `pluggy` adds just these two;
`pluggy, async` adds what ours have besides: they may be async, each has a limit and a record of what it did.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

from tests.benchmarks.building import loop, peer
from tests.benchmarks.measuring import Group, Target, Variant

from hookscope import HookEngine, HookRunner, PluginApi, embedded_host

EVENTS = 10  # in one sample
HANDLERS = 100
DIALECT = "openclaw@2026.9"
EVENT = {"toolName": "exec", "params": {"cmd": "ls -la", "cwd": "/tmp"}, "toolCallId": "call-1"}
CONTEXT = {"sessionKey": "agent:main:main", "runId": "run-1"}
ANSWER = {"params": {"cmd": "ls"}}

Fire = Callable[[], Awaitable[object]]


def plain_handler(event: Any, ctx: Any) -> Any:
    return ANSWER


async def async_handler(event: Any, ctx: Any) -> Any:
    return ANSWER


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one handler did."""

    status: str
    started: float
    took: float
    returned: Any
    error: BaseException | None


def guarded(handler: Any, event: Any, ctx: Any) -> tuple[float, float, Any, BaseException | None]:
    """Timed and isolated."""
    began, returned, error = perf_counter(), None, None
    try:
        returned = handler(event, ctx)
    except Exception as caught:
        error = caught
    return began, perf_counter() - began, returned, error


async def guarded_async(handler: Any, event: Any, ctx: Any) -> Outcome:
    """All that our handlers get: they may be async, each has the host's limit and a context of its own."""
    began, returned, error = perf_counter(), None, None
    try:
        async with asyncio.timeout(15.0):
            returned = await handler(event, dict(ctx))
    except Exception as caught:
        error = caught
    return Outcome("ok" if error is None else "error", began, perf_counter() - began, returned, error)


def merged(answers: Iterable[Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"blocked": False, "params": EVENT["params"]}
    for returned in answers:
        if returned and returned.get("params") is not None:
            answer["params"] = returned["params"]
    return answer


def manager_of(pluggy: Any, guard: Any, handler: Any) -> Any:
    class Spec:
        @pluggy.HookspecMarker("bench")  # type: ignore[untyped-decorator]
        def before_tool_call(self, event: Any, ctx: Any) -> Any:
            """Asked before a tool runs."""

    class Plugin:
        @pluggy.HookimplMarker("bench")  # type: ignore[untyped-decorator]
        def before_tool_call(self, event: Any, ctx: Any) -> Any:
            return guard(handler, event, ctx)

    manager = pluggy.PluginManager("bench")
    manager.add_hookspecs(Spec)
    for _ in range(HANDLERS):
        manager.register(Plugin())
    return manager


def pluggy_plain(pluggy: Any) -> Fire:
    manager = manager_of(pluggy, guarded, plain_handler)

    async def fire() -> object:
        records = manager.hook.before_tool_call(event=dict(EVENT), ctx=dict(CONTEXT))
        return merged(returned for _, _, returned, _ in records)

    return fire


def pluggy_async(pluggy: Any) -> Fire:
    manager = manager_of(pluggy, guarded_async, async_handler)

    async def fire() -> object:
        waiting = manager.hook.before_tool_call(event=deepcopy(EVENT), ctx=CONTEXT)
        outcomes = [await one for one in waiting]
        return merged(outcome.returned for outcome in outcomes)

    return fire


def ours(handler: Any) -> Fire:
    engine = HookEngine(embedded_host(host_config={}, dialect=DIALECT))
    api = PluginApi("bench", engine=engine)
    for number in range(HANDLERS):
        api.on("before_tool_call", handler, priority=number % 7)
    runner = HookRunner(lambda: engine)
    return lambda: runner.run_before_tool_call(EVENT, CONTEXT)


async def per_event(fire: Fire) -> float:
    began = perf_counter()
    for _ in range(EVENTS):
        await fire()
    return (perf_counter() - began) / EVENTS


@contextmanager
def opened(folder: Path) -> Iterator[list[Variant]]:
    with loop() as sampled:

        def sample(fire: Fire) -> Callable[[], float]:
            return sampled(partial(per_event, fire))

        yield [
            peer("pluggy, guarded", "pluggy", lambda pluggy: sample(pluggy_plain(pluggy))),
            Variant("ours", sample(ours(plain_handler))),
            peer("pluggy, guarded, async", "pluggy", lambda pluggy: sample(pluggy_async(pluggy))),
            Variant("ours, async", sample(ours(async_handler))),
        ]


GROUP = Group(
    "plugins",
    f"A plugin hook with {HANDLERS} handlers, answers merged",
    opened,
    floor="pluggy, guarded",
    targets=(Target("ours, async", 7, "pluggy, guarded, async"),),
)

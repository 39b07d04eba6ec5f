"""Handlers that fire events: as deep as somebody means it, and not without end."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from subprocess import run

import pytest

from hookscope import HookFailure, create_hook_event, register_hook, trigger_hook
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Run

Handler = Callable[[HookEvent], object]
GUARD = 60  # seconds: only a circle without end takes them
SENTENCE = "was not fired: handlers fired events endlessly"


def an_event(key: str = "command:new") -> HookEvent:
    kind, action = key.split(":")
    return create_hook_event(kind, action, "s", {})


class Counted:
    """How many handlers were called."""

    def __init__(self) -> None:
        self.calls = 0
        self.tasks: set[asyncio.Task[None]] = set()

    def returned(self, event: HookEvent) -> Awaitable[Run]:
        self.calls += 1
        return trigger_hook(an_event())

    async def awaited(self, event: HookEvent) -> None:
        self.calls += 1
        await trigger_hook(an_event())

    async def in_a_task(self, event: HookEvent) -> None:
        self.calls += 1
        await asyncio.create_task(trigger_hook(an_event()))

    async def at_once(self, event: HookEvent) -> None:
        self.calls += 1
        await asyncio.gather(*(trigger_hook(an_event()) for _ in range(4)), return_exceptions=True)

    async def in_turn(self, event: HookEvent) -> None:
        self.calls += 1
        for _ in range(4):
            try:
                await trigger_hook(an_event())
            except Exception:
                continue

    async def in_a_thread(self, event: HookEvent) -> None:
        self.calls += 1
        await asyncio.to_thread(lambda: asyncio.run(trigger_hook(an_event())))

    def left_behind(self, event: HookEvent) -> None:
        self.calls += 1
        for _ in range(4):
            task = asyncio.get_running_loop().create_task(self._fired())
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _fired(self) -> None:
        with suppress(HookFailure):
            await trigger_hook(an_event())

    async def settled(self) -> None:
        while self.tasks:
            await asyncio.wait(self.tasks)


@pytest.mark.parametrize(
    ("way", "most"),
    [
        ("returned", 16),
        ("awaited", 16),
        ("in_a_task", 16),
        ("at_once", 10_000),
        ("in_turn", 100),
        ("in_a_thread", 16),
        ("left_behind", 10_000),
    ],
)
async def test_a_handler_that_fires_its_own_event_is_stopped(
    way: str, most: int, caplog: pytest.LogCaptureFixture
) -> None:
    counted = Counted()
    register_hook("command:new", getattr(counted, way))
    async with asyncio.timeout(GUARD):
        await trigger_hook(an_event())
        await counted.settled()
    assert 10 <= counted.calls <= most
    assert SENTENCE in caplog.text


@pytest.mark.parametrize("keys", [["a:x", "b:y"], ["a:x", "b:y", "c:z"], ["a:x", "a:y"]])
async def test_events_that_fire_each_other_are_stopped(keys: list[str]) -> None:
    calls: list[str] = []
    for key, then in zip(keys, [*keys[1:], keys[0]], strict=True):

        async def handler(event: HookEvent, then: str = then) -> None:
            calls.append(event.key)
            await trigger_hook(an_event(then))

        register_hook(key, handler)
    async with asyncio.timeout(GUARD):
        first = await trigger_hook(an_event(keys[0]))
    assert len(calls) == 16
    assert [SENTENCE in note for note in first.notes] == [True]


async def test_what_is_meant_runs_as_deep_and_as_often_as_it_says() -> None:
    """Fifteen in each other, and two hundred after one another in one handler."""
    calls = []

    async def deep(event: HookEvent) -> None:
        calls.append("deep")
        if len(calls) < 15:
            await trigger_hook(an_event("deep:er"))

    async def wide(event: HookEvent) -> None:
        for _ in range(200):
            await trigger_hook(an_event("one:more"))

    register_hook("deep:er", deep)
    register_hook("wide:r", wide)
    register_hook("one:more", lambda event: calls.append("one"))
    runs = [await trigger_hook(an_event(key)) for key in ("deep:er", "wide:r")]
    assert [(run.notes, run.failed) for run in runs] == [((), ()), ((), ())]
    assert (calls.count("deep"), calls.count("one")) == (15, 200)


async def test_an_event_is_fired_again_after_a_circle_was_stopped() -> None:
    counted = Counted()
    register_hook("command:new", counted.awaited)
    for times in (1, 2, 3):
        async with asyncio.timeout(GUARD):
            await trigger_hook(an_event())
        assert counted.calls == 16 * times


def test_a_handler_whose_command_fires_it_again_is_stopped(
    workspace: Path, make_hook: Callable[..., Path]
) -> None:
    mark = workspace / "calls"
    again = [sys.executable, "-m", "hookscope", "fire", "command:new", "--trust", "--bundled", str(workspace)]
    make_hook(
        workspace / "hooks",
        "again",
        "{openclaw: {events: ['command:new']}}",
        f"""
        import subprocess
        def handler(event):
            open({str(mark)!r}, "a").write("x")
            print(subprocess.run({again!r}, cwd={str(workspace)!r}, capture_output=True, text=True).stdout)
        """,
    )
    done = run(again, cwd=workspace, capture_output=True, text=True, timeout=GUARD, check=False)
    assert mark.read_text() == "xxxx"
    assert SENTENCE in done.stdout

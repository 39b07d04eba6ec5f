"""Between screen and workbench: one look runs, one waits; a run's steps come gathered and complete."""

import asyncio
import threading
from collections.abc import AsyncIterator, Generator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.drawing import TURNS
from textual.app import App, ComposeResult
from textual.widget import Widget

from hookscope.app.options import Options
from hookscope.app.snapshot import Snapshot
from hookscope.app.workbench import Workbench
from hookscope.console.controllers.bridge import LARGEST_SOURCE, Bridge, WorkbenchOpener, read_source
from hookscope.console.controllers.job_runner import JobRunner, fire_job
from hookscope.console.state.console_state import ComposedEvent
from hookscope.console.state.messages import (
    FiringEnded,
    FiringStarted,
    StateChanged,
    StepsReported,
    TrustWritten,
)
from hookscope.console.state.state_changes import ScanFailed, ScanFinished, ScanStarted
from hookscope.hosts.folders.folder_policy import SharedEvent
from hookscope.model.machine import real_machine
from hookscope.model.run import Event, Plan

EVENT = Event("command", "new")
PLAN = Plan(EVENT, 1, (), (), SharedEvent("{message}", EVENT.key))


class Listener(Widget):
    """Keeps what the bridge says."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def on_state_changed(self, event: StateChanged) -> None:
        self.heard.append(event.change)

    def on_steps_reported(self, event: StepsReported) -> None:
        self.heard.append(event)

    def on_firing_started(self, event: FiringStarted) -> None:
        self.heard.append(event)

    def on_firing_ended(self, event: FiringEnded) -> None:
        self.heard.append(event)

    def on_trust_written(self, event: TrustWritten) -> None:
        self.heard.append(event)


class Stage(App[None]):
    def compose(self) -> ComposeResult:
        yield Listener()


class SlowBench(Workbench):
    """A workbench whose look waits until it is let go."""

    def __init__(self, workspace: Path) -> None:
        super().__init__(Options(workspace=workspace, bundled=workspace / "none"))
        self.gate = threading.Event()
        self.looks = 0

    def scan(self) -> Snapshot:
        self.looks += 1
        assert self.gate.wait(60)
        return super().scan()


class Burst:
    """A firing of many quick steps, which then goes on until it is cancelled."""

    def __init__(self, steps: int) -> None:
        self.steps, self.cancelled = steps, False

    def cancel(self) -> None:
        self.cancelled = True

    async def number(self) -> int:
        return 7

    async def __aiter__(self) -> AsyncIterator[Any]:
        for number in range(self.steps):
            if number % 100 == 0:
                await asyncio.sleep(0)
            yield number

    def __await__(self) -> Generator[Any, None, str]:
        while not self.cancelled:
            yield from asyncio.sleep(0).__await__()
        return "the run"


async def wait_for(app: Any, condition: Any) -> None:
    for _ in range(TURNS):
        if condition():
            return
        await app.pause(0.01)
    pytest.fail("waited in vain")


async def test_repeated_scan_requests_run_once_and_queue_once(workspace: Path) -> None:
    app, bench = Stage(), SlowBench(workspace)
    async with app.run_test() as pilot:
        listener = app.query_one(Listener)
        bridge = Bridge(listener, WorkbenchOpener(lambda: bench))
        for _ in range(20):
            bridge.scan()
        bench.gate.set()
        await wait_for(pilot, lambda: any(isinstance(c, ScanFinished) for c in listener.heard))
        bridge.scan_ended()
        await wait_for(pilot, lambda: sum(isinstance(c, ScanFinished) for c in listener.heard) == 2)
        bridge.scan_ended()
        await pilot.pause()
        assert bench.looks == 2
        numbers = [change.generation for change in listener.heard if isinstance(change, ScanFinished)]
        assert numbers == [1, 2]
        assert sum(isinstance(change, ScanStarted) for change in listener.heard) == 2


async def test_a_failed_scan_is_reported() -> None:
    app = Stage()
    bench = SimpleNamespace(scan=lambda: 1 / 0)
    async with app.run_test() as pilot:
        listener = app.query_one(Listener)
        Bridge(listener, lambda: bench).scan()  # type: ignore[arg-type]
        await wait_for(pilot, lambda: any(isinstance(c, ScanFailed) for c in listener.heard))


async def test_steps_of_a_run_arrive_in_batches_and_complete() -> None:
    app, burst = Stage(), Burst(5_000)
    bench = SimpleNamespace(fire=lambda view, plan: burst)
    async with app.run_test() as pilot:
        listener = app.query_one(Listener)
        runner = JobRunner(listener, Bridge(listener, lambda: bench))  # type: ignore[arg-type]
        work = partial(fire_job, runner, None, PLAN, lambda view: PLAN, ComposedEvent())  # type: ignore[arg-type]
        assert runner.start("The run", work)
        assert not runner.start("The run", work)
        await wait_for(pilot, lambda: any(isinstance(m, FiringStarted) for m in listener.heard))
        assert runner.cancel()
        await wait_for(pilot, lambda: any(isinstance(m, FiringEnded) for m in listener.heard))
        gathered = [message for message in listener.heard if isinstance(message, StepsReported)]
        steps: list[Any] = [step for message in gathered for step in message.steps]
        assert steps == list(range(5_000))
        assert len(gathered) < 50
        assert burst.cancelled
        await wait_for(pilot, lambda: not runner.cancel())


async def test_a_fire_that_cannot_start_is_reported() -> None:
    app = Stage()
    bench = SimpleNamespace(fire=lambda view, plan: 1 / 0)
    async with app.run_test() as pilot:
        listener = app.query_one(Listener)
        runner = JobRunner(listener, Bridge(listener, lambda: bench))  # type: ignore[arg-type]
        work = partial(fire_job, runner, None, PLAN, lambda view: PLAN, ComposedEvent())  # type: ignore[arg-type]
        runner.start("The run", work)
        await wait_for(pilot, lambda: any(isinstance(m, FiringEnded) and m.problem for m in listener.heard))
        await wait_for(pilot, lambda: not runner.cancel())


def test_only_regular_files_of_limited_size_are_read(tmp_path: Path) -> None:
    here = real_machine()
    (tmp_path / "small").write_bytes(b"text \xff")
    (tmp_path / "large").write_bytes(b"x" * (LARGEST_SOURCE + 1))
    assert read_source("r", tmp_path / "small", here).text == "text \ufffd"
    assert "too large" in read_source("r", tmp_path / "large", here).problem
    assert "missing" in read_source("r", tmp_path / "absent", here).problem
    assert "not a regular file" in read_source("r", tmp_path, here).problem

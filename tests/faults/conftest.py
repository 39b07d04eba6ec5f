"""What the tables of faults are made of, and the trial that each of them stands."""

import asyncio
import os
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import pytest

from hookscope.model.hook import LANGUAGE_OF
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Registration, Result, Status, Step
from hookscope.runtime.background_work import wait_time
from hookscope.runtime.limits import MIB, Limits
from hookscope.runtime.orphan_processes import find_marked, host_mark, newest_pid
from hookscope.runtime.process_executor import ProcessExecutor
from hookscope.runtime.python_worker import worker_guard

LINUX = sys.platform == "linux"
TELLS = "only Linux tells of processes that left their group"
PATIENCE = 60.0  # seconds that a healthy handler has: it never takes them
SOON = 120.0  # seconds within which a condition that must come has come
SHORT = 0.4  # seconds that a handler has which would never answer
GRACE = 30.0  # seconds until a limit that is over, or an end, has been seen and the next handler has run
LONG = 60.0  # seconds that a handler has which answers, on however slow a machine


Spoils: TypeAlias = Literal["nothing", "messages", "output"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A handler that does its worst, and what has to come of it.

    `out` is what it printed before that, and `says` what its error or its notes say. `later` is what
    comes out behind its answer, and is told with a later result or when the lane settles. A
    fault that ends "cancelled" makes a file named `here`; then the run is cancelled.
    """

    name: str
    source: str
    status: Status
    error_type: str | None = None
    says: tuple[str, ...] = ()
    out: str = "before"
    bound: float = 45.0  # seconds until it and the healthy handler behind it have answered
    row: str = ""  # of the fault matrix
    phase: Literal["load", "run"] = "run"  # in which its error came
    limit: float = LONG  # seconds to run
    load_limit: float = LONG  # seconds to load
    memory: int = 1024 * MIB
    later: str = ""
    spoils: Spoils = "nothing"  # of what the handlers after it can show: they share the event and the pipe
    file: str = "handler.py"
    only_linux: str = ""  # why it cannot be tried elsewhere


def at_load(fault: Fault) -> Fault:
    """A fault whose error comes while the handler is loaded."""
    return replace(fault, phase="load")


def row(title: str, *faults: Fault) -> tuple[Fault, ...]:
    """The faults of one row of the matrix."""
    return tuple(replace(fault, row=title) for fault in faults)


MakeLane: TypeAlias = Callable[[Limits], ProcessExecutor]
Trial: TypeAlias = Callable[[MakeLane, Fault, str, str], Awaitable[None]]


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """Fire a fault with a healthy handler behind it, then the healthy one alone; look at everything."""

    async def run(make: MakeLane, fault: Fault, healthy: str, healthy_file: str) -> None:
        if fault.only_linux and not LINUX:
            pytest.skip(fault.only_linux)
        bad = registered(tmp_path, "bad", fault.source, fault.file)
        good = replace(
            registered(tmp_path, "good", healthy, healthy_file), limit=PATIENCE, load_limit=PATIENCE
        )
        with nothing_left():
            lane = make(Limits(spawn=PATIENCE, load=fault.load_limit, run=fault.limit, memory=fault.memory))
            try:
                began = time.monotonic()
                first = await results_of(lane, bad, good, until=here(fault, tmp_path))
                took = time.monotonic() - began
                began = time.monotonic()
                then = await results_of(lane, good)
                took_then = time.monotonic() - began
                rest = await lane.wait_for_background_work(wait_time(SOON if fault.later else 0.0))
            finally:
                await lane.close()
            await all_gone()
        assert_told(fault, first[0])
        assert len(first) == (1 if fault.status == "cancelled" else 2)
        for result in first[1:]:
            assert_healthy(result, fault.spoils)
        for result in then:
            assert_healthy(result, "output" if fault.spoils == "output" else "nothing")
        lines = [line for result in (*first, *then) for line in (result.stdout, *result.notes)]
        told = "\n".join([*lines, *(text for _, text in rest.late_notes)])
        assert fault.later in told, told[:2000]
        assert took < fault.bound
        assert took_then < fault.bound

    return run


def here(fault: Fault, folder: Path) -> Path | None:
    """The file at which a run is cancelled; None where it is not."""
    return folder / "here" if fault.status == "cancelled" else None


def registered(folder: Path, name: str, source: str, file: str) -> Registration:
    """A hook of its own folder."""
    root = folder / "hooks" / name
    root.mkdir(parents=True, exist_ok=True)
    path = root / file
    path.write_text(source, encoding="utf-8")
    return Registration("command:new", name, Code(path, "default", root, LANGUAGE_OF[path.suffix]))


async def results_of(lane: ProcessExecutor, *calls: Registration, until: Path | None = None) -> list[Result]:
    """The results of one event; cancelled once the file is there."""
    steps: list[Step] = []
    running = asyncio.create_task(lane.run(calls, HookEvent("command", "new", "s", {}), steps.append))
    if until is not None:
        await condition(until.exists)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    await asyncio.wait([running])
    if until is None:
        running.result()
    return [step for step in steps if isinstance(step, Result)]


def assert_told(fault: Fault, result: Result) -> None:
    """The result says what the table says."""
    error = result.error
    seen = f"{result.status} {error} {result.notes} {result.stdout[:2000]!r} {result.stderr[:2000]!r}"
    assert (result.call.name, result.status) == ("bad", fault.status), seen
    assert (error is None) == (fault.status == "ok"), seen
    if error is not None:
        assert error.phase == fault.phase, seen
    if fault.error_type is not None:
        assert error is not None, seen
        assert error.type == fault.error_type, seen
    told = "\n".join(("" if error is None else error.message, *result.notes))
    for text in fault.says:
        assert text in told, seen
    assert fault.out in result.stdout + result.stderr, seen


def assert_healthy(result: Result, spoilt: Spoils) -> None:
    """A handler that does nothing wrong had all that it needs."""
    seen = f"{result.error} {result.notes} {result.stdout[:2000]!r} {result.stderr[:2000]!r}"
    assert (result.call.name, result.status, result.returned) == ("good", "ok", "fine"), seen
    assert result.messages == ("fine",) or spoilt == "messages", seen
    assert "healthy" in result.stdout or spoilt == "output", seen


@contextmanager
def nothing_left() -> Iterator[None]:
    """Nothing of what is started or opened in here is there afterwards. Await `all_gone` at its end."""
    worker_guard.start_guard(host_mark())  # which is started once, and stays
    newest_pid()  # opens its file once, and keeps it
    before = descriptors(), children()
    yield
    opened, started = before
    assert children() == started
    assert descriptors() <= opened  # fewer, where an earlier test has closed something only now


async def all_gone() -> None:
    """Wait for the system: what is killed needs a moment to be gone."""
    await condition(lambda: not find_marked(host_mark()))
    for thread in threading.enumerate():
        if thread.name.startswith("owner of"):
            await asyncio.to_thread(thread.join, SOON)
            assert not thread.is_alive()


def descriptors() -> int:
    """How many this process has open."""
    return len(os.listdir("/dev/fd"))


def children() -> set[int]:
    """The child processes of this one, those included that nobody has reaped."""
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        found.update(int(pid) for pid in task.read_text().split())
    return found


async def condition(holds: Callable[[], object]) -> None:
    """Wait for what nobody tells us of."""
    async with asyncio.timeout(SOON):
        while not holds():  # noqa: ASYNC110  (other processes set no Event)
            await asyncio.sleep(0.002)

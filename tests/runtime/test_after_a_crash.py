"""What stands between a handler that takes its worker with it and the result of the one behind it."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path

import pytest
from tests.runtime.conftest import LONG

from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Registration, Result, Started, Step
from hookscope.runtime import orphan_processes, worker_slot
from hookscope.runtime.limits import Limits
from hookscope.runtime.orphan_processes import MarkedProcess, find_marked
from hookscope.runtime.process_executor import ProcessExecutor, python_executor

WriteHook = Callable[..., Registration]

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
EXITS = "import os\ndef handler(event):\n    os.write(1, b'last words')\n    os._exit(3)"
IS_KILLED = "import os, signal\ndef handler(event):\n    os.kill(os.getpid(), signal.SIGSEGV)"
CRASHES_BESIDE_A_THREAD = """
import os, signal, threading, time
def waits():
    time.sleep(60)
def handler(event):
    threading.Thread(target=waits, daemon=True).start()
    signal.pthread_kill(threading.main_thread().ident, signal.SIGSEGV)
"""
LEAVES = """
import os, subprocess
def handler(event):
    child = subprocess.Popen(["sleep", "4714"], start_new_session=True)
    open("escaped", "w").write(str(child.pid))
    os._exit(1)
"""
LOOKS = """
def handler(event):
    try:
        words = open(f"/proc/{open('escaped').read()}/cmdline").read()
    except OSError:
        words = ""
    event.messages.append(words or "gone")
"""
FINE = "def handler(event): event.messages.append('fine')"


@pytest.fixture
async def lane(tmp_path: Path) -> AsyncIterator[ProcessExecutor]:
    """With a spare worker."""
    limits = Limits(spawn=LONG, load=LONG, run=LONG)
    made = python_executor(env=dict(os.environ), cwd=tmp_path, limits=limits, spare=True)
    try:
        yield made
    finally:
        await made.close()
        assert made.workers() == ()


class Killing:
    """The killing of what escaped, which begins, and ends not before it may."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(
        self, mark: str, known: Iterable[MarkedProcess] = ()
    ) -> tuple[tuple[MarkedProcess, ...], tuple[MarkedProcess, ...]]:
        self.begun.set()
        self.may_end.wait(LONG)
        return orphan_processes.kill_marked(mark, known)


@pytest.fixture
def killing(monkeypatch: pytest.MonkeyPatch) -> Killing:
    made = Killing()
    monkeypatch.setattr(worker_slot, "kill_marked", made)
    return made


def results(steps: list[Step]) -> list[Result]:
    return [step for step in steps if isinstance(step, Result)]


def messages(steps: list[Step]) -> list[str]:
    return [result.error.message for result in results(steps) if result.error is not None]


async def test_of_two_in_a_row_each_is_told_with_what_it_printed_and_how_it_ended(
    lane: ProcessExecutor, hook: WriteHook
) -> None:
    steps: list[Step] = []
    calls = hook("exits", EXITS), hook("is killed", IS_KILLED), hook("fine", FINE)
    await lane.run((calls[2],), HookEvent("command", "new"), lambda _: None)  # a spare is started behind it
    await lane.run(calls, HookEvent("command", "new"), steps.append)
    assert [(type(step), step.call.name) for step in steps if isinstance(step, Started | Result)] == [
        (kind, call.name) for call in calls for kind in (Started, Result)
    ]
    assert [result.stdout for result in results(steps)] == ["last words", "", ""]
    assert messages(steps) == [
        "exited with status 3 before it answered",
        "was killed by signal 11 (SIGSEGV) before it answered",
    ]
    assert results(steps)[2].messages == ("fine",)


async def test_the_stack_after_a_crash_is_that_of_the_handler_not_of_its_threads(
    lane: ProcessExecutor, hook: WriteHook
) -> None:
    steps: list[Step] = []
    await lane.run((hook("crashes", CRASHES_BESIDE_A_THREAD),), HookEvent("command", "new"), steps.append)
    (result,) = results(steps)
    assert result.error is not None
    assert [frame.function for frame in result.error.frames] == ["handler"]


@LINUX
async def test_what_escaped_of_it_is_told_and_gone_before_the_next_one_runs(
    lane: ProcessExecutor, hook: WriteHook, tmp_path: Path
) -> None:
    steps: list[Step] = []
    await lane.run((hook("leaves", LEAVES), hook("looks", LOOKS)), HookEvent("command", "new"), steps.append)
    dead, healthy = results(steps)
    left = f"it left `sleep 4714` ({(tmp_path / 'escaped').read_text()}) running outside"
    assert any(note.startswith(left) for note in dead.notes), dead.notes
    assert healthy.messages == ("gone",)


@LINUX
async def test_who_is_cancelled_meanwhile_waits_until_nothing_of_it_runs(
    lane: ProcessExecutor, hook: WriteHook, tmp_path: Path, killing: Killing
) -> None:
    steps: list[Step] = []
    calls = hook("leaves", LEAVES), hook("fine", FINE)
    running = asyncio.create_task(lane.run(calls, HookEvent("command", "new"), steps.append))
    await asyncio.to_thread(killing.begun.wait, LONG)
    running.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not running.done()
    killing.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    (dead,) = results(steps)
    assert dead.status == "crashed"
    assert any("`sleep 4714`" in note for note in dead.notes), dead.notes
    assert int((tmp_path / "escaped").read_text()) not in {process.pid for process in find_marked()}


@LINUX
async def test_a_lane_that_is_closed_meanwhile_runs_nobody_behind_it(
    lane: ProcessExecutor, hook: WriteHook, killing: Killing
) -> None:
    steps: list[Step] = []
    calls = hook("leaves", LEAVES), hook("fine", FINE)
    running = asyncio.create_task(lane.run(calls, HookEvent("command", "new"), steps.append))
    await asyncio.to_thread(killing.begun.wait, LONG)
    closing = asyncio.create_task(lane.close())
    await asyncio.sleep(0)
    killing.may_end.set()
    await closing
    await running
    assert messages(steps) == ["exited with status 1 before it answered", "this executor is closed"]

"""What a lane does with handlers that hang, die, grow or leave something behind."""

import asyncio
import math
import os
import signal
import subprocess
import sys
import textwrap
from asyncio.subprocess import PIPE
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.conftest import LONG, SHORT

from hookscope.model.failure import Failure
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, ModuleShape, Registration, Result, Slow, Step
from hookscope.runtime import batch, orphan_processes
from hookscope.runtime.failures import FaultCounter
from hookscope.runtime.limits import COMMAND_LINE_ORIGIN, MIB, Limits
from hookscope.runtime.orphan_processes import (
    MARK_VARIABLE,
    PROBED_RANGE,
    find_marked,
    find_marked_since,
    kill_marked,
    may_still_run,
    new_worker_mark,
)
from hookscope.runtime.process_executor import ProcessExecutor, code_of, python_executor

WriteHook = Callable[..., Registration]
OutcomeOf = Callable[..., Awaitable[Any]]

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
FINE = "def handler(event): event.messages.append('fine')"

# How a handler hangs, and the line on which it stands then.
HANGS = {
    "a loop": ("def handler(event):\n    while True:\n        pass", {2, 3}),
    "a sleep": ("import time\ndef handler(event):\n    time.sleep(60)", {3}),
    "an await": ("import asyncio\nasync def handler(event):\n    await asyncio.sleep(60)", {3}),
    "a loop in a coroutine": ("async def handler(event):\n    while True: pass", {2}),
    "a regex that keeps the interpreter": (
        "import re\ndef handler(event):\n    re.match('(a+)+$', 'a' * 60 + 'b')",
        {3},
    ),
    "a cancel that is caught": (
        "import asyncio\nasync def handler(event):\n    while True:\n        try: await asyncio.sleep(60)\n"
        "        except asyncio.CancelledError: pass",
        {4},
    ),
}


def executor_of(folder: Path, **more: Any) -> ProcessExecutor:
    limits = more.pop("limits", Limits(spawn=LONG, load=LONG, run=LONG))
    return python_executor(env=dict(os.environ), cwd=folder, limits=limits, **more)


async def results_of(lane: ProcessExecutor, *calls: Registration) -> list[Result]:
    steps: list[Step] = []
    await lane.run(calls, HookEvent("command", "new"), steps.append)
    return [step for step in steps if isinstance(step, Result)]


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110  (another program's doing)
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("how", HANGS)
async def test_it_is_told_where_a_handler_hung(
    how: str,
    hook: WriteHook,
    outcome_of: OutcomeOf,
    patience: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source, lines = HANGS[how]
    if how == "a regex that keeps the interpreter":  # the system prints where it stands
        monkeypatch.setattr(batch, "DUMP_TIMEOUT", 2.0)
    elif how != "a cancel that is caught":
        patience()
    outcome = await outcome_of(hook("hangs", source, limit=SHORT), hook("fine", FINE))
    assert outcome.statuses == {"hangs": "timeout", "fine": "ok"}
    error = outcome["hangs"].error
    assert error.type == "Timeout"
    if how == "a cancel that is caught":  # it goes on, and stands nowhere when it is killed
        return
    handlers = [frame for frame in error.frames if frame.file.endswith("handler.py")]
    assert handlers[-1].line in lines


async def test_a_handler_that_ends_when_it_is_asked_to_keeps_its_worker(
    hook: WriteHook, tmp_path: Path, patience: Callable[[], None]
) -> None:
    patience()
    lane = executor_of(tmp_path)
    try:
        await results_of(lane, hook("fine", FINE))
        before = lane.workers()[0].pid
        source = "import asyncio\nasync def handler(event):\n    await asyncio.sleep(60)"
        waits = hook("waits", source, limit=SHORT)
        (result,) = await results_of(lane, waits)
        assert (result.status, lane.workers()[0].pid) == ("timeout", before)
    finally:
        await lane.close()


async def test_a_hook_that_has_done_harm_gets_a_worker_of_its_own(hook: WriteHook, tmp_path: Path) -> None:
    lane = executor_of(tmp_path)
    try:
        good, bad = hook("good", FINE), hook("bad", "import os\ndef handler(event): os._exit(3)")
        await results_of(lane, good)
        shared = lane.workers()[0].pid
        await results_of(lane, bad)
        await results_of(lane, good)
        again = lane.workers()[0].pid
        assert again != shared, "it died with the first fault"
        (result,) = await results_of(lane, bad)
        assert result.status == "crashed"
        assert lane.workers()[0].pid == again, "the second fault hit its own worker"
        mended = hook("bad", FINE)
        await results_of(lane, mended)
        assert [worker.role for worker in lane.workers()] == ["shared"], "another content is another hook"
    finally:
        await lane.close()


async def test_a_hook_that_leaves_a_thread_running_keeps_the_worker_for_itself(
    hook: WriteHook, tmp_path: Path
) -> None:
    lane = executor_of(tmp_path)
    source = """
        import threading
        def handler(event):
            threading.Thread(target=threading.Event().wait, daemon=True).start()
    """
    try:
        (left,) = await results_of(lane, hook("restless", textwrap.dedent(source)))
        assert any("left 1 thread running" in note for note in left.notes)
        first = lane.workers()[0].pid
        (result,) = await results_of(lane, hook("fine", FINE))
        assert not result.notes, "it ran where no thread of others runs"
        assert {worker.role: worker.pid == first for worker in lane.workers()} == {
            "shared": False,
            "restless": True,
        }
    finally:
        await lane.close()


async def test_a_leak_of_descriptors_is_told_and_ends_the_worker(hook: WriteHook, tmp_path: Path) -> None:
    lane = executor_of(tmp_path)
    leaks = hook("leaks", "import os\ndef handler(event):\n    for _ in range(100): os.dup(0)")
    try:
        results = await results_of(lane, leaks, hook("fine", FINE))
        assert [result.status for result in results] == ["ok", "ok"]
        assert "it left more than 64 descriptors open" in results[0].notes
    finally:
        await lane.close()


async def test_the_third_fault_within_five_minutes_is_the_last_automatic_one(
    hook: WriteHook, tmp_path: Path
) -> None:
    now = [1000.0]
    fault_counter = FaultCounter(lambda: now[0])
    lane = executor_of(tmp_path, fault_counter=fault_counter)
    bad = hook("bad", "import os\ndef handler(event): os._exit(3)")
    path = bad.target.path  # type: ignore[union-attr]
    try:
        notes = []
        for _ in range(3):
            assert not fault_counter.is_quarantined(path)
            (result,) = await results_of(lane, bad)
            notes.append(any("it now runs only when fired by hand" in note for note in result.notes))
        assert notes == [False, False, True]
        assert fault_counter.is_quarantined(path)
        assert (await results_of(lane, bad))[0].status == "crashed", "by hand it always runs"
        assert fault_counter.lift_quarantine(path)
        assert not fault_counter.lift_quarantine(path)
        await results_of(lane, bad)
        now[0] += 301
        await results_of(lane, bad)
        assert not fault_counter.is_quarantined(path), "old faults are forgotten"
    finally:
        await lane.close()


async def test_a_spare_worker_takes_over(hook: WriteHook, tmp_path: Path) -> None:
    lane = executor_of(tmp_path, spare=True)
    try:
        bad = hook("bad", "import os\ndef handler(event): os._exit(3)")
        await results_of(lane, hook("good", FINE))
        results = await results_of(lane, bad, hook("good", FINE))
        assert [result.status for result in results] == ["crashed", "ok"]
        assert {worker.role for worker in lane.workers()} <= {"shared", "spare"}
    finally:
        await lane.close()
    assert lane.workers() == ()


async def test_an_import_that_ends_its_worker_is_tried_again_only_where_that_had_served_others(
    hook: WriteHook, tmp_path: Path
) -> None:
    lane = executor_of(tmp_path)
    tried = tmp_path / "tried"

    async def tries(name: str) -> int:
        dies = f"import os\nopen({str(tried)!r}, 'a').write('x')\nos._exit(3)"
        failure = await lane.load(code_of(hook(name, dies)))
        assert isinstance(failure, Failure)
        assert failure.type == "Crashed"
        count = len(tried.read_text())
        tried.unlink()
        return count

    try:
        assert await tries("in a fresh worker") == 1
        await results_of(lane, hook("good", FINE))
        assert await tries("in one that has run another") == 2
    finally:
        await lane.close()


async def test_a_worker_that_is_expected_is_the_one_that_runs(hook: WriteHook, tmp_path: Path) -> None:
    lane, good = executor_of(tmp_path), hook("good", FINE)
    try:
        lane.expect([good])
        lane.expect([good])
        await until(lane.workers)
        (ready,) = lane.workers()
        await results_of(lane, good)
        (running,) = lane.workers()
        assert (ready.role, running.role, running.pid) == ("spare", "shared", ready.pid)
        lane.expect([good])  # there is one
        await asyncio.sleep(0)
        assert len(lane.workers()) == 1
    finally:
        await lane.close()
    assert lane.workers() == ()
    lane.expect([good])
    await asyncio.sleep(0)
    assert lane.workers() == ()


async def test_one_that_is_expected_and_never_used_ends_with_its_lane(
    hook: WriteHook, tmp_path: Path
) -> None:
    for waits in (True, False):  # until it is there, or not
        lane = executor_of(tmp_path)
        lane.expect([hook("good", FINE)])
        await asyncio.sleep(0)
        if waits:
            await until(lane.workers)
        pids = [worker.pid for worker in lane.workers()]
        await lane.close()
        assert not any(map(lives, pids))


async def test_nobody_is_expected_for_a_plugin_which_has_a_worker_of_its_own(
    hook: WriteHook, tmp_path: Path
) -> None:
    begun, python, call = tmp_path / "begun", tmp_path / "python", hook("plugin", FINE)
    python.write_text(f'#!/bin/sh\ntouch {begun}\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    shapes: dict[ModuleShape, bool] = {"plugin": False, "hook": True}
    for shape, begins in shapes.items():
        lane = executor_of(tmp_path, python=str(python))
        lane.expect([replace(call, target=replace(code_of(call), shape=shape))])
        await lane.close()  # which waits for one that starts
        assert begun.exists() is begins


@pytest.mark.parametrize(("times", "count"), [(1, 1), (2, 2)], ids=["for this run", "for one before"])
async def test_an_import_that_ends_an_expected_worker_is_tried_again_where_that_had_waited(
    hook: WriteHook, tmp_path: Path, times: int, count: int
) -> None:
    """As one that has served others: it may have been dead before."""
    lane, tried = executor_of(tmp_path), tmp_path / "tried"
    dies = hook("dies", f"import os\nopen({str(tried)!r}, 'a').write('x')\nos._exit(3)")
    try:
        for _ in range(times):
            lane.expect([dies])
            await until(lane.workers)
        (result,) = await results_of(lane, dies)
        assert result.status == "crashed"
        assert len(tried.read_text()) == count
    finally:
        await lane.close()


async def test_it_is_said_while_a_handler_takes_long(hook: WriteHook, tmp_path: Path) -> None:
    lane = executor_of(tmp_path, limits=Limits(spawn=20.0, run=30.0, warn=0.05))
    said = tmp_path / "said"
    source = "import os, time\ndef handler(event):\n    while not os.path.exists({!r}): time.sleep(0.001)"
    slow = hook("slow", source.format(str(said)))
    steps: list[Step] = []

    def step(news: Step) -> None:
        steps.append(news)
        if isinstance(news, Slow):
            said.touch()  # it waits for that

    try:
        await lane.run([slow], HookEvent("command", "new"), step)
    finally:
        await lane.close()
    assert [type(step).__name__ for step in steps] == ["Started", "Slow", "Result"]
    warned = steps[1]
    assert isinstance(warned, Slow)
    assert (warned.call, warned.after, warned.limit) == (slow, 0.05, 30.0)


async def test_a_limit_is_told_with_its_origin(hook: WriteHook, tmp_path: Path) -> None:
    loops = hook("loops", "def handler(event):\n    while True: pass")
    said = {}
    for origin, limits, call in (
        ("HOOK.md", Limits(spawn=20.0), replace(loops, limit=0.1)),
        ("line", Limits(spawn=20.0).with_limit("run", 0.2, COMMAND_LINE_ORIGIN), replace(loops, limit=9.0)),
        ("config", Limits(spawn=20.0).with_limit("run", 0.3, ".hookscope/config.yaml"), loops),
    ):
        lane = executor_of(tmp_path, limits=limits)
        try:
            (result,) = await results_of(lane, call)
        finally:
            await lane.close()
        assert result.error is not None
        said[origin] = result.error.message
    assert said == {
        "HOOK.md": "did not answer within 0.1 s (the limit in its HOOK.md) and was stopped",
        "line": "did not answer within 0.2 s (the limit in --timeout) and was stopped",
        "config": "did not answer within 0.3 s (the limit in .hookscope/config.yaml) and was stopped",
    }


@LINUX
async def test_a_process_that_leaves_the_group_is_named_and_ended(hook: WriteHook, tmp_path: Path) -> None:
    source = """
        import os, subprocess
        def handler(event):
            if os.fork() == 0:
                os.setsid()
                child = subprocess.Popen(["sleep", "4711"])
                open("pid", "w").write(str(child.pid))
                os.rename("pid", "daemon")
                os._exit(0)
            while not os.path.exists("daemon"):
                pass
    """
    lane = executor_of(tmp_path)
    try:
        (result,) = await results_of(lane, hook("daemon", textwrap.dedent(source)))
        pid = int((tmp_path / "daemon").read_text())
        os.kill(pid, 0)
        assert any(f"left `sleep 4711` ({pid}) running outside" in note for note in result.notes), (
            result.notes
        )
    finally:
        await lane.close()
    assert pid not in {process.pid for process in find_marked()}


@LINUX
async def test_memory_has_a_limit_and_the_worker_survives_it(hook: WriteHook, tmp_path: Path) -> None:
    lane = executor_of(tmp_path, limits=Limits(spawn=20.0, memory=300 * MIB))
    try:
        greedy = hook("greedy", "def handler(event): bytearray(1 << 30)")
        results = await results_of(lane, greedy, hook("fine", FINE))
        assert [result.status for result in results] == ["error", "ok"]
        assert results[0].error is not None
        assert results[0].error.type == "MemoryError"
    finally:
        await lane.close()


@LINUX
async def test_what_the_host_has_taken_is_not_charged_to_its_workers(hook: WriteHook, tmp_path: Path) -> None:
    """The system counts it among what a process that it starts has taken at most."""
    lane = executor_of(tmp_path, limits=Limits(spawn=20.0, memory=300 * MIB))
    taken = b"x" * (200 * MIB)  # more than half of what a worker may take
    pids = []
    try:
        for _ in range(2):
            (result,) = await results_of(lane, hook("fine", FINE))
            assert result.notes == ()
            pids.append([worker.pid for worker in lane.workers()])
    finally:
        await lane.close()
    assert taken
    assert len(pids[0]) == 1
    assert pids[0] == pids[1]


FIRES = """
import asyncio, os, sys
from pathlib import Path
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Registration
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import python_executor
def fire(root):
    call = Registration("command:new", "daemon", Code(root / "handler.py", "default", root, "python"))
    lane = python_executor(env=dict(os.environ), cwd=root, limits=Limits(20.0, 20.0, 60.0))
    steps = []
    asyncio.run(lane.run([call], HookEvent("command", "new"), steps.append))
    return steps[-1].status
"""
PROGRAM = f"""{FIRES}
fire(Path(sys.argv[1]))
"""
FORKS = f"""{FIRES}
for folder in sys.argv[1:]:
    forked = os.fork()
    if not forked:
        print(fire(Path(folder)), flush=True)
        os._exit(0)
    print(forked, flush=True)
    sys.stdin.readline()
"""
STAYS = """
import os, time
def handler(event):
    open(__file__ + ".ready", "w").close()
    while not os.path.exists(__file__ + ".go"):
        time.sleep(0.01)
"""
ESCAPES = """
import subprocess
def handler(event):
    subprocess.Popen(["sleep", "4712"], start_new_session=True)
    open(__file__ + ".ready", "w").close()
    while True:
        pass
"""


@LINUX
async def test_what_escaped_ends_when_the_program_is_killed(hook: WriteHook, tmp_path: Path) -> None:
    call = hook("daemon", ESCAPES)
    assert isinstance(call.target, Code)
    host = await asyncio.create_subprocess_exec(sys.executable, "-c", PROGRAM, str(call.target.root))
    ready = Path(f"{call.target.path}.ready")
    try:
        await until(ready.exists)
        # Popen returns when the child's pipe closes at exec, a moment before its name and mark can be read.
        await until(lambda: "sleep 4712" in {process.name for process in find_marked(f"{host.pid}-")})
        host.send_signal(signal.SIGKILL)
        await host.wait()
        await until(lambda: not find_marked(f"{host.pid}-"))
    finally:
        if host.returncode is None:
            host.kill()
            await host.wait()


@LINUX
async def test_of_two_forks_of_a_program_one_ends_and_the_other_goes_on(hook: WriteHook) -> None:
    stays, ends = code_of(hook("stays", STAYS)), code_of(hook("daemon", ESCAPES.replace("4712", "4713")))
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", FORKS, str(stays.root), str(ends.root)),
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,
    )
    assert program.stdin is not None
    assert program.stdout is not None
    try:
        await program.stdout.readline()
        await until(Path(f"{stays.path}.ready").exists)
        program.stdin.write(b"\n")
        forked = int(await program.stdout.readline())
        await until(lambda: "sleep 4713" in {process.name for process in find_marked()})
        os.kill(forked, signal.SIGKILL)
        # Guards go by number: what the other fork started before that would be gone by then.
        await until(lambda: "sleep 4713" not in {process.name for process in find_marked()})
        os.mkdir(f"{stays.path}.go")
        assert await program.stdout.readline() == b"ok\n"
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        await program.communicate()  # to the end of what it printed, which closes its pipes


@LINUX
def test_what_carries_a_mark_is_met_by_what_was_started_since() -> None:
    mark = new_worker_mark()
    with subprocess.Popen(
        ["sleep", "60"], env={**os.environ, MARK_VARIABLE: mark}, start_new_session=True
    ) as process:
        assert may_still_run(mark, process.pid), "it runs"
        assert may_still_run(mark, process.pid - 1), "it was started later"
        assert not may_still_run(new_worker_mark(), process.pid), "it is another's"
        process.kill()
    assert not may_still_run(mark, process.pid), "it is gone"


@LINUX
def test_it_is_found_among_many_numbers_too() -> None:
    mark = new_worker_mark()
    with subprocess.Popen(
        ["sleep", "60"], env={**os.environ, MARK_VARIABLE: mark}, start_new_session=True
    ) as process:
        found = find_marked_since(process.pid - 4 * PROBED_RANGE, process.pid, mark)
        process.kill()
    assert [one.pid for one in found] == [process.pid]


@LINUX
@pytest.mark.parametrize("leader", ["stays", "is gone"])
def test_a_process_without_a_mark_ends_with_the_session_it_was_seen_in(leader: str) -> None:
    mark = new_worker_mark()
    script = "env -i sh -c 'echo $$; exec sleep 60' & exec sleep 60"
    with subprocess.Popen(
        ["sh", "-c", script],
        env={**os.environ, MARK_VARIABLE: mark},
        start_new_session=True,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        daemon = int(process.stdout.readline())
        seen = find_marked(mark)
        if leader == "is gone":
            process.kill()
            process.wait()
        gone, left = kill_marked(mark, seen)
    assert daemon in {one.pid for one in gone}
    assert not left
    assert not Path(f"/proc/{daemon}").exists() or "Z" in Path(f"/proc/{daemon}/stat").read_text()


@LINUX
def test_one_that_was_started_with_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orphan_processes, "STARTUP_AGE", math.inf)  # on however slow a machine
    monkeypatch.setattr(orphan_processes, "KILL_PAUSE", LONG)
    argv = [sys.executable, "-I", "-S", "-c", "print(flush=True); input()"]
    with subprocess.Popen(argv, env={}, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert not find_marked_since(process.pid - 1, process.pid, new_worker_mark())
        process.communicate(b"\n")

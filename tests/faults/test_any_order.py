"""Faults in any order: none of them wedges a lane, and none leaves anything behind."""

import asyncio
import os
import signal
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from tests.faults.conftest import (
    LINUX,
    LONG,
    PATIENCE,
    all_gone,
    condition,
    descriptors,
    nothing_left,
    registered,
    results_of,
)
from tests.faults.python_faults import DAEMON, body, coroutine

from hookscope.model.failure import Failure
from hookscope.model.hook_event import HookEvent
from hookscope.model.run import Code, Registration, Result, Started, Status, Step
from hookscope.runtime.limits import Limits
from hookscope.runtime.orphan_processes import find_marked, host_mark, newest_pid
from hookscope.runtime.process_executor import MAX_OWN_WORKERS, python_executor
from hookscope.runtime.python_worker import worker_guard

BRIEF = 0.2  # seconds that a handler has which hangs
MOST = 200.0  # seconds for any step: it never takes them


@dataclass(frozen=True, slots=True)
class Hook:
    """A handler, and what it comes to each time that it runs; `loads`: whether it can be loaded."""

    source: str
    status: Status = "ok"
    limit: float = LONG
    loads: bool = True


HOOKS = {
    "fine": Hook(body("event.messages.append('fine')")),
    "fine-too": Hook(coroutine("await asyncio.sleep(0); event.messages.append('fine')")),
    "exits": Hook(body("import os; os._exit(3)"), "crashed"),
    "is-killed": Hook(body("import os; os.kill(os.getpid(), 9)"), "crashed"),
    "segfaults": Hook(body("import ctypes; ctypes.string_at(0)"), "crashed"),
    "closes-all": Hook(body("import os; os.closerange(3, 4096)"), "crashed"),
    "raises": Hook(body("raise KeyError('x')"), "error"),
    "leaves": Hook(body("import sys; sys.exit(3)"), "error"),
    "is-broken": Hook("def handler(event)\n", "error", loads=False),
    "has-none": Hook("x = 1\n", "error", loads=False),
    "loops": Hook(body("while True: pass"), "timeout", BRIEF),
    "waits": Hook(coroutine("await asyncio.Event().wait()"), "timeout", BRIEF),
    "stops": Hook(body("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"), "timeout", BRIEF),
    "floods": Hook(body("for _ in range(50): print('x' * 100_000)")),
    "redirects": Hook(body("import os; os.dup2(os.open('/dev/null', os.O_WRONLY), 1)")),
    "closes-stdout": Hook(body("import sys; sys.stdout.close()")),
    "moves-away": Hook(body("import os; os.chdir('/'); os.environ.clear()")),
    "keeps-a-thread": Hook(body("import threading; threading.Thread(target=threading.Event().wait).start()")),
    "keeps-a-child": Hook(body("import subprocess; subprocess.Popen(['sleep', '4727'])")),
}
if LINUX:  # elsewhere nobody finds them again
    HOOKS["keeps-a-daemon"] = Hook(body(DAEMON, "import os"))
names = st.sampled_from(sorted(HOOKS))
hanging = st.sampled_from(sorted(name for name, hook in HOOKS.items() if hook.status == "timeout"))


class AnyOrder(RuleBasedStateMachine):
    """One lane, to which everything happens."""

    def __init__(self) -> None:
        super().__init__()
        self.nothing_left = nothing_left()
        self.nothing_left.__enter__()
        self.runner = asyncio.Runner()
        self.home = tempfile.TemporaryDirectory()
        self.folder = Path(self.home.name)
        self.calls = {
            name: replace(registered(self.folder, name, hook.source, "handler.py"), limit=hook.limit)
            for name, hook in HOOKS.items()
        }

    @initialize(spare=st.booleans())
    def a_lane(self, spare: bool) -> None:
        limits = Limits(spawn=PATIENCE, load=PATIENCE, run=PATIENCE)
        env = {"PATH": os.environ["PATH"]}
        self.lane = python_executor(env=env, cwd=self.folder, limits=limits, spare=spare)

    @rule(batch=st.lists(names, max_size=4))
    def an_event(self, batch: list[str]) -> None:
        """All of them run, in order, and the healthy one behind them is well."""
        calls = [self.calls[name] for name in (*batch, "fine")]
        results = self.runner.run(self.fired(calls))
        assert [result.call for result in results] == calls
        assert [result.status for result in results] == [HOOKS[call.name].status for call in calls]
        assert results[-1].messages == ("fine",)

    @rule(before=st.lists(names, max_size=2), name=hanging)
    def an_event_that_is_cancelled(self, before: list[str], name: str) -> None:
        """What had begun has one result; then the lane is free."""
        slow = replace(self.calls[name], limit=None)
        calls = [*(self.calls[name] for name in before), slow, self.calls["fine"]]
        results = self.runner.run(self.fired(calls, cancel_at=slow))
        assert [result.call for result in results] == calls[:-1]
        assert results[-1].status == "cancelled"

    @rule(name=names)
    def a_load(self, name: str) -> None:
        """It says whether it can be loaded, and runs nothing."""
        loaded = self.runner.run(self.loaded(self.calls[name]))
        assert isinstance(loaded, Code) == HOOKS[name].loads

    @rule(name=names)
    def an_edit(self, name: str) -> None:
        """Another content of the hook: its faults are forgotten."""
        code = self.calls[name].target
        assert isinstance(code, Code)
        with code.path.open("a") as file:
            file.write(f"# edited {time.monotonic_ns()}\n")

    @rule()
    def all_workers_are_killed(self) -> None:
        """From outside, between two events: nobody is to blame."""
        living = {
            process.pid for process in find_marked(host_mark())
        }  # a number alone may be another's by now
        for worker in self.lane.workers():
            if worker.pid in living:
                with suppress(ProcessLookupError):  # it may end by itself meanwhile
                    os.kill(worker.pid, signal.SIGKILL)

    @invariant()
    def few_workers_live(self) -> None:
        assert (
            len(self.lane.workers()) <= MAX_OWN_WORKERS + 3
        )  # the shared, the spare, and one about to be ended

    def teardown(self) -> None:
        self.runner.run(self.ended())
        self.runner.close()
        self.home.cleanup()
        self.nothing_left.__exit__(None, None, None)

    async def fired(
        self, calls: list[Registration], cancel_at: Registration | None = None
    ) -> tuple[Result, ...]:
        steps: list[Step] = []

        def step(taken: Step) -> None:
            steps.append(taken)
            if isinstance(taken, Started) and taken.call is cancel_at:
                running.cancel()

        running = asyncio.create_task(self.lane.run(calls, HookEvent("command", "new", "s", {}), step))
        async with asyncio.timeout(MOST):
            await asyncio.wait([running])
        assert running.cancelled() == (cancel_at is not None)
        if not running.cancelled():
            running.result()
        return tuple(step for step in steps if isinstance(step, Result))

    async def loaded(self, call: Registration) -> object:
        assert isinstance(call.target, Code)
        async with asyncio.timeout(MOST):
            loaded = await self.lane.load(call.target)
        assert isinstance(loaded, Code | Failure)
        return loaded

    async def ended(self) -> None:
        async with asyncio.timeout(MOST):
            await self.lane.close()
        await all_gone()


def test_no_order_of_faults_blocks_a_lane() -> None:
    worker_guard.start_guard(host_mark())
    newest_pid()  # as the guard: opened once
    open_before = descriptors()
    run_state_machine_as_test(
        AnyOrder,
        settings=settings(
            max_examples=14,
            stateful_step_count=10,
            deadline=None,
            derandomize=True,
            database=None,
            phases=[Phase.generate],  # to shrink a failure takes minutes, and CI has few
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert descriptors() <= open_before  # fewer, where an earlier test's were closed meanwhile


async def test_killed_spare_worker_blames_no_handler(tmp_path: Path) -> None:
    fine = registered(tmp_path, "fine", HOOKS["fine"].source, "handler.py")
    with nothing_left():
        limits = Limits(spawn=PATIENCE)
        lane = python_executor(env={"PATH": os.environ["PATH"]}, cwd=tmp_path, limits=limits, spare=True)
        try:
            await results_of(lane, fine)
            await condition(lambda: len(lane.workers()) == 2)
            pids = {worker.role: worker.pid for worker in lane.workers()}
            os.kill(pids["spare"], signal.SIGKILL)
            os.kill(pids["shared"], signal.SIGKILL)
            (result,) = await results_of(lane, fine)
        finally:
            await lane.close()
        await all_gone()
    assert (result.status, result.error) == ("ok", None)

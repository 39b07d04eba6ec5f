"""Handlers in supervised worker processes: the executor, and the worker programs for Python and Node."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hookscope.model import hook_event as event_file
from hookscope.model.failure import Failure
from hookscope.model.run import Code, Declared, Module, OnStep, Registration, Result
from hookscope.runtime.async_helpers import await_uninterrupted, since_run_start
from hookscope.runtime.background_work import NO_BACKGROUND_WORK, BackgroundWork, WaitTime
from hookscope.runtime.batch import (
    Batch,
    LateHandler,
    LimitExceeded,
    WorkerHandle,
    WorkerLost,
    WorkerNotStarted,
    WorkerProgram,
    time_limit,
)
from hookscope.runtime.failures import FaultCounter
from hookscope.runtime.handler_code import (
    PLUGIN_SHAPES,
    ContentNames,
    HandlerRequest,
    RequestCache,
    member_targets,
    module_from,
    with_digest,
)
from hookscope.runtime.limits import Limits
from hookscope.runtime.orphan_processes import resident_memory
from hookscope.runtime.worker_calls import count_fitting
from hookscope.runtime.worker_process import WorkerProcess
from hookscope.runtime.worker_slot import ExecutorState, WorkerSlot
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.runtime.debugger import Debugger
    from hookscope.runtime.sandbox import Sandbox


MAX_QUOTED_OUTPUT = 200  # characters of the standard error of a worker that ended


async def start_worker(make: Callable[[], WorkerHandle], limits: Limits) -> WorkerHandle:
    """Return a new worker that is ready. If that fails, end it and raise WorkerNotStarted."""
    worker = make()
    try:
        async with time_limit(limits, "spawn"):
            await worker.start()
    except LimitExceeded as late:
        await await_uninterrupted(worker.end())
        raise WorkerNotStarted(late.failure) from None
    except WorkerLost as lost:
        await await_uninterrupted(worker.end())
        stderr = worker.take_output().stderr.strip()
        text = f"{lost.text} before it was ready" + (f": {stderr[-MAX_QUOTED_OUTPUT:]}" if stderr else "")
        raise WorkerNotStarted(Failure("Crashed", text, phase="spawn")) from None
    except BaseException:
        await await_uninterrupted(worker.end())
        raise
    return worker


def not_started_results(calls: Sequence[Registration], missing: WorkerNotStarted) -> list[Result]:
    """Return the results of calls for which no worker could be started."""
    return [Result(call, "crashed", since_run_start(perf_counter()), error=missing.failure) for call in calls]


class SpareWorker:
    """Starts workers, and keeps a spare one ready if `keep_one`. It owns the spare worker until `take`."""

    def __init__(self, make: Callable[[], WorkerHandle], limits: Limits, *, keep_one: bool) -> None:
        self._make = make
        self._limits = limits
        self._keep_one = keep_one
        self._spare: asyncio.Task[WorkerHandle] | None = None
        self._is_expected = False  # the spare worker was started for the next caller

    @property
    def has_waited(self) -> bool:
        """True if there is a spare worker, and it was not started for the next caller."""
        return self._spare is not None and not self._is_expected

    @property
    def ready_worker(self) -> WorkerHandle | None:
        """The spare worker, if it is ready and alive."""
        ahead = self._spare
        if ahead is None or not ahead.done() or ahead.cancelled() or ahead.exception():
            return None
        return ahead.result() if ahead.result().is_alive else None

    def start_ahead(self) -> None:
        """Start a spare worker after a batch, when nothing waits for the processor."""
        self._is_expected = False  # the caller did not need it
        if self._keep_one:
            self._start()

    def start_expected(self) -> None:
        """Start a spare worker for the next caller, if there is none."""
        self._is_expected = self._spare is None
        self._start()

    def _start(self) -> None:
        if self._spare is None:
            self._spare = asyncio.get_running_loop().create_task(start_worker(self._make, self._limits))

    async def take(self) -> WorkerHandle:
        """Return the spare worker or a new one; the caller then owns it. Raises WorkerNotStarted."""
        spare, self._spare = self._spare, None  # before any `await`: plugins take workers concurrently
        self._is_expected = False
        if spare is None:
            return await start_worker(self._make, self._limits)
        try:
            return await asyncio.shield(spare)
        except asyncio.CancelledError:
            self._spare = spare
            raise

    async def close(self) -> None:
        """End an unused spare worker, and keep no other."""
        self._keep_one = False
        spare, self._spare = self._spare, None
        if spare is not None:
            try:
                worker = await spare
            except WorkerNotStarted:
                return
            await worker.end()


MALFORMED_ERRORS = (AttributeError, KeyError, OverflowError, TypeError, ValueError)


def late_handlers(worker: WorkerHandle | None, code: Code, name: str) -> tuple[Declared, ...]:
    """Return the late handlers of the content named `name`, in order. Invalid declarations are skipped."""
    handlers = worker.late_handlers if worker is not None else ()
    return tuple(one for added in handlers if added.name == name for one in _read_late_handler(added, code))


def _read_late_handler(added: LateHandler, code: Code) -> Iterator[Declared]:
    try:
        yield from module_from({"declares": [added.declaration], "log": []}, member_targets(code)).declares
    except MALFORMED_ERRORS:  # a plugin may have changed the worker's own code
        return


MAX_OWN_WORKERS = 8  # workers that belong to one hook each; the one idle longest is ended
MAX_PLUGIN_WORKERS = 16  # kept workers of plugins; likewise


@dataclass(frozen=True, slots=True)
class WorkerFacts:
    """The state of a worker process."""

    pid: int
    role: str  # shared, spare, or the name of the only hook that uses it
    age: float  # seconds
    memory: int  # resident bytes; 0 if unknown
    calls: int  # batches and loads


class ProcessExecutor:
    """Runs the handlers of one language in worker processes, one handler at a time.

    Well-behaved handlers share one worker, which is started for the first of them and kept. A handler that
    hangs, crashes or makes its worker unusable has a normal result. The batch continues in a new worker with
    the last known event, and that handler gets its own worker until its file changes. If a handler leaves a
    thread, a timer or a process running, its hook keeps the worker, and the others get a new one. A plugin
    has its own worker, in which its handlers can run concurrently. Cancelling `run` kills its busy workers.

    Runs in the caller's event loop; with `spare` it must be the same loop until `close`.

    Args:
        spare: keep another worker ready, so that a call after a crash need not wait.
        on_late: called at once with (hook, text) of late output and errors; otherwise they are reported with
            the next result. With it, use only one event loop until `close`.
        dump_signal: the signal at which workers print their stack; 0: none.
    """

    def __init__(
        self,
        make: Callable[[], WorkerHandle],
        limits: Limits = Limits(),
        *,
        fault_counter: FaultCounter | None = None,
        spare: bool = False,
        on_late: Callable[[str, str], None] | None = None,
        dump_signal: int = 0,
    ) -> None:
        self._fault_counter = FaultCounter() if fault_counter is None else fault_counter
        self._contents = ContentNames()
        self._requests = RequestCache(self._contents, code_of)
        self._state = ExecutorState(limits, self._fault_counter, self._contents, [], on_late, dump_signal)
        self._slot = WorkerSlot(self._state)
        self._own_slots: OrderedDict[Path, WorkerSlot] = OrderedDict()
        self._plugin_slots: OrderedDict[Path, WorkerSlot] = OrderedDict()
        self._spare = SpareWorker(make, limits, keep_one=spare)
        self._lock = asyncio.Lock()  # one batch at a time; waiting here costs no handler its limit
        self._closed = False

    def expect(self, calls: Sequence[Registration]) -> None:
        """Start a worker in advance if these calls need the shared one and there is none."""
        if self._closed or self._slot.worker is not None:
            return
        if any(code_of(call).shape not in PLUGIN_SHAPES for call in calls):
            self._spare.start_expected()

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Executor.run. Every call's target is a Code; the handlers' changes are applied to the view."""
        async with self._lock:
            await self._run_batch(Batch(tuple(batch), view, step))
            await self._end_batch()

    async def run_one_by_one(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        for view, call in zip(views, calls, strict=False):  # the views end early, or one step behind
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        """See Executor.run_together. Plugins run concurrently, each in its own worker."""
        async with self._lock:
            batches = [Batch((call,), view, step) for call, view in calls]
            try:
                await self._run_concurrently(batches)
            except asyncio.CancelledError:
                for batch in batches:
                    batch.cancel_remaining()
                raise
            await self._end_batch()

    async def _run_concurrently(self, batches: Sequence[Batch]) -> None:
        sequential: list[Batch] = []
        plugins: dict[Path, list[Batch]] = {}
        for batch in batches:
            code = code_of(batch.remaining[0])
            (plugins.setdefault(code.path, []) if code.shape in PLUGIN_SHAPES else sequential).append(batch)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._run_sequentially(sequential))
            for plugin_batches in plugins.values():
                tasks.create_task(self._run_plugin(plugin_batches))

    async def _run_batch(self, batch: Batch) -> None:
        while batch.remaining:
            slot, requests = self._next_requests(batch.remaining)
            if not await self._has_worker(slot, (batch,)):
                return
            await slot.run(batch, requests)
            slot.listen_for_late()
            self._give_slot_to_hook(slot)

    async def _run_sequentially(self, batches: Sequence[Batch]) -> None:
        """Run the batches one after another, because they share a worker."""
        for batch in batches:
            await self._run_batch(batch)

    async def _run_plugin(self, batches: Sequence[Batch]) -> None:
        """Run one plugin's handlers concurrently; after a crash, run the remaining ones in a new worker."""
        while batches:
            shared = self._contents.shared_name()
            requests = [self._requests.request_for(batch.remaining[0], shared) for batch in batches]
            slot = self._slot_of(requests[0])
            if not await self._has_worker(slot, batches):
                return
            fit = count_fitting(batches)
            await slot.run_together(batches[:fit], requests[:fit])
            slot.listen_for_late()
            batches = [batch for batch in batches if batch.remaining]

    async def _has_worker(self, slot: WorkerSlot, batches: Sequence[Batch]) -> bool:
        """Start a worker if necessary. If that fails, report the failure for all calls and return False."""
        try:
            await self._ensure_worker(slot)
        except WorkerNotStarted as missing:
            for batch in batches:
                for result in not_started_results(batch.remaining, missing):
                    batch.step(result)
            return False
        return True

    async def _end_batch(self) -> None:
        while len(self._plugin_slots) > MAX_PLUGIN_WORKERS:
            _, longest_idle = self._plugin_slots.popitem(last=False)
            await longest_idle.end_worker()
        if not self._closed:
            self._spare.start_ahead()

    async def load(self, code: Code) -> Code | Module | Failure:
        """See Executor.load. Returns the Code with its digest, under which the worker keeps what it loaded.

        After a crash, a new worker can only load the folder's current content. Output of the import is
        reported with the next result.
        """
        code = with_digest(code)
        async with self._lock:
            shared = self._contents.shared_name()
            request = HandlerRequest(code, self._contents.name_of(code, shared), shared)
            slot = self._slot_of(request)
            try:
                await self._ensure_worker(slot)
            except WorkerNotStarted as missing:
                return missing.failure
            used = bool(slot.calls) or slot.has_waited
            loaded = await slot.load(request)
            if isinstance(loaded, Failure) and loaded.type == "Crashed" and used:
                # The worker may have died before; a crash in a new one is the handler's fault.
                return await self._load_in_new_worker(request, loaded)
            return loaded

    async def _load_in_new_worker(self, request: HandlerRequest, failure: Failure) -> Code | Module | Failure:
        slot = self._slot_of(request)
        try:
            await self._ensure_worker(slot)
        except WorkerNotStarted:
            return failure
        return await slot.load(request)

    async def wait_for_background_work(self, wait: WaitTime) -> BackgroundWork:
        """Wait until background work has ended or the time is up. Return the outcome of the work."""
        work = NO_BACKGROUND_WORK
        async with self._lock:
            for slot in self._slots():
                work += await slot.wait_for_background_work(wait)
        return work

    def has_loaded(self, code: Code) -> bool:
        """Return True if a version of this handler is loaded, which runs if a newer one fails to load."""
        return any((code.path, code.export) in slot.loaded for slot in self._slots())

    @property
    def late_count(self) -> int:
        workers = (slot.worker for slot in self._plugin_slots.values())
        return sum(len(worker.late_handlers) for worker in workers if worker is not None)

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        slot = self._plugin_slots.get(code.path)
        if slot is None or slot.worker is None:
            return ()
        code = with_digest(code)
        return late_handlers(slot.worker, code, self._contents.name_of(code, self._contents.shared_name()))

    def workers(self) -> tuple[WorkerFacts, ...]:
        """Return the current state of all worker processes."""
        facts = [
            _worker_facts(slot.worker, slot.owner or "shared", slot.calls)
            for slot in self._slots()
            if slot.worker is not None and slot.worker.is_alive
        ]
        if self._spare.ready_worker is not None:
            facts.append(_worker_facts(self._spare.ready_worker, "spare", 0))
        return tuple(facts)

    async def close(self) -> None:
        """End all workers, wait until they are gone, and start no more."""
        self._closed = True
        await await_uninterrupted(self._end_all())

    async def _end_all(self) -> None:
        for slot in self._slots():
            await slot.end_worker()
        await self._spare.close()

    def _slots(self) -> tuple[WorkerSlot, ...]:
        return (self._slot, *self._own_slots.values(), *self._plugin_slots.values())

    def _next_requests(self, calls: Sequence[Registration]) -> tuple[WorkerSlot, list[HandlerRequest]]:
        """Return the slot of the first call, and the requests of all leading calls that have this slot."""
        shared = self._contents.shared_name()
        requests = [self._requests.request_for(call, shared) for call in calls]
        if self._fault_counter.is_empty and not any(
            request.is_plugin for request in requests
        ):  # nearly always
            return self._slot, requests
        slot = self._slot_of(requests[0])
        return slot, [*takewhile(lambda request: self._slot_of(request) is slot, requests)]

    def _slot_of(self, request: HandlerRequest) -> WorkerSlot:
        """Return the slot of the request: the shared one, or one for its plugin or its faulty handler."""
        path = request.code.path
        if request.code.shape in PLUGIN_SHAPES:
            slot = self._plugin_slots.pop(path, None) or WorkerSlot(self._state, request.code.root.name)
            self._plugin_slots[path] = slot  # moved to the end: used last
            return slot
        if not self._fault_counter.needs_own_worker(request.code, request.name):
            return self._slot
        if path not in self._own_slots:
            self._own_slots[path] = WorkerSlot(self._state, request.code.root.name)
        self._own_slots.move_to_end(path)
        return self._own_slots[path]

    def _give_slot_to_hook(self, slot: WorkerSlot) -> None:
        """If a handler left work running in the shared worker, give that worker to the handler's hook."""
        request = slot.left_running
        if slot is self._slot and slot.worker is not None and request is not None:
            slot.owner = request.code.root.name
            self._own_slots[request.code.path] = slot
            self._slot = WorkerSlot(self._state)

    async def _ensure_worker(self, slot: WorkerSlot) -> None:
        """Start a worker in the slot if it has none. Raises WorkerNotStarted."""
        if self._closed:
            raise WorkerNotStarted(Failure("NotStarted", "this executor is closed", phase="spawn"))
        while len(self._own_slots) > MAX_OWN_WORKERS:
            _, longest_idle = self._own_slots.popitem(last=False)
            await longest_idle.end_worker()
        if slot.worker is None:
            has_waited = self._spare.has_waited
            worker = await self._spare.take()
            if self._closed:
                await await_uninterrupted(worker.end())
                raise WorkerNotStarted(Failure("NotStarted", "this executor is closed", phase="spawn"))
            slot.assign(worker, has_waited)


def _worker_facts(worker: WorkerHandle, role: str, calls: int) -> WorkerFacts:
    return WorkerFacts(
        worker.pid, role, time.monotonic() - worker.started_at, resident_memory(worker.pid), calls
    )


def code_of(call: Registration) -> Code:
    """Return the file that a call runs. Raises TypeError for a function of this process."""
    if not isinstance(call.target, Code):
        raise TypeError(f"{call.name} is a function of this process; a worker runs files only")
    return call.target


OnLateNews = Callable[[str, str], None]  # (hook, what it did after it had returned)
RUNTIME_FOLDER = Path(__file__).parent
NODE_VARIABLES = ("NODE_OPTIONS", "NODE_COMPILE_CACHE")  # variables that would affect the worker's own code
# Node prints these warnings because of the worker or a missing `type` in package.json.
SILENCED_WARNINGS = ("ExperimentalWarning", "MODULE_TYPELESS_PACKAGE_JSON")
NODE_FLAGS = (*(f"--disable-warning={warning}" for warning in SILENCED_WARNINGS), "--enable-source-maps")


@dataclass(frozen=True, slots=True)
class SandboxAccess:
    """The sandbox that workers start in, and the paths outside it that they may read."""

    sandbox: Sandbox
    readable_paths: tuple[Path, ...] = ()


def python_executor(
    *,
    env: Mapping[str, str],
    cwd: Path,
    python: str = sys.executable,
    limits: Limits = Limits(),
    fault_counter: FaultCounter | None = None,
    spare: bool = False,
    on_late: OnLateNews | None = None,
    sandbox_access: SandboxAccess | None = None,
    debugger: Debugger | None = None,
) -> ProcessExecutor:
    """Return an executor for Python handlers. Its workers get exactly this environment and start in `cwd`.

    `python` is the interpreter, 3.9 or newer. It runs isolated (no PYTHON* variables, no user site) and
    writes no `__pycache__` into hook folders. With a `debugger`, handlers stop and wait for its commands, so
    set no time limits.
    """
    worker = RUNTIME_FOLDER / "python_worker" / "worker.py"
    memory = str(limits.memory or 0)
    program = WorkerProgram(
        argv=(python, "-I", "-B", "-u", str(worker), str(event_file.__file__), memory),
        env=dict(env),
        cwd=cwd,
        hint="Set `python:` in .hookscope/config.yaml to an interpreter, 3.9 or newer.",
        control=True,
        bell=True,
    )
    dump_signal = 0 if sandbox_access is not None else int(signal.SIGUSR2)  # it would kill bwrap
    make = partial(WorkerProcess, _in_sandbox(program, sandbox_access), debugger)
    return ProcessExecutor(
        make, limits, fault_counter=fault_counter, spare=spare, on_late=on_late, dump_signal=dump_signal
    )


def node_program(*, env: Mapping[str, str], cwd: Path, node: str, cache: Path | None = None) -> WorkerProgram:
    """Return the worker program for TypeScript and JavaScript handlers."""
    worker = RUNTIME_FOLDER / "node_worker" / "worker.mjs"
    return WorkerProgram(
        argv=(node, *NODE_FLAGS, str(worker), str(cache or "")),
        env={name: value for name, value in env.items() if name not in NODE_VARIABLES},
        cwd=cwd,
        hint="Set `node:` in .hookscope/config.yaml to a Node program, 22.18 or newer.",
        control=True,
    )


def node_executor(
    *,
    env: Mapping[str, str],
    cwd: Path,
    node: str,
    cache: Path | None = None,
    limits: Limits = Limits(),
    fault_counter: FaultCounter | None = None,
    spare: bool = False,
    on_late: OnLateNews | None = None,
    sandbox_access: SandboxAccess | None = None,
    debugger: Debugger | None = None,
) -> ProcessExecutor:
    """Return an executor for TypeScript and JavaScript handlers; see `python_executor`.

    `node` is Node 22.18 or newer (see `find_node`); `cache` is a folder for compiled code.
    """
    program = node_program(env=env, cwd=cwd, node=node, cache=cache)
    make = partial(WorkerProcess, _in_sandbox(program, sandbox_access), debugger)
    return ProcessExecutor(make, limits, fault_counter=fault_counter, spare=spare, on_late=on_late)


def _in_sandbox(program: WorkerProgram, access: SandboxAccess | None) -> WorkerProgram:
    """Return the program as started in the sandbox; unchanged without a sandbox."""
    if access is None:
        return program
    sandbox = access.sandbox
    programs = map(Path, program.env.get("PATH", "").split(os.pathsep))
    needs = [*access.readable_paths, RUNTIME_FOLDER, Path(sys.prefix), Path(sys.base_prefix), *programs]
    return replace(
        program,
        argv=sandbox.argv(program.argv, needs),
        env=sandbox.environment(program.env),
        cwd=sandbox.start_folder_of(program.cwd),
        is_sandboxed=True,
        filter=sandbox.filter,
    )

"""Handlers in one worker process that runs any number of events at once, for programs that embed Hookscope.

The handlers of one event still run one after another. When the worker ends, all running handlers end with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import Context, copy_context
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import Any

from hookscope.model.failure import Failure
from hookscope.model.payload import Arguments
from hookscope.model.run import Code, Declared, Module, OnStep, Registration
from hookscope.runtime.async_helpers import wait_until_done
from hookscope.runtime.background_work import late_note
from hookscope.runtime.batch import (
    INVALID_MODULE,
    NOTHING_PRINTED,
    STOP_TIMEOUT,
    UNEXPECTED_ANSWER,
    Batch,
    PrintedOutput,
    WorkerLost,
    WorkerNotStarted,
    failure_in_answer,
    limit_failure,
    seconds_in,
    timed_out_result,
)
from hookscope.runtime.failures import CANCELLED, WORKER_ENDED
from hookscope.runtime.handler_code import (
    DECLARING_SHAPES,
    ContentNames,
    HandlerRequest,
    RequestCache,
    RequestNumbers,
    member_targets,
    module_from,
    settings_message,
    with_digest,
)
from hookscope.runtime.limits import Limits
from hookscope.runtime.orphan_processes import kill_marked, may_still_run
from hookscope.runtime.payloads import is_hook_event
from hookscope.runtime.process_executor import (
    MALFORMED_ERRORS,
    code_of,
    late_handlers,
    node_program,
    not_started_results,
    start_worker,
)
from hookscope.runtime.python_worker.protocol import Message, frame_of, pack
from hookscope.runtime.worker_process import WorkerProcess

_JSON_BOOLEANS = ("false", "true")
SEND_SIZE = 16 * 1024  # bytes that are written without waiting for more
MOST_TRIES = 2  # workers that may die before a call has started
UNKNOWN_OUTPUT_NOTE = "output of child processes, or after a handler's return, may be another handler's"


class _OpenRun:
    """The calls of one batch that were sent to the worker, until the last one has a result."""

    def __init__(self, batch: Batch, requests: Sequence[HandlerRequest], worker: SharedWorker) -> None:
        self.id = token_hex(8)  # random, so that no handler can guess it and answer for this run
        self.batch = batch
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.context: Context = copy_context()  # results are reported in the caller's context
        self.is_cancelled = False  # the caller no longer waits for results
        self._requests = requests
        self._worker = worker
        self._limits = worker.limits
        self._timer: asyncio.TimerHandle | None = None
        self._number = 0
        self._has_exceeded = False

    def begin(self, is_loaded: bool) -> None:
        """Note that the worker starts the next call. `is_loaded`: its handler is loaded and runs at once."""
        self.batch.begin(self.batch.remaining[0], self._requests[self._number])
        self._limits = self._worker.limits.for_call(self.batch.remaining[0])
        if is_loaded:
            self._mark_started(0.0)
        else:
            self._watch(self._limits.load)

    def _mark_started(self, loaded: float) -> None:
        self.batch.mark_started(loaded)
        self._watch(self._limits.run)

    def _watch(self, seconds: float | None) -> None:
        self.stop_watching()
        if seconds is not None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._exceed)

    def stop_watching(self) -> None:
        """Stop the timer of the limit."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _exceed(self) -> None:
        """Ask the worker to end the call; end the worker if it does not answer: its thread is busy."""
        if self._has_exceeded or self.batch.phase == "load":
            self._worker.end_for(self, limit_failure(self._limits, self.batch.phase))
            return
        self._has_exceeded = True
        self._worker.send(pack({"do": "end", "id": self.id}))
        self._watch(STOP_TIMEOUT)

    def cancel(self) -> None:
        """Cancel the current call. The worker is ended if its thread is busy with the call."""
        self.is_cancelled, self._has_exceeded = True, True
        self.batch.finish(self.batch.result_without_answer("cancelled", CANCELLED))
        self._worker.send(pack({"do": "end", "id": self.id}))
        self._watch(STOP_TIMEOUT)

    def on_message(self, message: Message) -> bool:
        """Process a message. Return True after the last result. Raises WorkerLost if it is unexpected."""
        if self.is_cancelled:
            self.stop_watching()
            return True
        number = message.get("started", message.get("result"))
        if number != self._number:
            raise WorkerLost(UNEXPECTED_ANSWER)
        if "started" in message:
            self._mark_started(seconds_in(message, "loaded"))
            return False
        self.stop_watching()
        batch, request = self.batch, self._requests[self._number]
        result = batch.result_from_answer(message)
        if self._has_exceeded:
            result = timed_out_result(result, self._limits)
            self._has_exceeded = False
        self._worker.learn(request, message)
        if batch.notes or "stdout" in message or "stderr" in message or self._worker.has_news:
            printed, notes = self._worker.take_news()
            result = replace(
                result,
                stdout=str(message.get("stdout", "")) + printed.stdout,
                stderr=str(message.get("stderr", "")) + printed.stderr,
                notes=(*batch.notes, *result.notes, *notes),
            )
            batch.notes = []
        batch.finish(result)
        self._number += 1
        if self._number == len(self._requests) or result.status == "timeout":
            return True
        self.begin(message.get("next") is True)
        return False


class SharedWorker:
    """One worker process with its unfinished runs and loads."""

    def __init__(self, process: WorkerProcess, limits: Limits, contents: ContentNames) -> None:
        self.process = process
        self.limits = limits
        self.loop = asyncio.get_running_loop()
        self.is_retired = False  # accepts no new run, and ends when it is idle
        self._contents = contents
        self._numbers = RequestNumbers()
        self._loaded: set[str] = set()  # names of loaded handlers, see HandlerRequest.handler_name
        self._has_settings = False
        self._runs: dict[str, _OpenRun] = {}
        self._loads: dict[str, asyncio.Future[Message]] = {}
        self._backlog: list[bytes] = []  # frames for the next write
        self._backlog_size = 0  # bytes
        self._sender: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None
        self.has_news = False  # there are output or errors from outside running handlers
        self.process.keep_reading(self._on_news)

    @property
    def is_usable(self) -> bool:
        """True if the worker accepts a new run."""
        return not self.is_retired and self._ending is None

    def start(self, batch: Batch, requests: Sequence[HandlerRequest]) -> _OpenRun:
        """Start these calls of the batch. The run is done when the last one, or the worker, has ended."""
        run = _OpenRun(batch, requests, self)
        is_loaded = requests[0].handler_name in self._loaded
        self._send_settings(requests[0])
        self._runs[run.id] = run
        try:
            self.send(self._frame(run, requests, is_loaded))
        except (ValueError, RecursionError) as error:
            self._numbers = RequestNumbers()  # the worker has not received the new requests
            batch.begin(batch.remaining[0], requests[0])
            failure = Failure(type(error).__name__, f"the event cannot be sent to a worker: {error}")
            batch.finish(batch.result_without_answer("error", failure))
            self._forget(run)
        else:
            run.begin(is_loaded)
        return run

    def cancel(self, run: _OpenRun) -> None:
        """Cancel a run if it has not ended."""
        if run.id in self._runs:
            run.cancel()

    def _frame(self, run: _OpenRun, requests: Sequence[HandlerRequest], is_loaded: bool) -> bytes:
        view = run.batch.view
        hook, arguments = _JSON_BOOLEANS[is_hook_event(view)], _JSON_BOOLEANS[isinstance(view, Arguments)]
        numbers, new = self._numbers.numbers_for(requests)
        return frame_of(
            f'{{"do":"run","open":true,"id":"{run.id}","begun":{_JSON_BOOLEANS[is_loaded]},"hook":{hook},'
            f'"arguments":{arguments},"know":[{new}],"calls":[{numbers}],"view":{run.batch.packed_json()}}}'
        )

    async def load(self, request: HandlerRequest) -> Message:
        """Load a handler and return the worker's answer. Raises WorkerLost."""
        number = token_hex(8)
        answer: asyncio.Future[Message] = self.loop.create_future()
        self._loads[number] = answer
        try:
            self._has_settings = False  # they may have changed
            self._send_settings(request)
            code = {**request.document(), "env": dict(request.code.env)}
            self.send(pack({"do": "load", "id": number, "code": code}))
            async with asyncio.timeout(self.limits.load):
                return await answer
        finally:
            self._loads.pop(number, None)

    def _send_settings(self, request: HandlerRequest) -> None:
        if request.code.shape == "plugin" and not self._has_settings:
            self._has_settings = True
            self.send(pack(settings_message(request.code)))

    def send(self, frame: bytes) -> None:
        """Send a frame after those that wait. Frames of one pass of the loop are written together."""
        self._backlog.append(frame)
        self._backlog_size += len(frame)
        if self._sender is not None:
            return
        if self._backlog_size >= SEND_SIZE:
            self._send_backlog()
        elif len(self._backlog) == 1:
            self.loop.call_soon(self._send_backlog)

    def _send_backlog(self) -> None:
        if self._sender is None and self._backlog:
            rest = self.process.send_available(self._take_backlog())
            if rest:
                self._sender = self.loop.create_task(self._send_rest(bytes(rest)))

    def _take_backlog(self) -> bytes:
        frames = b"".join(self._backlog)
        self._backlog.clear()
        self._backlog_size = 0
        return frames

    async def _send_rest(self, rest: bytes) -> None:
        try:
            while rest:
                await self.process.send_frame(rest)
                rest = self._take_backlog()
        except WorkerLost:
            self._end_later(None)
        finally:
            self._sender = None

    def learn(self, request: HandlerRequest, message: Message) -> None:
        """Note what an answer reports about the handler's files and the state of the worker."""
        files = message.get("files")
        if isinstance(files, list):
            self._contents.learn(request.code, map(str, files))
        if "result" in message and message.get("phase") != "load":
            self._loaded.add(request.handler_name)
        if message.get("dirty") or message.get("worn"):
            self.is_retired = True

    def take_news(self) -> tuple[PrintedOutput, tuple[str, ...]]:
        """Return output and notes on errors from outside running handlers, for the next result."""
        self.has_news = False
        late = tuple(" ".join(late_note(one)) for one in self.process.take_late_events())
        printed = self.process.take_output()
        return printed, late if printed is NOTHING_PRINTED else (*late, *printed.notes, UNKNOWN_OUTPUT_NOTE)

    def _on_news(self) -> None:
        """Deliver the messages that have arrived."""
        self.has_news = self.process.has_late_events or self.process.has_output
        try:
            while (message := self.process.take_received()) is not None:
                self._deliver(message)
        except WorkerLost as lost:
            self._end_later(lost)
        if self.process.line_is_closed:
            self._end_later(None)

    def _deliver(self, message: Message) -> None:
        number = str(message.get("id"))
        load = self._loads.get(number)
        if load is not None:
            if not load.done():
                load.set_result(message)
            return
        run = self._runs.get(number)
        if run is not None and run.context.run(run.on_message, message):
            self._forget(run)

    def _forget(self, run: _OpenRun) -> None:
        self._runs.pop(run.id, None)
        if not run.done.done():
            run.done.set_result(None)
        if self.is_retired and not self._runs and not self._loads:
            self._end_later(WorkerLost("was replaced", by_host=True))

    def end_for(self, run: _OpenRun, failure: Failure) -> None:
        """End the worker because the handler of this run does not end. Report the timeout."""
        if run.is_cancelled:
            name, why = "a cancelled handler", "did not end"
        else:
            name, why = run.batch.remaining[0].name, failure.message
            run.context.run(run.batch.finish, run.batch.result_without_answer("timeout", failure))
        self._forget(run)
        self._end_later(WorkerLost(f"was stopped because {name} {why}"))

    def _end_later(self, lost: WorkerLost | None) -> None:
        if self._ending is None:
            self._ending = self.loop.create_task(self._end(lost))

    async def end(self) -> None:
        """End the process with all its runs and loads."""
        if self.loop is not asyncio.get_running_loop():  # tasks of an ended loop cannot be awaited
            await self._kill()
            return
        self._end_later(WorkerLost("was ended", by_host=True))
        assert self._ending is not None
        await wait_until_done(self._ending, lambda: None)

    async def _end(self, lost: WorkerLost | None) -> None:
        if lost is None:
            lost = await self._find_loss()
        await self._kill()
        for load in self._loads.values():
            if not load.done():
                load.set_exception(lost)
        runs = [run for run in self._runs.values() if not run.is_cancelled]
        begun = [run for run in runs if run.batch.phase == "run"] or runs[:1]
        for run in self._runs.values():
            run.stop_watching()
            if run in begun:
                run.context.run(self._report_lost, run, lost, is_only=len(begun) == 1)
            if not run.done.done():
                run.done.set_result(None)
        self._runs.clear()

    async def _find_loss(self) -> WorkerLost:
        try:
            while True:
                await self.process.receive()
        except WorkerLost as lost:
            return lost

    def _report_lost(self, run: _OpenRun, lost: WorkerLost, *, is_only: bool) -> None:
        batch = run.batch
        if lost.by_host:
            batch.finish(batch.result_without_answer("cancelled", WORKER_ENDED))
            return
        text = f"{lost.text} before it answered"
        if not is_only or lost.text.startswith("was stopped"):
            text = f"ended with its shared worker, which {lost.text}"
        failure = Failure("Crashed", text, phase=batch.phase)
        printed, notes = self.take_news()
        result = batch.result_without_answer("crashed", failure)
        batch.finish(replace(result, stdout=printed.stdout, stderr=printed.stderr, notes=notes))

    async def _kill(self) -> None:
        await self.process.end()
        if may_still_run(self.process.mark, self.process.pid):
            await asyncio.to_thread(kill_marked, self.process.mark)


class SharedWorkerExecutor:
    """Runs the handlers of all events concurrently in one worker, started for the first call. See Executor.

    If the worker dies, the next call starts another one, which also runs the calls that had not started.
    """

    def __init__(self, make: Callable[[], WorkerProcess], limits: Limits) -> None:
        self._make = make
        self._limits = limits
        self._contents = ContentNames()
        self._requests = RequestCache(self._contents, code_of)
        self._worker: SharedWorker | None = None
        self._starting: asyncio.Task[SharedWorker] | None = None
        self._retired: list[SharedWorker] = []
        self._closed = False

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Executor.run. Every call's target is a Code; the handlers' changes are applied to the view."""
        work, tries, left = Batch(tuple(batch), view, step), 0, len(batch)
        loop = asyncio.get_running_loop()
        while work.remaining:
            worker = self._worker
            if self._closed or worker is None or worker.loop is not loop or not worker.is_usable:
                try:
                    worker = await self._ready_worker()
                except WorkerNotStarted as missing:
                    for result in not_started_results(work.remaining, missing):
                        step(result)
                    return
            run = worker.start(work, self._requests_for(work.remaining))
            try:
                await run.done
            except asyncio.CancelledError:
                worker.cancel(run)
                raise
            tries = tries + 1 if len(work.remaining) == left else 0
            left = len(work.remaining)
            if tries == MOST_TRIES and work.remaining:
                failure = Failure("Crashed", "its worker ended twice before the call started", phase="load")
                work.begin(work.remaining[0])
                work.finish(work.result_without_answer("crashed", failure))

    def _requests_for(self, calls: Sequence[Registration]) -> list[HandlerRequest]:
        shared = self._contents.shared_name()
        return [self._requests.request_for(call, shared) for call in calls]

    async def run_one_by_one(self, calls: Sequence[Registration], views: Iterator[Any], step: OnStep) -> None:
        for view, call in zip(views, calls, strict=False):  # an ended event has fewer views
            await self.run((call,), view, step)

    async def run_together(self, calls: Sequence[tuple[Registration, Any]], step: OnStep) -> None:
        async with asyncio.TaskGroup() as tasks:
            for call, view in calls:
                tasks.create_task(self.run((call,), view, step))

    async def load(self, code: Code) -> Code | Module | Failure:
        code = with_digest(code)
        shared = self._contents.shared_name()
        request = HandlerRequest(code, self._contents.name_of(code, shared), shared)
        try:
            worker = await self._ready_worker()
            message = await worker.load(request)
        except WorkerNotStarted as missing:
            return missing.failure
        except WorkerLost as lost:
            return Failure("Crashed", f"{lost.text} while it was loaded", phase="load")
        except TimeoutError:
            return limit_failure(self._limits, "load")
        worker.learn(request, message)
        if message.get("error") is not None:
            return failure_in_answer(message["error"], "load")
        if code.shape not in DECLARING_SHAPES:
            return code
        try:
            return module_from(message.get("module"), member_targets(code))
        except MALFORMED_ERRORS:
            return Failure("Crashed", INVALID_MODULE, phase="load")

    async def _ready_worker(self) -> SharedWorker:
        """Return a worker that is read in the running loop. Raises WorkerNotStarted."""
        loop = asyncio.get_running_loop()
        while not self._closed:
            worker = self._worker
            if worker is not None and worker.loop is not loop:  # its loop has ended
                self._worker = worker = SharedWorker(worker.process, self._limits, self._contents)
            if worker is not None and worker.is_usable:
                return worker
            if self._starting is None or self._starting.get_loop() is not loop:
                self._starting = loop.create_task(self._start())
            try:
                await asyncio.shield(self._starting)
            finally:
                if self._starting is not None and self._starting.done():
                    self._starting = None
        raise WorkerNotStarted(Failure("NotStarted", "this executor is closed", phase="spawn"))

    async def _start(self) -> SharedWorker:
        if self._worker is not None:
            self._retired = [one for one in (*self._retired, self._worker) if one.process.is_alive]
        process = await start_worker(self._make, self._limits)
        assert isinstance(process, WorkerProcess)
        self._worker = SharedWorker(process, self._limits, self._contents)
        return self._worker

    @property
    def late_count(self) -> int:
        return len(self._worker.process.late_handlers) if self._worker is not None else 0

    def late_of(self, code: Code) -> tuple[Declared, ...]:
        if self._worker is None:
            return ()
        code = with_digest(code)
        name = self._contents.name_of(code, self._contents.shared_name())
        return late_handlers(self._worker.process, code, name)

    async def close(self) -> None:
        """End all workers, even one that is still starting, and start no more."""
        self._closed = True
        if self._starting is not None and self._starting.get_loop() is asyncio.get_running_loop():
            self._starting.cancel()
            await asyncio.wait({self._starting})
        for worker in (*self._retired, *((self._worker,) if self._worker is not None else ())):
            await worker.end()
        self._retired, self._worker = [], None


def shared_node_executor(
    *, env: Mapping[str, str], cwd: Path, node: str, limits: Limits
) -> SharedWorkerExecutor:
    """Return an executor for TypeScript and JavaScript that runs the handlers of all events concurrently."""
    return SharedWorkerExecutor(partial(WorkerProcess, node_program(env=env, cwd=cwd, node=node)), limits)

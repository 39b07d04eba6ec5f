"""A worker slot: holds a worker, runs calls in it, and reports a result for each call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from secrets import token_hex

from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.run import Code, Module, Result, Status
from hookscope.runtime.async_helpers import await_uninterrupted
from hookscope.runtime.background_work import (
    NO_BACKGROUND_WORK,
    BackgroundWork,
    LateListener,
    WaitTime,
    WorkerLeftovers,
    late_note,
    printed_on_one_line,
    still_running,
)
from hookscope.runtime.batch import (
    INVALID_MODULE,
    NOTHING_PRINTED,
    PLAIN_ANSWER_KEYS,
    UNEXPECTED_ANSWER,
    Batch,
    LateEvent,
    LimitExceeded,
    MemoryExceeded,
    PrintedOutput,
    WorkerHandle,
    WorkerLost,
    failure_in_answer,
    seconds_in,
    time_limit,
    timed_out_result,
)
from hookscope.runtime.failures import CANCELLED, WORKER_ENDED, FaultCounter, Phase, frames_in_dump, has_dump
from hookscope.runtime.handler_code import (
    DECLARING_SHAPES,
    ContentNames,
    HandlerRequest,
    RequestNumbers,
    member_targets,
    module_from,
    settings_message,
)
from hookscope.runtime.limits import Limits
from hookscope.runtime.orphan_processes import kill_marked, may_still_run
from hookscope.runtime.python_worker.protocol import Message
from hookscope.runtime.worker_calls import MIXED_OUTPUT_NOTE, ConcurrentCalls, SequentialCalls
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class ExecutorState:
    """The state that all slots of an executor share."""

    limits: Limits
    fault_counter: FaultCounter
    contents: ContentNames
    pending_notes: list[str]  # since the last result, reported with the next one
    on_late: Callable[[str, str], None] | None = None  # receives late output and errors between batches
    dump_signal: int = 0  # makes a worker of this language print its stack; 0: no signal does

    def learn_files(self, code: Code, message: Message) -> None:
        """Note the files outside the handler's folder that its import has read."""
        files = message.get("files")
        if isinstance(files, list):
            self.contents.learn(code, map(str, files))


class ResultReporter:
    """Builds the Result of an ended call and passes it to the batch."""

    def __init__(self, state: ExecutorState, leftovers: WorkerLeftovers) -> None:
        self.left_running: HandlerRequest | None = (
            None  # whose handler left something running in the current worker
        )
        self._state = state
        self._leftovers = leftovers

    def report_answer(
        self,
        worker: WorkerHandle,
        batch: Batch,
        request: HandlerRequest,
        message: Message,
        limits: Limits | None,
    ) -> None:
        """Report the result in a message. `limits`: the call's limits, if it had exceeded one."""
        if limits is None and message.keys() <= PLAIN_ANSWER_KEYS:  # nearly always
            took = seconds_in(message, "took", 0.0)
            if not self._has_notes(worker, batch, took):
                batch.finish_plain(took, message.get("returned"))
                return
        self._state.learn_files(request.code, message)
        result = batch.result_from_answer(message)
        if limits is not None:
            result = timed_out_result(result, limits)
        shared, printed = message.get("shared") is True, message.get("printed") is True
        self.report_end(worker, batch, result, shared=shared, answered=True, printed=printed)
        if message.get("left"):
            self._leftovers.add_running(result.call.name, str(message["left"]))
            self._state.fault_counter.note_left_running(request.code, request.name)
            self.left_running = request

    def _has_notes(self, worker: WorkerHandle, batch: Batch, took: float) -> bool:
        """Return whether there is a note to report with the result of a handler that only returned."""
        leftovers = self._leftovers
        leftovers.last_hook = batch.remaining[0].name
        leftovers.clear_running()
        return bool(
            self._state.pending_notes
            or batch.notes
            or batch.mixed_output_note
            or worker.has_late_events
            or leftovers.may_have_escaped(len(batch.remaining) > 1, took)
        )

    def report_end(
        self,
        worker: WorkerHandle,
        batch: Batch,
        result: Result,
        *,
        shared: bool = True,
        answered: bool = False,
        printed: bool = True,
        blamed: bool = True,
    ) -> None:
        """Report a result, with its output and with late events of earlier calls.

        `shared`: leftovers of earlier handlers may have printed too. `answered`: the worker continues, and
        its later output belongs to other calls. `printed`: the handler may have printed. `blamed`: a timeout
        or crash counts as this handler's fault.
        """
        output = worker.take_output(of_one=answered) if printed else NOTHING_PRINTED
        if not shared:
            self._leftovers.clear_running()
        leftovers, late = self._leftovers, worker.take_late_events()
        escaped = (
            leftovers.escape_notes(worker, len(batch.remaining) > 1) if answered else leftovers.ended_notes()
        )
        leftovers.last_hook = result.call.name
        if (
            output is NOTHING_PRINTED
            and result.status == "ok"
            and not (
                result.notes or batch.notes or batch.is_dirty or late or escaped or self._state.pending_notes
            )
        ):  # nearly always
            batch.finish(result)
            return
        batch.finish(self._with_notes(batch, result, output, late, escaped, blamed))

    def _with_notes(
        self,
        batch: Batch,
        result: Result,
        output: PrintedOutput,
        late: tuple[LateEvent, ...],
        escaped: tuple[str, ...],
        blamed: bool,
    ) -> Result:
        """Return the result with its output and all pending notes, and clear the notes."""
        has_printed = bool(output.stdout or output.stderr)
        notes = (
            *self._state.pending_notes,
            *batch.notes,
            *result.notes,
            *(" ".join(late_note(one)) for one in late),
            *escaped,
            *(self._leftovers.suspect_notes() if result.error is not None else ()),
            *(self._leftovers.mixed_output_notes() if has_printed else ()),
            *((batch.mixed_output_note,) if batch.mixed_output_note and has_printed else ()),
            *output.notes,
        )
        self._state.pending_notes.clear()
        batch.notes = []
        if result.error is not None and not result.error.frames and has_dump(output.stderr):
            result = replace(result, error=replace(result.error, frames=frames_in_dump(output.stderr)))
        blamed = blamed and not self._leftovers.has_running(
            except_hook=result.call.name
        )  # else the leftovers may be the cause
        if batch.is_dirty or (blamed and result.status in ("timeout", "crashed")):
            assert batch.request is not None  # only `cancel_remaining` begins calls without a request
            notes = (*notes, *self.count_fault(batch.request))
        return replace(result, stdout=output.stdout, stderr=output.stderr, notes=notes)

    def count_fault(self, request: HandlerRequest) -> tuple[str, ...]:
        """Count a fault. Return a note if it puts the hook into quarantine."""
        if request.call is not None and request.call.injected_fault is not None:  # the fault is ours
            return ()
        if self._state.fault_counter.add_fault(request.code, request.name):
            return ("this was its third fault within five minutes: it now runs only when fired by hand",)
        return ()


class WorkerSlot:
    """Holds one worker at a time, which the executor assigns.

    A handler that hangs, crashes or makes the worker unusable has a normal result; then the slot is empty.
    """

    def __init__(self, state: ExecutorState, owner: str = "") -> None:
        self.owner = owner  # the hook that alone uses this slot; empty: a shared slot
        self.worker: WorkerHandle | None = None
        self.calls = 0  # batches and loads of the current worker
        self.has_waited = False  # the worker was idle before its first call
        self._has_settings = False  # the current worker has received the host's settings
        self.loaded: set[tuple[Path, str]] = set()  # path and export of handlers in the current worker
        self._state = state
        self._leftovers = WorkerLeftovers()
        self._reporter = ResultReporter(state, self._leftovers)
        self._request_numbers = RequestNumbers()  # of requests that the current worker knows
        self._late_listener = LateListener(self._leftovers)

    def assign(self, worker: WorkerHandle, has_waited: bool) -> None:
        """Put a worker into the slot. `has_waited`: it was started in advance and may have died meanwhile."""
        self.worker, self.calls, self._reporter.left_running = worker, 0, None
        self._late_listener.detach()
        self.has_waited = has_waited
        self._has_settings = False
        self.loaded.clear()
        self._request_numbers = RequestNumbers()
        self._leftovers.reset()

    @property
    def left_running(self) -> HandlerRequest | None:
        """The request whose handler left something running in the current worker."""
        return self._reporter.left_running

    async def end_worker(self) -> None:
        """End the worker and all its processes, even escaped ones. A cancel waits until they have ended."""
        worker, self.worker = self.worker, None
        self._late_listener.detach()
        self.loaded.clear()
        if worker is None:
            return
        if not worker.is_alive:  # it has died, so this awaits nothing
            await worker.end()
            if not self._may_have_orphans(worker):
                return
        await await_uninterrupted(self._end_and_kill(worker))

    async def _end_and_kill(self, worker: WorkerHandle) -> None:
        await worker.end()
        if self._may_have_orphans(worker):
            self._leftovers.set_killed(
                *await asyncio.to_thread(kill_marked, worker.mark, self._leftovers.escaped)
            )

    def _may_have_orphans(self, worker: WorkerHandle) -> bool:
        return bool(self._leftovers.escaped) or may_still_run(worker.mark, worker.pid)

    async def run(self, batch: Batch, requests: Sequence[HandlerRequest]) -> None:
        """Run the batch's next calls while the worker lives. Raises only CancelledError."""
        worker = self.worker
        assert worker is not None
        used, self.calls = bool(self.calls) or self.has_waited, self.calls + 1
        self._collect_late_notes(worker)
        try:
            with worker.listening(outputs=False):
                await self._send_settings(worker, requests[0])
                await self._run_in_sequence(worker, batch, requests)
            if batch.is_dirty or batch.is_worn_out:
                await self.end_worker()
        except (LimitExceeded, MemoryExceeded) as exceeded:
            status: Status = "timeout" if isinstance(exceeded, LimitExceeded) else "crashed"
            await self._end_worker_during(
                worker, [(batch, batch.result_without_answer(status, exceeded.failure))]
            )
        except WorkerLost as lost:
            if lost.by_host:
                has_begun = batch.current is not None
                await self._end_worker_during(
                    worker, [(batch, batch.result_without_answer("cancelled", WORKER_ENDED))] * has_begun
                )
                return
            if used and lost.died and batch.phase == "load":  # it died before: no handler's fault
                self._note_worker_death(lost)
                batch.current = None
                await self.end_worker()
                return
            failure = Failure("Crashed", f"{lost.text} before it answered", phase=batch.phase)
            await self._end_worker_during(worker, [(batch, batch.result_without_answer("crashed", failure))])
        except asyncio.CancelledError:
            if batch.current is None:
                await self.end_worker()
            else:
                await self._end_worker_during(
                    worker, [(batch, batch.result_without_answer("cancelled", CANCELLED))]
                )
            raise

    async def run_together(self, batches: Sequence[Batch], requests: Sequence[HandlerRequest]) -> None:
        """Run calls of one plugin concurrently. Raises only CancelledError.

        Calls that had not started when the worker crashed remain, unless it crashed while loading.
        """
        worker = self.worker
        assert worker is not None
        used, self.calls = bool(self.calls) or self.has_waited, self.calls + 1
        self._collect_late_notes(worker)
        for batch, request in zip(batches, requests, strict=True):
            batch.begin(batch.remaining[0], request)
            batch.mixed_output_note = MIXED_OUTPUT_NOTE if len(batches) > 1 else ""

        def report(number: int, message: Message, asked: Limits | None) -> None:
            self._reporter.report_answer(worker, batches[number], requests[number], message, asked)
            self._note_loaded(requests[number])

        limits = [self._state.limits.for_call(batch.remaining[0]) for batch in batches]
        concurrent = ConcurrentCalls(worker, batches, limits, self._state.dump_signal, report)
        try:
            with worker.listening():
                await self._send_settings(worker, requests[0])
                await concurrent.run(requests)
            if any(batch.is_dirty or batch.is_worn_out for batch in batches):
                await self.end_worker()
        except (LimitExceeded, MemoryExceeded) as exceeded:
            status: Status = "timeout" if isinstance(exceeded, LimitExceeded) else "crashed"
            await self._end_worker_during(worker, concurrent.ended_by(status, exceeded.failure))
        except WorkerLost as lost:
            if lost.by_host:
                unfinished = [batches[number] for number in concurrent.left]
                await self._end_worker_during(
                    worker,
                    [(batch, batch.result_without_answer("cancelled", WORKER_ENDED)) for batch in unfinished],
                )
                return
            if used and lost.died and not concurrent.has_begun:  # it died before: no handler's fault
                self._note_worker_death(lost)
                for batch in batches:
                    batch.current = None
                await self.end_worker()
                return
            phase: Phase = "run" if concurrent.has_begun else "load"
            failure = Failure("Crashed", f"{lost.text} before it answered", phase=phase)
            await self._end_worker_during(worker, concurrent.ended_by("crashed", failure, lost.text))
        except asyncio.CancelledError:
            unfinished = [batches[number] for number in concurrent.left]
            await self._end_worker_during(
                worker, [(batch, batch.result_without_answer("cancelled", CANCELLED)) for batch in unfinished]
            )
            raise

    async def wait_for_background_work(self, wait: WaitTime) -> BackgroundWork:
        """Wait for background work until it ends or the time is up.

        Does not wait if the same content of the handler's files has outlasted such a wait before.
        """
        worker, request, fault_counter = self.worker, self.left_running, self._state.fault_counter
        if worker is None or not self.calls:
            return NO_BACKGROUND_WORK
        known = request is not None and fault_counter.is_lasting(request.code, request.name)
        self._late_listener.cancel_report()
        running = lost = ""
        try:
            with worker.listening():
                running = await still_running(worker, None if request is None or known else wait)
        except WorkerLost as ended:
            lost = "" if ended.by_host else f"ended its worker after it had returned: the worker {ended.text}"
        late = self._leftovers.take_late_notes(worker)
        if lost:
            await self.end_worker()
            return BackgroundWork((*late, (self._leftovers.last_hook or "a handler", lost)))
        if not running:
            self._leftovers.clear_running()
        elif request is not None and not known:
            fault_counter.note_lasting(request.code, request.name)
            return BackgroundWork(tuple(late), ((request.code.root.name, running),))
        return BackgroundWork(tuple(late))

    async def load(self, request: HandlerRequest) -> Code | Module | Failure:
        """Load without running: return code, declarations, or the failure. Raises only CancelledError."""
        worker = self.worker
        assert worker is not None
        self.calls += 1
        self._late_listener.cancel_report()
        try:
            return await self._load(worker, request)
        except LimitExceeded as late:
            await self.end_worker()
            self._reporter.count_fault(request)
            return late.failure
        except WorkerLost as lost:
            await self.end_worker()
            if lost.by_host:
                return replace(WORKER_ENDED, phase="load")
            self._reporter.count_fault(request)
            return Failure("Crashed", f"{lost.text} while it was loaded", phase="load")
        except asyncio.CancelledError:
            await self.end_worker()
            raise

    async def _load(self, worker: WorkerHandle, request: HandlerRequest) -> Code | Module | Failure:
        run, limits = token_hex(8), self._state.limits
        with worker.listening():
            async with time_limit(limits, "load"):
                await self._send_settings(worker, request, again=True)
                await worker.send_message(
                    {"do": "load", "id": run, "code": {**request.document(), "env": dict(request.code.env)}}
                )
                message = await worker.receive()
        if message.get("id") != run or "loaded" not in message:
            raise WorkerLost(UNEXPECTED_ANSWER)
        self._leftovers.last_hook = request.code.root.name
        self._state.learn_files(request.code, message)
        if message.get("dirty"):
            await self.end_worker()
        if message.get("error") is not None:
            return failure_in_answer(message["error"], "load")
        if self.worker is not None:
            self._note_loaded(request)
        if request.code.shape not in DECLARING_SHAPES:
            return request.code
        try:
            module = module_from(message.get("module"), member_targets(request.code))
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
            raise WorkerLost(INVALID_MODULE) from None
        printed = printed_on_one_line(worker)
        if not printed:
            return module
        self._state.pending_notes.append(f"while loading, {self._leftovers.last_hook} printed: {printed}")
        return replace(module, log=(*module.log, LogLine("info", f"printed while loading: {printed}")))

    async def _send_settings(
        self, worker: WorkerHandle, request: HandlerRequest, *, again: bool = False
    ) -> None:
        """Send the host's settings to a plugin's worker, once; `again`: they may have changed."""
        if request.code.shape == "plugin" and (again or not self._has_settings):
            await worker.send_message(settings_message(request.code))
            self._has_settings = True

    async def _end_worker_during(self, worker: WorkerHandle, ends: Iterable[tuple[Batch, Result]]) -> None:
        """End the worker during its calls, and report their results, even if cancelled.

        Only the first call may be blamed for the end.
        """
        try:
            await self.end_worker()
        finally:
            for number, (batch, result) in enumerate(ends):
                self._reporter.report_end(worker, batch, result, blamed=not number)

    def _note_worker_death(self, lost: WorkerLost) -> None:
        after = self._leftovers.last_hook or "the last handler"
        self._state.pending_notes.append(f"the worker {lost.text} after {after}")

    async def _run_in_sequence(
        self, worker: WorkerHandle, batch: Batch, requests: Sequence[HandlerRequest]
    ) -> None:
        """Run the calls until the last one has ended, or one has made the worker unusable for the next."""
        shared = self._state
        await SequentialCalls(
            worker,
            batch,
            requests,
            shared.limits.for_call,
            shared.dump_signal,
            partial(self._reporter.report_answer, worker, batch),
            self._note_loaded,
            self._request_numbers,
        ).run()

    def _note_loaded(self, request: HandlerRequest) -> None:
        self.loaded.add((request.code.path, request.code.export))

    def listen_for_late(self) -> None:
        """Report late output and errors until the next batch."""
        worker, on_late = self.worker, self._state.on_late
        if worker is not None and on_late is not None:
            self._late_listener.attach(worker, on_late)

    def _collect_late_notes(self, worker: WorkerHandle) -> None:
        self._late_listener.cancel_report()
        self._state.pending_notes.extend(
            f"before this, {who} {text}" for who, text in self._leftovers.take_late_notes(worker)
        )

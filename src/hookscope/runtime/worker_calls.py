"""Executing a run message in a worker: calls in sequence, or concurrent calls of one plugin."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from secrets import token_hex
from time import perf_counter

from hookscope.model.failure import Failure
from hookscope.model.payload import Arguments
from hookscope.model.run import Registration, Result, Status
from hookscope.runtime.batch import (
    DUMP_TIMEOUT,
    POLL_INTERVAL,
    STOP_TIMEOUT,
    UNEXPECTED_ANSWER,
    Batch,
    LimitExceeded,
    WorkerHandle,
    WorkerLost,
    check_memory,
    frames_in_answer,
    is_answer,
    limit_failure,
    seconds_in,
    stop_handler,
    time_limit,
)
from hookscope.runtime.failures import Phase
from hookscope.runtime.handler_code import HandlerRequest, RequestNumbers
from hookscope.runtime.limits import Limits
from hookscope.runtime.payloads import is_hook_event
from hookscope.runtime.python_worker.protocol import MAX_BODY, Message, encode, frame_of

QUIET_PERIOD = 0.005  # seconds in which most handlers end; the host reads no output before that
MIXED_OUTPUT_NOTE = "it ran concurrently with other handlers of its plugin: some of its output may be theirs"
MAX_PAYLOADS_SIZE = MAX_BODY - 1024 * 1024  # bytes of all views in one message; the rest is for the calls

_JSON_BOOLEANS = ("false", "true")

OnAnswer = Callable[[HandlerRequest, Message, Limits | None], None]
OnConcurrentAnswer = Callable[[int, Message, Limits | None], None]


class SequentialCalls:
    """Calls that run one after another.

    Answers are processed as they are read. One timer serves all calls: when it rings, the running call is
    checked, and the timer is set again. It is also set again if the limit of a new call ends earlier.
    """

    def __init__(
        self,
        worker: WorkerHandle,
        batch: Batch,
        requests: Sequence[HandlerRequest],
        limits_of: Callable[[Registration], Limits],
        dump: int,
        on_answer: OnAnswer,
        on_loaded: Callable[[HandlerRequest], object],
        numbers: RequestNumbers,
    ) -> None:
        """Prepare the run.

        Args:
            worker: runs the calls.
            batch: the remaining calls, and the event.
            requests: the requests of the remaining calls.
            limits_of: returns a call's limits.
            dump: the signal that makes the worker print its stack; 0: none.
            on_answer: receives each answer; with the call's limits if the host asked the call to end.
            on_loaded: receives each request that the worker has loaded.
            numbers: the requests that the worker knows.
        """
        self._worker = worker
        self._batch = batch
        self._requests = requests
        self._limits_of = limits_of
        self._dump = dump
        self._on_answer = on_answer
        self._on_loaded = on_loaded
        self._id = token_hex(8)
        self._number = 0
        self._limits = limits_of(batch.remaining[0])
        self._has_warned = False
        self._error: Exception | None = None  # found when the timer rang
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = 0.0  # of perf_counter; 0: not set
        self._pause = QUIET_PERIOD  # seconds from one check to the next
        self._numbers = numbers
        self._quiet_until = 0.0  # perf_counter time before which the output is not read

    async def run(self) -> None:
        """Run the calls until the last one has ended, or one has made the worker unusable for the next.

        Raises LimitExceeded, MemoryExceeded, WorkerLost.
        """
        self._next_call()
        self._quiet_until = perf_counter() + QUIET_PERIOD
        rest = self._worker.send_available(self._frame())
        if rest:
            async with time_limit(self._limits, "load"):
                await self._worker.send_frame(rest)
        try:
            while self._number < len(self._requests):
                await self._worker.receive_each(self._on_message, self._start_watching)
                if self._error is not None:
                    raise self._error
                if self._number == len(self._requests):
                    break
                if self._is_overdue():
                    await self._stop_call()
                else:
                    self._watch(POLL_INTERVAL)
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def _frame(self) -> bytes:
        """Return the packed run message. It is built from parts that are encoded once for many batches."""
        view, worker = self._batch.view, self._worker
        hook, arguments = _JSON_BOOLEANS[is_hook_event(view)], _JSON_BOOLEANS[isinstance(view, Arguments)]
        kind = f'"hook":{hook},"arguments":{arguments}'
        quiet = f',"quiet":{self._quiet_until!r}' if worker.shares_clock else ""
        numbers, new = self._numbers.numbers_for(self._requests)
        know = f',"know":[{new}]' if new else ""
        return frame_of(
            f'{{"do":"run","id":"{self._id}","fence":{encode(worker.fence)},{kind}{quiet}{know},'
            f'"calls":[{numbers}],"view":{self._batch.packed_json()}}}'
        )

    def _next_call(self) -> None:
        """Note that the next call starts to load or to run."""
        batch = self._batch
        self._limits, self._has_warned = self._limits_of(batch.remaining[0]), False
        batch.begin(batch.remaining[0], self._requests[self._number])

    def _on_message(self, message: Message) -> bool:
        """Process a message. Return True after the last one. Raises WorkerLost."""
        batch = self._batch
        if batch.phase == "load" and is_answer(message, self._id, "started", self._number):
            loaded = seconds_in(message, "loaded")
            batch.mark_started(loaded, 0.0 if loaded else batch.started)
            self._on_loaded(self._requests[self._number])
            self._watch_earlier()
            return False
        return self._end_call(message, None)

    def _end_call(self, message: Message, limits: Limits | None) -> bool:
        """Process the answer that ends a call. Return True after the last one. Raises WorkerLost."""
        batch = self._batch
        number = message.get("result")
        if message.get("id") == self._id and isinstance(number, int) and 0 <= number < self._number:
            batch.request = forger = self._requests[number]  # the fault is its handler's
            raise WorkerLost(
                f"answered twice for {forger.code.root.name} (results of this run may be forged)"
            )
        if message.get("id") != self._id or number != self._number:
            raise WorkerLost(UNEXPECTED_ANSWER)
        self._on_answer(self._requests[self._number], message, limits)
        self._number += 1
        if batch.is_dirty or batch.is_worn_out or message.get("apart") is True:
            self._number = len(self._requests)
        if self._number == len(self._requests):
            return True
        ended, before = batch.started, self._limits
        self._next_call()
        if message.get("next") is True:
            batch.mark_started(0.0, ended + seconds_in(message, "took", 0.0))
        if self._limits is not before or batch.phase == "load":  # else its limit ends later
            self._watch_earlier()
        return False

    def _deadline(self) -> float | None:
        """Return the perf_counter time at which the running call exceeds its limit."""
        limits, batch = self._limits, self._batch
        seconds = limits.load if batch.phase == "load" else limits.run
        return None if seconds is None else batch.started + seconds

    def _is_overdue(self) -> bool:
        deadline = self._deadline()
        return deadline is not None and perf_counter() >= deadline

    def _warns_at(self) -> float | None:
        """Return when to report that the call is slow; None if that is done or does not apply."""
        warn, run = self._limits.warn, self._limits.run
        if warn is None or self._has_warned or self._batch.phase == "load":
            return None
        return None if run is not None and warn >= run else self._batch.started + warn

    def _start_watching(self) -> None:
        """Set the timer, because the answers did not arrive at once."""
        if self._timer is None:
            self._watch(QUIET_PERIOD)

    def _watch(self, seconds: float) -> None:
        """Let the timer ring at the next deadline, after `seconds` at the latest."""
        now = perf_counter()
        moments = (now + seconds, self._deadline(), self._warns_at())
        self._rings_at = min(moment for moment in moments if moment is not None)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._rings_at - now, self._on_timer)

    def _watch_earlier(self) -> None:
        """Set the timer again if the current limit ends before it would ring."""
        limits = self._limits
        shortest = limits.load if self._batch.phase == "load" else limits.run
        if limits.warn is not None and (shortest is None or limits.warn < shortest):
            shortest = limits.warn
        if shortest is not None and self._batch.started + shortest < self._rings_at:
            self._watch(POLL_INTERVAL)

    def _on_timer(self) -> None:
        """Check the running call, and read its output from now on."""
        has_read = self._worker.read_available()
        if self._number == len(self._requests):
            return
        now = perf_counter()
        if now >= self._quiet_until:
            self._worker.read_outputs()
        try:
            warns_at = self._warns_at()
            if warns_at is not None and now >= warns_at:
                self._has_warned = True
                self._batch.report_slow(self._limits.warn or 0.0, self._limits.run)
            if self._batch.phase == "run":
                check_memory(self._worker, self._limits)
        except Exception as error:  # MemoryExceeded, or raised by a listener: `run` raises it
            self._error = error
        if self._error is not None or self._is_overdue():
            self._worker.stop_receiving()
        else:
            # Answers that do not ring the bell may follow: check again, less and less often.
            self._pause = QUIET_PERIOD if has_read else min(2 * self._pause, POLL_INTERVAL)
            self._watch(self._pause)

    async def _stop_call(self) -> None:
        """Ask a handler over its limit to end. Raises LimitExceeded if it does not, or is still loading."""
        if self._batch.phase == "load":
            raise LimitExceeded(limit_failure(self._limits, "load"))
        message = await stop_handler(self._worker, self._id, self._number, self._limits, self._dump)
        if not self._end_call(message, self._limits):
            self._watch(POLL_INTERVAL)


class ConcurrentCalls:
    """Calls of one plugin that run at the same time. Each has a batch of its own."""

    def __init__(
        self,
        worker: WorkerHandle,
        batches: Sequence[Batch],
        limits: Sequence[Limits],
        dump: int,
        on_answer: OnConcurrentAnswer,
    ) -> None:
        """`on_answer` receives each answer; with the call's limits if the host asked the call to end."""
        self.has_begun = False  # a call has started, or could not be loaded
        self._id = token_hex(8)
        self._culprit: int | None = None  # the call whose limit was exceeded when `run` raised LimitExceeded
        self._worker = worker
        self._batches = batches
        self._limits = limits
        self._dump = dump
        self._on_answer = on_answer
        self._left = set(range(len(batches)))
        self._warned: set[int] = set()
        self._sent_at = 0.0  # of perf_counter

    @property
    def left(self) -> list[int]:
        """The numbers of the calls that have not ended."""
        return sorted(self._left)

    async def run(self, requests: Sequence[HandlerRequest]) -> None:
        """Run the calls. Raises LimitExceeded, MemoryExceeded, WorkerLost."""
        self._sent_at = perf_counter()
        async with time_limit(self._limits[0], "load"):
            await self._worker.send_message(self._message(requests))
        while self._left:
            message = self._worker.take_received()
            if message is None:
                message = await self._receive()
            if message is not None:
                self._on_message(message)

    def _message(self, requests: Sequence[HandlerRequest]) -> Message:
        view = self._batches[0].view
        return {
            "do": "run",
            "id": self._id,
            "fence": self._worker.fence,
            "together": True,
            "views": [batch.document for batch in self._batches],
            "hook": is_hook_event(view),
            "arguments": isinstance(view, Arguments),
            "calls": [request.call_document() for request in requests],
        }

    async def _receive(self) -> Message | None:
        """Return the next message; None if it is time to check the limits first."""
        now = perf_counter()
        for number, moment in self._deadlines():
            if now >= moment:
                await self._stop_call(number)
                return None
        due = [moment - now for _, moment in (*self._deadlines(), *self._warnings())]
        try:
            async with asyncio.timeout(max(min([*due, POLL_INTERVAL]), 0)):
                return await self._worker.receive()
        except TimeoutError:
            pass
        now = perf_counter()
        for number, moment in self._warnings():
            if now >= moment:
                self._warned.add(number)
                limits = self._limits[number]
                self._batches[number].report_slow(limits.warn or 0.0, limits.run)
        check_memory(self._worker, self._limits[0])
        return None

    def _running(self) -> list[int]:
        """Return the numbers of the calls that have started and not ended."""
        return [number for number in self.left if self._batches[number].phase == "run"]

    def _deadlines(self) -> list[tuple[int, float]]:
        """Return (call, when its limit ends) for running calls; until one starts, for the loading call."""
        if not self.has_begun:
            load = self._limits[0].load
            return [] if load is None else [(min(self._left), self._sent_at + load)]
        limits = [(number, self._limits[number].run) for number in self._running()]
        return [(number, self._batches[number].started + run) for number, run in limits if run is not None]

    def _warnings(self) -> list[tuple[int, float]]:
        """Return (call, when to report that it is slow) for running calls without such a report."""
        waiting = [number for number in self._running() if number not in self._warned]
        facts = [(number, self._limits[number].warn, self._limits[number].run) for number in waiting]
        return [
            (number, self._batches[number].started + warn)
            for number, warn, run in facts
            if warn is not None and (run is None or warn < run)
        ]

    def _on_message(self, message: Message, stopped: int | None = None) -> None:
        """Process the start or end of a call. `stopped`: a call that was asked to end. Raises WorkerLost."""
        started, ended = message.get("started"), message.get("result")
        number = started if ended is None else ended
        if message.get("id") != self._id or not isinstance(number, int) or number not in self._left:
            raise WorkerLost(UNEXPECTED_ANSWER)
        self.has_begun = True
        if ended is None:
            self._batches[number].mark_started(seconds_in(message, "loaded"))
            return
        self._on_answer(number, message, self._limits[number] if number == stopped else None)
        self._left.discard(number)

    async def _stop_call(self, number: int) -> None:
        """Ask a handler over its limit to end. Raises LimitExceeded if it does not, or is still loading."""
        self._culprit = number
        limits = self._limits[number]
        if not self.has_begun:
            raise LimitExceeded(limit_failure(limits, "load"))
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await self._worker.send_urgent({"do": "stack", "id": self._id, "call": number})
                while number in self._left:
                    message = await self._worker.receive()
                    if message.get("id") == self._id and "stack" in message:
                        frames = frames_in_answer(message, self._id)
                        raise LimitExceeded(limit_failure(limits, "run", frames))
                    self._on_message(message, number)
        except TimeoutError:
            if self._dump:  # no code of the worker can run: let the system print its stack
                self._worker.signal(self._dump)
                await asyncio.sleep(DUMP_TIMEOUT)
            raise LimitExceeded(limit_failure(limits, "run")) from None
        self._culprit = None

    def ended_by(self, status: Status, failure: Failure, why: str = "") -> Iterator[tuple[Batch, Result]]:
        """Return the results of the calls that end with the worker; first that of the cause, if it is known.

        Durations are measured when the iterator runs, after the end of the worker.

        Args:
            status: the status of the causing call.
            failure: the failure of the causing call.
            why: completes the message of the other calls: "ended with its plugin's worker, which …".
        """
        ending = self._running() if self.has_begun else self.left
        culprit = self._culprit
        if culprit is None and (len(ending) == 1 or not self.has_begun):
            culprit = ending[0]
        if culprit is not None and not why:
            name = self._batches[culprit].remaining[0].name
            why = f"was stopped because {name} {failure.message.removesuffix(' and was stopped')}"
        bystander = _bystander_failure(why or failure.message, failure.phase)
        how: dict[int, tuple[Status, Failure]] = dict.fromkeys(ending, ("crashed", bystander))
        if status == "timeout" and self.has_begun:
            now = perf_counter()
            overdue = [number for number, moment in self._deadlines() if now >= moment]
            how |= {number: (status, limit_failure(self._limits[number], "run")) for number in overdue}
        how |= {culprit: (status, failure)} if culprit is not None else {}
        culprit_first = sorted(how, key=lambda number: number != culprit)
        ends = ((self._batches[number], *how[number]) for number in culprit_first)
        return ((batch, batch.result_without_answer(status, failure)) for batch, status, failure in ends)


def count_fitting(batches: Sequence[Batch]) -> int:
    """Return how many of the calls fit into one message with their views; at least one."""
    size = 0
    for number, batch in enumerate(batches):
        size += len(encode(batch.document)) if len(batches) > 1 else 0
        if number and size > MAX_PAYLOADS_SIZE:
            return number
    return len(batches)


def _bystander_failure(why: str, phase: Phase) -> Failure:
    """Return the failure of a call that ended with its worker; `why`: what happened to the worker."""
    return Failure("Crashed", f"ended with its plugin's worker, which {why}", phase=phase)

"""Calls that run one after another in a worker: the run message, its answers, and late handlers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from secrets import token_hex
from time import perf_counter

from hookscope.model.payload import Arguments
from hookscope.model.run import Registration
from hookscope.runtime.async_helpers import ReusableTimer
from hookscope.runtime.batch import (
    POLL_INTERVAL,
    Batch,
    LimitExceeded,
    check_memory,
    is_answer,
    limit_failure,
    seconds_in,
    stop_handler,
    time_limit,
)
from hookscope.runtime.handler_code import HandlerRequest, RequestNumbers
from hookscope.runtime.limits import Limits
from hookscope.runtime.payloads import is_hook_event
from hookscope.runtime.python_worker.protocol import Message, encode, frame_of
from hookscope.runtime.worker_handle import WorkerHandle, WorkerLost

QUIET_PERIOD = 0.005  # seconds in which most handlers have ended: so long nobody reads what they print

_JSON_BOOLEANS = ("false", "true")

OnAnswer = Callable[[HandlerRequest, Message, Limits | None], None]


class SequentialCalls:
    """One run message, from its sending to its last answer.

    Answers are taken where they are read. One alarm watches over all calls: it looks at what runs when it
    rings, and is set anew then, or where the limit of a call comes before it.
    """

    def __init__(
        self,
        worker: WorkerHandle,
        course: Batch,
        orders: Sequence[HandlerRequest],
        limits_of: Callable[[Registration], Limits],
        dump: int,
        take: OnAnswer,
        begun: Callable[[HandlerRequest], object],
        alarm: ReusableTimer,
        numbers: RequestNumbers,
    ) -> None:
        """`take` reports an answer; with its limits where the call ended because it was asked to. `begun`
        hears whose call the worker has loaded. `numbers`: what this worker knows."""
        self._worker = worker
        self._course = course
        self._orders = orders
        self._limits_of = limits_of
        self._dump = dump
        self._take = take
        self._begun = begun
        self._id = token_hex(8)
        self._number = 0
        self._limits = limits_of(course.left[0])
        self._warned = False
        self._error: Exception | None = None  # found when the timer rang
        self._alarm = alarm
        self._rings = 0.0  # when it does, of perf_counter; 0: it is not set yet
        self._pause = QUIET_PERIOD  # seconds from one look to the next
        self._numbers = numbers
        self._quiet = 0.0  # of perf_counter: before then nobody reads what is printed

    async def talk(self) -> None:
        """Go through the orders, until the last or until one spoils the worker.

        Raises Overran, TooLarge, WorkerLost.
        """
        self._enter()
        self._quiet = perf_counter() + QUIET_PERIOD
        frame = self._frame()
        left = self._worker.send_now(frame)
        if left:
            async with time_limit(self._limits, "load"):
                await self._worker.send(left)
        try:
            while self._number < len(self._orders):
                await self._worker.converse(self._hear, self._wait)
                if self._error is not None:
                    raise self._error
                if self._number == len(self._orders):
                    break
                if self._overdue():
                    await self._stop()
                else:
                    self._watch(POLL_INTERVAL)
        finally:
            if self._rings:
                self._alarm.still()

    def _frame(self) -> bytes:
        """The run message. What is the same in every batch was packed before, or told before."""
        view, worker = self._course.view, self._worker
        hook, arguments = _JSON_BOOLEANS[is_hook_event(view)], _JSON_BOOLEANS[isinstance(view, Arguments)]
        kind = f'"hook":{hook},"arguments":{arguments}'
        quiet = f',"quiet":{self._quiet!r}' if worker.keeps_time else ""
        numbers, new = self._numbers.of(self._orders)
        know = f',"know":[{new}]' if new else ""
        return frame_of(
            f'{{"do":"run","id":"{self._id}","fence":{encode(worker.fence)},{kind}{quiet}{know},'
            f'"calls":[{numbers}],"view":{self._course.packed()}}}'
        )

    def _enter(self) -> None:
        """The next call begins, or is loaded."""
        course = self._course
        self._limits, self._warned = self._limits_of(course.left[0]), False
        course.begin(course.left[0], self._orders[self._number])

    def _hear(self, message: Message) -> bool:
        """Take an answer: was it the last? Raises WorkerLost."""
        order = self._orders[self._number]
        if self._course.phase == "load" and is_answer(message, self._id, "started", self._number):
            loaded = seconds_in(message, "loaded")
            self._course.start(loaded, 0.0 if loaded else self._course.started)
            self._begun(order)
            self._hurry()
            return False
        return self._end(message, None)

    def _end(self, message: Message, asked: Limits | None) -> bool:
        """Take the answer that ends a call: was it the last? Raises WorkerLost."""
        course = self._course
        if message.get("id") != self._id or message.get("result") != self._number:
            raise WorkerLost("answered what nobody had asked")
        self._take(self._orders[self._number], message, asked)
        self._number += 1
        if course.spoilt or course.worn or message.get("apart") is True:
            self._number = len(self._orders)
        if self._number == len(self._orders):
            return True
        ended, before = course.started, self._limits
        self._enter()
        if message.get("next") is True:
            course.start(0.0, ended + seconds_in(message, "took", 0.0))
        if self._limits is not before or course.phase == "load":  # else its limit is over later
            self._hurry()
        return False

    def _due(self) -> float | None:
        """When the limit of what is going on is over, of perf_counter."""
        limits, course = self._limits, self._course
        seconds = limits.load if course.phase == "load" else limits.run
        return None if seconds is None else course.started + seconds

    def _overdue(self) -> bool:
        due = self._due()
        return due is not None and perf_counter() >= due

    def _slow_at(self) -> float | None:
        """When it is to be said that the call takes long; None where it was said, or is no use."""
        warn, run = self._limits.warn, self._limits.run
        if warn is None or self._warned or self._course.phase == "load" or (run is not None and warn >= run):
            return None
        return self._course.started + warn

    def _wait(self) -> None:
        """Not all was answered at a glance: from now on somebody has to watch."""
        if not self._rings:
            self._watch(QUIET_PERIOD)

    def _watch(self, most: float) -> None:
        """Let the timer ring when something is due, after `most` seconds at the latest."""
        now = perf_counter()
        due, slow_at = self._due(), self._slow_at()
        self._rings = now + most
        if due is not None and due < self._rings:
            self._rings = due
        if slow_at is not None and slow_at < self._rings:
            self._rings = slow_at
        self._alarm.set(self._rings - now, self._ring)

    def _hurry(self) -> None:
        """Another call, another limit: it may come before the timer would ring."""
        limits = self._limits
        shortest = limits.load if self._course.phase == "load" else limits.run
        if limits.warn is not None and (shortest is None or limits.warn < shortest):
            shortest = limits.warn
        if shortest is not None and self._course.started + shortest < self._rings:
            self._watch(POLL_INTERVAL)

    def _ring(self) -> None:
        """Look at what runs, and at what it prints from now on."""
        said = self._worker.look()
        if self._number == len(self._orders):
            return
        if perf_counter() >= self._quiet:
            self._worker.hear_outputs()
        try:
            slow, now = self._slow_at(), perf_counter()
            if slow is not None and now >= slow:
                self._warned = True
                self._course.slow(self._limits.warn or 0.0, self._limits.run)
            if self._course.phase == "run":
                check_memory(self._worker, self._limits)
        except Exception as error:  # TooLarge; or of who hears the steps: it is raised where they wait
            self._error = error
        if self._error is not None or self._overdue():
            self._worker.interrupt()
        else:
            # More of what can wait may follow, or the first of it: it is looked for less and less often.
            self._pause = QUIET_PERIOD if said else min(2 * self._pause, POLL_INTERVAL)
            self._watch(self._pause)

    async def _stop(self) -> None:
        """Ask a handler over its limit to end. Raises Overran where it goes on, or does not load."""
        if self._course.phase == "load":
            raise LimitExceeded(limit_failure(self._limits, "load"))
        message = await stop_handler(self._worker, self._id, self._number, self._limits, self._dump)
        if not self._end(message, self._limits):
            self._watch(POLL_INTERVAL)

"""Calls of one plugin that run at the same time in its worker.

which have started, and which exceed their limit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from secrets import token_hex
from time import perf_counter

from hookscope.model.failure import Failure
from hookscope.model.payload import Arguments
from hookscope.model.run import Result, Status
from hookscope.runtime.batch import (
    DUMP_TIMEOUT,
    POLL_INTERVAL,
    STOP_TIMEOUT,
    Batch,
    LimitExceeded,
    check_memory,
    frames_in_answer,
    limit_failure,
    seconds_in,
    time_limit,
)
from hookscope.runtime.failures import Phase
from hookscope.runtime.handler_code import HandlerRequest
from hookscope.runtime.limits import Limits
from hookscope.runtime.payloads import is_hook_event
from hookscope.runtime.python_worker.protocol import MAX_BODY, Message, encode
from hookscope.runtime.worker_handle import WorkerHandle, WorkerLost

MIXED_OUTPUT_NOTE = "it ran beside other handlers of its plugin: some of what it printed may be theirs"
MAX_PAYLOADS_SIZE = (
    MAX_BODY - 1024 * 1024
)  # bytes for the views of one message; the rest is for what says whom to call

OnCallAnswer = Callable[[int, Message, Limits | None], None]


class ConcurrentCalls:
    """One run message, from its sending to its last answer. Each call has a course of its own."""

    def __init__(
        self,
        worker: WorkerHandle,
        courses: Sequence[Batch],
        limits: Sequence[Limits],
        dump: int,
        take: OnCallAnswer,
    ) -> None:
        """`take` reports the answer of a call; with its limits where it ended because it was asked to."""
        self.id = token_hex(8)
        self.culprit: int | None = None  # whose limit was over, when `talk` raised Overran
        self._worker = worker
        self._courses = courses
        self.limits = limits
        self._dump = dump
        self._take = take
        self._left = set(range(len(courses)))
        self._warned: set[int] = set()
        self._sent = 0.0  # of perf_counter
        self.begun = False  # one of them has begun, or could not be loaded

    @property
    def running(self) -> list[int]:
        """The calls that have begun and not ended."""
        return [number for number in sorted(self._left) if self._courses[number].phase == "run"]

    @property
    def overdue(self) -> list[int]:
        """Those of them whose limit is over now."""
        now = perf_counter()
        return [number for number, moment in self._ends() if self.begun and now >= moment]

    @property
    def left(self) -> list[int]:
        """The calls that have not ended."""
        return sorted(self._left)

    async def talk(self, orders: Sequence[HandlerRequest]) -> None:
        """Send the run message, and take answers until the last. Raises Overran, TooLarge, WorkerLost."""
        self._sent = perf_counter()
        async with time_limit(self.limits[0], "load"):
            await self._worker.tell(self._message(orders))
        while self._left:
            heard = self._worker.heard()
            if heard is None:
                heard = await self._hear()
            if heard is not None:
                self._hear_of(heard)

    def _message(self, orders: Sequence[HandlerRequest]) -> Message:
        """Whom to call, each with a view of its own."""
        view = self._courses[0].view
        return {
            "do": "run",
            "id": self.id,
            "fence": self._worker.fence,
            "together": True,
            "views": [course.document for course in self._courses],
            "hook": is_hook_event(view),
            "arguments": isinstance(view, Arguments),
            "calls": [order.call_document() for order in orders],
        }

    async def _hear(self) -> Message | None:
        """The next message, None where nothing came until it was time to look at limits."""
        now = perf_counter()
        for number, moment in self._ends():
            if now >= moment:
                await self._stop(number)
                return None
        due = [moment - now for _, moment in (*self._ends(), *self._warnings())]
        try:
            async with asyncio.timeout(max(min([*due, POLL_INTERVAL]), 0)):
                return await self._worker.hear()
        except TimeoutError:
            pass
        now = perf_counter()
        for number, moment in self._warnings():
            if now >= moment:
                self._warned.add(number)
                limits = self.limits[number]
                self._courses[number].slow(limits.warn or 0.0, limits.run)
        check_memory(self._worker, self.limits[0])
        return None

    def _ends(self) -> list[tuple[int, float]]:
        """When the limits of those that run are over; before the first runs, that of loading."""
        if not self.begun:
            load = self.limits[0].load
            return [] if load is None else [(min(self._left), self._sent + load)]
        ends = [(number, self.limits[number].run) for number in self.running]
        return [(number, self._courses[number].started + run) for number, run in ends if run is not None]

    def _warnings(self) -> list[tuple[int, float]]:
        waiting = [number for number in self.running if number not in self._warned]
        facts = [(number, self.limits[number].warn, self.limits[number].run) for number in waiting]
        return [
            (number, self._courses[number].started + warn)
            for number, warn, run in facts
            if warn is not None and (run is None or warn < run)
        ]

    def _hear_of(self, message: Message, asked: int | None = None) -> None:
        """Note that a call has begun or ended. `asked`: the one that was asked to end. Raises WorkerLost."""
        begun, ended = message.get("started"), message.get("result")
        number = begun if ended is None else ended
        if message.get("id") != self.id or not isinstance(number, int) or number not in self._left:
            raise WorkerLost("answered what nobody had asked")
        self.begun = True
        if ended is None:
            self._courses[number].start(seconds_in(message, "loaded"))
            return
        self._take(number, message, self.limits[number] if number == asked else None)
        self._left.discard(number)

    async def _stop(self, number: int) -> None:
        """Ask a handler over its limit to end, alone. Raises Overran where it goes on, or does not load."""
        self.culprit = number
        limits = self.limits[number]
        if not self.begun:
            raise LimitExceeded(limit_failure(limits, "load"))
        try:
            async with asyncio.timeout(STOP_TIMEOUT):
                await self._worker.urge({"do": "stack", "id": self.id, "call": number})
                while number in self._left:
                    message = await self._worker.hear()
                    if message.get("id") == self.id and "stack" in message:
                        raise LimitExceeded(limit_failure(limits, "run", frames_in_answer(message, self.id)))
                    self._hear_of(message, number)
        except TimeoutError:
            if self._dump:  # nothing of it can run: the system's own way is left
                self._worker.signal(self._dump)
                await asyncio.sleep(DUMP_TIMEOUT)
            raise LimitExceeded(limit_failure(limits, "run")) from None
        self.culprit = None

    def ended_by(self, status: Status, failure: Failure, why: str = "") -> Iterator[tuple[Batch, Result]]:
        """The ends of those whose worker must go, because one has failed so: it first, where it is known.

        The others that run end with it. `why` continues "its worker, which". Their times are taken when
        the ends are asked for: behind the end of the worker.
        """
        ending = self.running if self.begun else self.left
        culprit = self.culprit
        if culprit is None and (len(ending) == 1 or not self.begun):
            culprit = ending[0]
        if culprit is not None and not why:
            name = self._courses[culprit].left[0].name
            why = f"was stopped because {name} {failure.message.removesuffix(' and was stopped')}"
        bystander = _bystander_failure(why or failure.message, failure.phase)
        how: dict[int, tuple[Status, Failure]] = dict.fromkeys(ending, ("crashed", bystander))
        if status == "timeout":
            how |= {number: (status, limit_failure(self.limits[number], "run")) for number in self.overdue}
        how |= {culprit: (status, failure)} if culprit is not None else {}
        culprit_first = sorted(how, key=lambda number: number != culprit)
        ends = ((self._courses[number], *how[number]) for number in culprit_first)
        return ((course, course.lost(status, failure)) for course, status, failure in ends)


def count_fitting(courses: Sequence[Batch]) -> int:
    """How many of these, in order, one message can carry with a view for each; at least one."""
    size = 0
    for number, course in enumerate(courses):
        size += len(encode(course.document)) if len(courses) > 1 else 0
        if number and size > MAX_PAYLOADS_SIZE:
            return number
    return len(courses)


def _bystander_failure(why: str, phase: Phase) -> Failure:
    """Of a call whose worker ended under it by no doing of its own; `why` continues "its worker, which"."""
    return Failure("Crashed", f"ended with its plugin's worker, which {why}", phase=phase)

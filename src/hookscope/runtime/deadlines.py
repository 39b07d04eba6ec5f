"""Limits of what runs in a worker: said when it takes long, asked to end when it is over, then given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from hookscope.core.failure import Failure, Frame
from hookscope.core.runs import Result
from hookscope.runtime.course import is_answer
from hookscope.runtime.escapes import memory_of
from hookscope.runtime.failures import Phase, overran, told
from hookscope.runtime.limits import Limits, size_in_words
from hookscope.runtime.peer import Peer
from hookscope.runtime.python_worker.protocol import Message

POLL = 0.25  # seconds between looks at the memory of a worker that is busy
ASKED = 0.75  # seconds that a handler over its limit has to end or to say where it is; Node takes a while
DUMPED = 0.1  # seconds that a dump of its stack takes at most


class Overran(Exception):
    """A limit is over: the worker must go."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.phase)
        self.failure = failure


class TooLarge(Exception):
    """It takes more memory than it may: the worker must go."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def overran_by(limits: Limits, phase: Phase, frames: tuple[Frame, ...] = ()) -> Failure:
    """A limit of these was reached, in words. `frames`: where it stood then, where that is known."""
    seconds = {"spawn": limits.spawn, "load": limits.load, "run": limits.run}[phase]
    return overran(seconds or 0.0, phase, limits.origins.get(phase, ""), frames)


@asynccontextmanager
async def limited(limits: Limits, phase: Phase) -> AsyncIterator[None]:
    """Raises Overran when it takes longer."""
    seconds = limits.spawn if phase == "spawn" else limits.load
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Overran(overran_by(limits, phase)) from None


async def asked_to_end(worker: Peer, run: str, number: int, limits: Limits, dump: int) -> Message:
    """Ask a handler over its limit to end: its result message. Raises Overran where it goes on.

    `dump` is the signal at which its worker prints its stack; 0: none. Raises WorkerLost too.
    """
    frames: tuple[Frame, ...] = ()
    try:
        async with asyncio.timeout(ASKED):
            await worker.urge({"do": "stack", "id": run})
            message = await worker.hear()
            if is_answer(message, run, "result", number):
                return message
            frames = stack_in(message, run)
    except TimeoutError:
        if dump:  # nothing of it can run: the system's own way is left
            worker.signal(dump)
            await asyncio.sleep(DUMPED)
    raise Overran(overran_by(limits, "run", frames))


def stopped(result: Result, limits: Limits) -> Result:
    """The result of a handler that ended because it was asked to."""
    frames = result.error.frames if result.error is not None else ()
    failure = overran_by(limits, "run", frames)
    return replace(result, status="timeout", error=failure)


def stack_in(message: Message, run: str) -> tuple[Frame, ...]:
    """The frames in the answer to a question for the stack. Empty where it is none."""
    if message.get("id") != run or "stack" not in message:
        return ()
    document: dict[str, Any] = {"type": "", "message": "", "frames": message["stack"]}
    try:
        return told(document, "run").frames
    except (KeyError, OverflowError, TypeError, ValueError):
        return ()


def check_memory(worker: Peer, limits: Limits) -> None:
    """Look at the worker's memory, where that has a limit. Raises TooLarge where it is above it."""
    used = memory_of(worker.pid) if limits.memory is not None else 0
    if limits.memory is not None and used > limits.memory:
        most = size_in_words(limits.memory)
        text = f"took {size_in_words(used)} of memory, more than {most}, and was stopped"
        raise TooLarge(Failure("OutOfMemory", text))

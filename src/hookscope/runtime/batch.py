"""One batch of calls in a worker: its progress, the results in the worker's answers, and its limits."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

from hookscope.model.failure import Failure, Frame
from hookscope.model.regular_file import FILE_LIMIT_HINT, is_file_limit
from hookscope.model.run import OnStep, Registration, Result, Slow, Started, Status
from hookscope.model.text import error_reason
from hookscope.runtime.async_helpers import since_run_start
from hookscope.runtime.failures import CANCELLED, Phase, failure_from, timeout_failure
from hookscope.runtime.handler_code import HandlerRequest
from hookscope.runtime.limits import Limits, size_in_words
from hookscope.runtime.orphan_processes import resident_memory
from hookscope.runtime.payloads import (
    apply_changes,
    later_document,
    messages_in,
    new_messages,
    packed_document,
    patch_between,
    requests_between,
)
from hookscope.runtime.python_worker.protocol import Message, encode
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class WorkerProgram:
    """How to start a worker. Two arguments are added: the descriptors to read from and to write to."""

    argv: tuple[str, ...]
    env: Mapping[str, str]  # complete except for the worker's mark (orphan_processes.py)
    cwd: Path
    hint: str = ""  # what the user can do if it cannot be started
    control: bool = False  # takes a third descriptor, which a thread reads while a handler runs
    bell: bool = False  # takes a fourth, to which it writes when the host must read at once
    is_sandboxed: bool = False  # bwrap, which starts it, turns a death by signal n into status 128+n
    filter: bytes = b""  # system call filter for bwrap, with which `argv` begins

    def start_failure(self, error: Exception) -> Failure:
        """Return why the program could not be started, and what to do."""
        name, why = self.argv[0], error_reason(error)
        if not os.path.isdir(self.cwd):
            text = f"{name} cannot run in {self.cwd}: there is no such folder."
        else:
            then = FILE_LIMIT_HINT if is_file_limit(error) else self.hint
            text = f"{name} cannot be started: {why}. {then}".rstrip()
        return Failure("NotStarted", text, phase="spawn")


@dataclass(frozen=True, slots=True)
class PrintedOutput:
    """What handlers have printed since the output was last taken."""

    stdout: str = ""
    stderr: str = ""
    notes: tuple[str, ...] = ()


NOTHING_PRINTED = PrintedOutput()


@dataclass(frozen=True, slots=True)
class LateEvent:
    """An uncaught error, or a note, about a handler that had already returned."""

    hook: str  # the hook's name; empty if unknown
    error: object  # as the worker describes it
    text: str = ""  # the note, if there is no error


@dataclass(frozen=True, slots=True)
class LateHandler:
    """A handler that a module registered after it was loaded."""

    name: str  # of the module's content
    declaration: object  # an item of the protocol's `declares`


UNEXPECTED_ANSWER = "sent an answer without a request"
INVALID_MODULE = "sent an invalid description of its module"


class WorkerLost(Exception):
    """The worker is gone or can no longer be trusted: end it."""

    def __init__(self, text: str, *, died: bool = False, by_host: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.died = died  # the process ended, and did not just send an invalid message
        self.by_host = by_host  # Hookscope has ended it: no handler's fault


class WorkerNotStarted(Exception):
    """A worker could not be started, and an immediate retry would not help."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class WorkerHandle(Protocol):
    """A worker as its slot uses it. See `worker_process.WorkerProcess`."""

    mark: str
    fence: str
    pid: int
    started_at: float
    shares_clock: bool

    @property
    def is_alive(self) -> bool: ...
    @property
    def has_late_events(self) -> bool: ...
    async def start(self) -> None: ...
    def listening(self, *, outputs: bool = True) -> AbstractContextManager[None]: ...
    def read_outputs(self) -> None: ...
    def keep_reading(self, news: Callable[[], None]) -> None: ...
    async def send_message(self, message: Message) -> None: ...
    def send_available(self, frame: bytes) -> bytes | memoryview: ...
    async def send_frame(self, frame: bytes | memoryview) -> None: ...
    async def send_urgent(self, message: Message) -> None: ...
    async def receive(self) -> Message: ...
    async def receive_each(self, take: Callable[[Message], bool], waits: Callable[[], object]) -> None: ...
    def read_available(self) -> bool: ...
    def stop_receiving(self) -> None: ...
    def take_received(self) -> Message | None: ...
    def signal(self, number: int) -> None: ...
    def take_output(self, *, of_one: bool = False) -> PrintedOutput: ...
    def take_late_events(self) -> tuple[LateEvent, ...]: ...
    @property
    def late_handlers(self) -> Sequence[LateHandler]: ...
    async def end(self) -> None: ...


# Keys in the answer of a handler that only returned.
PLAIN_ANSWER_KEYS = frozenset(("id", "result", "took", "returned", "next"))
MAX_HANDOVER_TIME = 0.005  # seconds after which the host learns that a call has ended and the next begun


@dataclass(slots=True)
class Batch:
    """A running batch: the remaining calls, the current event, and the current call."""

    remaining: tuple[Registration, ...]
    view: Any
    step: OnStep
    document: Any = None
    current: Registration | None = None
    request: HandlerRequest | None = None  # of the current call
    phase: Phase = "load"
    started: float = 0.0  # of perf_counter
    started_in_run: float = 0.0  # the same in seconds since the run started
    loaded: float = 0.0
    is_dirty: bool = False  # this handler has changed the worker for good
    is_worn_out: bool = False  # the worker must be replaced, through no fault of the handler
    notes: list[str] = field(default_factory=list)  # on values of the view that are not JSON
    mixed_output_note: str = ""  # a sentence on who else may have printed its output
    document_json: str = ""  # the document as JSON, once it was needed

    def __post_init__(self) -> None:
        self.document, self.notes, self.document_json = packed_document(self.view)

    def packed_json(self) -> str:
        """Return the current event as JSON."""
        self.document_json = self.document_json or encode(self.document)
        return self.document_json

    def begin(self, call: Registration, request: HandlerRequest | None = None) -> None:
        """Note that the first remaining call is being loaded or run."""
        self.current, self.request = call, request
        self.phase, self.loaded, self.started = "load", 0.0, perf_counter()

    def mark_started(self, loaded: float, ended: float = 0.0) -> None:
        """Mark the call as running: now, or since the previous call `ended`."""
        assert self.current is not None
        now = perf_counter()
        self.phase, self.loaded = "run", loaded
        self.started = ended if 0 <= now - ended < MAX_HANDOVER_TIME else now
        self.started_in_run = since_run_start(self.started)
        self.step(Started(self.current, self.started_in_run))

    def finish_plain(self, took: float, returned: object) -> None:
        """Report the result of a handler that returned, with nothing else to report."""
        assert self.current is not None
        self.is_worn_out = self.is_dirty = False
        self.finish(Result(self.current, "ok", self.started_in_run, took, returned=returned))

    def report_slow(self, after: float, limit: float | None) -> None:
        """Report that the running handler is slow."""
        assert self.current is not None
        self.step(Slow(self.current, after, limit))

    def result_from_answer(self, message: Message) -> Result:
        """Return the Result in a worker's answer, and apply its changes to the view.

        Raises WorkerLost if the message is not an answer.
        """
        assert self.current is not None
        before, after = self.document, self._later_document(message)
        status, error, notes = message.get("status", "ok"), message.get("error"), message.get("notes", [])
        stale = message.get("stale")
        if status not in ("ok", "error") or not isinstance(notes, list):
            raise WorkerLost("sent an invalid answer")
        phase: Phase = "load" if message.get("phase") == "load" else "run"
        is_unchanged = after is before
        patch = () if is_unchanged else patch_between(self.view, before, after)
        result = Result(
            self.current,
            "ok" if status == "ok" else "error",
            started=self.started_in_run if self.phase == "run" else since_run_start(self.started),
            took=seconds_in(message, "took", 0.0),
            loaded=seconds_in(message, "loaded", 0.0),
            messages=() if is_unchanged else new_messages(messages_in(before), messages_in(after)),
            returned=message.get("returned"),
            error=None if error is None else failure_in_answer(error, phase),
            patch=patch,
            notes=tuple(map(str, notes)),
            stale=None if stale is None else failure_in_answer(stale, "load"),
            asked=() if is_unchanged else requests_between(self.view, before, after),
        )
        self.is_worn_out = bool(message.get("worn"))
        self.is_dirty = bool(message.get("dirty"))
        if not is_unchanged:
            self.document, self.document_json = after, ""
            apply_changes(self.view, before, after, patch)
        return result

    def _later_document(self, message: Message) -> Any:
        """Return the document after a call, from its answer. Raises WorkerLost."""
        if "view" not in message:
            return self.document
        try:
            return later_document(self.view, self.document, message["view"])
        except ValueError:
            raise WorkerLost("sent an invalid answer") from None

    def result_without_answer(self, status: Status, failure: Failure) -> Result:
        """Return the Result of a call whose worker did not answer."""
        assert self.current is not None
        now = perf_counter()
        return Result(
            self.current,
            status,
            started=since_run_start(self.started),
            took=now - self.started if self.phase == "run" else 0.0,
            loaded=self.loaded if self.phase == "run" else now - self.started,
            error=failure,
        )

    def cancel_remaining(self) -> None:
        """Report all remaining calls as cancelled."""
        while self.remaining:
            if self.current is None:
                self.begin(self.remaining[0])
            self.finish(self.result_without_answer("cancelled", CANCELLED))

    def finish(self, result: Result) -> None:
        """Report the result of the first remaining call."""
        self.current, self.remaining = None, self.remaining[1:]
        self.step(result)


def is_answer(message: Message, run: str, kind: str, number: int) -> bool:
    """Return True if the message is of that kind, for that call of that run."""
    return message.get("id") == run and message.get(kind) == number


def seconds_in(message: Message, name: str, absent: float | None = None) -> float:
    """Return a duration, or `absent` if the message has none. Raises WorkerLost if it is invalid."""
    value = message.get(name, absent)
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WorkerLost("sent an invalid answer")
    return float(value)


def failure_in_answer(document: Any, phase: Phase) -> Failure:
    """Return the failure that a worker's document describes. Raises WorkerLost if it is invalid."""
    try:
        return failure_from(document, phase)
    except (KeyError, OverflowError, TypeError, ValueError):
        raise WorkerLost("sent an invalid answer") from None


POLL_INTERVAL = 0.25  # seconds between checks of a busy worker's memory
STOP_TIMEOUT = (
    0.75  # seconds that a handler over its limit has to end or report its stack; Node takes a while
)
DUMP_TIMEOUT = 0.1  # seconds that printing its stack may take


class LimitExceeded(Exception):
    """A handler exceeded a limit: the worker must end."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.phase)
        self.failure = failure


class MemoryExceeded(Exception):
    """A worker exceeded its memory limit: it must end."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


def limit_failure(limits: Limits, phase: Phase, frames: tuple[Frame, ...] = ()) -> Failure:
    """Return the failure for an exceeded limit. `frames`: the handler's stack, if known."""
    seconds = {"spawn": limits.spawn, "load": limits.load, "run": limits.run}[phase]
    return timeout_failure(seconds or 0.0, phase, limits.origins.get(phase, ""), frames)


@asynccontextmanager
async def time_limit(limits: Limits, phase: Phase) -> AsyncIterator[None]:
    """Run a block in which LimitExceeded is raised once the limit of the phase is exceeded."""
    seconds = limits.spawn if phase == "spawn" else limits.load
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise LimitExceeded(limit_failure(limits, phase)) from None


async def stop_handler(
    worker: WorkerHandle, run: str, number: int, limits: Limits, dump_signal: int
) -> Message:
    """Ask a handler over its limit to end, and return its result message.

    `dump_signal` makes its worker print a stack; 0: no such signal. Raises LimitExceeded if the handler keeps
    running, and WorkerLost.
    """
    frames: tuple[Frame, ...] = ()
    try:
        async with asyncio.timeout(STOP_TIMEOUT):
            await worker.send_urgent({"do": "stack", "id": run})
            message = await worker.receive()
            if is_answer(message, run, "result", number):
                return message
            frames = frames_in_answer(message, run)
    except TimeoutError:
        if dump_signal:  # no code of the worker can run: let the system print its stack
            worker.signal(dump_signal)
            await asyncio.sleep(DUMP_TIMEOUT)
    raise LimitExceeded(limit_failure(limits, "run", frames))


def timed_out_result(result: Result, limits: Limits) -> Result:
    """Return the result of a handler that ended at its limit."""
    frames = result.error.frames if result.error is not None else ()
    failure = limit_failure(limits, "run", frames)
    return replace(result, status="timeout", error=failure)


def frames_in_answer(message: Message, run: str) -> tuple[Frame, ...]:
    """Return the frames in a worker's answer to a stack request; empty for any other answer."""
    if message.get("id") != run or "stack" not in message:
        return ()
    document: dict[str, Any] = {"type": "", "message": "", "frames": message["stack"]}
    try:
        return failure_from(document, "run").frames
    except (KeyError, OverflowError, TypeError, ValueError):
        return ()


def check_memory(worker: WorkerHandle, limits: Limits) -> None:
    """Raise MemoryExceeded if the worker uses more memory than its limit allows."""
    used = resident_memory(worker.pid) if limits.memory is not None else 0
    if limits.memory is not None and used > limits.memory:
        most = size_in_words(limits.memory)
        text = f"used {size_in_words(used)} of memory, more than its limit of {most}, and was stopped"
        raise MemoryExceeded(Failure("OutOfMemory", text))

"""Background work that handlers leave running: waiting for it, late output and errors, escaped processes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from secrets import token_hex
from time import perf_counter

from hookscope.runtime.batch import UNEXPECTED_ANSWER, LateEvent, WorkerHandle, WorkerLost, failure_in_answer
from hookscope.runtime.orphan_processes import MarkedProcess, find_marked_since, newest_pid
from hookscope.values import dataclass

ANSWER_TIMEOUT = 0.5  # seconds that an idle worker may take to report its background work
FIRST_PAUSE = 0.01  # seconds between the first two checks; later pauses are longer
LONGEST_PAUSE = 0.1

HookNotes = tuple[tuple[str, str], ...]  # (hook, what it did, in words)


@dataclass(frozen=True, slots=True)
class WaitTime:
    """The time limit of a wait."""

    seconds: float
    until: float  # of perf_counter
    is_enough: Callable[[], bool]  # the caller no longer wants to wait

    @property
    def is_over(self) -> bool:
        """True if the time is up, or the caller no longer wants to wait."""
        return perf_counter() >= self.until or self.is_enough()


def wait_time(seconds: float, is_enough: Callable[[], bool] = lambda: False) -> WaitTime:
    """Return a limit that ends after `seconds`, or earlier once `is_enough` returns True."""
    return WaitTime(seconds, perf_counter() + seconds, is_enough)


@dataclass(frozen=True, slots=True)
class BackgroundWork:
    """The outcome of the work that handlers had left running."""

    late_notes: HookNotes = ()  # what handlers did after they had returned
    running_notes: HookNotes = ()  # what still runs

    def __add__(self, other: BackgroundWork) -> BackgroundWork:
        return BackgroundWork(
            (*self.late_notes, *other.late_notes), (*self.running_notes, *other.running_notes)
        )


NO_BACKGROUND_WORK = BackgroundWork()


async def still_running(worker: WorkerHandle, wait: WaitTime | None) -> str:
    """Wait, then return a description of the last run's background work that still runs; empty if none does.

    If `wait` is None, do not wait. Call this while the worker is `listening`. Raises WorkerLost, also if the
    worker is only too busy with that work to answer.
    """
    pause = FIRST_PAUSE
    while True:
        running = await _ask_worker(worker)
        if not running or wait is None or wait.is_over:
            return running
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


async def _ask_worker(worker: WorkerHandle) -> str:
    question = token_hex(8)
    try:
        async with asyncio.timeout(ANSWER_TIMEOUT):
            await worker.send_message({"do": "rest", "id": question})
            message = await worker.receive()
    except TimeoutError:
        raise WorkerLost("stopped answering") from None
    running = message.get("rest")
    if message.get("id") != question or not isinstance(running, str):
        raise WorkerLost(UNEXPECTED_ANSWER)
    return running


QUOTED_LENGTH = (
    160  # characters of a late text that a note quotes; for output, at its start and again at its end
)
ESCAPE_CHECK_INTERVAL = 0.001  # seconds between checks; shorter handlers start no process
SHORTEST_SPAWN = 0.00004  # seconds; handlers that together take less start no process
NAMED_PROCESSES = 4  # processes that a note names


class WorkerLeftovers:
    """What handlers leave running in one worker, from its start to its end."""

    def __init__(self) -> None:
        self.last_hook = ""  # the hook whose handler ran last
        self._running: dict[str, str] = {}  # hook → what its handler left running
        self._newest_pid = 0  # newest process number at the last check for escaped processes
        self._checked_at = 0.0  # perf_counter time of that check
        self._handler_seconds = 0.0  # that handlers have taken since that check
        self._escaped: dict[int, MarkedProcess] = {}
        self._ended_processes: list[MarkedProcess] = []  # ended with the worker, and not reported before
        self._surviving_processes: list[MarkedProcess] = []  # may still run although the worker has ended

    def reset(self) -> None:
        """Forget everything: the worker is new."""
        self._running.clear()
        self._escaped.clear()
        self._newest_pid = newest_pid()

    def add_running(self, hook: str, what: str) -> None:
        """Note that a hook's handler left something running."""
        self._running[hook] = what[:QUOTED_LENGTH]

    def clear_running(self) -> None:
        """Note that the leftovers have ended."""
        if self._running:
            self._running.clear()

    @property
    def escaped(self) -> tuple[MarkedProcess, ...]:
        """The processes that have left the worker's group."""
        return tuple(self._escaped.values())

    def set_killed(self, gone: Sequence[MarkedProcess], surviving: Sequence[MarkedProcess]) -> None:
        """Note which processes are gone after the worker's end, and which may still run."""
        self._ended_processes = [process for process in gone if process.pid not in self._escaped]
        self._surviving_processes = list(surviving)

    def suspect_notes(self) -> tuple[str, ...]:
        """Return a sentence that names what earlier handlers left running in this worker, if anything."""
        left = " and ".join(f"{what} of {name}" for name, what in self._running.items())
        return (f"{left} still ran in this worker, and may be the cause",) if left else ()

    def has_running(self, except_hook: str) -> bool:
        """Return True if handlers of other hooks left something running in this worker."""
        return any(name != except_hook for name in self._running)

    def mixed_output_notes(self) -> tuple[str, ...]:
        """Return a sentence that names other possible sources of a handler's output."""
        left = " and ".join(f"{name}, which left {what} running" for name, what in self._running.items())
        return (f"some of its output may be from {left}",) if left else ()

    def may_have_escaped(self, calls_follow: bool, took: float = SHORTEST_SPAWN) -> bool:
        """Return whether a process may have left the worker's group since the last check.

        `calls_follow`: more calls follow. `took`: the handler's duration.
        """
        self._handler_seconds += took
        if self._handler_seconds < SHORTEST_SPAWN:
            return False
        now = perf_counter()
        if now - self._checked_at < ESCAPE_CHECK_INTERVAL and calls_follow:
            return False
        if newest_pid() != self._newest_pid:
            return True
        self._checked_at, self._handler_seconds = now, 0.0
        return False

    def escape_notes(self, worker: WorkerHandle, calls_follow: bool) -> tuple[str, ...]:
        """Return a sentence about processes that left the worker's group since the last check, if any did.

        `calls_follow`: more calls follow, so that there will be another check.
        """
        if not self.may_have_escaped(calls_follow):
            return ()
        before, self._newest_pid, self._handler_seconds = self._newest_pid, newest_pid(), 0.0
        found = [
            process
            for process in find_marked_since(before, self._newest_pid, worker.mark)
            if process.group != worker.pid and process.pid not in self._escaped
        ]
        if not found:
            return ()
        self._escaped.update((process.pid, process) for process in found)
        return (f"{_escaped_note(found)}; Hookscope kills what it left when the worker ends",)

    def ended_notes(self) -> tuple[str, ...]:
        """Return sentences about processes outside the group that were found only when the worker ended."""
        ended, self._ended_processes = self._ended_processes, []
        surviving, self._surviving_processes = self._surviving_processes, []
        notes = [f"{_escaped_note(ended)}; ended with its worker"] if ended else []
        if surviving:
            notes.append(f"{_escaped_note(surviving)}; it may still be running")
        return tuple(notes)

    def take_late_notes(self, worker: WorkerHandle) -> list[tuple[str, str]]:
        """Return (hook, text) of everything that happened after the last result."""
        news: list[tuple[str, str]] = []
        if text := printed_on_one_line(worker):
            news.append((self.last_hook or "a handler", f"printed late: {text}"))
        return [*news, *map(late_note, worker.take_late_events())]


def _escaped_note(found: Sequence[MarkedProcess]) -> str:
    names = ", ".join(f"`{process.name}` ({process.pid})" for process in found[:NAMED_PROCESSES])
    others = f" and {len(found) - NAMED_PROCESSES} more" if len(found) > NAMED_PROCESSES else ""
    return f"it left {names}{others} running outside of its process group"


def printed_on_one_line(worker: WorkerHandle) -> str:
    """Return the worker's unread output on one line."""
    printed = worker.take_output()
    lines = (line.strip() for line in (printed.stdout + printed.stderr).splitlines())
    return _excerpt(" · ".join(line for line in lines if line))


def _excerpt(text: str) -> str:
    """Return the start and the end of a long text, because the last line of a traceback names the error."""
    left_out = len(text) - 2 * QUOTED_LENGTH
    return (
        text
        if left_out <= 0
        else f"{text[:QUOTED_LENGTH]}… ({left_out:,} characters omitted) …{text[-QUOTED_LENGTH:]}"
    )


def late_note(late: LateEvent) -> tuple[str, str]:
    """Return (hook, text) for a late event."""
    hook = late.hook or "a handler"
    if late.text:
        return hook, late.text[:QUOTED_LENGTH]
    try:
        failure = failure_in_answer(late.error, "run")
    except WorkerLost:
        return hook, "failed after it had returned; its error cannot be read"
    where = f" ({failure.frames[-1].file}:{failure.frames[-1].line})" if failure.frames else ""
    return (hook, f"failed after it had returned: {failure.type}: {failure.message[:QUOTED_LENGTH]}{where}")


GATHER_TIME = 0.1  # seconds in which late output is gathered before it is reported


class LateListener:
    """Reports late output and errors of one worker at a time, between two batches."""

    def __init__(self, leftovers: WorkerLeftovers) -> None:
        self._leftovers = leftovers
        self._report_timer: asyncio.TimerHandle | None = None  # reports when it rings
        self._worker: WorkerHandle | None = None  # the watched worker

    def attach(self, worker: WorkerHandle, on_late: Callable[[str, str], None]) -> None:
        """Report the worker's late output from now on."""
        loop = asyncio.get_running_loop()
        self._worker = worker

        def report() -> None:
            self._report_timer = None
            if worker is self._worker:
                for who, text in self._leftovers.take_late_notes(worker):
                    on_late(who, text)

        def schedule_report() -> None:
            if self._report_timer is None:
                self._report_timer = loop.call_later(GATHER_TIME, report)

        worker.keep_reading(schedule_report)
        report()  # what arrived since the last answer

    def cancel_report(self) -> None:
        """Cancel a pending report: later output belongs to the next handler."""
        if self._report_timer is not None:
            self._report_timer.cancel()
            self._report_timer = None

    def detach(self) -> None:
        """Forget the worker, which has ended."""
        self._worker = None

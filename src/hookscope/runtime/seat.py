"""A worker's place: the worker while there is one, what is known of it, and talking with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import Any, Protocol

from hookscope.core.runs import Code, Failure, Frame, Registration, Result, Status
from hookscope.runtime.clock import since_start
from hookscope.runtime.contents import Contents
from hookscope.runtime.course import Course, is_answer, seconds_of, told_failure
from hookscope.runtime.dumps import frames_in, has_dump
from hookscope.runtime.escapes import Process, end, marked_since, memory_of, newest_pid
from hookscope.runtime.failures import CANCELLED, Phase, overran, told
from hookscope.runtime.ledger import Ledger
from hookscope.runtime.limits import Limits, size_in_words
from hookscope.runtime.link import Late, NotStarted, Printed, WorkerLost
from hookscope.runtime.python_worker.protocol import Message
from hookscope.runtime.views import is_hook_event
from hookscope.runtime.waiting import to_the_end

LATE = 200  # characters of late output that a note quotes
GATHER = 0.1  # seconds in which late output is gathered before it is told
POLL = 0.25  # seconds between looks at the memory of a worker that is busy
ASKED = 0.25  # seconds that a handler over its limit has to say where it is, or to end
DUMPED = 0.1  # seconds that a dump of its stack takes at most
BURST = 0.001  # seconds
NAMED = 4  # processes that a note names


class Link(Protocol):
    """A worker as a seat sees it. See `link.Worker`."""

    mark: str
    fence: str
    pid: int
    born: float

    async def start(self) -> None: ...
    def listening(self) -> AbstractContextManager[None]: ...
    def attend(self, news: Callable[[], None]) -> None: ...
    async def tell(self, message: Message) -> None: ...
    async def urge(self, message: Message) -> None: ...
    async def hear(self) -> Message: ...
    def heard(self) -> Message | None: ...
    def signal(self, number: int) -> None: ...
    def printed(self, *, of_one: bool = False) -> Printed: ...
    def late(self) -> tuple[Late, ...]: ...
    async def end(self) -> None: ...


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


@dataclass(frozen=True, slots=True)
class Order:
    """A handler to be loaded or run, with the names of its content."""

    code: Code
    name: str
    shared: str
    call: Registration | None = None

    def document(self) -> Message:
        """As the protocol's `code`."""
        return {
            "path": str(self.code.path),
            "export": self.code.export,
            "root": str(self.code.root),
            "name": self.name,
            "shared": self.shared,
            "plain": self.code.plain,
        }


@dataclass(frozen=True, slots=True)
class Shared:
    """What all seats of a lane have in common."""

    limits: Limits
    ledger: Ledger
    contents: Contents
    news: list[str]  # what happened since the last result, said with the next one
    told_late: Callable[[str, str], None] | None = None  # hears between two batches what comes late
    dump: int = 0  # the signal at which a worker of this language prints its stack; 0: there is none


class Seat:
    """Holds one worker at a time: only its lane gives it one, only `drop` ends it.

    A handler that hangs, dies or spoils the worker is a result like any other; then the seat is empty.
    """

    def __init__(self, shared: Shared, owner: str = "") -> None:
        self.owner = owner  # the hook that has this seat for itself; empty: all that do no harm share it
        self.worker: Link | None = None
        self.calls = 0  # run or loaded by the present worker
        self.restless: Order | None = None  # of whose handler something still runs in the present worker
        self.held: set[tuple[Path, str]] = set()  # path and export of what the present worker has loaded
        self._shared = shared
        self._last = ""  # whose handler ran last
        self._left: dict[str, str] = {}  # whose handlers left what running in the present worker
        self._newest = 0  # process number, when we last looked for escaped ones
        self._looked = 0.0  # when that was, of perf_counter
        self._escaped: dict[int, Process] = {}

    def take(self, worker: Link) -> None:
        """Sit down a worker that has just been started."""
        self.worker, self.calls, self.restless = worker, 0, None
        self.held.clear()
        self._left.clear()
        self._escaped.clear()
        self._newest = newest_pid()

    async def drop(self) -> None:
        """End the worker, what it started and what of that escaped. A cancel waits until it is done."""
        worker, self.worker = self.worker, None
        self.held.clear()
        if worker is not None:
            await to_the_end(_ended(worker))

    async def run(self, course: Course, orders: Sequence[Order]) -> None:
        """Run these, the next of the course, as far as the worker lives. Only a cancel comes out."""
        worker = self.worker
        assert worker is not None
        used, self.calls = bool(self.calls), self.calls + 1
        self._note_late(worker)
        try:
            with worker.listening():
                await self._talk(worker, course, orders)
            if course.spoilt or course.worn:
                await self.drop()
        except (Overran, TooLarge) as over:
            status: Status = "timeout" if isinstance(over, Overran) else "crashed"
            await self._drop_under(course, worker, course.lost(status, over.failure))
        except WorkerLost as lost:
            if used and lost.died and course.phase == "load":  # dead before this call: nobody is to blame
                self._shared.news.append(f"the worker {lost.text} after {self._last or 'the last handler'}")
                course.begun = None
                await self.drop()
                return
            failure = Failure("Crashed", f"{lost.text} before it answered", phase=course.phase)
            await self._drop_under(course, worker, course.lost("crashed", failure))
        except asyncio.CancelledError:
            if course.begun is None:
                await self.drop()
            else:
                await self._drop_under(course, worker, course.lost("cancelled", CANCELLED))
            raise

    async def load(self, order: Order) -> Failure | None:
        """Load, and run nothing. None where it is loaded. Only a cancel comes out."""
        worker = self.worker
        assert worker is not None
        self.calls += 1
        try:
            return await self._load(worker, order)
        except Overran as late:
            await self.drop()
            self._blame(order)
            return late.failure
        except WorkerLost as lost:
            await self.drop()
            self._blame(order)
            return Failure("Crashed", f"{lost.text} while it was loaded", phase="load")
        except asyncio.CancelledError:
            await self.drop()
            raise

    async def _load(self, worker: Link, order: Order) -> Failure | None:
        run, limits = token_hex(8), self._shared.limits
        with worker.listening():
            async with _limit(limits, "load"):
                await worker.tell(
                    {"do": "load", "id": run, "code": {**order.document(), "env": dict(order.code.env)}}
                )
                message = await worker.hear()
        if message.get("id") != run or "loaded" not in message:
            raise WorkerLost("answered what nobody had asked")
        self._last = order.code.root.name
        self._learn(order, message)
        if message.get("dirty"):
            await self.drop()
        if message.get("error") is not None:
            return told_failure(message["error"], "load")
        if self.worker is not None:
            self.held.add((order.code.path, order.code.export))
        return None

    def _learn(self, order: Order, message: Message) -> None:
        files = message.get("files")
        if isinstance(files, list):
            self._shared.contents.learn(order.code, map(str, files))

    async def _drop_under(self, course: Course, worker: Link, ended: Result) -> None:
        """End the worker under a handler, and report that end, also when cancelled meanwhile."""
        try:
            await self.drop()
        finally:
            self._step(course, worker, ended)

    async def _talk(self, worker: Link, course: Course, orders: Sequence[Order]) -> None:
        """Go through the orders, until the last or until one spoils the worker."""
        run = token_hex(8)
        order: Message = {
            "do": "run",
            "id": run,
            "fence": worker.fence,
            "view": course.document,
            "hook": is_hook_event(course.view),
            "calls": [_call_document(item) for item in orders],
        }
        announced = False  # has the worker said that this call begins
        for number, item in enumerate(orders):
            limits = self._shared.limits.of(course.left[0])
            course.begin(course.left[0], item)
            message: Message | None = None
            if announced:
                course.start(0.0)
            else:
                async with _limit(limits, "load"):
                    if not number:
                        await worker.tell(order)
                    message = await worker.hear()
                if is_answer(message, run, "started", number):
                    course.start(seconds_of(message, "loaded"))
                    self.held.add((item.code.path, item.code.export))
                    message = None
            asked = False
            if message is None:
                message, asked = await self._answer(worker, course, run, number, limits)
            if not is_answer(message, run, "result", number):
                raise WorkerLost("answered what nobody had asked")
            self._take(worker, course, item, message, limits if asked else None)
            if course.spoilt or course.worn:
                return
            announced = message.get("next") is True

    def _take(
        self, worker: Link, course: Course, order: Order, message: Message, asked: Limits | None
    ) -> None:
        """Report the result in this message. `asked`: it came because a limit of these was over."""
        self._learn(order, message)
        result = course.answered(message)
        if asked is not None:
            result = _stopped(result, asked)
        self._step(course, worker, result, shared=message.get("shared") is True, answered=True)
        if message.get("left"):
            self._left[result.call.name] = str(message["left"])[:LATE]
            self._shared.ledger.leaves_running(order.code, order.name)
            self.restless = order

    async def _answer(
        self, worker: Link, course: Course, run: str, number: int, limits: Limits
    ) -> tuple[Message, bool]:
        """(what it said, was it asked to end). Raises Overran and TooLarge."""
        message = worker.heard()
        if message is not None:
            return message, False
        loop = asyncio.get_running_loop()
        began, warn = loop.time(), limits.warn
        if warn is not None and limits.run is not None and warn >= limits.run:
            warn = None
        while True:
            now = loop.time() - began
            if limits.run is not None and now >= limits.run:
                return await self._stop(worker, run, number, limits)
            due = [moment - now for moment in (warn, limits.run) if moment is not None]
            try:
                async with asyncio.timeout(max(min([*due, POLL]), 0)):
                    return await worker.hear(), False
            except TimeoutError:
                pass
            if warn is not None and loop.time() - began >= warn:
                course.slow(warn, limits.run)
                warn = None
            _check_memory(worker, limits)

    async def _stop(self, worker: Link, run: str, number: int, limits: Limits) -> tuple[Message, bool]:
        """Ask a handler over its limit to end, or to say where it stands. Raises Overran where it goes on."""
        frames: tuple[Frame, ...] = ()
        try:
            async with asyncio.timeout(ASKED):
                await worker.urge({"do": "stack", "id": run})
                message = await worker.hear()
                if is_answer(message, run, "result", number):
                    return message, True
                frames = _stack_in(message, run)
        except TimeoutError:
            if self._shared.dump:  # nothing of it can run: the system's own way is left
                worker.signal(self._shared.dump)
                await asyncio.sleep(DUMPED)
        raise Overran(overran(limits.run or 0.0, "run", _told_origin(limits, "run"), frames))

    def _step(
        self, course: Course, worker: Link, ended: Result, *, shared: bool = True, answered: bool = False
    ) -> None:
        """Report an end, with what was printed up to here and what happened before.

        `shared`: what earlier handlers left running may have printed beside this one. `answered`: the
        worker goes on meanwhile, and what it prints is no longer of this one.
        """
        printed = worker.printed(of_one=answered)
        if not shared:
            self._left.clear()
        others = self._others() if printed.stdout or printed.stderr else ()
        notes = (
            *self._shared.news,
            *course.notes,
            *ended.notes,
            *(" ".join(_late_in_words(late)) for late in worker.late()),
            *self._escapes(worker, more=answered and len(course.left) > 1),
            *others,
            *printed.notes,
        )
        self._shared.news.clear()
        course.notes = []
        self._last = ended.call.name
        if ended.error is not None and not ended.error.frames and has_dump(printed.stderr):
            ended = replace(ended, error=replace(ended.error, frames=frames_in(printed.stderr)))
        if course.spoilt or ended.status in ("timeout", "crashed"):
            notes = (*notes, *self._blame(course.order))
        course.finish(replace(ended, stdout=printed.stdout, stderr=printed.stderr, notes=notes))

    def _blame(self, order: Order) -> tuple[str, ...]:
        """Note a fault. What it means for the hook, in words, where that is new."""
        if self._shared.ledger.fault(order.code, order.name):
            return ("this was its third fault within five minutes: from now on only a fire by hand runs it",)
        return ()

    def _escapes(self, worker: Link, more: bool) -> tuple[str, ...]:
        """A sentence for the processes that have left the worker's group since we last looked.

        `more`: further calls come, and we look again.
        """
        now = perf_counter()
        if now - self._looked < BURST and more:  # handlers that end within a millisecond start no process
            return ()
        self._looked = now
        before, self._newest = self._newest, newest_pid()
        if self._newest == before:
            return ()
        found = [
            process
            for process in marked_since(before, self._newest, worker.mark)
            if process.group != worker.pid and process.pid not in self._escaped
        ]
        if not found:
            return ()
        self._escaped.update((process.pid, process) for process in found)
        names = ", ".join(f"`{process.name}` ({process.pid})" for process in found[:NAMED])
        others = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
        return (f"it left {names}{others} running outside of its process group; ended with its worker",)

    def _others(self) -> tuple[str, ...]:
        left = " and ".join(f"{name}, which left {what} running" for name, what in self._left.items())
        return (f"some of what it printed may be of {left}",) if left else ()

    def attend(self) -> None:
        """Hear of what handlers print or throw late, while nothing runs here; its lane wants to be told."""
        worker, told = self.worker, self._shared.told_late
        if worker is None or told is None:
            return
        loop = asyncio.get_running_loop()
        due: list[asyncio.TimerHandle] = []

        def tell() -> None:
            due.clear()
            if worker is self.worker:
                for who, text in self._late_news(worker):
                    told(who, text)

        def news() -> None:
            if not due:
                due.append(loop.call_later(GATHER, tell))

        worker.attend(news)

    def _note_late(self, worker: Link) -> None:
        self._shared.news.extend(f"before this, {who} {text}" for who, text in self._late_news(worker))

    def _late_news(self, worker: Link) -> list[tuple[str, str]]:
        """Who did what after the last result."""
        printed = worker.printed()
        text = (printed.stdout + printed.stderr).strip()
        news: list[tuple[str, str]] = []
        if text:
            more = f"… ({len(text) - LATE:,} characters more)" if len(text) > LATE else ""
            news.append((self._last or "a handler", f"printed late: {text[:LATE]}{more}"))
        return [*news, *map(_late_in_words, worker.late())]


async def _ended(worker: Link) -> None:
    await worker.end()
    if newest_pid():
        await asyncio.to_thread(end, worker.mark)


def _call_document(order: Order) -> Message:
    assert order.call is not None
    return {"who": order.call.name, "code": order.document(), "env": dict(order.code.env)}


def _stopped(result: Result, limits: Limits) -> Result:
    """The result of a handler that ended because it was asked to."""
    frames = result.error.frames if result.error is not None else ()
    failure = overran(limits.run or 0.0, "run", _told_origin(limits, "run"), frames)
    return replace(result, status="timeout", error=failure)


def _stack_in(message: Message, run: str) -> tuple[Frame, ...]:
    if message.get("id") != run or "stack" not in message:
        return ()
    document: dict[str, Any] = {"type": "", "message": "", "frames": message["stack"]}
    try:
        return told(document, "run").frames
    except (KeyError, OverflowError, TypeError, ValueError):
        return ()


def _check_memory(worker: Link, limits: Limits) -> None:
    """Raises TooLarge."""
    used = memory_of(worker.pid) if limits.memory is not None else 0
    if limits.memory is not None and used > limits.memory:
        most = size_in_words(limits.memory)
        text = f"took {size_in_words(used)} of memory, more than {most}, and was stopped"
        raise TooLarge(Failure("OutOfMemory", text))


def _late_in_words(late: Late) -> tuple[str, str]:
    who = late.who or "a handler"
    try:
        failure = told_failure(late.error, "run")
    except WorkerLost:
        return who, "failed late, in a way that cannot be told"
    where = f" ({failure.frames[-1].file}:{failure.frames[-1].line})" if failure.frames else ""
    return who, f"failed late, after it had answered: {failure.type}: {failure.message[:LATE]}{where}"


def _told_origin(limits: Limits, phase: Phase) -> str:
    return limits.origins.get(phase, "")


@asynccontextmanager
async def _limit(limits: Limits, phase: Phase) -> AsyncIterator[None]:
    """Raises Overran when it takes longer."""
    seconds = limits.spawn if phase == "spawn" else limits.load
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Overran(overran(seconds or 0.0, phase, _told_origin(limits, phase))) from None


async def started(make: Callable[[], Link], limits: Limits) -> Link:
    """A new worker that is ready. Raises NotStarted; then nothing of it is left."""
    worker = make()
    try:
        async with _limit(limits, "spawn"):
            await worker.start()
    except Overran as late:
        await to_the_end(worker.end())
        raise NotStarted(late.failure) from None
    except WorkerLost as lost:
        await to_the_end(worker.end())
        said = worker.printed().stderr.strip()
        text = f"{lost.text} before it was ready" + (f": {said[-LATE:]}" if said else "")
        raise NotStarted(Failure("Crashed", text, phase="spawn")) from None
    except BaseException:
        await to_the_end(worker.end())
        raise
    return worker


def not_started(calls: Sequence[Registration], missing: NotStarted) -> list[Result]:
    """The results of calls for which there is no worker."""
    return [Result(call, "crashed", since_start(perf_counter()), error=missing.failure) for call in calls]


Make = Callable[[], Link]
Starts = Callable[[], Awaitable[Link]]

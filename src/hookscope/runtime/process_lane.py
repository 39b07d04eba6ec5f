"""Handlers in a supervised worker process: what they do to it, they do not do to us."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from time import perf_counter
from typing import Any, Protocol

from hookscope.core import event as event_file
from hookscope.core.runs import Code, Failure, OnStep, Registration, Result
from hookscope.runtime.clock import since_start
from hookscope.runtime.course import Course, is_answer, seconds_of, told_failure
from hookscope.runtime.digest import module_name, with_digest
from hookscope.runtime.failures import CANCELLED, Phase, overran
from hookscope.runtime.link import NotStarted, Printed, Program, Worker, WorkerLost
from hookscope.runtime.python_worker.protocol import Message
from hookscope.runtime.views import is_hook_event
from hookscope.runtime.waiting import to_the_end

LATE = 200  # characters of late output that a note quotes


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds; None: no limit. Each counts from its own start: nobody pays for a queue."""

    spawn: float | None = 5.0  # until a worker is ready
    load: float | None = 10.0  # of one handler's import
    run: float | None = 30.0  # of one handler, unless its registration says otherwise


class Link(Protocol):
    """A worker as the lane sees it. See `link.Worker`."""

    async def start(self) -> None: ...
    def listening(self) -> AbstractContextManager[None]: ...
    async def tell(self, message: Message) -> None: ...
    async def hear(self) -> Message: ...
    def printed(self) -> Printed: ...
    async def end(self) -> None: ...


class Overran(Exception):
    """A limit is over: the worker must go."""

    def __init__(self, seconds: float, phase: Phase) -> None:
        super().__init__(phase)
        self.failure = overran(seconds, phase)


class ProcessLane:
    """Runs handlers in one worker process, one at a time; replaces it when a handler takes it down.

    The worker is started for the first handler and kept between batches. The lane owns it: only
    `_ready` makes one, only `_drop` ends one, and `close` ends the last. A handler that hangs, dies
    or spoils its worker is a result like any other, and the batch goes on behind it in a fresh one,
    with the event as far as it was known. Cancelling `run` kills the worker.

    Driven by the event loop of the caller, whichever that is at the time.
    """

    def __init__(self, start: Callable[[], Link], limits: Limits = Limits()) -> None:
        self._make = start
        self._limits = limits
        self._turn = asyncio.Lock()  # one batch at a time; waiting here costs no handler its limit
        self._worker: Link | None = None
        self._used = False  # has the present worker run or loaded anything
        self._closed = False
        self._last = ""  # whose handler ran last
        self._before: list[str] = []  # what happened since, said with the next result
        self._left: dict[str, str] = {}  # whose handlers left what running in the present worker
        self._held: set[tuple[Path, str]] = set()  # path and export of what the present worker has loaded

    async def run(self, batch: Sequence[Registration], view: Any, step: OnStep) -> None:
        """See Lane.run. Every call's target is a Code; the view is changed as the handlers changed theirs."""
        async with self._turn:
            course = Course(tuple(batch), view, step)
            while course.left:
                try:
                    worker = await self._ready()
                except NotStarted as missing:
                    for call in course.left:
                        step(Result(call, "crashed", since_start(perf_counter()), error=missing.failure))
                    return
                await self._run_in(worker, course)

    async def load(self, code: Code) -> Code | Failure:
        """See Lane.load: the Code with its digest. What an import prints is said with the next result.

        The worker keeps what it loaded under that digest as long as it lives. A fresh one, after a
        crash, can only load what the folder holds by then.
        """
        code = with_digest(code)
        async with self._turn:
            while True:
                try:
                    worker = await self._ready()
                except NotStarted as missing:
                    return missing.failure
                used, self._used = self._used, True
                try:
                    return await self._load_in(worker, code) or code
                except Overran as late:
                    await self._drop()
                    return late.failure
                except WorkerLost as lost:
                    await self._drop()
                    if not (used and lost.died):
                        return Failure("Crashed", f"{lost.text} while it was loaded", phase="load")
                except asyncio.CancelledError:
                    await self._drop()
                    raise

    def holds(self, code: Code) -> bool:
        """Is some version of this handler loaded: it runs where a newer one does not load."""
        return (code.path, code.export) in self._held

    async def close(self) -> None:
        """End the worker, wait until it is gone, and start no other."""
        self._closed = True
        await self._drop()

    async def _ready(self) -> Link:
        """The worker, started where there is none. Raises NotStarted."""
        if self._closed:
            raise NotStarted(Failure("NotStarted", "this lane is closed", phase="spawn"))
        if self._worker is not None:
            return self._worker
        worker = self._worker = self._make()
        self._used = False
        self._left.clear()
        try:
            async with _limit(self._limits.spawn, "spawn"):
                await worker.start()
        except Overran as late:
            await self._drop()
            raise NotStarted(late.failure) from None
        except WorkerLost as lost:
            await self._drop()
            said = worker.printed().stderr.strip()
            text = f"{lost.text} before it was ready" + (f": {said[-LATE:]}" if said else "")
            raise NotStarted(Failure("Crashed", text, phase="spawn")) from None
        except BaseException:
            await self._drop()
            raise
        return worker

    async def _drop(self) -> None:
        """End the worker and wait until it is gone, however often we are cancelled meanwhile."""
        worker, self._worker = self._worker, None
        self._held.clear()
        if worker is not None:
            await to_the_end(worker.end())

    async def _run_in(self, worker: Link, course: Course) -> None:
        """Run what is left as far as this worker lives. Only a cancel comes out."""
        used, self._used = self._used, True
        self._note_late_output(worker)
        try:
            with worker.listening():
                await self._talk(worker, course)
            if course.spoilt:
                await self._drop()
        except Overran as late:
            await self._drop_under(course, worker, course.lost("timeout", late.failure))
        except WorkerLost as lost:
            if used and lost.died and course.phase == "load":  # dead before this call: nobody is to blame
                self._before.append(f"the worker {lost.text} after {self._last or 'the last handler'}")
                course.begun = None
                await self._drop()
                return
            failure = Failure("Crashed", f"{lost.text} before it answered", phase=course.phase)
            await self._drop_under(course, worker, course.lost("crashed", failure))
        except asyncio.CancelledError:
            if course.begun is None:
                await self._drop()
            else:
                await self._drop_under(course, worker, course.lost("cancelled", CANCELLED))
            raise

    async def _drop_under(self, course: Course, worker: Link, ended: Result) -> None:
        """End the worker under a handler, and report that end, also when cancelled meanwhile."""
        try:
            await self._drop()
        finally:
            self._step(course, worker, ended)

    async def _talk(self, worker: Link, course: Course) -> None:
        """Go through the calls that are left, until the last or until one spoils the worker."""
        run, calls = token_hex(8), tuple(course.left)
        order: Message = {
            "do": "run",
            "id": run,
            "view": course.document,
            "hook": is_hook_event(course.view),
            "calls": [{"code": _as_document(_code(call)), "env": dict(_code(call).env)} for call in calls],
        }
        for number, call in enumerate(calls):
            course.begin(call)
            async with _limit(self._limits.load, "load"):
                await worker.tell(order)
                message = await worker.hear()
            if is_answer(message, run, "started", number):
                course.start(seconds_of(message, "loaded"))
                self._held.add((_code(call).path, _code(call).export))
                limit = self._limits.run if call.limit is None else call.limit
                async with _limit(limit, "run"):
                    message = await worker.hear()
            if not is_answer(message, run, "result", number):
                raise WorkerLost("answered what nobody had asked")
            self._step(course, worker, course.answered(message), shared=message.get("shared") is True)
            if message.get("left"):
                self._left[call.name] = str(message["left"])[:LATE]
            if course.spoilt:
                return
            order = {"do": "next", "id": run}

    def _step(self, course: Course, worker: Link, ended: Result, shared: bool = True) -> None:
        """Report an end, with what was printed up to here and what happened before.

        `shared`: what earlier handlers left running may have printed beside this one.
        """
        printed = worker.printed()
        if not shared:
            self._left.clear()
        others = self._others() if printed.stdout or printed.stderr else ()
        notes = (*self._before, *course.notes, *ended.notes, *others, *printed.notes)
        self._before, course.notes = [], []
        self._last = ended.call.name
        course.finish(replace(ended, stdout=printed.stdout, stderr=printed.stderr, notes=notes))

    def _others(self) -> tuple[str, ...]:
        left = " and ".join(f"{name}, which left {what} running" for name, what in self._left.items())
        return (f"some of what it printed may be of {left}",) if left else ()

    def _note_late_output(self, worker: Link) -> None:
        printed = worker.printed()
        text = (printed.stdout + printed.stderr).strip()
        if text:
            more = f"… ({len(text) - LATE:,} characters more)" if len(text) > LATE else ""
            self._before.append(f"before this, {self._last or 'a handler'} printed late: {text[:LATE]}{more}")

    async def _load_in(self, worker: Link, code: Code) -> Failure | None:
        run = token_hex(8)
        with worker.listening():
            async with _limit(self._limits.load, "load"):
                order = {**_as_document(code), "env": dict(code.env)}
                await worker.tell({"do": "load", "id": run, "code": order})
                message = await worker.hear()
        if message.get("id") != run or "loaded" not in message:
            raise WorkerLost("answered what nobody had asked")
        self._last = code.root.name
        if message.get("dirty"):
            await self._drop()
        if message.get("error") is not None:
            return told_failure(message["error"], "load")
        if self._worker is not None:
            self._held.add((code.path, code.export))
        return None


@asynccontextmanager
async def _limit(seconds: float | None, phase: Phase) -> AsyncIterator[None]:
    """Raises Overran when it takes longer."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise Overran(seconds or 0.0, phase) from None


def _code(call: Registration) -> Code:
    if not isinstance(call.target, Code):
        raise TypeError(f"{call.name} is a function of this process; a worker runs files only")
    return call.target


def _as_document(code: Code) -> Message:
    return {
        "path": str(code.path),
        "export": code.export,
        "root": str(code.root),
        "name": module_name(code),
    }


def python_lane(
    *, env: Mapping[str, str], cwd: Path, python: str = sys.executable, limits: Limits = Limits()
) -> ProcessLane:
    """A lane for Python handlers. Its worker has exactly this environment, and starts in `cwd`.

    `python` is the interpreter, 3.9 or newer. It runs isolated (no PYTHON* variables, no user
    site) and writes no `__pycache__` into the hooks' folders.
    """
    worker = Path(__file__).parent / "python_worker" / "worker.py"
    program = Program(
        argv=(python, "-I", "-B", str(worker), str(event_file.__file__)),
        env=dict(env),
        cwd=cwd,
        missing="`python:` in .hookscope/config.yaml names the interpreter, 3.9 or newer.",
    )
    return ProcessLane(partial(Worker, program), limits)

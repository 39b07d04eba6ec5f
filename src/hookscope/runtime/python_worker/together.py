"""Calls of one plugin that run at once: coroutines beside each other, other functions at their turn.

Each has its own view, its own times and its own result, told as it ends. The process is looked at and put
back when all have ended; the last result says how that went. What they print cannot be told apart.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import Any, Optional

STOPS = 16  # of the loop by its own handlers, before we give them up

# Bound before any handler runs.
_now, _settrace, _setprofile = time.perf_counter, sys.settrace, sys.setprofile


class _One:
    """One of the calls."""

    def __init__(self, number: int, call: Any, view: Any) -> None:
        self.number, self.call, self.view = number, call, view
        self.target: Any = None
        self.answer: dict[str, Any] = {}
        self.began = 0.0
        self.ended = False
        self.task: Any = None  # of asyncio, where it is a coroutine


class Together:
    """One run message of calls that start at once. `parts` are the worker's: faults, leftovers, restore."""

    def __init__(self, worker: Any, parts: Any, message: Any) -> None:
        self._worker, self._parts = worker, parts
        self._id = message["id"]
        self._ones = [
            _One(number, call, worker.views.of(view, message))
            for number, (call, view) in enumerate(zip(message["calls"], message["views"]))  # noqa: B905  (3.9)
        ]
        self._running: Optional[_One] = None  # that is no coroutine  # noqa: UP045
        self._held: Any = None  # the last answer, which waits for the end of all
        self._loop: Any = None

    def run(self) -> None:
        """Run them all. Returns when all have ended and are told."""
        worker = self._worker
        there = self._worker.there = self._parts("leftovers").Running()
        ready = [one for one in self._ones if self._prepare(one)]
        for one in self._ones:
            if one not in ready:
                self._end(one)
        for one in ready:
            self._start(one)
        left_over = self._await_all(ready)
        answer = self._held
        who = "it" if len(self._ones) == 1 else "one of those that ran together"
        worker.put_back(answer, who)
        self._parts("remarks").note_tasks(answer, left_over, who)
        worker.remarks.size(answer)
        worker.remarks.beside(answer, there, who)
        worker.telling.tell(answer)

    def _prepare(self, one: _One) -> bool:
        """Load it. False where that failed; its answer says so."""
        worker = self._worker
        one.target, env, one.answer = worker.prepare(self._id, one.number, one.call)
        if one.target is not None:
            worker.remarks.left_out = self._parts("restore").lay_over(env) if env else []
        return one.target is not None

    def _start(self, one: _One) -> None:
        """Call it. A coroutine goes as far as its first wait, any other function to its end."""
        worker, loaded = self._worker, one.answer.get("loaded", 0.0)
        worker.line.say({"id": self._id, "started": one.number, "loaded": loaded})
        one.view.begin(one.call["who"])
        sys.argv[:] = [one.call["code"]["path"]]
        returned, raised = None, None
        one.began, self._running = _now(), one
        try:
            returned = one.target(one.view.value)
        except BaseException as error:  # all of it is what the handler did
            raised = error
        self._running = None
        if raised is None and hasattr(type(returned), "__await__"):
            self._begin(one, returned)
        else:
            self._ended(one, returned, raised)

    def _begin(self, one: _One, awaitable: Any) -> None:
        import asyncio

        self._loop = loop = self._worker.awaits.provide_loop(asyncio)

        async def awaited() -> None:
            returned, raised = None, None
            try:
                returned = await awaitable
            except BaseException as error:  # as above; a cancel is the host's asking
                raised = error
            self._ended(one, returned, raised)

        one.task = loop.create_task(awaited())
        with suppress(BaseException):  # somebody stopped the loop: that is seen when all are awaited
            loop.run_until_complete(asyncio.sleep(0))

    def _await_all(self, ones: list[_One]) -> int:
        """How many tasks they left behind."""
        tasks = [one.task for one in ones if one.task is not None]
        if not tasks:
            return 0
        import asyncio

        broken: BaseException | None = None
        for _ in range(STOPS):
            try:
                self._loop.run_until_complete(asyncio.wait(tasks))
                break
            except BaseException as error:  # one of them stopped the loop under all: that is not their end
                broken = error
        for one in ones:
            if not one.ended:
                self._ended(one, None, broken)
        left_over: int = self._worker.awaits.end_tasks(asyncio)
        return left_over

    def _ended(self, one: _One, returned: Any, raised: Optional[BaseException]) -> None:  # noqa: UP045
        if one.ended:
            return
        one.answer["took"] = _now() - one.began
        try:  # in this very frame: a handler's trace function would see any function we call for it
            _setprofile(None)
            _settrace(None)
        except BaseException:  # of that function; there is none any more
            pass
        if raised is not None:
            self._worker.note_memory(raised)
        self._worker.settle(one.answer, one.target, returned, raised)
        self._end(one)

    def _end(self, one: _One) -> None:
        """Tell its answer; the last one waits for what is to be said of the process."""
        one.ended = True
        one.view.end(self._worker.tell_late)
        self._worker.tell_view(one.view, one.answer)
        if all(other.ended for other in self._ones):
            self._held = one.answer
        else:
            self._worker.telling.tell(one.answer)

    def where(self, number: Optional[int], frame: Any) -> Optional[list[Any]]:  # noqa: UP045
        """See Awaits.where, of the call with this number. Nothing is known of one that waits for others."""
        one = self._ones[number] if number is not None and 0 <= number < len(self._ones) else None
        faults = self._parts("faults")
        if one is not None and one.task is not None:
            if frame is not None and faults.is_waiting(frame):
                with suppress(RuntimeError):  # it has ended in this very moment
                    self._loop.call_soon_threadsafe(one.task.cancel)
                return None
            tasks = sys.modules.get("asyncio.tasks")
            if getattr(tasks, "current_task", lambda _: None)(self._loop) is not one.task:
                return []
        elif one is not self._running:
            return []
        found: list[Any] = faults.frames_of(frame)
        return found

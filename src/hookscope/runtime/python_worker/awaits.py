"""The event loop of a worker, for handlers that await. Asyncio is imported for the first one."""

from __future__ import annotations

import _thread
import sys
from contextlib import suppress
from typing import Any, Optional

_current_frames = sys._current_frames  # bound before any handler runs


class Awaits:
    """Awaits what handlers return, and knows where the running one stands."""

    def __init__(self, faults: Any) -> None:
        self._faults = faults
        self._loop: Any = None  # of asyncio, made for the first handler that needs it
        self._made: Any = None  # the state of that loop when it was made
        self._task: Any = None  # of asyncio, while a handler awaits in it
        self._main = _thread.get_ident()
        self.renewed = False  # did a handler change the loop, so that the next one gets another

    def finish(self, awaitable: Any) -> tuple[Any, int]:
        """(what it came to, how many tasks it left behind)."""
        import asyncio

        self.provide_loop(asyncio)

        async def awaited() -> Any:
            return await awaitable

        self._task = self._loop.create_task(awaited())
        try:
            return self._loop.run_until_complete(self._task), self.end_tasks(asyncio)
        except BaseException:
            self.end_tasks(asyncio)
            raise
        finally:
            self._task = None

    def provide_loop(self, asyncio: Any) -> Any:
        """The loop of this process, a new one where a handler closed it."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
            self._made = _state_of(self._loop)
        asyncio.set_event_loop(self._loop)
        return self._loop

    def end_tasks(self, asyncio: Any) -> int:
        """Cancel what is left in the loop; how many tasks that were."""
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        if self._loop.is_closed() or _state_of(self._loop) != self._made:
            self._loop.close()
            self._loop, self.renewed = None, True
        return len(tasks)

    def where(self, call: Optional[int], together: Any) -> Optional[list[Any]]:  # noqa: UP045
        """The frames of the handler that runs now. Called by the listening thread.

        One that waits in its event loop stands nowhere: it is cancelled, and its own error tells where it
        waited. Then there is nothing to say here: None. `together`: the calls that run at once, if they do.
        """
        frame, task, loop = _current_frames().get(self._main), self._task, self._loop
        found: Optional[list[Any]]  # noqa: UP045
        if together is not None:
            found = together.where(call, frame)
            return found
        if task is not None and frame is not None and self._faults.is_waiting(frame):
            with suppress(RuntimeError):  # it has ended in this very moment
                loop.call_soon_threadsafe(task.cancel)
            return None
        found = self._faults.frames_of(frame)
        return found


def _state_of(loop: Any) -> Any:
    """Return what a handler may have set in a loop for all that runs in it later."""
    handler, signals = getattr(loop, "_exception_handler", None), getattr(loop, "_signal_handlers", None)
    executor = getattr(loop, "_default_executor", None)
    is_own = executor is None or getattr(executor, "_thread_name_prefix", None) == "asyncio"
    return (
        loop.get_debug(),
        loop.get_task_factory(),
        loop.slow_callback_duration,
        handler,
        bool(signals),
        is_own and not getattr(executor, "_shutdown", False),
        len(vars(loop)),
    )

"""How calls are executed: payload views, the event loop, concurrent calls, injected faults."""

from __future__ import annotations

import _thread
import marshal
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from .own_code import note_changed_code
from .process_baseline import LeftoversWatch, add_task_notes
from .protocol import encode
from .safe_values import event_to_plain, is_in_event_loop, running_frames, to_plain

MARSHAL_VERSION = 2  # the last version whose bytes do not depend on other references to a value
SMALL_VIEW = 64 * 1024  # bytes of a view that certainly was not truncated
MAX_LOOP_STOPS = 16  # times that handlers may stop the loop during concurrent calls
FAULT_TEXT, FAULT_NUMBER = "broken on purpose", 7  # written by injected faults

# Bound before any handler runs.
_dumps, _loads, _len = marshal.dumps, marshal.loads, len
_now, _settrace, _setprofile = time.perf_counter, sys.settrace, sys.setprofile
_current_frames = sys._current_frames


# What handlers receive


class PayloadFactory:
    """Makes the payload views of a worker.

    Args:
        event: the module model/hook_event.py.
        handler_arguments: returns the module model/handler_arguments.py.
    """

    def __init__(self, event: Any, handler_arguments: Callable[[], Any]) -> None:
        self.to_document, self.repair_event = event.to_document, event.put_back
        self.handler_arguments = handler_arguments
        self._event_class, self._from_iso = event.HookEvent, event.from_iso

    def make(self, document: Any, message: Any) -> PayloadView:
        """Return the view of a document; the run message names its kind."""
        if message["hook"]:
            return _EventView(self, self._event(document), document["timestamp"])
        return _ArgumentsView(self, document) if message.get("arguments") else PayloadView(self, document)

    def _event(self, document: Any) -> Any:
        moment = document["timestamp"]
        with suppress(TypeError, ValueError):  # handlers see an invalid timestamp as it is
            moment = self._from_iso(moment)
        return self._event_class(
            document["type"],
            document["action"],
            document["sessionKey"],
            document["context"],
            moment,
            document["messages"],
        )


class PayloadView:
    """Any value. Handlers receive `value` itself; `add_changes` reports how they changed it."""

    def __init__(self, factory: PayloadFactory, value: Any) -> None:
        self.value = value
        self._factory = factory
        self._snapshot = self._take_snapshot()
        self._known: Any = None  # a copy, if `_snapshot` cannot be read back
        self._known_notes: list[str] = []
        if type(self._snapshot) is not bytes or _len(self._snapshot) > SMALL_VIEW:  # it may be truncated
            self._known, self._known_notes = self._to_plain()

    def begin(self, who: str) -> None:
        """Note that a handler of hook `who` receives the value next."""

    def end(self, report_late: Callable[[str, str], None]) -> None:
        """Note that all handlers have returned. Later requests are passed to `report_late`."""

    def add_changes(self, answer: dict[str, Any]) -> None:
        """Add the view to the answer if it has changed, and notes about it."""
        snapshot = self._take_snapshot()
        if snapshot is not None and snapshot == self._snapshot:
            return
        notes = self._repair()
        snapshot = self._take_snapshot()
        known = self._known if self._known is not None else _loads(self._snapshot)
        self._snapshot = snapshot
        self._known, known_notes = self._to_plain()
        if self._known != known or encode(self._known) != encode(known):  # the text tells True from 1
            answer["view"] = self._known
        notes += [note for note in known_notes if note not in self._known_notes]
        self._known_notes = known_notes
        if notes:
            answer["notes"] = [*answer.get("notes", ()), *notes]

    def _document(self) -> Any:
        return self.value

    def _take_snapshot(self) -> Any:
        """Return a snapshot: equal snapshots mean equal views. None if the view is not JSON.

        It is bytes, which can be read back; or JSON text if the view has subclasses of dict or list.
        """
        try:
            document = self._document()
        except BaseException:  # raised by a handler's class
            return None
        try:
            return _dumps(document, MARSHAL_VERSION)
        except BaseException:  # more than plain values: the encoder may still accept it
            pass
        try:
            return encode(document)
        except BaseException:  # a handler's classes, cycles, NaN
            return None

    def _to_plain(self) -> tuple[Any, list[str]]:
        return to_plain(self.value)

    def _repair(self) -> list[str]:
        return []


class _EventView(PayloadView):
    """The event of a folder hook: handlers receive `value`, a HookEvent."""

    def __init__(self, factory: PayloadFactory, value: Any, timestamp: Any) -> None:
        self._moment, self._timestamp = value.timestamp, timestamp  # the second one as text
        super().__init__(factory, value)

    def _document(self) -> Any:
        value = self.value
        if value.timestamp is not self._moment:
            return self._factory.to_document(value)
        return {
            "type": value.type,
            "action": value.action,
            "sessionKey": value.session_key,
            "timestamp": self._timestamp,
            "messages": value.messages,
            "context": value.context,
        }

    def _to_plain(self) -> tuple[Any, list[str]]:
        return event_to_plain(self._document())

    def _repair(self) -> list[str]:
        notes: list[str] = self._factory.repair_event(self.value)
        return notes


class _ArgumentsView(PayloadView):
    """The event and the context of a handler of two arguments, see model/payload.py."""

    def _document(self) -> Any:
        requests = self.value.get("asked")  # a subclass of list that knows the requesting hook
        return {**self.value, "asked": [*requests]} if isinstance(requests, list) else self.value

    def begin(self, who: str) -> None:
        self._factory.handler_arguments().opened(self.value).who = who

    def end(self, report_late: Callable[[str, str], None]) -> None:
        self._factory.handler_arguments().closed(self.value, report_late)


# Awaiting


class EventLoop:
    """The event loop of a worker. Asyncio is imported for the first handler that awaits."""

    def __init__(self) -> None:
        self.asyncio: Any = None  # the module, imported before any handler awaited
        self._loop: Any = None
        self._initial_state: Any = None
        self._task: Any = None  # the one in which a handler awaits
        self._main_thread = _thread.get_ident()
        self.was_replaced = False  # a handler changed the loop, so that the next one gets another

    def run_awaitable(self, awaitable: Any) -> tuple[Any, int]:
        """Run an awaitable. Return (result, number of unfinished tasks). Cancels those tasks."""
        loop = self.provide_loop()

        async def await_it() -> Any:
            return await awaitable

        self._task = loop.create_task(await_it())
        try:
            return loop.run_until_complete(self._task), self.cancel_tasks()
        except BaseException:
            self.cancel_tasks()
            raise
        finally:
            self._task = None

    def provide_loop(self) -> Any:
        """Return this process's loop; a new one if a handler closed it."""
        if self.asyncio is None:
            import asyncio

            self.asyncio = asyncio
        if self._loop is None or self._loop.is_closed():
            self._loop = self.asyncio.new_event_loop()
            self._initial_state = _loop_state(self._loop)
        self.asyncio.set_event_loop(self._loop)
        return self._loop

    def cancel_tasks(self) -> int:
        """Cancel the unfinished tasks and return their number."""
        tasks = self.asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(self.asyncio.gather(*tasks, return_exceptions=True))
        if self._loop.is_closed() or _loop_state(self._loop) != self._initial_state:
            self._loop.close()
            self._loop, self.was_replaced = None, True
        return len(tasks)

    def stack_of(self, call: int | None, concurrent: ConcurrentRun | None) -> list[Any] | None:
        """Return the stack of the running handler. Called by the listening thread.

        A handler that waits in the event loop has no stack: it is cancelled, its error shows where it waited,
        and None is returned.
        """
        frame, task, loop = _current_frames().get(self._main_thread), self._task, self._loop
        if concurrent is not None:
            return concurrent.stack_of(call, frame)
        if task is not None and frame is not None and is_in_event_loop(frame):
            with suppress(RuntimeError):  # it has ended at this very moment
                loop.call_soon_threadsafe(task.cancel)
            return None
        return running_frames(frame)


def _loop_state(loop: Any) -> Any:
    """Return the settings of a loop that a handler may change for later handlers."""
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


# Concurrent calls


class _ConcurrentCall:
    def __init__(self, number: int, call: Any, view: PayloadView) -> None:
        self.number, self.call, self.view = number, call, view
        self.target: Any = None
        self.answer: dict[str, Any] = {}
        self.started_at = 0.0
        self.has_ended = False
        self.task: Any = None  # of asyncio, if the handler returned an awaitable


class ConcurrentRun:
    """Concurrent calls of one plugin: coroutines run at the same time, other functions one after another.

    Each call has its own view, duration and result, which is sent when the call ends. The process is restored
    once all have ended, and the last result reports its changes. Their output cannot be separated.
    """

    def __init__(self, worker: Any, message: Any) -> None:
        self._worker = worker
        self._id = message["id"]
        self._calls = [
            _ConcurrentCall(number, call, worker.payloads.make(view, message))
            for number, (call, view) in enumerate(zip(message["calls"], message["views"]))  # noqa: B905  (3.9)
        ]
        self._running: _ConcurrentCall | None = None  # a call outside the event loop
        self._last_answer: Any = None  # waits until the process is restored
        self._loop: Any = None

    def run(self) -> None:
        """Run all calls, and send their results."""
        worker = self._worker
        worker.leftovers = leftovers = LeftoversWatch()
        restore_own_code = worker.restore_own_code  # bound before any handler runs
        loaded = [call for call in self._calls if self._prepare(call)]
        for call in self._calls:
            if call not in loaded:
                self._finish(call)
        for call in loaded:
            self._start(call)
        unfinished = self._await_all(loaded)
        answer = self._last_answer
        who = "it" if len(self._calls) == 1 else "one of the handlers that ran concurrently"
        note_changed_code(answer, restore_own_code(), who)
        worker.restore_process(answer, who)
        add_task_notes(answer, unfinished, who)
        worker.notes.add_memory_note(answer)
        worker.notes.add_leftovers(answer, leftovers, who)
        worker.answers.send(answer)

    def _prepare(self, call: _ConcurrentCall) -> bool:
        """Load the handler. If that fails, put the error into the answer and return False."""
        worker = self._worker
        call.target, env, call.answer = worker.prepare(self._id, call.number, call.call)
        if call.target is not None:
            worker.notes.rejected_variables = worker.baseline.set_environment(env)
        return call.target is not None

    def _start(self, call: _ConcurrentCall) -> None:
        """Call the handler: a coroutine runs to its first `await`, any other function to its end."""
        worker, loaded = self._worker, call.answer.get("loaded", 0.0)
        worker.line.send({"id": self._id, "started": call.number, "loaded": loaded})
        call.view.begin(call.call["who"])
        sys.argv[:] = [call.call["code"]["path"]]
        returned, raised = None, None
        call.started_at, self._running = _now(), call
        try:
            returned = call.target(call.view.value)
        except BaseException as error:  # every exception is the handler's result
            raised = error
        self._running = None
        if raised is None and hasattr(type(returned), "__await__"):
            self._start_task(call, returned)
        else:
            self._end(call, returned, raised)

    def _start_task(self, call: _ConcurrentCall, awaitable: Any) -> None:
        event_loop = self._worker.event_loop
        self._loop = loop = event_loop.provide_loop()

        async def await_it() -> None:
            returned, raised = None, None
            try:
                returned = await awaitable
            except BaseException as error:  # as above; it may be a cancel by the host
                raised = error
            self._end(call, returned, raised)

        call.task = loop.create_task(await_it())
        with suppress(BaseException):  # a handler stopped the loop: `_await_all` notices that
            loop.run_until_complete(event_loop.asyncio.sleep(0))

    def _await_all(self, calls: list[_ConcurrentCall]) -> int:
        """Await the calls and return the number of unfinished tasks that they left."""
        tasks = [call.task for call in calls if call.task is not None]
        if not tasks:
            return 0
        event_loop, broken = self._worker.event_loop, None
        for _ in range(MAX_LOOP_STOPS):
            try:
                self._loop.run_until_complete(event_loop.asyncio.wait(tasks))
                break
            except BaseException as error:  # one handler stopped the loop; that does not end the others
                broken = error
        for call in calls:
            if not call.has_ended:
                self._end(call, None, broken)
        unfinished: int = event_loop.cancel_tasks()
        return unfinished

    def _end(self, call: _ConcurrentCall, returned: Any, raised: BaseException | None) -> None:
        if call.has_ended:
            return
        call.answer["took"] = _now() - call.started_at
        try:  # in this frame, because a handler's trace function would run in any function called here
            _setprofile(None)
            _settrace(None)
        except BaseException:  # raised by that function; it is removed now
            pass
        if raised is not None:
            self._worker.free_reserve(raised)
        self._worker.add_outcome(call.answer, call.target, returned, raised)
        self._finish(call)

    def _finish(self, call: _ConcurrentCall) -> None:
        """Send the answer, except the last one, which waits until the process is restored."""
        call.has_ended = True
        call.view.end(self._worker.report_late)
        self._worker.add_view(call.view, call.answer)
        if all(other.has_ended for other in self._calls):
            self._last_answer = call.answer
        else:
            self._worker.answers.send(call.answer)

    def stack_of(self, number: int | None, frame: Any) -> list[Any] | None:
        """Return the stack of one concurrent call, as `EventLoop.stack_of`; empty if the call waits."""
        call = self._calls[number] if number is not None and 0 <= number < len(self._calls) else None
        if call is not None and call.task is not None:
            if frame is not None and is_in_event_loop(frame):
                with suppress(RuntimeError):  # it has ended at this very moment
                    self._loop.call_soon_threadsafe(call.task.cancel)
                return None
            tasks = sys.modules.get("asyncio.tasks")
            if getattr(tasks, "current_task", lambda _: None)(self._loop) is not call.task:
                return []
        elif call is not self._running:
            return []
        return running_frames(frame)


# Injected faults


class BrokenOnPurpose(Exception):
    """Raised by the fault `exception`."""


def with_injected_fault(target: Callable[[Any], Any], fault: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return the function to call instead of the handler.

    Its errors begin at the handler's first line.

    Args:
        target: the handler.
        fault: the protocol's {"fault", "amount"}, see model/failure.py.
    """
    inject = _FAULTS[fault["fault"]]

    def broken(view: Any) -> Any:
        return inject(target, view, fault["amount"])

    broken.adapts = getattr(target, "adapts", target)  # type: ignore[attr-defined]  # see `adapted` in model/handler_arguments.py
    return broken


def _exception(target: Any, view: Any, amount: float) -> Any:
    raise BrokenOnPurpose(FAULT_TEXT)


def _hang(target: Any, view: Any, amount: float) -> Any:
    """Block the process, as a request without a timeout may."""
    while True:
        time.sleep(3600)


def _slow(target: Any, view: Any, amount: float) -> Any:
    """Run the handler, and delay its answer."""
    try:
        answer = target(view)
    except BaseException:
        time.sleep(amount)
        raise
    if hasattr(type(answer), "__await__"):
        return _await_later(answer, amount)
    time.sleep(amount)
    return answer


async def _await_later(answer: Any, amount: float) -> Any:
    import asyncio

    await asyncio.sleep(amount)
    return await answer


def _exit(target: Any, view: Any, amount: float) -> Any:
    os._exit(int(amount))


def _junk(target: Any, view: Any, amount: float) -> Any:
    """Write wrong types, and values that JSON cannot hold, wherever a handler can write."""
    circle: dict[str, Any] = {"number": float("nan"), "thing": object(), "bytes": b"\xff", "set": {1}}
    circle["itself"] = circle
    if isinstance(view, dict):  # two arguments, see model/payload.py
        event = view["event"]
        data = event.get("data") if isinstance(event, dict) else None
        members = None if view.get("frozen") else data if isinstance(data, dict) else event
    else:
        view.messages = [*view.messages, FAULT_NUMBER, None, {"text": FAULT_TEXT}, [FAULT_TEXT], object()]
        members = view.context
    if isinstance(members, dict):
        for name, value in list(members.items()):
            if isinstance(value, str):
                members[name] = FAULT_NUMBER
        members["junk"] = circle
    wrong: dict[str, Any] = {"block": "perhaps", "cancel": "perhaps", "params": FAULT_NUMBER}
    return {**wrong, "content": [FAULT_TEXT], "junk": circle}


_FAULTS = {"exception": _exception, "hang": _hang, "slow": _slow, "exit": _exit, "junk": _junk}

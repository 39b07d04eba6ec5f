"""The worker: a program that runs Python handlers, one at a time, for a Hookscope that supervises it.

    python -I -B -u worker.py EVENT_FILE MEMORY READ WRITE

EVENT_FILE is core/event.py; MEMORY how many bytes of address space it may take, 0 for any; READ and
WRITE are the descriptors of the protocol (protocol.py).
Descriptors 0, 1 and 2 belong to the handlers. The worker answers for handlers that raise, and puts
back what they disturb. It has no limits of its own: whoever started it kills it when a handler takes
too long. When the host goes away, it ends itself and what its handlers started.
"""

from __future__ import annotations

import _thread
import ctypes
import faulthandler
import fcntl
import importlib.util
import os
import queue
import resource
import signal
import sys
import time
from contextlib import suppress
from typing import Any, Callable, Optional  # noqa: UP035  (3.9)

HERE = os.path.dirname(os.path.abspath(__file__))
PRIVATE = 200  # descriptors of the protocol start here: above what programs count on
RESERVE = 8 * 1024 * 1024  # bytes that are given back when a handler has taken all memory
ANSWER = 1024 * 1024  # bytes of JSON of a returned value
PR_SET_PDEATHSIG = 1
M_ARENA_MAX = -8

# Bound before any handler runs: what a handler puts in their place must not reach the protocol.
_read, _write, _getpid, _exit, _killpg = os.read, os.write, os.getpid, os._exit, os.killpg
_now, _settrace, _setprofile = time.perf_counter, sys.settrace, sys.setprofile
_current_frames = sys._current_frames


def neighbour(path: str, name: str) -> Any:
    """Load a file as a module of its own, without its package."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


protocol, plain, faults, modules, restore, leftovers = (
    neighbour(os.path.join(HERE, f"{name}.py"), f"_hookscope_{name}")
    for name in ("protocol", "plain", "faults", "modules", "restore", "leftovers")
)


_plain, _plain_event, _encode = plain.plain, plain.plain_event, protocol.encode


class Line:
    """The protocol's two descriptors. A thread listens, so that the host's end is noticed at once."""

    def __init__(self, read: int, write: int) -> None:
        self._in, self._out = _private(read), _private(write)
        self._inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._owner = _getpid()

    def listen(self, where: Callable[[], Optional[list[Any]]]) -> None:  # noqa: UP045
        """Start the thread. Not one of `threading`: a handler that counts threads shall not meet it.

        `where` tells the frames of what runs; None where it has stopped that in another way.
        """
        _thread.start_new_thread(self._listen, (where,))

    def hear(self) -> Any:
        """The next message."""
        return self._inbox.get()

    def say(self, message: Any) -> None:
        """Send a message, or end: without the protocol there is nothing left to do here."""
        if _getpid() != self._owner:  # a copy that a handler forked, and which came back from it
            _exit(0)
        left = memoryview(protocol.pack(message))
        try:
            while left:
                left = left[_write(self._out, left) :]
        except OSError:
            _exit(protocol.SPOILT)

    def _listen(self, where: Callable[[], Optional[list[Any]]]) -> None:  # noqa: UP045
        unpacker = protocol.Unpacker()
        try:
            while data := _read(self._in, 65536):
                for message in unpacker.feed(data):
                    if message["do"] != "stack":
                        self._inbox.put(message)
                    elif (frames := where()) is not None:
                        self.say({"id": message["id"], "stack": frames})
        finally:  # the host is gone, or the line is: in both cases nobody wants an answer
            end_of_all()


def _private(descriptor: int) -> int:
    """Moved out of the way, and not inherited by what handlers start."""
    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, PRIVATE)
    except OSError:  # fewer descriptors than that are allowed here
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    os.close(descriptor)
    return moved


def end_of_all() -> None:
    """End this process and its group, which is all that its handlers started and that stayed with it."""
    if os.getpgrp() == _getpid():
        _killpg(0, signal.SIGKILL)
    _exit(protocol.SPOILT)


class Loaded:
    """A handler that is loaded, and what its import set in the environment."""

    def __init__(self, target: Callable[[Any], Any], env: dict[str, str]) -> None:
        self.target = target
        self.env = env


class Worker:
    """Loads and runs handlers as the messages say."""

    def __init__(self, line: Line, event: Any, memory: int) -> None:
        self._line = line
        self._memory = memory
        self._event_class, self._from_iso = event.HookEvent, event.from_iso
        self._to_document, self._put_back = event.to_document, event.put_back
        self._loaded: dict[tuple[str, str, str], Loaded] = {}
        self._good: dict[tuple[str, str], Loaded] = {}  # path, export → the last version that did load
        self._names: dict[str, str] = {}  # root folder → the name its present content is loaded under
        self._loop: Any = None  # of asyncio, made for the first handler that needs it
        self._libc = ctypes.CDLL(None)
        self._baseline = restore.Baseline()
        self._pid = _getpid()
        self._free = leftovers.lowest_free()
        self._reserve = bytes(RESERVE)
        self._left_out: list[str] = []  # names of variables that no environment can hold
        self._shared = False  # runs something of an earlier handler's
        self._main = _thread.get_ident()
        self._task: Any = None  # of asyncio, while a handler awaits in it

    def serve(self) -> None:
        """Answer messages for ever. The end comes from outside, or by the listening thread."""
        self._line.say({"ready": _getpid()})
        while True:
            message = self._line.hear()
            if message["do"] == "load":
                self._load_only(message)
            elif message["do"] == "run":
                self._run(message)

    def _load_only(self, message: Any) -> None:
        _, error, took, clean = self._load(message["code"], message["code"]["env"])
        self._flush()
        self._line.say({"id": message["id"], "loaded": took, "error": error, "dirty": not clean})

    def _run(self, message: Any) -> None:
        is_event, calls = message["hook"], message["calls"]
        fence = message["fence"].encode("ascii")
        view = self._event(message["view"]) if is_event else message["view"]
        known, said = self._seen(view, is_event)  # a copy: handlers change the view itself
        text = self._text(view, is_event)
        announced = False  # does the host know that this call begins
        for number, call in enumerate(calls):
            answer = self._call(message["id"], number, call, view, announced)
            try:
                answer["notes"] += self._put_back(view) if is_event else []
                now = self._text(view, is_event)
                if now is None or now != text:
                    text = now
                    after, notes = self._seen(view, is_event)
                    if after != known:
                        known = answer["view"] = after
                    answer["notes"] += [note for note in notes if note not in said]
                    said = notes
            except BaseException as error:  # it changed the event's class; a fresh worker has the real one
                what = faults.describe(error)["type"]
                answer["notes"].append(f"the event could not be read after it ({what})")
                answer["dirty"] = True
            spoilt = answer["dirty"] or answer["worn"]
            announced = not spoilt and number + 1 < len(calls) and self._is_loaded(calls[number + 1])
            answer["next"] = announced
            self._flush()  # before the answer: then all that was printed is in the pipe when it arrives
            self._put_fence(fence)
            self._line.say(answer)
            if spoilt:  # the host ends this process, and goes on in another
                return

    def _is_loaded(self, call: Any) -> bool:
        return _key(call["code"]) in self._loaded

    def _put_fence(self, fence: bytes) -> None:
        """Tell apart what this call printed from what the next one prints."""
        if _getpid() != self._pid:  # a copy that a handler forked, and which came back from it
            _exit(0)
        try:
            if self._baseline.same_outputs():
                _write(1, fence)
                _write(2, fence)
        except OSError:  # closed, or nobody reads: then the host takes what is there
            pass

    def _text(self, view: Any, is_event: bool) -> Optional[str]:  # noqa: UP045
        """The view as JSON text: equal texts, equal views. None where it holds what JSON cannot."""
        try:
            text: str = _encode(self._to_document(view) if is_event else view)
            return text
        except BaseException:  # a handler's classes, cycles, NaN
            return None

    def _event(self, document: Any) -> Any:
        moment = document["timestamp"]
        with suppress(TypeError, ValueError):  # somebody put something else there; handlers shall see what
            moment = self._from_iso(moment)
        return self._event_class(
            document["type"],
            document["action"],
            document["sessionKey"],
            document["context"],
            moment,
            document["messages"],
        )

    def _seen(self, view: Any, is_event: bool) -> tuple[Any, list[str]]:
        seen: tuple[Any, list[str]] = _plain_event(self._to_document(view)) if is_event else _plain(view)
        return seen

    def _call(self, run: str, number: int, call: Any, view: Any, announced: bool) -> dict[str, Any]:
        """Load where needed, announce, run. The answer, whatever the handler does short of dying."""
        there = leftovers.Running()
        loaded, error, load_took, clean = self._load(call["code"], call["env"])
        answer = {
            "id": run, "result": number, "status": "error", "phase": "load", "took": 0.0, "loaded": load_took,
            "returned": None, "error": error, "stale": None, "notes": [], "dirty": not clean, "worn": False,
            "left": "", "shared": self._shared,
        }  # fmt: skip
        if loaded is None:
            loaded = self._good.get((call["code"]["path"], call["code"]["export"]))
            if loaded is None or not clean:
                return self._and_beside(answer, there)
            answer["stale"], answer["error"] = error, None
        if not announced:
            self._line.say({"id": run, "started": number, "loaded": load_took})
        returned, raised, left_over = None, None, 0
        began = _now()
        try:
            env = {**loaded.env, **call["env"]}
            self._left_out = restore.lay_over(env) if env else []
            sys.argv[:] = [call["code"]["path"]]
            returned = loaded.target(view)
            if hasattr(type(returned), "__await__"):
                returned, left_over = self._await(returned)
        except BaseException as error:  # SystemExit, KeyboardInterrupt: all are what the handler did
            raised = error
            if type(error) is MemoryError:
                self._reserve = b""  # room to say so, and to end
        answer["took"] = _now() - began
        try:  # in this very frame: a handler's trace function would see any function we call for it
            _setprofile(None)
            _settrace(None)
        except BaseException:
            pass
        self._flush()
        answer["dirty"] = not self._baseline.restore() or not clean or not self._reserve
        answer["phase"] = "run"
        answer["error"] = None if raised is None else faults.describe(raised, loaded.target)
        answer["status"] = "ok" if raised is None else "error"
        answered = returned if raised is None else None
        notes: list[str] = []
        if answered is not None:
            answer["returned"], notes = _plain(answered, "what it returned", ANSWER)
        if left_over:
            notes.append(f"it left {left_over} asyncio task{'s' * (left_over > 1)} unfinished, cancelled now")
        answer["notes"] = notes
        return self._and_beside(answer, there)

    def _and_beside(self, answer: dict[str, Any], there: Any) -> dict[str, Any]:
        """The answer, and in it what the call left running, and what it had to do without."""
        answer["left"], self._shared = there.left()
        if leftovers.is_large(self._memory):
            answer["notes"].append("it has taken half of the memory that its worker may have, and kept it")
            answer["worn"] = True
        free = leftovers.lowest_free()
        if not 0 <= free <= self._free + leftovers.MANY:
            left_open = "all descriptors" if free < 0 else f"more than {leftovers.MANY} descriptors"
            answer["notes"].append(f"it left {left_open} open")
            answer["dirty"] = True
        if answer["left"]:
            later = "what that prints later is charged to the handlers after it"
            answer["notes"].append(f"it left {answer['left']} running: {later}")
        if self._left_out:
            names = ", ".join(repr(name)[:80] for name in self._left_out[:8])
            answer["notes"].append(f"left out of its environment, which cannot hold them: {names}")
        return answer

    def _load(self, code: Any, env: dict[str, str]) -> tuple[Optional[Loaded], Any, float, bool]:  # noqa: UP045
        """(handler, error, seconds, is the process as before). One of the first two is None."""
        key = _key(code)
        if key in self._loaded:
            return self._loaded[key], None, 0.0, True
        began = _now()
        try:
            self._left_out = restore.lay_over(env)
            base = dict(os.environ)
            target = modules.import_handler(code["path"], code["export"], code["root"], code["name"])
            loaded = Loaded(target, restore.changes_of_environ(base))
            self._loaded[key] = self._good[key[:2]] = loaded
            self._forget_older(code["root"], code["name"])
            error = None
        except BaseException as raised:  # a file may do anything while it is imported
            error = faults.describe(raised)
        took = _now() - began
        return self._loaded.get(key), error, took, self._baseline.restore()

    def _forget_older(self, root: str, name: str) -> None:
        """Drop what the folder held before it changed: not before what it holds now is loaded."""
        older = self._names.get(root)
        if older not in (None, name):
            modules.forget(older)
            self._loaded = {key: loaded for key, loaded in self._loaded.items() if key[2] != older}
        self._names[root] = name

    def _await(self, awaitable: Any) -> tuple[Any, int]:
        """(what it came to, how many tasks it left behind). Asyncio is imported for the first one."""
        import asyncio

        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)

        async def awaited() -> Any:
            return await awaitable

        self._task = self._loop.create_task(awaited())
        try:
            return self._loop.run_until_complete(self._task), self._end_tasks(asyncio)
        except BaseException:
            self._end_tasks(asyncio)
            raise
        finally:
            self._task = None

    def where(self) -> Optional[list[Any]]:  # noqa: UP045
        """The frames of the handler that runs now. Called by the listening thread.

        One that waits in its event loop stands nowhere: it is cancelled, and its own error tells where it
        waited. Then there is nothing to say here: None.
        """
        frame, task, loop = _current_frames().get(self._main), self._task, self._loop
        if task is not None and frame is not None and faults.is_waiting(frame):
            with suppress(RuntimeError):  # it has ended in this very moment
                loop.call_soon_threadsafe(task.cancel)
            return None
        found: list[Any] = faults.frames_of(frame)
        return found

    def _end_tasks(self, asyncio: Any) -> int:
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        return len(tasks)

    def _flush(self) -> None:
        """Python's buffers, and those of C code."""
        for name in ("stdout", "stderr"):
            with suppress(BaseException):  # closed, gone, or a handler's own object; nothing of ours is lost
                getattr(sys, name).flush()
        self._libc.fflush(None)


def _key(code: Any) -> tuple[str, str, str]:
    return code["path"], code["export"], code["name"]


def prepare(memory: int) -> None:
    """Set the process up before any handler: its end, its size, its dumps, its text."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        with suppress(ValueError, OSError):  # more than its user may have, or a system without this limit
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    faulthandler.enable(file=2)
    faulthandler.register(signal.SIGUSR2, file=2)  # for handlers that let no code of ours run
    if sys.platform.startswith("linux"):
        # For handlers that never let the listening thread run.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(AttributeError, OSError):  # glibc: a heap for each thread would use up the address space
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)
    for stream in (sys.stdout, sys.stderr):
        # The streams that Python itself has opened, though their declared type allows others.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]


def main(event_file: str, memory: str, read: str, write: str) -> None:
    """Serve until the host goes away."""
    line = Line(int(read), int(write))
    prepare(int(memory))
    event = neighbour(event_file, "_hookscope_event")
    worker = Worker(line, event, int(memory))
    line.listen(worker.where)
    worker.serve()


if __name__ == "__main__":
    main(*sys.argv[1:5])

"""The worker: a program that runs Python handlers, one at a time, for a Hookscope that supervises it.

    python -I -B -u worker.py EVENT_FILE MEMORY READ WRITE CONTROL

EVENT_FILE is core/event.py; MEMORY how many bytes of address space it may take, 0 for any; READ, WRITE
and CONTROL are the descriptors of the protocol (protocol.py).
Descriptors 0, 1 and 2 belong to the handlers. The worker answers for handlers that raise, and puts
back what they disturb. It has no limits of its own: whoever started it kills it when a handler takes
too long. When the host goes away, it ends itself and what its handlers started.
"""

from __future__ import annotations

import _thread
import ctypes
import faulthandler
import importlib.util
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from typing import Any, Callable, Optional  # noqa: UP035  (3.9)

HERE = os.path.dirname(os.path.abspath(__file__))
RESERVE = 8 * 1024 * 1024  # bytes that are given back when a handler has taken all memory
ANSWER = 1024 * 1024  # bytes of JSON of a returned value
SOON = 0.001  # seconds in which nobody takes half of a worker's memory
SAID_ALWAYS = frozenset(("id", "result", "returned", "view"))  # of an answer, even where it is nothing
PR_SET_PDEATHSIG = 1
M_ARENA_MAX = -8

# Bound before any handler runs: what a handler puts in their place must not reach the protocol.
_write, _getpid, _exit = os.write, os.getpid, os._exit
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


_PARTS: dict[str, Any] = {}


def part(name: str) -> Any:
    """The file of that name beside this one, loaded once."""
    if name not in _PARTS:
        _PARTS[name] = neighbour(os.path.join(HERE, f"{name}.py"), f"_hookscope_{name}")
    return _PARTS[name]


protocol, line, plain, faults, modules, restore, leftovers, views, authors = map(
    part, ("protocol", "line", "plain", "faults", "modules", "restore", "leftovers", "views", "authors")
)
_plain, _encode = plain.plain, protocol.encode


class Loaded:
    """A module that is loaded, and what its import set in the environment."""

    def __init__(self, made: Any, env: dict[str, str]) -> None:
        self.targets: dict[str, Callable[[Any], Any]]
        self.module: Any  # what it declares
        self.targets, self.module = made
        self.env = env


class Worker:
    """Loads and runs handlers as the messages say."""

    def __init__(self, to_host: Any, event: Any, authoring: Callable[[], Any], memory: int) -> None:
        self.line = to_host
        self._memory = memory
        self.views = views.Views(event, plain, _encode, authoring)
        self._authoring = authoring
        self._loaded: dict[tuple[str, str, str, str], Loaded] = {}
        self._good: dict[tuple[str, str, str], Loaded] = {}  # path, export, shape → the last that did load
        self._names: dict[str, str] = {}  # root folder → the name its present content is loaded under
        self._loop: Any = None  # of asyncio, made for the first handler that needs it
        self._fflush = ctypes.CDLL(None).fflush
        self.baseline = restore.Baseline()
        self._pid = _getpid()
        self._free = to_host.free()
        self._streams = sys.stdout, sys.stderr
        self.reserve = bytes(RESERVE)
        self.left_out: list[str] = []  # names of variables that no environment can hold
        self._shared = False  # runs something of an earlier handler's
        self.main = _thread.get_ident()
        self._task: Any = None  # of asyncio, while a handler awaits in it
        self._together: Any = None  # the calls that run at once, while they do

    def serve(self) -> None:
        """Answer messages for ever. The end comes from outside, or by the listening thread."""
        self.line.say({"ready": _getpid()})
        while True:
            message = self.line.hear()
            if message["do"] == "load":
                self._load_only(message)
            elif message["do"] == "run":
                self._run(message)

    def _load_only(self, message: Any) -> None:
        loaded, error, took, clean = self._load(message["code"], message["code"]["env"])
        answer = {"id": message["id"], "loaded": took, "error": error, "dirty": not clean, "module": None}
        if loaded is not None and loaded.module is not None:
            answer["module"] = part("shapes").document_of(loaded.module, _plain)
        self.flush()
        self.line.say(answer)

    def _run(self, message: Any) -> None:
        if message.get("together"):
            self._run_together(message)
            return
        calls, fence = message["calls"], message["fence"].encode("ascii")
        view = self.views.of(message["view"], message)
        announced = False  # does the host know that this call begins
        there, last = leftovers.Running(), len(calls) - 1
        for number, call in enumerate(calls):
            view.begin(call["who"])
            answer = self._call(message["id"], number, call, view.value, announced, there)
            if number == last:
                view.end(self.tell_late)
            self.tell_view(view, answer)
            if number == last or answer["took"] > SOON:
                self.note_size(answer)
            spoilt = answer["dirty"] or answer["worn"]
            announced = not spoilt and number < last and _key(calls[number + 1]["code"]) in self._loaded
            answer["next"] = announced
            self.say_result(answer, fence)
            if spoilt:  # the host ends this process, and goes on in another
                return

    def _run_together(self, message: Any) -> None:
        self._together = part("together").Together(self, part, message)
        try:
            self._together.run()
        finally:
            self._together = None

    def tell_view(self, view: Any, answer: dict[str, Any]) -> None:
        """Put into the answer what became of the view."""
        try:
            view.tell(answer)
        except BaseException as error:  # it changed the event's class; a fresh worker has the real one
            what = faults.describe(error)["type"]
            answer["notes"].append(f"the event could not be read after it ({what})")
            answer["dirty"] = True

    def tell_late(self, who: str, text: str) -> None:
        """Tell what a handler did after it had answered."""
        self.line.say({"late": {"who": who, "text": text}})

    def say_result(self, answer: dict[str, Any], fence: bytes) -> None:
        """Tell the host that a call has ended."""
        self.flush()  # before the answer: then all that was printed is in the pipe when it arrives
        self._put_fence(fence)
        self.line.say({name: value for name, value in answer.items() if value or name in SAID_ALWAYS})

    def _put_fence(self, fence: bytes) -> None:
        """Tell apart what this call printed from what the next one prints."""
        if _getpid() != self._pid:  # a copy that a handler forked, and which came back from it
            _exit(0)
        try:
            if self.baseline.holds_outputs:
                _write(1, fence)
                _write(2, fence)
        except OSError:  # closed, or nobody reads: then the host takes what is there
            pass

    def _call(
        self, run: str, number: int, call: Any, view: Any, announced: bool, there: Any
    ) -> dict[str, Any]:
        """Load where needed, announce, run. The answer, whatever the handler does short of dying.

        `there` is what ran when the call before it had ended.
        """
        target, env, answer = self.prepare(run, number, call)
        if target is None:
            return self.and_beside(answer, there)
        clean = not answer["dirty"]
        if not announced:
            self.line.say({"id": run, "started": number, "loaded": answer["loaded"]})
        returned, raised, left_over = None, None, 0
        began = _now()
        try:
            self.left_out = restore.lay_over(env) if env else []
            sys.argv[:] = [call["code"]["path"]]
            returned = target(view)
            if returned is not None and hasattr(type(returned), "__await__"):
                returned, left_over = self._await(returned)
        except BaseException as error:  # SystemExit, KeyboardInterrupt: all are what the handler did
            raised = error
            self.note_memory(error)
        answer["took"] = _now() - began
        try:  # in this very frame: a handler's trace function would see any function we call for it
            _setprofile(None)
            _settrace(None)
        except BaseException:
            pass
        if not self._has_streams():  # what it has put in their place is taken away now
            self.flush()
        self.settle(answer, target, returned, raised)
        answer["dirty"] = not self.baseline.restore() or not clean or not self.reserve
        self.note_tasks(answer, left_over)
        return self.and_beside(answer, there)

    def prepare(self, run: str, number: int, call: Any) -> tuple[Any, dict[str, str], dict[str, Any]]:
        """Load it: (what to call or None, its environment, the answer as it is so far)."""
        code = call["code"]
        loaded, error, load_took, clean = self._load(code, call["env"])
        answer = {
            "id": run, "result": number, "status": "error", "phase": "load", "took": 0.0, "loaded": load_took,
            "returned": None, "error": error, "stale": None, "notes": [], "dirty": not clean, "worn": False,
            "left": "", "shared": self._shared,
        }  # fmt: skip
        if loaded is None and clean:
            loaded = self._good.get(_key(code)[1:])
            if loaded is not None:
                answer["stale"], answer["error"] = error, None
        if loaded is None:
            return None, {}, answer
        target = loaded.targets.get(code.get("member", ""))
        if target is None:
            try:
                target = part("shapes").member_of(loaded, code.get("member", ""), modules.NoHandler)
            except modules.NoHandler as missing:
                answer["error"] = faults.describe(missing)
        if target is not None and "fault" in call:
            target = part("on_purpose").in_place_of(target, call["fault"])
        env = {**loaded.env, **call["env"]} if loaded.env or call["env"] else call["env"]
        return target, env, answer

    def settle(
        self, answer: dict[str, Any], target: Any, returned: Any, raised: BaseException | None
    ) -> None:
        """Put into the answer what the call came to."""
        answer["phase"] = "run"
        answer["error"] = None if raised is None else faults.describe(raised, target)
        answer["status"] = "ok" if raised is None else "error"
        if raised is None and returned is not None:
            answer["returned"], notes = _plain(returned, "what it returned", ANSWER)
            answer["notes"] += notes

    def note_memory(self, error: BaseException) -> None:
        """Make room to say that there was none, and to end."""
        if type(error) is MemoryError:
            self.reserve = b""

    def note_size(self, answer: dict[str, Any]) -> None:
        """Say that this process has grown, and has served its time."""
        if leftovers.is_large(self._memory):
            answer["notes"].append("it has taken half of the memory that its worker may have, and kept it")
            answer["worn"] = True

    def note_tasks(self, answer: dict[str, Any], left_over: int, who: str = "it") -> None:
        """Say that asyncio tasks were left behind."""
        if left_over:
            text = f"{who} left {left_over} asyncio task{'s' * (left_over > 1)} unfinished, cancelled now"
            answer["notes"].append(text)

    def and_beside(self, answer: dict[str, Any], there: Any, who: str = "it") -> dict[str, Any]:
        """The answer, and in it what the call left running, and what it had to do without.

        `who` stands for the handler, in notes.
        """
        answer["left"], self._shared = there.left()
        free = self.line.free()
        if not 0 <= free <= self._free + leftovers.MANY:
            left_open = "all descriptors" if free < 0 else f"more than {leftovers.MANY} descriptors"
            answer["notes"].append(f"{who} left {left_open} open")
            answer["dirty"] = True
        if answer["left"]:
            later = "what that prints later is charged to the handlers after it"
            answer["notes"].append(f"{who} left {answer['left']} running: {later}")
        if self.left_out:
            names = ", ".join(repr(name)[:80] for name in self.left_out[:8])
            answer["notes"].append(f"left out of its environment, which cannot hold them: {names}")
        return answer

    def _load(self, code: Any, env: dict[str, str]) -> tuple[Optional[Loaded], Any, float, bool]:  # noqa: UP045
        """(module, error, seconds, is the process as before). One of the first two is None."""
        key = _key(code)
        if key in self._loaded:
            return self._loaded[key], None, 0.0, True
        began = _now()
        try:
            self.left_out = restore.lay_over(env)
            base = dict(os.environ)
            made = self._make(code)
            loaded = Loaded(made, restore.changes_of_environ(base))
            self._loaded[key] = self._good[key[1:]] = loaded
            self._forget_older(code["root"], code["name"])
            error = None
        except BaseException as raised:  # a file may do anything while it is imported
            error = faults.describe(raised)
        took = _now() - began
        return self._loaded.get(key), error, took, self.baseline.restore()

    def _make(self, code: Any) -> Any:
        if code.get("shape", "hook") == "hook":  # most are, and do without the rest
            handler = modules.import_handler(code["path"], code["export"], code["root"], code["name"])
            return {"": handler}, None
        making = part("shapes").make(code, modules, self._authoring())
        value = None
        while True:
            try:
                wanted = making.send(value)
            except StopIteration as made:
                return made.value
            value = self._await(wanted)[0] if hasattr(type(wanted), "__await__") else wanted

    def _forget_older(self, root: str, name: str) -> None:
        """Drop what the folder held before it changed: not before what it holds now is loaded."""
        older = self._names.get(root)
        if older not in (None, name):
            modules.forget(older)
            if authors.AUTHORING in sys.modules:
                self._authoring().forget_names(older)
            self._loaded = {key: loaded for key, loaded in self._loaded.items() if key[0] != older}
        self._names[root] = name

    def _await(self, awaitable: Any) -> tuple[Any, int]:
        """(what it came to, how many tasks it left behind). Asyncio is imported for the first one."""
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
        asyncio.set_event_loop(self._loop)
        return self._loop

    def where(self, call: Optional[int] = None) -> Optional[list[Any]]:  # noqa: UP045
        """The frames of the handler that runs now. Called by the listening thread.

        One that waits in its event loop stands nowhere: it is cancelled, and its own error tells where it
        waited. Then there is nothing to say here: None.
        """
        frame, task, loop = _current_frames().get(self.main), self._task, self._loop
        together = self._together
        if together is not None:
            return together.where(call, frame)  # type: ignore[no-any-return]  # loaded by name: no types
        if task is not None and frame is not None and faults.is_waiting(frame):
            with suppress(RuntimeError):  # it has ended in this very moment
                loop.call_soon_threadsafe(task.cancel)
            return None
        found: list[Any] = faults.frames_of(frame)
        return found

    def end_tasks(self, asyncio: Any) -> int:
        """Cancel what is left in the loop; how many tasks that were."""
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        return len(tasks)

    def _has_streams(self) -> bool:
        out, err = self._streams
        return getattr(sys, "stdout", None) is out and getattr(sys, "stderr", None) is err

    def flush(self) -> None:
        """Python's buffers, and those of C code."""
        try:  # noqa: SIM105  (behind every call: `suppress` takes longer than the flush)
            sys.stdout.flush()
        except BaseException:  # closed, gone, or a handler's own object; nothing of ours is lost
            pass
        try:  # noqa: SIM105  (as above)
            sys.stderr.flush()
        except BaseException:  # as above
            pass
        self._fflush(None)


def _key(code: Any) -> tuple[str, str, str, str]:
    """The content's name, and what of it."""
    return code["name"], code["path"], code["export"], code.get("shape", "hook")


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


def main(event_file: str, memory: str, read: str, write: str, control: str) -> None:
    """Serve until the host goes away."""
    to_host = line.Line(protocol, int(read), int(write), int(control))
    prepare(int(memory))
    event = neighbour(event_file, "_hookscope_event")
    beside = os.path.join(os.path.dirname(event_file), "authoring.py")
    writers = authors.Authors(lambda: neighbour(beside, authors.AUTHORING))
    writers.install()
    worker = Worker(to_host, event, writers.authoring, int(memory))
    to_host.listen(worker.where)
    worker.serve()


if __name__ == "__main__":
    main(*sys.argv[1:6])

"""The worker: a program that runs Python handlers for a Hookscope process that supervises it.

    python -I -B -u worker.py EVENT_FILE MEMORY READ WRITE CONTROL [BELL]

EVENT_FILE is model/hook_event.py. MEMORY is the limit of address space in bytes, 0 for none. READ, WRITE,
CONTROL and BELL are the descriptors of the protocol (protocol.py); 0, 1 and 2 belong to the handlers. The
worker reports handlers that raise, and restores what they change in the process. It has no time limits of
its own: the host kills it if a handler takes too long. If the host goes away, the worker ends itself and
what its handlers started.
"""

from __future__ import annotations

import ctypes
import faulthandler
import importlib.util
import io
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from types import ModuleType
from typing import Any

HERE = os.path.dirname(os.path.abspath(__file__))
_no_bytecode = sys.dont_write_bytecode
if __name__ == "__main__":  # the files beside this one become a package, which handlers do not see
    __package__ = "_hookscope_worker"
    sys.modules[__package__] = ModuleType(__package__)
    sys.modules[__package__].__path__ = [HERE]
    sys.dont_write_bytecode = False  # our own files are compiled once for all workers

from .call_execution import ConcurrentRun, EventLoop, PayloadFactory, PayloadView, with_injected_fault
from .handler_modules import AuthoringFinder, AuthoringModules, NoHandler, forget
from .host_line import AnswerSender, HostLine, StandardOutputs
from .loaded_handlers import REGISTRATION_SIZE, HandlerCache, member_of, module_document
from .own_code import note_changed_code, watch_own_code
from .process_baseline import AnswerNotes, LeftoversWatch, ProcessBaseline, add_notes, add_task_notes
from .protocol import BEGUN, short_frame
from .safe_values import describe_exception, generator_error, not_found_notes, to_plain

sys.dont_write_bytecode = _no_bytecode

RESERVE = 8 * 1024 * 1024  # bytes to free when a handler has used all memory
RETURNED_SIZE = 1024 * 1024  # bytes of JSON of a return value
QUICK_CALL = 0.001  # seconds; shorter calls cannot take half of a worker's memory
PR_SET_PDEATHSIG = 1
M_ARENA_MAX = -8
WARM_UP_NAME = "warm_up"
WARM_UP_FILE = os.path.join(HERE, "__init__.py")
WARM_UP_CODE = {"path": WARM_UP_FILE, "export": "warm_up_handler", "root": HERE, "name": WARM_UP_NAME}
# As the host would send it.
WARM_UP_MESSAGE = {
    "id": "",
    "fence": "",
    "know": [[0, {"who": "", "code": WARM_UP_CODE, "env": {}}]],
    "calls": [0],
    "view": {
        "type": "",
        "action": "",
        "sessionKey": "",
        "timestamp": "1970-01-01T00:00:00.000Z",
        "messages": [],
        "context": {},
    },
    "hook": True,
}

# Bound before any handler runs, so that handlers cannot replace functions that the protocol uses.
_getpid, _len = os.getpid, len
_now, _settrace, _setprofile = time.perf_counter, sys.settrace, sys.setprofile


class HandlerWorker:
    """Loads and runs handlers as the host's messages request."""

    def __init__(self, line: HostLine, event: Any, authoring: AuthoringModules, memory: int) -> None:
        """`event` is the module model/hook_event.py; `memory` is the limit in bytes, 0 for none."""
        self.line = line
        self.payloads = PayloadFactory(event, authoring.handler_arguments)
        self.event_loop = EventLoop()
        self._cache = HandlerCache(self, authoring)
        outputs = StandardOutputs()
        self.baseline = ProcessBaseline(outputs)
        self.answers = AnswerSender(line, outputs, self.baseline)
        self.settings: dict[str, Any] = {}  # of the host, for plugins
        self.leftovers = LeftoversWatch()  # of the last run
        self.notes = AnswerNotes(line, memory)
        self._reserve = bytes(RESERVE)
        self._calls: dict[int, Any] = {}  # by the host's number
        # By the host's number, after the first run: what to call, its variables, its additions to sys.path.
        self._targets: dict[int, tuple[Any, dict[str, str], tuple[list[str], list[str]]]] = {}
        self._concurrent: ConcurrentRun | None = None  # while it runs
        self._debugger: Any = None
        self.restore_own_code: Callable[[], list[str]] = lambda: []  # until the warm-up has ended
        self.baseline.begin()

    def _watch_own_code(self) -> None:
        parts = (
            self.line,
            self.payloads,
            self.event_loop,
            self._cache,
            self.baseline,
            self.answers,
            self.notes,
        )
        watch_own_code(self, *parts)

    def serve(self) -> None:
        """Execute messages until the process is killed, or the listening thread ends it."""
        self.line.send({"ready": _getpid(), "clock": _now()})
        self._warm_up()
        self._watch_own_code()
        while True:
            message = self.line.receive()
            if message["do"] == "load":
                self._load(message)
            elif message["do"] == "run":
                self._run(message)
            elif message["do"] == "settings":
                self.settings = message["value"]
            elif message["do"] == "debug":
                self._start_debugger(message)
            elif message["do"] == "rest":
                self.answers.flush()
                self.line.send({"id": message["id"], "rest": self.leftovers.since_start()})

    def _warm_up(self) -> None:
        """Run a handler of our own and discard its answers, so that the first real call is twice as fast."""
        self.line.send_frame = _discard_frame  # type: ignore[method-assign]  # replaced on this one object
        try:
            self._run(WARM_UP_MESSAGE)
        finally:
            del self.line.send_frame
        forget([WARM_UP_NAME])
        self._cache.clear()
        self._calls.clear()
        self.forget_targets()

    def _start_debugger(self, message: Any) -> None:
        sys.dont_write_bytecode = False
        try:
            from .debugger import HandlerDebugger  # imports `pdb` and `dis`, which other workers do not need
        finally:
            sys.dont_write_bytecode = _no_bytecode
        self._debugger = HandlerDebugger(self.line, message)
        self._cache.load = self._debugger.wrap_load(self._cache.load)  # type: ignore[method-assign]  # replaced on this one object
        self.baseline.accept("sys", "pdb")
        self._watch_own_code()

    def stack_of(self, call: int | None = None) -> list[Any] | None:
        return self.event_loop.stack_of(call, self._concurrent)

    def debug(self, message: Any) -> None:
        """Pass a command to the debugger. Called by the listening thread."""
        if self._debugger is not None:
            self._debugger.receive(message)

    def forget_targets(self) -> None:
        """Forget the functions to call, because a loaded module was replaced."""
        self._targets.clear()

    def _load(self, message: Any) -> None:
        restore_own_code = self.restore_own_code  # bound before the module runs
        loaded, error, took, is_restored = self._cache.load(message["code"], message["code"]["env"])
        answer = {
            "id": message["id"],
            "loaded": took,
            "error": error,
            "dirty": bool(restore_own_code()) or not is_restored,
            "module": None,
        }
        if loaded is not None and loaded.module is not None:
            answer["module"] = module_document(loaded.module)
        self.answers.flush()
        self.line.send(answer)

    def _run(self, message: Any) -> None:
        self.answers.begin_run(message)
        if message.get("together"):
            self._concurrent = ConcurrentRun(self, message)
            try:
                self._concurrent.run()
            finally:
                self._concurrent = None
            return
        for number, call in message.get("know", ()):
            self._calls[number] = call
            self._targets.pop(number, None)
        calls = [(number, self._calls[number]) for number in message["calls"]]
        view = self.payloads.make(message["view"], message)
        self.leftovers = LeftoversWatch()
        is_announced = False  # the host knows that the next call starts
        last, restore_own_code = _len(calls) - 1, self.restore_own_code  # bound before any handler runs
        for number, (known, call) in enumerate(calls):
            view.begin(call["who"])
            answer = self._call_handler(message["id"], number, call, view.value, is_announced, known)
            note_changed_code(answer, restore_own_code())
            if number == last:
                view.end(self.report_late)
            self.add_view(view, answer)
            if number == last or answer["took"] > QUICK_CALL:
                self.notes.add_memory_note(answer)
            stops = "dirty" in answer or "worn" in answer or "apart" in answer
            is_announced = not stops and number < last and self._is_loaded(*calls[number + 1])
            if number == last:
                del view, message["view"]  # so that finalizers of objects in the event run in this call
            self.answers.send(answer, is_announced)
            if stops:  # the host ends this process, or keeps it for this hook
                return

    def _is_loaded(self, known: int, call: Any) -> bool:
        return known in self._targets or self._cache.is_loaded(call["code"])

    def add_view(self, view: PayloadView, answer: dict[str, Any]) -> None:
        """Add the changes of the view to the answer."""
        try:
            view.add_changes(answer)
        except BaseException as error:  # the handler changed the event's class; a new worker has the real one
            what = describe_exception(error)["type"]
            add_notes(answer, f"the event could not be read afterwards ({what})")
            answer["dirty"] = True

    def report_late(self, who: str, text: str) -> None:
        """Report what a handler did after its call had ended."""
        self.line.send({"late": {"who": who, "text": text}})

    def report_late_handler(self, code: Any, row: Any) -> None:
        """Report a handler that a module registered after it was loaded."""
        text = f"registers a handler of {row['key']} after `register`: it is called from the next event on"
        adds = {"name": code["name"], "row": to_plain(row, "", REGISTRATION_SIZE)[0]}
        self.line.send({"late": {"who": os.path.basename(code["root"]), "text": text, "adds": adds}})

    def _call_handler(
        self, run: str, number: int, call: Any, value: Any, is_announced: bool, known: int
    ) -> dict[str, Any]:
        """Load the handler if necessary, announce the call, and run it. Return the answer. Never raises.

        Args:
            run: the ID of the run message.
            number: the call's number in the message.
            call: the protocol's `call`.
            value: what the handler gets.
            is_announced: the host knows that the call starts.
            known: the host's number for the call.
        """
        target, env, answer = self.prepare(run, number, call, known)
        if target is None:
            self.notes.add_leftovers(answer, self.leftovers)
            return answer
        if not is_announced:
            loaded = answer.get("loaded", 0.0)  # if 0, the host need not read it before the answer
            self.line.send_frame(short_frame(BEGUN, run, number, loaded), loaded > 0)
        returned, raised, unfinished = None, None, 0
        began = _now()
        try:
            self.notes.rejected_variables = self.baseline.set_environment(env)
            sys.argv[:] = [call["code"]["path"]]
            returned = target(value)
            if returned is not None:
                self.baseline.restore_builtins()
                if hasattr(type(returned), "__await__"):
                    returned, unfinished = self.event_loop.run_awaitable(returned)
        except BaseException as error:  # SystemExit, KeyboardInterrupt: all are the handler's result
            raised = error
            self.free_reserve(error)
        answer["took"] = _now() - began
        try:  # in this frame, because a handler's trace function would run in any function called here
            _setprofile(None)
            _settrace(None)
        except BaseException:  # raised by that function; it is removed now
            pass
        self.baseline.restore_builtins()
        self.answers.flush_replaced_streams()
        if raised is not None or returned is not None:
            self.add_outcome(answer, target, returned, raised)
        self.restore_process(answer)
        if self.event_loop.was_replaced:
            self.event_loop.was_replaced = False
            add_notes(answer, "it changed the event loop: the next handler gets a new one")
        add_task_notes(answer, unfinished)
        self.notes.add_leftovers(answer, self.leftovers)
        return answer

    def prepare(
        self, run: str, number: int, call: Any, known: int = -1
    ) -> tuple[Any, dict[str, str], dict[str, Any]]:
        """Load the handler. Return (function to call or None, its variables, the answer so far)."""
        answer: dict[str, Any] = {"id": run, "result": number, "took": 0.0}
        if self.notes.is_shared:
            answer["shared"] = True
        if known in self._targets:
            target, env, folders = self._targets[known]
            self.baseline.add_to_path(folders)
            return target, env, answer
        code = call["code"]
        loaded, error, took, is_restored = self._cache.load(code, call["env"])
        if took:
            answer["loaded"] = took
            add_notes(answer, *self.baseline.change_notes("while loading, it"))
        if not is_restored:
            answer["dirty"] = True
        elif loaded is None:
            loaded = self._cache.last_loaded(code)
            if loaded is not None:
                answer["stale"] = error
        if loaded is None:
            add_notes(answer, *self._cache.failure_notes)
            return None, {}, _load_failure(answer, error)
        env = {**loaded.env, **call["env"]}
        try:
            target = member_of(loaded, code.get("member", ""))
        except NoHandler as missing:
            return None, env, _load_failure(answer, describe_exception(missing))
        if "fault" in call:
            target = with_injected_fault(target, call["fault"])
        elif self._debugger is not None:
            target = self._debugger.wrap(target, call["who"])
        elif error is None and known >= 0:
            self._targets[known] = target, env, loaded.folders
        self.baseline.add_to_path(loaded.folders)
        return target, env, answer

    def add_outcome(
        self, answer: dict[str, Any], target: Any, returned: Any, raised: BaseException | None
    ) -> None:
        """Add the returned value or the error to the answer."""
        if raised is None:
            raised = generator_error(returned, target)
        if raised is not None:
            answer["error"], answer["status"] = describe_exception(raised, target), "error"
            add_notes(answer, *not_found_notes(raised))
        elif returned is not None:
            answer["returned"], notes = to_plain(returned, "what it returned", RETURNED_SIZE)
            add_notes(answer, *notes)

    def restore_process(self, answer: dict[str, Any], who: str = "it") -> None:
        """Restore the process, and add notes on the handler's changes to the answer."""
        if not self.baseline.restore() or not self._reserve:
            answer["dirty"] = True
        add_notes(answer, *self.baseline.change_notes(who))

    def free_reserve(self, error: BaseException) -> None:
        """If memory has run out, free some for reporting that."""
        if type(error) is MemoryError:
            self._reserve = b""


def _discard_frame(frame: bytes, ring: bool) -> None:
    """Discard a frame: replaces HostLine.send_frame during the warm-up."""


def _load_failure(answer: dict[str, Any], error: Any) -> dict[str, Any]:
    """Return the answer of a call whose handler cannot be loaded."""
    return {**answer, "status": "error", "phase": "load", "error": error}


def _load_file(path: str, name: str) -> Any:
    """Load one of our files as a module of this name, without importing its package."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.dont_write_bytecode = False
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = _no_bytecode
    return module


def _prepare_process(memory: int) -> None:
    """Set limits, dumps and text encodings. `memory` is the limit of address space, 0 for none."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        with suppress(ValueError, OSError):  # above the user's own limit, or not supported
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    faulthandler.enable(file=2)
    faulthandler.register(signal.SIGUSR2, file=2)  # in case a handler keeps our code from running
    if sys.platform.startswith("linux"):
        # In case a handler keeps the listening thread from running.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with suppress(AttributeError, OSError):  # glibc: heaps of threads would use up the address space
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # opened by Python itself
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def main(event_file: str, memory: str, *descriptors: str) -> None:
    """Serve until the host goes away."""
    line = HostLine(*map(int, descriptors))
    _prepare_process(int(memory))
    event = _load_file(event_file, "_hookscope_event")
    model = os.path.dirname(event_file)
    authoring = AuthoringModules(
        lambda name: _load_file(os.path.join(model, f"{name.rpartition('.')[2]}.py"), name)
    )
    sys.meta_path.insert(0, AuthoringFinder(authoring))
    worker = HandlerWorker(line, event, authoring, int(memory))
    line.listen(worker.stack_of, worker.debug)
    worker.serve()


if __name__ == "__main__":
    main(*sys.argv[1:7])

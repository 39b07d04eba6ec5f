"""The worker: a program that runs Python handlers, one at a time, for a Hookscope that supervises it.

    python -I -B -u worker.py EVENT_FILE MEMORY READ WRITE CONTROL [BELL]

EVENT_FILE is core/event.py; MEMORY how many bytes of address space it may take, 0 for any; READ, WRITE,
CONTROL and BELL are the descriptors of the protocol (protocol.py).
Descriptors 0, 1 and 2 belong to the handlers. The worker answers for handlers that raise, and puts
back what they disturb. It has no limits of its own: whoever started it kills it when a handler takes
too long. When the host goes away, it ends itself and what its handlers started.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import time
from typing import Any, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
RESERVE = 8 * 1024 * 1024  # bytes that are given back when a handler has taken all memory
ANSWER = 1024 * 1024  # bytes of JSON of a returned value
SOON = 0.001  # seconds in which nobody takes half of a worker's memory, and that an answer may wait
SAID_ALWAYS = frozenset(("id", "result", "took", "returned", "view"))  # even where it is nothing
AT_REST = 3  # what is said of one that did nothing but return

# Bound before any handler runs: what a handler puts in their place must not reach the protocol.
_write, _getpid, _exit, _len = os.write, os.getpid, os._exit, len
_now, _settrace, _setprofile = time.perf_counter, sys.settrace, sys.setprofile


def neighbour(path: str, name: str) -> Any:
    """Load a file of ours as a module of its own, without its package. It is compiled once for all."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    leaves_none, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = leaves_none
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
awaits, loads, outputs, process = map(part, ("awaits", "loads", "outputs", "process"))
_plain, _encode, _framed = plain.plain, protocol.encode, protocol.framed


class Worker:
    """Loads and runs handlers as the messages say."""

    def __init__(self, to_host: Any, event: Any, writers: Any, memory: int) -> None:
        self.line = to_host
        self._memory = memory
        self.views = views.Views(event, plain, _encode, writers.authoring)
        self.awaits = awaits.Awaits(faults)
        self._loads = loads.Loads(self, part, writers)
        self._fflush = ctypes.CDLL(None).fflush
        self._outputs = outputs.Outputs()
        self.baseline = restore.Baseline(self._outputs)
        self._pid = _getpid()
        self._free = to_host.free()
        self._streams = sys.stdout, sys.stderr
        self.reserve = bytes(RESERVE)
        self.left_out: list[str] = []  # names of variables that no environment can hold
        self._shared = False  # runs something of an earlier handler's
        self._calls: dict[int, Any] = {}  # those that the host has told once, by its numbers
        self._targets: dict[int, Any] = {}  # number → (what to call, its environment), once it has run
        self._quiet = 0.0  # of perf_counter: until then nobody reads what is printed; 0: somebody may
        self._told = 0.0  # of perf_counter: since then the host knows all answers
        self._together: Any = None  # the calls that run at once, while they do

    def serve(self) -> None:
        """Answer messages for ever. The end comes from outside, or by the listening thread."""
        self.line.say({"ready": _getpid(), "clock": _now()})
        while True:
            message = self.line.hear()
            if message["do"] == "load":
                self._load_only(message)
            elif message["do"] == "run":
                self._run(message)

    def where(self, call: Optional[int] = None) -> Optional[list[Any]]:  # noqa: UP045
        """See Awaits.where."""
        found: Optional[list[Any]] = self.awaits.where(call, self._together)  # noqa: UP045
        return found

    def forget_targets(self) -> None:
        """Something that was loaded is not what is to be called any more."""
        self._targets.clear()

    def _load_only(self, message: Any) -> None:
        loaded, error, took, clean = self._loads.load(message["code"], message["code"]["env"])
        answer = {"id": message["id"], "loaded": took, "error": error, "dirty": not clean, "module": None}
        if loaded is not None and loaded.module is not None:
            answer["module"] = part("shapes").document_of(loaded.module, _plain)
        self.flush()
        self.line.say(answer)

    def _run(self, message: Any) -> None:
        if message.get("together"):
            self._quiet = 0.0
            self._run_together(message)
            return
        for number, call in message.get("know", ()):
            self._calls[number] = call
            self._targets.pop(number, None)
        run, fence = message["id"], message["fence"].encode("ascii")
        self._quiet = message.get("quiet", 0.0)
        calls = [(number, self._calls[number]) for number in message["calls"]]
        view = self.views.of(message["view"], message)
        announced = False  # does the host know that this call begins
        there, last = leftovers.Running(), _len(calls) - 1
        self._told = _now()
        for number, (known, call) in enumerate(calls):
            view.begin(call["who"])
            answer = self._call(run, number, call, view.value, announced, there, known)
            if number == last:
                view.end(self.tell_late)
            self.tell_view(view, answer)
            if number == last or answer["took"] > SOON:
                self.note_size(answer)
            spoilt = answer["dirty"] or answer["worn"]
            announced = not spoilt and number < last and self._is_loaded(calls[number + 1])
            answer["next"] = announced
            self.say_result(answer, fence)
            if spoilt:  # the host ends this process, and goes on in another
                return

    def _is_loaded(self, call: Any) -> bool:
        return call[0] in self._targets or self._loads.has(call[1]["code"])

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
        """Tell the host that a call has ended; with the next one, where that does not take long."""
        self.flush()  # before the answer: then all that was printed is in the pipe when it arrives
        if not self._is_silent():
            self._quiet = 0.0  # the host reads from now on: what lies in the pipes says no more
            answer["printed"] = True
            self._put_fence(fence)
        said = {name: value for name, value in answer.items() if value or name in SAID_ALWAYS}
        if said.get("status") == "ok":  # nearly always
            del said["status"], said["phase"]
        follows, now = answer["next"], _now()
        if _len(said) == AT_REST + follows:
            more = ',"next":true' if follows else ""
            text = f'{{"id":"{said["id"]}","result":{said["result"]},"took":{said["took"]!r}{more}}}'
        else:
            text = _encode(said)
        is_time = not follows or now - self._told > SOON
        if is_time:
            self._told = now
        self.line.put(_framed(text), is_time)

    def _is_silent(self) -> bool:
        """Is it known that the call has printed nothing."""
        try:
            return bool(self.baseline.holds_outputs and self._outputs.are_empty(self._quiet))
        except OSError:
            return False

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
        self, run: str, number: int, call: Any, view: Any, announced: bool, there: Any, known: int
    ) -> dict[str, Any]:
        """Load where needed, announce, run. The answer, whatever the handler does short of dying.

        `there` is what ran when the call before it had ended; `known` the number of this one for the host.
        """
        target, env, answer = self.prepare(run, number, call, known)
        if target is None:
            return self.and_beside(answer, there)
        clean = not answer["dirty"]
        if not announced:
            loaded = answer["loaded"]
            text = f'{{"id":"{run}","started":{number},"loaded":{loaded!r}}}'
            self.line.put(_framed(text), loaded > 0)  # at once: the host hears it with the answer
        returned, raised, left_over = None, None, 0
        began = _now()
        try:
            self.left_out = restore.lay_over(env) if env else []
            sys.argv[:] = [call["code"]["path"]]
            returned = target(view)
            if returned is not None and hasattr(type(returned), "__await__"):
                returned, left_over = self.awaits.finish(returned)
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

    def prepare(
        self, run: str, number: int, call: Any, known: int = -1
    ) -> tuple[Any, dict[str, str], dict[str, Any]]:
        """Load it: (what to call or None, its environment, the answer as it is so far)."""
        answer = {
            "id": run, "result": number, "status": "error", "phase": "load", "took": 0.0, "loaded": 0.0,
            "error": None, "stale": None, "notes": [], "dirty": False, "worn": False,
            "left": "", "shared": self._shared, "next": False, "printed": False,
        }  # fmt: skip
        found = self._targets.get(known)
        if found is not None:
            return (*found, answer)
        code = call["code"]
        loaded, error, answer["loaded"], clean = self._loads.load(code, call["env"])
        answer["error"], answer["dirty"] = error, not clean
        if loaded is None and clean:
            loaded = self._loads.last_good(code)
            if loaded is not None:
                answer["stale"], answer["error"] = error, None
        if loaded is None:
            return None, {}, answer
        target, env = None, {**loaded.env, **call["env"]}
        try:
            target = self._loads.target_of(code, loaded)
        except modules.NoHandler as missing:
            answer["error"] = faults.describe(missing)
        if target is not None and "fault" in call:
            target = part("on_purpose").in_place_of(target, call["fault"])
        elif target is not None and error is None and known >= 0:
            self._targets[known] = target, env
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


def main(event_file: str, memory: str, *descriptors: str) -> None:
    """Serve until the host goes away."""
    to_host = line.Line(protocol, *map(int, descriptors))
    process.prepare(int(memory))
    event = neighbour(event_file, "_hookscope_event")
    beside = os.path.join(os.path.dirname(event_file), "authoring.py")
    writers = authors.Authors(lambda: neighbour(beside, authors.AUTHORING))
    writers.install()
    worker = Worker(to_host, event, writers, int(memory))
    to_host.listen(worker.where)
    worker.serve()


if __name__ == "__main__":
    main(*sys.argv[1:7])

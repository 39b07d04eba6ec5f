"""The worker: a program that runs Python handlers, one at a time, for a Hookscope that supervises it.

    python -I -B -u worker.py EVENT_FILE MEMORY READ WRITE CONTROL [BELL]

EVENT_FILE is model/hook_event.py; MEMORY how many bytes of address space it may take, 0 for any; READ, WRITE,
CONTROL and BELL are the descriptors of the protocol (protocol.py).
Descriptors 0, 1 and 2 belong to the handlers. The worker answers for handlers that raise, and puts
back what they disturb. It has no limits of its own: whoever started it kills it when a handler takes
too long. When the host goes away, it ends itself and what its handlers started.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from typing import Any, Optional

HERE = os.path.dirname(os.path.abspath(__file__))
RESERVE = 8 * 1024 * 1024  # bytes that are given back when a handler has taken all memory
ANSWER = 1024 * 1024  # bytes of JSON of a returned value
SOON = 0.001  # seconds in which nobody takes half of a worker's memory

# Bound before any handler runs: what a handler puts in their place must not reach the protocol.
_getpid, _len = os.getpid, len
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
rehearsal, remarks, telling = map(part, ("rehearsal", "remarks", "telling"))
_plain, note = plain.plain, remarks.note


class Worker:
    """Loads and runs handlers as the messages say."""

    def __init__(self, to_host: Any, event: Any, writers: Any, memory: int) -> None:
        self.line = to_host
        self.views = views.Views(event, plain, protocol.encode, writers.given)
        self.awaits = awaits.Awaits(faults)
        self._loads = loads.Loads(self, part, writers)
        watched = outputs.Outputs()
        self.baseline = restore.Baseline(watched, [*map(part, ("process_state", "library", "library_state"))])
        self.telling = telling.Telling(to_host, protocol, watched, self.baseline)
        self.reserve = bytes(RESERVE)
        self.settings: dict[str, Any] = {}  # of the host, for plugins
        self.there = leftovers.Running()  # what ran beside the handlers when the last run began, and since
        self.remarks = remarks.Remarks(to_host, leftovers, memory)
        self._calls: dict[int, Any] = {}  # those that the host has told once, by its numbers
        self._targets: dict[int, Any] = {}  # number → (what to call, its environment), once it has run
        self._together: Any = None  # the calls that run at once, while they do
        self._debugger: Any = None  # where the host wants one
        self.baseline.begin()

    def serve(self) -> None:
        """Answer messages for ever. The end comes from outside, or by the listening thread."""
        self.line.say({"ready": _getpid(), "clock": _now()})
        self._rehearse()
        while True:
            message = self.line.hear()
            if message["do"] == "load":
                self._load_only(message)
            elif message["do"] == "run":
                self._run(message)
            elif message["do"] == "settings":
                self.settings = message["value"]
            elif message["do"] == "debug":
                self._debugger = part("debugging").begun(self.line, self._loads, part, message)
                self.baseline.accept("sys", "pdb")
            elif message["do"] == "rest":
                self.telling.flush()
                self.line.say({"id": message["id"], "rest": self.there.rest()})

    def _rehearse(self) -> None:
        """Run a handler of ours, and tell nobody: the first of theirs takes half as long then."""
        self.line.put = _hushed
        try:
            self._run(rehearsal.MESSAGE)
        finally:
            del self.line.put
        modules.forget(rehearsal.NAME)
        self._loads.clear()
        self._calls.clear()
        self.forget_targets()

    def where(self, call: Optional[int] = None) -> Optional[list[Any]]:  # noqa: UP045
        """See Awaits.where."""
        found: Optional[list[Any]] = self.awaits.where(call, self._together)  # noqa: UP045
        return found

    def debug(self, word: Any) -> None:
        """Hear a word to a handler that stands in the debugger. Called by the listening thread."""
        if self._debugger is not None:
            self._debugger.hear(word)

    def forget_targets(self) -> None:
        """Something that was loaded is not what is to be called any more."""
        self._targets.clear()

    def _load_only(self, message: Any) -> None:
        loaded, error, took, clean = self._loads.load(message["code"], message["code"]["env"])
        answer = {"id": message["id"], "loaded": took, "error": error, "dirty": not clean, "module": None}
        if loaded is not None and loaded.module is not None:
            answer["module"] = part("shapes").document_of(loaded.module, _plain)
        self.telling.flush()
        self.line.say(answer)

    def _run(self, message: Any) -> None:
        self.telling.begin(message)
        if message.get("together"):
            self._run_together(message)
            return
        for number, call in message.get("know", ()):
            self._calls[number] = call
            self._targets.pop(number, None)
        run = message["id"]
        calls = [(number, self._calls[number]) for number in message["calls"]]
        view = self.views.of(message["view"], message)
        announced = False  # does the host know that this call begins
        self.there = there = leftovers.Running()
        last = _len(calls) - 1
        for number, (known, call) in enumerate(calls):
            view.begin(call["who"])
            answer = self._call(run, number, call, view.value, announced, there, known)
            if number == last:
                view.end(self.tell_late)
            self.tell_view(view, answer)
            if number == last or answer["took"] > SOON:
                self.remarks.size(answer)
            ends = "dirty" in answer or "worn" in answer or "apart" in answer
            announced = not ends and number < last and self._is_loaded(calls[number + 1])
            self.telling.tell(answer, announced)
            if ends:  # the host goes on in another process: ends this one, or keeps it for this hook alone
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
            note(answer, f"the event could not be read after it ({what})")
            answer["dirty"] = True

    def tell_late(self, who: str, text: str) -> None:
        """Tell what a handler did after it had answered."""
        self.line.say({"late": {"who": who, "text": text}})

    def tell_added(self, code: Any, row: Any) -> None:
        """Tell what a module declares after it was loaded."""
        text = f"registers a handler of {row['key']} after its register: it is called from the next event on"
        told, _ = _plain(row, "", part("shapes").ROW)
        adds = {"name": code["name"], "row": told}
        self.line.say({"late": {"who": os.path.basename(code["root"]), "text": text, "adds": adds}})

    def _call(
        self, run: str, number: int, call: Any, view: Any, announced: bool, there: Any, known: int
    ) -> dict[str, Any]:
        """Load where needed, announce, run. The answer, whatever the handler does short of dying.

        `there` is what ran when the call before it had ended; `known` the number of this one for the host.
        """
        target, env, answer = self.prepare(run, number, call, known)
        if target is None:
            self.remarks.beside(answer, there)
            return answer
        if not announced:
            loaded = answer.get("loaded", 0.0)  # where that is nothing the host hears it with the answer
            self.line.put(protocol.short(protocol.BEGUN, run, number, loaded), loaded > 0)
        returned, raised, left_over = None, None, 0
        began = _now()
        try:
            self.remarks.left_out = restore.lay_over(env) if env else []
            sys.argv[:] = [call["code"]["path"]]
            returned = target(view)
            if returned is not None:
                self.baseline.restore_builtins()
                if hasattr(type(returned), "__await__"):
                    returned, left_over = self.awaits.finish(returned)
        except BaseException as error:  # SystemExit, KeyboardInterrupt: all are what the handler did
            raised = error
            self.note_memory(error)
        answer["took"] = _now() - began
        try:  # in this very frame: a handler's trace function would see any function we call for it
            _setprofile(None)
            _settrace(None)
        except BaseException:  # of that function; there is none any more
            pass
        self.baseline.restore_builtins()
        self.telling.keep_streams()
        if raised is not None or returned is not None:
            self.settle(answer, target, returned, raised)
        self.put_back(answer)
        if self.awaits.renewed:
            self.awaits.renewed = False
            note(answer, "it changed: the event loop. The next handler gets a new one")
        if left_over:
            remarks.note_tasks(answer, left_over)
        self.remarks.beside(answer, there)
        return answer

    def prepare(
        self, run: str, number: int, call: Any, known: int = -1
    ) -> tuple[Any, dict[str, str], dict[str, Any]]:
        """Load it: (what to call or None, its environment, the answer as it is so far)."""
        answer: dict[str, Any] = {"id": run, "result": number, "took": 0.0}
        if self.remarks.shared:
            answer["shared"] = True
        found = self._targets.get(known)
        if found is not None:
            target, env, folders = found
            if folders[0] or folders[1]:
                restore.lay_over_path(folders)
            return target, env, answer
        code = call["code"]
        loaded, error, took, clean = self._loads.load(code, call["env"])
        if took:
            answer["loaded"] = took
            note(answer, *self.baseline.sentences("as it loaded, it"))
        if not clean:
            answer["dirty"] = True
        if loaded is None and clean:
            loaded = self._loads.last_good(code)
            if loaded is not None:
                answer["stale"] = error
        if loaded is None:
            note(answer, *self._loads.unfound)
            return None, {}, _unloaded(answer, error)
        target, env = None, {**loaded.env, **call["env"]}
        try:
            target = self._loads.target_of(code, loaded)
        except modules.NoHandler as missing:
            answer = _unloaded(answer, faults.describe(missing))
        if target is not None and "fault" in call:
            target = part("on_purpose").in_place_of(target, call["fault"])
        elif target is not None and self._debugger is not None:
            target = self._debugger.around(target, call["who"])
        elif target is not None and error is None and known >= 0:
            self._targets[known] = target, env, loaded.folders
        if target is not None and (loaded.folders[0] or loaded.folders[1]):
            restore.lay_over_path(loaded.folders)
        return target, env, answer

    def settle(
        self, answer: dict[str, Any], target: Any, returned: Any, raised: BaseException | None
    ) -> None:
        """Put into the answer what the call came to."""
        if raised is None:
            raised = faults.never_ran(returned, target)
        if raised is not None:
            answer["error"], answer["status"] = faults.describe(raised, target), "error"
            note(answer, *faults.not_found(raised))
        elif returned is not None:
            answer["returned"], notes = _plain(returned, "what it returned", ANSWER)
            note(answer, *notes)

    def put_back(self, answer: dict[str, Any], who: str = "it") -> None:
        """Put the process back as it was, and put into the answer what the handler had changed."""
        if not self.baseline.restore() or not self.reserve:
            answer["dirty"] = True
        note(answer, *self.baseline.sentences(who))

    def note_memory(self, error: BaseException) -> None:
        """Make room to say that there was none, and to end."""
        if type(error) is MemoryError:
            self.reserve = b""


def _hushed(frame: bytes, ring: bool) -> None:
    """In the place of a line's `put`."""


def _unloaded(answer: dict[str, Any], error: Any) -> dict[str, Any]:
    """The answer of a call that there is nothing to call for."""
    return {**answer, "status": "error", "phase": "load", "error": error}


def main(event_file: str, memory: str, *descriptors: str) -> None:
    """Serve until the host goes away."""
    to_host = line.Line(protocol, *map(int, descriptors))
    process.prepare(int(memory))
    event = neighbour(event_file, "_hookscope_event")
    core = os.path.dirname(event_file)
    writers = authors.Authors(
        lambda name: neighbour(os.path.join(core, f"{name.rpartition('.')[2]}.py"), name)
    )
    writers.install()
    worker = Worker(to_host, event, writers, int(memory))
    to_host.listen(worker.where, worker.debug)
    worker.serve()


if __name__ == "__main__":
    main(*sys.argv[1:7])

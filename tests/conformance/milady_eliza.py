"""Running a recorded case of Milady or Eliza: one loader, one registry, steps in order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance.layouts import Case, StandIns, copied, differences, prepare, remove

from hookscope import Event, HookEngine, HookEvent, discover_hooks, embedded_host
from hookscope.model.hook import LogLine
from hookscope.model.host import Host
from hookscope.model.machine import Machine
from hookscope.model.run import Code, Registration, Run
from hookscope.runtime.executors import Executors
from hookscope.runtime.in_process_executor import InProcessExecutor
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import ProcessExecutor, node_executor

PLACES = ("home", "workspace", "bundled", "outside", "bin", "cwd")
COMPARED_OF_FOUND = ("name", "source", "handler")
# What follows comes from the JavaScript runtime.
OF_THE_RUNTIME = re.compile(r"(\[hooks\] Failed to load handler [^:]*:).*", re.DOTALL)
# Handler files record what they do in a list of their process; this reads the list and empties it.
TRACE = """
globalThis.__trace ??= [];
export default function (event) { event.messages = globalThis.__trace.splice(0); }
"""


@dataclass
class Trace:
    """What handler files recorded in their worker."""

    lane: ProcessExecutor
    call: Registration

    @classmethod
    async def begun(cls, lane: ProcessExecutor, folder: Path) -> Trace:
        file = folder / "trace.mjs"
        file.write_text(TRACE)
        code = await lane.load(Code(file, "default", folder, "javascript"))
        assert isinstance(code, Code), code
        return cls(lane, Registration("trace", "trace", code))

    async def taken(self) -> list[str]:
        event = HookEvent("trace", "read")
        await self.lane.run((self.call,), event, lambda step: None)
        return list(event.messages)


@dataclass
class Session:
    """One process of the program: folders, settings in force, a registry."""

    case: Case
    stand_ins: StandIns
    engine: HookEngine
    trace: Trace
    config: Mapping[str, Any]
    by_code: list[str] = field(default_factory=list)  # handlers registered by code that were called

    async def step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """What one step of the case gives. Raises ValueError for one that this runner does not know."""
        match step["op"]:
            case "load":
                return await self._load()
            case "trigger":
                return await self._trigger(step)
            case "register":
                self._register(step)
            case "set-config":
                self.config = self.stand_ins.fill(step["config"] or {})
            case "write":
                file = self._place(step["file"])
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(self.stand_ins.fill(step["text"]), encoding="utf-8", newline="")
            case "remove":
                remove(self._place(step["file"]))
            case other:
                raise ValueError(f"this runner cannot do {other!r}")
        return {}

    def _place(self, relative: str) -> Path:
        """A place of the case's tree."""
        first, _, rest = relative.partition("/")
        return self.stand_ins.folders[f"<{first.upper()}>"] / rest

    def _given_to_loader(self) -> dict[str, Any]:
        """What the calling program hands over, as arguments of the public functions."""
        options = self.stand_ins.fill(self.case.given.get("options") or {})
        return {
            "workspace_path": options.get("workspacePath"),
            "bundled_dir": options.get("bundledDir"),
            "extra_dirs": options.get("extraDirs") or (),
            "host_config": self.config,
            "dialect": self.case.dialect,
            "surroundings": surroundings(self.case, self.stand_ins),
        }

    async def _load(self) -> dict[str, Any]:
        given = self._given_to_loader()
        host = embedded_host(**given)
        report = await self.engine.load(host)
        result: dict[str, Any] = {
            "discovered": report.discovered,
            "eligible": report.eligible,
            "registered": report.registered,
            "skipped": report.skipped,
            "failed": report.failed,
        }
        return {
            "found": None if _switched_off(host) else _found(given),
            "result": {"throws": report.stopped} if report.stopped else result,
            "log": _lines(report.log),
            "importTrace": await self.trace.taken(),
        }

    async def _trigger(self, step: Mapping[str, Any]) -> dict[str, Any]:
        event = Event(
            step["type"],
            step.get("action") or "",
            step.get("sessionKey") or "",
            self.stand_ins.fill(step.get("context") or {}),
        )
        self.by_code.clear()
        run = await self.engine.fire(event)
        return {
            "calls": _in_order(run, await self.trace.taken(), list(self.by_code)),
            "messages": run.messages,
            "context": run.context,
            "threw": run.ending.failure,
            "log": _lines(run.ending.log),
        }

    def _register(self, step: Mapping[str, Any]) -> None:
        pushed = step.get("push")
        texts = [pushed] if isinstance(pushed, str) else list(pushed or ())

        def handler(event: HookEvent) -> None:
            self.by_code.append(step["id"])
            event.messages.extend(texts)

        self.engine.register(step["event"], handler, step["id"])


def surroundings(case: Case, stand_ins: StandIns) -> Machine:
    """The machine that the program was told it runs on."""
    home = stand_ins.folders["<HOME>"]
    env = {"HOME": str(home), **stand_ins.fill(case.given.get("env") or {})}
    return Machine(case.given.get("os") or "linux", env, stand_ins.folders["<CWD>"], home)


def _switched_off(host: Host) -> bool:
    """The program looks for no hooks then."""
    return host.hooks_setting("enabled")[0] is False


def _found(given: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"name": hook.name, "source": hook.folder.label, "handler": str(hook.handler)}
        for hook in discover_hooks(**given)
        if hook.kind == "folder"
    ]


def _lines(log: tuple[LogLine, ...]) -> list[dict[str, str]]:
    return [{"level": line.level, "text": line.text} for line in log]


def _in_order(run: Run, of_files: list[str], by_code: list[str]) -> list[str]:
    """What the two kinds of handlers recorded, in the order in which they were called."""
    calls = []
    for result in run.results:
        kind = of_files if isinstance(result.call.target, Code) else by_code
        if kind:
            calls.append(kind.pop(0))
    return calls + of_files + by_code


def comparable(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a step's answer that the cases' README says is compared."""
    kept = {name: answer[name] for name in ("calls", "messages", "context", "result") if name in answer}
    if "found" in answer:
        found = answer["found"]
        kept["found"] = found and [{name: hook[name] for name in COMPARED_OF_FOUND} for hook in found]
    if "threw" in answer:
        kept["threw"] = answer["threw"] is not None
    if "throws" in (answer.get("result") or ()):
        kept["result"] = {"throws": True}  # the words are those of JavaScript
    if "log" in answer:
        kept["log"] = [{**line, "text": OF_THE_RUNTIME.sub(r"\1", line["text"])} for line in answer["log"]]
    if "result" in answer:
        kept["importTrace"] = answer.get("importTrace", [])
    return kept


async def differences_of(case: Case, folder: Path, node: str) -> list[str]:
    """Run the case in `folder`, which is empty, and say where the answers differ from the recorded ones."""
    stand_ins = StandIns({f"<{name.upper()}>": folder / name for name in PLACES})
    for name in PLACES:
        copied(case.folder / "tree" / name, folder / name)
    stand_ins.fill_files(folder)
    for name in case.given.get("emptyPrograms") or ():
        (folder / "bin" / name).touch()
    for place, target in stand_ins.fill(case.given.get("links") or {}).items():
        first, _, rest = place.partition("/")
        link = Path(place) if Path(place).is_absolute() else folder / first / rest
        path = folder / target if (folder / target).exists() else target
        prepare(folder, [{"op": "symlink", "path": link, "target": str(path)}], stand_ins)
    here = surroundings(case, stand_ins)
    lane = node_executor(env=here.env, cwd=here.cwd, node=node, limits=Limits(spawn=20.0, load=20.0))
    config = stand_ins.fill(case.given.get("config") or {})
    first_host = embedded_host(host_config={}, dialect=case.dialect or "", surroundings=here)
    engine = HookEngine(first_host, Executors(InProcessExecutor(), {"typescript": lane, "javascript": lane}))
    try:
        trace = await Trace.begun(lane, folder)
        session = Session(case, stand_ins, engine, trace, config)
        found = []
        for number, (step, recorded) in enumerate(
            zip(case.given["steps"], case.expected["steps"], strict=True)
        ):
            answer = stand_ins.show(comparable(await session.step(step)))
            found += differences(comparable(recorded), answer, f"step {number} ({step['op']})")
        return found
    finally:
        await engine.close()

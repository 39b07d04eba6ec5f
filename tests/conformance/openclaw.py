"""Running a recorded case of OpenClaw: its command in the case's home, then steps in one process."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.layouts import Case, StandIns, copied, differences, prepare, remove
from tests.conformance.openclaw_plugins import OF_PLUGINS, plugin_hook

from hookscope import Event, HookEngine, HookEvent
from hookscope.cli.main import exit_code
from hookscope.formats.json5 import read_json5
from hookscope.hosts.dialects import dialect_named
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.host import Host, Overrides, Trust
from hookscope.model.machine import Machine
from hookscope.runtime.executors import Executors
from hookscope.runtime.in_process_executor import InProcessExecutor
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import node_executor

SESSION = "agent:main:main"
COMPARED = ("loadedCount", "eventKeys", "messages", "context", "hooks", *OF_PLUGINS)
LATE = "callsAfterReturn"
OF_THE_HOST = ("list", "check", "info", "enable", "disable", "install", "update")  # ours speak like it


@dataclass(frozen=True)
class Home:
    """The home of a case, and the environment that the program was started with."""

    case: Case
    folder: Path
    state: Path  # Hookscope's own

    @property
    def stand_ins(self) -> StandIns:
        return StandIns({"<HOME>": self.folder})

    @property
    def own_env(self) -> dict[str, str]:
        return {str(key): str(value) for key, value in self.stand_ins.fill(self.case.given["env"]).items()}

    @property
    def env(self) -> dict[str, str]:
        return {
            "HOME": str(self.folder),
            "PATH": str(self.folder / "bin"),
            "OPENCLAW_BUNDLED_HOOKS_DIR": str(self.folder / "bundled"),
            "NO_COLOR": "1",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            **self.own_env,
        }

    def host(self, platform: str | None = None) -> Host:
        """As a program opens it that embeds Hookscope: every handler may run."""
        here = Machine(platform or self.case.given["platform"], self.env, self.folder, self.folder)
        dialect = dialect_named(self.case.dialect or "")
        return open_host(dialect, here, Overrides(), trust=Trust(everything=True))


def run_command(
    home: Home, argv: Sequence[str], monkeypatch: pytest.MonkeyPatch, *more: str
) -> dict[str, Any]:
    """`hookscope` with the words of the host's own `hooks …`: exit code, and JSON where there is some."""
    words = list(argv[1:])
    if not words or words[0].startswith("-"):  # the program's bare `hooks`
        words.insert(0, "list")
    if words[0] in OF_THE_HOST:
        words += ["--format", "host"]
    machine = ["--dialect", home.case.dialect or "", "--home", str(home.folder), *more]
    out, err = TextIOWrapper(BytesIO(), "utf-8"), StringIO()
    with ExitStack() as stack, monkeypatch.context() as patch:
        for name in list(os.environ):
            patch.delenv(name)
        for name, value in {**home.env, "HOOKSCOPE_STATE_DIR": str(home.state)}.items():
            patch.setenv(name, value)
        stack.enter_context(chdir(home.folder))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        code = exit_code([*machine, *words])
    out.flush()
    printed = out.buffer.getvalue().decode() if isinstance(out.buffer, BytesIO) else ""
    answer: dict[str, Any] = {"exit": code}
    if "--json" in words:
        try:
            answer["json"] = home.stand_ins.show(json.loads(printed))
        except ValueError:
            answer["json"] = f"no JSON: {printed[:300]}{err.getvalue()[:600]}"
    return answer


def _command_differences(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """`list`, `check` and `info`, which look and change nothing."""
    expected = home.case.expected
    for name in ("list", "check"):
        if name in expected:
            answer = run_command(home, expected[name]["argv"], monkeypatch)
            yield from differences(_comparable(expected[name]), answer, name)
    for name, recorded in (expected.get("info") or {}).items():
        answer = run_command(home, recorded["argv"], monkeypatch)
        yield from differences(_comparable(recorded), answer, f"info {name}")


def _comparable(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Exit codes and JSON; printed text is there to be read."""
    return {name: recorded[name] for name in ("exit", "json") if name in recorded}


def _cli_differences(home: Home, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Commands one after another in one home."""
    pairs = zip(home.case.given.get("cli") or (), home.case.expected.get("cli") or (), strict=True)
    for number, (asked, recorded) in enumerate(pairs):
        where = f"cli {number} ({json.dumps(asked)})"
        if isinstance(asked, Mapping):
            yield from differences(recorded, {**asked, **_seen(home, asked)}, where)
            continue
        words = [str(word) for word in home.stand_ins.fill(asked)]
        yield from differences(_comparable(recorded), run_command(home, words, monkeypatch), where)


def _seen(home: Home, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What stands in a file or below a folder at that moment."""
    if "cat" in asked:
        file = home.folder / asked["cat"]
        if not file.exists():
            return {"exists": False}
        settings = read_json5(file.read_bytes())
        hooks = settings.get("hooks") if isinstance(settings, dict) else None
        return {"hooks": home.stand_ins.show(hooks), "exists": True}
    folder = home.folder / asked["tree"]
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return {"files": files}


@dataclass
class Session:
    """One process of the program: a loader and a registry."""

    home: Home
    engine: HookEngine
    monkeypatch: pytest.MonkeyPatch
    by_name: dict[str, Callable[[HookEvent], Any]] = field(default_factory=dict)

    async def step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """What one step of the case gives. Raises AssertionError for one that nothing here can do."""
        match step["op"]:
            case "load":
                return await self._load(step)
            case "dispatch":
                return await self._dispatch(step)
            case "status":
                return self._status(step)
            case "register":
                handler = self.by_name.setdefault(step["name"], _handler(step["do"]))
                self.engine.register(step["key"], handler, step["name"])
            case "unregister":
                self.engine.unregister(step["key"], self.by_name[step["name"]])
            case "clear":
                self.engine.clear()
            case "keys":
                return {"eventKeys": list(self.engine.registry.keys())}
            case "listeners":
                return {"has": self.engine.has_listeners(step["type"], step["action"])}
            case "enabled":
                self.engine.enabled = step["value"]
            case "write":
                setup = [{"op": "write", "path": path, "text": text} for path, text in step["files"].items()]
                prepare(self.home.folder, setup, self.home.stand_ins)
            case "remove":
                remove(self.home.folder / step["path"])
            case "plugin-hook":
                return await plugin_hook(self.engine, step)
            case other:
                raise AssertionError(f"Hookscope has nothing yet for {other!r}")
        return {}

    async def _load(self, step: Mapping[str, Any]) -> dict[str, Any]:
        host = self.home.host(step.get("platform"))
        report = await self.engine.load(host, strict=bool(step.get("strict")))
        if not report.committed:
            return {"threw": report.refusal}
        return {"loadedCount": report.registered, "eventKeys": list(self.engine.registry.keys())}

    async def _dispatch(self, step: Mapping[str, Any]) -> dict[str, Any]:
        context = self.home.stand_ins.fill(step.get("context") or {})
        event = Event(step["type"], step["action"], step.get("sessionKey") or SESSION, context)
        run = await self.engine.fire(event)
        return {"messages": run.messages, "context": run.context}

    def _status(self, step: Mapping[str, Any]) -> dict[str, Any]:
        """The report's view of each hook, as the command prints it for that platform."""
        more = ("--os", step["platform"]) if step.get("platform") else ()
        names = ("name", "requirementsSatisfied", "loadable", "blockedReason", "missing")
        answer = run_command(self.home, ["hooks", "list", "--json"], self.monkeypatch, *more)
        listed = answer["json"]["hooks"]
        return {"hooks": [{name: hook[name] for name in names if name in hook} for hook in listed]}


def _handler(operations: Sequence[Mapping[str, Any]]) -> Callable[[HookEvent], Any]:
    """A handler registered by code that does what the case says."""

    async def handler(event: HookEvent) -> Any:
        returned = None
        for operation in operations:
            ((name, value),) = operation.items()
            match name:
                case "push":
                    event.messages.append(value)
                case "pushEvent":
                    event.messages.append(f"{value}{event.type}:{event.action}")
                case "pushSession":
                    event.messages.append(event.session_key)
                case "pushCount":
                    event.messages.append(str(len(event.messages)))
                case "replaceMessages":
                    event.messages = list(value)
                case "setContext":
                    event.context.update(value)
                case "appendContext":
                    for key, item in value.items():
                        event.context.setdefault(key, []).append(item)
                case "sleepMs":
                    await asyncio.sleep(value / 1000)
                case "throw" | "throwValue" | "reject":
                    raise RuntimeError(str(value))
                case "returns":
                    returned = value
                case other:
                    raise ValueError(f"this runner cannot do {other!r}")
        return returned

    return handler


def differences_of(case: Case, folder: Path, node: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Run the case in `folder`, which is empty, and say where the answers differ from the recorded ones."""
    home = Home(case, folder / "home", folder / "state")
    copied(case.folder / "home", home.folder)
    prepare(home.folder, case.given.get("setup") or (), home.stand_ins)
    home.stand_ins.fill_files(home.folder)
    found = [*_command_differences(home, monkeypatch)]
    found += _cli_differences(home, monkeypatch)
    steps = case.given.get("steps") or ()
    return found + (asyncio.run(_step_differences(home, steps, node, monkeypatch)) if steps else [])


async def _step_differences(
    home: Home, steps: Sequence[Mapping[str, Any]], node: str, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    lane = node_executor(env=home.env, cwd=home.folder, node=node, limits=Limits(spawn=20.0, load=20.0))
    engine = HookEngine(home.host(), Executors(InProcessExecutor(), {"typescript": lane, "javascript": lane}))
    session = Session(home, engine, monkeypatch)
    found = []
    try:
        for number, (step, recorded) in enumerate(zip(steps, home.case.expected["steps"], strict=True)):
            answer = home.stand_ins.show(await session.step(step))
            found += step_differences(recorded, answer, f"step {number} ({step['op']})")
    finally:
        await engine.close()
    return found


def step_differences(recorded: Mapping[str, Any], answer: Mapping[str, Any], where: str) -> list[str]:
    """Where one step differs from the recording, in what a recording is compared by.

    The recorder stopped listening a while after a call had returned: of late steps, those that it
    recorded must have happened, in any order.
    """
    expected, given = _compared(recorded), _compared(answer)
    late, ours = expected.pop(LATE, ()), given.pop(LATE, ())
    lost = Counter(late) - Counter(ours)
    return [
        *differences(expected, given, where),
        *(f"{where}.{LATE}: {json.dumps(step)} is missing" for step in lost.elements()),
    ]


def _compared(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The members that are compared; a hook without a `blockedReason` may have it as null."""
    kept = {name: answer[name] for name in COMPARED if name in answer}
    if "hooks" in kept:
        kept["hooks"] = [
            {name: value for name, value in hook.items() if (name, value) != ("blockedReason", None)}
            for hook in kept["hooks"]
        ]
    return kept

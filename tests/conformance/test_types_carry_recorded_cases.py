"""Seven recorded cases of real programs, expressed with the central types and nothing beside them.

The dialects that follow these programs to the letter come later; what is shown here is that the types
can say what was recorded: two orders, links, unreported gates, strict reloads, policies that block,
shared events, and a stream's order of channel, record and hooks. Rules of a dialect that does not exist
yet stand here as the values that it would have.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from hookscope.engine.discovery import discover
from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.planning import registrations_of
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.search_paths import hooks_folder
from hookscope.hosts.gates.trusted import TRUSTED_PASSED
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.hook import Folder, Hook, LogLine, Problem
from hookscope.model.hook_status import Gate, State
from hookscope.model.host import Dialect, Host, Overrides
from hookscope.model.machine import Machine
from hookscope.model.run import (
    CallGroup,
    Ending,
    Event,
    Fold,
    Handler,
    Next,
    Plan,
    Policy,
    Registration,
    Result,
    Run,
)
from hookscope.runtime.executors import Executors
from hookscope.runtime.firing import Firing
from hookscope.runtime.in_process_executor import InProcessExecutor

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Case:
    """A recorded case: its input, its answers, and a home that was made from its tree."""

    given: Mapping[str, Any]
    expected: Mapping[str, Any]
    home: Path

    def surroundings(self) -> Machine:
        return Machine("linux", {"HOME": str(self.home), "PATH": ""}, cwd=self.home, home=self.home)


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    folder = CASES / request.param
    given = json.loads((folder / "case.json").read_text())
    tree = next((path for path in (folder / "home", folder / "tree" / "home") if path.is_dir()), None)
    if tree is not None:
        copytree(tree, tmp_path, dirs_exist_ok=True)
    for thing in given.get("setup", ()):
        path = tmp_path / thing["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        match thing["op"]:
            case "symlink":
                path.symlink_to(thing["target"])
            case "mkdir":
                path.mkdir()
    return Case(given, json.loads((folder / "expected.json").read_text()), tmp_path)


def recorded(name: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", [name], indirect=True)


def places_2026_9(host: Host) -> tuple[tuple[Folder, ...], tuple[Problem, ...]]:
    """Lowest first, as OpenClaw 2026.9 merges them."""
    home = host.machine.home
    return (
        hooks_folder(host, "bundled", home / "bundled", 10),
        hooks_folder(host, "managed", home / ".openclaw/hooks", 30),
        hooks_folder(host, "workspace", home / ".openclaw/workspace/hooks", 40),
    ), ()


def selected_2026_9(hook: Hook, host: Host) -> Gate:
    """Entries are an allow list, which the loader follows and the list does not show."""
    entries, where = host.hooks_setting("entries")
    allowed = not entries or hook.name in entries
    return Gate("selected", allowed, found="an allow list", reported=False, setting=where)


def as_shipped() -> Dialect:
    """The part of OpenClaw 2026.9 that these cases ask for, as a value made from the guide's."""
    guide = DIALECTS["openclaw"]
    system = guide.systems[0]
    assert isinstance(system, FolderSystem)
    return replace(
        guide,
        systems=(
            replace(
                system,
                search_paths=places_2026_9,
                reports_by_rank=True,
                shape=replace(
                    system.shape, follows_links=False, rejects_outside_handler=True, reports_real_handler=True
                ),
                rules={
                    **system.rules,
                    "selected": selected_2026_9,
                    "trusted": lambda hook, host: TRUSTED_PASSED,
                },
            ),
        ),
    )


def listed(case: Case) -> list[str]:
    return [hook["name"] for hook in case.expected["list"]["json"]["hooks"]]


@recorded("openclaw/disc-03-managed-overrides-bundled")
def test_the_order_of_the_report_is_not_the_order_of_loading(case: Case) -> None:
    host = open_host(as_shipped(), case.surroundings())
    inventory = discover(host)
    dispatched = case.expected["steps"][1]["messages"]
    assert [hook.name for hook in inventory.report_order] == listed(case)
    assert [hook.name for hook in inventory.load_order] == dispatched != listed(case)
    shadowed = [row for row in inventory.hooks if row.state is State.SHADOWED]
    assert [(row.hook.folder.source, row.hook.name) for row in shadowed] == [("bundled", "bb")]
    winner = shadowed[0].verdict.shadowed_by
    assert winner is not None
    assert winner.folder.source == "managed"


@recorded("openclaw/disc-11-symlinks")
def test_a_linked_folder_is_rejected_and_a_linked_handler_may_stay_inside(case: Case) -> None:
    inventory = discover(open_host(as_shipped(), case.surroundings()))
    assert [row.hook.name for row in inventory.hooks] == listed(case)
    reported = case.expected["info"]["inside"]["json"]["handlerPath"]
    assert inventory.hooks[0].hook.handler == Path(reported.replace("<HOME>", str(case.home)))
    assert {copy.path.name for copy in inventory.rejected} == {"linked", "outside"}


@recorded("openclaw/sel-03-named")
def test_the_list_says_ready_where_the_loader_selects_by_name(case: Case) -> None:
    host = open_host(as_shipped(), case.surroundings())
    inventory = discover(host)
    reported_open = [
        row.hook.name
        for row in inventory.hooks
        if not any(gate.reported and gate.passed is False for gate in row.verdict.gates)
    ]
    assert reported_open == listed(case)
    registered = registrations_of(inventory, host)
    assert [call.name for call in registered] == case.expected["steps"][1]["messages"]
    assert {row.hook.name: row.state for row in inventory.hooks} == {"b": "off", "m": "off", "w": "ready"}


def python_handler(operations: list[Mapping[str, Any]]) -> str:
    """A handler file that does what a case's neutral words say."""
    lines = [f"    event.messages.append({item['push']!r})" for item in operations]
    return "\n".join(["def handler(event):", *lines, ""])


@recorded("openclaw/load-03-reload")
async def test_a_failing_strict_reload_keeps_the_old_handlers(case: Case) -> None:
    folder = case.home / ".openclaw/workspace/hooks/h"
    (folder / "handler.js").unlink()
    sources = iter(
        [python_handler([{"push": "version two"}]), "def handler(:\n"]  # the case's two writes, in Python
    )
    (folder / "handler.py").write_text(
        python_handler(case.given["handlers"][".openclaw/workspace/hooks/h/handler.js"]["default"])
    )
    lane = InProcessExecutor()
    engine = HookEngine(open_host(as_shipped(), case.surroundings()), Executors(lane, {"python": lane}))
    for step, expected in zip(case.given["steps"], case.expected["steps"], strict=True):
        match step["op"]:
            case "load":
                generation = engine.registry.generation
                report = await engine.load(
                    open_host(as_shipped(), case.surroundings()), strict=step.get("strict", False)
                )
                assert report.committed is ("threw" not in expected)
                assert report.registered == expected.get("loadedCount", 0)
                assert (engine.registry.generation > generation) is report.committed
            case "dispatch":
                run = await engine.fire(Event(step["type"], step["action"]))
                assert list(run.messages) == expected["messages"]
            case "write":
                (folder / "handler.py").write_text(next(sources))
    await engine.close()


@dataclass(frozen=True)
class Gatekeeping:
    """before_tool_call: each sees the original, the last params win, a block stops, an error fails."""

    batched: bool = False

    def start(self, event: Event) -> Fold:
        return Fold(event)

    def view(self, fold: Fold, call: Registration) -> Any:
        return json.loads(json.dumps(dict(fold.event.context)))

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        if result.error is not None:
            text = f"[hooks] {fold.event.key} handler from {result.call.name} failed: {result.error.message}"
            return replace(fold, failure=text), Next.FAIL
        given = result.returned if isinstance(result.returned, dict) else {}
        answer = {**fold.answer, **{name: value for name, value in given.items() if value is not False}}
        return replace(fold, answer=answer), Next.STOP if answer.get("block") else Next.GO

    def finish(self, fold: Fold) -> Ending:
        return Ending(fold.answer or None, fold.failure)


async def fired(event: Event, policy: Policy, *groups: CallGroup, recorder: Any = None) -> Run:
    lane = InProcessExecutor()
    return await Firing(Plan(event, 1, groups, (), policy), lambda call: lane, recorder=recorder)


@recorded("openclaw/plug-02-before-tool-call")
async def test_a_policy_merges_blocks_and_fails_closed(case: Case) -> None:
    for step, expected in zip(case.given["steps"], case.expected["steps"], strict=True):
        calls: list[str] = []
        seen: dict[str, Any] = {}
        asked = sorted(step["handlers"], key=lambda handler: -handler.get("priority", 0))
        registrations = tuple(
            Registration(step["hook"], told["id"], plugin_handler(told, calls, seen)) for told in asked
        )
        event = Event(step["hook"], context=step["event"], kind="plugin")
        run = await fired(event, Gatekeeping(), CallGroup(registrations))
        assert run.ending.answer == expected.get("result")
        assert run.ending.failure == expected.get("threw")
        assert calls == expected["calls"]
        assert seen == expected.get("seen", {})
        assert len(run.results) + len(run.not_run) == len(registrations)


def plugin_handler(told: Mapping[str, Any], calls: list[str], seen: dict[str, Any]) -> Handler:
    async def handler(event: Mapping[str, Any]) -> object:
        calls.append(f"start {told['id']}")
        if "see" in told:
            seen[told["id"]] = event[told["see"]]
        calls.append(f"end {told['id']}")
        if "throws" in told:
            raise RuntimeError(told["throws"])
        return told.get("returns")

    return handler


@recorded("milady/17-messages-and-context")
async def test_all_handlers_share_one_changeable_event(case: Case) -> None:
    calls: list[str] = []
    trigger, expected = case.given["steps"][1], case.expected["steps"][1]
    handlers = {
        Path(file).parent.name: told["exports"]["default"] for file, told in case.given["handlers"].items()
    }
    host = open_host(DIALECTS["milady"], case.surroundings(), Overrides(workspace=case.home / "workspace"))
    inventory = discover(host)
    assert [row.hook.name for row in inventory.hooks] == [
        found["name"] for found in case.expected["steps"][0]["found"]
    ]
    registrations = [
        Registration(key, hook.name, partial(folder_handler, handlers[hook.name], calls), hook)
        for hook in inventory.load_order
        for key in hook.meta.events or ()
    ]
    engine = HookEngine(host, Executors(InProcessExecutor()))
    engine.registry = engine.registry.with_registrations(registrations)
    run = await engine.fire(Event(trigger["type"], trigger["action"], context=trigger["context"]))
    assert calls == expected["calls"]
    assert list(run.messages) == expected["messages"]
    assert run.context == expected["context"]
    assert run.event.context == trigger["context"]


def folder_handler(told: Mapping[str, Any], calls: list[str], event: Any) -> None:
    calls.append(told["trace"])
    if "replaceMessages" in told:
        event.messages = list(told["replaceMessages"])
    event.messages.extend(told.get("push", ()))
    event.context.update(told.get("setContext", {}))


@dataclass
class Stage:
    """What happened while a stream event was published, in the case's own words."""

    scenario: Mapping[str, Any]
    steps: list[dict[str, Any]] = field(default_factory=list)

    async def begin(self, event: Event) -> int:
        if self.scenario.get("writeFails"):
            raise OSError("disk full")
        self.steps.append({"step": "write", "type": event.type, "hasId": True})
        return 1

    async def end(self, run: Run) -> None:
        pass


@dataclass(frozen=True)
class Observed:
    """Eve 0.80: handlers watch; what they throw is logged, what they ask of a turn is a request."""

    stage: Stage
    batched: bool = False

    def start(self, event: Event) -> Fold:
        return Fold(event)

    def view(self, fold: Fold, call: Registration) -> Any:
        return fold.event

    def take(self, fold: Fold, result: Result) -> tuple[Fold, Next]:
        line = None
        if result.call.name == "channel" and result.error is not None:
            line = {"level": "error", "from": "channel.adapter"}
            line["text"] = "adapter event handler threw — event swallowed"
        elif result.error is not None:
            line = {"level": "error", "from": "hooks", "text": "stream event hook failed"}
            line |= {"hook": result.call.name, "subscription": result.call.key}
        elif result.returned == "cancel" and fold.event.type == "turn.started":
            self.stage.steps.append({"step": "turn cancelled by hook"})
        elif result.returned == "cancel":
            line = {"level": "warn", "from": "hooks", "hook": result.call.name}
            line["text"] = "ctx.cancel() ignored: the event is not part of a running turn"
        if line is None:
            return fold, Next.GO
        self.stage.steps.append({"step": "log", **line})
        return replace(fold, log=(*fold.log, LogLine(line["level"], line["text"]))), Next.GO

    def finish(self, fold: Fold) -> Ending:
        return Ending(log=fold.log)


def stream_handler(stage: Stage, slug: str, key: str, told: Mapping[str, Any]) -> Handler:
    def handler(event: Event) -> str | None:
        stage.steps.append(
            {"step": "hook", "slug": slug, "subscription": key, "type": event.type, "hasId": True}
        )
        if "throws" in told:
            raise RuntimeError(told["throws"])
        return "cancel" if told.get("cancel") else None

    return handler  # fmt: skip


def channel_of(stage: Stage) -> Handler:
    def channel(event: Event) -> None:
        stage.steps.append({"step": "channel", "type": event.type})
        if stage.scenario.get("channelThrows"):
            raise RuntimeError("channel broke")

    return channel


@recorded("eve/20-channel-write-hooks")
async def test_a_stream_event_is_on_record_before_any_hook_sees_it(case: Case) -> None:
    recorded_steps = case.expected["versions"]["0.80.1"]
    for name, scenario in case.given["scenarios"].items():
        stage = Stage(scenario)
        for told in scenario["events"]:
            run = await published(told, scenario, stage)
            if not any(step["step"] == "hook" for step in stage.steps) and scenario.get("writeFails"):
                reason = "disk full"
                stage.steps.append({"step": "publish failed", "error": reason})
                assert any(reason in line.text for line in run.ending.log)
                assert run.not_run
        assert stage.steps == recorded_steps[name], name


async def published(told: Mapping[str, Any], scenario: Mapping[str, Any], stage: Stage) -> Run:
    """One event: the channel's own handler, then the record, then typed hooks, then `*`."""
    hooks = [
        Registration(key, slug, stream_handler(stage, slug, key, behaviour))
        for wanted in (told["type"], "*")
        for slug, subscriptions in scenario["hooks"].items()
        for key, behaviour in subscriptions.items()
        if key == wanted
    ]
    channel = Registration(told["type"], "channel", channel_of(stage))
    event = Event(told["type"], context=told["data"], kind="stream")
    groups = (CallGroup((channel,), after_record=False), CallGroup(tuple(hooks)))
    return await fired(event, Observed(stage), *groups, recorder=stage)

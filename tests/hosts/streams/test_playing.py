"""A whole session played with real files: hooks, tools, scripted models, subagents."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.layouts import Case, cases_below, copied
from tests.hosts.streams.conftest import OpenProject, Project
from tests.hosts.streams.test_recorded_turns import CASES, same, shown, shown_call

from hookscope.engine.hook_engine import HookEngine
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.failure import Refusal
from hookscope.model.host import Overrides, Trust
from hookscope.model.machine import Machine
from hookscope.runtime.executors import NoNode, find_node
from hookscope.sessions.session_runner import SessionRequest, Simulation, SimulationResult

Play = Callable[..., SimulationResult]
DIALECT_OF = {"0.80.1": "eve@0.80", "0.18.1": "eve@0.18"}

ALL = """
from hookscope import define_hook
def note(event, ctx):
    ctx.session.id
hook = define_hook(events={"*": note})
"""
THROWS = """
from hookscope import define_hook
def throw(event):
    raise ValueError("boom")
hook = define_hook(events={"%s": throw})
"""
CANCELS = """
from hookscope import define_hook
def stop(event, ctx):
    ctx.cancel()
hook = define_hook(events={"%s": stop})
"""
ADD = """
from hookscope import define_tool
def execute(given):
    return {"sum": given["a"] + given["b"]}
tool = define_tool(execute=execute)
"""
AGENT = """
from hookscope import define_agent, mock_model
agent = define_agent(model=mock_model(%r))
"""
CALL = {"toolCalls": [{"name": "add-up", "input": {"a": 2, "b": 3}, "id": "call_1"}]}


async def played(engine: HookEngine, *messages: str, replies: Any = None) -> SimulationResult:
    """All hooks loaded, then these messages."""
    report = await engine.load()
    assert not report.failed, report.failures
    try:
        return await Simulation(engine, SessionRequest(messages or ("hi",), "seed", replies))
    finally:
        await engine.close()


def kinds(play: SimulationResult, session: str = "") -> list[str]:
    return [scene.run.event.type for scene in play.stream(session)]


def data_of(play: SimulationResult, kind: str) -> Any:
    return next(scene.run.event.context for scene in play.events if scene.run.event.type == kind)


# The recorded turns, with their own TypeScript.


@pytest.fixture(scope="session")
def node() -> None:
    found = find_node(shutil.which("node"))
    if isinstance(found, NoNode):
        pytest.skip(found.missing_reason)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" not in metafunc.fixturenames:
        return
    root: Path = metafunc.config.getoption("cases", None) or CASES
    turns = [case for case in cases_below(root) if case.host == "eve" and case.given["mode"] == "turn"]
    pairs = [(case, version) for case in turns for version in case.expected["versions"]]
    ids = [f"{case.folder.name}-{version}" for case, version in pairs]
    metafunc.parametrize(("case", "version"), pairs, ids=ids)


@pytest.mark.usefixtures("node")
async def test_a_recorded_turn_is_played_with_its_own_files(case: Case, version: str, tmp_path: Path) -> None:
    app, trace = tmp_path / "case-app", tmp_path / "trace.ndjson"
    copied(case.folder / "tree", app)
    here = Machine("linux", {"HOOK_TRACE": str(trace)}, app, tmp_path)
    host = open_host(
        DIALECTS[DIALECT_OF[version]], here, Overrides(workspace=app), trust=Trust(everything=True)
    )
    play = await played(HookEngine(host), *case.given["messages"])
    expected = case.expected["versions"][version]
    told = [{"type": scene.run.event.type, "data": shown(scene.run.event.context)} for scene in play.stream()]
    assert same(told, [{"type": one["type"], "data": one["data"]} for one in expected["stream"]])
    for other in (False, True):
        wanted = [call for call in expected["calls"] if call.get("otherSession", False) is other]
        assert list(noted(trace, play, other)) == [without_place(shown_call(call)) for call in wanted]


def noted(trace: Path, play: SimulationResult, other: bool) -> Iterator[dict[str, Any]]:
    """What the handlers themselves wrote down, each before anything else."""
    lines = trace.read_text().splitlines() if trace.exists() else []
    for line in map(json.loads, lines):
        if (line["session"] != play.session) is other and not line.get("again"):
            yield {name: line[name] for name in ("slug", "sub", "type")}


def without_place(call: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in call.items() if name != "streamIndex"}


# A schema of a tool, as the packages of schemas make them. What becomes of the calls was recorded from 0.80.1
# and 0.18.1, with zod.

ALL_TS = "export default { events: { '*'() {} } };"
ADD_CHECKED = """
const inputSchema = {
  "~standard": {
    version: 1,
    vendor: "own",
    async validate({ a, b, ...rest }: any) {
      if (rest.throws) throw new Error("cannot say");
      if (typeof a === "number" && typeof b === "number") return { value: { a, b } };
      return { issues: [{ message: "a number, please", path: ["a"] }, { message: "no" }] };
    },
  },
};
export default { description: "Adds.", inputSchema, async execute({ a, b }: any) { return { sum: a + b }; } };
"""


@pytest.mark.usefixtures("node")
@pytest.mark.parametrize("dialect", ["eve", "eve@0.18", "eve@0.80"])
async def test_a_call_that_does_not_fit_its_schema_is_no_event(
    dialect: str, project: Project, opened: OpenProject
) -> None:
    project({"agent/hooks/all.ts": ALL_TS, "agent/tools/add-up.ts": ADD_CHECKED})
    inputs = [{"a": "x", "b": 3}, {"a": 1, "b": 3, "more": 5}, {"throws": True}]
    calls = [{"name": "add-up", "input": given, "id": f"call_{at}"} for at, given in enumerate(inputs)]
    later = ["after one", "after two", "after three"]  # results, those of calls that do not fit among them
    play = await played(HookEngine(opened(dialect)), replies=[{"toolCalls": calls}, *later])
    asked = [scene for scene in play.events if scene.run.event.type == "actions.requested"]
    (action,) = asked[0].run.event.context["actions"]
    assert (len(asked), action["callId"], action["input"]) == (1, "call_1", {"a": 1, "b": 3})
    assert [result.status for result in asked[0].run.results] == ["ok"]
    results = [scene for scene in play.events if scene.run.event.type == "action.result"]
    assert [scene.run.event.context["result"]["output"] for scene in results] == [{"sum": 4}]
    assert data_of(play, "message.completed")["message"] == "after three"
    assert [(use.name, use.failure.text) for use in play.code_calls if use.failure is not None] == [
        ("add-up", "its input does not fit its schema: a: a number, please; no"),
        ("add-up", "its input does not fit its schema: cannot say"),
    ]


# Python projects.


async def test_a_turn_with_a_tool(project: Project, opened: OpenProject) -> None:
    project(
        {"agent/hooks/all.py": ALL, "agent/tools/add-up.py": ADD, "agent/agent.py": AGENT % [CALL, "Five."]}
    )
    play = await played(HookEngine(opened("eve@0.80")))
    assert (play.end, play.failure, play.failed) == ("waiting", None, ())
    assert data_of(play, "action.result")["result"]["output"] == {"sum": 5}
    assert kinds(play)[-2:] == ["turn.completed", "session.waiting"]
    assert all(len(scene.run.results) == 1 for scene in play.events)
    assert [(use.kind, use.name) for use in play.code_calls] == [
        ("model", "app"),
        ("tool", "add-up"),
        ("model", "app"),
    ]


async def test_replies_of_the_caller_take_the_models_place(project: Project, opened: OpenProject) -> None:
    project("agent/instructions.md")
    play = await played(HookEngine(opened()), "one", "two", replies=["Hello"])
    said = [scene.run.event.context.get("message") for scene in play.events]
    assert [one for one in said if one is not None] == ["one", "Hello", "two", "Hello"]


async def test_a_project_without_a_model_says_so(project: Project, opened: OpenProject) -> None:
    project("agent/instructions.md")
    play = await played(HookEngine(opened()))
    assert play.failure == "agent has no file `agent` that names a model"
    assert kinds(play)[-3:] == ["step.failed", "turn.failed", "session.waiting"]


@pytest.mark.parametrize(
    ("dialect", "last", "rest"),
    [
        ("eve@0.80", ["turn.completed", "session.waiting"], "waiting"),
        ("eve@0.18", ["step.failed", "turn.failed", "session.waiting"], "waiting"),
        ("eve", ["message.completed", "turn.failed", "session.waiting"], "waiting"),
    ],
)
async def test_what_a_throw_comes_to(
    project: Project, opened: OpenProject, dialect: str, last: list[str], rest: str
) -> None:
    project({"agent/hooks/a.py": THROWS % "message.completed", "agent/agent.py": AGENT % "Hello"})
    play = await played(HookEngine(opened(dialect)))
    assert kinds(play)[-len(last) :] == last
    assert play.end == rest
    assert [(scene.run.event.type, result.call.name) for scene, result in play.failed] == [
        ("message.completed", "a")
    ]
    assert play.events[-1].run.caused == ()


async def test_a_session_that_is_over_hears_nothing_more(project: Project, opened: OpenProject) -> None:
    project({"agent/hooks/a.py": THROWS % "*", "agent/agent.py": AGENT % "Hello"})
    play = await played(HookEngine(opened("eve")), "one", "two")
    assert (play.end, kinds(play)[-1]) == ("ended", "session.failed")
    assert play.notes == ("the session is over: 'two' was not sent",)


async def test_under_0_18_the_next_message_begins_another_session(
    project: Project, opened: OpenProject
) -> None:
    project({"agent/hooks/a.py": THROWS % "turn.started", "agent/agent.py": AGENT % "Hello"})
    play = await played(HookEngine(opened("eve@0.18")), "one", "two")
    assert [kinds(play, session)[-1] for session in play.sessions] == ["session.failed"] * 2
    assert play.session == play.sessions[1]


async def test_a_cancel_ends_the_turn(project: Project, opened: OpenProject) -> None:
    project({"agent/hooks/a.py": CANCELS % "step.started", "agent/agent.py": AGENT % "Hello"})
    play = await played(HookEngine(opened("eve@0.80")))
    assert kinds(play)[-3:] == ["step.started", "turn.cancelled", "session.waiting"]
    assert play.code_calls == ()


async def test_a_subagent_plays_in_a_session_of_its_own(project: Project, opened: OpenProject) -> None:
    call = {"toolCalls": [{"name": "helper", "input": {"message": "please"}}]}
    project(
        {
            "agent/hooks/root.py": ALL,
            "agent/agent.py": AGENT % [call, "Done"],
            "agent/subagents/helper/hooks/sub.py": ALL,
            "agent/subagents/helper/agent.py": AGENT % "Helper answer",
        }
    )
    play = await played(HookEngine(opened("eve@0.80")))
    root, child = play.sessions
    heard = {(scene.session, result.call.name) for scene in play.events for result in scene.run.results}
    assert heard == {(root, "root"), (child, "sub")}
    assert data_of(play, "task.settled")["output"] == "Helper answer"
    (first, *_) = play.stream(child)
    parent = first.run.event.ctx["session"]["parent"]
    assert (parent["sessionId"], parent["turn"]) == (root, {"id": "turn_0", "sequence": 0})
    assert first.run.event.ctx["channel"]["kind"] == "subagent"
    assert first.run.event.ctx["agent"] == {"name": "helper", "nodeId": "subagents/helper"}


WORDS = (
    'You are the subagent "helper".\nDescription: A helper.\n\n'
    "The caller delegated the following task to you. "
)
DELEGATED = {  # recorded from each version
    "eve": "please",
    "eve@0.18": f"{WORDS}Complete it and return the final result directly.\n\nCaller message:\nplease",
    "eve@0.80": f"{WORDS}Complete it and return the result directly. "
    "The caller may send follow-up messages after you answer.\n\nCaller message:\nplease",
}


@pytest.mark.parametrize("dialect", DELEGATED)
async def test_a_subagent_is_told_what_to_do_before_its_callers_message(
    project: Project, opened: OpenProject, dialect: str
) -> None:
    call = {"toolCalls": [{"name": "helper", "input": {"message": "please"}}]}
    helper = (AGENT % "Helper answer").replace("define_agent(", 'define_agent(description="A helper.", ')
    project({"agent/agent.py": AGENT % [call, "Done"], "agent/subagents/helper/agent.py": helper})
    play = await played(HookEngine(opened(dialect)))
    received = [
        scene.run.event.context for scene in play.events if scene.run.event.type == "message.received"
    ]
    assert [one["message"] for one in received] == ["hi", DELEGATED[dialect]]


async def test_where_the_host_builds_nothing_a_play_says_why_no_hook_runs(
    project: Project, opened: OpenProject
) -> None:
    project({"agent/agent.py": AGENT % "Hello", "agent/hooks/a.py": ALL, "agent/lib/notes.txt": ""})
    play = await played(HookEngine(opened("eve@0.80")))
    assert not any(scene.run.results for scene in play.events)
    (note,) = play.notes
    assert note.startswith("no hook runs: Eve cannot build the project: discover/lib-entry-unsupported: ")


async def test_a_subagent_may_be_one_module(project: Project, opened: OpenProject) -> None:
    call = {"toolCalls": [{"name": "helper", "input": {"message": "please"}}]}
    project({"agent/agent.py": AGENT % [call, "Done"], "agent/subagents/helper.py": AGENT % "Helper answer"})
    play = await played(HookEngine(opened("eve@0.80")))
    assert data_of(play, "task.settled")["output"] == "Helper answer"
    child = next(scene for scene in play.events if scene.node)
    assert child.run.event.ctx["agent"] == {"name": "helper", "nodeId": "subagents/helper.py"}


async def test_code_of_an_untrusted_agent_does_not_run(project: Project, opened: OpenProject) -> None:
    project({"agent/agent.py": AGENT % "Hello", "agent/hooks/a.py": ALL})
    play = await played(HookEngine(opened("eve@0.80", trusted=False)))
    assert play.untrusted
    assert not any(scene.run.results for scene in play.events)


async def test_a_host_without_sessions_is_refused(project: Project, opened: OpenProject) -> None:
    project("agent/hooks/a.py")
    engine = HookEngine(opened("openclaw"))
    with pytest.raises(Refusal, match="OpenClaw has no sessions to simulate"):
        Simulation(engine, SessionRequest(("hi",), "seed"))


async def test_a_model_that_calls_for_ever_is_stopped(project: Project, opened: OpenProject) -> None:
    project({"agent/tools/add-up.py": ADD})
    play = await played(HookEngine(opened()), replies=[CALL])
    assert play.end == "stopped"
    assert play.notes == ("stopped at the limit of 2000 events: the model did not finish",)


# Ends by others.


class Held:
    """A handler that begins and never returns."""

    def __init__(self, engine: HookEngine, kind: str) -> None:
        self.begun, self.ended = asyncio.Event(), False
        engine.register(kind, self.handler)

    async def handler(self, _: Any) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def test_a_cancelled_play_ends_with_what_was_played(project: Project, opened: OpenProject) -> None:
    project("agent/instructions.md")
    engine = HookEngine(opened())
    held = Held(engine, "message.received")
    playing = Simulation(engine, SessionRequest(("hi",), "seed", ["Hello"]))
    await held.begun.wait()
    playing.cancel()
    play = await playing
    assert (play.end, kinds(play)) == ("cancelled", ["session.started", "turn.started", "message.received"])
    assert held.ended
    assert play.events[-1].run.cancelled


async def test_who_leaves_a_play_ends_it(project: Project, opened: OpenProject) -> None:
    project("agent/instructions.md")
    engine = HookEngine(opened())
    held = Held(engine, "turn.started")

    async def wait() -> SimulationResult:
        return await Simulation(engine, SessionRequest(("hi",), "seed", ["Hello"]))

    waiting = asyncio.ensure_future(wait())
    await held.begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert held.ended


async def test_a_play_cancelled_before_it_begins_is_empty(project: Project, opened: OpenProject) -> None:
    project("agent/instructions.md")
    playing = Simulation(HookEngine(opened()), SessionRequest(("hi",), "seed", ["Hello"]))
    playing.cancel()
    play = await playing
    assert (play.end, play.events) == ("cancelled", ())


async def test_scenes_come_one_by_one(project: Project, opened: OpenProject) -> None:
    project("agent/instructions.md")
    playing = Simulation(HookEngine(opened()), SessionRequest(("hi",), "seed", ["Hello"]))
    seen = [scene async for scene in playing]
    assert tuple(seen) == (await playing).events
    assert [scene.position for scene in seen] == list(range(len(seen)))

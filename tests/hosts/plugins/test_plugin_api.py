"""Plugin hooks as an embedding program uses them: registering, asking, and plugins that are installed."""

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from hookscope import (
    HookEngine,
    HookRunner,
    PluginApi,
    clear_hooks,
    discover_plugins,
    embedded_host,
    get_global_hook_runner,
    load_hooks,
    load_plugins,
    register_hook,
    registered_keys,
)
from hookscope.embedding.hook_runner import _AnsweringHook, _ObservingHook
from hookscope.embedding.library import HookFailure
from hookscope.embedding.plugin_api import AgentContext, MessageContext, SessionContext, ToolContext
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.plugins.plugin_policy import OBSERVE
from hookscope.model.event_catalogue import EventType

SHIPPED = "openclaw@2026.9"
CALL = {"toolName": "exec", "params": {"cmd": "ls"}, "toolCallId": "call-1"}
Answers = Callable[..., Any]


@pytest.fixture
def runner() -> HookRunner:
    return get_global_hook_runner()


def own_runner(dialect: str) -> tuple[PluginApi, HookRunner]:
    """An api and a runner on an engine of their own."""
    engine = HookEngine(embedded_host(host_config={}, dialect=dialect))
    return PluginApi("audit", engine=engine), HookRunner(lambda: engine)


def answers(value: object) -> Answers:
    async def handler(event: object, ctx: object) -> object:
        return value

    return handler


# The seeds' examples, as Python


async def test_the_audit_example_of_seed_003(runner: HookRunner) -> None:
    records: list[tuple[str, ...]] = []
    api = PluginApi("audit")

    async def handler(ctx: Any) -> None:
        records.append((ctx.session_key, ctx.channel, ctx.direction))

    api.register_hook({"event": "message-sent", "handler": handler, "priority": 100})
    event = {"sessionKey": "agent:main:main", "channel": "telegram", "direction": "sent"}
    await runner.run_message_sent(event, wait=True)
    assert records == [("agent:main:main", "telegram", "sent")]


async def test_the_runner_example_of_seed_004(runner: HookRunner) -> None:
    assert not runner.has_hooks("before_tool_call")
    PluginApi("guard").on("before_tool_call", answers({"params": {"cmd": "ls -la"}}))
    assert runner.has_hooks("before_tool_call")
    assert runner.has_hooks("before-tool-call")
    result = await runner.run_before_tool_call({**CALL, "ctx": {"runId": "run-1"}})
    assert (result.blocked, result.params) == (False, {"cmd": "ls -la"})
    PluginApi("no").on("before_tool_call", answers({"block": True, "blockReason": "not today"}))
    result = await runner.run_before_tool_call({**CALL, "ctx": {"runId": "run-1"}})
    assert (result.blocked, result.block_reason) == (True, "not today")
    assert result.run.ending.verdict == "blocked by no: not today"


# Asking


async def test_event_and_ctx_can_be_passed_by_keyword(runner: HookRunner) -> None:
    seen: list[tuple[Any, Any]] = []
    PluginApi("watch").on("before_tool_call", lambda event, ctx: seen.append((dict(event), dict(ctx))))
    await runner.run_before_tool_call(ctx={"runId": "run-1"}, tool_name="exec", params={})
    await runner.run_before_tool_call({"toolName": "exec", "params": {}}, {"runId": "run-1"})
    await runner.run("before-tool-call", {"toolName": "exec", "params": {}, "ctx": {"runId": "run-1"}})
    (first, _), *_ = seen
    assert (first["toolName"], first["params"]) == ("exec", {})
    assert all(item == seen[0] for item in seen)
    assert seen[0][1]["runId"] == "run-1"


async def test_event_is_unchanged_without_handlers(runner: HookRunner) -> None:
    result = await runner.run_before_tool_call(CALL)
    assert (result.blocked, result.params, result.run.results) == (False, {"cmd": "ls"}, ())
    sending = await runner.run_message_sending({"to": "x", "content": "hello"})
    assert (sending.cancelled, sending.content, sending.answer) == (False, "hello", None)


@pytest.mark.parametrize(
    ("dialect", "hook", "event", "answer", "told"),
    [
        (
            "openclaw",
            "message_sending",
            {"content": "a"},
            {"content": "b"},
            {"content": "b", "cancelled": False},
        ),
        (
            SHIPPED,
            "message_sending",
            {"content": "a"},
            {"cancel": True, "cancelReason": "no"},
            {"content": "a", "cancelled": True, "cancel_reason": "no"},
        ),
        (SHIPPED, "message_sending", {"content": "a"}, {"content": ""}, {"content": ""}),
        (
            SHIPPED,
            "before_tool_call",
            CALL,
            {"requireApproval": {"title": "t"}},
            {"require_approval": {"title": "t", "pluginId": "audit"}, "params": {"cmd": "ls"}},
        ),
        (
            SHIPPED,
            "before_agent_run",
            {"prompt": "p"},
            {"outcome": "block", "reason": "no"},
            {"blocked": True, "decision": {"outcome": "block", "reason": "no"}, "plugin_id": "audit"},
        ),
        (SHIPPED, "before_agent_run", {"prompt": "p"}, {"outcome": "pass"}, {"blocked": False}),
        (
            SHIPPED,
            "before_dispatch",
            {"content": "c"},
            {"handled": True, "text": "y"},
            {"handled": True, "answer": {"handled": True, "text": "y"}},
        ),
        (
            SHIPPED,
            "before_prompt_build",
            {"prompt": "p"},
            {"prependContext": "x", "toolsAllow": ["read"]},
            {"prepend_context": "x", "append_context": None, "tools_allow": ["read"], "prompt": "p"},
        ),
        (SHIPPED, "resolve_exec_env", {}, {"A": "1"}, {"env": {"A": "1"}}),
        (SHIPPED, "before_message_write", {"message": {"a": 1}}, {"block": True}, {"blocked": True}),
        (SHIPPED, "tool_result_persist", {"message": {"a": 1}}, {"message": {"a": 2}}, {"message": {"a": 2}}),
        (SHIPPED, "subagent_delivery_target", {}, {"origin": {"to": "x"}}, {"origin": {"to": "x"}}),
        (SHIPPED, "before_install", {}, {"findings": [1], "block": True}, {"findings": [1], "blocked": True}),
        (SHIPPED, "before_agent_finalize", {}, {"action": "revise", "reason": "r"}, {"action": "revise"}),
        (SHIPPED, "before_model_resolve", {}, {"modelOverride": "m"}, {"model_override": "m"}),
        (
            SHIPPED,
            "reply_payload_sending",
            {"payload": {"text": "a"}},
            {"payload": {"text": "b"}},
            {"payload": {"text": "b"}, "cancelled": False},
        ),
        (
            "openclaw",
            "before_agent_start",
            {"prompt": "p"},
            {"modelOverride": "m"},
            {"model_override": "m", "prompt": "p"},
        ),
    ],
)
async def test_answer_is_read_from_its_result_class(
    dialect: str, hook: str, event: Mapping[str, Any], answer: object, told: Mapping[str, object]
) -> None:
    api, runner = own_runner(dialect)
    is_sync = hook in ("tool_result_persist", "before_message_write")
    api.on(hook, (lambda event, ctx: answer) if is_sync else answers(answer))
    result = await getattr(runner, f"run_{hook}")(event)
    assert {name: getattr(result, name) for name in told} == told


@pytest.mark.parametrize("dialect", ["openclaw", SHIPPED])
def test_every_plugin_hook_of_a_host_has_its_own_method(dialect: str) -> None:
    known = {event.key: event for event in DIALECTS[dialect].catalogue().events if event.kind == "plugin"}
    methods = {
        name.removeprefix("run_"): door for name, door in vars(HookRunner).items() if name[:4] == "run_"
    }
    assert known.keys() <= methods.keys()
    for key, event in known.items():
        assert isinstance(methods[key], _ObservingHook if event.policy == OBSERVE else _AnsweringHook), key


@pytest.mark.parametrize("dialect", ["openclaw", SHIPPED])
async def test_every_plugin_hook_reaches_its_handlers_under_both_spellings(dialect: str) -> None:
    api, runner = own_runner(dialect)
    heard: list[str] = []
    events = [event for event in DIALECTS[dialect].catalogue().events if event.kind == "plugin"]
    for event in events:
        for name in (event.key, event.key.replace("_", "-")):
            api.on(name, lambda _, *, key=event.key: heard.append(key))
    for event in events:
        await runner.run(event.key, event.context)
    assert heard == [event.key for event in events for _ in range(2)]


async def test_runner_does_not_wait_for_observers(
    runner: HookRunner, caplog: pytest.LogCaptureFixture
) -> None:
    go, told = asyncio.Event(), asyncio.Event()
    api = PluginApi("watch")

    async def waits(event: object) -> None:
        await go.wait()
        told.set()

    def fails(event: object) -> None:
        raise RuntimeError("the log is full")

    api.on("message_received", waits)
    api.on("message_received", fails)
    assert await runner.run_message_received({"content": "hello"}) is None
    assert not told.is_set()
    firing = runner.start("message_received", {"content": "again"})
    go.set()
    run = await firing
    assert [result.status for result in run.results] == ["ok", "error"]
    assert told.is_set()
    waited = await runner.run_message_received({"content": "hello"}, wait=True)
    assert waited is not None
    assert len(waited.run.results) == 2
    assert "the log is full" in caplog.text


async def test_observers_run_concurrently_with_separate_results() -> None:
    engine = HookEngine(embedded_host(host_config={}, dialect=SHIPPED))
    last_runs = asyncio.Event()

    async def waits_for_the_last(view: object) -> None:
        await last_runs.wait()

    async def hangs(view: object) -> None:
        await asyncio.Event().wait()

    async def cancels_itself(view: object) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async def is_the_last(view: object) -> None:
        last_runs.set()

    engine.register("llm_input", hangs, limit=0.01)
    for handler in (waits_for_the_last, cancels_itself, is_the_last):
        engine.register("llm_input", handler)
    run = await HookRunner(lambda: engine).run("llm_input", {})
    assert [(one.call.name, one.status) for one in run.results] == [
        ("hangs", "timeout"),
        ("waits_for_the_last", "ok"),
        ("cancels_itself", "error"),
        ("is_the_last", "ok"),
    ]
    assert not run.cancelled


async def test_a_cancel_ends_all_observers() -> None:
    api, runner = own_runner(SHIPPED)
    both_run = asyncio.Barrier(3)

    async def observes(event: object) -> None:
        await both_run.wait()
        await asyncio.Event().wait()

    for _ in range(2):
        api.on("llm_input", observes)
    firing = runner.start("llm_input", {})
    await both_run.wait()
    firing.cancel()
    run = await firing
    assert (run.cancelled, [one.status for one in run.results]) == (True, ["cancelled"] * 2)


async def test_a_hook_that_fails_closed_raises_with_the_run() -> None:
    api, runner = own_runner(SHIPPED)

    def bad(event: object) -> None:
        raise RuntimeError("policy crashed")

    api.on("before_tool_call", bad)
    with pytest.raises(
        HookFailure, match="before_tool_call handler from audit failed: policy crashed"
    ) as met:
        await runner.run_before_tool_call(CALL)
    assert [result.status for result in met.value.run.results] == ["error"]


@pytest.mark.parametrize(
    ("dialect", "order"), [("openclaw", ["low", "none", "high"]), (SHIPPED, ["high", "none", "low"])]
)
async def test_dialect_decides_the_priority_order(dialect: str, order: list[str]) -> None:
    api, runner = own_runner(dialect)
    called: list[str] = []
    for name, priority in (("high", 10), ("low", -5), ("none", 0)):
        api.on("before_tool_call", lambda _, *, name=name: called.append(name), priority=priority)
    await runner.run_before_tool_call(CALL)
    assert called == order


async def test_runner_refuses_a_host_without_plugin_hooks() -> None:
    _, runner = own_runner("milady")
    assert not runner.has_hooks("before_tool_call")
    with pytest.raises(LookupError, match="Milady has no plugin hooks"):
        await runner.run_before_tool_call(CALL)


# Adding and removing


async def test_handlers_come_and_go_while_the_program_runs(runner: HookRunner) -> None:
    api, called = PluginApi("audit"), list[str]()

    @api.on("before_tool_call", priority=1)
    def first(event: Any, ctx: Any) -> None:
        called.append("first")
        api.on("before_tool_call", second, priority=2)

    def second(event: Any) -> None:
        called.append("second")

    await runner.run_before_tool_call(CALL)
    assert called == ["first"]
    assert api.unregister("before-tool-call", first)
    assert not api.unregister("before_tool_call", first)
    await runner.run_before_tool_call(CALL)
    assert called == ["first", "second"]
    assert api.unregister("before_tool_call")
    assert not runner.has_hooks("before_tool_call")
    assert not api.unregister("before_tool_call")


async def test_each_event_is_planned_by_its_own_content() -> None:
    """Plans are kept: what a filter reads, and what cannot be copied, decides them anew."""
    api, runner = own_runner(SHIPPED)
    api.on("before_tool_call", answers(None), matcher="exec")
    seen: list[str] = []
    api.on("before_tool_call", lambda event: seen.append(event.params["n"]))
    for tool, called in (("exec", 2), ("read", 1), ("exec", 2), ("", 2)):
        run = await runner.run("before_tool_call", {"toolName": tool, "params": {"n": tool}})
        assert (len(run.results), run.event.context["toolName"]) == (called, tool)
    with pytest.raises(HookFailure, match="isolation failed"):
        await runner.run("before_tool_call", {"toolName": "exec", "params": {"lock": Lock()}})
    assert (await runner.run_before_tool_call(CALL | {"params": {"n": "last"}})).params == {"n": "last"}
    assert seen == ["exec", "read", "exec", "", "last"]


async def test_each_event_of_a_guide_begins_with_its_own_params() -> None:
    api, runner = own_runner("openclaw")
    api.on("before_tool_call", answers(None))
    for number in (1, 2):
        assert (await runner.run_before_tool_call({"params": {"n": number}})).answer == {
            "blocked": False,
            "params": {"n": number},
        }


async def test_changes_of_non_json_values_stay_private_to_the_handler() -> None:
    api, runner = own_runner(SHIPPED)
    seen: list[Any] = []

    def change(event: Any) -> None:
        seen.append({**event.params, "names": set(event.params["names"])})
        event.params["names"].add("changed")

    for _ in range(2):
        api.on("before_tool_call", change)
    params = {"names": {"a"}, 3: ("a tuple", "of two"), "twice": [[1]] * 2}
    run = await runner.run("before_tool_call", {"toolName": "exec", "params": params})
    assert run.failed == ()
    assert [(one["names"], one[3]) for one in seen] == [({"a"}, ("a tuple", "of two"))] * 2
    assert params["names"] == {"a"}


async def test_plugin_handler_registered_twice_unregisters_one_at_a_time(runner: HookRunner) -> None:
    api, called = PluginApi("audit"), list[object]()
    for _ in range(2):
        api.on("llm_input", called.append)
    assert api.unregister("llm_input", called.append)
    await runner.run_llm_input({}, wait=True)
    assert len(called) == 1


async def test_a_load_of_hooks_leaves_plugins_alone(runner: HookRunner, workspace: Path) -> None:
    PluginApi("audit").on("before_tool_call", answers(None))
    register_hook("command", lambda event: None)
    await load_hooks(workspace, host_config={})
    assert registered_keys() == ("before_tool_call",)
    clear_hooks()
    assert not runner.has_hooks("before_tool_call")


@pytest.mark.parametrize(
    ("dialect", "then", "heard"),
    [("openclaw", "OpenClaw never sends it", True), (SHIPPED, "it is ignored", False)],
)
async def test_an_unknown_name_is_warned_about_with_the_nearest(
    dialect: str, then: str, heard: bool, caplog: pytest.LogCaptureFixture
) -> None:
    api, runner = own_runner(dialect)
    api.on("befor-tool-call", answers(None))
    assert caplog.messages == [
        f"Plugin audit: OpenClaw has no plugin hook 'befor-tool-call', so {then}; "
        "did you mean before_tool_call?"
    ]
    assert runner.has_hooks("befor-tool-call") is heard
    assert api.unregister("befor-tool-call") is heard


def test_invalid_registration_raises_type_error() -> None:
    api = PluginApi("audit")
    with pytest.raises(TypeError, match="needs the name of an event"):
        api.register_hook({"handler": print})
    with pytest.raises(TypeError, match="not a function"):
        api.on("llm_input", "handler")  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="priority of llm_input is 'high', not a number"):
        api.on("llm_input", print, priority="high")
    assert registered_keys() == ()


# Installed plugins

PLUGINS = {
    "good": "def register(api): api.on('before_tool_call', lambda event: {'params': {'by': 'good'}})",
    "later": "async def register(api): api.on('llm_input', print)",
    "broken": "def register(api):\n    api.on('llm_output', print)\n    raise RuntimeError('no key')",
    "empty": "",
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Packages that are installed, with an entry point each."""
    site = tmp_path / "site"
    info = site / "ours-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    points = {name: f"plugin_{name}" for name in PLUGINS} | {
        "good": "plugin_good:register",
        "gone": "plugin_gone",
    }
    lines = [f"{name} = {target}" for name, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[hookscope.plugins]", *lines, ""]))
    for name, source in PLUGINS.items():
        (site / f"plugin_{name}.py").write_text(source)
    monkeypatch.syspath_prepend(site)
    for name in PLUGINS:
        monkeypatch.delitem(sys.modules, f"plugin_{name}", raising=False)
    return site


def test_discovering_plugins_imports_none(installed: Path) -> None:
    assert discover_plugins() == ("broken", "empty", "gone", "good", "later")
    assert not any(name.startswith("plugin_") for name in sys.modules)


async def test_installed_plugins_register_and_a_failing_one_is_named(
    installed: Path, runner: HookRunner, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "hookscope")
    report = await load_plugins()
    assert report.loaded == ("good", "later")
    assert report.failed == {
        "broken": "RuntimeError: no key",
        "empty": "TypeError: plugin_empty is not a function `register(api)`, and has none",
        "gone": "ModuleNotFoundError: No module named 'plugin_gone'",
    }
    assert caplog.messages[0] == "Plugin broken failed to load: RuntimeError: no key"
    assert registered_keys() == ("before_tool_call", "llm_input")
    result = await runner.run_before_tool_call(CALL)
    assert result.params == {"by": "good"}
    assert [item.call.name for item in result.run.results] == ["good"]


async def test_reloaded_plugin_replaces_its_registrations(installed: Path, runner: HookRunner) -> None:
    PluginApi("mine").on("before_tool_call", answers(None))
    for _ in range(2):
        await load_plugins(["good"])
    result = await runner.run_before_tool_call(CALL)
    assert [item.call.name for item in result.run.results] == ["mine", "good"]


async def test_a_plugin_that_is_not_installed_is_named(installed: Path) -> None:
    with pytest.raises(
        LookupError, match="no installed plugin 'goood'; installed are: broken, empty, gone, good"
    ):
        await load_plugins(["goood"])


# Plugins that a load finds


async def test_workspace_plugin_runs_beside_a_plugin_registered_by_code(
    runner: HookRunner, workspace: Path
) -> None:
    folder = workspace / "plugins" / "guard"
    folder.mkdir(parents=True)
    (folder / "plugin.py").write_text(
        "def register(api):\n"
        "    @api.on('before_tool_call', priority=5)\n"
        "    def guard(event, ctx):\n"
        "        if event.params.get('cmd') == 'rm':\n"
        "            return {'block': True, 'blockReason': f'no rm in {event.tool_name}'}\n"
    )
    PluginApi("rewrites").on("before_tool_call", answers({"params": {"cmd": "rm"}}))
    report = await load_hooks(workspace, host_config={})
    assert report.failed == ()
    result = await runner.run_before_tool_call(CALL)
    assert [item.call.name for item in result.run.results] == ["rewrites", "guard"]
    assert (result.blocked, result.block_reason) == (True, "no rm in exec")
    await load_hooks(workspace, host_config={})
    assert registered_keys() == ("before_tool_call",)


@pytest.mark.parametrize(
    "event",
    [event for event in DIALECTS["openclaw"].catalogue().events if event.kind == "plugin"],
    ids=lambda event: event.key,
)
def test_every_context_of_the_guide_is_one_of_four(event: EventType) -> None:
    contexts = (AgentContext, MessageContext, ToolContext, SessionContext)
    assert any(event.ctx.keys() <= kind.__annotations__.keys() for kind in contexts)

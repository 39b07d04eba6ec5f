"""Stream hooks, plugins, tools and models: the same files in a worker and in this process."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from hookscope.model.executor import Executor
from hookscope.model.failure import Failure
from hookscope.model.handler_arguments import LATE_CANCEL
from hookscope.model.hook import SiblingDefinition
from hookscope.model.payload import CANCEL, PROMISE, Arguments, make_arguments
from hookscope.model.run import Code, Module, ModuleShape, Registration, Result, Started, Step
from hookscope.runtime.bounded_copy import CopyBounds
from hookscope.runtime.in_process_executor import InProcessExecutor
from hookscope.runtime.limits import Limits
from hookscope.runtime.process_executor import python_executor
from hookscope.runtime.python_worker.safe_values import to_plain
from hookscope.runtime.sandbox import Sandbox
from hookscope.runtime.sandboxed_executor import SandboxedExecutor

Write = Callable[..., Code]
LANES = ["worker", "in process"]
CTX = {"agent": {"name": "root"}, "session": {"id": "s1", "turn": {"id": "t1", "sequence": 0}}}


class Late:
    """What was told late."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.came = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def hear(self, who: str, text: str) -> None:
        """In whatever thread."""
        self.told.append((who, text))
        self._loop.call_soon_threadsafe(self.came.set)


@pytest.fixture
async def late() -> Late:
    return Late()


@pytest.fixture(params=LANES)
async def lane(request: pytest.FixtureRequest, tmp_path: Path, late: Late) -> AsyncIterator[Executor]:
    """Each lane that runs Python files."""

    made: Executor
    if request.param == "worker":
        limits = Limits(spawn=20.0, load=20.0, run=20.0)
        made = python_executor(env=dict(os.environ), cwd=tmp_path, limits=limits, on_late=late.hear)
    else:
        made = InProcessExecutor(observe=True, on_late=late.hear)
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file of an agent or a plugin; its Code."""

    def make(
        file: str,
        text: str,
        shape: ModuleShape,
        *beside: SiblingDefinition,
        member: str = "",
        export: str = "default",
    ) -> Code:
        path = tmp_path / "agent" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
        return Code(path, export, tmp_path / "agent", "python", shape=shape, member=member, siblings=beside)

    return make


def stream_view(*, methods: tuple[str, ...] = ("cancel",), **data: Any) -> Arguments:
    event = {"type": "turn.started", "data": data, "meta": {"id": "evt_1"}}
    return make_arguments(event, CTX, methods=methods)


async def results_of(lane: Executor, view: Any, *targets: Any) -> list[Result]:
    """Run these as one batch on one view."""
    calls = [Registration("e", f"h{number}", target) for number, target in enumerate(targets)]
    steps: list[Step] = []
    await lane.run(calls, view, steps.append)
    return [step for step in steps if isinstance(step, Result)]


async def module_of(lane: Executor, code: Code) -> Module:
    loaded = await lane.load(code)
    assert isinstance(loaded, Module), loaded
    return loaded


SEES = "lambda event, ctx: [event.type, event.data.turn_id, ctx.agent.name, ctx.session.turn.id]"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("hook = define_hook(events={'turn.started': f, '*': f})", ["turn.started", "*"]),
        ("default = {'events': {'turn.started': f}, 'priority': 5}", ["turn.started"]),
        ("hook = define_hook({'events': {'turn.started': f}})", ["turn.started"]),
        ("def hook(): return define_hook(events={'turn.started': f})", ["turn.started"]),
        ("async def hook(): return define_hook(events={'turn.started': f})", ["turn.started"]),
        ("channel = define_channel(events={'turn.started': f})", ["turn.started"]),
        ("dynamic = define_dynamic(events={'turn.started': f})", ["turn.started"]),
        ("hook = {}", []),
        ("hook = {'events': {'turn.started': None, 'no.such.event': f}}", ["no.such.event"]),
    ],
)
async def test_a_stream_module_declares_its_handlers(
    text: str, keys: list[str], lane: Executor, write: Write
) -> None:
    head = "from hookscope import define_channel, define_dynamic, define_hook\n"
    module = await module_of(lane, write("hooks/audit.py", f"{head}f = {SEES}\n{text}", "stream"))
    assert [one.key for one in module.declares] == keys
    for one in module.declares:
        (result,) = await results_of(lane, stream_view(turnId="t7"), one.target)
        assert result.returned == ["turn.started", "t7", "root", "t1"], result.error


REFUSED = 'Expected the hook export "default" from "hooks/bad.py" to'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("other = {'events': {}}", f"{REFUSED} return an object."),
        ("hook = ['events']", f"{REFUSED} return an object."),
        ("hook = lambda: None", f"{REFUSED} return an object."),
        ("hook = {'events': []}", f"{REFUSED} expose events as an object."),
        (
            "hook = {'events': {'turn.started': 'no'}}",
            f"{REFUSED} provide a function for events.turn.started.",
        ),
        ("raise KeyError('broken')", "'broken'"),
    ],
)
async def test_a_stream_module_of_another_shape_is_refused_in_the_hosts_words(
    text: str, sentence: str, lane: Executor, write: Write
) -> None:
    loaded = await lane.load(write("hooks/bad.py", text, "stream"))
    assert isinstance(loaded, Failure)
    assert (loaded.message, loaded.phase) == (sentence, "load")


async def test_two_files_of_one_agent_are_two_modules_with_shared_helpers(
    lane: Executor, write: Write
) -> None:
    write("tools/names.py", "NAME = 'shared'", "tool")
    text = "from tools.names import NAME\nhook = {{'events': {{'*': lambda event: NAME + ' {}'}}}}"
    codes = [
        write("hooks/audit.py", text.format(1), "stream"),
        write("hooks/auth/audit.py", text.format(2), "stream"),
        write("hooks/tools.py", text.format(3), "stream"),
    ]
    modules = [await module_of(lane, code) for code in codes]
    results = await results_of(lane, stream_view(), *(module.declares[0].target for module in modules))
    assert [result.returned for result in results] == ["shared 1", "shared 2", "shared 3"]


async def test_later_handlers_see_what_earlier_ones_changed(lane: Executor, write: Write) -> None:
    text = """
    def first(event, ctx):
        event.data.changed_by = "first"
        event.data.items_seen = [{"deep_key": 1}]
        ctx.agent.name = "not told to others"
    def second(event, ctx):
        return [event["data"]["changed_by"], event.data.items_seen[0].deep_key, ctx.agent.name]
    hook = {"events": {"*": first, "turn.started": second}}
    """
    module = await module_of(lane, write("hooks/a.py", text, "stream"))
    view = stream_view(turnId="t1")
    first, second = await results_of(lane, view, *(one.target for one in module.declares))
    assert second.returned == ["first", 1, "root"]
    assert view["event"]["data"] == {"turnId": "t1", "changed_by": "first", "items_seen": [{"deep_key": 1}]}
    assert {(step["op"], step["path"]) for step in first.patch} == {
        ("add", "/data/changed_by"),
        ("add", "/data/items_seen"),
    }
    assert (second.patch, first.messages, first.asked) == ((), (), ())


@pytest.mark.parametrize(
    ("handler", "asked"), [("lambda event, ctx: ctx.cancel()", (CANCEL,)), ("lambda event, ctx: None", ())]
)
async def test_what_a_handler_asks_for_is_its_own(
    handler: str, asked: tuple[str, ...], lane: Executor, write: Write
) -> None:
    text = f"hook = {{'events': {{'a': lambda event, ctx: ctx.cancel(), 'b': {handler}}}}}"
    module = await module_of(lane, write("hooks/a.py", text, "stream"))
    view = stream_view()
    results = await results_of(lane, view, *(one.target for one in module.declares))
    assert [result.asked for result in results] == [(CANCEL,), asked]
    assert tuple(view["asked"]) == (CANCEL, *asked)
    assert results[0].patch == ()


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("ctx.cancel()", "there is no 'cancel' here, only 'agent', 'session'"),
        ("ctx.getSkill('x')", "there is no 'getSkill' here, only 'agent', 'session'"),
        ("ctx.get_sandbox()", "Hookscope has no sandbox: ctx.get_sandbox() works in the agent itself only"),
    ],
)
async def test_a_context_has_the_methods_of_its_host_only(
    method: str, said: str, lane: Executor, write: Write
) -> None:
    text = f"hook = {{'events': {{'*': lambda event, ctx: {method}}}}}"
    module = await module_of(lane, write("hooks/a.py", text, "stream"))
    (result,) = await results_of(lane, stream_view(methods=("getSandbox",)), module.declares[0].target)
    assert result.error is not None
    assert result.error.message == said
    assert [Path(frame.file).name for frame in result.error.frames] == ["a.py"]


LATE = """
import threading
def late(event, ctx):
    def wait():
        with open({pipe!r}) as go:
            go.read()
        ctx.cancel()
    threading.Thread(target=wait, daemon=True).start()
hook = {{"events": {{"*": late}}}}
"""


async def test_asking_for_a_cancel_when_the_hooks_have_returned_is_told_as_late(
    lane: Executor, write: Write, late: Late, tmp_path: Path
) -> None:
    pipe = tmp_path / "go"
    os.mkfifo(pipe)
    module = await module_of(lane, write("hooks/a.py", LATE.format(pipe=str(pipe)), "stream"))
    view = stream_view()
    (result,) = await results_of(lane, view, module.declares[0].target)
    assert (result.status, result.asked, list(view["asked"])) == ("ok", (), [])
    pipe.write_text("go")
    async with asyncio.timeout(60):
        await late.came.wait()
    assert late.told == [("h0", LATE_CANCEL)]
    assert list(view["asked"]) == []


@pytest.mark.parametrize(
    ("handler", "returned", "asked"),
    [("async def f(event): return 'later'", None, (PROMISE,)), ("def f(event): return 'now'", "now", ())],
)
async def test_where_an_answer_is_wanted_at_once_a_promise_is_none(
    handler: str, returned: object, asked: tuple[str, ...], lane: Executor, write: Write
) -> None:
    text = f"{handler}\ndef register(api): api.on('tool_result_persist', f)"
    module = await module_of(lane, write("plugin.py", text, "plugin"))
    view = make_arguments({"message": {}}, {}, sync=True)
    (result,) = await results_of(lane, view, module.declares[0].target)
    assert (result.status, result.returned, result.asked) == ("ok", returned, asked)


PLUGIN = """
def register(api):
    api.logger.debug("hello")
    api.registerTool({"name": "x"}).whatever()
    api.register_hook({"event": "message-sent", "handler": lambda event, ctx: ["sent", ctx.channel_id], "priority": 100})
    api.registerHook(event="before_tool_call", handler=lambda event: event.params.cmd)

    @api.on("before_tool_call", priority=5, timeout_ms=250, matcher=["exec"], eligible_triggers=["cron"])
    async def guard(event, ctx):
        event.params.cmd += "!"
        return {"params": event.params}
"""  # noqa: E501


async def test_a_plugin_declares_what_it_registers(lane: Executor, write: Write) -> None:
    module = await module_of(lane, write("plugin.py", PLUGIN, "plugin"))
    assert [(one.key, one.priority, one.limit, one.options) for one in module.declares] == [
        ("message-sent", 100, None, {}),
        ("before_tool_call", 0, None, {}),
        ("before_tool_call", 5, 0.25, {"matcher": ["exec"], "eligibleTriggers": ["cron"]}),
    ]
    view = make_arguments({"params": {"cmd": "ls"}}, {"channelId": "c1"})
    results = await results_of(lane, view, *(one.target for one in module.declares))
    assert [result.returned for result in results] == [["sent", "c1"], "ls", {"params": {"cmd": "ls!"}}]
    assert results[2].patch == ({"op": "replace", "path": "/params/cmd", "value": "ls!"},)


@pytest.mark.parametrize(
    ("handlers", "said"),
    [
        ("['x'] * 700", "it declares 700 handlers, of which 500 are used"),
        ("['x', 'y' * 9999, 'z']", "it declares 3 handlers, of which 2 are used"),
    ],
)
async def test_what_does_not_fit_into_a_message_is_counted(
    handlers: str, said: str, write: Write, tmp_path: Path
) -> None:
    lane = python_executor(env=dict(os.environ), cwd=tmp_path)
    text = f"def register(api):\n    for key in {handlers}: api.on(key, print, matcher=object())"
    module = await module_of(lane, write("plugin.py", text, "plugin"))
    await lane.close()
    assert [line.text for line in module.log] == [said]
    assert module.declares[-1].options == {"matcher": "<object>"}


@pytest.mark.parametrize(
    "text",
    [
        "class P:\n  def register(self, api): api.on('x', f)\nplugin = P()",
        "plugin = {'register': lambda api: api.on('x', f)}",
        "default = lambda api: api.on('x', f)",
        "async def register(api): api.on('x', f)",
    ],
)
async def test_a_plugins_door_may_be_written_in_several_ways(text: str, lane: Executor, write: Write) -> None:
    module = await module_of(lane, write("plugin.py", f"f = lambda event: 'called'\n{text}", "plugin"))
    (result,) = await results_of(lane, make_arguments({}, {}), *(one.target for one in module.declares))
    assert result.returned == "called"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1", "plugin.py has no function `register` that registers its hooks"),
        (
            "def register(api): api.on('', print)",
            "api.on() needs the name of an event, such as before_tool_call",
        ),
        ("def register(api): api.on('x', 3)", "the handler of x is an int, not a function"),
        (
            "def register(api): api.on('x', print, priority='high')",
            "the priority of x is 'high', not a number",
        ),
        (
            "def register(api): api.on('x', print, timeout_ms=-1)",
            "the timeout_ms of x is -1, not a number of milliseconds",
        ),
    ],
)
async def test_what_a_plugin_may_not_register_is_said_in_one_sentence(
    text: str, sentence: str, lane: Executor, write: Write
) -> None:
    loaded = await lane.load(write("plugin.py", text, "plugin"))
    assert isinstance(loaded, Failure)
    assert (loaded.message, loaded.phase) == (sentence, "load")


@pytest.mark.parametrize(
    ("member", "returned", "said"),
    [
        ("1", "two", ""),
        ("before-tool-call", "one", ""),
        ("7", None, "the module has no handler '7' any more; load it again"),
        ("", None, "the module has several handlers, but the call names none; load it again"),
    ],
)
async def test_a_call_names_the_handler_of_a_plugin(
    member: str, returned: object, said: str, lane: Executor, write: Write
) -> None:
    text = """
    def register(api):
        api.on("before_tool_call", lambda event: "one")
        api.on("before_tool_call", lambda event: "two")
    """
    code = write("plugin.py", text, "plugin", member=member)
    (result,) = await results_of(lane, make_arguments({}, {}), code)
    assert (result.returned, result.error.message if result.error else "") == (returned, said)


@pytest.mark.parametrize(
    ("shape", "text", "event", "returned"),
    [
        ("tool", "tool = {'execute': lambda given, ctx: given.a + given['b']}", {"a": 2, "b": 3}, 5),
        ("tool", "from hookscope import define_tool\nasync def f(given): return given\n"
         "tool = define_tool(description='d', execute=f)", [1], [1]),
        ("model", "from hookscope import define_agent, mock_model\n"
         "agent = define_agent(model=mock_model('Hello'))", {"toolResults": []}, "Hello"),
        ("model", "agent = {'model': ['first', {'text': 'x'}]}", {"toolResults": [1, 2]}, {"text": "x"}),
        ("model", "from hookscope import define_agent, mock_model\nasync def reply(asked):\n"
         "    return f'{len(asked.tool_results)} results'\nagent = define_agent(model=mock_model(reply))",
         {"toolResults": [1, 2]}, "2 results"),
        ("arguments", "def handler(event, ctx): return [event.a, ctx.b]", {"a": 1}, [1, 2]),
        ("arguments", "def handler(event): return event.a", {"a": 1}, 1),
        ("arguments", "def handler(*both): return [both[0].a, both[1].b]", {"a": 1}, [1, 2]),
        ("arguments", "def handler(): return 'nothing'", {"a": 1}, "nothing"),
        ("arguments", "class H:\n  def __call__(self, event, ctx): return ctx.b\nhandler = H()", {"a": 1}, 2),
    ],
)  # fmt: skip
async def test_tools_models_and_single_handlers_are_called(
    shape: ModuleShape, text: str, event: Any, returned: object, lane: Executor, write: Write
) -> None:
    code = write("x.py", text, shape)
    loaded = await lane.load(code)
    assert not isinstance(loaded, Failure | Module), loaded
    (result,) = await results_of(lane, make_arguments(event, {"b": 2}), loaded)
    assert result.returned == returned, result.error


@pytest.mark.parametrize(
    ("shape", "text", "said"),
    [
        ("tool", "tool = {}", "x.py defines no tool with a function `execute`"),
        ("model", "agent = {}", "x.py has no model: give it `mock_model(…)`"),
        (
            "model",
            "agent = {'model': 'vendor/large'}",
            "x.py names the model 'vendor/large', which Hookscope cannot call: give it `mock_model(…)`",
        ),
    ],
)
async def test_a_file_that_defines_something_else_is_said(
    shape: ModuleShape, text: str, said: str, lane: Executor, write: Write
) -> None:
    loaded = await lane.load(write("x.py", text, shape))
    assert isinstance(loaded, Failure)
    assert loaded.message == said


RESULTS = """
from hookscope import tool_result_from
from tools.add_up import tool as add_up
from connections.linear import connection
def seen(event, ctx):
    one, two = (tool_result_from(event.data.result, asked) for asked in (add_up, connection))
    return [one and [one.call_id, one.output.total, one.toolName], two and two.connection_tool_name]
hook = {"events": {"action.result": seen}}
"""


@pytest.mark.parametrize(
    ("result", "returned"),
    [
        ({"kind": "tool-result", "toolName": "add-up"}, [["c1", 5, "add-up"], None]),
        ({"kind": "tool-result", "toolName": "linear__find__issue"}, [None, "find__issue"]),
        ({"kind": "tool-result", "toolName": "add-up", "isError": True}, [None, None]),
        ({"kind": "tool-error", "toolName": "add-up"}, [None, None]),
        ({"kind": "tool-result", "toolName": "other"}, [None, None]),
    ],
)
async def test_tool_results_are_known_by_the_definitions_beside(
    result: dict[str, Any], returned: object, lane: Executor, write: Write
) -> None:
    tool = write("tools/add_up.py", "from hookscope import define_tool\ntool = define_tool()", "tool")
    text = "import hookscope\nconnection = hookscope.define_connection(url='x')"
    linear = write("connections/linear.py", text, "tool")
    broken = write("tools/broken.py", "raise KeyError('x')", "tool")
    beside = (
        SiblingDefinition("tool", "add-up", tool.path),
        SiblingDefinition("connection", "linear", linear.path),
        SiblingDefinition("tool", "broken", broken.path),
    )
    module = await module_of(lane, write("hooks/a.py", RESULTS, "stream", *beside))
    assert [(line.level, line.text) for line in module.log] == [
        ("warn", "the tool broken did not load, so no result matches it: KeyError: 'x'")
    ]
    view = stream_view(result={**result, "callId": "c1", "output": {"total": 5}})
    (told,) = await results_of(lane, view, module.declares[0].target)
    assert told.returned == returned, told.error


async def test_an_edited_module_is_loaded_anew(lane: Executor, write: Write) -> None:
    text = "hook = {{'events': {{'*': lambda event: {}}}}}"
    code = write("hooks/a.py", text.format(1), "stream", member="*")
    (first,) = await results_of(lane, stream_view(), code)
    (second,) = await results_of(
        lane, stream_view(), write("hooks/a.py", text.format(2222), "stream", member="*")
    )
    assert [first.returned, second.returned] == [1, 2222]


@pytest.mark.parametrize(
    ("handler", "status", "returned", "event"),
    [
        ("event.clear()", "ok", None, {}),
        ("event.data = object()", "ok", None, None),
        ("event.loop = event", "ok", None, None),
        ("return (1, 2)", "ok", [1, 2], None),
        ("return event", "ok", {"type": "turn.started", "data": {}, "meta": {"id": "evt_1"}}, None),
        ("event.no_such_thing", "error", None, None),
        ("raise SystemExit(3)", "error", None, None),
        ("ctx.clear(); event = 'another'", "ok", None, None),
    ],
)
async def test_whatever_a_handler_does_the_next_one_runs(
    handler: str, status: str, returned: object, event: object, lane: Executor, write: Write
) -> None:
    text = f"""
    def bad(event, ctx):
        {handler}
    hook = {{"events": {{"a": bad, "b": lambda event, ctx: "fine"}}}}
    """
    module = await module_of(lane, write("hooks/a.py", text, "stream"))
    view = stream_view()
    first, second = await results_of(lane, view, *(one.target for one in module.declares))
    assert (first.status, second.status, second.returned) == (status, "ok", "fine")
    if returned is not None:
        assert to_plain(first.returned) == (returned, [])
    if event is not None:
        assert view["event"] == event


async def test_steps_come_in_order(lane: Executor, write: Write) -> None:
    code = write("plugin.py", "def register(api): api.on('x', lambda event: 1)", "plugin", member="0")
    calls = [Registration("x", name, replace(code)) for name in "ab"]
    steps: list[Step] = []
    await lane.run(calls, make_arguments({}, {}), steps.append)
    assert [(type(step), step.call.name) for step in steps] == [
        (Started, "a"),
        (Result, "a"),
        (Started, "b"),
        (Result, "b"),
    ]


async def test_on_copies_a_module_declares_and_runs_as_the_original(write: Write, tmp_path: Path) -> None:
    text = """
    def seen(event, ctx):
        open(event.folder + "/written", "w").close()
        event.file = __file__
        ctx.cancel()
        return ctx.where
    def register(api):
        api.on("x", seen)
        api.on("x", lambda event: event.folder)
    """
    code = write("plugin.py", text, "plugin")
    with Sandbox([code.root], bwrap=None, bounds=CopyBounds()) as sandbox:
        lane = SandboxedExecutor(python_executor(env=dict(os.environ), cwd=tmp_path), sandbox)
        module = await lane.load(code)
        assert isinstance(module, Module)
        targets = [one.target for one in module.declares]
        assert targets == [replace(code, member="0"), replace(code, member="1")]
        folder = str(code.root)
        views = [make_arguments({"folder": folder}, {"where": folder}, methods=["cancel"]) for _ in targets]
        results: list[Step] = []
        calls = [Registration("x", "p", target) for target in targets]
        await lane.run_together(list(zip(calls, views, strict=True)), results.append)
        await lane.close()
    first, second = (step for step in results if isinstance(step, Result))
    assert (first.returned, first.asked, second.returned) == (folder, (CANCEL,), folder)
    assert views[0]["event"] == {"folder": folder, "file": str(code.path)}
    assert views[0]["asked"] == [CANCEL]
    assert not (code.root / "written").exists()

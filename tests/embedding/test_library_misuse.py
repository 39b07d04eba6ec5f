"""The library in hands that hold it wrongly: each mistake is a sentence with what was wanted instead."""

import ast
import asyncio
import inspect
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hookscope as library

MakeHook = Callable[..., Path]


def quiet(event: object) -> None:
    """A handler that does nothing."""


def an_engine() -> library.HookEngine:
    return library.HookEngine(library.embedded_host(host_config={}))


def an_event(**parts: Any) -> library.HookEvent:
    event = library.create_hook_event("command", "new")
    for name, value in parts.items():
        setattr(event, name, value)
    return event


ANY: Any = library  # what a checker of types would refuse is what is tried
RUNNER: Any = library.get_global_hook_runner()
MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "a text for an event": (
        lambda: ANY.trigger_hook("command:new"),
        TypeError,
        "trigger_hook takes a HookEvent, not a str: `create_hook_event(type, action)` makes one",
    ),
    "the engine's event for the library's": (
        lambda: ANY.trigger_hook(library.Event("command", "new")),
        TypeError,
        "makes one; `HookEngine.fire` takes an Event",
    ),
    "a text for the engine's event": (
        lambda: ANY.HookEngine(library.embedded_host(host_config={})).fire("command:new"),
        TypeError,
        "a HookEngine takes an event, not a str: `create_hook_event(type, action)` or `Event(type, action)`",
    ),
    "a keyword as the guides write it": (
        lambda: ANY.load_hooks(workspacePath="/srv/agent"),
        TypeError,
        "load_hooks() has no 'workspacePath': write `workspace_path=`",
    ),
    "settings as a guide names them": (
        lambda: ANY.hooks(elizaConfig={}),
        TypeError,
        "hooks() has no 'elizaConfig': write `host_config=`",
    ),
    "a session as the guides write it": (
        lambda: ANY.create_hook_event("command", "new", sessionKey="agent:main:main"),
        TypeError,
        "create_hook_event() has no 'sessionKey': write `session_key=`",
    ),
    "a limit for all that is none": (
        lambda: library.set_limit(-1),
        ValueError,
        "limit must be a number of seconds or None, not -1",
    ),
    "an event whose context was replaced": (
        lambda: library.trigger_hook(an_event(context=None)),
        TypeError,
        "the context of an event must be a mapping, such as a dict, not None",
    ),
    "an event whose messages were replaced": (
        lambda: library.trigger_hook(an_event(messages="hello")),
        TypeError,
        "the messages of an event must be a list, not a str",
    ),
    "no limit that a clock knows": (
        lambda: library.trigger_hook(an_event(), limit=float("nan")),
        ValueError,
        "limit must be a number of seconds or None, not nan",
    ),
    "yes for a limit": (
        lambda: library.trigger_hook(an_event(), limit=True),
        TypeError,
        "limit must be a number of seconds or None, not a bool",
    ),
    "a list for a context": (
        lambda: ANY.create_hook_event("command", "new", "main", ["a"]),
        TypeError,
        "the context of an event must be a mapping, such as a dict, or None, not a list",
    ),
    "a number for an action": (
        lambda: ANY.create_hook_event("command", 1),
        TypeError,
        "the action of an event must be a string, not an int",
    ),
    "an event without a type": (
        lambda: library.create_hook_event("", "new"),
        ValueError,
        "an event needs a type, such as `command`",
    ),
    "a text for a moment": (
        lambda: ANY.create_hook_event("command", "new", timestamp="now"),
        TypeError,
        "the timestamp of an event must be a datetime, not a str",
    ),
    "the handler before the key": (
        lambda: ANY.register_hook(quiet, "command"),
        TypeError,
        "an event key must be a string such as `command:new`, not a function",
    ),
    "a name for a handler": (
        lambda: ANY.register_hook("command", "quiet"),
        TypeError,
        "a handler is a function; str cannot be called",
    ),
    "no key to take back": (
        lambda: library.unregister_hook("", quiet),
        ValueError,
        "an event key needs a type",
    ),
    "a key that nothing hashes": (
        lambda: ANY.unregister_hook([], quiet),
        TypeError,
        "an event key must be a string such as `command:new`, not a list",
    ),
    "a number asked about": (
        lambda: ANY.has_listeners(1),
        TypeError,
        "the type of an event must be a string, not an int",
    ),
    "a word for a switch": (
        lambda: ANY.set_enabled("no"),
        TypeError,
        "set_enabled takes True or False, not a str",
    ),
    "one folder for a list of them": (
        lambda: library.discover_hooks(extra_dirs="/srv/hooks"),
        TypeError,
        "extra_dirs must be a list of folders, not a str: put it in brackets, `extra_dirs=[…]`",
    ),
    "numbers for folders": (
        lambda: ANY.discover_hooks(extra_dirs=[1]),
        TypeError,
        "each of extra_dirs must be a folder, as a string or Path, not an int",
    ),
    "a number for a workspace": (
        lambda: ANY.load_hooks(1),
        TypeError,
        "workspace_path must be a folder, as a string or Path, not an int",
    ),
    "a text for settings": (
        lambda: ANY.load_hooks(host_config="{}"),
        TypeError,
        "host_config must be a mapping, such as a dict, or None, not a str",
    ),
    "no dialect": (lambda: ANY.load_hooks(dialect=None), TypeError, "dialect must be a name, such as `"),
    "a misspelt dialect": (
        lambda: library.embedded_host(dialect="miladi"),
        LookupError,
        "did you mean milady",
    ),
    "a name for a hook": (
        lambda: ANY.check_eligibility("greet"),
        TypeError,
        "check_eligibility takes a Hook, not a str: `discover_hooks(…)` finds them",
    ),
    "a folder for a host": (
        lambda: ANY.HookEngine("/srv/agent"),
        TypeError,
        "a HookEngine takes a Host, not a str: `embedded_host(workspace_path=…)` makes one",
    ),
    "a folder to load": (
        lambda: ANY.HookEngine(library.embedded_host(host_config={})).load("/srv/agent"),
        TypeError,
        "the host of a HookEngine must be a Host, not a str",
    ),
    "an event of numbers": (
        lambda: an_engine().plan(ANY.Event(1)),
        TypeError,
        "the type of an event must be a string, not an int",
    ),
    "a kind that the host has none of": (
        lambda: an_engine().fire(library.Event("turn.started", kind="stream")),
        LookupError,
        "has no stream hooks",
    ),
    "a plugin without a name": (
        lambda: ANY.PluginApi(1),
        TypeError,
        "the id of a plugin must be a string, not an int",
    ),
    "a plugin hook without a name": (
        lambda: ANY.PluginApi("guard").on(quiet),
        TypeError,
        "needs the name of an event, such as before_tool_call",
    ),
    "fields that are a text": (
        lambda: RUNNER.run_before_tool_call("exec"),
        TypeError,
        "the event of a plugin hook must be a mapping, such as a dict, or None, not a str",
    ),
    "a misspelt hook": (
        lambda: RUNNER.run_before_tol_call({}),
        AttributeError,
        "HookRunner has no 'run_before_tol_call'; did you mean run_before_tool_call?",
    ),
    "an engine for the way to one": (
        lambda: ANY.HookRunner(an_engine()),
        TypeError,
        "takes a function that gives a HookEngine, not a HookEngine: pass `lambda: engine`",
    ),
    "one plugin for a list of them": (
        lambda: library.load_plugins("guard"),
        TypeError,
        "names must be a list of plugins, not a str: put it in brackets, `names=[…]`",
    ),
    "a plugin that is not installed": (
        lambda: library.load_plugins(["guard"]),
        LookupError,
        "There is no installed plugin 'guard'; installed are: ",
    ),
    "a number for a definition": (
        lambda: ANY.define_hook(1),
        TypeError,
        "takes keyword arguments, or one mapping",
    ),
    "a number for a model": (
        lambda: ANY.mock_model(1),
        TypeError,
        "a string, a list of replies or a function, not int",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_mistake_raises_at_the_call(mistake: str) -> None:
    made, kind, says = MISTAKES[mistake]

    async def held() -> None:
        if inspect.isawaitable(answer := made()):
            await answer

    with pytest.raises(kind) as told:
        await held()
    assert says in str(told.value)
    assert library.registered_keys() == ()


def test_fire_fails_without_a_loop_and_after_close() -> None:
    engine = an_engine()
    with pytest.raises(RuntimeError, match=r"in a running event loop: call fire\(\) from a coroutine"):
        engine.fire(library.Event("command"))
    asyncio.run(engine.close())
    asyncio.run(engine.close())  # twice is once
    with pytest.raises(
        RuntimeError, match="this HookEngine is closed, and its workers are gone: make another one"
    ):
        asyncio.run(engine.load())

    async def fired() -> None:
        await engine.fire(library.Event("command"))

    with pytest.raises(RuntimeError, match="this HookEngine is closed"):
        asyncio.run(fired())


def test_successive_loops_share_loaded_hooks(workspace: Path, make_hook: MakeHook) -> None:
    source = "export default (event: any) => { event.messages.push('heard'); };"
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}", source, file="handler.ts")
    asyncio.run(library.load_hooks(workspace, host_config={}))
    event = an_event()
    asyncio.run(library.trigger_hook(event))

    async def beside() -> None:
        await asyncio.to_thread(lambda: asyncio.run(library.trigger_hook(event)))

    asyncio.run(beside())
    assert event.messages == ["heard", "heard"]
    asyncio.run(library.close_hooks())
    assert library.registered_keys() == ()


def test_every_public_name_has_a_docstring() -> None:
    for name in library.__all__:
        told = inspect.getdoc(getattr(library, name))
        assert told, name
        assert told.split("\n\n")[0].endswith((".", ")")), name
        assert "dataclass" not in told, name


def test_library_imports_no_console_and_no_command_line() -> None:
    code = (
        "import sys, hookscope as h; first = set(sys.modules); import asyncio;"
        "asyncio.run(h.load_hooks(host_config={}));"
        "asyncio.run(h.trigger_hook(h.create_hook_event('command', 'new')));"
        "print([sorted(first), sorted(sys.modules)])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, then = ast.literal_eval(done.stdout)
    assert not {"typing", "asyncio", "re", "yaml"} & set(first)
    assert not {"textual", "rich", "click", "sqlite3", "watchfiles"} & set(then)

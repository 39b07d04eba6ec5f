"""The library as an embedding program uses it, beyond the examples of the guides."""

import asyncio
import importlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hookscope
from hookscope import (
    Event,
    HookEngine,
    HookEvent,
    clear_hooks,
    close_hooks,
    create_hook_event,
    embedded_host,
    has_listeners,
    load_hooks,
    register_hook,
    registered_keys,
    set_enabled,
    trigger_hook,
    unregister_hook,
)
from hookscope.runtime.escapes import marked

MakeHook = Callable[..., Path]


def test_every_public_name_is_there() -> None:
    for name in hookscope.__all__:
        assert getattr(hookscope, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hookscope.nothing


LAZY = [
    name
    for name in ("", ".formats", ".journal", ".runtime", ".workbench")
    if hasattr(importlib.import_module(f"hookscope{name}"), "__getattr__")
]


@pytest.mark.parametrize("room", LAZY)
def test_a_room_has_what_it_says_it_has(room: str) -> None:
    """Names that are loaded when they are used: a home that has moved is found by nobody else."""
    module = importlib.import_module(f"hookscope{room}")
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []


def test_importing_the_library_loads_nothing_else() -> None:
    code = "import sys, hookscope; print([m for m in sys.modules if m.startswith('hookscope.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_one_handler_may_stand_under_a_key_twice_and_goes_once_at_a_time() -> None:
    calls: list[str] = []

    def handler(event: HookEvent) -> None:
        calls.append(event.key)

    register_hook("command", handler)
    register_hook("command", handler)
    await trigger_hook(create_hook_event("command", "new"))
    assert len(calls) == 2
    assert unregister_hook("command", handler)
    assert has_listeners("command", "new")
    assert unregister_hook("command", handler)
    assert not unregister_hook("command", handler)
    assert registered_keys() == ()


async def test_switched_off_nothing_is_called_and_every_handler_says_why() -> None:
    register_hook("command", lambda event: event.messages.append("called"))
    set_enabled(False)
    event = create_hook_event("command", "new")
    run = await trigger_hook(event)
    assert (event.messages, run.results) == ([], ())
    assert [item.reason for item in run.not_run] == ["hooks are switched off by the program"]


async def test_a_handler_registered_while_an_event_runs_hears_the_next_one() -> None:
    calls: list[str] = []

    def second(event: HookEvent) -> None:
        calls.append("second")

    def first(event: HookEvent) -> None:
        calls.append("first")
        clear_hooks()
        register_hook("command", second)

    register_hook("command", first)
    register_hook("command", lambda event: calls.append("other"))
    await trigger_hook(create_hook_event("command", "new"))
    assert calls == ["first", "other"]
    await trigger_hook(create_hook_event("command", "new"))
    assert calls == ["first", "other", "second"]


async def test_a_limit_ends_a_handler_that_waits() -> None:
    async def waits(event: HookEvent) -> None:
        await asyncio.Event().wait()

    register_hook("command", waits)
    register_hook("command", lambda event: event.messages.append("after"))
    run = await trigger_hook(create_hook_event("command", "new"), limit=0.05)
    assert [result.status for result in run.results] == ["timeout", "ok"]
    assert run.messages == ("after",)


async def test_a_limit_of_the_call_is_none_of_the_hooks_own(home: Path, make_hook: MakeHook) -> None:
    metadata = '{openclaw: {events: ["command:new"]}}'
    source = "export default () => { for (;;); };"
    make_hook(home / ".openclaw" / "hooks", "loops", metadata, source, file="handler.js")
    await load_hooks(host_config={})
    (result,) = (await trigger_hook(create_hook_event("command", "new"), limit=0.2)).results
    assert result.error is not None
    assert result.error.message == "did not answer within 0.2 s (the limit in the call) and was stopped"


async def test_a_limit_is_of_the_event_it_was_given_with() -> None:
    """Plans are kept: one event's limit is none of the next one's."""
    register_hook("command", lambda event: None)
    limits = []
    for limit in (5, None, 2.5, 0, 5):
        (result,) = (await trigger_hook(create_hook_event("command", "new"), limit=limit)).results
        limits.append(result.call.limit)
    assert limits == [5, None, 2.5, 0, 5]


async def test_a_limit_of_nothing_is_none() -> None:
    async def waits(event: HookEvent) -> None:
        await asyncio.sleep(0)
        event.messages.append("done")

    register_hook("command:new", waits)
    (result,) = (await trigger_hook(create_hook_event("command", "new"), limit=0)).results
    assert (result.status, result.messages) == ("ok", ("done",))


SWITCHED_OFF = {
    "openclaw": (),
    "eliza": (),
    "milady": ("command:new", "message"),
    "openclaw@2026.9": ("message",),
    "eliza@2.0.0-beta.2": ("command:new", "message"),
    "milady@2.0.0-alpha.76": ("command:new", "message"),
}


@pytest.mark.parametrize("dialect", SWITCHED_OFF)
async def test_what_a_load_with_all_hooks_switched_off_leaves_registered(
    dialect: str, workspace: Path, make_hook: MakeHook
) -> None:
    listens = ", ".join(
        f'"{host}": {{"events": ["command:new"]}}' for host in ("openclaw", "eliza", "milady")
    )
    make_hook(workspace / "hooks", "note", f"{{{listens}}}")
    on = {"enabled": True, "entries": {"note": {"enabled": True}}}
    assert (await load_hooks(workspace, internal_config=on, dialect=dialect)).registered == 1
    register_hook("message", print)
    await load_hooks(workspace, internal_config={"enabled": False}, dialect=dialect)
    assert registered_keys() == SWITCHED_OFF[dialect]


async def test_a_cancelled_caller_cancels_the_handler_and_no_other_starts() -> None:
    reached: asyncio.Event = asyncio.Event()
    calls: list[str] = []

    async def waits(event: HookEvent) -> None:
        reached.set()
        try:
            await asyncio.Event().wait()
        finally:
            calls.append("cleaned up")

    register_hook("command", waits)
    register_hook("command", lambda event: calls.append("never"))
    caller = asyncio.create_task(trigger_hook(create_hook_event("command", "new")))
    await reached.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert calls == ["cleaned up"]


async def test_engines_do_not_share_registrations(workspace: Path, make_hook: MakeHook) -> None:
    make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}", "def handler(event): pass")
    one, other = (HookEngine(embedded_host(workspace, host_config={})) for _ in range(2))
    await one.load()
    assert one.registry.keys() == ("command",)
    assert other.registry.keys() == registered_keys() == ()
    run = await one.fire(Event("command", "new"))
    assert [result.status for result in run.results] == ["ok"]


def caches_below(folder: Path) -> list[Path]:
    return list(folder.rglob("__pycache__"))


async def test_an_edited_handler_and_its_helper_are_loaded_anew(workspace: Path, make_hook: MakeHook) -> None:
    source = "from helper import word\ndef handler(event): event.messages.append(word)"
    folder = make_hook(workspace / "hooks", "greet", "{openclaw: {events: [command]}}", source)
    said = []
    for word in ("first", "second"):
        (folder / "helper.py").write_text(f"word = {word!r}\n")
        await load_hooks(workspace, host_config={})
        event = create_hook_event("command", "new")
        await trigger_hook(event)
        said += event.messages
    assert said == ["first", "second"]
    assert not caches_below(workspace)


async def test_an_unknown_dialect_names_the_nearest() -> None:
    with pytest.raises(LookupError, match="did you mean milady"):
        await load_hooks(dialect="miladi")


async def test_what_the_host_would_log_is_logged(
    workspace: Path, make_hook: MakeHook, caplog: pytest.LogCaptureFixture
) -> None:
    make_hook(workspace / "hooks", "mute", "{openclaw: {}}")
    caplog.set_level(logging.INFO, "hookscope")
    await load_hooks(workspace, host_config={})
    assert caplog.messages == ["Hook 'mute' has no events defined in metadata"]


async def test_what_a_handler_raises_is_logged_without_control_characters(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def wipe(event: HookEvent) -> None:
        raise ValueError("all \x1b[2J gone")

    register_hook("command:new", wipe)
    await trigger_hook(create_hook_event("command", "new"))
    assert caplog.messages == ["Hook error [command:new]: all ␛[2J gone"]


async def test_handlers_in_typescript_run_in_a_node_beside_the_program(
    home: Path, make_hook: MakeHook
) -> None:
    metadata = '{openclaw: {events: ["command:new"]}}'
    hooks = home / ".openclaw" / "hooks"
    make_hook(hooks, "a-python", metadata, "def handler(event): event.messages.append('python')")
    source = "export default (event: any) => { event.messages.push(`typescript after ${event.messages}`); };"
    make_hook(hooks, "b-typescript", metadata, source, file="handler.ts")
    report = await load_hooks(host_config={})
    assert (report.registered, report.failed) == (2, ())
    event = create_hook_event("command", "new")
    await trigger_hook(event)
    assert event.messages == ["python", "typescript after python"]
    ours = f"{os.getpid()}-"
    assert marked(ours)
    await close_hooks()
    assert not marked(ours)
    assert registered_keys() == ()


async def test_hooks_that_are_closed_while_one_runs_have_an_end_all_the_same(
    home: Path, make_hook: MakeHook
) -> None:
    source = "export default (event: any) => { process.kill(process.ppid, 'SIGUSR1'); for (;;); };"
    metadata = '{openclaw: {events: ["command:new"]}}'
    make_hook(home / ".openclaw" / "hooks", "busy", metadata, source, file="handler.ts")
    await load_hooks(host_config={})
    runs = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, runs.set)
    try:
        firing = asyncio.create_task(trigger_hook(create_hook_event("command", "new")))
        await runs.wait()
        await close_hooks()
        (result,) = (await firing).results
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGUSR1)
    assert result.status == "cancelled"


async def test_an_event_that_is_fired_stays_as_it_was_asked_for() -> None:
    def digs(event: HookEvent) -> None:
        event.context["entry"]["enabled"] = False
        event.messages.append("changed")

    engine = HookEngine(embedded_host(host_config={}))
    engine.register("command", digs)
    event = Event("command", "new", context={"entry": {"enabled": True}})
    run = await engine.fire(event)
    assert (run.context, run.messages) == ({"entry": {"enabled": False}}, ("changed",))
    assert (event.context, event.messages) == ({"entry": {"enabled": True}}, ())


@pytest.mark.parametrize("dialect", ["openclaw", "eliza", "milady"])
def test_of_two_extra_folders_the_later_one_has_the_hook(
    tmp_path: Path, workspace: Path, make_hook: MakeHook, dialect: str
) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    for folder in (first, second):
        make_hook(folder, "note", f"{{{dialect}: {{events: [command]}}}}")
    for folders, winner in (((first, second), second), ((second, first), first)):
        (hook,) = hookscope.discover_hooks(workspace, None, folders, host_config={}, dialect=dialect)
        assert hook.path == winner / "note"

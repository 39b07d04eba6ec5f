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
from hookscope.runtime.orphan_processes import find_marked

MakeHook = Callable[..., Path]


def test_every_public_name_exists() -> None:
    for name in hookscope.__all__:
        assert getattr(hookscope, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = hookscope.nothing


LAZY = [
    name
    for name in ("", ".formats", ".storage.journal", ".runtime", ".workbench")
    if hasattr(importlib.import_module(f"hookscope{name}"), "__getattr__")
]


@pytest.mark.parametrize("room", LAZY)
def test_every_exported_name_of_a_package_exists(room: str) -> None:
    """Names that are loaded when they are used: a home that has moved is found by nobody else."""
    module = importlib.import_module(f"hookscope{room}")
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []


def test_importing_the_library_loads_nothing_else() -> None:
    code = "import sys, hookscope; print([m for m in sys.modules if m.startswith('hookscope.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_handler_registered_twice_runs_twice_and_unregisters_one_at_a_time() -> None:
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


async def test_disabled_hooks_do_not_run_and_report_the_reason() -> None:
    register_hook("command", lambda event: event.messages.append("called"))
    set_enabled(False)
    event = create_hook_event("command", "new")
    run = await trigger_hook(event)
    assert (event.messages, run.results) == ([], ())
    assert [item.reason for item in run.not_run] == ["hooks are switched off by the program"]


async def test_handler_registered_during_an_event_receives_the_next_event() -> None:
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


async def test_limit_stops_a_waiting_handler() -> None:
    async def waits(event: HookEvent) -> None:
        await asyncio.Event().wait()

    register_hook("command", waits)
    register_hook("command", lambda event: event.messages.append("after"))
    run = await trigger_hook(create_hook_event("command", "new"), limit=0.05)
    assert [result.status for result in run.results] == ["timeout", "ok"]
    assert run.messages == ("after",)


async def test_limit_of_a_call_is_not_reported_as_the_hooks_limit(home: Path, make_hook: MakeHook) -> None:
    metadata = '{openclaw: {events: ["command:new"]}}'
    source = "export default () => { for (;;); };"
    make_hook(home / ".openclaw" / "hooks", "loops", metadata, source, file="handler.js")
    await load_hooks(host_config={})
    (result,) = (await trigger_hook(create_hook_event("command", "new"), limit=0.2)).results
    assert result.error is not None
    assert result.error.message == "did not answer within 0.2 s (the limit in the call) and was stopped"


async def test_limit_applies_to_one_event_only() -> None:
    """Plans are kept: one event's limit is none of the next one's."""
    register_hook("command", lambda event: None)
    limits = []
    for limit in (5, None, 2.5, 0, 5):
        (result,) = (await trigger_hook(create_hook_event("command", "new"), limit=limit)).results
        limits.append(result.call.limit)
    assert limits == [5, None, 2.5, 0, 5]


async def test_limit_zero_means_no_limit() -> None:
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
async def test_disabled_load_keeps_the_registrations_of_the_dialect(
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


async def test_load_logs_the_messages_of_the_host(
    workspace: Path, make_hook: MakeHook, caplog: pytest.LogCaptureFixture
) -> None:
    make_hook(workspace / "hooks", "mute", "{openclaw: {}}")
    caplog.set_level(logging.INFO, "hookscope")
    await load_hooks(workspace, host_config={})
    assert caplog.messages == ["Hook 'mute' has no events defined in metadata"]


async def test_logged_errors_have_no_control_characters(caplog: pytest.LogCaptureFixture) -> None:
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
    assert find_marked(ours)
    await close_hooks()
    assert not find_marked(ours)
    assert registered_keys() == ()


async def test_closing_during_a_run_ends_the_run(home: Path, make_hook: MakeHook) -> None:
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


async def test_firing_does_not_change_the_event() -> None:
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
def test_later_extra_folder_takes_precedence(
    tmp_path: Path, workspace: Path, make_hook: MakeHook, dialect: str
) -> None:
    first, second = (tmp_path / name for name in ("first", "second"))
    for folder in (first, second):
        make_hook(folder, "note", f"{{{dialect}: {{events: [command]}}}}")
    for folders, winner in (((first, second), second), ((second, first), first)):
        (hook,) = hookscope.discover_hooks(workspace, None, folders, host_config={}, dialect=dialect)
        assert hook.path == winner / "note"

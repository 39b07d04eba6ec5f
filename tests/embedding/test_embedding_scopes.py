"""Engines in a scope, registrations that remove themselves, and events that the caller keeps."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

import hookscope
from hookscope import (
    Failure,
    HookEngine,
    HookEvent,
    Metadata,
    create_hook_event,
    embedded_host,
    has_listeners,
    load_hooks,
    register_hook,
    set_limit,
    trigger_hook,
)

MakeHook = Callable[..., Path]
ON_COMMAND = "{openclaw: {events: [command]}}"


async def test_a_scope_loads_the_hooks_and_closes_its_engine(tmp_path: Path, make_hook: MakeHook) -> None:
    make_hook(tmp_path / "hooks", "greet", ON_COMMAND, "def handler(event): event.messages.append('hello')\n")
    async with hookscope.hooks(workspace_path=tmp_path, host_config={}) as hooks:

        @hooks.register("command:new")
        def second(event: HookEvent) -> None:
            event.messages.append("from code")

        event = create_hook_event("command", "new")
        run = await hooks.fire(event)
        assert hooks.report.registered == 1
        assert not has_listeners("command", "new")  # the process's own engine is another one
    assert event.messages == ["hello", "from code"]
    assert [(result.hook, result.failure) for result in run.results] == [("greet", None), ("second", None)]
    assert second(event) is None
    with pytest.raises(RuntimeError, match="closed"):
        hooks.fire(event)


async def test_an_engine_of_ones_own_is_a_scope_too() -> None:
    async with HookEngine(embedded_host(host_config={})) as engine:
        await engine.load()
    with pytest.raises(RuntimeError, match="closed"):
        await engine.load()


async def test_a_decorated_handler_stays_a_function_and_a_registration_removes_itself() -> None:
    @register_hook("command")
    def decorated(event: HookEvent) -> str:
        event.messages.append("decorated")
        return "kept"

    by_call = register_hook("command:new", decorated)
    assert decorated(create_hook_event("command", "new")) == "kept"
    assert by_call.remove()
    assert not by_call.remove()
    event = create_hook_event("command", "new")
    run = await trigger_hook(event)
    assert event.messages == ["decorated"]
    assert run.results[0].call.remove()
    assert not has_listeners("command", "new")


async def test_one_line_limits_all_handlers_without_a_limit() -> None:
    async def waits(event: HookEvent) -> None:
        await asyncio.Event().wait()

    set_limit(0.05)
    register_hook("command", waits)
    (result,) = (await trigger_hook(create_hook_event("command", "new"))).results
    assert (result.status, isinstance(result.failure, Failure)) == ("timeout", True)
    assert result.failure is not None
    assert "0.05" in result.failure.message


async def test_a_loaded_registration_is_not_removed_by_hand(tmp_path: Path, make_hook: MakeHook) -> None:
    make_hook(tmp_path / "hooks", "greet", ON_COMMAND)
    await load_hooks(workspace_path=tmp_path, host_config={})
    (hook,) = hookscope.discover_hooks(workspace_path=tmp_path, host_config={})
    assert isinstance(hook.meta, Metadata)
    run = await trigger_hook(create_hook_event("command", "new"))
    assert not run.results[0].call.remove()
    assert has_listeners("command", "new")


async def test_a_typescript_handler_changes_the_callers_own_list(tmp_path: Path, make_hook: MakeHook) -> None:
    source = """\
    export default (event: any) => {
      event.context.files.push({name: "NOTES.md"});
      event.context.options.depth = 2;
      event.context.kept[0].more = true;
    };
    """
    make_hook(tmp_path / "hooks", "adds", ON_COMMAND, source, file="handler.ts")
    files: list[object] = []
    options, marker, kept = {"depth": 1, "mode": object()}, object(), [{"name": "a"}]
    context = {"files": files, "options": options, "marker": marker, "kept": kept}
    async with hookscope.hooks(workspace_path=tmp_path, host_config={}) as hooks:
        event = create_hook_event("command", "new", context=context)
        await hooks.fire(event)
    assert files == [{"name": "NOTES.md"}]
    assert event.context["files"] is files
    assert options["depth"] == 2
    assert event.context["marker"] is marker
    assert kept == [{"name": "a", "more": True}]


def test_a_loop_of_another_library_is_told_what_hookscope_needs() -> None:
    """As Trio drives a coroutine: without a loop of asyncio."""
    loading = load_hooks(host_config={})
    with pytest.raises(RuntimeError, match="runs under asyncio, not under Trio"):
        loading.send(None)

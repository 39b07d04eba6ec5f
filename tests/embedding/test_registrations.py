"""What is registered of a hook: under which limits, with which environment, and of a broken one at all."""

from dataclasses import replace
from pathlib import Path

import pytest

from hookscope.embedding.host import embedded_host
from hookscope.engine.planning import make_plan, registrations_of, with_injected_faults
from hookscope.engine.registry import Registry
from hookscope.model.failure import parse_fault
from hookscope.model.hook import Folder, Hook, Metadata
from hookscope.model.hook_status import Gate, HookStatus, Inventory, RejectedHook, Verdict
from hookscope.model.host import Host
from hookscope.model.run import Code, Event, EventKind, Registration


def host_of(tmp_path: Path, dialect: str = "openclaw") -> Host:
    entry = {"entries": {"tidy": {"env": {"MODE": "fast"}}}}
    return embedded_host(tmp_path, internal_config={"enabled": True, **entry}, dialect=dialect)


def a_hook(path: Path, **meta: object) -> Hook:
    folder = Folder("workspace", "workspace", path, 1, real=path, trusted=True)
    handler = path / "tidy" / "handler.py"
    found = replace(Metadata(events=("command:new", "command:stop")), **meta)  # type: ignore[arg-type]  # its fields
    return Hook("tidy", "folder", folder, handler.parent, found, handler=handler, language="python")


def registered(hook: Hook, host: Host, *shut: str, held: bool = False) -> tuple[Registration, ...]:
    """What is registered of the hook where these gates are shut; `held`: a version from before is loaded."""
    row = HookStatus(hook, Verdict(tuple(Gate(name, False) for name in shut)))
    inventory = Inventory(hooks=(row,), load_order=(hook,), report_order=(hook,))
    return registrations_of(inventory, host, lambda code: held)


def test_event_limit_overrides_the_general_limit(tmp_path: Path) -> None:
    hook = a_hook(tmp_path, limits={"run": 5.0, "command:new": 1.0})
    calls = registered(hook, host_of(tmp_path))
    assert {call.key: call.limit for call in calls} == {"command:new": 1.0, "command:stop": 5.0}


@pytest.mark.parametrize(
    ("shut", "stays"),
    [
        (("handler",), True),
        (("export", "handler"), True),
        (("fields",), False),
        (("handler", "events"), False),
        (("handler", "trusted"), False),
        (("bins",), False),
    ],
    ids=str,
)
def test_previous_version_stays_registered_while_the_handler_file_is_broken(
    tmp_path: Path, shut: tuple[str, ...], stays: bool
) -> None:
    hook, host = a_hook(tmp_path), host_of(tmp_path)
    assert bool(registered(hook, host, *shut, held=True)) == stays
    assert not registered(hook, host, *shut, held=False)


def test_hook_for_events_never_sent_is_registered(tmp_path: Path) -> None:
    assert len(registered(a_hook(tmp_path), host_of(tmp_path), "sent")) == 2
    assert not registered(a_hook(tmp_path), host_of(tmp_path), "sent", "enabled")


@pytest.mark.parametrize(("dialect", "env"), [("openclaw", {"MODE": "fast"}), ("openclaw@2026.9", {})])
def test_entry_environment_reaches_handlers_of_guides_only(
    tmp_path: Path, dialect: str, env: dict[str, str]
) -> None:
    targets = [call.target for call in registered(a_hook(tmp_path), host_of(tmp_path, dialect))]
    assert [dict(target.env) for target in targets if isinstance(target, Code)] == [env, env]


@pytest.mark.parametrize(("kind", "heard"), [("folder", 1), ("plugin", 0)])
def test_folder_hook_does_not_receive_plugin_events(tmp_path: Path, kind: EventKind, heard: int) -> None:
    hook, host = a_hook(tmp_path, events=("message_received",)), host_of(tmp_path)
    registry = Registry().with_registrations(registered(hook, host))
    plan = make_plan(Event("message_received", kind=kind), registry, Inventory(), host)
    assert len(plan.calls) == heard


def test_plan_lists_rejected_folders_but_not_ignored_ones(tmp_path: Path) -> None:
    nearly = RejectedHook(tmp_path / "notes", "workspace", "HOOK.md is empty")
    plainly = RejectedHook(tmp_path / "lib", "workspace", "no HOOK.md", ignored=True)
    inventory = Inventory(rejected=(nearly, plainly))
    plan = make_plan(Event("command", "new"), Registry(), inventory, host_of(tmp_path))
    assert [(left.name, left.reason) for left in plan.not_run] == [("notes", "HOOK.md is empty")]


def test_forced_hook_is_called_once(tmp_path: Path) -> None:
    hook, host = a_hook(tmp_path, events=("command:new",)), host_of(tmp_path)
    registry = Registry().with_registrations(registered(hook, host))
    forced = registered(hook, host)
    plan = make_plan(Event("command", "new"), registry, Inventory(), host, forced=forced)
    assert (plan.calls, plan.forced) == (forced, frozenset(forced))


def test_hook_with_two_matching_keys_is_skipped_once(tmp_path: Path) -> None:
    hook, host = a_hook(tmp_path, events=("command", "command:new")), host_of(tmp_path)
    registry = Registry().with_registrations(registered(hook, host))
    plan = make_plan(Event("command", "new"), registry, Inventory(), host, only="another")
    assert [item.name for item in plan.not_run] == ["tidy"]


def test_only_skips_functions_registered_by_code(tmp_path: Path) -> None:
    own = Registration("command:new", "own", print)
    registry = Registry().with_registrations((own,))
    plan = make_plan(Event("command", "new"), registry, Inventory(), host_of(tmp_path), only="tidy")
    assert (plan.calls, [item.reason for item in plan.not_run]) == ((), ["skipped: only tidy was requested"])


def test_forced_call_with_an_injected_fault_stays_forced(tmp_path: Path) -> None:
    hook, host = a_hook(tmp_path, events=("command:new",)), host_of(tmp_path)
    forced = registered(hook, host)
    plan = make_plan(Event("command", "new"), Registry(), Inventory(), host, forced=forced)
    broken = with_injected_faults(plan, {"tidy": parse_fault("hang")})
    assert [call.injected_fault is not None for call in broken.calls] == [True]
    assert broken.forced == frozenset(broken.calls)


def test_replacing_a_registry_increases_the_generation_in_plans(tmp_path: Path) -> None:
    registry = Registry().with_registrations(()).with_registrations(())
    plan = make_plan(Event("command", "new"), registry, Inventory(), host_of(tmp_path))
    assert (registry.generation, plan.generation) == (2, 2)

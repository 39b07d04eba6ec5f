"""What is registered of a hook: under which limits, with which environment, and of a broken one at all."""

from dataclasses import replace
from pathlib import Path

import pytest

from hookscope.core.breakage import breakage_of
from hookscope.core.called import with_breakages
from hookscope.core.dialect import Host
from hookscope.core.hooks import Folder, Hook, Metadata
from hookscope.core.inventory import Inventory, Rejected
from hookscope.core.plan import make_plan, registrations_of
from hookscope.core.registry import Registry
from hookscope.core.runs import Code, Event, EventKind, Registration
from hookscope.core.standing import Gate, Standing, Verdict
from hookscope.embedded import embedded_host


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
    row = Standing(hook, Verdict(tuple(Gate(name, False) for name in shut)))
    inventory = Inventory(hooks=(row,), load_order=(hook,), report_order=(hook,))
    return registrations_of(inventory, host, lambda code: held)


def test_a_limit_for_one_event_comes_before_that_of_all(tmp_path: Path) -> None:
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
def test_a_version_from_before_stays_where_the_handlers_file_alone_is_broken(
    tmp_path: Path, shut: tuple[str, ...], stays: bool
) -> None:
    hook, host = a_hook(tmp_path), host_of(tmp_path)
    assert bool(registered(hook, host, *shut, held=True)) == stays
    assert not registered(hook, host, *shut, held=False)


def test_a_hook_whose_events_its_host_never_sends_is_registered_all_the_same(tmp_path: Path) -> None:
    assert len(registered(a_hook(tmp_path), host_of(tmp_path), "sent")) == 2
    assert not registered(a_hook(tmp_path), host_of(tmp_path), "sent", "enabled")


@pytest.mark.parametrize(("dialect", "env"), [("openclaw", {"MODE": "fast"}), ("openclaw@2026.9", {})])
def test_an_entrys_variables_reach_its_handler_under_a_guide_alone(
    tmp_path: Path, dialect: str, env: dict[str, str]
) -> None:
    targets = [call.target for call in registered(a_hook(tmp_path), host_of(tmp_path, dialect))]
    assert [dict(target.env) for target in targets if isinstance(target, Code)] == [env, env]


@pytest.mark.parametrize(("kind", "heard"), [("folder", 1), ("plugin", 0)])
def test_a_folder_hook_hears_no_plugin_hook_whatever_it_names(
    tmp_path: Path, kind: EventKind, heard: int
) -> None:
    hook, host = a_hook(tmp_path, events=("message_received",)), host_of(tmp_path)
    registry = Registry().with_registrations(registered(hook, host))
    plan = make_plan(Event("message_received", kind=kind), registry, Inventory(), host)
    assert len(plan.calls) == heard


def test_a_plan_names_what_is_nearly_a_hook_and_not_what_is_plainly_none(tmp_path: Path) -> None:
    nearly = Rejected(tmp_path / "notes", "workspace", "HOOK.md is empty")
    plainly = Rejected(tmp_path / "lib", "workspace", "no HOOK.md", ignored=True)
    inventory = Inventory(rejected=(nearly, plainly))
    plan = make_plan(Event("command", "new"), Registry(), inventory, host_of(tmp_path))
    assert [(left.name, left.reason) for left in plan.not_run] == [("notes", "HOOK.md is empty")]


def test_a_hook_that_is_called_by_force_is_called_once_though_it_is_registered(tmp_path: Path) -> None:
    hook, host = a_hook(tmp_path, events=("command:new",)), host_of(tmp_path)
    registry = Registry().with_registrations(registered(hook, host))
    forced = registered(hook, host)
    plan = make_plan(Event("command", "new"), registry, Inventory(), host, forced=forced)
    assert (plan.calls, plan.forced) == (forced, frozenset(forced))


def test_a_hook_under_two_keys_of_an_event_is_left_out_once(tmp_path: Path) -> None:
    hook, host = a_hook(tmp_path, events=("command", "command:new")), host_of(tmp_path)
    registry = Registry().with_registrations(registered(hook, host))
    plan = make_plan(Event("command", "new"), registry, Inventory(), host, only="another")
    assert [item.name for item in plan.not_run] == ["tidy"]


def test_where_one_is_asked_for_no_function_of_the_program_is_called_either(tmp_path: Path) -> None:
    own = Registration("command:new", "own", print)
    registry = Registry().with_registrations((own,))
    plan = make_plan(Event("command", "new"), registry, Inventory(), host_of(tmp_path), only="tidy")
    assert (plan.calls, [item.reason for item in plan.not_run]) == ((), ["left out: only tidy was asked for"])


def test_a_call_by_force_that_is_broken_on_purpose_is_still_one_by_force(tmp_path: Path) -> None:
    hook, host = a_hook(tmp_path, events=("command:new",)), host_of(tmp_path)
    forced = registered(hook, host)
    plan = make_plan(Event("command", "new"), Registry(), Inventory(), host, forced=forced)
    broken = with_breakages(plan, {"tidy": breakage_of("hang")})
    assert [call.breakage is not None for call in broken.calls] == [True]
    assert broken.forced == frozenset(broken.calls)


def test_a_registry_is_replaced_by_one_with_a_higher_number_which_plans_have(tmp_path: Path) -> None:
    registry = Registry().with_registrations(()).with_registrations(())
    plan = make_plan(Event("command", "new"), registry, Inventory(), host_of(tmp_path))
    assert (registry.generation, plan.generation) == (2, 2)

"""The plan that is shown is the order that is run: for any hooks, keys and failures."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookscope.engine.hook_engine import HookEngine
from hookscope.engine.planning import registrations_of
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.settings.settings_reader import given_settings
from hookscope.model.hook import Folder, Hook, Metadata
from hookscope.model.hook_event import HookEvent
from hookscope.model.hook_status import Gate, HookStatus, Inventory, Verdict
from hookscope.model.host import Host, Trust
from hookscope.model.machine import Machine
from hookscope.model.run import Event, Registration
from hookscope.runtime.executors import Executors
from hookscope.runtime.in_process_executor import InProcessExecutor

KEYS = ("command", "command:new", "command:reset", "session", "session:start")
SHUT = (None, "fields", "bins", "enabled", "trusted", "sent")
FOLDER = Folder("managed", "managed", Path("/hooks"), 30)

hooks = st.lists(
    st.tuples(
        st.lists(st.sampled_from(KEYS), max_size=4),
        st.sampled_from(SHUT),
        st.sampled_from(("answers", "raises", "leaves")),
    ),
    max_size=8,
)


def a_host(dialect: str) -> Host:
    here = Machine("linux", {}, Path("/"), Path("/nowhere"))
    settings = given_settings({}, Path("/nowhere/settings.json"))
    return open_host(DIALECTS[dialect], here, trust=Trust(everything=True), settings=settings)


def a_standing(number: int, keys: list[str], shut: str | None) -> HookStatus:
    gates = (Gate(shut, False, reason="shut"),) if shut else ()
    hook = Hook(
        f"hook-{number}", "folder", FOLDER, Path(f"/hooks/{number}"), Metadata(events=tuple(keys)),
        handler=Path(f"/hooks/{number}/handler.py"), language="python",
    )  # fmt: skip
    return HookStatus(hook, Verdict(gates))


@pytest.mark.parametrize("dialect", [name for name, one in DIALECTS.items() if "folder" in one.kinds])
@given(told=hooks, key=st.sampled_from(("command:new", "session:start", "agent:startup")))
async def test_run_calls_the_planned_handlers_in_order_and_no_others(
    dialect: str, told: list[tuple[list[str], str | None, str]], key: str
) -> None:
    host = a_host(dialect)
    rows = tuple(a_standing(number, keys, shut) for number, (keys, shut, _) in enumerate(told))
    behaviour = {row.hook: does for row, (_, _, does) in zip(rows, told, strict=True)}
    called: list[tuple[str, str]] = []

    def handler_of(call: Registration) -> Registration:
        def handler(event: HookEvent) -> None:
            called.append((call.name, call.key))
            event.messages.append(call.name)
            assert call.hook is not None
            match behaviour[call.hook]:
                case "raises":
                    raise ValueError(call.name)
                case "leaves":
                    raise SystemExit(1)

        return Registration(call.key, call.name, handler, call.hook)

    engine = HookEngine(host, Executors(InProcessExecutor()))
    engine.inventory = Inventory(hooks=rows, load_order=tuple(row.hook for row in rows))
    registrations = [handler_of(call) for call in registrations_of(engine.inventory, host)]
    engine.registry = engine.registry.with_registrations(registrations)
    kind, action = key.split(":")

    plan = engine.plan(Event(kind, action))
    run = await engine.fire(plan)

    planned = [(call.name, call.key) for call in plan.calls]
    assert called == planned
    assert [result.call for result in run.results] == list(plan.calls)
    assert run.not_run == plan.not_run
    assert list(run.messages) == [name for name, _ in planned]
    order = host.dialect.system_of("folder").keys(Event(kind, action))
    assert [key for _, key in planned] == sorted((key for _, key in planned), key=order.index)
    assert {call.hook for call in plan.calls} | {item.hook for item in plan.not_run} == {
        row.hook for row in rows
    }
    assert not {call.hook for call in plan.calls} & {item.hook for item in plan.not_run}

"""The library and the workbench, where a host has stream hooks alone."""

from typing import Any

from tests.hosts.streams.conftest import OpenProject, Project

from hookscope import check_eligibility, create_hook_event, load_hooks, register_hook, trigger_hook
from hookscope.app.event_templates import event_keys, template_event
from hookscope.engine.discovery import discover
from hookscope.model.hook_status import State
from hookscope.model.run import Event


def test_a_template_is_an_event_of_the_stream(opened: OpenProject) -> None:
    host = opened("eve@0.80")
    event = template_event("turn.started", host)
    assert (event.type, event.action, event.kind) == ("turn.started", "", "stream")
    assert event.context == {"turnId": "turn_0", "sequence": 0}
    assert template_event("no.such.event", host).kind == "stream"
    assert len(event_keys(host, discover(host))) == 34


async def test_the_library_fires_stream_events_and_hands_back_what_was_changed(project: Project) -> None:
    def changes(first: Any, ctx: Any = None) -> None:
        event = first["event"] if ctx is None else first
        event["data"]["seen"] = True

    report = await load_hooks(project("agent/agent.ts"), dialect="eve@0.80")
    assert report.discovered == 0
    register_hook("turn.started", changes)
    event = create_hook_event("turn.started", "", "session-1", {"turnId": "t", "sequence": 0})
    run = await trigger_hook(event)
    assert [result.status for result in run.results] == ["ok"]
    assert event.context == {"turnId": "t", "sequence": 0, "seen": True}


def test_a_hook_of_a_stream_is_judged_by_its_own_host(project: Project, opened: OpenProject) -> None:
    project("agent/hooks/a.ts", "agent/hooks/1st.ts")
    (hook,) = discover(opened()).load_order
    assert check_eligibility(hook, dialect="eve").state is State.BROKEN
    assert check_eligibility(hook, dialect="openclaw").gates == ()


def test_an_event_of_a_host_is_of_the_kind_that_it_has(opened: OpenProject) -> None:
    dialect = opened().dialect
    assert dialect.kinds == ("stream",)
    assert dialect.kind_of_event("turn.started") == dialect.kind_of_event("command:new") == "stream"
    assert dialect.system_of("stream").keys(Event("turn.started", kind="stream")) == ("turn.started", "*")

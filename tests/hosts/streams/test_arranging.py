"""Who is called for an event, in which groups, and who heard it and is left out."""

from pathlib import Path
from typing import Any

import pytest

from hookscope.engine.registry import Registry
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.streams import stream_system_of
from hookscope.hosts.streams.stream_policy import OUTSIDE
from hookscope.model.hook import Folder, Hook
from hookscope.model.run import Event, Registration

ROOTS, CHILDS, DECIDES = "the root agent's stream", "the stream of subagents/s", "(ctx.agent.nodeId)"
OF_ROOT, OF_CHILD = {"agent": {"nodeId": "__root__"}}, {"agent": {"nodeId": "subagents/s"}}
BOTH = ["channels/slack", "channels/web"]
FOLDER = Folder("agent", "hooks", Path("/app/agent/hooks"), 1)


def call(name: str, key: str, role: str = "", scope: str = "") -> Registration:
    return Registration(key, name, print, Hook(name, "stream", FOLDER, None, role=role, scope=scope))


def arranged(event: Event, *calls: Registration, dialect: str = "eve@0.80") -> tuple[Any, Any]:
    """Groups by label with the names in them, and the reasons of those left out by name."""
    system = stream_system_of(DIALECTS[dialect])
    heard = Registry().with_registrations(calls).listeners(system.keys(event))
    told = system.arrange(event, heard)
    assert all(group.after_record is (group.label != "channel") for group in told.groups)
    assert not any(group.concurrent for group in told.groups)
    groups = [(group.label, [item.name for item in group.calls]) for group in told.groups]
    return groups, {item.name: item.reason for item in told.excluded}


def event(kind: str = "turn.started", **more: Any) -> Event:
    return Event(kind, kind="stream", **more)


def test_channel_then_typed_then_every_then_resolvers_however_they_are_registered() -> None:
    every = [
        call("tools/search", "turn.started", "dynamic"),
        call("a", "*"),
        call("a", "turn.started"),
        call("channels/http", "turn.started", "channel"),
        call("b", "turn.completed"),
        call("c", "turn.started"),
        call("c", "*"),
    ]
    assert arranged(event(), *every) == (
        [
            ("channel", ["channels/http"]),
            ("typed", ["a", "c"]),
            ("*", ["a", "c"]),
            ("dynamic", ["tools/search"]),
        ],
        {},
    )


def test_what_is_registered_by_code_is_a_plain_hook_of_every_agent() -> None:
    by_code = Registration("*", "counter", print)
    child = event(ctx={"agent": {"nodeId": "subagents/s"}})
    assert arranged(child, by_code) == ([("*", ["counter"])], {})


@pytest.mark.parametrize(
    ("ctx", "runs", "reasons"),
    [
        ({}, "root", {"child": f"the hook receives {CHILDS}; this event is in {ROOTS} {DECIDES}"}),
        (OF_ROOT, "root", {"child": f"the hook receives {CHILDS}; this event is in {ROOTS} {DECIDES}"}),
        (OF_CHILD, "child", {"root": f"the hook receives {ROOTS}; this event is in {CHILDS} {DECIDES}"}),
    ],
)
def test_a_hook_hears_its_own_agents_stream_only(
    ctx: dict[str, Any], runs: str, reasons: dict[str, str]
) -> None:
    calls = call("root", "*"), call("child", "*", scope="subagents/s")
    assert arranged(event(ctx=ctx), *calls) == ([("*", [runs])], reasons)


@pytest.mark.parametrize("dialect", ["eve@0.18", "eve@0.80"])
@pytest.mark.parametrize("kind", ["session.failed", "session.completed"])
def test_what_ends_a_session_from_outside_a_turn_reaches_no_hook(dialect: str, kind: str) -> None:
    calls = call("channels/http", kind, "channel"), call("a", kind), call("b", "*")
    inside, _ = arranged(event(kind), *calls, dialect=dialect)
    assert [label for label, _ in inside] == ["channel", "typed", "*"]
    outside, reasons = arranged(event(kind, meta={OUTSIDE: True}), *calls, dialect=dialect)
    assert outside == [("channel", ["channels/http"])]
    text = f"{kind} from outside a turn reaches the channel and the stream, but no hook"
    assert reasons == {"a": text, "b": text}


def test_under_0_18_a_subagent_that_is_called_reaches_no_hook() -> None:
    calls = call("channels/http", "subagent.called", "channel"), call("a", "*")
    groups, reasons = arranged(event("subagent.called"), *calls, dialect="eve@0.18")
    assert groups == [("channel", ["channels/http"])]
    assert reasons == {"a": "subagent.called reaches the channel and the stream, but no hook"}
    assert arranged(event("subagent.called"), *calls, dialect="eve")[1] == {}


@pytest.mark.parametrize(("kind", "called"), [(None, BOTH), ("http", BOTH), ("web", ["channels/web"])])
def test_a_session_has_one_channel_and_an_event_without_one_is_tried_on_all(
    kind: str | None, called: list[str]
) -> None:
    calls = (call(f"channels/{name}", "turn.started", "channel") for name in ("slack", "web"))
    groups, reasons = arranged(event(ctx={"channel": {"kind": kind}}), *calls)
    assert groups == [("channel", called)]
    assert set(reasons.values()) <= {"the session's channel is web"}


@pytest.mark.parametrize("role", ["channel", "dynamic"])
def test_every_is_no_event_to_a_channel_or_a_resolver(role: str) -> None:
    groups, reasons = arranged(event(), call("module", "*", role))
    assert groups == []
    assert reasons == {"module": f"`*` is not an event for a {role} module"}

"""What handlers of one event see of each other, and what a throw or a cancel comes to in each version."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.streams.asking import AskingLane
from tests.hosts.streams.conftest import DIALECTS_OF_STREAMS, OpenProject

from hookscope.engine.hook_engine import HookEngine
from hookscope.model.hook import Folder, Hook
from hookscope.model.host import Host
from hookscope.model.run import Event, Registration, Run
from hookscope.runtime.executors import Executors

FOLDER = Folder("agent", "hooks", Path("/app/agent/hooks"), 1)
TURN = {"turnId": "turn_2", "sequence": 2}
Work = Callable[[Any], object]
Told = tuple[str, str, Work] | tuple[str, str, Work, str]


def throws(text: str) -> Work:
    def work(view: Any) -> None:
        raise RuntimeError(text)

    return work


def cancels(view: Any) -> None:
    view["asked"].append("cancel")


def nothing(view: Any) -> None:
    pass


async def fired(host: Host, event: Event, *told: Told) -> Run:
    """Fire an event on functions: slug, key, what it does, and a role."""
    engine = HookEngine(host, Executors(AskingLane()))
    hooks = {
        one[0]: Hook(one[0], "stream", FOLDER, None, role=one[3] if len(one) > 3 else "") for one in told
    }
    calls = [Registration(key, slug, work, hooks[slug]) for slug, key, work, *_ in told]
    engine.registry = engine.registry.with_registrations(calls)
    run = await engine.fire(event)
    await engine.close()
    return run


def event(kind: str, **data: Any) -> Event:
    return Event(kind, session_key="session-1", context={**TURN, **data}, kind="stream")


def ran(run: Run) -> list[tuple[str, str]]:
    return [(result.call.name, result.call.key) for result in run.results]


def caused(run: Run) -> list[tuple[str, Any]]:
    """The events that followed, and those that followed them, each with its data."""
    return [told for one in run.caused for told in ((one.event.type, dict(one.event.context)), *caused(one))]


@pytest.mark.parametrize("dialect", DIALECTS_OF_STREAMS)
async def test_handlers_share_one_event_and_what_they_return_is_ignored(
    opened: OpenProject, dialect: str
) -> None:
    seen: list[Any] = []

    def changes(view: Any) -> str:
        view["event"]["data"]["changedBy"] = "a"
        view["event"]["data"]["parts"].append("more")
        return "ignored"

    def looks(view: Any) -> None:
        seen.append(view["event"]["data"].get("changedBy"))

    given = event("turn.started", parts=["one"])
    run = await fired(
        opened(dialect), given, ("a", "*", changes), ("b", "turn.started", looks), ("c", "*", looks)
    )
    assert seen == [None, "a"]
    assert run.context == {**TURN, "changedBy": "a", "parts": ["one", "more"]}
    assert run.event.context == given.context == {**TURN, "parts": ["one"]}
    assert run.ending.answer is None


@pytest.mark.parametrize("dialect", DIALECTS_OF_STREAMS)
async def test_a_channels_handler_gets_the_data_and_its_throw_changes_nothing(
    opened: OpenProject, dialect: str
) -> None:
    seen: list[Any] = []

    def channel(view: Any) -> None:
        seen.append(dict(view["event"]))
        view["event"] = {**view["event"], "more": 1}
        raise RuntimeError("channel broke")

    def hook(view: Any) -> None:
        seen.append(view["event"]["data"])

    run = await fired(
        opened(dialect),
        event("turn.started"),
        ("a", "turn.started", hook),
        ("channels/http", "turn.started", channel, "channel"),
    )
    assert ran(run) == [("channels/http", "turn.started"), ("a", "turn.started")]
    assert seen == [TURN, {**TURN, "more": 1}]
    assert [(line.level, line.text) for line in run.ending.log] == [
        ("error", "[eve:channel.adapter] adapter event handler threw — event swallowed")
    ]
    assert run.ending.failure is None
    assert run.caused == ()


@pytest.mark.parametrize("dialect", DIALECTS_OF_STREAMS)
async def test_a_resolvers_throw_is_logged_and_changes_nothing(opened: OpenProject, dialect: str) -> None:
    tools = ("tools/search", "turn.started", throws("no"), "dynamic")
    more = ("instructions/today", "turn.started", nothing, "dynamic")
    run = await fired(opened(dialect), event("turn.started"), tools, more)
    assert [name for name, _ in ran(run)] == ["tools/search", "instructions/today"]
    (line,) = run.ending.log
    assert line.text == "[eve] Dynamic tool resolver (turn.started) threw — skipping."
    assert run.ending.failure is None


AFTER_IT: tuple[Told, ...] = (("b", "turn.started", nothing), ("b", "*", nothing))


@pytest.mark.parametrize("dialect", ["eve", "eve@0.18"])
async def test_a_throw_stops_the_rest_and_fails_the_event(opened: OpenProject, dialect: str) -> None:
    run = await fired(
        opened(dialect), event("turn.started"), ("a", "turn.started", throws("boom")), *AFTER_IT
    )
    assert ran(run) == [("a", "turn.started")]
    assert run.ending.failure == "boom"
    assert [(item.name, item.reason) for item in run.not_run] == [
        ("b", "an earlier handler made the event fail"),
        ("b", "an earlier handler made the event fail"),
    ]


@pytest.mark.parametrize(
    ("kind", "follow"),
    [
        ("session.started", ["turn.failed"]),
        ("message.completed", ["turn.failed"]),
        ("session.waiting", ["turn.failed"]),
        ("step.failed", ["session.failed"]),
        ("turn.failed", ["session.failed"]),
        ("session.failed", []),
    ],
)
async def test_by_the_guide_a_throw_fails_the_turn_and_one_in_the_cascade_the_session(
    opened: OpenProject, kind: str, follow: list[str]
) -> None:
    run = await fired(opened("eve"), event(kind), ("a", kind, throws("boom")))
    assert [name for name, _ in caused(run)] == follow
    failed = {"code": "HOOK_FAILED", "message": "boom"}
    data = {"turn.failed": {**TURN, **failed}, "session.failed": {"sessionId": "session-1", **failed}}
    assert [told for _, told in caused(run)] == [data[name] for name in follow]


async def test_by_the_guide_a_hook_that_always_throws_escalates_once_and_ends(opened: OpenProject) -> None:
    run = await fired(opened("eve"), event("turn.started"), ("a", "*", throws("boom")))
    assert [name for name, _ in caused(run)] == ["turn.failed", "session.failed"]
    assert run.caused[0].caused[0].ending.failure == "boom"


@pytest.mark.parametrize(
    "kind", ["message.completed", "reasoning.appended", "action.result", "step.completed"]
)
async def test_under_0_18_a_throw_in_the_model_step_is_the_models_failure(
    opened: OpenProject, kind: str
) -> None:
    run = await fired(opened("eve@0.18"), event(kind, stepIndex=1), ("a", kind, throws("boom")))
    failed = {"code": "MODEL_CALL_FAILED", "message": "boom"}
    assert caused(run) == [
        ("step.failed", {**TURN, "stepIndex": 1, **failed}),
        ("turn.failed", {**TURN, **failed}),
        ("session.waiting", {"wait": "next-user-message"}),
    ]
    (line,) = run.ending.log
    assert line.text.startswith("[eve:harness.tool-loop] model call failed")
    assert "a" not in line.text.partition("user: ")[2].split("boom")[0]


@pytest.mark.parametrize(
    "kind", ["session.started", "turn.started", "message.received", "step.started", "step.failed"]
)
async def test_under_0_18_a_throw_elsewhere_ends_the_session_and_no_hook_sees_it(
    opened: OpenProject, kind: str
) -> None:
    run = await fired(opened("eve@0.18"), event(kind), ("a", "*", throws("boom at start")))
    message = 'Step "step//eve@0.18.1//turnStep" failed after 3 retries: boom at start'
    assert caused(run) == [
        ("session.failed", {"sessionId": "session-1", "code": "FatalError", "message": message})
    ]
    (ended,) = run.caused
    assert ended.results == ()
    assert [item.name for item in ended.not_run] == ["a"]
    assert message in run.ending.log[0].text


async def test_under_0_80_a_throw_is_logged_and_the_rest_runs(opened: OpenProject) -> None:
    run = await fired(
        opened("eve@0.80"), event("turn.started"), ("a", "turn.started", throws("boom")), *AFTER_IT
    )
    assert ran(run) == [("a", "turn.started"), ("b", "turn.started"), ("b", "*")]
    assert (run.ending.failure, run.caused) == (None, ())
    (line,) = run.ending.log
    head, _, told = line.text.partition(" {")
    assert (line.level, head) == ("error", "[eve:hooks] stream event hook failed")
    assert json.loads("{" + told) == {
        "hook": "a",
        "subscription": "turn.started",
        "error": "RuntimeError: boom",
        "eventId": run.event.meta["id"],
        "eventType": "turn.started",
        "sessionId": "session-1",
    }


async def test_under_0_80_a_cancel_ends_the_turn_when_the_rest_has_run(opened: OpenProject) -> None:
    run = await fired(
        opened("eve@0.80"),
        event("turn.started"),
        ("a", "turn.started", cancels),
        ("b", "*", cancels),
        ("c", "*", nothing),
    )
    assert [name for name, _ in ran(run)] == ["a", "b", "c"]
    assert run.ending.answer == {"cancel": "a"}
    assert run.ending.verdict == "turn cancelled by a"
    assert caused(run) == [
        ("turn.cancelled", TURN),
        ("session.waiting", {"wait": "next-user-message", "continuationToken": "session-1"}),
    ]
    told = [line.text.partition(" {")[0] for one in run.caused for line in one.ending.log]
    assert told == ["[eve:hooks] ctx.cancel() ignored: the event is not part of a running turn"] * 2
    assert [one.caused for one in run.caused] == [(), ()]


async def test_under_0_80_one_may_cancel_and_throw(opened: OpenProject) -> None:
    def both(view: Any) -> None:
        cancels(view)
        raise RuntimeError("boom")

    run = await fired(opened("eve@0.80"), event("turn.started"), ("a", "turn.started", both))
    assert run.ending.answer == {"cancel": "a"}
    assert "stream event hook failed" in run.ending.log[0].text


@pytest.mark.parametrize("kind", ["turn.completed", "step.failed", "session.waiting", "no.such.event"])
async def test_under_0_80_a_cancel_that_cannot_work_is_ignored_with_a_warning(
    opened: OpenProject, kind: str
) -> None:
    run = await fired(opened("eve@0.80"), event(kind), ("a", kind, cancels))
    assert (run.ending.answer, run.ending.verdict, run.caused) == (None, "", ())
    assert [line.level for line in run.ending.log] == ["warn"]


async def test_nothing_is_left_of_the_data_where_a_handler_throws_it_away(opened: OpenProject) -> None:
    def empties(view: Any) -> None:
        view["event"]["data"] = None

    run = await fired(opened("eve@0.80"), event("turn.started"), ("a", "turn.started", empties))
    assert run.context == TURN


@pytest.mark.parametrize(
    ("dialect", "kind", "members"),
    [
        ("eve@0.18", "session.completed", {"type"}),
        ("eve@0.18", "session.started", {"type", "data"}),
        ("eve@0.80", "session.completed", {"type", "data", "meta"}),
    ],
)
async def test_what_a_hook_finds_of_an_event_without_data(
    opened: OpenProject, dialect: str, kind: str, members: set[str]
) -> None:
    seen: list[set[str]] = []
    channel = ("channels/http", kind, nothing, "channel")
    await fired(
        opened(dialect),
        Event(kind, kind="stream"),
        channel,
        ("a", kind, lambda view: seen.append(set(view["event"]))),
    )
    assert seen == [members]

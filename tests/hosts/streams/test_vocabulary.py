"""The events of both vocabularies: what was read from the program, and each of them fired."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.streams.asking import AskingLane
from tests.hosts.streams.conftest import OpenProject

from hookscope.engine.discovery import unsent_event_notes
from hookscope.engine.hook_engine import HookEngine
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.streams.stream_policy import event_problems
from hookscope.model.hook import Folder, Hook
from hookscope.model.run import Event
from hookscope.runtime.executors import Executors

READ = Path(__file__).parents[2] / "conformance/cases/eve/events.json"
VERSIONS = {"eve": "0.18.1", "eve@0.18": "0.18.1", "eve@0.80": "0.80.1"}
EVENTS = [(name, event.key) for name in VERSIONS for event in DIALECTS[name].catalogue().events]


@pytest.mark.parametrize("dialect", VERSIONS)
def test_the_catalogue_says_what_the_program_declares(dialect: str) -> None:
    read = json.loads(READ.read_text())["versions"][VERSIONS[dialect]]["events"]
    catalogue = DIALECTS[dialect].catalogue()
    assert {event.key for event in catalogue.events} == read.keys()
    for event in catalogue.events:
        told = read[event.key]
        assert set(event.required) == set(told["required"]), event.key
        assert set(event.fields) == {*told["required"], *told["optional"]}, event.key
        assert event.context.keys() <= event.fields.keys(), event.key
        assert event.cancellable is bool(told.get("cancelWorks")), event.key
        assert event.kind == "stream"
        assert event.when


@pytest.mark.parametrize(("dialect", "key"), EVENTS)
async def test_every_event_can_be_fired_at_a_function(opened: OpenProject, dialect: str, key: str) -> None:
    host = opened(dialect)
    known = host.dialect.catalogue().by_key[key]
    event = Event(key, session_key=known.session, context=known.context, kind=known.kind)
    assert event_problems(event, host.dialect.catalogue()) == ()
    seen: list[tuple[str, Any]] = []
    engine = HookEngine(host, Executors(AskingLane()))

    def typed(view: Any) -> None:
        seen.append(("typed", view["event"].get("data", {})))

    def every(view: Any) -> None:
        seen.append((view["event"]["type"], view["event"].get("data", {})))

    engine.register(key, typed)
    engine.register("*", every)
    assert engine.has_listeners(key)
    run = await engine.fire(event)
    await engine.close()
    if (dialect, key) == ("eve@0.18", "subagent.called"):
        assert seen == []
        reason = "subagent.called reaches the channel and the stream, but no hook"
        assert {item.reason for item in run.not_run} == {reason}
    else:
        assert seen == [("typed", known.context), (key, known.context)]
    assert run.context == known.context


@pytest.mark.parametrize(
    ("key", "notes"),
    [
        ("turn.started", []),
        ("*", []),
        ("turn.stared", ["turn.stared: accepted, but no such event exists; did you mean turn.started?"]),
        ("zzz", ["zzz: accepted, but no such event exists"]),
    ],
)
def test_a_key_that_is_no_event_is_said_with_the_nearest(
    opened: OpenProject, key: str, notes: list[str]
) -> None:
    host = opened()
    hook = Hook("a", "stream", Folder("agent", "hooks", host.workspace, 1), None)
    assert unsent_event_notes([key], hook, host) == notes

"""The envelope of an event, and what its handlers get as context."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.hosts.streams.conftest import OpenProject, Project

from hookscope.hosts.streams import stream_system_of
from hookscope.hosts.streams.stream_policy import OUTSIDE, event_problems, ulid
from hookscope.model.payload import Arguments
from hookscope.model.run import Event, Registration

WHEN = datetime(2026, 3, 4, 5, 6, 7, 89_000, tzinfo=UTC)
ENTROPY = bytes(range(16))
OF_0_18 = {"id", "auth", "turn", "parent"}
OF_0_80 = OF_0_18 | {"schedule", "predecessor"}
NOT_ONE = "this stream has no event turn.stared; did you mean turn.started?"


def fired(**more: Any) -> Event:
    return Event("turn.started", session_key="session-1", timestamp=WHEN, kind="stream", **more)


@pytest.mark.parametrize(
    ("dialect", "meta", "shown", "session", "methods"),
    [
        ("eve", {"id", "at"}, {"id", "at"}, {"id"}, []),
        ("eve@0.18", {"at"}, None, OF_0_18, ["getSandbox", "getSkill"]),
        ("eve@0.80", {"id", "at"}, {"id", "at"}, OF_0_80, ["getSandbox", "cancel"]),
    ],
)  # fmt: skip
def test_what_a_version_puts_on_record_and_what_it_shows(
    opened: OpenProject,
    dialect: str,
    meta: set[str],
    shown: set[str] | None,
    session: set[str],
    methods: list[str],
) -> None:
    host = opened(dialect)
    system = stream_system_of(host.dialect)
    event = system.prepare(fired(meta={OUTSIDE: True}), host, ENTROPY)
    assert event.meta.keys() == meta | {OUTSIDE}
    assert event.meta["at"] == "2026-03-04T05:06:07.089Z"
    policy = system.policy(event)
    view = policy.view(policy.start(event), Registration("*", "x", print))
    assert isinstance(view, Arguments)
    assert (view["event"].get("meta") or {}).keys() == (shown or set())
    assert ("meta" in view["event"]) is (shown is not None)
    assert view["ctx"].keys() == {"agent", "channel", "session"}
    assert view["ctx"]["session"].keys() == session
    assert view["methods"] == methods


def test_the_context_names_the_project_the_channel_and_the_turn(
    project: Project, opened: OpenProject
) -> None:
    project({"package.json": '{"name": "@team/case-app"}'})
    host = opened()
    event = stream_system_of(host.dialect).prepare(
        fired(context={"turnId": "turn_4", "sequence": 4}), host, ENTROPY
    )
    assert event.ctx == {
        "agent": {"name": "case-app"},
        "channel": {"kind": "http", "continuationToken": "session-1"},
        "session": {
            "id": "session-1",
            "auth": {"current": None, "initiator": None},
            "turn": {"id": "turn_4", "sequence": 4},
            "parent": None,
            "schedule": None,
            "predecessor": None,
        },
    }


@pytest.mark.parametrize("manifest", [None, "{", "[]", '{"name": ""}', '{"name": 7}'])
def test_a_project_without_a_name_has_that_of_its_folder(
    project: Project, opened: OpenProject, manifest: str | None
) -> None:
    project(*([] if manifest is None else [{"package.json": manifest}]))
    host = opened()
    assert stream_system_of(host.dialect).prepare(fired(), host, ENTROPY).ctx["agent"] == {"name": "app"}


def test_what_an_event_says_itself_stays(opened: OpenProject) -> None:
    host = opened()
    given_ctx = {"agent": {"nodeId": "subagents/s"}, "session": {"id": "mine"}, "channel": {"kind": "slack"}}
    event = stream_system_of(host.dialect).prepare(fired(ctx=given_ctx), host, ENTROPY)
    assert event.ctx["agent"] == {"name": "s", "nodeId": "subagents/s"}
    assert event.ctx["session"]["id"] == event.ctx["channel"]["continuationToken"] == "mine"
    assert event.ctx["channel"]["kind"] == "slack"


@given(
    st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1)),
    st.integers(1, 10**6),
    st.tuples(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16)),
)
def test_ids_sort_by_their_time_and_differ_by_chance(
    moment: datetime, later: int, chance: tuple[bytes, bytes]
) -> None:
    first = ulid(moment.replace(tzinfo=UTC), chance[0])
    second = ulid(moment.replace(tzinfo=UTC) + timedelta(milliseconds=later), chance[1])
    assert len(first) == len(second) == 26
    assert first < second
    same = ulid(moment.replace(tzinfo=UTC), chance[1])
    assert same[:10] == first[:10]
    assert (same == first) is (chance[0][:10] == chance[1][:10])


def test_a_known_ulid() -> None:
    moment = datetime.fromtimestamp(1469918176.385, UTC)
    assert ulid(moment, bytes(16)) == "01ARYZ6S410000000000000000"
    assert ulid(moment, b"\xff" * 16) == "01ARYZ6S41ZZZZZZZZZZZZZZZZ"


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Event("turn.started", context={"turnId": "t", "sequence": 0}, kind="stream"), []),
        (Event("turn.started", context={"turnId": "t"}, kind="stream"), ["turn.started has no `sequence`"]),
        (Event("turn.stared", kind="stream"), [NOT_ONE]),
        (Event("xyz", kind="stream"), ["this stream has no event xyz"]),
        (Event("*", kind="stream"), ["this stream has no event *"]),
    ],
)  # fmt: skip
def test_an_event_is_checked_before_it_is_fired(opened: OpenProject, event: Event, said: list[str]) -> None:
    problems = event_problems(event, opened().dialect.catalogue())
    assert len(problems) == len(said)
    assert all(problem.startswith(text) for problem, text in zip(problems, said, strict=True))

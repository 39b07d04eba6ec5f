"""Plugin hooks in the catalogue, and what they are to HOOK.md folders."""

import pytest
from tests.conftest import MakeHook
from tests.hosts.plugins.conftest import GUIDE, SHIPPED, Home

from hookscope.engine.discovery import discover
from hookscope.hosts.dialects import DIALECTS
from hookscope.model.event_catalogue import EventType
from hookscope.model.hook_status import State

EVENTS = [
    pytest.param(dialect, event, id=f"{dialect} {event.key}")
    for dialect in (GUIDE, SHIPPED)
    for event in DIALECTS[dialect].catalogue().events
    if event.kind == "plugin"
]
WAYS = {"observe", "modify", "gate", "claim", "synchronous", "evaluate"}


@pytest.mark.parametrize(("dialect", "event"), EVENTS)
def test_an_event_is_described(dialect: str, event: EventType) -> None:
    assert event.when
    assert event.source
    assert event.policy in WAYS
    assert event.context
    assert event.fields
    assert not event.family
    strangers = event.context.keys() - event.fields.keys()
    assert len(strangers) < len(event.context), "no member of the example is explained"
    assert (event.policy == "observe") is (
        event.key not in DIALECTS[dialect].system_of("plugin").merge_rules  # type: ignore[attr-defined]
    )


def test_the_four_contexts_of_guide_003() -> None:
    """Agent, message, tool, session: their members as the guide prints them."""
    known = DIALECTS[GUIDE].catalogue().by_key
    assert {*known["agent_end"].ctx} == {"runId", "config", "workspaceDir", "agentDir"}
    assert {*known["message_sent"].ctx} == {"sessionKey", "channel", "senderId", "direction"}
    directions = [known[f"message_{what}"].ctx["direction"] for what in ("received", "sending", "sent")]
    assert directions == ["received", "sending", "sent"]
    assert {*known["before_tool_call"].ctx} == {"runId", "toolName", "args"}
    assert {*known["after_tool_call"].ctx} == {"runId", "toolName", "result"}
    assert {*known["session_start"].ctx} == {"sessionKey", "channel"}


@pytest.mark.parametrize("dialect", [GUIDE, SHIPPED])
def test_a_hook_folder_never_hears_a_plugin_hook(place: Home, make_hook: MakeHook, dialect: str) -> None:
    events = '{"openclaw": {"events": ["before_tool_call"]}}'
    make_hook(place.workspace / "hooks", "eager", events, "export default () => {};\n", file="handler.js")
    place.settings(hooks={"internal": {"enabled": True, "entries": {"eager": {"enabled": True}}}})
    (standing,) = discover(place.host(dialect)).hooks
    assert standing.state is State.SILENT
    assert "before_tool_call is a plugin hook's name; HOOK.md folders never receive it" in standing.notes


@pytest.mark.parametrize("dialect", [GUIDE, SHIPPED])
def test_spellings_and_kinds(dialect: str) -> None:
    catalogue = DIALECTS[dialect].catalogue()
    assert catalogue.canonical("gateway-start") == "gateway_start"
    assert catalogue.sends("gateway-start") is (dialect == GUIDE)  # the program: unknown typed hook
    assert not catalogue.sends("gateway_start", "folder")
    assert catalogue.sends("gateway:startup", "folder")
    assert not catalogue.sends("gateway:startup", "plugin")
    assert catalogue.nearest("message_snt", "folder") != "message_sent"

"""Every row of the tables of guides 003 and 004, fired through the engine."""

from typing import Any

import pytest
from tests.hosts.plugins.conftest import GUIDE, Home, Plugin, fired

from hookscope.model.payload import CTX, EVENT, Arguments

# Guide 003, "Hook Reference", as it writes the names.
SEED_003 = (
    "gateway-start",
    "gateway-stop",
    "session-start",
    "session-end",
    "before-agent-start",
    "message-received",
    "message-sending",
    "message-sent",
    "before-tool-call",
    "after-tool-call",
    "before-compaction",
    "after-compaction",
    "tool-result-persist",
)
# Guide 004 section 8, "Plugin Hook Events": name, what a handler answers, what the caller is given.
MODIFIERS: tuple[tuple[str, dict[str, Any], dict[str, Any], str], ...] = (
    (
        "before_tool_call",
        {"params": {"command": "ls -l"}},
        {"blocked": False, "params": {"command": "ls -l"}},
        "changed params",
    ),
    (
        "before_tool_call",
        {"block": True, "blockReason": "no"},
        {"blocked": True, "params": {"command": "ls"}, "blockReason": "no"},
        "blocked by guard: no",
    ),
    ("tool_result_persist", {"result": "short"}, {"result": "short"}, "changed result"),
    (
        "before_agent_start",
        {"model": "opus", "provider": "anthropic"},
        {"modelOverride": "opus", "providerOverride": "anthropic"},
        "changed modelOverride, providerOverride",
    ),
    (
        "before_prompt_build",
        {"systemPrompt": "Be brief."},
        {"systemPrompt": "Be brief."},
        "changed systemPrompt",
    ),
    ("before_message_write", {"block": True}, {"block": True}, "blocked by guard"),
    ("before_message_write", {"message": {"content": "x"}}, {"message": {"content": "x"}}, "changed message"),
    ("message_sending", {"cancel": True}, {"cancel": True}, "cancelled by guard"),
    ("message_sending", {"content": ""}, {"content": ""}, "changed content"),
)
OBSERVERS = (
    "after_tool_call",
    "llm_input",
    "llm_output",
    "agent_end",
    "before_compaction",
    "after_compaction",
    "before_reset",
    "gateway_start",
    "gateway_stop",
    "message_received",
    "message_sent",
    "session_start",
    "session_end",
)


def example(place: Home, hook: str) -> dict[str, Any]:
    known = place.host().dialect.catalogue().find(hook)
    assert known is not None
    return dict(known.context)


@pytest.mark.parametrize("written", SEED_003)
async def test_a_hook_of_guide_003_is_fired_under_its_hyphens(place: Home, written: str) -> None:
    heard = []
    run = await fired(place.host(), written, [Plugin("p", lambda view: heard.append(view))], {"k": 1})
    assert run.event.type == written.replace("-", "_")
    assert [view[EVENT]["k"] for view in heard] == [1]
    assert run.context["k"] == 1


@pytest.mark.parametrize(("hook", "says", "answer", "verdict"), MODIFIERS)
async def test_a_hook_that_can_modify(
    place: Home, hook: str, says: dict[str, Any], answer: dict[str, Any], verdict: str
) -> None:
    run = await fired(place.host(), hook, [Plugin("guard", says)], example(place, hook))
    assert run.ending.answer == answer
    assert run.ending.verdict == verdict


@pytest.mark.parametrize("hook", OBSERVERS)
async def test_a_hook_that_only_observes(place: Home, hook: str) -> None:
    run = await fired(
        place.host(), hook, [Plugin("p", {"block": True, "content": "x"})], example(place, hook)
    )
    assert len(run.results) == 1
    assert run.ending.answer is None
    assert run.ending.verdict == ""


def test_the_tables_are_covered_and_nothing_else_is_there(place: Home) -> None:
    covered = {name.replace("-", "_") for name in SEED_003} | {row[0] for row in MODIFIERS} | {*OBSERVERS}
    assert place.host().dialect.catalogue().keys_of("plugin") == covered
    assert len(covered) == 19


async def test_each_modifier_sees_what_those_before_it_changed(place: Home) -> None:
    def add(word: str) -> Any:
        return lambda view: {"params": {"command": view[EVENT]["params"]["command"] + word}}

    plugins = [Plugin("second", add(" -l"), priority=2), Plugin("first", add(" -a"), priority=1)]
    run = await fired(
        place.host(), "before_tool_call", plugins, {"toolName": "exec", "params": {"command": "ls"}}
    )
    assert run.ending.answer == {"blocked": False, "params": {"command": "ls -a -l"}}


async def test_a_block_ends_the_asking(place: Home) -> None:
    plugins = [Plugin("guard", {"block": True}, 1), Plugin("late", {"params": {}}, 2)]
    run = await fired(place.host(), "before_tool_call", plugins, {"params": {"a": 1}})
    assert run.ending.answer == {"blocked": True, "params": {"a": 1}}
    assert [(item.name, item.reason) for item in run.not_run] == [
        ("late", "an earlier handler ended the event")
    ]


async def test_without_handlers_a_tool_call_is_not_blocked(place: Home) -> None:
    run = await fired(place.host(), "before_tool_call", [], {"params": {"a": 1}})
    assert run.ending.answer == {"blocked": False, "params": {"a": 1}}
    assert run.ending.verdict == "allowed"


async def test_a_handler_of_one_object_finds_the_context_in_it(place: Home) -> None:
    """Guide 003, the audit example: `ctx.sessionKey`, `ctx.channel`, `ctx.direction` of its one argument."""
    seen: list[tuple[Any, Any]] = []

    def audit(view: Arguments) -> None:
        seen.append((dict(view[EVENT]), dict(view[CTX])))

    ctx = {"sessionKey": "agent:main:main", "channel": "telegram", "direction": "sent"}
    run = await fired(place.host(), "message_sent", [Plugin("audit", audit)], {"content": "Hi."}, ctx)
    assert seen == [({**ctx, "content": "Hi."}, ctx)]
    assert run.context == {"content": "Hi."}


async def test_of_the_lent_members_only_a_changed_one_is_the_events_own_afterwards(place: Home) -> None:
    def moves(view: Arguments) -> None:
        view[EVENT]["channel"] = "signal"

    ctx = {"sessionKey": "agent:main:main", "channel": "telegram"}
    run = await fired(place.host(), "message_sent", [Plugin("moves", moves)], {"content": "Hi."}, ctx)
    assert run.context == {"content": "Hi.", "channel": "signal"}


async def test_what_is_known_of_the_context_is_filled_in(place: Home) -> None:
    run = await fired(place.host(), "message_sending", [], {"content": "Hi."}, {"channel": "signal"})
    assert run.event.ctx == {"channel": "signal", "direction": "sending"}
    run = await fired(place.host(), "before_agent_start", [], {"runId": "r"})
    assert run.event.ctx == {"runId": "r", "workspaceDir": str(place.workspace)}


@pytest.mark.parametrize("hook", [row[0] for row in MODIFIERS] + list(OBSERVERS))
async def test_a_failing_handler_stops_nobody(place: Home, hook: str) -> None:
    def bad(view: Arguments) -> None:
        raise ValueError("oops")

    run = await fired(place.host(), hook, [Plugin("bad", bad), Plugin("good")], example(place, hook))
    assert [result.status for result in run.results] == ["error", "ok"]
    assert run.ending.failure is None
    assert [line.text for line in run.ending.log] == [
        f"[plugins] [hooks] {hook} handler from bad failed: oops"
    ]


def test_the_dialect_is_the_guides(place: Home) -> None:
    assert place.host().dialect.name == GUIDE
    assert place.host().dialect.kinds == ("folder", "plugin")


@pytest.mark.parametrize("own", ["telegram", "signal"])
async def test_a_member_of_the_event_stays_its_own_when_the_ctx_has_it_too(place: Home, own: str) -> None:
    payload = {"content": "Hi.", "channel": own}
    run = await fired(place.host(), "message_sent", [Plugin("idle")], payload, {"channel": "telegram"})
    assert run.context == payload

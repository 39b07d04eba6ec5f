"""Every row of rules-openclaw section 6, fired through the engine."""

import asyncio
from collections.abc import Callable
from threading import Lock
from typing import Any

import pytest
from tests.hosts.plugins.conftest import GUIDE, SHIPPED, Home, Plugin, fired

from hookscope import HookEngine
from hookscope.hosts.plugins.shipped_merge_rules import INVALID
from hookscope.hosts.plugins.shipped_merge_rules import SHIPPED_MERGE_RULES as RULES
from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.payload import EVENT, NULL, PROMISE, REQUESTS, SYNC, Arguments
from hookscope.model.run import Event, Next, Registration, Result

NAMES = [
    "before_model_resolve",
    "agent_turn_prepare",
    "before_prompt_build",
    "before_agent_reply",
    "model_call_started",
    "model_call_ended",
    "llm_input",
    "llm_output",
    "before_agent_finalize",
    "agent_end",
    "before_compaction",
    "after_compaction",
    "before_reset",
    "inbound_claim",
    "channel_pairing_requested",
    "message_received",
    "message_sending",
    "reply_payload_sending",
    "message_sent",
    "before_tool_call",
    "after_tool_call",
    "tool_result_persist",
    "before_message_write",
    "session_start",
    "session_end",
    "subagent_delivery_target",
    "subagent_spawned",
    "subagent_progress",
    "subagent_ended",
    "gateway_start",
    "gateway_stop",
    "heartbeat_prompt_contribution",
    "cron_reconciled",
    "cron_changed",
    "skill_proposal_evaluate",
    "skill_proposal_changed",
    "skill_changed",
    "before_dispatch",
    "reply_dispatch",
    "before_install",
    "before_agent_run",
    "resolve_exec_env",
]
OBSERVERS = sorted(set(NAMES) - RULES.keys())
CLAIMS = ("inbound_claim", "before_dispatch", "before_agent_reply", "reply_dispatch")
CLOSED = ("before_agent_run", "before_tool_call", "before_install")
ASYNC_MODIFIERS = sorted(RULES.keys() - {*CLAIMS, *CLOSED, "skill_proposal_evaluate"})

# hook, what handlers answer in running order (None: no answer), the merged answer, the verdict
MERGES: tuple[tuple[str, list[Any], Any, str], ...] = (
    (
        "before_model_resolve",
        [{"modelOverride": "a"}, {"modelOverride": "b", "providerOverride": "p"}],
        {"modelOverride": "a", "providerOverride": "p"},
        "changed modelOverride, providerOverride",
    ),
    ("before_model_resolve", [None], None, "allowed"),
    (
        "agent_turn_prepare",
        [{"prependContext": "a", "appendContext": "x"}, {"prependContext": "b"}],
        {"prependContext": "a\n\nb", "appendContext": "x"},
        "changed prependContext, appendContext",
    ),
    (
        "heartbeat_prompt_contribution",
        [{"appendContext": "a"}, {"appendContext": ""}, {"appendContext": "c"}],
        {"appendContext": "c"},  # an empty text takes back what stood there
        "changed appendContext",
    ),
    (
        "before_prompt_build",
        [{"systemPrompt": "one", "appendSystemContext": "s"}, {"systemPrompt": "two", "prependContext": "p"}],
        {"systemPrompt": "one", "appendSystemContext": "s", "prependContext": "p"},
        "changed systemPrompt, appendSystemContext, prependContext",
    ),
    (
        "before_prompt_build",
        [{"toolsAllow": ["group:fs", "exec"]}, {"toolsAllow": ["Read", "web_fetch", "exec"]}],
        {"toolsAllow": ["read", "exec"]},
        "changed toolsAllow",
    ),
    (
        "before_prompt_build",
        [{"toolsAllow": ["exec"]}, {"toolsAllow": "exec"}],
        {"toolsAllow": []},
        "changed toolsAllow",
    ),
    (
        "before_prompt_build",
        [{"toolsAllow": ["*"]}, {"toolsAllow": ["exec"]}],
        {"toolsAllow": ["exec"]},
        "changed toolsAllow",
    ),
    (
        "before_agent_finalize",
        [
            {"action": "revise", "reason": "a", "retry": {"instruction": "  "}},
            {"action": "continue"},
            {"action": "revise", "reason": "b", "retry": {"instruction": "again"}},
        ],
        {"action": "revise", "reason": "a\n\nb", "retry": {"instruction": "again"}},
        "revise: a",
    ),
    (
        "before_agent_finalize",
        [{"action": "revise", "reason": "a"}, {"action": "finalize", "reason": "done"}, {"action": "revise"}],
        {"action": "finalize", "reason": "done"},
        "finalize: done",
    ),
    (
        "before_agent_finalize",
        [{"action": "continue", "reason": "fine"}],
        {"action": "continue", "reason": "fine"},
        "continue: fine",
    ),
    (
        "before_tool_call",
        [{"params": {"c": 1}}, {"params": {"c": 2}}],
        {"params": {"c": 2}},
        "changed params",
    ),
    (
        "before_tool_call",
        [{"blockReason": "first"}, {"block": True}, {"params": {}}],
        {"block": True, "blockReason": "first"},
        "blocked by p1: first",
    ),
    (
        "before_tool_call",
        [
            {"params": {"c": 1}, "requireApproval": {"title": "Sure?", "pluginId": "x"}},
            {"params": {"c": 2}, "requireApproval": {"title": "Again?"}},
        ],
        {"params": {"c": 1}, "requireApproval": {"title": "Sure?", "pluginId": "p0"}},
        "approval requested by p0: Sure?",
    ),
    (
        "before_tool_call",
        [{"requireApproval": {"title": "Sure?"}}, {"block": True}],
        {"requireApproval": {"title": "Sure?", "pluginId": "p0"}, "block": True},
        "blocked by p1",
    ),
    ("before_tool_call", [{"block": False}], {}, "allowed"),
    (
        "message_sending",
        [{"content": "A", "metadata": {"a": 1}}, {"content": "", "metadata": {"b": 2}}],
        {"content": "", "metadata": {"b": 2}},
        "changed content, metadata",
    ),
    (
        "message_sending",
        [{"cancel": True, "cancelReason": "no"}, {"content": "late"}],
        {"cancel": True, "cancelReason": "no"},
        "cancelled by p0: no",
    ),
    (
        "reply_payload_sending",
        [{"payload": {"text": "b"}}, {"cancel": True, "reason": "no"}],
        {"payload": {"text": "b"}, "cancel": True, "reason": "no"},
        "cancelled by p1: no",
    ),
    (
        "before_agent_run",
        [{"outcome": "pass"}, {"outcome": "pass"}],
        {"decision": {"outcome": "pass"}, "pluginId": "p0"},
        "allowed",
    ),
    (
        "before_agent_run",
        [{"outcome": "pass"}, {"outcome": "block", "reason": "policy"}, {"outcome": "pass"}],
        {"decision": {"outcome": "block", "reason": "policy"}, "pluginId": "p1"},
        "blocked by p1: policy",
    ),
    (
        "before_agent_run",
        [{"outcome": "block"}],
        {"decision": {"outcome": "block", "reason": INVALID}, "pluginId": "p0"},
        f"blocked by p0: {INVALID}",
    ),
    ("before_agent_run", [None], None, "allowed"),
    (
        "before_install",
        [{"findings": [1]}, {"findings": [2]}, {"block": True, "blockReason": "bad"}, {}],
        {"findings": [1, 2], "block": True, "blockReason": "bad"},
        "blocked by p2: bad",
    ),
    ("resolve_exec_env", [{"A": "1", "B": "1"}, {"B": "2"}], {"A": "1", "B": "2"}, "changed A, B"),
    ("resolve_exec_env", [], {}, "allowed"),
    (
        "subagent_delivery_target",
        [{}, {"origin": {"to": "a"}}, {"origin": {"to": "b"}}],
        {"origin": {"to": "a"}},
        "changed origin",
    ),
    (
        "tool_result_persist",
        [{"message": {"content": "short"}}, None],
        {"message": {"content": "short"}},
        "changed message",
    ),
    (
        "before_message_write",
        [{"message": {"content": "x"}}, {"block": True}],
        {"block": True},
        "blocked by p1",
    ),
    (
        "before_message_write",
        [{"message": {"content": "x"}}],
        {"message": {"content": "x"}},
        "changed message",
    ),
    ("before_message_write", [{}], None, "allowed"),
)


def example(place: Home, hook: str) -> dict[str, Any]:
    known = place.host(SHIPPED).dialect.catalogue().find(hook)
    assert known is not None
    return dict(known.context)


async def run_of(place: Home, hook: str, *plugins: Plugin, context: Any = None, ctx: Any = None) -> Any:
    context = example(place, hook) if context is None else context
    return await fired(place.host(SHIPPED), hook, plugins, context, ctx)


def answering(answers: list[Any]) -> list[Plugin]:
    return [Plugin(f"p{number}", answer) for number, answer in enumerate(answers)]


def failing(text: str = "oops") -> Callable[[Arguments], None]:
    def bad(view: Arguments) -> None:
        raise RuntimeError(text)

    return bad


def test_the_catalogue_has_the_42_names(place: Home) -> None:
    assert place.host(SHIPPED).dialect.catalogue().keys_of("plugin") == set(NAMES)
    assert len(NAMES) == 42


@pytest.mark.parametrize(("hook", "answers", "merged", "verdict"), MERGES)
async def test_answers_merge(place: Home, hook: str, answers: list[Any], merged: Any, verdict: str) -> None:
    run = await run_of(place, hook, *answering(answers))
    assert run.ending.answer == merged
    assert run.ending.verdict == verdict


@pytest.mark.parametrize("hook", sorted(RULES))
def test_every_rule_has_a_row(hook: str) -> None:
    assert hook in {row[0] for row in MERGES} | {*CLAIMS, "skill_proposal_evaluate"}


@pytest.mark.parametrize("hook", OBSERVERS)
async def test_observers_start_together_and_are_not_heard(place: Home, hook: str) -> None:
    begun: list[str] = []
    both = asyncio.Event()

    async def wait(view: Arguments) -> dict[str, bool]:
        begun.append("slow")
        await both.wait()
        return {"block": True}

    def free(view: Arguments) -> None:
        begun.append("fast")
        both.set()

    run = await run_of(
        place, hook, Plugin("fast", free, 1), Plugin("slow", wait, 2), Plugin("bad", failing())
    )
    assert begun == ["slow", "fast"]
    assert run.ending.answer is None
    assert run.ending.verdict == ""
    assert [line.text for line in run.ending.log] == [
        f"[plugins] [hooks] {hook} handler from bad failed: oops"
    ]


@pytest.mark.parametrize("hook", CLAIMS)
async def test_the_first_claim_wins(place: Home, hook: str) -> None:
    plugins = [
        Plugin("no", {"handled": False}, 4),
        Plugin("bad", failing(), 3),
        Plugin("yes", {"handled": True, "text": "y"}, 2),
        Plugin("late", {"handled": True}, 1),
    ]
    run = await run_of(place, hook, *plugins)
    assert run.ending.answer == {"handled": True, "text": "y"}
    assert run.ending.verdict == "handled by yes"
    assert [item.name for item in run.not_run] == ["late"]
    assert [line.level for line in run.ending.log] == ["error"]
    nobody = await run_of(place, hook, Plugin("no", {"handled": False}))
    assert (nobody.ending.answer, nobody.ending.verdict) == (None, "not handled")


@pytest.mark.parametrize("hook", CLOSED)
async def test_who_fails_closed(place: Home, hook: str) -> None:
    run = await run_of(place, hook, Plugin("bad", failing("policy crashed"), 1), Plugin("after"))
    assert run.ending.failure == f"[hooks] {hook} handler from bad failed: policy crashed"
    assert run.ending.answer is None
    assert run.ending.verdict == f"failed closed: {run.ending.failure}"
    assert [item.name for item in run.not_run] == ["after"]


@pytest.mark.parametrize("hook", ASYNC_MODIFIERS)
async def test_who_logs_and_goes_on(place: Home, hook: str) -> None:
    run = await run_of(place, hook, Plugin("bad", failing(), 1), Plugin("after"))
    text = "RuntimeError: oops" if hook in ("tool_result_persist", "before_message_write") else "oops"
    line = LogLine("error", f"[plugins] [hooks] {hook} handler from bad failed: {text}")
    assert (run.ending.failure, run.ending.log) == (None, (line,))
    assert len(run.results) == 2


async def test_each_handler_of_a_tool_call_has_its_own_copy_of_the_original(place: Home) -> None:
    seen = []

    def change(view: Arguments) -> dict[str, Any]:
        seen.append(view[EVENT]["params"]["command"])
        view[EVENT]["params"]["command"] = "changed"
        return {"params": {"command": "returned"}}

    run = await run_of(place, "before_tool_call", Plugin("a", change), Plugin("b", change))
    assert seen == ["ls", "ls"]
    assert run.context["params"] == {"command": "ls"}


async def test_what_cannot_be_copied_fails_a_tool_call_before_anybody_is_asked(place: Home) -> None:
    run = await run_of(place, "before_tool_call", Plugin("a"), context={"params": {"lock": Lock()}})
    assert run.ending.failure == "[hooks] before_tool_call mutable input isolation failed"
    assert run.results == ()


async def test_params_are_frozen_by_the_approval(place: Home) -> None:
    params = {"command": "ls"}

    def ask(view: Arguments) -> dict[str, Any]:
        return {"params": params, "requireApproval": {"title": "Sure?"}}

    def meddle(view: Arguments) -> None:
        params["command"] = "rm"

    run = await run_of(place, "before_tool_call", Plugin("ask", ask, 2), Plugin("meddle", meddle, 1))
    assert run.ending.answer["params"] == {"command": "ls"}


@pytest.mark.parametrize(
    ("hook", "field", "sees_original"),
    [("message_sending", "content", True), ("reply_payload_sending", "payload", False)],
)
async def test_what_a_later_handler_sees(place: Home, hook: str, field: str, sees_original: bool) -> None:
    seen: list[Any] = []
    plugins = [
        Plugin("a", {field: {"text": "new"}}),
        Plugin("b", lambda view: seen.append(view[EVENT][field])),
    ]
    await run_of(place, hook, *plugins, context={field: {"text": "old"}})
    assert seen == [{"text": "old" if sees_original else "new"}]


async def test_handlers_that_run_one_by_one_share_one_event(place: Home) -> None:
    def write(view: Arguments) -> None:
        view[EVENT]["note"] = "from a"

    seen: list[Any] = []
    plugins = [Plugin("a", write), Plugin("b", lambda view: seen.append(view[EVENT].get("note")))]
    run = await run_of(place, "before_prompt_build", *plugins)
    assert seen == ["from a"]
    assert run.context["note"] == "from a"
    assert "note" not in run.event.context


@pytest.mark.parametrize("hook", ["tool_result_persist", "before_message_write"])
def test_a_promise_is_ignored_with_a_warning(place: Home, hook: str) -> None:
    host = place.host(SHIPPED)
    event = Event(hook, context={"message": {"content": "x"}}, kind="plugin")
    policy = host.dialect.system_of("plugin").policy(event)
    fold = policy.start(event)
    call = Registration(hook, "late", print)
    assert policy.view(fold, call)[SYNC] is True
    fold, then = policy.take(fold, Result(call, "ok", asked=(PROMISE,)))
    assert then is Next.GO
    text = f"[plugins] [hooks] {hook} handler from late returned a Promise; "
    assert policy.finish(fold).log[0].text.startswith(text)


def test_null_is_no_decision(place: Home) -> None:
    event = Event("before_agent_run", context={"prompt": "p"}, kind="plugin")
    policy = place.host(SHIPPED).dialect.system_of("plugin").policy(event)
    call = Registration(event.type, "odd", print)
    fold, then = policy.take(policy.start(event), Result(call, "ok", asked=(NULL,)))
    assert then is Next.STOP
    assert policy.finish(fold).verdict == f"blocked by odd: {INVALID}"


async def test_evaluators_run_side_by_side_and_each_has_its_outcome(place: Home) -> None:
    def meddle(view: Arguments) -> dict[str, str]:
        with pytest.raises(TypeError, match="Cannot assign to read only property 'id'"):
            view[EVENT]["proposal"]["id"] = "changed"
        with pytest.raises(TypeError, match="Cannot add property more, object is not extensible"):
            view[EVENT].more = 1
        assert view[REQUESTS] == []
        return {"decision": "block"}

    seen: list[Any] = []
    plugins = [
        Plugin("strict", meddle, options={"registrationId": "rules"}),
        Plugin("silent", lambda view: seen.append(view[EVENT]["proposal"]["id"])),
        Plugin("bad", failing("broke\nbadly")),
    ]
    run = await run_of(place, "skill_proposal_evaluate", *plugins)
    assert seen == ["p-1"]
    assert run.ending.answer == {
        "outcomes": [
            {
                "evaluatorId": "rules",
                "pluginId": "strict",
                "status": "completed",
                "result": {"decision": "block"},
            },
            {"evaluatorId": "silent", "pluginId": "silent", "status": "skipped"},
            {"evaluatorId": "bad", "pluginId": "bad", "status": "error", "error": "broke"},
        ]
    }
    assert run.ending.verdict == "blocked by rules"


@pytest.mark.parametrize("hook", ["before_tool_call", "message_sending", "before_dispatch", "agent_end"])
async def test_a_limit_is_said_in_milliseconds(place: Home, hook: str) -> None:
    async def slow(view: Arguments) -> None:
        await asyncio.Event().wait()

    run = await run_of(place, hook, Plugin("slow", slow, limit=0.03))
    sentence = f"[hooks] {hook} handler from slow failed: timed out after 30ms"
    said = run.ending.failure or run.ending.log[0].text.removeprefix("[plugins] ")
    assert said == sentence


def test_what_did_not_load_in_time_is_told_in_its_own_words_and_not_by_the_limit_to_run(place: Home) -> None:
    event = Event("message_sending", kind="plugin")
    policy = place.host(SHIPPED).dialect.system_of("plugin").policy(event)
    call = Registration("message_sending", "slow", print, limit=0.03)
    late = Failure("Timeout", "did not load within 10 s", phase="load")
    fold, then = policy.take(policy.start(event), Result(call, "timeout", error=late))
    assert then is Next.GO
    sentence = "[plugins] [hooks] message_sending handler from slow failed: did not load within 10 s"
    assert [line.text for line in policy.finish(fold).log] == [sentence]


@pytest.mark.parametrize(("thrown", "told"), [(" \n ", "unknown error"), ("one\n two", "one two")])
def test_what_is_thrown_is_told_in_one_line_and_without_a_word_as_unknown(
    place: Home, thrown: str, told: str
) -> None:
    event = Event("message_sending", kind="plugin")
    policy = place.host(SHIPPED).dialect.system_of("plugin").policy(event)
    result = Result(Registration("message_sending", "bad", print), "error", error=Failure("Error", thrown))
    fold, _ = policy.take(policy.start(event), result)
    sentence = f"[plugins] [hooks] message_sending handler from bad failed: {told}"
    assert [line.text for line in policy.finish(fold).log] == [sentence]


# The option, where it is looked at, what the event says, whether the handler is called.
FILTERS: tuple[tuple[str, dict[str, Any], dict[str, Any], dict[str, Any], bool], ...] = (
    ("before_tool_call", {"matcher": ["exec"]}, {"toolName": "exec"}, {}, True),
    ("before_tool_call", {"matcher": ["exec"]}, {"toolName": "read"}, {}, False),
    ("after_tool_call", {"matcher": ["exec"]}, {"toolName": "read"}, {}, False),
    ("message_sent", {"matcher": ["exec"]}, {"toolName": "read"}, {}, True),
    ("before_agent_reply", {"eligibleTriggers": ["cron"]}, {}, {"trigger": "user"}, False),
    ("before_agent_reply", {"eligibleTriggers": ["cron", "user"]}, {}, {"trigger": "user"}, True),
    ("before_agent_reply", {"eligibleTriggers": ["cron"]}, {}, {}, False),
    ("before_agent_reply", {"eligibleTriggers": ["cron", "moon"]}, {}, {"trigger": "user"}, True),
    ("before_agent_reply", {"eligibleTriggers": []}, {}, {"trigger": "user"}, True),
    ("reply_dispatch", {"eligibleDispatchKinds": ["acp"]}, {"dispatchKind": "agent"}, {}, False),
    ("reply_dispatch", {"eligibleDispatchKinds": ["acp"]}, {"dispatchKind": "acp"}, {}, True),
    ("before_prompt_build", {"requiresToolAuthority": True}, {}, {}, False),
)


@pytest.mark.parametrize(("hook", "options", "context", "ctx", "called"), FILTERS)
async def test_a_handler_says_which_events_it_is_meant_for(
    place: Home,
    hook: str,
    options: dict[str, Any],
    context: dict[str, Any],
    ctx: dict[str, Any],
    called: bool,
) -> None:
    run = await run_of(place, hook, Plugin("p", {}, options=options), context=context, ctx=ctx)
    assert [result.call.name for result in run.results] == (["p"] if called else [])
    assert [next(iter(options)) in item.reason for item in run.not_run] == ([] if called else [True])


async def test_a_conversation_is_offered_to_its_owner_alone(place: Home) -> None:
    plugins = [Plugin("other", {"handled": True}, 1), Plugin("owner", {"handled": True})]
    ctx = {"pluginBinding": {"pluginId": "owner"}}
    run = await run_of(place, "inbound_claim", *plugins, ctx=ctx)
    assert run.ending.verdict == "handled by owner"
    assert [(item.name, item.reason) for item in run.not_run] == [
        ("other", "the conversation belongs to owner")
    ]


@pytest.mark.parametrize(
    ("hook", "own", "limit"),
    [
        ("before_tool_call", None, 15),
        ("agent_end", None, 30),
        ("skill_proposal_evaluate", None, 120),
        ("gateway_stop", None, 5),
        ("channel_pairing_requested", None, 2),
        ("before_dispatch", None, None),
        ("before_tool_call", 40, 40),
        ("before_tool_call", 900, 600),
    ],
)
async def test_limits(place: Home, hook: str, own: float | None, limit: float | None) -> None:
    run = await run_of(place, hook, Plugin("p", limit=own))
    assert run.results[0].call.limit == limit


@pytest.mark.parametrize("count", [0, 1, 2])
async def test_a_persist_hook_answers_the_message_as_it_came_when_all_its_handlers_fail(
    place: Home, count: int
) -> None:
    plugins = [Plugin(f"p{number}", failing()) for number in range(count)]
    run = await run_of(place, "tool_result_persist", *plugins, context={"message": {"content": "long"}})
    assert [result.status for result in run.results] == ["error"] * count
    assert run.ending.answer == ({"message": {"content": "long"}} if count else None)
    assert (run.ending.failure, run.ending.verdict) == (None, "allowed")
    assert run.context["message"] == {"content": "long"}


async def test_a_write_hook_has_no_answer_when_all_its_handlers_fail(place: Home) -> None:
    run = await run_of(place, "before_message_write", Plugin("bad", failing()))
    assert (run.ending.answer, run.ending.verdict) == (None, "allowed")


@pytest.mark.parametrize("dialect", [GUIDE, SHIPPED])
@pytest.mark.parametrize("hook", ["before_tool_call", "message_received", "tool_result_persist"])
async def test_the_switch_of_folder_hooks_leaves_what_plugins_hear_with_on(
    place: Home, dialect: str, hook: str
) -> None:
    place.settings(hooks={"internal": {"enabled": False}})
    host = place.host(dialect)
    assert host.hooks_setting("enabled")[0] is False
    run = await fired(host, hook, [Plugin("on")], {"message": {"content": "x"}})
    assert [result.status for result in run.results] == ["ok"]
    assert run.not_run == ()


async def test_hooks_that_the_program_switches_off_are_those_of_folders_alone(place: Home) -> None:
    engine = HookEngine(place.host(SHIPPED))
    for key in ("command:new", "before_tool_call"):
        engine.register(key, lambda view: None, key)
    events = (Event("command", "new"), Event("before_tool_call", kind="plugin"))
    assert [len(engine.plan(event).calls) for event in events] == [1, 1]
    engine.enabled = False
    off, on = (engine.plan(event) for event in events)
    assert ([call.name for call in off.calls], [call.name for call in on.calls]) == ([], ["before_tool_call"])
    assert [item.reason for item in off.not_run] == ["hooks are switched off by the program"]
    await engine.close()


@pytest.mark.parametrize(
    ("hook", "option", "value", "member", "called"),
    [
        ("before_agent_reply", "eligibleTriggers", "cron", "Cron", False),
        ("before_agent_reply", "eligibleTriggers", "cron", "cron", True),
        ("reply_dispatch", "eligibleDispatchKinds", "agent", "AGENT", False),
        ("before_tool_call", "matcher", "Read", "read", True),
    ],
)
async def test_only_the_names_of_tools_are_the_same_in_any_case(
    place: Home, hook: str, option: str, value: str, member: str, called: bool
) -> None:
    name = {"eligibleTriggers": "trigger", "eligibleDispatchKinds": "dispatchKind", "matcher": "toolName"}
    plugin = Plugin("p", options={option: [value]})
    run = await fired(place.host(SHIPPED), hook, [plugin], {name[option]: member})
    assert bool(run.results) is called

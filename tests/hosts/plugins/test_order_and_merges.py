"""What holds for any handlers: the order of calling, and how answers add up step by step."""

from functools import partial
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from hookscope.analysis.run_explanation import merge_steps
from hookscope.hosts.dialects import DIALECTS
from hookscope.hosts.plugins.plugin_policy import PluginPolicy, by_priority
from hookscope.hosts.plugins.shipped_merge_rules import SHIPPED_MERGE_RULES
from hookscope.hosts.plugins.tool_names import ToolNames
from hookscope.model.payload import FROZEN
from hookscope.model.run import Event, Registration, Result

Call = partial(Registration, target=print)
TEXTS = some.text(max_size=4)
TOOLS = some.lists(some.sampled_from(["read", "exec", "edit", "group:fs", "*", " Exec "]), max_size=4)


def answered(hook: str, answers: list[Any]) -> list[Result]:
    return [Result(Call(hook, f"p{number}"), "ok", returned=answer) for number, answer in enumerate(answers)]


def policy_of(event: Event, dialect: str) -> PluginPolicy:
    policy = DIALECTS[dialect].system_of("plugin").policy(event)
    assert isinstance(policy, PluginPolicy)
    return policy


@given(some.lists(some.integers(-3, 3)))
def test_priorities_sort_both_ways_and_equals_stay_in_order(priorities: list[int]) -> None:
    calls = [Call("h", str(number), priority=priority) for number, priority in enumerate(priorities)]
    for order, sign in (("higher first", -1), ("lower first", 1)):
        sorted_calls = by_priority(calls, order)  # type: ignore[arg-type]
        keys = [(sign * call.priority, int(call.name)) for call in sorted_calls]
        assert keys == sorted(keys)
        assert len(keys) == len(calls)


@given(some.lists(some.dictionaries(some.sampled_from(["modelOverride", "providerOverride"]), TEXTS)))
def test_the_first_defined_override_wins(answers: list[dict[str, str]]) -> None:
    event = Event("before_model_resolve", kind="plugin")
    steps = merge_steps(policy_of(event, "openclaw@2026.9"), event, answered(event.type, answers))
    merged = dict(steps[-1].answer) if steps else {}
    for name in ("modelOverride", "providerOverride"):
        firsts = [answer[name] for answer in answers if name in answer]
        assert merged.get(name) == (firsts[0] if firsts else None)


@given(some.lists(some.fixed_dictionaries({}, optional={"prependContext": TEXTS, "appendContext": TEXTS})))
def test_contexts_are_joined_in_running_order_until_an_empty_one(answers: list[dict[str, str]]) -> None:
    event = Event("agent_turn_prepare", kind="plugin")
    steps = merge_steps(policy_of(event, "openclaw@2026.9"), event, answered(event.type, answers))
    merged = dict(steps[-1].answer) if steps else {}
    for name in ("prependContext", "appendContext"):
        said = [answer[name] for answer in answers if name in answer]
        after = said[max((at + 1 for at, text in enumerate(said) if not text), default=0) :]
        assert merged.get(name, "") == "\n\n".join(after)


TOOL_ANSWERS = some.lists(
    some.one_of(
        some.none(),
        some.fixed_dictionaries(
            {},
            optional={
                "params": some.dictionaries(TEXTS, TEXTS, max_size=2),
                "block": some.booleans(),
                "blockReason": TEXTS,
                "requireApproval": some.just({"title": "Sure?"}),
            },
        ),
    ),
    max_size=6,
)


@given(TOOL_ANSWERS)
def test_a_tool_call_stops_at_the_first_block_and_keeps_what_was_approved(answers: list[Any]) -> None:
    event = Event("before_tool_call", context={"params": {"x": "0"}}, kind="plugin")
    steps = merge_steps(policy_of(event, "openclaw@2026.9"), event, answered(event.type, answers))
    blocks = [number for number, answer in enumerate(answers) if answer and answer.get("block")]
    assert len(steps) == (blocks[0] + 1 if blocks else len(answers))
    assert [step.stopped for step in steps] == [False] * (len(steps) - 1) + [bool(blocks)] * bool(steps)
    asked = answers[: len(steps)]
    approvals = [number for number, answer in enumerate(asked) if answer and "requireApproval" in answer]
    open_ones = asked[: approvals[0] + 1] if approvals else asked
    params = [answer["params"] for answer in open_ones if answer and "params" in answer]
    if steps:
        assert steps[-1].answer.get("params") == (params[-1] if params else None)
        owner = steps[-1].answer.get("requireApproval", {}).get("pluginId")
        assert owner == (f"p{approvals[0]}" if approvals else None)


@given(TOOL_ANSWERS)
def test_steps_add_up_to_the_answer(answers: list[Any]) -> None:
    for dialect in ("openclaw", "openclaw@2026.9"):
        event = Event("before_tool_call", context={"params": {"x": "0"}}, kind="plugin")
        policy = policy_of(event, dialect)
        assert policy.merge_rule is not None
        merged = dict(policy.merge_rule.start(event.context))
        for step in merge_steps(policy, event, answered(event.type, answers)):
            merged |= step.changed
            assert merged == step.answer
            assert step.counts is (step.answered is not None)


def allows(names: list[str], tool: str) -> bool:
    """Does a list let this tool through, as the program reads lists."""
    words = {name.strip().lower() for name in names}
    return bool(words & {tool, "*"}) or ("group:fs" in words and tool in ("read", "edit", "write"))


intersection = ToolNames({"group:fs": ("read", "write", "edit", "apply_patch")}).intersection


@given(TOOLS, TOOLS)
def test_tool_lists_only_ever_narrow(left: list[str], right: list[str]) -> None:
    both, other = intersection(left, right), intersection(right, left)
    for tool in ("read", "exec", "edit", "write", "anything"):
        assert allows(both, tool) is allows(other, tool) is (allows(left, tool) and allows(right, tool))
    if not left or not right:
        assert both == []
    assert intersection(None, left) == left


@given(
    some.sampled_from(sorted(SHIPPED_MERGE_RULES)),
    some.lists(some.one_of(some.none(), TEXTS, some.integers(), TOOLS)),
)
def test_an_answer_of_the_wrong_type_is_never_an_error(hook: str, answers: list[Any]) -> None:
    event = Event(hook, context={"message": "m", "payload": {}}, kind="plugin")
    for dialect in ("openclaw", "openclaw@2026.9"):
        policy = policy_of(event, dialect)
        steps = merge_steps(policy, event, answered(hook, answers))
        assert len(steps) <= len(answers)


def test_handlers_of_skills_get_a_frozen_event() -> None:
    for hook, frozen in (("skill_changed", True), ("before_tool_call", False), ("message_sent", False)):
        event = Event(hook, context={"a": 1}, kind="plugin")
        policy = policy_of(event, "openclaw@2026.9")
        assert policy.view(policy.start(event), Call(hook, "one")).get(FROZEN, False) is frozen


def test_a_priority_may_lie_between_two_others() -> None:
    calls = [Call("h", str(priority), priority=priority) for priority in (1, 1.5, 2)]
    assert [call.name for call in by_priority(calls, "higher first")] == ["2", "1.5", "1"]


def test_a_payload_that_cannot_be_copied_is_no_failure_of_ours() -> None:
    class Stubborn:
        def __deepcopy__(self, memo: object) -> object:
            raise RuntimeError("never")

    event = Event("reply_payload_sending", context={"payload": {"it": Stubborn()}}, kind="plugin")
    policy = policy_of(event, "openclaw@2026.9")
    view = policy.view(policy.start(event), Call(event.type, "one"))
    assert isinstance(view["event"]["payload"]["it"], Stubborn)

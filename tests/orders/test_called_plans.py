"""Plans that call other handlers than their host would: what was asked for earlier stays asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hookscope.core.breakage import Breakage
from hookscope.core.called import breakages_in, with_breakages, with_left_out, within
from hookscope.core.runs import Event, Group, Plan, Registration
from hookscope.systems.folders.policy import SharedEvent
from hookscope.workbench.breaking import breakages_of


@pytest.fixture
def plan() -> Plan:
    calls = tuple(Registration("command:new", name, print) for name in "abc")
    policy = SharedEvent(lambda key, event, message: message, "command:new")
    return Plan(Event("command", "new"), 1, (Group(calls),), (), policy, forced=frozenset(calls[1:2]))


def test_hooks_left_out_one_after_the_other_are_all_left_out_of_what_follows(plan: Plan) -> None:
    left = with_left_out(with_left_out(plan, {"a"}), {"c"})
    assert [call.name for call in left.calls] == ["b"]
    assert left.left_out == {"a", "c"}
    assert {item.name for item in left.not_run} == {"a", "c"}
    assert with_left_out(left, ()) is left


def test_a_forced_call_that_is_broken_or_limited_stays_a_forced_one(plan: Plan) -> None:
    breakages: dict[str, Breakage] = breakages_of(("b=exception", "x=exception"))
    broken = with_breakages(plan, breakages)
    assert [call.name for call in broken.calls if call in broken.forced] == ["b"]
    assert breakages_in(broken) == {"b": breakages["b"]}
    assert breakages_in(plan) == {}
    limited = within(broken, 2.0)
    assert [(call.name, call.limit) for call in limited.calls if call in limited.forced] == [("b", 2.0)]
    assert within(plan, None) is plan
    assert with_breakages(replace(plan, groups=()), breakages) == replace(plan, groups=())

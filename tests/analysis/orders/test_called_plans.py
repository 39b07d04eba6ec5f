"""Plans that call other handlers than their host would: what was asked for earlier stays asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hookscope.authoring.testing.fire_request import parse_faults
from hookscope.engine.planning import injected_faults, with_injected_faults, with_limit, without_hooks
from hookscope.hosts.folders.folder_policy import SharedEvent
from hookscope.model.failure import InjectedFault
from hookscope.model.run import CallGroup, Event, Plan, Registration


@pytest.fixture
def plan() -> Plan:
    calls = tuple(Registration("command:new", name, print) for name in "abc")
    policy = SharedEvent("{message}", "command:new")
    return Plan(Event("command", "new"), 1, (CallGroup(calls),), (), policy, forced=frozenset(calls[1:2]))


def test_hooks_left_out_one_after_the_other_are_all_left_out_of_what_follows(plan: Plan) -> None:
    left = without_hooks(without_hooks(plan, {"a"}), {"c"})
    assert [call.name for call in left.calls] == ["b"]
    assert left.excluded_hooks == {"a", "c"}
    assert {item.name for item in left.not_run} == {"a", "c"}
    assert without_hooks(left, ()) is left


def test_a_forced_call_that_is_broken_or_limited_stays_a_forced_one(plan: Plan) -> None:
    breakages: dict[str, InjectedFault] = parse_faults(("b=exception", "x=exception"))
    broken = with_injected_faults(plan, breakages)
    assert [call.name for call in broken.calls if call in broken.forced] == ["b"]
    assert injected_faults(broken) == {"b": breakages["b"]}
    assert injected_faults(plan) == {}
    limited = with_limit(broken, 2.0)
    assert [(call.name, call.limit) for call in limited.calls if call in limited.forced] == [("b", 2.0)]
    assert with_limit(plan, None) is plan
    assert with_injected_faults(replace(plan, groups=()), breakages) == replace(plan, groups=())

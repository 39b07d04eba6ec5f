"""Plans that call other handlers than their host would: without some hooks, or in another order. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from hookscope.core.runs import Group, NotRun, Plan

LEFT_OUT = "left out: all but it were asked for"
OTHER_ORDER = "called in another order than the registered one: {}"
APART = "left out: only {} were called, to see who disturbs whom"

# The places of calls in `Plan.calls`, in the order in which they are called.
Order = tuple[int, ...]


def with_left_out(plan: Plan, names: Collection[str]) -> Plan:
    """The plan without the handlers of these hooks, now and for what its event causes."""
    if not names:
        return plan
    gone = tuple(NotRun(call.name, LEFT_OUT, call.hook) for call in plan.calls if call.name in names)
    others = tuple(
        replace(item, reason=LEFT_OUT, listens=False, near="") if item.name in names else item
        for item in plan.not_run
    )
    kept = tuple(place for place, call in enumerate(plan.calls) if call.name not in names)
    return replace(
        plan, groups=_groups(plan, kept), not_run=(*gone, *others), left_out=plan.left_out.union(names)
    )


def in_order(plan: Plan, order: Order) -> Plan:
    """The plan with these calls, in this order; those that are not in it are left out.

    Calls stay in their group: a host has one behind the other. The Run says what was done.
    """
    called = [plan.calls[place] for place in order]
    names = ", ".join(call.name for call in called)
    why = APART.format(" and ".join(call.name for call in called))
    gone = tuple(
        NotRun(call.name, why, call.hook) for place, call in enumerate(plan.calls) if place not in order
    )
    moved = list(order) != sorted(order)
    return replace(
        plan,
        groups=_groups(plan, order),
        not_run=(*gone, *plan.not_run),
        notes=(*plan.notes, *((OTHER_ORDER.format(names),) if moved else ())),
    )


def _groups(plan: Plan, order: Sequence[int]) -> tuple[Group, ...]:
    """The groups that are left, each with its calls in that order."""
    groups, first = [], 0
    for group in plan.groups:
        places = range(first, first + len(group.calls))
        calls = tuple(plan.calls[place] for place in order if place in places)
        groups += [replace(group, calls=calls)] if calls else []
        first += len(group.calls)
    return tuple(groups)

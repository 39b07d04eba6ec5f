"""Plans that differ from the host's: without some handlers, reordered, with injected faults.

Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from hookscope.model.failure import InjectedFault
from hookscope.model.run import CallGroup, NotRun, Plan, Registration

EXCLUDED = "left out: all but it were asked for"
OTHER_ORDER = "called in another order than the registered one: {}"
ONLY_THESE_CALLED = "left out: only {} were called, to see who disturbs whom"

# Positions in `Plan.calls`, in calling order.
CallOrder = tuple[int, ...]


def without_hooks(plan: Plan, names: Collection[str]) -> Plan:
    """Return the plan without these hooks, also for the events that it causes."""
    if not names:
        return plan
    gone = tuple(
        NotRun(call.name, EXCLUDED, call.hook, left_out="chosen") for call in plan.calls if call.name in names
    )
    others = tuple(
        replace(item, reason=EXCLUDED, listens=False, near="", left_out="chosen")
        if item.name in names
        else item
        for item in plan.not_run
    )
    kept = tuple(place for place, call in enumerate(plan.calls) if call.name not in names)
    return replace(
        plan,
        groups=_remaining_groups(plan, kept),
        not_run=(*gone, *others),
        left_out=plan.left_out.union(names),
    )


def reordered(plan: Plan, order: CallOrder) -> Plan:
    """Return the plan with these calls in this order; other calls are excluded.

    Calls stay in their group, since a host runs one group after another. The Run notes the change.
    """
    called = [plan.calls[place] for place in order]
    names = ", ".join(call.name for call in called)
    why = ONLY_THESE_CALLED.format(" and ".join(call.name for call in called))
    gone = tuple(
        NotRun(call.name, why, call.hook, left_out="unasked")
        for place, call in enumerate(plan.calls)
        if place not in order
    )
    moved = list(order) != sorted(order)
    return replace(
        plan,
        groups=_remaining_groups(plan, order),
        not_run=(*gone, *plan.not_run),
        notes=(*plan.notes, *((OTHER_ORDER.format(names),) if moved else ())),
    )


def with_injected_faults(plan: Plan, by_name: Mapping[str, InjectedFault]) -> Plan:
    """Return the plan with faults injected into the handlers of these hooks."""
    new = {call: replace(call, breakage=by_name[call.name]) for call in plan.calls if call.name in by_name}
    if not new:
        return plan
    return _with_replaced_calls(plan, new)


def with_limit(plan: Plan, limit: float | None) -> Plan:
    """Return the plan with this limit for each call, in seconds, 0 for none; None: their own."""
    if limit is None:
        return plan
    new = {call: replace(call, limit=limit, limit_from="the call") for call in plan.calls}
    return _with_replaced_calls(plan, new)


def all_switched_off(plan: Plan) -> Plan:
    """Return the plan of a program that has switched its hooks off: no handler runs."""
    off = tuple(NotRun(call.name, "hooks are switched off by the program", call.hook) for call in plan.calls)
    return replace(plan, groups=(), not_run=off + plan.not_run)


def injected_faults(plan: Plan) -> dict[str, InjectedFault]:
    """Return the faults that this plan injects, by hook name."""
    return {call.name: call.breakage for call in plan.calls if call.breakage is not None}


def _with_replaced_calls(plan: Plan, new: Mapping[Registration, Registration]) -> Plan:
    """Return the plan with some registrations replaced."""
    groups = (
        replace(group, calls=tuple(new.get(call, call) for call in group.calls)) for group in plan.groups
    )
    return replace(plan, groups=tuple(groups), forced=frozenset(new.get(call, call) for call in plan.forced))


def _remaining_groups(plan: Plan, order: Sequence[int]) -> tuple[CallGroup, ...]:
    """Return the groups that remain, each with its calls in that order."""
    groups, first = [], 0
    for group in plan.groups:
        places = range(first, first + len(group.calls))
        calls = tuple(plan.calls[place] for place in order if place in places)
        groups += [replace(group, calls=calls)] if calls else []
        first += len(group.calls)
    return tuple(groups)

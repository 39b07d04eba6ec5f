"""Plans that call other handlers than the host would: without some, in another order, with injected faults.

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

# The places of calls in `Plan.calls`, in the order in which they are called.
CallOrder = tuple[int, ...]


def without_hooks(plan: Plan, names: Collection[str]) -> Plan:
    """The plan without the handlers of these hooks, now and for what its event causes."""
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
    """The plan with these calls, in this order; those that are not in it are left out.

    Calls stay in their group: a host has one behind the other. The Run says what was done.
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
    """The plan with these hooks' handlers broken on purpose, as far as it calls them."""
    new = {call: replace(call, breakage=by_name[call.name]) for call in plan.calls if call.name in by_name}
    if not new:
        return plan
    return _with_replaced_calls(plan, new)


def with_limit(plan: Plan, limit: float | None) -> Plan:
    """The plan with this limit for each call, in seconds, 0 for none; with their own where it is None."""
    if limit is None:
        return plan
    new = {call: replace(call, limit=limit, limit_from="the call") for call in plan.calls}
    return _with_replaced_calls(plan, new)


def all_switched_off(plan: Plan) -> Plan:
    """The plan of a program that has switched its hooks off: nobody runs."""
    off = tuple(NotRun(call.name, "hooks are switched off by the program", call.hook) for call in plan.calls)
    return replace(plan, groups=(), not_run=off + plan.not_run)


def injected_faults(plan: Plan) -> dict[str, InjectedFault]:
    """Whose handlers this plan breaks on purpose, by name."""
    return {call.name: call.breakage for call in plan.calls if call.breakage is not None}


def _with_replaced_calls(plan: Plan, new: Mapping[Registration, Registration]) -> Plan:
    """The plan with other registrations in the place of its own."""
    groups = (
        replace(group, calls=tuple(new.get(call, call) for call in group.calls)) for group in plan.groups
    )
    return replace(plan, groups=tuple(groups), forced=frozenset(new.get(call, call) for call in plan.forced))


def _remaining_groups(plan: Plan, order: Sequence[int]) -> tuple[CallGroup, ...]:
    """The groups that are left, each with its calls in that order."""
    groups, first = [], 0
    for group in plan.groups:
        places = range(first, first + len(group.calls))
        calls = tuple(plan.calls[place] for place in order if place in places)
        groups += [replace(group, calls=calls)] if calls else []
        first += len(group.calls)
    return tuple(groups)

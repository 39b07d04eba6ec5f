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
    excluded = tuple(
        NotRun(call.name, EXCLUDED, call.hook, exclusion="chosen")
        for call in plan.calls
        if call.name in names
    )
    others = tuple(
        replace(item, reason=EXCLUDED, subscribed=False, near_miss="", exclusion="chosen")
        if item.name in names
        else item
        for item in plan.not_run
    )
    kept = tuple(position for position, call in enumerate(plan.calls) if call.name not in names)
    return replace(
        plan,
        groups=_remaining_groups(plan, kept),
        not_run=(*excluded, *others),
        excluded_hooks=plan.excluded_hooks.union(names),
    )


def reordered(plan: Plan, order: CallOrder) -> Plan:
    """Return the plan with these calls in this order; other calls are excluded.

    Calls stay in their group, since a host runs one group after another. The Run notes the change.
    """
    called = [plan.calls[position] for position in order]
    names = ", ".join(call.name for call in called)
    reason = ONLY_THESE_CALLED.format(" and ".join(call.name for call in called))
    excluded = tuple(
        NotRun(call.name, reason, call.hook, exclusion="unasked")
        for position, call in enumerate(plan.calls)
        if position not in order
    )
    moved = list(order) != sorted(order)
    return replace(
        plan,
        groups=_remaining_groups(plan, order),
        not_run=(*excluded, *plan.not_run),
        notes=(*plan.notes, *((OTHER_ORDER.format(names),) if moved else ())),
    )


def with_injected_faults(plan: Plan, by_name: Mapping[str, InjectedFault]) -> Plan:
    """Return the plan with faults injected into the handlers of these hooks."""
    new = {
        call: replace(call, injected_fault=by_name[call.name]) for call in plan.calls if call.name in by_name
    }
    if not new:
        return plan
    return _with_replaced_calls(plan, new)


def with_limit(plan: Plan, limit: float | None) -> Plan:
    """Return the plan with this limit for each call, in seconds, 0 for none; None: their own."""
    if limit is None:
        return plan
    new = {call: replace(call, limit=limit, limit_source="the call") for call in plan.calls}
    return _with_replaced_calls(plan, new)


def all_switched_off(plan: Plan) -> Plan:
    """Return the plan of a program that has switched its hooks off: no handler runs."""
    off = tuple(NotRun(call.name, "hooks are switched off by the program", call.hook) for call in plan.calls)
    return replace(plan, groups=(), not_run=off + plan.not_run)


def injected_faults(plan: Plan) -> dict[str, InjectedFault]:
    """Return the faults that this plan injects, by hook name."""
    return {call.name: call.injected_fault for call in plan.calls if call.injected_fault is not None}


def _with_replaced_calls(plan: Plan, replacements: Mapping[Registration, Registration]) -> Plan:
    """Return the plan with some registrations replaced."""
    groups = (
        replace(group, calls=tuple(replacements.get(call, call) for call in group.calls))
        for group in plan.groups
    )
    return replace(
        plan, groups=tuple(groups), forced=frozenset(replacements.get(call, call) for call in plan.forced)
    )


def _remaining_groups(plan: Plan, order: Sequence[int]) -> tuple[CallGroup, ...]:
    """Return the groups that remain, each with its calls in that order."""
    groups, first = [], 0
    for group in plan.groups:
        positions = range(first, first + len(group.calls))
        calls = tuple(plan.calls[position] for position in order if position in positions)
        groups += [replace(group, calls=calls)] if calls else []
        first += len(group.calls)
    return tuple(groups)

"""Taps in the plans of what Hookscope fires: they hear their host, and nothing that is fired by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hookscope.core.runs import Group, NotRun, Plan
from hookscope.workbench.tap.record import is_tap, record

HEARS_ITS_HOST = "left out: a tap records what its host sends, and this is not that"


def without_taps(plan: Plan) -> Plan:
    """The plan without installed taps: nobody is asked to trust them, and no worker starts for them."""
    installed = record().all()
    if not installed:
        return plan
    modules = frozenset(file for entry in installed.values() for file in entry.files)
    groups = tuple(_without(group, modules) for group in plan.groups)
    gone = [call for call in plan.calls if call.hook is not None and is_tap(call.hook, modules)]
    return replace(
        plan,
        groups=tuple(group for group in groups if group.calls),
        not_run=(
            *(NotRun(call.name, HEARS_ITS_HOST, call.hook, left_out="chosen") for call in gone),
            *(
                replace(item, reason=HEARS_ITS_HOST, left_out="chosen")
                if item.listens and item.hook is not None and is_tap(item.hook, modules)
                else item
                for item in plan.not_run
            ),
        ),
    )


def _without(group: Group, modules: frozenset[Path]) -> Group:
    kept = (call for call in group.calls if call.hook is None or not is_tap(call.hook, modules))
    return replace(group, calls=tuple(kept))

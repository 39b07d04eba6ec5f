"""Handlers broken on purpose: a fault of ours in their place, and everything around it as it always is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hookscope.core.breakage import FAULTS, Breakage, NoBreakage, breakage_of
from hookscope.core.called import with_breakages
from hookscope.core.runs import Code, Plan
from hookscope.workbench.asking import no_such_hook
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.view import View

__all__ = ["FAULTS", "Breakage", "breakages_of", "broken_plan"]

WANTED = "--break wants HOOK=exception, hang, slow[:SECONDS], junk or exit[:STATUS]"


def breakages_of(texts: Iterable[str]) -> dict[str, Breakage]:
    """By hook, from texts such as `guard=slow:2`. Raises Refusal."""
    breakages: dict[str, Breakage] = {}
    for text in texts:
        name, _, fault = text.rpartition("=")
        if not name:
            raise Refusal(f"{WANTED}, and has {text!r}.", code=2)
        try:
            breakage = breakage_of(fault)
        except NoBreakage as error:
            raise Refusal(f"{WANTED}: {error}.", code=2) from None
        if breakages.setdefault(name, breakage) != breakage:
            raise Refusal(f"--break names {name} twice.", "A handler has one fault at a time.", code=2)
    return breakages


def broken_plan(view: View, plan: Plan, breakages: Mapping[str, Breakage]) -> Plan:
    """The plan with a fault in place of these hooks' handlers: in the real worker, under the real limits.

    Names are those of hooks, or of their settings keys. Nothing of it counts against a hook: no
    quarantine, no worker of its own. They are broken for the events that this one causes too. Results and
    the run say what was broken, and journal and JSON have it as `broken`. A hang is ended after 2 s unless
    the user has set a limit for all handlers.

    Raises Refusal for a hook that is not there, or that this plan does not call.
    """
    by_name = {_name(view, name): breakage for name, breakage in breakages.items()}
    for name in by_name:
        _check(name, plan)
    return with_breakages(plan, by_name)


def _name(view: View, name: str) -> str:
    row = view.inventory.find(name)
    if row is None:
        raise no_such_hook(name, view)
    return row.hook.name


def _check(name: str, plan: Plan) -> None:
    """Raises Refusal where there is nothing of that hook to break."""
    calls = [call for call in plan.calls if call.name == name]
    if any(not isinstance(call.target, Code) for call in calls):
        what = f"{name} is a function of this program: there is no worker to break."
        raise Refusal(what, "Name a hook that is a file.")
    if not calls:
        reason = next((item.reason for item in plan.not_run if item.name == name), "it does not listen to it")
        then = "" if plan.calls else f"`--only {name} --force` calls it all the same."
        raise Refusal(f"{name} cannot be broken: {plan.event.key} does not call it ({reason}).", then)

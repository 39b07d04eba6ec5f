"""Firing at a hook that would not run: it is off, blocked, silent, or does not listen to this event."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookscope.core.bystanders import kind_of, kinds_of
from hookscope.core.failure import Failure
from hookscope.core.hooks import Hook
from hookscope.core.plan import code_of, declared_by, registration_of
from hookscope.core.runs import Event, Plan, Registration
from hookscope.core.standing import Gate, Standing, State, gate_state
from hookscope.core.trust import trust_target
from hookscope.runtime.declared import WITH_HANDLERS
from hookscope.systems.folders.gates import UNNAMED
from hookscope.workbench.refusal import Refusal

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View

# Shut by what the hook's header or its neighbours say: its own handler is whole, and may be called.
OF_THE_HEADER = frozenset({"events", "fields", "reached"})


async def forced_plan(bench: Workbench, view: View, event: Event, name: str) -> Plan:
    """The plan of a fire at this one hook, which is called whether it would run or not.

    Where it would not, `Plan.forced` has its calls, and their results say `forced`. Of several copies it is
    the one that wins. A module with handlers of its own (plugin, stream) is imported in its worker and
    called if it declares the event.

    Raises Refusal where there is nothing that may be called: the hook is not there, shadowed, broken,
    untrusted, of another kind than the event, or in a language that nothing here runs.
    """
    plan = bench.plan(view, event, only=name)
    if plan.calls:
        return plan
    row = bench.hook(view, name)
    _check(row, plan.event, view)
    calls = await _calls(bench, view, row.hook, plan.event)
    return bench.plan(view, event, only=row.hook.name, forced=calls)


def _check(row: Standing, event: Event, view: View) -> None:
    """Raises Refusal where its handler cannot or must not be called."""
    hook = row.hook
    if row.state is State.SHADOWED:
        raise _refused(hook, row.verdict.why(), "The copy that wins can be.")
    if event.kind not in kinds_of(row):
        raise _refused(
            hook, f"it is a {kind_of(hook)} hook, and {event.key} is an event of {event.kind} hooks"
        )
    shut = row.verdict.shut()
    broken = next((gate for gate in shut if _breaks(gate)), None)
    if broken is not None or hook.handler is None or hook.role == UNNAMED:
        reason = broken.reason if broken is not None else row.verdict.why() or "it has no handler"
        raise _refused(hook, f"it is broken: {reason}", f"`hookscope info {hook.name}` shows every check.")
    if any(gate_state(gate) is State.UNTRUSTED for gate in shut):
        target, short = trust_target(hook, view.host), view.host.surroundings.short
        if target.refused:
            raise _refused(hook, target.offer(short))
        then = f"`{target.command(short)}` allows it from now on, `--trust` this once."
        raise _refused(hook, f"{short(target.folder)} is not trusted", then)
    if hook.language not in view.languages:
        lacks = view.without.get(hook.language) or f"is {hook.language}"
        raise _refused(hook, f"{hook.handler.name} {lacks}")


def _breaks(gate: Gate) -> bool:
    return gate_state(gate) is State.BROKEN and gate.name not in OF_THE_HEADER


async def _calls(bench: Workbench, view: View, hook: Hook, event: Event) -> tuple[Registration, ...]:
    """Its handlers under those keys of this event that it has. Raises Refusal where its module has none."""
    host = view.host
    keys = host.dialect.system_of(event.kind).keys(event)
    if code_of(hook, host).shape not in WITH_HANDLERS:
        heard = [key for key in keys if key in (hook.meta.events or ())]
        return tuple(registration_of(key, hook, host) for key in heard or [event.key])
    module = await bench.module(view, hook)
    if isinstance(module, Failure):
        raise _refused(hook, f"it does not load: {module.type}: {module.message}")
    declared = declared_by(module, hook, host)
    calls = tuple(call for call in declared if call.key in keys and (call.hears or hook.kind) == event.kind)
    if not calls:
        names = ", ".join(dict.fromkeys(call.key for call in declared)) or "none"
        raise _refused(hook, f"its module has no handler of {event.key}; it has {names}")
    return calls


def _refused(hook: Hook, why: str, then: str = "") -> Refusal:
    return Refusal(f"{hook.name} cannot be forced: {why.rstrip('.')}.", then)

"""A fire request: an event key or saved event, a hook to force, injected faults; and its plan."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hookscope.app.event_templates import event_in_session
from hookscope.app.project_config import EVENTS_FOLDER, YamlSection
from hookscope.app.snapshot import Snapshot
from hookscope.app.trust_requests import waiting_for_trust
from hookscope.app.unknown_names import no_such_hook
from hookscope.authoring.testing.saved_events import (
    event_to_fire,
    is_saved_event,
    read_saved_event,
    saved_event_in,
)
from hookscope.engine.planning import (
    declared_registrations,
    handler_code,
    registration_of,
    with_injected_faults,
    without_hooks,
)
from hookscope.hosts.gates.rules import UNNAMED
from hookscope.model.failure import FAULTS, Failure, InjectedFault, InvalidFault, Refusal, parse_fault
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Gate, HookStatus, State, gate_state
from hookscope.model.run import Code, Event, Plan, Registration
from hookscope.model.trust import TrustTarget, trust_target
from hookscope.model.uncalled_hooks import event_kind, event_kinds
from hookscope.runtime.handler_code import DECLARING_SHAPES
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench

# Gates about the header or other hooks: the handler itself is intact and may be called.
HEADER_GATES = frozenset({"events", "fields", "reached"})


async def forced_plan(bench: Workbench, view: Snapshot, event: Event, name: str) -> Plan:
    """Return the plan that calls only this hook, even if it would not run.

    If it would not run, `Plan.forced` holds its calls, and their results are marked `forced`. Of several
    copies, the one that takes precedence is called. A module that declares its handlers (plugin, stream) is
    imported in its worker, and called if it declares the event.

    Raises Refusal if nothing can be called: the hook is unknown, shadowed, broken, untrusted, of another
    kind than the event, or in a language that does not run here.
    """
    plan = bench.plan(view, event, only=name)
    if plan.calls:
        return plan
    row = bench.hook(view, name)
    _check_forced(row, plan.event, view)
    calls = await _forced_calls(bench, view, row.hook, plan.event)
    return bench.plan(view, event, only=row.hook.name, forced=calls)


def _check_forced(row: HookStatus, event: Event, view: Snapshot) -> None:
    """Raise Refusal if the hook's handler cannot or must not be called."""
    hook = row.hook
    if row.state is State.SHADOWED:
        raise _cannot_force(hook, row.verdict.why(), "Force the copy that takes precedence.")
    if event.kind not in event_kinds(row):
        raise _cannot_force(
            hook, f"it is a {event_kind(hook)} hook, and {event.key} is an event of {event.kind} hooks"
        )
    failed = row.verdict.failed()
    broken = next((gate for gate in failed if _failure_of(gate)), None)
    if broken is not None or hook.handler is None or hook.role == UNNAMED:
        reason = broken.reason if broken is not None else row.verdict.why() or "it has no handler"
        raise _cannot_force(
            hook, f"it is broken: {reason}", f"`hookscope info {hook.name}` shows every check."
        )
    if any(gate_state(gate) is State.UNTRUSTED for gate in failed):
        target, short = trust_target(hook, view.host), view.host.machine.short
        if target.refusal_reason:
            raise _cannot_force(hook, target.allow_hint(short))
        next_step = f"`{target.command(short)}` trusts it permanently, `--trust` for this run only."
        raise _cannot_force(hook, f"{short(target.folder)} is not trusted", next_step)
    if hook.language not in view.languages:
        language_problem = view.unavailable_languages.get(hook.language) or f"is {hook.language}"
        raise _cannot_force(hook, f"{hook.handler.name} {language_problem}")


def _failure_of(gate: Gate) -> bool:
    return gate_state(gate) is State.BROKEN and gate.name not in HEADER_GATES


async def _forced_calls(
    bench: Workbench, view: Snapshot, hook: Hook, event: Event
) -> tuple[Registration, ...]:
    """Return its handlers for this event's keys. Raises Refusal if its module has none."""
    host = view.host
    keys = host.dialect.system_of(event.kind).keys(event)
    if handler_code(hook, host).shape not in DECLARING_SHAPES:
        subscribed = [key for key in keys if key in (hook.meta.events or ())]
        return tuple(registration_of(key, hook, host) for key in subscribed or [event.key])
    module = await bench.load_module(view, hook)
    if isinstance(module, Failure):
        raise _cannot_force(hook, f"it does not load: {module.type}: {module.message}")
    declared = declared_registrations(module, hook, host)
    calls = tuple(
        call for call in declared if call.key in keys and (call.event_kind or hook.kind) == event.kind
    )
    if not calls:
        names = ", ".join(dict.fromkeys(call.key for call in declared)) or "none"
        raise _cannot_force(hook, f"its module has no handler of {event.key}; it has {names}")
    return calls


def _cannot_force(hook: Hook, why: str, next_step: str = "") -> Refusal:
    return Refusal(f"{hook.name} cannot be forced: {why.rstrip('.')}.", next_step)


__all__ = ["FAULTS", "InjectedFault", "parse_faults", "plan_with_faults"]

FAULT_FORMS = "--break needs HOOK=exception, hang, slow[:SECONDS], junk or exit[:STATUS]"


def parse_faults(texts: Iterable[str]) -> dict[str, InjectedFault]:
    """Return faults by hook, from texts such as `guard=slow:2`. Raises Refusal."""
    faults: dict[str, InjectedFault] = {}
    for text in texts:
        name, _, fault = text.rpartition("=")
        if not name:
            raise Refusal(f"{FAULT_FORMS}, not {text!r}.", code=2)
        try:
            injected_fault = parse_fault(fault)
        except InvalidFault as error:
            raise Refusal(f"{FAULT_FORMS}: {error}.", code=2) from None
        if faults.setdefault(name, injected_fault) != injected_fault:
            raise Refusal(f"--break names {name} twice.", "A handler can have only one fault.", code=2)
    return faults


def plan_with_faults(view: Snapshot, plan: Plan, faults: Mapping[str, InjectedFault]) -> Plan:
    """Return the plan with faults in place of these hooks' handlers, in real workers and under real limits.

    Names are hook names or settings keys. Faults do not count against a hook: no quarantine, no worker of
    its own. They also apply to events that this one causes. Results and the run report the fault, in JSON
    and journal as `broken`. A hang ends after 2 s unless the user has set a limit for all handlers.

    Raises Refusal for an unknown hook, or one that this plan does not call.
    """
    by_name = {_hook_name(view, name): fault for name, fault in faults.items()}
    for name in by_name:
        _check_fault(name, plan)
    return with_injected_faults(plan, by_name)


def _hook_name(view: Snapshot, name: str) -> str:
    row = view.inventory.find(name)
    if row is None:
        raise no_such_hook(name, view)
    return row.hook.name


def _check_fault(name: str, plan: Plan) -> None:
    """Raise Refusal if the plan has no call of that hook to replace."""
    calls = [call for call in plan.calls if call.name == name]
    if any(not isinstance(call.target, Code) for call in calls):
        what = f"{name} is a function of this program: there is no worker to break."
        raise Refusal(what, "Name a hook that is a file.")
    if not calls:
        reason = next(
            (item.reason for item in plan.not_run if item.name == name), "it does not subscribe to it"
        )
        next_step = "" if plan.calls else f"`--only {name} --force` calls it anyway."
        raise Refusal(f"{name} cannot be broken: {plan.event.key} does not call it ({reason}).", next_step)


# asks the user to trust folders; returns whether any was trusted
AskTrust = Callable[["Snapshot", Sequence[TrustTarget]], bool]
RequestedEvent = str | Mapping[str, Any]  # an event key, the file of a saved event, or its content


@dataclass(frozen=True, slots=True)
class FireRequest:
    """Changes to the event, and to the hooks that its host would call."""

    session: str | None = None
    context: Mapping[str, object] | None = None
    ctx: Mapping[str, object] | None = None
    only: str | None = None
    excluded: Sequence[str] = ()
    force: bool = False
    faults: Mapping[str, InjectedFault] = field(default_factory=dict)


async def plan_request(
    bench: Workbench, what: RequestedEvent, request: FireRequest, ask_trust: AskTrust | None = None
) -> tuple[Snapshot, Plan]:
    """Return the plan of one event to fire, and a snapshot that includes what only loading can show.

    `ask_trust` is asked about untrusted folders, and returns whether it trusted any. Raises Refusal.
    """
    view = bench.scan()
    event = _requested_event(bench, view, what, request)
    names = {bench.hook(view, name).hook.name for name in request.excluded}
    plan = without_hooks(bench.plan(view, event, only=request.only), names)
    folders = waiting_for_trust(view, plan)
    if folders and ask_trust is not None and ask_trust(view, folders):
        view = bench.scan()
    view = await bench.load_modules(view, event.kind)
    if request.force and request.only is not None:
        plan = await forced_plan(bench, view, event, request.only)
    else:
        plan = without_hooks(bench.plan(view, event, only=request.only), names)
    return view, plan_with_faults(view, plan, request.faults)


def _requested_event(bench: Workbench, view: Snapshot, what: RequestedEvent, request: FireRequest) -> Event:
    if not isinstance(what, str):
        event = event_to_fire(bench, view, saved_event_in(YamlSection(Path("event"), b"", what)))
    elif is_saved_event(what):
        if not os.path.exists(what):
            from hookscope.authoring.testing.test_runs import closest_file  # rarely needed

            next_step = closest_file(view.host.workspace, Path(what), (EVENTS_FOLDER,))
            raise Refusal(f"There is no file {what}.", next_step, code=2)
        event = read_saved_event(bench, view, Path(what))
    else:
        event = bench.template(view, what)
        event = event_in_session(event, request.session) if request.session is not None else event
    if request.session is not None:
        event = replace(event, session_key=request.session)
    if request.context is not None:
        event = replace(event, context=dict(request.context))
    if request.ctx is not None:
        event = replace(event, ctx={**event.ctx, **request.ctx})
    return event

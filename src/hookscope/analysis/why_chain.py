"""The steps from a hook's file to its user: the first failed one shows why nothing happens.

Gates, plan and activation links decide; this module only puts their answers in one order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal

from hookscope.app.options import Options, command_on
from hookscope.engine.discovery import unsent_event_notes
from hookscope.model.event_catalogue import ALL_EVENTS
from hookscope.model.hook_status import TOO_WIDE, FixKind, Gate, HookStatus, RejectedHook, State, gate_state
from hookscope.model.text import one_line, shell_path
from hookscope.model.trust import trust_target
from hookscope.model.uncalled_hooks import event_kind_of_key, may_be_called
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.runs.activation_chain import ActivationLink
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.model.run import NotRun, Plan

StepName = Literal[
    "found",
    "wins",
    "header",
    "enabled",
    "requirements",
    "trusted",
    "loads",
    "subscribed",
    "sent",
    "arrived",
    "ran",
    "delivered",
]
STEP_TITLES: Mapping[StepName, str] = {
    "found": "found",
    "wins": "precedence",
    "header": "header",
    "enabled": "enabled",
    "requirements": "requirements",
    "trusted": "trusted",
    "loads": "loads",
    "subscribed": "subscribed",
    "sent": "host sends it",
    "arrived": "arrived here",
    "ran": "ran",
    "delivered": "message shown",
}
HISTORY = frozenset({"arrived", "ran", "delivered"})  # what happened so far; it stops no later run
MOST_CHAINS = 100  # a header has room for thousands of events
LOAD_GATES = frozenset({"load", "export", "handler", "build"})
STEP_OF_STATE: Mapping[State, StepName] = {
    State.OFF: "enabled",
    State.UNTRUSTED: "trusted",
    State.SILENT: "sent",
    State.BROKEN: "header",
}


@dataclass(frozen=True, slots=True)
class WhyStep:
    """One step between a hook's file and its user. `passed` is None if nothing is known."""

    name: StepName
    passed: bool | None
    found: str = ""
    fix: str = ""  # the command that fixes it, or what to do
    gate: Gate | None = None  # the failed gate that it shows

    @property
    def title(self) -> str:
        """The name that people see."""
        return STEP_TITLES[self.name]


@dataclass(frozen=True, slots=True)
class WhyChain:
    """All steps of one hook for one event; `event` is empty if its events are known only after loading."""

    hook: str
    event: str
    steps: tuple[WhyStep, ...]
    next_steps: tuple[str, ...] = ()  # what to do so that it runs, the easiest first

    @property
    def first_failed(self) -> WhyStep | None:
        """The first step that is known to fail."""
        return next((step for step in self.steps if step.passed is False), None)

    @property
    def stopped_by(self) -> WhyStep | None:
        """The first failed step that keeps the hook from running."""
        return next((one for one in self.steps if one.passed is False and one.name not in HISTORY), None)

    @property
    def would_run(self) -> bool:
        """Whether the hook would run for the event."""
        return self.stopped_by is None

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        name, event = one_line(self.hook, 80), one_line(self.event, 80)
        on = f" on {event}" if event else ""
        if (stop := self.stopped_by) is not None:
            return f"{name} does not run{on}: {_ended(stop.found)}"
        named = {step.name: step for step in self.steps}
        if not event:
            return f"Nothing stops {name}; its events are known only after loading."
        if (ran := named["ran"]).passed is False:
            return f"{name} runs{on} and fails: {_ended(ran.found)}"
        if (delivered := named["delivered"]).passed is False:
            return f"{name} runs{on}, but its message is not shown: {_ended(delivered.found)}"
        if ran.passed:
            return f"{name} runs{on}: {_ended(ran.found)}"
        came = "has not run yet" if named["arrived"].passed else "no such event has arrived yet"
        return f"{name} would run{on}; {came if came.startswith('no') else 'it ' + came}."


def _ended(text: str) -> str:
    """Return the end of a sentence, with one full stop or its own question mark."""
    return text if text.endswith(("?", "!")) else f"{text.rstrip('.')}."


def why_chains(
    bench: Workbench, view: Snapshot, row: HookStatus | RejectedHook, event: str | None
) -> tuple[WhyChain, ...]:
    """Return the chain for an event, or for the first MOST_CHAINS events of the hook. Blocks.

    Raises Refusal for an unknown event, and OSError if the journal cannot be read.
    """
    if isinstance(row, RejectedHook):
        steps = _rejected_steps(row, view)
        fixes = tuple(step.fix for step in steps if step.fix)
        chain = WhyChain(row.name or row.path.name, event or "", steps, fixes)
        return (_with_options(chain, bench.options),)
    from hookscope.app.runs.activation_chain import activation_chain  # it imports the database

    chains = []
    for key in dict.fromkeys([event] if event is not None else (row.events or [""])[:MOST_CHAINS]):
        plan = bench.plan(view, bench.template(view, _key_to_plan(key, view))) if key else None
        links = activation_chain(bench, view, row, key or None)
        chains.append(why_chain(view, row, key, plan, links))
    return tuple(_with_options(chain, bench.options) for chain in chains)


def _with_options(chain: WhyChain, options: Options) -> WhyChain:
    command = command_on(options)
    steps = (replace(step, fix=step.fix.replace("hookscope", command, 1)) for step in chain.steps)
    next_steps = (text.replace("hookscope", command, 1) for text in chain.next_steps)
    return replace(chain, steps=tuple(steps), next_steps=tuple(next_steps))


def _key_to_plan(key: str, view: Snapshot) -> str:
    """Return `key`; for the key of all events, the first event that the host sends."""
    events = view.host.dialect.catalogue().events if key == ALL_EVENTS else ()
    return next((one.key for one in events if one.kind == "stream" and one.emitted), key)


def why_chains_document(chains: Sequence[WhyChain]) -> dict[str, Any]:
    """Return `why --json`: the answer for each event, with the steps from file to user."""
    return {
        "hook": chains[0].hook,
        "would_run": any(chain.would_run for chain in chains),
        "events": [
            {
                "event": chain.event or None,
                "would_run": chain.would_run,
                "sentence": chain.sentence,
                "first_dark": chain.first_failed.name if chain.first_failed is not None else None,
                "lamps": [_step_document(step) for step in chain.steps],
                "next": list(chain.next_steps),
            }
            for chain in chains
        ],
    }


def _step_document(step: WhyStep) -> dict[str, Any]:
    gate = step.gate.name if step.gate is not None else None
    return {"lamp": step.name, "passed": step.passed, "found": step.found, "fix": step.fix, "gate": gate}


def why_chain(
    view: Snapshot, row: HookStatus, event: str, plan: Plan | None, links: Sequence[ActivationLink]
) -> WhyChain:
    """Return the steps of a hook for one event. Pure.

    Args:
        plan: the event's plan; None if the hook's events are known only after loading.
        links: the activation links of the hook for this event; empty if there are none.
    """
    entry = next((item for item in plan.not_run if item.hook is row.hook), None) if plan else None
    is_called = plan is not None and any(call.hook is row.hook for call in plan.calls)
    sent = _sent(row, event, view)
    steps = [
        WhyStep("found", True, _place(row, view)),
        _wins(row, view),
        *(_gate_step(name, row, view) for name in ("header", "enabled", "requirements", "trusted")),
        _loads(row, view, links),
        _subscribed(row, event, entry, is_called=is_called),
        sent,
        *_history(links, sent),
    ]
    chain = WhyChain(row.hook.name, event, tuple(steps), _next_steps(row, steps, view))
    if chain.would_run and entry is not None and not is_called:  # such as a language that cannot run here
        reason = WhyStep("loads", False, entry.reason)
        return WhyChain(chain.hook, event, tuple(reason if one.name == "loads" else one for one in steps))
    return chain


def _next_steps(row: HookStatus, steps: Sequence[WhyStep], view: Snapshot) -> tuple[str, ...]:
    """Return how to make each failed gate pass, then how to repair the other failed steps."""
    gates = (_gate_fix(gate, row, view) for gate in row.verdict.easiest_first())
    others = (one.fix for one in steps if one.passed is False and not one.gate and one.name not in HISTORY)
    return tuple(dict.fromkeys(step for step in (*gates, *others) if step))


def _place(row: HookStatus, view: Snapshot) -> str:
    path = row.hook.path or row.hook.handler
    return view.host.machine.short(path) if path is not None else "registered by code"


def _wins(row: HookStatus, view: Snapshot) -> WhyStep:
    winner = row.verdict.shadowed_by
    if winner is None:
        return WhyStep("wins", True, f"over {len(row.shadows)} with the same name" if row.shadows else "")
    where = winner.path or winner.handler
    fix = f"rename one of the two: the other is {view.host.machine.short(where)}" if where else ""
    return WhyStep("wins", False, row.verdict.why(view.host.machine.short), fix)


def _step_of(gate: Gate) -> StepName:
    if gate.name in LOAD_GATES:
        return "loads"
    return STEP_OF_STATE.get(gate_state(gate), "requirements")


def _gate_step(name: StepName, row: HookStatus, view: Snapshot) -> WhyStep:
    """Return the step of all gates of one kind; if some failed, it fails and shows the first."""
    gates = [gate for gate in row.verdict.gates if _step_of(gate) == name]
    failed = [gate for gate in gates if gate.passed is False]
    if not failed:
        needed = [one for gate in gates if gate.kind.is_requirement and gate.passed for one in gate.needed]
        return WhyStep(name, True, ", ".join(needed))
    return WhyStep(name, False, gate_problem(failed[0]), _gate_fix(failed[0], row, view), failed[0])


def gate_problem(gate: Gate) -> str:
    """Return what is wrong at a failed gate, as the end of "NAME does not run: …"."""
    names = gate.missing or gate.needed
    words = {"missing": ", ".join(names), "is": "is" if len(names) == 1 else "are"}
    problem = gate.kind.problem
    for word, text in words.items():
        problem = problem.replace(f"{{{word}}}", text)
    return problem if problem and names else gate.reason or gate.found or gate.name


def _gate_fix(gate: Gate, row: HookStatus, view: Snapshot) -> str:
    hook, short = row.hook, view.host.machine.short
    name = one_line(shell_path(hook.name))
    if gate.found == TOO_WIDE:
        return "move the hook into a hooks folder"
    if gate.kind.fix is FixKind.TRUST:
        return trust_target(hook, view.host).command(short)
    if gate.kind.fix is FixKind.TOGGLE:
        return f"hookscope enable {name}"
    return f"hookscope fix {name} --gate {gate.name}"


def _loads(row: HookStatus, view: Snapshot, links: Sequence[ActivationLink]) -> WhyStep:
    step = _gate_step("loads", row, view)
    if step.passed is False:
        return step
    if (failed := view.failed_loads.get(row.hook)) is not None:
        return WhyStep("loads", False, failed.why, f"fix it, then run hookscope load {quote(row.hook.name)}")
    known = [link for link in links if link.name in ("loads", "export")]
    worst = next((link for link in known if link.passed is False), known[0] if known else None)
    if worst is None:
        return WhyStep("loads", True)
    return WhyStep("loads", worst.passed, worst.found, worst.next_step.replace("`", ""))


def _subscribed(row: HookStatus, event: str, entry: NotRun | None, *, is_called: bool) -> WhyStep:
    name = one_line(shell_path(row.hook.name))
    if not event or (row.events is None and not is_called):
        return WhyStep("subscribed", None, "known after a load", f"hookscope load {name}")
    own = event in (row.events or ()) or ALL_EVENTS in (row.events or ())
    if is_called or own or (entry is not None and entry.subscribed and not entry.near_miss):
        return WhyStep("subscribed", True, row.events_text)
    listed = row.events_text or "no event"
    reason = entry.near_miss if entry is not None and may_be_called(row) else ""
    file = row.hook.manifest or row.hook.handler
    fix = f"add {event} to its events in {file.name}" if file is not None else ""
    return WhyStep("subscribed", False, reason or f"it subscribes to {listed}", fix)


def _sent(row: HookStatus, event: str, view: Snapshot) -> WhyStep:
    host = view.host
    gate = next((one for one in row.verdict.failed() if _step_of(one) == "sent"), None)
    later = {**host.dialect.later_events, **host.dialect.later_plugin_events}
    if gate is not None and (not event or event in (row.events or ())):
        return WhyStep("sent", False, gate.reason, _gate_fix(gate, row, view), gate)
    if not event or event in later:
        return WhyStep("sent", True if event else None, f"by {later[event]}" if event else "")
    catalogue = host.dialect.catalogue()
    known = catalogue.find(event)
    if catalogue.sends(event, event_kind_of_key(event, row)):
        return WhyStep("sent", True, one_line(known.when, 120) if known is not None else "")
    notes = unsent_event_notes([event], row.hook, host, row.folder_events)
    return WhyStep("sent", False, next(iter(notes), f"{host.dialect.product} never sends {event}"))


def _history(links: Sequence[ActivationLink], sent: WhyStep) -> Iterator[WhyStep]:
    named = {link.name: link for link in links}
    for name in ("arrived", "ran", "delivered"):
        link = named.get(name)
        if link is None or (sent.passed is False and not link.passed):
            yield WhyStep(name, None)
        else:
            yield WhyStep(name, link.passed, link.found, link.next_step.replace("`", ""))


def _rejected_steps(item: RejectedHook, view: Snapshot) -> tuple[WhyStep, ...]:
    name = one_line(shell_path(item.name or item.path.name))
    path = view.host.machine.short(item.path)
    fix = f"hookscope fix {name}"
    if item.place is None:
        return (WhyStep("found", False, f"{item.reason} ({path})", fix),)
    at = f"{item.place.file.name}:{item.place.line}"
    return WhyStep("found", True, path), WhyStep("header", False, f"{item.reason} ({at})", fix)

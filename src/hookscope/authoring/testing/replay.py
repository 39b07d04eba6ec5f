"""Replays a run of the journal, whole or from one handler on, and compares it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hookscope.app.runs.past_runs import past_run
from hookscope.app.snapshot import PastRun
from hookscope.app.trust_requests import cannot_run_messages, trust_next_steps
from hookscope.authoring.testing.fire_request import forced_plan
from hookscope.engine.planning import EXCLUDED, without_hooks
from hookscope.model.failure import Refusal
from hookscope.model.hook_event import HookEvent, from_iso, iso, to_document
from hookscope.model.run import CallGroup, Event, NotRun, Plan, Registration, Result, Run
from hookscope.model.run_comparison import REPLAY_MARK, RunDifference, run_differences
from hookscope.model.text import did_you_mean, nearest_word
from hookscope.runtime.payloads import PatchError, apply_patch
from hookscope.storage.journal.redaction import as_recorded
from hookscope.storage.journal.run_environment import ChangedHandler, handlers_changed_since
from hookscope.storage.journal.run_filter import RunFilter
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench
    from hookscope.runtime.firing import Firing

AS_RECORDED = "replayed as recorded"
OLD_REASONS = ("skipped: all hooks but this were requested", "left out: all but it were asked for")
EXCLUDED_REASONS = (EXCLUDED, *OLD_REASONS)  # old journals have the older ones
WHOLE_RUN = "Replay without --from to fire the whole run."


@dataclass(frozen=True, slots=True)
class ReplayStart:
    """Where a replay begins: after `earlier_results`; `later_results` are compared with the new run."""

    event: Event  # as recorded, with the type and action that selected its handlers
    type_and_action: tuple[str, str]  # type and action as earlier handlers left them
    earlier_results: tuple[Result, ...]
    later_results: tuple[Result, ...]


def replay_start(run: Run, handler: str) -> ReplayStart:
    """Return the start of a replay at a handler: a number from 1, or the first with that name.

    The event is the recorded one with the changes of the handlers before it, as the journal has them.

    Raises Refusal if there is no such handler, if handlers of this kind share no event, or if the recorded
    changes cannot be applied.
    """
    if run.event.kind != "folder":
        raise Refusal(
            f"Run {run.id} fired a {run.event.kind} event: handlers do not share it, so --from cannot work.",
            WHOLE_RUN,
        )
    place = _start_position(run, handler)
    done, rest = run.results[:place], run.results[place:]
    event = run.event
    document = to_document(
        HookEvent(
            event.type,
            event.action,
            event.session_key,
            dict(event.context),
            event.timestamp,
            list(event.messages),
        )
    )
    for result in done:
        try:
            document = apply_patch(document, result.patch)
        except PatchError as error:
            what = f"The changes of {result.call.name} in run {run.id} cannot be applied to its event"
            raise Refusal(f"{what}: {error}.", WHOLE_RUN) from None
    return ReplayStart(
        _event_at_start(event, document, run.id), (document["type"], document["action"]), done, rest
    )


def _start_position(run: Run, handler: str) -> int:
    names = [result.call.name for result in run.results]
    if handler in names:
        return names.index(handler)
    if handler.isascii() and handler.isdigit() and 0 < int(handler) <= len(names):
        return int(handler) - 1
    next_step = did_you_mean(nearest_word(handler, names), f"It called {', '.join(names) or 'no handler'}.")
    raise Refusal(f"Run {run.id} has no handler {handler}.", next_step)


def _event_at_start(event: Event, document: dict[str, Any], run: int) -> Event:
    if not isinstance(document["context"], dict) or not isinstance(document["messages"], list):
        what = f"In run {run}, a handler removed the context or messages that later handlers need."
        raise Refusal(what, WHOLE_RUN)
    moment = event.timestamp
    if document["timestamp"] != to_document(HookEvent("", "", timestamp=moment))["timestamp"]:
        with suppress(AttributeError, TypeError, ValueError):  # not a time: the event kept its own
            moment = from_iso(document["timestamp"])
    return replace(
        event,
        session_key=document["sessionKey"],
        context=document["context"],
        messages=tuple(document["messages"]),
        timestamp=moment,
    )


def plan_from_start(plan: Plan, start: ReplayStart) -> Plan:
    """Return the current plan without the calls before the start; those stay as recorded.

    Raises Refusal if that handler is no longer called.
    """
    first = start.later_results[0].call
    place = _nth_call(
        plan.calls, first, sum(_same_handler(result.call, first) for result in start.earlier_results)
    )
    if place is None:
        why = next((item.reason for item in plan.not_run if item.name == first.name), "it no longer exists")
        raise Refusal(f"{first.name} is no longer called for {plan.event.key}: {why}.", WHOLE_RUN)
    left_out = tuple(NotRun(call.name, AS_RECORDED, call.hook) for call in plan.calls[:place])
    type_, action = start.type_and_action
    return replace(
        plan,
        event=replace(plan.event, type=type_, action=action),
        groups=(CallGroup(plan.calls[place:]),),
        not_run=(*left_out, *plan.not_run),
    )


def _nth_call(calls: Sequence[Registration], handler_call: Registration, number: int) -> int | None:
    places = [place for place, call in enumerate(calls) if _same_handler(call, handler_call)]
    return places[number] if number < len(places) else None


def _same_handler(one: Registration, other: Registration) -> bool:
    return (one.name, one.key) == (other.name, other.key)


MOST_RUNS = 10_000  # runs searched, and replayed, at once
FEW_RUNS = 50  # extra runs to read: some were replays


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """An earlier run, and the new run of its event."""

    past: PastRun
    before: Run
    run: Run
    differences: tuple[RunDifference, ...]  # times are not compared
    could_not_run: tuple[str, ...] = ()  # a sentence for each handler that could not run
    changed_handlers: tuple[ChangedHandler, ...] = ()  # handlers whose files have changed since

    @property
    def is_unchanged(self) -> bool:
        """True if everything happened as before, and every handler could run."""
        return not (self.differences or self.could_not_run or self.run.cancelled)


def runs_to_replay(
    bench: Workbench, numbers: Sequence[int], run_filter: RunFilter, last: int | None
) -> tuple[PastRun, ...]:
    """Return the runs with these numbers, else those that match the filter and are not replays, oldest first.

    `last`: only this many of the newest matches. Raises Refusal if there are none or too many; OSError.
    """
    view = bench.scan()
    if numbers:
        return tuple(bench.run_record.run(view, number) for number in numbers)
    journal = bench.run_record.journal(view.host)
    for limit in (
        (MOST_RUNS + 1,) if last is None else (last + FEW_RUNS, MOST_RUNS + 1)
    ):  # usually a few are enough
        newest = journal.select(run_filter, limit)
        past = (past_run(stored, view.host) for stored in newest)
        fit = [one for one in past if one is not None and not is_replay(one)]
        if (last is not None and len(fit) >= last) or len(newest) < limit:
            break
    if last is None and len(newest) > MOST_RUNS:
        raise Refusal(f"More than {MOST_RUNS:,} runs match.", "Select fewer with --since or --last.")
    if fit:
        return tuple(reversed(fit[:last]))
    if run_filter != RunFilter() and journal.recent(1):
        failed = run_filter.outcomes is not None and "failed" in run_filter.outcomes
        raise Refusal(
            "No recent run failed here." if failed else "No run matches.", "`hookscope log` lists the runs."
        )
    raise Refusal("Nothing was fired in this workspace yet.", "`hookscope fire` fires an event.")


def is_replay(past: PastRun) -> bool:
    """Return whether the run was itself a replay."""
    event = past.plan.event
    return any(REPLAY_MARK in place for place in (event.context, event.ctx, event.meta))


def _forced_hook(run: Run | None) -> str | None:
    results = run.results if run is not None else ()
    return next((result.call.name for result in results if result.forced), None)


@dataclass(frozen=True, slots=True)
class PreparedReplay:
    """An earlier run that is ready to be fired again."""

    view: Snapshot
    plan: Plan
    before: Run  # the run to compare with
    sandboxed: bool  # the run was sandboxed


async def prepare_replay(
    bench: Workbench, past: PastRun, *, only: str | None = None, start: str | None
) -> PreparedReplay:
    """Plan an earlier run again, marked as a replay; `start` as in `replay_run`. Raises Refusal."""
    view = bench.scan()
    start_point = replay_start(_finished_run(past), start) if start is not None else None
    before = _finished_run(past)
    event = marked_event(past.plan.event if start_point is None else start_point.event, past)
    view = await bench.load_modules(view, event.kind)
    plan = await _replay_plan(bench, view, event, past, start_point, only)
    before = before if start_point is None else replace(before, results=start_point.later_results)
    return PreparedReplay(view, plan, before, before.guarded is not None)


async def replay_run(
    bench: Workbench,
    past: PastRun,
    *,
    only: str | None = None,
    start: str | None = None,
    sandbox: bool = False,
    dry: bool = False,
    on_start: Callable[[Firing], object] | None = None,
) -> ReplayResult | Plan:
    """Fire an earlier run again with the current hooks; with `dry` return only the plan.

    Args:
        only: call only this hook; otherwise the same hooks as before. Excluded hooks stay excluded, and a
            forced hook is forced again.
        start: the number or name of a handler; earlier handlers are skipped, and the event is as it was
            when that handler was called.
        sandbox: run on copies of the files. A run that was sandboxed is always sandboxed again.
        on_start: gets the firing, to cancel it.

    Raises Refusal; OSError if the copies cannot be made.
    """
    if dry:
        view = bench.scan()
        start_point = replay_start(_finished_run(past), start) if start is not None else None
        event = marked_event(past.plan.event if start_point is None else start_point.event, past)
        loads = event.kind != "folder"  # forcing such a hook imports its module
        return await _replay_plan(bench, view, event, past, start_point, only, forces=not loads)
    prepared = await prepare_replay(bench, past, only=only, start=start)
    view, plan, before = prepared.view, prepared.plan, prepared.before
    untrusted = tuple(f"{sentence}." for sentence in trust_next_steps(view, plan))
    could_not_run = (*untrusted, *cannot_run_messages(view, plan, only=plan.only))
    sandboxed = sandbox or prepared.sandboxed
    firing = await bench.fire_sandboxed(view, plan) if sandboxed else bench.fire(view, plan)
    if on_start is not None:
        on_start(firing)
    run = await firing
    redaction = bench.redaction_of(view.host)
    different = run_differences(
        before, as_recorded(run, view.host.dialect.name, redaction.secrets, redaction.keys)
    )
    changed = await asyncio.to_thread(handlers_changed_since, past.handlers)
    return ReplayResult(past, before, run, different, could_not_run, changed)


def _finished_run(past: PastRun) -> Run:
    """Return the run. Raises Refusal if it did not end."""
    if past.run is None:
        raise Refusal(
            f"Run {past.id} was interrupted: the program that fired it ended first.",
            "There is nothing to compare with; --dry shows which hooks would run.",
        )
    return past.run


async def _replay_plan(
    bench: Workbench,
    view: Snapshot,
    event: Event,
    past: PastRun,
    start_point: ReplayStart | None,
    only: str | None,
    *,
    forces: bool = True,
) -> Plan:
    forced = _forced_hook(past.run) if only is None and forces else None
    if forced:
        plan = await forced_plan(bench, view, event, forced)
    elif only is not None:
        plan = bench.plan(view, event, only=only)
    else:
        plan = _with_same_targets(bench, view, event, past.plan)
    return plan if start_point is None else plan_from_start(plan, start_point)


def _with_same_targets(bench: Workbench, view: Snapshot, event: Event, earlier_plan: Plan) -> Plan:
    """Return the current plan without the hooks that the earlier plan excluded by request."""
    excluded = {
        item.name
        for item in earlier_plan.not_run
        if item.exclusion == "chosen" and item.reason in EXCLUDED_REASONS
    }
    targeted = _targeted_hooks(earlier_plan)
    if (
        targeted is not None
        and len(targeted) == 1
        and any(row.hook.name in targeted for row in view.inventory.hooks)
    ):
        return bench.plan(view, event, only=next(iter(targeted)))
    plan = bench.plan(view, event)
    if targeted is not None:
        listening = {call.name for call in plan.calls} | {one.name for one in plan.not_run if one.subscribed}
        excluded |= listening - targeted
    return without_hooks(plan, excluded)


def _targeted_hooks(plan: Plan) -> frozenset[str] | None:
    """Return the hooks that the plan was limited to; None: all subscribers."""
    if not any(item.exclusion == "unasked" for item in plan.not_run):
        return None
    waiting = (item.name for item in plan.not_run if item.subscribed and not item.exclusion)
    return frozenset((*(call.name for call in plan.calls), *waiting))


def differences_between(bench: Workbench, before: Run, after: Run) -> tuple[RunDifference, ...]:
    """Return the differences between two runs, new or from the journal. Secrets are masked in both.

    Handlers that a replay skipped on request (`start`) are not reported as missing.
    """
    redaction, name = bench.redaction, bench.dialect.name
    one, other = (as_recorded(run, name, redaction.secrets, redaction.keys) for run in (before, after))
    skipped = Counter(item.name for item in after.not_run if item.reason == AS_RECORDED)
    rest = []
    for result in one.results:
        if skipped[result.call.name] > 0:
            skipped[result.call.name] -= 1
        else:
            rest.append(result)
    return run_differences(replace(one, results=tuple(rest)), other)


def marked_event(event: Event, past: PastRun) -> Event:
    """Return the event with a mark for its handlers: the id and time of the earlier run."""
    as_recorded = event.timestamp == past.plan.event.timestamp
    # else a handler had set the time
    now = replace(event, timestamp=datetime.now(UTC)) if as_recorded else event
    return event_with_mark(now, {"run": past.id, "at": iso(past.at)})


def event_with_mark(event: Event, mark: Mapping[str, Any]) -> Event:
    """Return the event marked as a replay, in its `context`, `ctx` or `meta`."""
    match event.kind:
        case "folder":
            return replace(event, context={**event.context, REPLAY_MARK: mark})
        case "plugin":
            return replace(event, ctx={**event.ctx, REPLAY_MARK: mark})
        case "stream":
            kept = {name: value for name, value in event.meta.items() if name not in ("id", "at")}
            return replace(event, meta={**kept, REPLAY_MARK: mark})

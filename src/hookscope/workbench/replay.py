"""An event of the journal fired once more, and what is different from then."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hookscope.core.called import LEFT_OUT, with_left_out
from hookscope.core.differences import MARK, Difference, differences
from hookscope.core.event import iso
from hookscope.core.runs import Event, Plan, Run
from hookscope.journal import changed_since, on_record
from hookscope.journal.circumstances import Changed
from hookscope.values import dataclass
from hookscope.workbench.forcing import forced_plan
from hookscope.workbench.history import Wanted
from hookscope.workbench.left_out import could_not, not_yet_trusted
from hookscope.workbench.past import past_of
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.resuming import AS_RECORDED, Start, resumed, start_of
from hookscope.workbench.view import PastRun

if TYPE_CHECKING:
    from hookscope.runtime import Firing
    from hookscope.workbench.bench import Workbench
    from hookscope.workbench.view import View

MOST = 10_000  # runs that are looked at, and fired again, at once
FEW = 50  # more than are wanted: some were replays


@dataclass(frozen=True, slots=True)
class Replayed:
    """An earlier run and its event's run of now."""

    past: PastRun
    before: Run
    run: Run
    different: tuple[Difference, ...]  # what is not as before; times are not compared
    left: tuple[str, ...] = ()  # sentences: who should have run and could not
    changed: tuple[Changed, ...] = ()  # handlers whose files are not what they were then

    @property
    def same(self) -> bool:
        """Did all happen as before, with nobody left out?"""
        return not (self.different or self.left or self.run.cancelled)


def past_runs(
    bench: Workbench, numbers: Sequence[int], wanted: Wanted, last: int | None = None
) -> tuple[PastRun, ...]:
    """The runs of those numbers; where none is named those that are wanted and were no replays, oldest first.

    With `last` only so many, the newest. Raises Refusal where there is none, or there are too many; OSError.
    """
    view = bench.look()
    if numbers:
        return tuple(bench.record.run(view, number) for number in numbers)
    journal = bench.record.journal(view.host)
    for limit in (MOST + 1,) if last is None else (last + FEW, MOST + 1):  # most often few are enough
        newest = journal.select(wanted, limit)
        past = (past_of(stored, view.host) for stored in newest)
        fit = [one for one in past if one is not None and not is_replay(one)]
        if (last is not None and len(fit) >= last) or len(newest) < limit:
            break
    if last is None and len(newest) > MOST:
        raise Refusal(f"More than {MOST:,} runs fit.", "--since and --last narrow them down.")
    if fit:
        return tuple(reversed(fit[:last]))
    if wanted != Wanted() and journal.recent(1):
        failed = wanted.outcomes is not None and "failed" in wanted.outcomes
        raise Refusal(
            "No run failed here of late." if failed else "No run fits.", "`hookscope log` lists the runs."
        )
    raise Refusal("Nothing was fired in this workspace yet.", "`hookscope fire` fires an event.")


def is_replay(past: PastRun) -> bool:
    """Was its event fired again already when it ran."""
    event = past.plan.event
    return any(MARK in place for place in (event.context, event.ctx, event.meta))


def _forced(run: Run | None) -> str | None:
    """The hook that was called by force, as far as it is known."""
    results = run.results if run is not None else ()
    return next((result.call.name for result in results if result.forced), None)


@dataclass(frozen=True, slots=True)
class Prepared:
    """An earlier run that can be fired again now."""

    view: View
    plan: Plan
    before: Run  # what the new run is compared with
    guarded: bool  # on copies, as then


async def prepared(
    bench: Workbench, past: PastRun, *, only: str | None = None, start: str | None = None
) -> Prepared:
    """Plan it anew, marked; `start` as in `again`. Raises Refusal."""
    view = bench.look()
    then = start_of(_ended(past), start) if start is not None else None
    before = _ended(past)
    event = marked(past.plan.event if then is None else then.event, past)
    view = await bench.ready(view, event.kind)
    plan = await _planned(bench, view, event, past, then, only)
    before = before if then is None else replace(before, results=then.rest)
    return Prepared(view, plan, before, before.guarded is not None)


async def again(
    bench: Workbench,
    past: PastRun,
    *,
    only: str | None = None,
    start: str | None = None,
    sandbox: bool = False,
    dry: bool = False,
    told: Callable[[Firing], object] | None = None,
) -> Replayed | Plan:
    """Fire it again, as things are now; with `dry` only the plan. `told` hears of the firing, to cancel it.

    With `start`, the number or the name of a handler, those before it are left out: the event is as it was
    when its turn came. It goes to whom it went then: who was left out by request stays so, and who was called
    by force is again, but where `only` names another. On copies with `sandbox`, and where it was fired so.
    Raises Refusal; OSError where the copies cannot be made.
    """
    if dry:
        view = bench.look()
        then = start_of(_ended(past), start) if start is not None else None
        event = marked(past.plan.event if then is None else then.event, past)
        loads = event.kind != "folder"  # to force such a hook imports its module
        return await _planned(bench, view, event, past, then, only, forces=not loads)
    ready = await prepared(bench, past, only=only, start=start)
    view, plan, before = ready.view, ready.plan, ready.before
    untrusted = tuple(f"{said}." for said in not_yet_trusted(view, plan))
    left = (*untrusted, *could_not(view, plan, only=plan.only))
    guarded = sandbox or ready.guarded
    firing = await bench.fire_guarded(view, plan) if guarded else bench.fire(view, plan)
    if told is not None:
        told(firing)
    run = await firing
    hidden = bench.redaction_of(view.host)
    different = differences(before, on_record(run, view.host.dialect.name, hidden.secrets, hidden.keys))
    changed = await asyncio.to_thread(changed_since, past.handlers)
    return Replayed(past, before, run, different, left, changed)


def _ended(past: PastRun) -> Run:
    """The run, to its end. Raises Refusal for one that has none."""
    if past.run is None:
        raise Refusal(
            f"Run {past.id} was interrupted: its program ended before it did.",
            "There is nothing to compare with; --dry shows who would run.",
        )
    return past.run


async def _planned(
    bench: Workbench,
    view: View,
    event: Event,
    past: PastRun,
    then: Start | None,
    only: str | None,
    *,
    forces: bool = True,
) -> Plan:
    forced = _forced(past.run) if only is None and forces else None
    if forced:
        plan = await forced_plan(bench, view, event, forced)
    elif only is not None:
        plan = bench.plan(view, event, only=only)
    else:
        plan = _as_asked(bench, view, event, past.plan)
    return plan if then is None else resumed(plan, then)


def _as_asked(bench: Workbench, view: View, event: Event, then: Plan) -> Plan:
    """The plan of now without those whom the plan of then left out by request: they are not what changed."""
    chosen = {item.name for item in then.not_run if item.left_out == "chosen" and item.reason == LEFT_OUT}
    at = _fired_at(then)
    if at is not None and len(at) == 1 and any(row.hook.name in at for row in view.inventory.hooks):
        return bench.plan(view, event, only=next(iter(at)))
    plan = bench.plan(view, event)
    if at is not None:
        listening = {call.name for call in plan.calls} | {one.name for one in plan.not_run if one.listens}
        chosen |= listening - at
    return with_left_out(plan, chosen)


def _fired_at(plan: Plan) -> frozenset[str] | None:
    """The hooks that it was fired at, where others were left out for them; None: at all that listen."""
    if not any(item.left_out == "unasked" for item in plan.not_run):
        return None
    waiting = (item.name for item in plan.not_run if item.listens and not item.left_out)
    return frozenset((*(call.name for call in plan.calls), *waiting))


def between(bench: Workbench, before: Run, after: Run) -> tuple[Difference, ...]:
    """What is different between two runs, of now or of the journal: secrets are masked in both.

    Of a replay from a handler on, those before it are not missed.
    """
    hidden, name = bench.redaction, bench.dialect.name
    one, other = (on_record(run, name, hidden.secrets, hidden.keys) for run in (before, after))
    left = Counter(item.name for item in after.not_run if item.reason == AS_RECORDED)
    rest = []
    for result in one.results:
        if left[result.call.name] > 0:
            left[result.call.name] -= 1
        else:
            rest.append(result)
    return differences(replace(one, results=tuple(rest)), other)


def marked(event: Event, past: PastRun) -> Event:
    """The event of now, with a mark that its handlers can see: which run it was, and when."""
    as_recorded = event.timestamp == past.plan.event.timestamp
    now = replace(event, timestamp=datetime.now(UTC)) if as_recorded else event  # a handler had set another
    return with_mark(now, {"run": past.id, "at": iso(past.at)})


def with_mark(event: Event, mark: Mapping[str, Any]) -> Event:
    """The event, marked as one that was before: in the context, or beside it."""
    match event.kind:
        case "folder":
            return replace(event, context={**event.context, MARK: mark})
        case "plugin":
            return replace(event, ctx={**event.ctx, MARK: mark})
        case "stream":
            kept = {name: value for name, value in event.meta.items() if name not in ("id", "at")}
            return replace(event, meta={**kept, MARK: mark})

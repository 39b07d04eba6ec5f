"""Runs of the journal, as they can be shown and fired again."""

from __future__ import annotations

from hookscope.core.dialect import Host
from hookscope.core.runs import Group, Plan, Run
from hookscope.core.surroundings import lasting
from hookscope.journal import StoredRun, run_of
from hookscope.journal.storable import storable
from hookscope.workbench.refusal import Refusal
from hookscope.workbench.view import PastRun

THEN = "`hookscope log` lists the runs."


def place_of_record(host: Host) -> str:
    """What its workspace is called on record: the same in every locale, and text whatever bytes it has."""
    return storable(lasting(host.workspace))


def past_of(stored: StoredRun, host: Host) -> PastRun | None:
    """A run that has ended; None for one that goes on, or of a kind that the dialect in force has not."""
    if stored.outcome == "running":
        return None
    run = run_of(stored.document)
    if run.event.kind not in host.dialect.kinds:  # of a dialect that was in force then
        return None
    calls = tuple(result.call for result in run.results)
    groups = (Group(calls),) if calls else ()
    policy = host.dialect.system_of(run.event.kind).policy(run.event)
    plan = Plan(run.event, 0, groups, run.not_run, policy, delivers=run.delivers)
    ended = None if stored.outcome == "interrupted" else run
    return PastRun(stored.id, stored.started, plan, ended, stored.handlers)


def told_of(stored: StoredRun, host: Host) -> tuple[Run | None, Plan | None]:
    """What came of a run, None without an end; and its plan, where the dialect in force has such events."""
    past = past_of(stored, host)
    if past is not None:
        return past.run, past.plan
    return (run_of(stored.document) if stored.took is not None else None), None


def past_named(number: int, stored: StoredRun | None, host: Host) -> PastRun:
    """The run of that number. Raises Refusal where this workspace has none, or it cannot be fired."""
    if stored is None or stored.workspace != place_of_record(host):
        raise Refusal(f"There is no run {number} in this workspace.", THEN)
    if stored.outcome == "running":
        raise Refusal(f"Run {number} goes on still.", "Wait for its end, or end the program that fired it.")
    past = past_of(stored, host)
    if past is None:
        then = f"Look under its dialect: --dialect {stored.dialect}."
        raise Refusal(f"{host.dialect.product} has no events of the kind of run {number}.", then)
    return past

"""One event fired at several hosts, the outcomes aligned. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hookscope.model.failure import outcome_text
from hookscope.model.host import Dialect
from hookscope.model.run import Plan, Run
from hookscope.model.run_comparison import RunDifference, run_differences
from hookscope.model.text import duration
from hookscope.values import dataclass

NO_VALUE = "–"


@dataclass(frozen=True, slots=True)
class RunAtHost:
    """One event at one host."""

    dialect: Dialect
    plan: Plan | None = None
    run: Run | None = None
    problem: str = ""  # why it was not fired there; empty if it was
    could_not_run: tuple[str, ...] = ()  # a sentence for each handler that could not run


@dataclass(frozen=True, slots=True)
class ComparedOutcome:
    """One aspect of the runs, with one value per host."""

    what: str
    values: tuple[str, ...]
    is_compared: bool = True  # False: shown but not compared, such as a time

    @property
    def differs(self) -> bool:
        """True if the hosts' values differ."""
        return self.is_compared and len(set(self.values)) > 1


def handler_differences(one: Run, other: Run) -> tuple[RunDifference, ...]:
    """Return what handlers did differently, without differences between the hosts' events themselves."""
    input_differences = run_differences(*(replace(run, context=run.event.context) for run in (one, other)))
    known = {found.subject for found in input_differences if found.kind == "context"}
    found = run_differences(one, other)
    return tuple(one for one in found if one.kind != "context" or one.subject not in known)


def outcomes_differ(runs: Sequence[RunAtHost]) -> bool:
    """Return whether any host's outcome differs from another's."""
    return any(line.differs for line in compared_outcomes(runs))


def compared_outcomes(runs: Sequence[RunAtHost]) -> tuple[ComparedOutcome, ...]:
    """Return outcome, order, each handler, messages and their delivery, context, and time."""
    return (
        ComparedOutcome("outcome", tuple(map(_outcome, runs))),
        ComparedOutcome("order", tuple(_order(one.run) for one in runs)),
        *_handlers(runs),
        *_messages(runs),
        ComparedOutcome("input context", tuple(_given(one.run) for one in runs), is_compared=False),
        *_context(runs),
        ComparedOutcome("time", tuple(_time(one.run) for one in runs), is_compared=False),
    )


def _outcome(host_run: RunAtHost) -> str:
    run = host_run.run
    if run is None:
        return f"not fired: {host_run.problem}"
    if run.cancelled:
        return "cancelled"
    if run.ending.verdict or run.ending.failure:
        return run.ending.verdict or run.ending.failure or ""
    failed = f", {len(run.failed)} failed" if run.failed else ""
    return f"{len(run.results)} ran{failed}"


def _order(run: Run | None) -> str:
    return " → ".join(result.call.name for result in run.results) if run and run.results else NO_VALUE


def _handlers(runs: Sequence[RunAtHost]) -> Iterator[ComparedOutcome]:
    names = dict.fromkeys(result.call.name for one in runs if one.run for result in one.run.results)
    for name in names:
        yield ComparedOutcome(name, tuple(_ended(one, name) for one in runs))


def _ended(host_run: RunAtHost, name: str) -> str:
    if host_run.run is None:
        return NO_VALUE
    results = [result for result in host_run.run.results if result.call.name == name]
    if results:
        return ", ".join(outcome_text(result.status, result.error) for result in results)
    reason = next((item.reason for item in host_run.run.not_run if item.name == name), "is not a hook there")
    return f"not run: {reason}"


def _messages(runs: Sequence[RunAtHost]) -> Iterator[ComparedOutcome]:
    if not any(one.run and one.run.messages for one in runs):
        return
    texts = (json.dumps(list(one.run.messages), ensure_ascii=False) if one.run else NO_VALUE for one in runs)
    yield ComparedOutcome("messages", tuple(texts))
    yield ComparedOutcome("delivery", tuple(_fate(one.run) for one in runs))


def _fate(run: Run | None) -> str:
    if run is None or not run.messages:
        return NO_VALUE
    return "delivered" if run.delivers else "ignored"


def _given(run: Run | None) -> str:
    return ", ".join(map(str, run.event.context)) or NO_VALUE if run is not None else NO_VALUE


def _context(runs: Sequence[RunAtHost]) -> Iterator[ComparedOutcome]:
    """Yield a line for each part of the context that handlers changed differently."""
    fired = [one.run for one in runs if one.run is not None]
    found = [one for run in fired[1:] for one in handler_differences(fired[0], run) if one.kind == "context"]
    for path in dict.fromkeys(one.subject for one in found):
        values = {id(fired[0]): next(one.before for one in found if one.subject == path)}
        for run in fired[1:]:
            same = next(
                (one.after for one in handler_differences(fired[0], run) if one.subject == path),
                values[id(fired[0])],
            )
            values[id(run)] = same
        yield ComparedOutcome(
            f"context.{path}",
            tuple(_value(values[id(one.run)]) if one.run is not None else NO_VALUE for one in runs),
        )


def _value(value: object) -> str:
    return NO_VALUE if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _time(run: Run | None) -> str:
    return duration(sum(result.took for result in run.results)) if run is not None else NO_VALUE

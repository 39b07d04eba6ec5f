"""What the screen knows of one run: a frozen sheet that grows step by step. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from hookscope.console.fire.diff import ValueChange, changes_of, document_of
from hookscope.console.fire.diff import after as document_after
from hookscope.console.marks import count, word
from hookscope.core.runs import (
    PASSED_OVER,
    Event,
    NotRun,
    Paused,
    Plan,
    Registration,
    Result,
    Run,
    Skipped,
    Started,
    Status,
    Step,
)
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.workbench.testing import Verified

Phase = Status | Literal["waiting", "paused", "running", "not run"]

LIMIT = 30.0  # seconds a handler gets where its registration says nothing else
SLOW = 1.0  # seconds after which a handler is marked, long before its limit
MOST = 2_000  # operations of one patch that are read; a screen has no use for more
STOPS = ("blocked", "cancelled", "turn")  # how a verdict begins that stopped what the host was about to do
DEEPEST = 5  # follow-up events of follow-up events that are still shown


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call of a run."""

    number: int
    call: Registration
    name: str  # safe to show
    phase: Phase = "waiting"
    started: float = 0.0  # seconds from the start of the run
    heard: float = 0.0  # when its start was heard of, by the screen's own clock
    result: Result | None = None
    reason: str = ""  # why it did not run after all
    depth: int = 0  # of a follow-up event: how far down
    follow_up: Event | None = None  # the event it belongs to, where that is not the run's own
    event: object = None  # while it waits for a word: what it would get, as JSON values
    lane: str = ""  # the host's word for the group it is called in: channel, typed, *

    def took(self, now: float) -> float:
        """Seconds it ran, or has run by now."""
        if self.result is not None:
            return self.result.took
        return max(now - self.heard, 0.0) if self.phase == "running" else 0.0

    def slow(self, now: float) -> bool:
        """Is it worth a warning: more than a second, or close to its limit."""
        took = self.took(now)
        limit = LIMIT if self.call.limit is None else self.call.limit
        return took > SLOW or took >= 0.8 * limit

    @property
    def stale(self) -> bool:
        """Did the version from before run, since the saved one does not load."""
        return self.result is not None and self.result.stale is not None

    @property
    def failed(self) -> bool:
        """Did it end as anything but `ok`?"""
        return self.result is not None and self.result.status != "ok"


@dataclass(frozen=True, slots=True)
class RunSheet:
    """One run as it stands: from the plan, through its steps, to the end."""

    number: int
    plan: Plan
    rows: tuple[CallRow, ...]
    not_run: tuple[NotRun, ...]
    begun: float  # by the screen's own clock
    at: datetime
    run: Run | None = None
    problem: str = ""  # why there is no run, where firing itself failed
    before: tuple[int, Run] | None = None  # the last run of the same event, and its number
    checked: Verified | None = None  # beside what its saved event expects

    @property
    def running(self) -> bool:
        return self.run is None and not self.problem

    @property
    def paused(self) -> CallRow | None:
        """The first of those that wait for a word."""
        return next((row for row in self.rows if row.phase == "paused"), None) if self.running else None

    @property
    def origin(self) -> float:
        """Where the time line begins: with the first handler, so that a worker's start does not fill it."""
        began = [row.started for row in self.rows if row.result is not None or row.phase == "running"]
        return min(began, default=0.0)

    def span(self, now: float) -> float:
        """Seconds that the time line covers, from its origin."""
        ends = [row.started + row.took(now) for row in self.rows]
        return max([0.0, *ends]) - self.origin if ends else 0.0

    def total(self, now: float) -> float:
        """Seconds that the whole run took, or has taken by now."""
        return max(self.run.took if self.run else now - self.begun, self.origin + self.span(now))

    def place_of(self, row: CallRow) -> int:
        """Of a handler among those of the run itself that ran, counted from 1."""
        rows = self.rows[: self.rows.index(row) + 1]
        return sum(one.result is not None and one.follow_up is None for one in rows)

    @property
    def first_news(self) -> int | None:
        """The index of the first row that failed; else of the first that an older version answered for."""
        indices = [index for index, row in enumerate(self.rows) if row.failed or row.stale]
        return min(indices, key=lambda index: (not self.rows[index].failed, index), default=None)


def stopper(sheet: RunSheet) -> int | None:
    """The index of the row whose answer stopped what the host was about to do; None where none did."""
    verdict = sheet.run.ending.verdict.split() if sheet.run is not None else []
    if not verdict or verdict[0] not in STOPS or sheet.plan.event.kind != "plugin":
        return None
    ran = [index for index, row in enumerate(sheet.rows) if row.result is not None and row.follow_up is None]
    return ran[-1] if ran else None


def begin(number: int, plan: Plan, now: float, at: datetime) -> RunSheet:
    """The sheet of a run that has just been asked for: every call waits."""
    calls = ((call, group.label) for group in plan.groups for call in group.calls)
    rows = tuple(
        CallRow(index, call, word(call.name), lane=label) for index, (call, label) in enumerate(calls, 1)
    )
    return RunSheet(number, plan, rows, plan.not_run, now, at)


def advance(sheet: RunSheet, steps: Iterable[Step], now: float) -> RunSheet:
    """The sheet after some steps. One pass, however many there are."""
    rows = list(sheet.rows)
    place = {row.call: index for index, row in enumerate(rows)}
    for step in steps:
        for call in (step.call, *step.beside) if isinstance(step, Paused) else (step.call,):
            index = place.setdefault(call, len(rows))
            if index == len(rows):
                rows.append(CallRow(index + 1, call, word(call.name)))
            rows[index] = _after_step(rows[index], step, now)
    return replace(sheet, rows=tuple(rows))


def _after_step(row: CallRow, step: Step, now: float) -> CallRow:
    if isinstance(step, Result):
        return replace(row, phase=step.status, started=step.started, result=step)
    if isinstance(step, Paused):
        return replace(row, phase="paused", event=step.event)
    if isinstance(step, Skipped):
        return replace(row, phase="not run", reason=PASSED_OVER)
    if isinstance(step, Started) and row.result is None:  # a late start changes nothing
        return replace(row, phase="running", started=step.at, heard=now)
    return row


def finish(sheet: RunSheet, run: Run) -> RunSheet:
    """The sheet of an ended run: its results hold, and what still waited did not run."""
    sheet = advance(sheet, run.results, sheet.begun)
    left = list(run.not_run)
    rows = tuple(row if row.result else _never_ran(row, left) for row in sheet.rows)
    followed = tuple(_caused(run, len(rows)))
    return replace(sheet, rows=rows + followed, not_run=tuple(left), run=run)


def give_up(sheet: RunSheet, problem: str) -> RunSheet:
    """The sheet of a firing that came to nothing."""
    rows = tuple(row if row.result else replace(row, phase="not run", reason=problem) for row in sheet.rows)
    return replace(sheet, rows=rows, problem=problem)


def _never_ran(row: CallRow, left: list[NotRun]) -> CallRow:
    """A planned call without a result; its reason moves from the list of others to its own row."""
    mine = next((item for item in left if _is_of(item, row.call)), None)
    if mine is not None:
        left.remove(mine)
    reason = word(mine.reason, 300) if mine else "the run ended before its turn"
    return replace(row, phase="cancelled" if row.phase == "running" else "not run", reason=reason)


def _is_of(item: NotRun, call: Registration) -> bool:
    return item.hook is call.hook if item.hook is not None else item.name == call.name


def _caused(run: Run, number: int, depth: int = 1) -> Iterator[CallRow]:
    if depth > DEEPEST:
        return
    for follow_up in run.caused:
        for result in follow_up.results:
            number += 1
            name = word(f"{follow_up.event.key} {result.call.name}")
            yield CallRow(
                number,
                result.call,
                name,
                result.status,
                result.started,
                result=result,
                depth=depth,
                follow_up=follow_up.event,
            )
        deeper = list(_caused(follow_up, number, depth + 1))
        number += len(deeper)
        yield from deeper


def outcome(sheet: RunSheet) -> tuple[str, str]:
    """What it came to, in words, and the phase whose colour fits."""
    done = [row for row in sheet.rows if row.result is not None]
    failed = sum(row.failed for row in done)
    if sheet.problem:
        return "could not be fired", "error"
    if sheet.paused is not None:
        return f"waits before {sheet.paused.name}", "paused"
    if sheet.run is None:
        return f"{len(done)} of {len(sheet.rows)} done", "running"
    if sheet.run.cancelled:
        return f"cancelled, {len(done)} of {len(sheet.rows)} ran", "cancelled"
    if sheet.run.ending.failure and sheet.run.event.kind != "stream":
        return "failed closed", "error"
    if sheet.run.ending.verdict:
        verdict = word(sheet.run.ending.verdict, 80)
        if verdict.split()[0] in STOPS:
            return verdict, "cancelled"
        return (f"{failed} of {len(done)} failed, {verdict}", "error") if failed else (verdict, "ok")
    if failed:
        return f"{failed} of {len(done)} failed", "error"
    return (f"{count(len(done), 'handler')} ran", "ok") if done else ("nothing ran", "not run")


def brief_outcome(sheet: RunSheet) -> tuple[str, str]:
    """The outcome where there is no room for a sentence."""
    words, phase = outcome(sheet)
    if phase == "paused":
        return "paused", phase
    if phase == "cancelled":
        words = words.partition(" by ")[0].partition(",")[0]
    if phase == "error":
        words = words.partition(" failed,")[0]
    return words.removesuffix(" failed").replace(" handlers", "").replace(" handler", ""), phase


def context_change(sheet: RunSheet, row: CallRow) -> tuple[ValueChange, ...]:
    """What this handler changed in the event, but for the messages that it pushed."""
    if row.result is None or not row.result.patch:
        return ()
    changes, _ = changes_of(document_before(sheet, row), row.result.patch[:MOST])
    return tuple(change for change in changes if not _pushed(change))


def document_before(sheet: RunSheet, row: CallRow) -> dict[str, object]:
    """The event as this handler was given it: as fired, and changed by those before it."""
    event = row.follow_up or sheet.plan.event
    earlier = [
        before.result.patch[:MOST]
        for before in sheet.rows[: row.number - 1]
        if before.result and before.follow_up is row.follow_up
    ]
    document: dict[str, object] = document_after(document_of(event), earlier)
    return document


def _pushed(change: ValueChange) -> bool:
    return change.kind == "+" and len(change.path) == 2 and change.path[0] == "messages"

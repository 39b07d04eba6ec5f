"""One run as a frozen sheet, replaced after each step, and what each JSON patch changed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal

from hookscope.console.theme.text_styles import counted, safe_word
from hookscope.model.hook_event import iso
from hookscope.model.run import (
    SKIPPED_BY_HAND,
    Event,
    NotRun,
    Patch,
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
from hookscope.runtime.limits import Limits
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.authoring.testing.test_runs import SavedEventResult


class AbsentValue(Enum):
    """Marks a missing value, because None is a value."""

    ABSENT = "absent"


ABSENT: Final = AbsentValue.ABSENT
DEEPEST_PATH = 200  # parts of a path; deeper paths match nothing
PatchPath = tuple[str, ...]


class PatchMismatch(Exception):
    """A patch does not fit the document."""


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A changed value. In a list, a value that was absent was inserted."""

    path: PatchPath
    before: Any
    after: Any

    @property
    def kind(self) -> Literal["+", "-", "~"]:
        """Added, removed, or changed."""
        if self.before is ABSENT:
            return "+"
        return "-" if self.after is ABSENT else "~"


def event_document(event: Event) -> dict[str, Any]:
    """Return the event as handlers receive it, with the names that patches use."""
    match event.kind:
        case "stream":
            return {"type": event.type, "data": event.context, "meta": event.meta}
        case "plugin":
            return dict(event.context)
        case _:
            return _folder_event_document(event)


def _folder_event_document(event: Event) -> dict[str, Any]:
    return {
        "type": event.type,
        "action": event.action,
        "sessionKey": event.session_key,
        "timestamp": iso(event.timestamp),
        "messages": list(event.messages),
        "context": event.context,
    }


def patch_changes(document: Any, patch: Patch) -> tuple[tuple[ValueChange, ...], Any]:
    """Return the changes of a patch in order, and the resulting document.

    An operation that does not fit is listed with its value, and changes nothing.
    """
    changes: list[ValueChange] = []
    for operation in patch:
        try:
            new_changes = _operation_changes(document, operation)
            for change in new_changes:
                document = apply_change(document, change)
        except PatchMismatch:
            new_changes = [
                ValueChange(
                    pointer_path(str(operation.get("path", ""))), ABSENT, operation.get("value", ABSENT)
                )
            ]
        changes += new_changes
    return tuple(changes), document


def document_after(document: Any, patches: Iterable[Patch]) -> Any:
    """Return the document after several patches."""
    for patch in patches:
        _, document = patch_changes(document, patch)
    return document


def pointer_path(pointer: str) -> PatchPath:
    """Return the parts of a JSON pointer; for a pointer that is too deep, a path that matches nothing."""
    parts = pointer.split("/", DEEPEST_PATH + 1)[1:]
    if len(parts) > DEEPEST_PATH:
        return (pointer, "")
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)


def _operation_changes(document: Any, operation: Mapping[str, Any]) -> list[ValueChange]:
    path = pointer_path(str(operation.get("path", "")))
    match operation.get("op"):
        case "add":
            return [_addition(document, path, operation.get("value"))]
        case "replace":
            return [ValueChange(path, value_at(document, path), operation.get("value"))]
        case "remove":
            return [ValueChange(path, value_at(document, path), ABSENT)]
        case "copy":
            return [
                _addition(document, path, value_at(document, pointer_path(str(operation.get("from", "")))))
            ]
        case "move":
            source_path = pointer_path(str(operation.get("from", "")))
            if source_path == path:
                return []
            removal = ValueChange(source_path, value_at(document, source_path), ABSENT)
            return [removal, _addition(apply_change(document, removal), path, removal.before)]
        case _:
            return []  # `test` changes nothing


def _addition(document: Any, path: PatchPath, value: Any) -> ValueChange:
    if not path:
        return ValueChange(path, document, value)
    holder = value_at(document, path[:-1])
    if isinstance(holder, Mapping):
        return ValueChange(path, holder.get(path[-1], ABSENT), value)
    if isinstance(holder, list):
        at = len(holder) if path[-1] == "-" else _list_index(path[-1], len(holder) + 1)
        return ValueChange((*path[:-1], str(at)), ABSENT, value)
    raise PatchMismatch(path)


def value_at(document: Any, path: PatchPath) -> Any:
    """Return the value at a path. Raises PatchMismatch if there is none."""
    for part in path:
        if isinstance(document, Mapping) and part in document:
            document = document[part]
        elif isinstance(document, list):
            document = document[_list_index(part, len(document))]
        else:
            raise PatchMismatch(path)
    return document


def apply_change(document: Any, change: ValueChange) -> Any:
    """Return the document with one change; everything outside its path is shared."""
    if not change.path:
        return change.after
    head, tail = change.path[0], change.path[1:]
    inserts = not tail and change.before is ABSENT
    key: Any = head
    copy: Any
    if isinstance(document, list):
        key, copy = _list_index(head, len(document) + inserts), list(document)
    elif isinstance(document, Mapping) and (head in document or not tail):
        copy = dict(document)
    else:
        raise PatchMismatch(change.path)
    if tail:
        copy[key] = apply_change(copy[key], ValueChange(tail, change.before, change.after))
    elif change.after is ABSENT:
        del copy[key]
    elif inserts and isinstance(copy, list):
        copy.insert(key, change.after)
    else:
        copy[key] = change.after
    return copy


def _list_index(part: str, length: int) -> int:
    if part.isascii() and part.isdigit() and int(part) < length:
        return int(part)
    raise PatchMismatch((part,))


CallPhase = Status | Literal["waiting", "paused", "running", "not run"]

SLOW_SECONDS = 1.0  # seconds until a handler is marked as slow
MOST_PATCH_OPERATIONS = 2_000  # operations of one patch to read; a screen shows no more
MOST_PAST_SHARE = 1.2  # of a run's span: how far its time line may extend to show earlier runs
STOPPING_VERDICTS = ("blocked", "cancelled", "turn")  # first words of verdicts that block the host's action
DEEPEST_FOLLOW_UP = 5  # levels of follow-up events to show


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call of a run."""

    number: int
    call: Registration
    name: str  # safe to show
    limit: float | None  # seconds that it may run; None: no limit
    phase: CallPhase = "waiting"
    started: float = 0.0  # seconds from the start of the run
    reported: float = 0.0  # when its start was reported, by the screen's clock
    result: Result | None = None
    reason: str = ""  # why it did not run
    depth: int = 0  # level of a follow-up event
    follow_up: Event | None = None  # the follow-up event; None: the run's own event
    event: object = None  # while paused: the event it would receive, as JSON values
    group: str = ""  # the host's name for its group of calls: channel, typed, *
    past: tuple[float, ...] = ()  # seconds that it ran in earlier runs, newest first

    def took(self, now: float) -> float:
        """Return the seconds it ran, or has run so far."""
        if self.result is not None:
            return self.result.took
        return max(now - self.reported, 0.0) if self.phase == "running" else 0.0

    def ended(self, now: float) -> float:
        """Return when it ended, or now, in seconds from the start of the run."""
        return self.load_start + self.loaded if self.only_loaded else self.started + self.took(now)

    @property
    def loaded(self) -> float:
        """The seconds that its code took to load."""
        return self.result.loaded if self.result is not None else 0.0

    @property
    def only_loaded(self) -> bool:
        """Whether it failed while loading, so that `started` is the start of the load."""
        error = self.result.error if self.result is not None else None
        return error is not None and error.phase != "run"

    @property
    def load_start(self) -> float:
        """When loading started, in seconds from the start of the run."""
        return max(self.started - (0.0 if self.only_loaded else self.loaded), 0.0)

    def slow(self, now: float) -> bool:
        """Return True if it runs for more than a second, or close to its limit."""
        took = self.took(now)
        return took > SLOW_SECONDS or (self.limit is not None and took >= 0.8 * self.limit)

    @property
    def timed(self) -> bool:
        """Whether it has started, so that it has a place on the time line."""
        return self.result is not None or self.phase == "running"

    @property
    def stale(self) -> bool:
        """Whether the previous version ran, because the saved one does not load."""
        return self.result is not None and self.result.stale is not None

    @property
    def failed(self) -> bool:
        """Whether it ended with any status but `ok`."""
        return self.result is not None and self.result.status != "ok"


@dataclass(frozen=True, slots=True)
class RunSheet:
    """The state of one run: from the plan, through its steps, to the end."""

    number: int
    plan: Plan
    rows: tuple[CallRow, ...]
    not_run: tuple[NotRun, ...]
    begun: float  # by the screen's clock
    at: datetime
    limits: Limits = Limits()  # of handlers without limits of their own
    run: Run | None = None
    problem: str = ""  # why there is no run, if firing failed
    before: tuple[int, Run] | None = None  # the last run of the same event, and its number
    checked: SavedEventResult | None = None  # compared with its saved event

    @property
    def running(self) -> bool:
        return self.run is None and not self.problem

    @property
    def paused(self) -> CallRow | None:
        """The first paused call."""
        return next((row for row in self.rows if row.phase == "paused"), None) if self.running else None

    def span(self, now: float) -> float:
        """Return the seconds from the start of the run to its last handler's end."""
        return max((row.ended(now) for row in self.rows if row.timed), default=0.0)

    def axis(self, now: float) -> float:
        """Return the length of the time line in seconds: the span, and earlier runs if they fit."""
        span = self.span(now)
        ends = (row.started + past for row in self.rows if row.timed for past in row.past)
        return min(max([span, *ends]), MOST_PAST_SHARE * span)

    def wait_start(self, row: CallRow) -> float:
        """Return since when the run waited for this handler: the end of the one before it, or the start."""
        earlier = [one.ended(0.0) for one in self.rows[: row.number - 1] if one.result is not None]
        return min(max(earlier, default=0.0), row.load_start)

    def total(self, now: float) -> float:
        """Return the seconds that the whole run took, or has taken so far."""
        return max(self.run.took if self.run else now - self.begun, self.span(now))

    def place_of(self, row: CallRow) -> int:
        """Return the position of a handler, from 1, among those that ran on the run's own event."""
        rows = self.rows[: self.rows.index(row) + 1]
        return sum(other.result is not None and other.follow_up is None for other in rows)

    @property
    def first_news(self) -> int | None:
        """The index of the first failed row; else of the first row that ran a previous version."""
        indices = [index for index, row in enumerate(self.rows) if row.failed or row.stale]
        return min(indices, key=lambda index: (not self.rows[index].failed, index), default=None)


def stopping_row(sheet: RunSheet) -> int | None:
    """Return the index of the row whose answer blocked the host's action; None if none did."""
    verdict = sheet.run.ending.verdict.split() if sheet.run is not None else []
    if not verdict or verdict[0] not in STOPPING_VERDICTS or sheet.plan.event.kind != "plugin":
        return None
    ran = [index for index, row in enumerate(sheet.rows) if row.result is not None and row.follow_up is None]
    return ran[-1] if ran else None


def begin_sheet(number: int, plan: Plan, now: float, at: datetime, limits: Limits = Limits()) -> RunSheet:
    """Return the sheet of a run that has been requested: all calls are waiting."""
    calls = ((call, group.label) for group in plan.groups for call in group.calls)
    rows = tuple(
        replace(_waiting_row(index, call, limits), group=label)
        for index, (call, label) in enumerate(calls, 1)
    )
    return RunSheet(number, plan, rows, plan.not_run, now, at, limits)


def _waiting_row(number: int, call: Registration, limits: Limits) -> CallRow:
    return CallRow(number, call, safe_word(call.name), limits.for_call(call).run or None)


def advance_sheet(sheet: RunSheet, steps: Iterable[Step], now: float) -> RunSheet:
    """Return the sheet after some steps, in one pass."""
    rows = list(sheet.rows)
    place = {row.call: index for index, row in enumerate(rows)}
    for step in steps:
        for call in (step.call, *step.starting_together) if isinstance(step, Paused) else (step.call,):
            index = place.setdefault(call, len(rows))
            if index == len(rows):
                rows.append(_waiting_row(index + 1, call, sheet.limits))
            rows[index] = _after_step(rows[index], step, now)
    return replace(sheet, rows=tuple(rows))


def _after_step(row: CallRow, step: Step, now: float) -> CallRow:
    if isinstance(step, Result):
        return replace(row, phase=step.status, started=step.started, result=step)
    if isinstance(step, Paused):
        return replace(row, phase="paused", event=step.event)
    if isinstance(step, Skipped):
        return replace(row, phase="not run", reason=SKIPPED_BY_HAND)
    if isinstance(step, Started) and row.result is None:  # ignore a late start
        return replace(row, phase="running", started=step.at, reported=now)
    return row


def finish_sheet(sheet: RunSheet, run: Run) -> RunSheet:
    """Return the sheet of a finished run: its results, and calls that did not run."""
    sheet = advance_sheet(_without_follow_ups(sheet, run), run.results, sheet.begun)
    not_run = list(run.not_run)
    rows = tuple(row if row.result else _not_run_row(row, not_run) for row in sheet.rows)
    followed = tuple(_follow_up_rows(run, len(rows), sheet.limits))
    return replace(sheet, rows=rows + followed, not_run=tuple(not_run), run=run)


def _without_follow_ups(sheet: RunSheet, run: Run) -> RunSheet:
    """Return the sheet without steps of follow-up events, whose calls may be calls of this event too."""
    done, planned = {result.call for result in run.results}, set(sheet.plan.calls)
    rows = (row for row in sheet.rows if row.call in planned | done)
    own = (row if row.call in done else replace(row, result=None) for row in rows)
    return replace(sheet, rows=tuple(own))


def fail_sheet(sheet: RunSheet, problem: str) -> RunSheet:
    """Return the sheet of a run that failed to start or to end."""
    rows = tuple(row if row.result else replace(row, phase="not run", reason=problem) for row in sheet.rows)
    return replace(sheet, rows=rows, problem=problem)


def _not_run_row(row: CallRow, not_run: list[NotRun]) -> CallRow:
    """Return the row of a call that did not run, with its reason, and remove its entry from `not_run`."""
    own = next((item for item in not_run if _is_call_of(item, row.call)), None)
    if own is not None:
        not_run.remove(own)
    reason = safe_word(own.reason, 300) if own else "the run ended first"
    return replace(row, phase="cancelled" if row.phase == "running" else "not run", reason=reason)


def _is_call_of(not_run: NotRun, call: Registration) -> bool:
    return not_run.hook is call.hook if not_run.hook is not None else not_run.name == call.name


def _follow_up_rows(
    run: Run, number: int, limits: Limits, depth: int = 1, offset: float = 0.0
) -> Iterator[CallRow]:
    """Yield the calls of the events that `run` caused. `offset`: the start of `run` on the time line."""
    if depth > DEEPEST_FOLLOW_UP:
        return
    handlers_end = max((result.started + result.took for result in run.results), default=0.0)
    for index, follow_up in enumerate(run.caused):
        later = sum(other.took for other in run.caused[index:])  # they ran one after the other, at the end
        start = offset + max(handlers_end, run.took - later)
        for result in follow_up.results:
            number += 1
            yield replace(
                _waiting_row(number, result.call, limits),
                name=safe_word(f"{follow_up.event.key} {result.call.name}"),
                phase=result.status,
                started=start + result.started,
                result=result,
                depth=depth,
                follow_up=follow_up.event,
            )
        deeper = list(_follow_up_rows(follow_up, number, limits, depth + 1, start))
        number += len(deeper)
        yield from deeper


def run_outcome(sheet: RunSheet) -> tuple[str, str]:
    """Return the outcome in words, and the phase that gives its colour."""
    done = [row for row in sheet.rows if row.result is not None]
    failed = sum(row.failed for row in done)
    if sheet.problem:
        return "failed to start", "error"
    if sheet.paused is not None:
        return f"waits before {sheet.paused.name}", "paused"
    if sheet.run is None:
        return f"{len(done)} of {len(sheet.rows)} done", "running"
    if sheet.run.cancelled:
        return f"cancelled, {len(done)} of {len(sheet.rows)} ran", "cancelled"
    if sheet.run.ending.failure and sheet.run.event.kind != "stream":
        return "failed closed", "error"
    if sheet.run.ending.verdict:
        verdict = safe_word(sheet.run.ending.verdict, 80)
        if verdict.split()[0] in STOPPING_VERDICTS:
            return verdict, "cancelled"
        return (f"{failed} of {len(done)} failed, {verdict}", "error") if failed else (verdict, "ok")
    if failed:
        return f"{failed} of {len(done)} failed", "error"
    return (f"{counted(len(done), 'handler')} ran", "ok") if done else ("nothing ran", "not run")


def brief_run_outcome(sheet: RunSheet) -> tuple[str, str]:
    """Return the outcome in one or two words, and its phase."""
    words, phase = run_outcome(sheet)
    if phase == "paused":
        return "paused", phase
    if phase == "cancelled":
        words = words.partition(" by ")[0].partition(",")[0]
    if phase == "error":
        words = words.partition(" failed,")[0]
    return words.removesuffix(" failed").replace(" handlers", "").replace(" handler", ""), phase


def context_changes(sheet: RunSheet, row: CallRow) -> tuple[ValueChange, ...]:
    """Return what this handler changed in the event, without its pushed messages."""
    if row.result is None or not row.result.patch:
        return ()
    changes, _ = patch_changes(document_before(sheet, row), row.result.patch[:MOST_PATCH_OPERATIONS])
    return tuple(
        change
        for change in changes
        if not (change.kind == "+" and len(change.path) == 2 and change.path[0] == "messages")
    )


def document_before(sheet: RunSheet, row: CallRow) -> dict[str, object]:
    """Return the event as this handler received it: as fired, with earlier handlers' changes."""
    event = row.follow_up or sheet.plan.event
    earlier = [
        before.result.patch[:MOST_PATCH_OPERATIONS]
        for before in sheet.rows[: row.number - 1]
        if before.result and before.follow_up is row.follow_up
    ]
    document: dict[str, object] = document_after(event_document(event), earlier)
    return document

"""Log entries for scans, saved files, runs, sessions and real events. Pure."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.runs.session_log import event_summary, session_of
from hookscope.console.state.hook_rows import HookRow
from hookscope.console.state.log_entries import LogEntry
from hookscope.console.theme.text_styles import IGNORED_FILE, NOT_A_HOOK, STATE_STYLES, counted, short_day
from hookscope.model.failure import outcome_text
from hookscope.model.run import Plan, Result, Run, Slow
from hookscope.model.text import duration, in_local_time, one_line

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.recording.spool import ArrivedEvents, RecordedEvent
    from hookscope.sessions.session_runner import SimulationResult

NO_SUCH_EVENTS = "this host has no such events"
MOST_NAMED_HANDLERS = 3  # failed handlers that the entry of a run names
MOST_NAMED_FILES = 8  # files to name one by one; a checkout changes hundreds


def scan_entries(
    at: datetime, before: Sequence[HookRow], now: Sequence[HookRow], took: float, first: bool
) -> list[LogEntry]:
    """Return the entries of a scan: for the first scan the counts, for a later one what has changed."""
    hooks = "1 hook" if len(now) == 1 else f"{len(now)} hooks"
    if first:
        counts_by_style = Counter(row.state_style for row in now)
        styles = (*STATE_STYLES.values(), NOT_A_HOOK, IGNORED_FILE)
        counts = ", ".join(
            f"{counts_by_style[style]} {style.word}" for style in styles if counts_by_style[style]
        )
        return [LogEntry(at, "scan", hooks, f"{counts or 'none found'} · {duration(took)}")]
    entries = [
        LogEntry(at, "state", name, text, level, hooks=(name,))
        for name, text, level in scan_differences(before, now)
    ]
    summary = counted(len(entries), "change") if entries else "no changes"
    return [LogEntry(at, "scan", hooks, f"{summary} · {duration(took)}"), *entries]


def scan_differences(before: Sequence[HookRow], now: Sequence[HookRow]) -> list[tuple[str, str, str]]:
    """Return the differences between two scans as (name, change, level)."""
    old = {row.id: row for row in before}
    new = {row.id: row for row in now}
    changes = []
    for row in now:
        past = old.get(row.id)
        level = "error" if row.state_style.word in ("broken", "no hook") else "info"
        if past is None:
            changes.append((row.name, f"new: {row.state_style.text}", level))
        elif past.state_style is not row.state_style:
            why = f"   {one_line(row.why)}" if row.why else ""
            changes.append((row.name, f"{past.state_style.text} → {row.state_style.text}{why}", level))
    changes += [(row.name, "gone", "warning") for row in before if row.id not in new]
    return changes


def saved_file_entries(at: datetime, paths: frozenset[Path], view: Snapshot) -> list[LogEntry]:
    """Return entries for changed files, with the hook or folder they belong to."""
    entries = []
    for path in sorted(paths)[:MOST_NAMED_FILES]:
        folder = next((folder for folder in view.host.folders if path.is_relative_to(folder.path)), None)
        parts = path.relative_to(folder.path).parts if folder is not None else ()
        subject = parts[0] if len(parts) > 1 else path.name
        what = "saved" if os.path.exists(path) else "gone"
        shown = "/".join(parts) if parts else view.host.machine.short(path)
        entries.append(LogEntry(at, "file", one_line(subject), f"{one_line(shown)} {what}"))
    if len(paths) > MOST_NAMED_FILES:
        entries.append(LogEntry(at, "file", "others", f"{len(paths) - MOST_NAMED_FILES} more files changed"))
    return entries


def run_started_entry(at: datetime, number: int, plan: Plan) -> LogEntry:
    count = len(plan.calls)
    text = f"run {number} → {count} handler{'' if count == 1 else 's'}"
    hooks = tuple(dict.fromkeys(call.name for call in plan.calls))
    return LogEntry(at, "fire", plan.event.key, text, "info", number, event=plan.event.key, hooks=hooks)


def handler_entry(at: datetime, number: int, result: Result | Slow, event: str = "") -> LogEntry:
    """Return the entry for a handler that has ended or takes long. `event`: the key of the run's event."""
    if isinstance(result, Slow):
        until = f"; it is stopped at {result.limit:g} s" if result.limit is not None else ""
        text, level = f"» still running after {result.after:g} s{until}", "warning"
    else:
        text, level = _result_text(result)
    name = result.call.name
    return LogEntry(at, "step", name, text, level, number, event=event or result.call.key, hooks=(name,))


def _result_text(result: Result) -> tuple[str, str]:
    """Return the text and the level of a handler's entry."""
    took = duration(result.took)
    if result.stale is not None:
        fault = f"{result.stale.type}: {one_line(result.stale.message)}"
        took += f" · the previous version; the saved one does not load: {fault}"
    if result.status == "ok":
        level = "info" if result.stale is None else "warning"
        return f"✓ ok · {took}", level
    return f"✗ {one_line(outcome_text(result.status, result.error))} · {took}", "error"


def run_ended_entry(at: datetime, number: int, run: Run) -> LogEntry:
    """Return the entry for a finished run."""
    failed, count = len(run.failed), len(run.results)
    if run.cancelled:
        text, level = "cancelled", "warning"
    elif failed:
        named = run.failed[:MOST_NAMED_HANDLERS]
        names = ", ".join(f"{one_line(result.call.name, 60)} {result.status}" for result in named)
        text, level = f"✗ {failed} of {count} failed: {names}", "error"
    elif not count and run.event.kind == "stream":  # most events of a stream have no handler
        text, level = "no hook subscribes to it", "info"
    elif not count:
        text, level = "no handler was called", "warning"
    elif run.ending.verdict:
        text, level = one_line(run.ending.verdict), "info"
    else:
        text, level = f"✓ {count} ok", "info"
    return LogEntry(
        at,
        "run",
        run.event.key,
        f"run {number} {text} · {duration(run.took)}",
        level,
        number,
        event=run.event.key,
        hooks=tuple(dict.fromkeys(result.hook for result in run.results)),
        session=session_of(run.event),
    )


def session_entries(at: datetime, play: SimulationResult) -> list[LogEntry]:
    """Return the entries for a finished session: its outcome and its rule."""
    failed = len(play.failed)
    text = f"{len(play.events)} events · " + (f"✗ {failed} failed" if failed else "no hook failed")
    text += f" · {one_line(play.failure)}" if play.failure else ""
    level = "error" if failed or play.failure else "info"
    notes = [*play.notes, f"rule: {play.throw_effect}"]
    return [LogEntry(at, "play", play.end, text, level), *(LogEntry(at, "play", "", note) for note in notes)]


def skipped_run_entries(at: datetime, dialects: Sequence[str]) -> list[LogEntry]:
    """Return entries for earlier runs that are not listed: the current dialect has no such events."""
    return [
        LogEntry(at, "runs", name, f"{counted(number, 'earlier run')} not listed: {NO_SUCH_EVENTS}")
        for name, number in Counter(dialects).items()
    ]


def past_run_entry(past: PastRun) -> LogEntry:
    """Return the entry for a run before this start of the console, with its day if not today."""
    at = in_local_time(past.at).replace(tzinfo=None)
    if past.run is not None:
        entry = run_ended_entry(at, past.id, past.run)
    else:
        text = f"run {past.id} interrupted: its program ended"
        event = past.plan.event
        hooks = tuple(dict.fromkeys(call.name for call in past.plan.calls))
        entry = LogEntry(
            at, "run", event.key, text, "warning", past.id,
            event=event.key, hooks=hooks, session=session_of(event),
        )  # fmt: skip
    return replace(entry, text=f"{entry.text} · {on}") if (on := short_day(at)) else entry


def past_run_entries(past: PastRun) -> list[LogEntry]:
    """Return the entries of an earlier run: the run, then its handlers, which fold."""
    entry, run = past_run_entry(past), past.run
    results = run.results if run is not None else ()
    key = past.plan.event.key
    return [entry, *(handler_entry(entry.at, past.id, result, key) for result in results)]


def external_run_entries(at: datetime, past: PastRun) -> list[LogEntry]:
    """Return the entries of a run of another program that has just ended."""
    entry, *parts = past_run_entries(past)
    text = f"{entry.text} · another program"
    return [replace(entry, at=at, text=text), *(replace(part, at=at) for part in parts)]


def real_event_entries(at: datetime, news: ArrivedEvents) -> list[LogEntry]:
    """Return an entry for each real event of a host, and notes on missed ones."""
    entries = [_real_event_entry(event) for event in news.events]
    if news.dropped:
        note = f"{news.dropped:,} earlier events are not shown; `hookscope tap events` lists them"
        entries.insert(0, LogEntry(at, "real", "others", note))
    if news.missed:
        entries.append(LogEntry(at, "real", "others", "some arrived too fast to be shown", "warning"))
    if news.skipped:
        lines = "1 invalid line" if news.skipped == 1 else f"{news.skipped:,} invalid lines"
        entries.append(LogEntry(at, "real", "spool", lines, "warning"))
    return entries


def _real_event_entry(event: RecordedEvent) -> LogEntry:
    """Return the entry for a real event. `at` is the host's clock; other entries use ours."""
    at = in_local_time(event.at).replace(tzinfo=None)
    if event.kind == "loaded":
        return LogEntry(at, "real", one_line(event.host), f"the tap was loaded by process {event.pid}")
    cut = "shortened" if event.cut else ""
    summary = event_summary(event.context or event.ctx)
    details = (cut, summary, one_line(session_of(event), 60), short_day(at))
    return LogEntry(
        at,
        "real",
        one_line(event.key),
        " · ".join(filter(None, details)),
        real=event.id,
        event=event.key,
        session=session_of(event),
    )

"""The tap and its recorded events as text and JSON (`tap`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from hookscope.analysis.tap_report import EventUsage, SpoolSummary, TapStatus
from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.app.snapshot import Snapshot
from hookscope.authoring.testing.recorded_events import RefiredEvent, context_summary, short_id
from hookscope.cli.render.layout import column_width, fit_to_width
from hookscope.model.hook_event import iso
from hookscope.model.host import Host
from hookscope.model.text import ago, in_local_time, long_duration, one_line, printable, printable_line
from hookscope.recording.installation import TapPlan
from hookscope.recording.spool import EventCount, RecordedEvent

# Installing and removing


def tap_change_document(plan: TapPlan, *, written: bool) -> Document:
    """Return what is written or removed, for `install --json` and `remove --json`."""
    return {
        "spool": str(plan.spool),
        "files": [
            {
                "path": str(change.path),
                "action": "remove" if change.new is None else "write" if change.old is None else "replace",
                "diff": change.preview(),
            }
            for change in plan.changes
        ],
        "written": written and bool(plan.changes),
    }


def tap_document(tap: TapStatus) -> Document:
    """Return one tap of `tap status --json`."""
    return {
        "name": tap.name,
        "kind": tap.kind,
        "language": tap.language,
        "root": str(tap.root),
        "events": list(tap.events),
        "state": tap.files_state,
        "needs": [
            {"gate": need.gate, "reason": need.reason, "then": need.next_step} for need in tap.blockers
        ],
        "notes": list(tap.notes),
    }


def planned_install_text(plan: TapPlan, host: Host) -> str:
    """Return the files as diffs, for --dry-run."""
    diffs = "\n".join(
        f"{_display_path(change.path, host)}\n{printable(change.preview()).rstrip()}"
        for change in plan.changes
    )
    return diffs or "Nothing would be written: the tap is up to date."


def installed_text(plan: TapPlan, taps: Sequence[TapStatus], host: Host) -> str:
    """Return where the files are, what the host requires, and the next step."""
    notices = host.dialect.switch_rules.when_noticed
    lines = [
        f"{_file_action(change.old, change.new)} {_display_path(change.path, host)}"
        for change in plan.changes
    ]
    lines += ["The tap is up to date."] if not plan.changes else []
    for tap in taps:
        lines += [
            "",
            f"{_display_path(tap.root, host)} receives {_event_count_text(tap)}",
            *_requirement_lines(tap),
        ]
    lines += ["", f"Events go to {_display_path(plan.spool, host)}. {notices}".rstrip()]
    lines.append("`hookscope tap status` shows whether it was loaded, `hookscope tap events` its events.")
    return "\n".join(lines)


def removed_text(plan: TapPlan, host: Host, *, dry_run: bool, kept: bool) -> str:
    """Return the removed files, and where the recorded events are kept."""
    would = "would be " if dry_run else ""
    lines = [f"{would}removed {_display_path(change.path, host)}" for change in plan.changes]
    lines += ["The tap's files are already gone."] if not plan.changes else []
    if kept:
        lines.append(
            f"Recorded events stay in {_display_path(plan.spool, host)}; `--events` removes them too."
        )
    return "\n".join(lines)


def _file_action(old: bytes | None, new: bytes | None) -> str:
    return "removed" if new is None else "wrote" if old is None else "replaced"


def _event_count_text(tap: TapStatus) -> str:
    return "every event" if tap.events == ("*",) else one_line(", ".join(tap.events), 2_000)


def _requirement_lines(tap: TapStatus) -> Iterator[str]:
    for need in tap.blockers:
        yield f"  ✗ the host will not run it: {one_line(need.reason)}"
        yield f"    → {one_line(need.next_step, 400)}"
    if not tap.blockers and tap.files_state == "installed":
        yield "  ✓ nothing stops the host from running it"
    yield from (f"  – {one_line(note, 400)}" for note in tap.notes)


# Status


def recording_document(summary: SpoolSummary) -> Document:
    """Return a summary of the recorded events, for `tap status --json`."""
    return {
        "spool": str(summary.folder),
        "bytes": summary.size,
        "events": summary.events,
        "last": iso(summary.last) if summary.last else None,
        "loaded": iso(summary.loaded) if summary.loaded else None,
        "pid": summary.pid or None,
        "skipped": summary.skipped,
    }


def tap_status_text(taps: Sequence[TapStatus], summary: SpoolSummary, view: Snapshot) -> str:
    """Return each tap with what the host requires, then a summary of the recorded events."""
    product = view.host.dialect.product
    lines = [] if taps else [f"No tap is installed for {product} here. `hookscope tap install` installs one."]
    for tap in taps:
        state_texts = {"installed": "unchanged", "changed": "changed since the install", "gone": "is gone"}
        lines.append(
            f"{tap.name}  {tap.kind}, {tap.language}  {state_texts[tap.files_state]}  "
            f"{_display_path(tap.root, view.host)}"
        )
        lines += [f"  receives {_event_count_text(tap)}", *_requirement_lines(tap), ""]
    if summary.loaded is not None:
        when = f"{_moment_text(summary.loaded)}, {_age_text(summary.loaded)}"
        lines.append(f"loaded    by {product}, last {when}; its process was {summary.pid}")
    elif taps:
        lines.append(f"loaded    not yet: {product} has not loaded it")
    if summary.events:
        last = f", the last {_age_text(summary.last)}" if summary.last else ""
        where = f"{summary.size:,} bytes in {_display_path(summary.folder, view.host)}"
        lines.append(f"recorded  {_count_text(summary.events, 'event')}{last}; {where}")
    elif taps:
        lines.append(f"recorded  nothing yet in {_display_path(summary.folder, view.host)}")
    lines += _skipped_lines(summary.skipped)
    return "\n".join(lines).rstrip()


def _display_path(path: Path, host: Host) -> str:
    return printable_line(host.machine.short(path))


def _skipped_lines(count: int) -> list[str]:
    are = "is" if count == 1 else "are"
    return [f"{_count_text(count, 'invalid line')} of the spool {are} skipped."] if count else []


def _count_text(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _moment_text(at: datetime) -> str:
    return f"{in_local_time(at):%Y-%m-%d %H:%M:%S}"


def _age_text(at: datetime) -> str:
    return ago(at, datetime.now(UTC))


# Events


def recorded_event_document(event: RecordedEvent) -> Document:
    """Return one event of `tap events --json`."""
    return {
        "id": event.id,
        "at": iso(event.at),
        "key": event.key,
        "kind": event.kind,
        "session": event.session,
        "host": event.host,
        "language": event.language,
        "pid": event.pid,
        "seq": event.number,
        "context": dict(event.context),
        "meta": dict(event.meta),
        "ctx": dict(event.ctx),
        "left_out": list(event.excluded_members),
        "cut": event.cut,
    }


def recorded_events_text(events: Sequence[RecordedEvent], skipped: int) -> str:
    """Return the text of `tap events`; `skipped` lines could not be read."""
    lines = [recorded_event_line(event) for event in events] or ["No real event was recorded here yet."]
    return "\n".join([*lines, *_skipped_lines(skipped)])


def recorded_event_line(event: RecordedEvent) -> str:
    """Return id, time, key, session, and the beginning of the context."""
    key, session = fit_to_width(one_line(event.key), 24), fit_to_width(one_line(event.session) or "–", 24)
    cut = "  (shortened)" if event.cut else ""
    return (
        f"{short_id(event)}  {_moment_text(event.at)}  {key}  {session}  "
        f"{one_line(context_summary(event), 120)}{cut}"
    ).rstrip()


def fired_again_text(event: RecordedEvent) -> str:
    """Return the headline of a real event that is fired again."""
    cut = f"; {event.cut} parts of it were shortened when it was recorded" if event.cut else ""
    return f"real event {short_id(event)} of {_moment_text(event.at)}, {one_line(event.host)}{cut}"


def fired_document(refired: RefiredEvent, dialect: str) -> Document:
    """Return one event of `tap fire --json`."""
    return {
        "real": recorded_event_document(refired.recorded),
        "could_not_run": list(refired.could_not_run),
        "run": json_documents.run_document(refired.run, dialect),
    }


# The two lists


def coverage_document(usage: EventUsage, view: Snapshot) -> Document:
    """Return the document of `tap lists --json`."""
    return {
        "dialect": view.host.dialect.name,
        "since": iso(usage.since) if usage.since else None,
        "loaded": iso(usage.loaded) if usage.loaded else None,
        "events": usage.count,
        "seen": [_seen_event_document(one) for one in usage.seen],
        "never_seen": [
            {
                "hook": one.hook,
                "source": one.source,
                "state": one.state.value,
                "key": one.key,
                "recorded": one.recorded,
            }
            for one in usage.never_received
        ],
        "nobody_listens": [_seen_event_document(one) for one in usage.without_hook],
        "unknown": list(usage.unknown),
        "skipped": usage.skipped,
    }


def _seen_event_document(count: EventCount) -> Document:
    return {
        "key": count.key,
        "kind": count.kind,
        "count": count.count,
        "first": iso(count.first),
        "last": iso(count.last),
    }


def coverage_text(usage: EventUsage) -> str:
    """Return the recorded time, subscriptions without an event, and events without a subscriber."""
    if usage.since is None:
        return "Nothing has been recorded here: both lists need a tap. `hookscope tap install` installs one."
    total_text = f"{_count_text(usage.count, 'event')} of {_count_text(len(usage.seen), 'key')}"
    lines = [
        f"Recorded for {long_duration((datetime.now(UTC) - usage.since).total_seconds())}: {total_text}.",
        "",
        "Subscribed, never seen",
    ]
    lines += list(_never_seen_lines(usage)) or ["  none"]
    lines += ["", "Seen, without subscriber", *(_unhandled_event_lines(usage) or ["  none"])]
    if usage.unknown:
        lines += ["", f"Subscriptions known only after a load: {one_line(', '.join(usage.unknown), 1_000)}."]
    return "\n".join([*lines, *_skipped_lines(usage.skipped)])


def _never_seen_lines(usage: EventUsage) -> Iterator[str]:
    """Yield subscriptions that a tap would have recorded, then those that no tap covers."""
    width = column_width((one_line(subscription.key) for subscription in usage.never_received), 32)
    for subscription in sorted(usage.never_received, key=lambda one: not one.recorded):
        subscriber = f"{one_line(subscription.hook)} ({subscription.source})" + (
            "" if subscription.recorded else ": no tap records it"
        )
        yield (
            f"{' ' if subscription.recorded else '?'} "
            f"{fit_to_width(one_line(subscription.key), width)}  {subscriber}"
        )


def _unhandled_event_lines(usage: EventUsage) -> list[str]:
    width = column_width((one_line(count.key) for count in usage.without_hook), 32)
    return [
        f"  {fit_to_width(one_line(count.key), width)}  {count.count:>7,} ×  last {_age_text(count.last)}"
        for count in usage.without_hook
    ]

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
from hookscope.model.refusal import Refusal
from hookscope.model.text import (
    ago,
    error_reason,
    in_local_time,
    long_duration,
    one_line,
    printable,
)
from hookscope.recording.installation import TapPlan
from hookscope.recording.spool import EventCount, RecordedEvent


def unreadable_spool(error: OSError) -> Refusal:
    """Return the refusal for a spool that exists and cannot be read."""
    what = f"Cannot read {error.filename or 'the spool'}: {error_reason(error)}."
    return Refusal(what, "Make it readable, or `hookscope tap remove` and install the tap again.")


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
        "state": tap.whole,
        "needs": [{"gate": need.gate, "reason": need.reason, "then": need.then} for need in tap.needs],
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
    notices = host.dialect.switching.notices
    lines = [
        f"{_file_action(change.old, change.new)} {_display_path(change.path, host)}"
        for change in plan.changes
    ]
    lines += ["The tap is up to date."] if not plan.changes else []
    for tap in taps:
        lines += [
            "",
            f"{_display_path(tap.root, host)} hears {_event_count_text(tap)}",
            *_requirement_lines(tap),
        ]
    lines += ["", f"Events go to {_display_path(plan.spool, host)}. {notices}".rstrip()]
    lines.append("Then `hookscope tap status` says whether it was loaded, `hookscope tap events` what came.")
    return "\n".join(lines)


def removed_text(plan: TapPlan, host: Host, *, dry_run: bool, kept: bool) -> str:
    """Return the removed files, and where the recorded events are kept."""
    would = "would be " if dry_run else ""
    lines = [f"{would}removed {_display_path(change.path, host)}" for change in plan.changes]
    lines += ["Its files are gone already."] if not plan.changes else []
    if kept:
        lines.append(
            f"What was recorded stays in {_display_path(plan.spool, host)}; `--events` removes it too."
        )
    return "\n".join(lines)


def _file_action(old: bytes | None, new: bytes | None) -> str:
    return "removed" if new is None else "wrote" if old is None else "replaced"


def _event_count_text(tap: TapStatus) -> str:
    return "every event" if tap.events == ("*",) else one_line(", ".join(tap.events), 2_000)


def _requirement_lines(tap: TapStatus) -> Iterator[str]:
    for need in tap.needs:
        yield f"  ✗ the host will not run it: {one_line(need.reason)}"
        yield f"    → {one_line(need.then, 400)}"
    if not tap.needs and tap.whole == "installed":
        yield "  ✓ nothing stops the host from running it"
    yield from (f"  – {one_line(note, 400)}" for note in tap.notes)


# Status


def recording_document(item: SpoolSummary) -> Document:
    """Return a summary of the recorded events, for `tap status --json`."""
    return {
        "spool": str(item.folder),
        "bytes": item.size,
        "events": item.events,
        "last": iso(item.last) if item.last else None,
        "loaded": iso(item.loaded) if item.loaded else None,
        "pid": item.pid or None,
        "skipped": item.skipped,
    }


def tap_status_text(taps: Sequence[TapStatus], item: SpoolSummary, view: Snapshot) -> str:
    """Return each tap with what the host requires, then a summary of the recorded events."""
    product = view.host.dialect.product
    lines = [] if taps else [f"No tap is installed for {product} here. `hookscope tap install` does that."]
    for tap in taps:
        stands = {"installed": "stands as written", "changed": "was changed since", "gone": "is gone"}
        lines.append(
            f"{tap.name}  {tap.kind}, {tap.language}  {stands[tap.whole]}  "
            f"{_display_path(tap.root, view.host)}"
        )
        lines += [f"  hears {_event_count_text(tap)}", *_requirement_lines(tap), ""]
    if item.loaded is not None:
        when = f"{_moment_text(item.loaded)}, {_age_text(item.loaded)}"
        lines.append(f"loaded    by {product}, last {when}; its process was {item.pid}")
    elif taps:
        lines.append(f"loaded    not yet: {product} has not loaded it since it records")
    if item.events:
        last = f", the last {_age_text(item.last)}" if item.last else ""
        where = f"{item.size:,} bytes in {_display_path(item.folder, view.host)}"
        lines.append(f"recorded  {_count_text(item.events, 'event')}{last}; {where}")
    elif taps:
        lines.append(f"recorded  nothing yet in {_display_path(item.folder, view.host)}")
    lines += _skipped_lines(item.skipped)
    return "\n".join(lines).rstrip()


def _display_path(path: Path, host: Host) -> str:
    return printable(host.surroundings.short(path))


def _skipped_lines(count: int) -> list[str]:
    are = "is" if count == 1 else "are"
    return [f"{_count_text(count, 'line')} of the spool {are} no event and {are} left out."] if count else []


def _count_text(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _moment_text(at: datetime) -> str:
    return f"{in_local_time(at):%Y-%m-%d %H:%M:%S}"


def _age_text(at: datetime) -> str:
    return ago(at, datetime.now(UTC))


# Events


def recorded_event_document(heard: RecordedEvent) -> Document:
    """Return one event of `tap events --json`."""
    return {
        "id": heard.id,
        "at": iso(heard.at),
        "key": heard.key,
        "kind": heard.kind,
        "session": heard.session,
        "host": heard.host,
        "language": heard.language,
        "pid": heard.pid,
        "seq": heard.number,
        "context": dict(heard.context),
        "meta": dict(heard.meta),
        "ctx": dict(heard.ctx),
        "left_out": list(heard.left_out),
        "cut": heard.cut,
    }


def recorded_events_text(found: Sequence[RecordedEvent], skipped: int) -> str:
    """Return the text of `tap events`; `skipped` lines could not be read."""
    lines = [recorded_event_line(heard) for heard in found] or ["No real event was recorded here yet."]
    return "\n".join([*lines, *_skipped_lines(skipped)])


def recorded_event_line(heard: RecordedEvent) -> str:
    """Return id, time, key, session, and the beginning of the context."""
    key, session = fit_to_width(one_line(heard.key), 24), fit_to_width(one_line(heard.session) or "–", 24)
    cut = "  (shortened)" if heard.cut else ""
    return (
        f"{short_event_id(heard)}  {_moment_text(heard.at)}  {key}  {session}  "
        f"{one_line(context_summary(heard), 120)}{cut}"
    ).rstrip()


def short_event_id(heard: RecordedEvent) -> str:
    """Return the short id that people type."""
    return short_id(heard)


def fired_again_text(heard: RecordedEvent) -> str:
    """Return which real event is fired again."""
    cut = f"; {heard.cut} parts of it were shortened when it was recorded" if heard.cut else ""
    return f"real event {short_event_id(heard)} of {_moment_text(heard.at)}, {one_line(heard.host)}{cut}"


def fired_document(item: RefiredEvent, dialect: str) -> Document:
    """Return one event of `tap fire --json`."""
    return {
        "real": recorded_event_document(item.heard),
        "could_not_run": list(item.left),
        "run": json_documents.run_document(item.run, dialect),
    }


# The two lists


def coverage_document(item: EventUsage, view: Snapshot) -> Document:
    """Return the document of `tap lists --json`."""
    return {
        "dialect": view.host.dialect.name,
        "since": iso(item.since) if item.since else None,
        "loaded": iso(item.loaded) if item.loaded else None,
        "events": item.count,
        "seen": [_seen_event_document(one) for one in item.seen],
        "never_seen": [
            {
                "hook": one.hook,
                "source": one.source,
                "state": one.state.value,
                "key": one.key,
                "recorded": one.recorded,
            }
            for one in item.unheard
        ],
        "nobody_listens": [_seen_event_document(one) for one in item.unanswered],
        "unknown": list(item.unknown),
        "skipped": item.skipped,
    }


def _seen_event_document(one: EventCount) -> Document:
    return {
        "key": one.key,
        "kind": one.kind,
        "count": one.count,
        "first": iso(one.first),
        "last": iso(one.last),
    }


def coverage_text(item: EventUsage) -> str:
    """Return how long was recorded, then both lists."""
    if item.since is None:
        return "Nothing was ever recorded here: both lists need a tap. `hookscope tap install` puts one in."
    what = f"{_count_text(item.count, 'event')} of {_count_text(len(item.seen), 'key')}"
    lines = [
        f"Recorded for {long_duration((datetime.now(UTC) - item.since).total_seconds())}: {what}.",
        "",
        "Subscribed, never seen",
    ]
    lines += list(_never_seen_lines(item)) or ["  none"]
    lines += ["", "Seen, nobody listens", *(_unhandled_event_lines(item) or ["  none"])]
    if item.unknown:
        lines += ["", f"Only a load tells what they listen to: {one_line(', '.join(item.unknown), 1_000)}."]
    return "\n".join([*lines, *_skipped_lines(item.skipped)])


def _never_seen_lines(item: EventUsage) -> Iterator[str]:
    """Yield subscriptions that a tap would have recorded, then those that no tap covers."""
    width = column_width((one_line(one.key) for one in item.unheard), 32)
    for one in sorted(item.unheard, key=lambda one: not one.recorded):
        told = f"{one_line(one.hook)} ({one.source})" + ("" if one.recorded else ": no tap hears it")
        yield f"{' ' if one.recorded else '?'} {fit_to_width(one_line(one.key), width)}  {told}"


def _unhandled_event_lines(item: EventUsage) -> list[str]:
    width = column_width((one_line(one.key) for one in item.unanswered), 32)
    return [
        f"  {fit_to_width(one_line(one.key), width)}  {one.count:>7,} ×  last {_age_text(one.last)}"
        for one in item.unanswered
    ]

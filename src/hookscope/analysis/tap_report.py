"""The status of a host's taps, what they recorded, and which hooks received events or never did."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hookscope.app.options import Options, command_on
from hookscope.app.snapshot import Snapshot
from hookscope.engine.discovery import discover
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.settings.host_opener import open_host
from hookscope.model.hook_status import FixKind, Gate, HookStatus, State, gate_state
from hookscope.model.host import Host
from hookscope.model.run import EventKind
from hookscope.model.uncalled_hooks import event_kind_of_key
from hookscope.recording.installation import content_digest, installed_taps_of
from hookscope.recording.spool import OLD_SPOOL_FILE, SPOOL_FILE, EventCount, SpoolReader, count_events
from hookscope.recording.taps import TAP_KINDS, InstalledTap, is_tap, spool_path
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import read_current
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.workbench import Workbench

TapFilesState = Literal["installed", "changed", "gone"]
LIST_ADVICE = {FixKind.ADD_TO_LIST: "Add it to", FixKind.TAKE_FROM_LIST: "Remove it from"}
ONLY_HOOKSCOPE_ASKS = (State.UNTRUSTED, State.SILENT)


@dataclass(frozen=True, slots=True)
class TapBlocker:
    """What keeps a host from running a tap, and the next step."""

    gate: str
    reason: str
    next_step: str  # a command, or a sentence


@dataclass(frozen=True, slots=True)
class TapStatus:
    """One installed tap."""

    root: Path
    kind: EventKind
    language: str
    name: str
    events: tuple[str, ...]
    files_state: TapFilesState  # whether its files are unchanged
    blockers: tuple[TapBlocker, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpoolSummary:
    """The content of a spool."""

    folder: Path
    size: int  # bytes
    events: int
    last: datetime | None
    loaded: datetime | None  # when a host last loaded a tap
    pid: int  # of the process that wrote the newest line
    skipped: int  # lines that are not events


@dataclass(frozen=True, slots=True)
class _HostHooks:
    """The hooks of a host, and the command-line options that select the host."""

    host: Host
    rows: tuple[HookStatus, ...]
    options: Options

    def row(self, entry: InstalledTap) -> HookStatus | None:
        return next((row for row in self.rows if is_tap(row.hook, entry.files)), None)


def tap_statuses(bench: Workbench, view: Snapshot) -> tuple[TapStatus, ...]:
    """Return every tap installed for this host, in order of installation."""
    installed = sorted(installed_taps_of(view.host).items(), key=lambda item: item[1].at)
    host_hooks = _HostHooks(view.host, view.inventory.hooks, bench.options)
    shipped = _shipped_host_hooks(bench, view) if installed else None
    return tuple(_tap_status(root, entry, host_hooks, shipped) for root, entry in installed)


def _shipped_host_hooks(bench: Workbench, view: Snapshot) -> _HostHooks | None:
    """Return the shipped program's hooks if the dialect is a guide: the program may require more."""
    shipped = bench.setup.shipped
    if shipped is None or shipped.product != view.host.dialect.product:
        return None
    host = open_host(shipped, view.host.machine, view.host.overrides, trust=view.host.trust)
    return _HostHooks(host, discover(host).hooks, replace(bench.options, dialect=shipped.name))


def _tap_status(
    root: Path, entry: InstalledTap, host_hooks: _HostHooks, shipped: _HostHooks | None
) -> TapStatus:
    files_state = _files_state(entry)
    blockers = tuple(_blockers(entry, host_hooks)) if files_state != "gone" else ()
    notes = [*_notes(entry, host_hooks), *_shipped_differences(entry, shipped, blockers)]
    return TapStatus(
        root, entry.kind, entry.language, entry.name, entry.events, files_state, blockers, tuple(notes)
    )


def _shipped_differences(
    entry: InstalledTap, shipped: _HostHooks | None, blockers: tuple[TapBlocker, ...]
) -> Iterator[str]:
    """Yield what else the shipped program requires, unless it does not find the tap at all."""
    if shipped is not None and shipped.row(entry) is not None:
        known = {blocker.gate for blocker in blockers}
        for blocker in _blockers(entry, shipped):
            if blocker.gate not in known:
                yield f"{shipped.host.dialect.title} will not run it: {blocker.reason}; {blocker.next_step}"


def _files_state(entry: InstalledTap) -> TapFilesState:
    contents = [_read_content(path) for path in entry.files]
    if all(content is None for content in contents):
        return "gone"
    same = [
        content_digest(content) == known
        for content, known in zip(contents, entry.files.values(), strict=True)
    ]
    return "installed" if all(same) else "changed"


def _read_content(path: Path) -> bytes | None:
    try:
        return read_current(path)
    except ChangeError:
        return b""  # it exists but cannot be read


def _blockers(entry: InstalledTap, host_hooks: _HostHooks) -> Iterator[TapBlocker]:
    """Yield every gate that stops the tap at its host. Hookscope's own gates do not count."""
    row = host_hooks.row(entry)
    if row is None:
        yield TapBlocker("found", "the host does not find it", "`hookscope list` shows why.")
        return
    if row.verdict.shadowed_by is not None:
        next_step = f"`{command_on(host_hooks.options, 'info', row.hook.name)}` shows more."
        yield TapBlocker("shadowed", row.verdict.why(), next_step)
    for gate in row.verdict.failed():
        if gate_state(gate) not in ONLY_HOOKSCOPE_ASKS:
            yield TapBlocker(gate.name, gate.reason, _next_step(gate, row, host_hooks))


def _next_step(gate: Gate, row: HookStatus, host_hooks: _HostHooks) -> str:
    name = row.hook.name
    if advice := LIST_ADVICE.get(gate.kind.fix):
        where, file = ".".join(map(str, gate.setting or ())), host_hooks.host.settings.file
        return f"{advice} {where} in {file}."
    if gate_state(gate) is State.OFF and (gate.name != "switch" or row.hook.kind == "folder"):
        return f"`{command_on(host_hooks.options, 'enable', name)}` enables it."
    return f"`{command_on(host_hooks.options, 'info', name)}` shows every check."


def _notes(entry: InstalledTap, host_hooks: _HostHooks) -> Iterator[str]:
    row, product = host_hooks.row(entry), host_hooks.host.dialect.product
    if entry.language == "python" and not _runs_python(host_hooks.host, entry.kind):
        yield f"{product} itself does not run Python: this tap is for programs that embed Hookscope."
    if entry.kind == "stream":
        yield "It is in the project and contains a path on this machine: do not commit it to a repository."
    if not os.path.isdir(entry.spool):
        yield f"It records nothing: {entry.spool} does not exist; `hookscope tap install` creates it."
    elif entry.spool != spool_path(host_hooks.host):
        yield f"It writes to {entry.spool}, but Hookscope reads {spool_path(host_hooks.host)}."
    if row is not None:
        events_by_reason: dict[str, list[str]] = {}
        for event, reason in row.hook.meta.excluded_events.items():
            if event in entry.events:
                events_by_reason.setdefault(reason, []).append(event)
        yield from (
            f"{', '.join(events)} do not reach it: {reason}." for reason, events in events_by_reason.items()
        )


def _runs_python(host: Host, kind: EventKind) -> bool:
    system = host.dialect.system_of(kind)
    return isinstance(system, FolderSystem) and any(name.endswith(".py") for name in system.shape.handlers)


def spool_summary_of(view: Snapshot) -> SpoolSummary:
    """Return a summary of this host's spool. Reads all of it. Raises OSError."""
    folder = spool_path(view.host)
    reading, events, newest, loaded = SpoolReader(folder), 0, None, None
    for recorded in reading:
        if recorded.kind == "loaded":
            loaded = recorded
        else:
            events += 1
            newest = recorded
    writers = [recorded for recorded in (newest, loaded) if recorded is not None]
    return SpoolSummary(
        folder=folder,
        size=sum(_file_size(folder / name) for name in (OLD_SPOOL_FILE, SPOOL_FILE)),
        events=events,
        last=newest.at if newest else None,
        loaded=loaded.at if loaded else None,
        pid=max(writers, key=lambda recorded: recorded.at).pid if writers else 0,
        skipped=reading.skipped,
    )


def _file_size(file: Path) -> int:
    try:
        return os.stat(file).st_size
    except OSError:
        return 0


@dataclass(frozen=True, slots=True)
class NeverReceived:
    """A subscription whose event never arrived. `recorded`: whether a tap would have recorded it."""

    hook: str
    source: str
    state: State
    key: str
    recorded: bool


@dataclass(frozen=True, slots=True)
class EventUsage:
    """Events without hooks, subscriptions without events, and the recording that shows both."""

    since: datetime | None  # start of gapless recording; None: nothing recorded
    loaded: datetime | None  # when a host last loaded a tap
    seen: tuple[EventCount, ...]  # all recorded events, most frequent first
    never_received: tuple[NeverReceived, ...]
    without_hook: tuple[EventCount, ...]  # events of `seen` without a subscriber
    unknown: tuple[str, ...]  # hooks whose events are known only after loading
    skipped: int  # lines of the spool that are not events

    @property
    def count(self) -> int:
        """The number of recorded events."""
        return sum(one.count for one in self.seen)


def event_usage_of(view: Snapshot) -> EventUsage:
    """Compare the whole spool with the hooks of a snapshot. Runs nothing. Raises OSError."""
    host = view.host
    reading = SpoolReader(spool_path(host))
    seen, loaded, oldest = count_events(reading)
    taps = frozenset(file for entry in installed_taps_of(host).values() for file in entry.files)
    rows = [row for row in view.inventory.hooks if _would_run(row) and not is_tap(row.hook, taps)]
    known = [row for row in rows if row.events is not None]
    received_keys = {key for one in seen for key in _subscription_keys(one.key, one.kind, host)}
    return EventUsage(
        since=_recording_since(host, oldest),
        loaded=loaded,
        seen=seen,
        never_received=tuple(_never_received(known, received_keys, host)),
        without_hook=tuple(one for one in seen if not _has_subscriber(one, known, host)),
        unknown=tuple(dict.fromkeys(row.hook.name for row in rows if not row.knows_all_events)),
        skipped=reading.skipped,
    )


def _recording_since(host: Host, oldest: datetime | None) -> datetime | None:
    """Return when recording began: at the install, or at the oldest line of a rotated spool."""
    if os.path.exists(spool_path(host) / OLD_SPOOL_FILE):
        return oldest
    times = [entry.at for entry in installed_taps_of(host).values()]
    return min([*times, *([oldest] if oldest else [])], default=None)


def _would_run(row: HookStatus) -> bool:
    """Return whether the host would run the hook. Hookscope's own gates do not stop a host."""
    return row.verdict.shadowed_by is None and all(
        gate_state(gate) in ONLY_HOOKSCOPE_ASKS for gate in row.verdict.failed()
    )


def _subscription_keys(key: str, kind: EventKind, host: Host) -> tuple[str, ...]:
    """Return the keys under which a subscriber would have received the event."""
    if kind not in host.dialect.kinds:
        return ()
    event = replace(host.dialect.event_of(key), kind=kind)
    if kind != "folder":
        event = replace(event, type=host.dialect.catalogue().canonical(key), action="")
    return host.dialect.system_of(kind).keys(event)


def _never_received(
    rows: Iterable[HookStatus], received_keys: set[str], host: Host
) -> Iterator[NeverReceived]:
    taps = _keys_of_taps(host)
    canonical = host.dialect.catalogue().canonical
    for row in rows:
        for key in dict.fromkeys(map(canonical, row.events or ())):
            kind = event_kind_of_key(key, row)
            if key not in received_keys:
                recorded = not taps[kind].isdisjoint((*_subscription_keys(key, kind, host), key))
                yield NeverReceived(row.hook.name, row.hook.folder.source, row.state, key, recorded)


def _keys_of_taps(host: Host) -> Mapping[EventKind, frozenset[str]]:
    """Return the events that installed taps subscribe to, by kind."""
    taps = installed_taps_of(host).values()
    return {
        kind: frozenset(key for tap in taps if tap.kind == kind for key in tap.events) for kind in TAP_KINDS
    }


def _has_subscriber(event_count: EventCount, rows: Iterable[HookStatus], host: Host) -> bool:
    keys = _subscription_keys(event_count.key, event_count.kind, host)
    canonical = host.dialect.catalogue().canonical
    return any(
        any(
            event_kind_of_key(key, row) == event_count.kind and canonical(key) in keys
            for key in row.events or ()
        )
        for row in rows
    )


@dataclass(frozen=True, slots=True)
class TapReport:
    """The taps, what they recorded, and what that shows about the hooks."""

    taps: tuple[TapStatus, ...]
    recorded: SpoolSummary
    usage: EventUsage


def tap_report_of(bench: Workbench, view: Snapshot) -> TapReport:
    """Return the report. Reads the whole spool; runs nothing. Raises OSError."""
    return TapReport(tap_statuses(bench, view), spool_summary_of(view), event_usage_of(view))

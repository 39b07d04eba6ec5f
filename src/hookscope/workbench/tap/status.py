"""How the taps of a host stand: what is installed, what else the host wants, what was recorded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hookscope.changes import ChangeError, read_now
from hookscope.core.dialect import Host
from hookscope.core.look import look
from hookscope.core.runs import EventKind
from hookscope.core.standing import Gate, Standing, State, gate_state
from hookscope.settings import open_host
from hookscope.systems.folders import FolderSystem
from hookscope.values import dataclass
from hookscope.workbench.options import Options, command_on
from hookscope.workbench.tap.installing import digest, installed_of
from hookscope.workbench.tap.places import spool_place
from hookscope.workbench.tap.record import Installed, is_tap
from hookscope.workbench.tap.spool import FILE, OLD, Reading
from hookscope.workbench.view import View

if TYPE_CHECKING:
    from hookscope.workbench.bench import Workbench

Whole = Literal["installed", "changed", "gone"]
LISTED = ("allow", "deny")  # gates that ask whether a list of the settings names it
HOOKSCOPES_OWN = frozenset({"trusted", "sent"})  # no host asks for these


@dataclass(frozen=True, slots=True)
class Need:
    """What keeps a host from running a tap, and what to do."""

    gate: str
    reason: str
    then: str  # a command, or a sentence


@dataclass(frozen=True, slots=True)
class TapStatus:
    """One installed tap."""

    root: Path
    kind: EventKind
    language: str
    name: str
    events: tuple[str, ...]
    whole: Whole  # are its files as they were written
    needs: tuple[Need, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a spool holds."""

    folder: Path
    size: int  # bytes
    events: int
    last: datetime | None
    loaded: datetime | None  # when a host loaded a tap last
    pid: int  # of the process that wrote the newest line
    skipped: int  # lines that were no events


@dataclass(frozen=True, slots=True)
class _Seen:
    """The hooks of a host, and the options that lead to it."""

    host: Host
    rows: tuple[Standing, ...]
    options: Options

    def row(self, entry: Installed) -> Standing | None:
        return next((row for row in self.rows if is_tap(row.hook, entry.files)), None)


def taps_in(bench: Workbench, view: View) -> tuple[TapStatus, ...]:
    """Every tap that was installed for this host, in order of installing."""
    installed = sorted(installed_of(view.host).items(), key=lambda item: item[1].at)
    here = _Seen(view.host, view.inventory.hooks, bench.options)
    shipped = _as_shipped(bench, view) if installed else None
    return tuple(_status(root, entry, here, shipped) for root, entry in installed)


def _as_shipped(bench: Workbench, view: View) -> _Seen | None:
    """Where a guide is in force, what the program finds: it may want more than its guide says."""
    shipped = bench.setup.shipped
    if shipped is None or shipped.product != view.host.dialect.product:
        return None
    host = open_host(shipped, view.host.surroundings, view.host.choices, trust=view.host.trust)
    return _Seen(host, look(host).hooks, replace(bench.options, dialect=shipped.name))


def _status(root: Path, entry: Installed, here: _Seen, shipped: _Seen | None) -> TapStatus:
    whole = _whole(entry)
    needs = tuple(_needs(entry, here)) if whole != "gone" else ()
    notes = [*_notes(entry, here), *_differences(entry, shipped, needs)]
    return TapStatus(root, entry.kind, entry.language, entry.name, entry.events, whole, needs, tuple(notes))


def _differences(entry: Installed, shipped: _Seen | None, needs: tuple[Need, ...]) -> Iterator[str]:
    """What the program wants besides. A tap that it does not look for is said to be so elsewhere."""
    if shipped is not None and shipped.row(entry) is not None:
        known = {need.gate for need in needs}
        for need in _needs(entry, shipped):
            if need.gate not in known:
                yield f"{shipped.host.dialect.title}: will not run it, {need.reason}; {need.then}"


def _whole(entry: Installed) -> Whole:
    contents = [_content(path) for path in entry.files]
    if all(content is None for content in contents):
        return "gone"
    same = [digest(content) == known for content, known in zip(contents, entry.files.values(), strict=True)]
    return "installed" if all(same) else "changed"


def _content(path: Path) -> bytes | None:
    try:
        return read_now(path)
    except ChangeError:
        return b""  # it is there, and nobody may read it


def _needs(entry: Installed, seen: _Seen) -> Iterator[Need]:
    """Every gate that keeps the host from running it. What only Hookscope asks for is none."""
    row = seen.row(entry)
    if row is None:
        yield Need("found", "it is not among the hooks that are found", "`hookscope list` says why.")
        return
    if row.verdict.shadowed_by is not None:
        then = f"`{command_on(seen.options, 'info', row.hook.name)}` says more."
        yield Need("shadowed", row.verdict.why(), then)
    for gate in row.verdict.shut():
        if gate.name not in HOOKSCOPES_OWN:
            yield Need(gate.name, gate.reason, _then(gate, row, seen))


def _then(gate: Gate, row: Standing, seen: _Seen) -> str:
    name = row.hook.name
    if gate.name in LISTED:
        where, file = ".".join(map(str, gate.setting or ())), seen.host.settings.file
        return f"{'Add it to' if gate.name == 'allow' else 'Take it out of'} {where} in {file}."
    if gate_state(gate) is State.OFF and (gate.name != "switch" or row.hook.kind == "folder"):
        return f"`{command_on(seen.options, 'enable', name)}` switches it on."
    return f"`{command_on(seen.options, 'info', name)}` shows every check."


def _notes(entry: Installed, seen: _Seen) -> Iterator[str]:
    row, product = seen.row(entry), seen.host.dialect.product
    if entry.language == "python" and not _runs_python(seen.host, entry.kind):
        yield f"{product} itself runs no Python: this tap is for programs that embed Hookscope."
    if entry.kind == "stream":
        yield "It stands in the project and names a folder of this machine: it is not for the repository."
    if not os.path.isdir(entry.spool):
        yield f"It records nothing: the folder {entry.spool} is gone; `hookscope tap install` makes it."
    elif entry.spool != spool_place(seen.host):
        yield f"It writes to {entry.spool}, which is not where it is looked for."
    if row is not None:
        barred: dict[str, list[str]] = {}
        for event, reason in row.hook.meta.barred.items():
            if event in entry.events:
                barred.setdefault(reason, []).append(event)
        yield from (f"{', '.join(events)} do not reach it: {reason}." for reason, events in barred.items())


def _runs_python(host: Host, kind: EventKind) -> bool:
    """Is a Python handler among the names that the host itself looks for."""
    system = host.dialect.system_of(kind)
    return isinstance(system, FolderSystem) and any(name.endswith(".py") for name in system.shape.handlers)


def recorded_in(view: View) -> Recorded:
    """What the spool of this host holds. Reads all of it. Raises OSError."""
    folder = spool_place(view.host)
    reading, events, newest, loaded = Reading(folder), 0, None, None
    for heard in reading:
        if heard.kind == "loaded":
            loaded = heard
        else:
            events += 1
            newest = heard
    writers = [heard for heard in (newest, loaded) if heard is not None]
    return Recorded(
        folder=folder,
        size=sum(_size(folder / name) for name in (OLD, FILE)),
        events=events,
        last=newest.at if newest else None,
        loaded=loaded.at if loaded else None,
        pid=max(writers, key=lambda heard: heard.at).pid if writers else 0,
        skipped=reading.skipped,
    )


def _size(file: Path) -> int:
    try:
        return os.stat(file).st_size
    except OSError:
        return 0

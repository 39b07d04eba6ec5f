"""What real events say of the hooks: who listens to what never came, and what came that nobody listens to.

Over the spool alone, and so for as long as the taps have recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime

from hookscope.core.bystanders import kind_of_key
from hookscope.core.dialect import Host
from hookscope.core.runs import EventKind
from hookscope.core.standing import Standing, State
from hookscope.values import dataclass
from hookscope.workbench.tap.installing import installed_of
from hookscope.workbench.tap.places import spool_place
from hookscope.workbench.tap.record import KINDS, is_tap
from hookscope.workbench.tap.spool import OLD, Heard, Reading
from hookscope.workbench.tap.status import HOOKSCOPES_OWN
from hookscope.workbench.view import View


@dataclass(frozen=True, slots=True)
class Seen:
    """An event that came: how often, first and last, in how many sessions."""

    key: str
    kind: EventKind
    count: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class Unheard:
    """A hook that listens to what never came. `recorded` is False where no tap would have heard it."""

    hook: str
    source: str
    state: State
    key: str
    recorded: bool


@dataclass(frozen=True, slots=True)
class Lists:
    """Both lists, and what they rest on."""

    since: datetime | None  # since when taps record without a gap; None: nothing was ever recorded
    loaded: datetime | None  # when a host loaded a tap last
    seen: tuple[Seen, ...]  # all that came, most often first
    unheard: tuple[Unheard, ...]
    unanswered: tuple[Seen, ...]  # those of `seen` that nobody listens to
    unknown: tuple[str, ...]  # hooks of which only a load tells what they listen to
    skipped: int  # lines of the spool that were no events

    @property
    def count(self) -> int:
        """How many real events were seen."""
        return sum(one.count for one in self.seen)


def lists_of(view: View) -> Lists:
    """Read the whole spool and compare it with the hooks of this view. Runs nothing. Raises OSError."""
    host = view.host
    reading = Reading(spool_place(host))
    seen, loaded, oldest = counted(reading)
    taps = frozenset(file for entry in installed_of(host).values() for file in entry.files)
    rows = [row for row in view.inventory.hooks if _runs(row) and not is_tap(row.hook, taps)]
    known = [row for row in rows if row.events is not None]
    heard = {key for one in seen for key in _keys(one.key, one.kind, host)}
    return Lists(
        since=_since(host, oldest),
        loaded=loaded,
        seen=seen,
        unheard=tuple(_unheard(known, heard, host)),
        unanswered=tuple(one for one in seen if not _listened(one, known, host)),
        unknown=tuple(dict.fromkeys(row.hook.name for row in rows if row.events is None)),
        skipped=reading.skipped,
    )


def counted(events: Iterable[Heard]) -> tuple[tuple[Seen, ...], datetime | None, datetime | None]:
    """What came, when a tap was last loaded, and the moment of the oldest line."""
    seen: dict[tuple[EventKind, str], Seen] = {}
    loaded = oldest = None
    for heard in events:
        oldest = min(oldest or heard.at, heard.at)
        if heard.kind == "loaded":
            loaded = max(loaded or heard.at, heard.at)
            continue
        before = seen.get((heard.kind, heard.key))
        if before is None:
            seen[heard.kind, heard.key] = Seen(heard.key, heard.kind, 1, heard.at, heard.at)
        else:
            seen[heard.kind, heard.key] = replace(
                before,
                count=before.count + 1,
                first=min(before.first, heard.at),
                last=max(before.last, heard.at),
            )
    return tuple(sorted(seen.values(), key=lambda one: (-one.count, one.key))), loaded, oldest


def _since(host: Host, oldest: datetime | None) -> datetime | None:
    """Since the install; where the spool was turned, since its oldest line."""
    if os.path.exists(spool_place(host) / OLD):
        return oldest
    times = [entry.at for entry in installed_of(host).values()]
    return min([*times, *([oldest] if oldest else [])], default=None)


def _runs(row: Standing) -> bool:
    """Would the host run it, as far as is known: what only Hookscope asks for stops no host."""
    return row.verdict.shadowed_by is None and all(gate.name in HOOKSCOPES_OWN for gate in row.verdict.shut())


def _keys(key: str, kind: EventKind, host: Host) -> tuple[str, ...]:
    """The keys under which a listener would have heard the event."""
    if kind not in host.dialect.kinds:
        return ()
    event = replace(host.dialect.event_of(key), kind=kind)
    if kind != "folder":
        event = replace(event, type=host.dialect.catalogue().canonical(key), action="")
    return host.dialect.system_of(kind).keys(event)


def _unheard(rows: Iterable[Standing], heard: set[str], host: Host) -> Iterator[Unheard]:
    taps = _heard_by_taps(host)
    canonical = host.dialect.catalogue().canonical
    for row in rows:
        for key in dict.fromkeys(map(canonical, row.events or ())):
            kind = kind_of_key(key, row)
            if key not in heard:
                recorded = not taps[kind].isdisjoint((*_keys(key, kind, host), key))
                yield Unheard(row.hook.name, row.hook.folder.source, row.state, key, recorded)


def _heard_by_taps(host: Host) -> Mapping[EventKind, frozenset[str]]:
    """The keys that installed taps listen to, by kind."""
    taps = installed_of(host).values()
    return {kind: frozenset(key for tap in taps if tap.kind == kind for key in tap.events) for kind in KINDS}


def _listened(one: Seen, rows: Iterable[Standing], host: Host) -> bool:
    keys = _keys(one.key, one.kind, host)
    canonical = host.dialect.catalogue().canonical
    return any(
        any(kind_of_key(key, row) == one.kind and canonical(key) in keys for key in row.events or ())
        for row in rows
    )

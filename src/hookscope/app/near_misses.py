"""Hooks that nearly received an event, and hooks whose event name is probably a typo. Pure."""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING

from hookscope.app.snapshot import Snapshot
from hookscope.model.event_catalogue import Catalogue
from hookscope.model.event_typos import NO_TYPO, typo_entry
from hookscope.model.hook import Hook
from hookscope.model.run import EventKind, NotRun, Plan
from hookscope.model.text import closest_match
from hookscope.model.uncalled_hooks import UncalledHook, event_kind_of_key, event_kinds
from hookscope.recording.taps import TAP_NAME
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.model.hook_status import HookStatus

MOST_COMPARED_KEYS = 100  # of one hook
LATER_EVENTS = "a condition is not met, or it registers the handler later, such as when a service starts"
KINDS = {"folder": "a HOOK.md hook", "plugin": "a plugin", "stream": "a stream hook"}


class MissRank(IntEnum):
    """The rank of a near miss: certain mistakes come first."""

    SPELLING = 0
    NAME = 1
    TYPO = 2
    KIND = 3
    FAMILY = 4


@dataclass(frozen=True, slots=True)
class NearMiss:
    """How one event name of a hook relates to the fired event."""

    rank: MissRank
    text: str  # continues `subscribes to KEY`


def with_near_misses(plan: Plan, view: Snapshot) -> Plan:
    """Return the plan with near misses in `not_run`, nearest first, each with what is missing."""
    search = _NearMissSearch(plan, view)
    found = [miss for hook in view.uncalled_hooks if (miss := search.miss_of(hook)) is not None]
    if not found:
        return plan
    near_ones = [item for _, item in sorted(found, key=lambda one: one[0])]
    hooks = {item.hook for item in near_ones}
    rest = [item for item in plan.not_run if item.hook is None or item.hook not in hooks]
    split = next((at for at, item in enumerate(rest) if not item.subscribed), len(rest))
    return replace(plan, not_run=(*rest[:split], *near_ones, *rest[split:]))


class _NearMissSearch:
    """Finds near misses of uncalled hooks. Caches them: thousands of hooks subscribe to few events."""

    def __init__(self, plan: Plan, view: Snapshot) -> None:
        self._plan, self._key, self._kind = plan, plan.event.key, plan.event.kind
        dialect = view.host.dialect
        self._catalogue, self._crosses = dialect.catalogue(), dialect.load_rules.plugins_use_folder_events
        self._called = {call.hook for call in plan.calls}
        self._not_run_of = {item.hook: item for item in plan.not_run if item.hook is not None}
        self._by_key: dict[tuple[str, EventKind], NearMiss | None] = {}
        self._by_subscription: dict[object, tuple[MissRank, str] | None] = {}

    def miss_of(self, info: UncalledHook) -> tuple[MissRank, NotRun] | None:
        """Return the rank of a hook's near miss, and its `NotRun` for the plan; None without a near miss."""
        if info.hook in self._called or info.shadowed:
            return None
        if _unregistered_plugin(info, self._key, self._kind):
            text = f"its code names {self._key}, but its `register` added no handler for it: {LATER_EVENTS}"
            line = NotRun(info.hook.name, text, info.hook, subscribed=False, near_miss=text)
            return MissRank.SPELLING, line
        if not info.events or self._plan.only not in (None, info.hook.name):
            return None
        subscription = (info.events, info.kind, info.folder_events)
        if subscription not in self._by_subscription:
            self._by_subscription[subscription] = self._nearest(info)
        near, known = self._by_subscription[subscription], self._not_run_of.get(info.hook)
        if near is None or (known is not None and known.subscribed) or _tap_miss(info.hook):
            return None
        rank, sentence = near
        reason = f"subscribes to {', '.join(info.events)}"
        line = known or NotRun(info.hook.name, reason, info.hook, subscribed=False)
        stopped = "" if line.reason.startswith("subscribes to") else f" (and {line.reason})"
        return rank, replace(line, near_miss=sentence + stopped)

    def _nearest(self, info: UncalledHook) -> tuple[MissRank, str] | None:
        """Return the best rank, and a sentence with its first key; for `MissRank.FAMILY`, with all keys."""
        if self._kind == "plugin" and self._key in info.folder_events:
            text = f"subscribes to {self._key} with `registerHook` – a plugin receives this event with `on`"
            return MissRank.NAME, text
        found = []
        for key in dict.fromkeys(info.events or ()):
            kind: EventKind = "folder" if key in info.folder_events else info.kind
            if (near := self._near_miss(key, kind)) is not None:
                found.append((key, near))
        if not found:
            return None
        rank = min(near.rank for _, near in found)
        best = [(key, near) for key, near in found if near.rank is rank]
        keys = [key for key, _ in best]
        text = best[0][1].text
        return rank, f"subscribes to {', '.join(keys if rank is MissRank.FAMILY else keys[:1])}{text}"

    def _near_miss(self, key: str, kind: EventKind) -> NearMiss | None:
        if (key, kind) not in self._by_key:
            self._by_key[key, kind] = near_miss(
                key, kind, self._key, self._kind, self._catalogue, crosses=self._crosses
            )
        return self._by_key[key, kind]


def _unregistered_plugin(hook_info: UncalledHook, event: str, kind: EventKind) -> bool:
    """Return whether a loaded plugin's code names the event but did not register for it."""
    if not hook_info.kind == kind == "plugin" or hook_info.events is None or event in hook_info.events:
        return False
    return event in (hook_info.hook.meta.events or ()) and not _tap_miss(hook_info.hook)


def _tap_miss(hook: Hook) -> bool:
    return hook.name.rpartition("/")[2].startswith(TAP_NAME)


def near_miss(
    key: str, hook_kind: EventKind, event: str, kind: EventKind, catalogue: Catalogue, *, crosses: bool
) -> NearMiss | None:
    """Return how a hook of kind `hook_kind` subscribed to `key` relates to the event; None: not at all.

    `crosses`: plugins may receive folder events too, by another call.
    """
    write = f"write {event} to receive this"
    is_closest = closest_match(key, [event]) == event
    listed = typo_entry(key, catalogue.typos()) or NO_TYPO
    what = _event_description(key, listed.why, catalogue)
    if hook_kind != kind:
        if event in listed.plugin:
            return NearMiss(MissRank.NAME, f" – {what}; only a plugin receives {event}")
        if key == event and crosses and (hook_kind, kind) == ("plugin", "folder"):
            return NearMiss(MissRank.NAME, " with `on` – a plugin receives this event with `registerHook`")
        if key == event:
            sent = [one for one in listed.instead if catalogue.sends(one, hook_kind)]
            next_step = f"; {' or '.join(sent)} is the equivalent for {KINDS[hook_kind]}" if sent else ""
            return NearMiss(
                MissRank.NAME, f" as {KINDS[hook_kind]} – only {KINDS[kind]} receives it{next_step}"
            )
        if is_closest or event in listed.instead:
            return NearMiss(
                MissRank.KIND, f" as {KINDS[hook_kind]} – that is a different event; fire {key} instead"
            )
        return None
    if key.lower() == event.lower():
        return NearMiss(MissRank.SPELLING, f" – event names are case-sensitive; {write}")
    family, _, action = event.partition(":")
    if kind == "folder" and key == f"{family}:*":
        return NearMiss(MissRank.SPELLING, f" – there are no wildcards; write {family} for all of its events")
    if event in listed.instead and not catalogue.sends(key, kind):
        return NearMiss(MissRank.NAME, f" – {what}; {write}")
    if event in listed.near and not catalogue.sends(key, kind):
        return NearMiss(MissRank.NAME, f" – {what}; the closest match is {event}")
    documented = catalogue.keys_of(kind)
    if is_closest and key not in documented and closest_match(key, {*documented, event}) == event:
        return NearMiss(MissRank.TYPO, f" – no host sends that; {write}")
    if event not in documented and key in documented and closest_match(event, documented) == key:
        return NearMiss(MissRank.TYPO, f" – perhaps you meant this; the host has no event {event}")
    if kind == "folder" and ":" in key and key.partition(":")[0] == family:
        if not action:
            return NearMiss(MissRank.FAMILY, f" – only the type was fired; fire {key} instead")
        return NearMiss(
            MissRank.FAMILY, f" – a different action; to receive this, list {event} or {family} in its events"
        )
    return None


def _event_description(key: str, why: str, catalogue: Catalogue) -> str:
    known = catalogue.by_key.get(key)
    of_plugins = known is not None and known.kind == "plugin"
    return why or ("only plugins receive it" if of_plugins else "the host has no such event")


def event_typo(row: HookStatus, view: Snapshot) -> tuple[str, str] | None:
    """Return a key of the hook that its host does not document, and the closest documented key."""
    catalogue = view.host.dialect.catalogue()
    keys = (row.events or ())[:MOST_COMPARED_KEYS]
    strange = [key for key in keys if catalogue.registry_key(key) not in catalogue.by_key]
    if not strange:
        return None
    known = {kind: catalogue.keys_of(kind) for kind in event_kinds(row)}
    return next(
        (
            (key, closest)
            for key in strange
            if (closest := closest_match(key, known[event_kind_of_key(key, row)]))
        ),
        None,
    )


def unsent_event_hint(row: HookStatus, view: Snapshot) -> str:
    """Return a sentence about the first event of a hook that its host never sends, with the number of others.

    Empty if this host, or another version of it, sends all of them.
    """
    host = view.host
    typo = event_typo(row, view)
    if typo is not None:
        return f"{host.dialect.product} has no event {typo[0]}; did you mean {typo[1]}?"
    catalogue = host.dialect.catalogue()
    later = {**host.dialect.later_events, **host.dialect.later_plugin_events}
    dead = [
        key
        for key in dict.fromkeys(row.events or ())
        if key not in later and not catalogue.sends(key, event_kind_of_key(key, row))
    ]
    if not dead:
        return ""
    from hookscope.engine.discovery import unsent_event_notes

    more = f" (and {len(dead) - 1} more like it)" if len(dead) > 1 else ""
    return next(iter(unsent_event_notes(dead[:1], row.hook, host, row.folder_events)), "") + more

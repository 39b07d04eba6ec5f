"""Hooks that nearly received an event, and hooks whose event name is probably a typo. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from hookscope.recording.installed_taps import TAP_NAME
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.model.hook_status import HookStatus


LATER_EVENTS = "a condition does not hold, or that is left to later, as to the start of a service"
KINDS = {"folder": "a HOOK.md hook", "plugin": "a plugin", "stream": "a stream hook"}


class MissRank(IntEnum):
    """How near a miss is; certain mistakes first."""

    SPELLING = 0
    NAME = 1
    TYPO = 2
    KIND = 3
    FAMILY = 4


@dataclass(frozen=True, slots=True)
class NearMiss:
    """How one event name of a hook relates to the fired event."""

    rank: MissRank
    text: str  # continues `listens to KEY`


def with_near_misses(plan: Plan, view: Snapshot) -> Plan:
    """Return the plan with near misses in `not_run`, nearest first, each with what is missing."""
    known: dict[tuple[str, EventKind], NearMiss | None] = {}
    catalogue, crosses = view.host.dialect.catalogue(), view.host.dialect.load_rules.plugins_use_folder_events
    event, kind = plan.event.key, plan.event.kind

    def miss_of(key: str, hears: EventKind) -> NearMiss | None:
        if (key, hears) not in known:
            known[key, hears] = near_miss(key, hears, event, kind, catalogue, crosses=crosses)
        return known[key, hears]

    called = {call.hook for call in plan.calls}
    found: list[tuple[MissRank, NotRun]] = []
    not_run = list(plan.not_run)
    position_of = {item.hook: at for at, item in enumerate(not_run) if item.hook is not None}
    nearest: dict[object, tuple[MissRank, str] | None] = {}
    for hook_info in view.uncalled_hooks:
        if (
            _unregistered_plugin(hook_info, event, kind)
            and hook_info.hook not in called
            and not hook_info.shadowed
        ):
            text = f"its code names {event}, and its `register` did not register that: {LATER_EVENTS}"
            found.append(
                (
                    MissRank.SPELLING,
                    NotRun(hook_info.hook.name, text, hook_info.hook, subscribed=False, near_miss=text),
                )
            )
            continue
        if not hook_info.events or hook_info.shadowed or plan.only not in (None, hook_info.hook.name):
            continue
        subscription = (
            hook_info.events,
            hook_info.kind,
            hook_info.folder_events,
        )  # thousands of hooks subscribe to few events
        if subscription not in nearest:
            kinds = {
                key: "folder" if key in hook_info.folder_events else hook_info.kind
                for key in hook_info.events
            }
            nearest[subscription] = _nearest(kinds, miss_of)
            if kind == "plugin" and event in hook_info.folder_events:
                text = f"listens to {event} with `registerHook` – a plugin hears that with `on`"
                nearest[subscription] = MissRank.NAME, text
        near = nearest[subscription]
        at = position_of.get(hook_info.hook)
        if (
            near is None
            or hook_info.hook in called
            or (at is not None and not_run[at].subscribed)
            or _tap_miss(hook_info.hook)
        ):
            continue
        rank, sentence = near
        reason = f"listens to {', '.join(hook_info.events)}"
        item = (
            not_run[at]
            if at is not None
            else NotRun(hook_info.hook.name, reason, hook_info.hook, subscribed=False)
        )
        stopped = "" if item.reason.startswith("listens to") else f" (and {item.reason})"
        found.append((rank, replace(item, near_miss=sentence + stopped)))
    if not found:
        return plan
    near_ones = [item for _, item in sorted(found, key=lambda one: one[0])]
    hooks = {item.hook for item in near_ones}
    rest = [item for item in not_run if item.hook is None or item.hook not in hooks]
    split = next((at for at, item in enumerate(rest) if not item.subscribed), len(rest))
    return replace(plan, not_run=(*rest[:split], *near_ones, *rest[split:]))


def _unregistered_plugin(hook_info: UncalledHook, event: str, kind: EventKind) -> bool:
    """Return whether a loaded plugin's code names the event but did not register for it."""
    if not hook_info.kind == kind == "plugin" or hook_info.events is None or event in hook_info.events:
        return False
    return event in (hook_info.hook.meta.events or ()) and not _tap_miss(hook_info.hook)


def _tap_miss(hook: Hook) -> bool:
    return hook.name.rpartition("/")[2].startswith(TAP_NAME)


def _nearest(
    kinds: Mapping[str, EventKind], miss_of: Callable[[str, EventKind], NearMiss | None]
) -> tuple[MissRank, str] | None:
    """Return the nearest of a hook's keys; all of them if they are other actions of one family."""
    found = [(key, near) for key, kind in kinds.items() if (near := miss_of(key, kind)) is not None]
    if not found:
        return None
    rank = min(near.rank for _, near in found)
    keys = [key for key, near in found if near.rank is rank]
    text = next(near.text for _, near in found if near.rank is rank)
    return rank, f"listens to {', '.join(keys if rank is MissRank.FAMILY else keys[:1])}{text}"


def near_miss(
    key: str,
    hook_kind: EventKind,
    event: str,
    kind: EventKind,
    catalogue: Catalogue,
    *,
    crosses: bool = False,
) -> NearMiss | None:
    """Return how a hook of kind `hook_kind` subscribed to `key` relates to the event; None: not at all.

    `crosses`: plugins may receive folder events too, by another call.
    """
    write = f"write {event} to hear this"
    is_closest = closest_match(key, [event]) == event
    listed = typo_entry(key, catalogue.typos()) or NO_TYPO
    what = _event_description(key, listed.why, catalogue)
    if hook_kind != kind:
        if event in listed.plugin:
            return NearMiss(MissRank.NAME, f" – {what}; only a plugin hears {event}")
        if key == event and crosses and (hook_kind, kind) == ("plugin", "folder"):
            return NearMiss(MissRank.NAME, " with `on` – a plugin hears that with `registerHook`")
        if key == event:
            sent = [one for one in listed.instead if catalogue.sends(one, hook_kind)]
            next_step = f"; {' or '.join(sent)} is the same for {KINDS[hook_kind]}" if sent else ""
            return NearMiss(
                MissRank.NAME, f" as {KINDS[hook_kind]} – only {KINDS[kind]} hears that{next_step}"
            )
        if is_closest or event in listed.instead:
            return NearMiss(
                MissRank.KIND, f" as {KINDS[hook_kind]} – that is another event; fire {key} for it"
            )
        return None
    if key.lower() == event.lower():
        return NearMiss(MissRank.SPELLING, f" – keys are compared letter by letter; {write}")
    family, _, action = event.partition(":")
    if kind == "folder" and key == f"{family}:*":
        return NearMiss(
            MissRank.SPELLING, f" – there are no wildcards; write {family}, which is all of its events"
        )
    if event in listed.instead and not catalogue.sends(key, kind):
        return NearMiss(MissRank.NAME, f" – {what}; {write}")
    if event in listed.near and not catalogue.sends(key, kind):
        return NearMiss(MissRank.NAME, f" – {what}; {event} comes nearest")
    documented = catalogue.keys_of(kind)
    if is_closest and key not in documented and closest_match(key, {*documented, event}) == event:
        return NearMiss(MissRank.TYPO, f" – nobody sends that; {write}")
    if event not in documented and key in documented and closest_match(event, documented) == key:
        return NearMiss(MissRank.TYPO, f" – perhaps that was to be fired; {event} is no event of the host")
    if kind == "folder" and ":" in key and key.partition(":")[0] == family:
        if not action:
            return NearMiss(MissRank.FAMILY, f" – the type alone was fired; fire {key} for it")
        return NearMiss(MissRank.FAMILY, f" – another action; {event} or {family} in its events hears this")
    return None


def _event_description(key: str, why: str, catalogue: Catalogue) -> str:
    known = catalogue.by_key.get(key)
    of_plugins = known is not None and known.kind == "plugin"
    return why or ("only plugins hear it" if of_plugins else "the host has no such event")


def event_typo(row: HookStatus, view: Snapshot) -> tuple[str, str] | None:
    """Return a key of the hook that its host does not document, and the closest documented key."""
    catalogue = view.host.dialect.catalogue()
    strange = [key for key in row.events or () if catalogue.registry_key(key) not in catalogue.by_key]
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
    """Return the first event of a hook that its host never sends, and the number of others.

    Empty if the host sends them all, or another version of it does.
    """
    host = view.host
    slip = event_typo(row, view)
    if slip is not None:
        return f"{host.dialect.product} lists no {slip[0]}; did you mean {slip[1]}?"
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

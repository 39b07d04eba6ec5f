"""Hooks that an event does not call: the reason for each, and which are listed or counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hookscope.model.hook import Hook
from hookscope.model.hook_status import HookStatus, Inventory, State
from hookscope.model.host import Host
from hookscope.model.run import EventKind, NotRun
from hookscope.values import dataclass

EVENTS_KNOWN_AFTER_LOAD = "the hook's events are known after a load"


@dataclass(frozen=True, slots=True, eq=False)
class UncalledHook:
    """A hook, and what to report about it for events that do not call it."""

    hook: Hook
    kind: EventKind  # of its events
    events: tuple[str, ...] | None  # None: only a load can tell
    knows_all_events: bool  # False: `events` may not be all
    folder_events: frozenset[str]  # folder events among a plugin's events
    may_use_folder_events: bool  # a plugin that may receive folder events
    shadowed: bool
    author_expects_run: bool  # its events are at fault, so its author expects it to run
    if_subscribed: NotRun  # its entry for events that it subscribes to
    if_not_subscribed: NotRun  # its entry for other events


def uncalled_hooks_of(inventory: Inventory, host: Host) -> tuple[UncalledHook, ...]:
    """Return an entry for every hook of the inventory, in order."""
    return tuple(_uncalled_hook(row, host) for row in inventory.hooks)


def uncalled_by_event(
    candidates: Sequence[UncalledHook], registered: Collection[Hook], keys: Sequence[str], kind: EventKind
) -> list[NotRun]:
    """Return every unregistered hook of the event's kind; those subscribed to the event first."""
    subscribed: list[NotRun] = []
    others: list[NotRun] = []
    matches: dict[object, bool] = {}  # thousands of hooks share few events
    for one in candidates:
        crosses = kind == "folder" and one.may_use_folder_events
        if (one.kind != kind and not crosses) or one.hook in registered:
            continue
        subscription = one.events, one.knows_all_events, one.folder_events, crosses
        if subscription not in matches:
            matches[subscription] = not one.knows_all_events or any(
                key in keys for key in one.events or () if (key in one.folder_events) is crosses
            )
        if matches[subscription]:
            subscribed.append(one.if_subscribed)
        elif one.author_expects_run:
            subscribed.append(one.if_not_subscribed)
        else:
            others.append(one.if_not_subscribed)
    return subscribed + others


def event_kind(hook: Hook) -> EventKind:
    """Return the kind of events that a hook receives. A plugin may also receive folder events."""
    return hook.kind if hook.kind in ("stream", "plugin") else "folder"


def event_kind_of_key(key: str, row: HookStatus) -> EventKind:
    """Return the kind of an event that this hook subscribes to."""
    return "folder" if key in row.folder_events else event_kind(row.hook)


def event_kinds(row: HookStatus) -> frozenset[EventKind]:
    """Return all kinds of events that this hook subscribes to."""
    return frozenset((event_kind(row.hook), *(("folder",) if row.folder_events else ())))


def may_be_called(row: HookStatus) -> bool:
    """Return whether the hook can run, apart from events that the host never sends."""
    return row.state in (State.READY, State.SILENT)


def _uncalled_hook(row: HookStatus, host: Host) -> UncalledHook:
    state, events, hook = row.state, row.events, row.hook
    shadowed = state is State.SHADOWED
    reason = "the hook is not registered now"
    if not may_be_called(row):
        why = row.verdict.why(host.machine.short)
        reason = other_reason = why if shadowed else f"{state}: {why}"
    elif events is None:
        reason = other_reason = EVENTS_KNOWN_AFTER_LOAD
    elif row.unread_registrations:
        other_reason = f"registers {row.events_text}"
    else:
        other_reason = f"subscribes to {', '.join(events)}"
    expects = any(gate.name in ("events", "fields") for gate in row.verdict.failed())
    if_subscribed, if_not_subscribed = (
        NotRun(hook.name, reason, hook),
        NotRun(hook.name, other_reason, hook, subscribed=expects),
    )
    events_unknown = (
        not row.knows_all_events
        and hook.kind == "plugin"
        and host.dialect.load_rules.plugins_use_folder_events
    )
    crosses = bool(row.folder_events) or events_unknown
    return UncalledHook(
        hook,
        event_kind(hook),
        events,
        row.knows_all_events,
        row.folder_events,
        crosses,
        shadowed,
        expects,
        if_subscribed,
        if_not_subscribed,
    )


MOST_NEAR_MISSES = 6  # near misses listed; more would hide the plan


def excluded_reason(only: str) -> str:
    """Return the reason of a hook that does not run because another one was requested."""
    return f"skipped: only {only} was requested"


def split_excluded(not_run: Sequence[NotRun]) -> tuple[list[NotRun], list[NotRun]]:
    """Return the entries of hooks that were not requested, and all others."""
    not_requested = [item for item in not_run if item.exclusion == "unasked"]
    return not_requested, [item for item in not_run if item.exclusion != "unasked"]


def split_listed(not_run: Sequence[NotRun]) -> tuple[list[NotRun], list[NotRun]]:
    """Return the entries to list (subscribed hooks, then the closest misses), and all others."""
    subscribed = [item for item in not_run if item.subscribed]
    near_misses = [item for item in not_run if item.near_miss and not item.subscribed][:MOST_NEAR_MISSES]
    listed_ids = set(map(id, near_misses))  # by id: comparing thousands by value is slow
    return subscribed + near_misses, [
        item for item in not_run if not item.subscribed and id(item) not in listed_ids
    ]


def not_called_reason(item: NotRun) -> str:
    """Return why a hook was not called; for a near miss, the change that would make it run."""
    return item.near_miss or item.reason

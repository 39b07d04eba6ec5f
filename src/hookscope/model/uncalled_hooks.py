"""Hooks that an event does not call: the reason for each, and which are listed or counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hookscope.model.hook import Hook
from hookscope.model.hook_status import HookStatus, State
from hookscope.model.host import Host
from hookscope.model.inventory import Inventory
from hookscope.model.run import EventKind, NotRun
from hookscope.values import dataclass

EVENTS_KNOWN_AFTER_LOAD = "which events it hears is known after a load"


@dataclass(frozen=True, slots=True, eq=False)
class UncalledHook:
    """A hook, and what to report about it for events that do not call it."""

    hook: Hook
    kind: EventKind  # of its events
    events: tuple[str, ...] | None  # None: only a load can tell
    of_folders: frozenset[str]  # folder events among a plugin's events
    crosses: bool  # a plugin that may receive folder events
    shadowed: bool
    expects: bool  # its events are at fault, so its author expects it to run
    own: NotRun  # its entry for events that it subscribes to
    aside: NotRun  # its entry for other events


def uncalled_hooks_of(inventory: Inventory, host: Host) -> tuple[UncalledHook, ...]:
    """Return an entry for every hook of the inventory, in order."""
    return tuple(_uncalled_hook(row, host) for row in inventory.hooks)


def uncalled_by_event(
    bystanders: Sequence[UncalledHook], registered: Collection[Hook], keys: Sequence[str], kind: EventKind
) -> list[NotRun]:
    """Return every unregistered hook of the event's kind; those subscribed to the event first."""
    missed: list[NotRun] = []
    others: list[NotRun] = []
    known: dict[object, bool] = {}  # thousands of hooks share few events
    for one in bystanders:
        crosses = kind == "folder" and one.crosses
        if (one.kind != kind and not crosses) or one.hook in registered:
            continue
        heard = one.events, one.of_folders, crosses
        if heard not in known:
            known[heard] = one.events is None or any(
                key in keys for key in one.events if (key in one.of_folders) is crosses
            )
        if known[heard]:
            missed.append(one.own)
        elif one.expects:
            missed.append(one.aside)
        else:
            others.append(one.aside)
    return missed + others


def event_kind(hook: Hook) -> EventKind:
    """Return the kind of events of a hook. A plugin may also receive folder events."""
    return hook.kind if hook.kind in ("stream", "plugin") else "folder"


def event_kind_of_key(key: str, row: HookStatus) -> EventKind:
    """Return the kind of an event that this hook subscribes to."""
    return "folder" if key in row.of_folders else event_kind(row.hook)


def event_kinds(row: HookStatus) -> frozenset[EventKind]:
    """Return all kinds of events that this hook subscribes to."""
    return frozenset((event_kind(row.hook), *(("folder",) if row.of_folders else ())))


def may_be_called(row: HookStatus) -> bool:
    """Return whether the hook can run, apart from events that the host never sends."""
    return row.state in (State.READY, State.SILENT)


def _uncalled_hook(row: HookStatus, host: Host) -> UncalledHook:
    state, events, hook = row.state, row.events, row.hook
    shadowed = state is State.SHADOWED
    here = "it is not registered now"
    if not may_be_called(row):
        why = row.verdict.why(host.surroundings.short)
        here = elsewhere = why if shadowed else f"{state}: {why}"
    elif events is None:
        here = elsewhere = EVENTS_KNOWN_AFTER_LOAD
    else:
        elsewhere = f"listens to {', '.join(events)}"
    expects = any(gate.name in ("events", "fields") for gate in row.verdict.shut())
    own, aside = NotRun(hook.name, here, hook), NotRun(hook.name, elsewhere, hook, listens=expects)
    unknown = events is None and hook.kind == "plugin" and host.dialect.load_rules.crosses
    crosses = bool(row.of_folders) or unknown
    return UncalledHook(
        hook, event_kind(hook), events, row.of_folders, crosses, shadowed, expects, own, aside
    )


MOST_NEAR_MISSES = 6  # near misses listed; more would hide the plan


def excluded_reason(only: str) -> str:
    """Return the reason of a hook that does not run because another one was requested."""
    return f"left out: only {only} was asked for"


def split_excluded(left: Sequence[NotRun]) -> tuple[list[NotRun], list[NotRun]]:
    """Return the entries that were not requested, and all others."""
    aside = [item for item in left if item.left_out == "unasked"]
    return aside, [item for item in left if item.left_out != "unasked"]


def split_listed(left: Sequence[NotRun]) -> tuple[list[NotRun], list[NotRun]]:
    """Return the entries to list (subscribed hooks, then the closest misses), and all others."""
    listening = [item for item in left if item.listens]
    near = [item for item in left if item.near and not item.listens][:MOST_NEAR_MISSES]
    told = set(map(id, near))  # by id: comparing thousands by value is slow
    return listening + near, [item for item in left if not item.listens and id(item) not in told]


def not_called_reason(item: NotRun) -> str:
    """Return why a hook was not called; for a near miss, what it would take."""
    return item.near or item.reason

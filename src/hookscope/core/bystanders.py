"""What can be said of every hook as long as no event calls it: worked out once for all events. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Inventory
from hookscope.core.runs import EventKind, NotRun
from hookscope.core.standing import Standing, State
from hookscope.values import dataclass

KNOWN_AFTER_LOAD = "which events it hears is known after a load"


@dataclass(frozen=True, slots=True, eq=False)
class Bystander:
    """A hook beside the events that do not call it."""

    hook: Hook
    kind: EventKind  # of the events that it hears
    events: tuple[str, ...] | None  # None: only a load can tell
    of_folders: frozenset[str]  # of a plugin's events, those of hook folders
    crosses: bool  # may it be a plugin that hears such
    shadowed: bool
    expects: bool  # what it listens to is what is wrong: its author expects it to run
    own: NotRun  # what is said of it where the event is one of its own
    aside: NotRun  # and where it is not


def bystanders_of(inventory: Inventory, host: Host) -> tuple[Bystander, ...]:
    """Every hook of the inventory, in its order."""
    return tuple(_bystander(row, host) for row in inventory.hooks)


def missed_by(
    bystanders: Sequence[Bystander], registered: Collection[Hook], keys: Sequence[str], kind: EventKind
) -> list[NotRun]:
    """Every hook of the event's kind that is not registered for it; who listens to it first."""
    missed: list[NotRun] = []
    others: list[NotRun] = []
    known: dict[object, bool] = {}  # thousands of hooks listen to few events
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


def kind_of(hook: Hook) -> EventKind:
    """The kind of events that a hook hears. A plugin may hear some of folders beside them: `of_folders`."""
    return hook.kind if hook.kind in ("stream", "plugin") else "folder"


def kind_of_key(key: str, row: Standing) -> EventKind:
    """The kind of an event that this hook listens to."""
    return "folder" if key in row.of_folders else kind_of(row.hook)


def kinds_of(row: Standing) -> frozenset[EventKind]:
    """All kinds of events that this hook listens to."""
    return frozenset((kind_of(row.hook), *(("folder",) if row.of_folders else ())))


def may_run(row: Standing) -> bool:
    """Is nothing in its way but that the host never sends its events."""
    return row.state in (State.READY, State.SILENT)


def _bystander(row: Standing, host: Host) -> Bystander:
    state, events, hook = row.state, row.events, row.hook
    shadowed = state is State.SHADOWED
    here = "it is not registered now"
    if not may_run(row):
        why = row.verdict.why(host.surroundings.short)
        here = elsewhere = why if shadowed else f"{state}: {why}"
    elif events is None:
        here = elsewhere = KNOWN_AFTER_LOAD
    else:
        elsewhere = f"listens to {', '.join(events)}"
    expects = any(gate.name in ("events", "fields") for gate in row.verdict.shut())
    own, aside = NotRun(hook.name, here, hook), NotRun(hook.name, elsewhere, hook, listens=expects)
    unknown = events is None and hook.kind == "plugin" and host.dialect.load_rules.crosses
    crosses = bool(row.of_folders) or unknown
    return Bystander(hook, kind_of(hook), events, row.of_folders, crosses, shadowed, expects, own, aside)

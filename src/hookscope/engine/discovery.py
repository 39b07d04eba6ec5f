"""Discover hooks: folders, hooks, winners, gates, inventory. Reads disk; runs and writes nothing."""

import gc
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from hookscope.engine.settings_entries import recorded_install
from hookscope.hosts.gates.evidence import note_hooks, with_evidence
from hookscope.model.hook import Hook, Problem
from hookscope.model.hook_status import (
    FixKind,
    FoundHooks,
    Gate,
    GateKind,
    HookStatus,
    Inventory,
    RejectedHook,
    State,
    Verdict,
    register_gate,
)
from hookscope.model.host import HookSystem, Host
from hookscope.model.uncalled_hooks import event_kind
from hookscope.values import dataclass

SETTINGS_GATE = "settings"  # shut too by settings that nobody could read
PRECEDENCE = register_gate(GateKind("precedence"))
REACHED = register_gate(GateKind("reached", state=State.BROKEN, fix=FixKind.LOAD_BEFORE))


def discover(host: Host) -> Inventory:
    """Return all hooks of a host with their status.

    Imports no handler; an unreadable file is a row or a problem, never an exception.
    """
    inventory = Inventory(problems=host.settings.problems + host.problems)
    with collector_paused():
        for system in host.dialect.systems:
            inventory = _merged(inventory, discover_system(system, host))
    return inventory


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector: a scan keeps its objects and creates no cycles."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def discover_system(system: HookSystem, host: Host) -> Inventory:
    """Return the inventory of one hook system of the host."""
    found = system.find(host)
    note_hooks(found.hooks, host)
    ranking = system.rank(found)
    shadows: dict[Hook, list[Hook]] = {}
    for loser, winner in ranking.shadowed_by.items():
        shadows.setdefault(winner, []).append(loser)
    losers = [hook for hook in found.hooks if hook in ranking.shadowed_by]
    unreadable = _UnreadableFolders.of(found)
    rejected_by_name: dict[str, list[RejectedHook]] = {}
    for copy in found.rejected:
        rejected_by_name.setdefault(copy.name, []).append(copy)
    rows = (
        unreadable.with_precedence_gate(
            _hook_status(
                hook,
                system,
                host,
                ranking.shadowed_by.get(hook),
                tuple(shadows.get(hook, ())),
                rejected_by_name,
            )
        )
        for hook in (*ranking.report_order, *losers)
    )
    return Inventory(
        hooks=_with_reached_gate(rows, ranking.load_order, host),
        rejected=found.rejected,
        problems=found.problems,
        log=found.log + ranking.log,
        load_order=ranking.load_order,
        report_order=ranking.report_order,
    )


@dataclass(frozen=True, slots=True)
class _UnreadableFolders:
    """Unreadable folders and hooks: a hook in one may replace a hook of a lower folder."""

    folder: Problem | None  # the highest hooks folder of that kind
    hooks: Mapping[str, RejectedHook]  # by name, the highest candidate of that kind

    @staticmethod
    def of(found: FoundHooks) -> "_UnreadableFolders":
        folders = [problem for problem in found.problems if problem.unread_rank is not None]
        hooks = sorted((one for one in found.rejected if one.unread_rank is not None), key=_unread_rank)
        return _UnreadableFolders(
            max(folders, key=_unread_rank, default=None), {one.name: one for one in hooks}
        )

    def with_precedence_gate(self, row: HookStatus) -> HookStatus:
        """Return the row, with a failed gate if something unreadable may replace its hook."""
        hook = row.hook
        if hook.kind != "folder" or (self.folder is None and not self.hooks):
            return row
        rejected = self.hooks.get(hook.name)
        if self.folder is not None and hook.folder.rank <= _unread_rank(self.folder):
            cause = self.folder.text
        elif rejected is not None and hook.folder.rank <= _unread_rank(rejected):
            cause = f"{rejected.path}: {rejected.reason}"
        else:
            return row
        reason = f"{cause}; a hook there may replace this one"
        missing = ("a readable folder",)
        gate = Gate(PRECEDENCE.name, False, missing=missing, found="not read", reason=reason, reported=False)
        return replace(row, verdict=replace(row.verdict, gates=(*row.verdict.gates, gate)))


def _unread_rank(unread: Problem | RejectedHook) -> int:
    return unread.unread_rank if unread.unread_rank is not None else -1


def _hook_status(
    hook: Hook,
    system: HookSystem,
    host: Host,
    shadowed_by: Hook | None,
    shadows: tuple[Hook, ...],
    rejected_by_name: Mapping[str, list[RejectedHook]],
) -> HookStatus:
    gates = with_settings_gate(system.gates(hook, host), host)
    rivals = _rejected_rivals(hook, rejected_by_name.get(hook.name, ()))
    verdict = Verdict(
        tuple([with_evidence(gate, hook, host) if gate.passed is False else gate for gate in gates]),
        shadowed_by,
    )
    return HookStatus(
        hook=hook,
        verdict=verdict,
        shadows=shadows,
        notes=(
            *hook.notes,
            *hook.meta.notes,
            *_catalogue_notes(hook, host),
            *_install_notes(hook, host),
            *rivals,
            *(_winner_notes(shadows) if shadows and verdict.state is State.BROKEN else ()),
        ),
    )


def with_settings_gate(gates: Sequence[Gate], host: Host) -> Sequence[Gate]:
    """Return the gates, with a failed one if unreadable settings may switch the hook off."""
    unread = host.settings.unread_reason
    if not unread or any(gate.name == SETTINGS_GATE and gate.passed is False for gate in gates):
        return gates
    rest = [gate for gate in gates if gate.name != SETTINGS_GATE]
    reason = f"{unread}; it may switch this hook off"
    missing = ("readable settings",)
    return (
        *rest,
        Gate(SETTINGS_GATE, False, missing=missing, found="not read", reason=reason, reported=False),
    )


def _with_reached_gate(
    rows: Iterable[HookStatus], load_order: Sequence[Hook], host: Host
) -> tuple[HookStatus, ...]:
    """Return the rows. Hooks that come after the hook that ends the load have a failed gate."""
    rows = tuple(rows)
    stops = {row.hook for row in rows if row.verdict.stops_load is not None}
    first = next((place for place, hook in enumerate(load_order) if hook in stops), None)
    if any(problem.stops_load for problem in host.problems):
        first, where = -1, "the settings"
    elif first is None:
        return rows
    else:
        where = load_order[first].name
    gate = Gate(REACHED.name, False, found="no", reason=f"never reached: the load ends at {where}")
    unreached = set(load_order[first + 1 :])
    return tuple(
        replace(row, verdict=replace(row.verdict, gates=(*row.verdict.gates, gate)))
        if row.hook in unreached
        else row
        for row in rows
    )


def _install_notes(hook: Hook, host: Host) -> list[str]:
    install = recorded_install(hook, host)
    return (
        [f"{host.dialect.product} installed it with {install.id}, from {install.origin}"] if install else []
    )


def _catalogue_notes(hook: Hook, host: Host) -> list[str]:
    key = (unsent_event_notes, hook.meta.events, hook.kind, hook.meta.folder_events)
    notes: list[str] | None = host.known.get(key)
    if notes is None:
        notes = host.known[key] = unsent_event_notes(
            hook.meta.events or (), hook, host, hook.meta.folder_events
        )
    return notes


def unsent_event_notes(
    events: Sequence[str], hook: Hook, host: Host, folder_events: Collection[str] = frozenset()
) -> list[str]:
    """Return a sentence for each of these events that the host never sends.

    `folder_events` are the events that a plugin registered together with hook folders.
    """
    catalogue, crosses = host.dialect.catalogue(), host.dialect.load_rules.plugins_use_folder_events
    notes = []
    for key in dict.fromkeys(events):
        kind = "folder" if key in folder_events else event_kind(hook)
        if catalogue.sends(key, kind):
            continue
        later_events = host.dialect.later_plugin_events if kind == "plugin" else host.dialect.later_events
        if key in later_events:
            notes.append(f"{key} is not in {host.dialect.product}'s guide; {later_events[key]} sends it")
            continue
        known = catalogue.find(key)
        if other := catalogue.other_dialect_of(key):
            notes.append(f"{key}: {other} sends this event, {host.dialect.name} does not")
        elif known is not None and key in folder_events and known.kind == "plugin":
            notes.append(f"{key} needs `api.on`: `registerHook` has no effect for it")
        elif known is not None and kind == "folder" and known.kind == "plugin":
            notes.append(f"{key} is a plugin hook's name; HOOK.md folders never receive it")
        elif known is not None and kind == "plugin" and known.kind == "folder":
            register_hook_hint = "a plugin receives it with `registerHook`, not with `on`"
            never_called_hint = "handlers of plugins are not called for it"
            if host.dialect.later_plugin_events:  # the shipped program does more than its guide
                programs = ", ".join(dict.fromkeys(host.dialect.later_plugin_events.values()))
                never_called_hint += f" in its guide; {programs} calls those that `registerHook` registers"
            notes.append(
                f"{key} is an event of HOOK.md folders; "
                f"{register_hook_hint if crosses else never_called_hint}"
            )
        elif known is not None and known.key == key:
            notes.append(f"{key}: {host.dialect.product} documents this event and never sends it")
        else:
            from hookscope.model.event_typos import replacement_hint, unsent_event

            replacement = replacement_hint(unsent_event(key, kind, catalogue))
            if hook.kind == "stream":
                notes.append(f"{key}: accepted, but no such event exists{replacement}")
            else:
                notes.append(f"{key} is not an event of {host.dialect.product}{replacement}")
    return notes


def _winner_notes(shadows: Sequence[Hook]) -> list[str]:
    """Return a note on a hook that shadows others and never runs."""
    losers = ", ".join(f"the {hook.folder.source} copy in {hook.path}" for hook in shadows)
    return [f"it shadows {losers} but never runs: rename or remove it"]


def _rejected_rivals(hook: Hook, rejected: Sequence[RejectedHook]) -> list[str]:
    """Return notes on folders of the same name that are not hooks."""
    return [f"{copy.path} is not a hook: {copy.reason}" for copy in rejected if copy.path != hook.path]


def _merged(one: Inventory, other: Inventory) -> Inventory:
    return Inventory(
        hooks=one.hooks + other.hooks,
        rejected=one.rejected + other.rejected,
        problems=one.problems + other.problems,
        log=one.log + other.log,
        load_order=one.load_order + other.load_order,
        report_order=one.report_order + other.report_order,
    )

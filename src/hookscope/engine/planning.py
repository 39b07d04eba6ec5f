"""From an inventory to registrations, and from a registry to a plan. Pure: reads and runs nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from hookscope.engine.registry import Registry
from hookscope.model.failure import Failure, InjectedFault
from hookscope.model.hook import MAPPED_ROLE, Hook, HookKind, Language
from hookscope.model.hook_status import HookStatus, Inventory, State
from hookscope.model.host import Arrangement, Host
from hookscope.model.run import (
    CallGroup,
    Code,
    Declared,
    Event,
    EventKind,
    Handler,
    Module,
    ModuleShape,
    NotRun,
    Plan,
    Registration,
)
from hookscope.model.uncalled_hooks import (
    UncalledHook,
    event_kind,
    excluded_reason,
    may_be_called,
    uncalled_by_event,
    uncalled_hooks_of,
)

EXCLUDED = "skipped: this hook was excluded"
OTHER_ORDER = "called in another order than the registered one: {}"
ONLY_THESE_CALLED = "skipped: only {} were called, to see which handlers interfere"

# Positions in `Plan.calls`, in calling order.
CallOrder = tuple[int, ...]


def without_hooks(plan: Plan, names: Collection[str]) -> Plan:
    """Return the plan without these hooks, also for the events that it causes."""
    if not names:
        return plan
    excluded = tuple(
        NotRun(call.name, EXCLUDED, call.hook, exclusion="chosen")
        for call in plan.calls
        if call.name in names
    )
    others = tuple(
        replace(item, reason=EXCLUDED, subscribed=False, near_miss="", exclusion="chosen")
        if item.name in names
        else item
        for item in plan.not_run
    )
    kept = tuple(position for position, call in enumerate(plan.calls) if call.name not in names)
    return replace(
        plan,
        groups=_remaining_groups(plan, kept),
        not_run=(*excluded, *others),
        excluded_hooks=plan.excluded_hooks.union(names),
    )


def reordered(plan: Plan, order: CallOrder) -> Plan:
    """Return the plan with these calls in this order; other calls are excluded.

    Calls stay in their group, since a host runs one group after another. The Run notes the change.
    """
    called = [plan.calls[position] for position in order]
    names = ", ".join(call.name for call in called)
    reason = ONLY_THESE_CALLED.format(" and ".join(call.name for call in called))
    excluded = tuple(
        NotRun(call.name, reason, call.hook, exclusion="unasked")
        for position, call in enumerate(plan.calls)
        if position not in order
    )
    moved = list(order) != sorted(order)
    return replace(
        plan,
        groups=_remaining_groups(plan, order),
        not_run=(*excluded, *plan.not_run),
        notes=(*plan.notes, *((OTHER_ORDER.format(names),) if moved else ())),
    )


def with_injected_faults(plan: Plan, by_name: Mapping[str, InjectedFault]) -> Plan:
    """Return the plan with faults injected into the handlers of these hooks."""
    new = {
        call: replace(call, injected_fault=by_name[call.name]) for call in plan.calls if call.name in by_name
    }
    if not new:
        return plan
    return _with_replaced_calls(plan, new)


def with_limit(plan: Plan, limit: float | None) -> Plan:
    """Return the plan with this limit for each call, in seconds; 0: no limit, None: each call's own limit."""
    if limit is None:
        return plan
    new = {call: replace(call, limit=limit, limit_source="the call") for call in plan.calls}
    return _with_replaced_calls(plan, new)


def with_default_limit(plan: Plan, limit: float | None) -> Plan:
    """Return the plan with this limit, in seconds, for the calls that have none of their own."""
    if not limit:
        return plan
    new = {
        call: replace(call, limit=limit, limit_source="the engine")
        for call in plan.calls
        if call.limit is None
    }
    return _with_replaced_calls(plan, new)


def all_switched_off(plan: Plan) -> Plan:
    """Return the plan of a program that has switched its hooks off: no handler runs."""
    off = tuple(NotRun(call.name, "hooks are switched off by the program", call.hook) for call in plan.calls)
    return replace(plan, groups=(), not_run=off + plan.not_run)


def injected_faults(plan: Plan) -> dict[str, InjectedFault]:
    """Return the faults that this plan injects, by hook name."""
    return {call.name: call.injected_fault for call in plan.calls if call.injected_fault is not None}


def _with_replaced_calls(plan: Plan, replacements: Mapping[Registration, Registration]) -> Plan:
    groups = (
        replace(group, calls=tuple(replacements.get(call, call) for call in group.calls))
        for group in plan.groups
    )
    return replace(
        plan, groups=tuple(groups), forced=frozenset(replacements.get(call, call) for call in plan.forced)
    )


def _remaining_groups(plan: Plan, order: Sequence[int]) -> tuple[CallGroup, ...]:
    groups, first = [], 0
    for group in plan.groups:
        positions = range(first, first + len(group.calls))
        calls = tuple(plan.calls[position] for position in order if position in positions)
        groups += [replace(group, calls=calls)] if calls else []
        first += len(group.calls)
    return tuple(groups)


NEEDS_NODE = "needs Node, which was not searched for"
NO_REASONS: Mapping[Language, str] = {}
OWN_LIMIT = "its registration"  # where a limit was set that a plugin passed with its handler
INTERNAL_OPTION = "internal"  # the option of a plugin's handler for folder events
REGISTER_OPTION = "register"  # if false, the handler is listed but never called

SHAPE_OF_KIND: Mapping[HookKind, ModuleShape] = {"stream": "stream", "plugin": "plugin"}

ModuleOf = Callable[[Hook], Module | None]
ALL_LANGUAGES: frozenset[Language] = frozenset({"python", "typescript", "javascript", "unknown"})


HANDLER_GATES = frozenset({"handler", "export"})  # fail because of the handler file's content


def registrations_of(
    inventory: Inventory,
    host: Host,
    is_loaded: Callable[[Code], bool] | None = None,
    module_of: ModuleOf | None = None,
) -> tuple[Registration, ...]:
    """Return a registration for every event of every hook that may run, in load order.

    Silent hooks are included, since the user can fire their events. So are hooks that only an edit
    of the handler file has broken, if `is_loaded` reports that the earlier version is still loaded. If
    `module_of` returns a loaded module, its declarations count, else the subscriptions in its file.
    """
    statuses = {row.hook: row for row in inventory.hooks}
    registrations: list[Registration] = []
    for hook in inventory.load_order:
        if not (may_be_called(statuses[hook]) or (is_loaded and is_stale(statuses[hook], host, is_loaded))):
            continue
        module = module_of(hook) if module_of is not None else None
        if module is not None:
            registrations += without_duplicates(declared_registrations(module, hook, host), registrations)[0]
        else:
            registrations += [registration_of(key, hook, host) for key in hook.meta.registered_events]
    return tuple(registrations)


def accepted_module(module: Module, host: Host) -> Module | Failure:
    """Return the loaded module, or the failure if the host refuses what it registers."""
    refuses = host.dialect.load_rules.refusal_of_module
    return (refuses(module) if refuses is not None else None) or module


def with_late(module: Module, late: Sequence[Declared]) -> Module:
    """Return the module with the handlers that it registered since it was loaded."""
    known = [one.target for one in module.declares]
    new = tuple(one for one in late if one.target not in known)
    return replace(module, declares=(*module.declares, *new)) if new else module


def late_registrations(
    registry: Registry, host: Host, late_of: Callable[[Code], Sequence[Declared]]
) -> list[Registration]:
    """Return registrations that plugins made since they were loaded and that the registry lacks."""
    calls = [call for call in registry.registrations if call.hook is not None and call.hook.kind == "plugin"]
    known = [call.target for call in calls]
    found = []
    for hook in dict.fromkeys(call.hook for call in calls if call.hook is not None):
        new = tuple(one for one in late_of(handler_code(hook, host)) if one.target not in known)
        found += declared_registrations(Module(new), hook, host)
    return found


def declared_registrations(module: Module, hook: Hook, host: Host) -> list[Registration]:
    """Return the registrations of a loaded module, in the host's spelling of events."""
    crosses = host.dialect.load_rules.plugins_use_folder_events
    return [
        folder_event_registration(item.key.strip(), hook, item.target, item.options)
        if crosses and item.options.get(INTERNAL_OPTION) is True
        else _declared_registration(item, hook, host)
        for item in module.declares
        if not (
            crosses
            and item.options.get(INTERNAL_OPTION) is True
            and item.options.get(REGISTER_OPTION) is False
        )
    ]


def folder_events_of(calls: Sequence[Registration]) -> frozenset[str]:
    """Return the events of hook folders among a plugin's registrations."""
    return frozenset(call.key for call in calls if call.event_kind == "folder")


def without_duplicates(
    calls: Sequence[Registration], registered: Sequence[Registration]
) -> tuple[list[Registration], list[str]]:
    """Return the calls without repeated names of folder-event hooks, and a sentence for each."""
    calls_by_name = {
        _own_name(call): call
        for call in reversed(registered)
        if call.event_kind == "folder" and _own_name(call)
    }
    kept = [call for call in calls if not (call.event_kind == "folder" and _own_name(call) in calls_by_name)]
    duplicate_names = dict.fromkeys(_own_name(call) for call in calls if call not in kept)
    return kept, [f"hook already registered: {name} ({calls_by_name[name].name})" for name in duplicate_names]


def _own_name(call: Registration) -> str:
    return str(call.options.get("name") or "").strip()


def folder_event_registration(
    key: str, hook: Hook, target: Handler | Code, options: Mapping[str, Any]
) -> Registration:
    """Return a plugin's registration for a folder event, without priority or limit."""
    return Registration(key, hook.name, target, hook, options=options, event_kind="folder")


def _declared_registration(item: Declared, hook: Hook, host: Host) -> Registration:
    key = host.dialect.catalogue().registry_key(item.key)
    limit, where = _limit_of(hook, key)
    if limit is None:
        limit, where = item.limit, OWN_LIMIT
    return Registration(
        key, hook.name, item.target, hook, item.priority, limit, options=item.options, limit_source=where
    )


def _limit_of(hook: Hook, key: str) -> tuple[float | None, str]:
    """Return the hook's limit for this event, else its general limit, and the source of it."""
    return hook.meta.limits.get(key, hook.meta.limits.get("run")), limits_from(hook)


def limits_from(hook: Hook) -> str:
    """Return the source of a hook's limits: the settings for plugins, "" for HOOK.md."""
    return "the settings" if hook.kind == "plugin" else ""


def registration_of(key: str, hook: Hook, host: Host) -> Registration:
    """Return the registration of a hook's handler for one of its events."""
    code = handler_code(hook, host)
    if code.shape in ("stream", "plugin"):
        code = replace(code, member=key)
    if key in hook.meta.folder_events:
        return folder_event_registration(key, hook, code, {INTERNAL_OPTION: True})
    run, where = _limit_of(hook, key)
    load = hook.meta.limits.get("load")
    priority = hook.meta.priorities.get(key, hook.meta.priority)
    return Registration(key, hook.name, code, hook, priority, run, load, limit_source=where)


def is_stale(row: HookStatus, host: Host, is_loaded: Callable[[Code], bool]) -> bool:
    """Return whether only its handler file is broken and an earlier version is still loaded."""
    failed_gates = {gate.name for gate in row.verdict.failed()}
    if row.state is not State.BROKEN or not failed_gates <= HANDLER_GATES or row.hook.handler is None:
        return False
    return is_loaded(handler_code(row.hook, host))


def handler_code(hook: Hook, host: Host) -> Code:
    """Return the location of the handler's code, with the environment of its settings entry."""
    assert hook.handler is not None
    return Code(
        path=hook.handler,
        export=hook.meta.export,
        root=hook.root or hook.path or hook.handler.parent,
        language=hook.language,
        env=host.entry_env(hook.key) if host.dialect.entry_env else {},
        unmodified=host.dialect.load_rules.plain,
        shape="arguments" if hook.role == MAPPED_ROLE else SHAPE_OF_KIND.get(hook.kind, "hook"),
        siblings=hook.beside,
        plugin=hook.name if hook.kind == "plugin" and hook.role != MAPPED_ROLE else "",
        config=hook.meta.config,
        tools=hook.meta.tools,
        settings=host.settings.value if hook.kind == "plugin" else {},
        trusted_root=None if host.trust.homes is None else hook.leads_out or hook.real,
    )


def make_plan(
    event: Event,
    registry: Registry,
    inventory: Inventory,
    host: Host,
    *,
    languages: frozenset[Language] = ALL_LANGUAGES,
    without: Mapping[Language, str] = NO_REASONS,
    only: str | None = None,
    exclusion_of: Callable[[Registration], str] | None = None,
    forced: Sequence[Registration] = (),
    candidates: Sequence[UncalledHook] | None = None,
) -> Plan:
    """Return which handlers would run for `event`, in order, and which would not, with reasons. Runs nothing.

    `languages` can run here; `without` has the reason why each other language cannot. `only` excludes all
    hooks but that one; `exclusion_of` excludes calls for which it returns a reason. `forced` are
    calls of hooks that would not run: they come after the others, if the host's order allows it.
    `candidates` are the inventory's uncalled hooks, if known already. Raises LookupError if the
    host has no events of this kind.
    """
    system = host.dialect.system_of(event.kind)
    keys = system.keys(event)
    subscribed = tuple(call for call in registry.listeners(keys) if _is_of_kind(call, event.kind))
    if forced:
        subscribed = (*_without(forced, subscribed), *forced)

    def reason_against(call: Registration) -> str:
        return (
            _exclusion_reason(call, languages, without, only)
            or _switched_off_reason(host, call)
            or (exclusion_of(call) if exclusion_of else "")
        )

    calls_with_reasons = [(call, reason_against(call)) for call in subscribed]
    arrangement = system.arrange(event, tuple(call for call, reason in calls_with_reasons if not reason))
    forced_calls = frozenset[Registration]()
    if forced:
        arrangement, forced_calls = _with_forced(arrangement, forced)
    if candidates is None:
        candidates = uncalled_hooks_of(inventory, host)
    uncalled = uncalled_by_event(
        candidates, {call.hook for call in subscribed if call.hook is not None}, keys, event.kind
    )
    if only is not None:
        uncalled = [_as_excluded(item, only) for item in uncalled]
    excluded_calls = (_excluded_call(call, reason, only) for call, reason in calls_with_reasons if reason)
    known = host.dialect.catalogue().find(event.key)
    return Plan(
        event=event,
        generation=registry.generation,
        groups=arrangement.groups,
        not_run=_unique(chain(excluded_calls, arrangement.excluded, uncalled, _rejected(inventory, only))),
        policy=system.policy(event),
        delivers=known is not None and known.delivers,
        forced=forced_calls,
        assumed=host.machine.assumed,
        only=only,
        required_item_members=known.required_item_members if known is not None else {},
    )


def _is_of_kind(call: Registration, kind: EventKind) -> bool:
    """Return whether a call belongs to this kind of event.

    Hosts keep one registry per kind, so a folder hook never receives a plugin event. A plugin's
    handler may be registered for folder events.
    """
    return call.hook is None or (call.event_kind or event_kind(call.hook)) == kind


def _without(forced: Sequence[Registration], calls: Sequence[Registration]) -> tuple[Registration, ...]:
    """Return the calls of all hooks except the forced ones."""
    hooks = {call.hook for call in forced}
    return tuple(call for call in calls if call.hook not in hooks)


def _with_forced(
    arrangement: Arrangement, forced: Sequence[Registration]
) -> tuple[Arrangement, frozenset[Registration]]:
    """Return the arrangement with all forced calls, and the forced calls as arranged.

    Calls that the host excludes are appended. Other calls may be copies that have the host's limits.
    """
    hooks = {call.hook for call in forced}
    placed = [call for group in arrangement.groups for call in group.calls if call.hook in hooks]
    placed_keys = {(call.key, id(call.target)) for call in placed}
    missing = tuple(call for call in forced if (call.key, id(call.target)) not in placed_keys)
    groups = (*arrangement.groups, *((CallGroup(missing),) if missing else ()))
    excluded = tuple(item for item in arrangement.excluded if item.hook is None or item.hook not in hooks)
    return Arrangement(groups, excluded), frozenset((*placed, *missing))


def _as_excluded(item: NotRun, only: str) -> NotRun:
    """Return the entry of a hook that was not requested, without its other reasons."""
    if item.name == only or not (item.subscribed or item.near_miss):
        return item
    without_near_miss = replace(item, near_miss="")
    return (
        replace(without_near_miss, reason=excluded_reason(only), exclusion="unasked")
        if item.subscribed
        else without_near_miss
    )


def _excluded_call(call: Registration, reason: str, only: str | None) -> NotRun:
    return NotRun(call.name, reason, call.hook, exclusion="" if only in (None, call.name) else "unasked")


def _exclusion_reason(
    call: Registration, languages: frozenset[Language], without: Mapping[Language, str], only: str | None
) -> str:
    if only is not None and call.name != only:
        return excluded_reason(only)
    if isinstance(call.target, Code) and call.target.language not in languages:
        return f"{call.target.path.name} {without.get(call.target.language, NEEDS_NODE)}"
    return ""


def _rejected(inventory: Inventory, only: str | None) -> Iterator[NotRun]:
    """Yield the folders that are not hooks; with `only`, those of that name.

    Skips a folder that has the name of a hook, unless it cannot be read: then it may replace that hook.
    """
    hook_names = {row.hook.name for row in inventory.hooks}
    for copy in inventory.rejected:
        name = copy.name or copy.path.name
        is_second = name in hook_names and copy.unread_rank is None
        if not copy.ignored and not is_second and only in (None, name):
            yield NotRun(name, copy.reason)


def _switched_off_reason(host: Host, call: Registration) -> str:
    """Return why a plugin's folder-event handler is off: it shares the folders' switch."""
    if call.event_kind != "folder" or host.hooks_setting("enabled")[0] is not False:
        return ""
    return "all hooks of folder events are switched off in the settings"


def _unique(reasons: chain[NotRun]) -> tuple[NotRun, ...]:
    """Return each hook once, even if it is registered under two keys of the event."""
    seen: dict[object, NotRun] = {}
    for item in reasons:
        seen.setdefault((item.hook or item.name, item.reason), item)
    return tuple(seen.values())

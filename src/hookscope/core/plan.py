"""From an inventory to a registry, and from a registry to a plan. Pure: nothing is read or run."""

from collections.abc import Callable, Sequence
from itertools import chain

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook, Inventory, Language, Standing, State
from hookscope.core.runs import Code, Event, Group, NotRun, Plan, Registration, Registry

NEEDS_NODE = "needs Node, which nobody has looked for"
ALL_LANGUAGES: frozenset[Language] = frozenset({"python", "typescript", "javascript", "unknown"})


HANDLER_GATES = frozenset({"handler", "export"})  # shut by what stands in the handler's file


def registrations_of(
    inventory: Inventory, host: Host, held: Callable[[Code], bool] | None = None
) -> tuple[Registration, ...]:
    """A registration for every event of every hook that may run, in load order.

    Silent hooks are among them: fired by hand, they run. So are hooks that only an edit of their
    handler's file has broken, where `held` says that a version from before is still loaded.
    """
    standings = {row.hook: row for row in inventory.hooks}
    return tuple(
        registration_of(key, hook, host)
        for hook in inventory.load_order
        if may_run(standings[hook]) or (held and is_held(standings[hook], host, held))
        for key in hook.meta.events or ()
    )


def registration_of(key: str, hook: Hook, host: Host) -> Registration:
    """A hook's handler under one of its events."""
    limits = hook.meta.limits
    return Registration(
        key, hook.name, code_of(hook, host), hook, limit=limits.get("run"), load_limit=limits.get("load")
    )


def is_held(row: Standing, host: Host, held: Callable[[Code], bool]) -> bool:
    """Is it broken by its handler's file alone, and a version from before still loaded."""
    shut = {gate.name for gate in row.verdict.shut()}
    if row.state is not State.BROKEN or not shut <= HANDLER_GATES or row.hook.handler is None:
        return False
    return held(code_of(row.hook, host))


def may_run(row: Standing) -> bool:
    """Is nothing in its way but that the host never sends its events."""
    return row.state in (State.READY, State.SILENT)


def code_of(hook: Hook, host: Host) -> Code:
    """Where the handler's code lies, with the environment of its entry laid on."""
    assert hook.handler is not None
    return Code(
        path=hook.handler,
        export=hook.meta.export,
        root=hook.path or hook.handler.parent,
        language=hook.language,
        env=host.entry_env(hook.key) if host.dialect.entry_env else {},
        plain=host.dialect.load_rules.plain,
    )


def make_plan(
    event: Event,
    registry: Registry,
    inventory: Inventory,
    host: Host,
    *,
    languages: frozenset[Language] = ALL_LANGUAGES,
    without: str = NEEDS_NODE,
    only: str | None = None,
    barred: Callable[[Registration], str] | None = None,
) -> Plan:
    """Who would run for `event`, in order, and who would not and why. Runs nothing.

    `languages` are those that somebody can run here, `without` says what the others lack. `only` leaves
    out all hooks but the one of that name; `barred` those for which it gives a reason. Raises LookupError
    where the host has no events of this kind.
    """
    system = host.dialect.system_of(event.kind)
    keys = system.keys(event)
    heard = registry.listeners(keys)
    left_out = [
        (call, _left_out(call, languages, without, only) or (barred(call) if barred else ""))
        for call in heard
    ]
    calls = tuple(call for call, reason in left_out if not reason)
    not_run = _unique(
        chain(
            (NotRun(call.name, reason, call.hook) for call, reason in left_out if reason),
            _hooks_not_heard(heard, inventory, keys),
            (NotRun(copy.name or copy.path.name, copy.reason) for copy in inventory.rejected),
        )
    )
    known = host.dialect.catalogue().find(event.key)
    return Plan(
        event=event,
        generation=registry.generation,
        groups=(Group(calls),) if calls else (),
        not_run=not_run,
        policy=system.policy(event),
        delivers=known is not None and known.delivers,
        assumed=host.surroundings.assumed,
    )


def _left_out(call: Registration, languages: frozenset[Language], without: str, only: str | None) -> str:
    if only is not None and call.name != only:
        return f"left out: only {only} was asked for"
    if isinstance(call.target, Code) and call.target.language not in languages:
        return f"{call.target.path.name} {without}"
    return ""


def _hooks_not_heard(
    heard: Sequence[Registration], inventory: Inventory, keys: Sequence[str]
) -> list[NotRun]:
    """Every hook of the inventory that is not registered for this event; who listens to it first."""
    registered = {call.hook for call in heard}
    missed: list[NotRun] = []
    others: list[NotRun] = []
    for row in inventory.hooks:
        if row.hook in registered:
            continue
        events = row.hook.meta.events or ()
        listens = any(key in keys for key in events)
        if not may_run(row):
            reason = (
                f"{row.state}: {row.verdict.why()}" if row.state is not State.SHADOWED else row.verdict.why()
            )
        elif listens:
            reason = "it is not registered now"
        else:
            reason = f"listens to {', '.join(events)}"
        missing_events = any(gate.name in ("events", "fields") for gate in row.verdict.shut())
        (missed if listens or missing_events else others).append(
            NotRun(row.hook.name, reason, row.hook, listens=listens or missing_events)
        )
    return missed + others


def _unique(reasons: "chain[NotRun]") -> tuple[NotRun, ...]:
    """A hook that stands under two keys of the event is left out once."""
    seen: dict[object, NotRun] = {}
    for item in reasons:
        seen.setdefault((item.hook or item.name, item.reason), item)
    return tuple(seen.values())

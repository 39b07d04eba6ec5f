"""The registered handlers by event, the report of a load, and cached plans."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field

from hookscope.model.failure import Failure
from hookscope.model.hook import LogLine
from hookscope.model.host import Host
from hookscope.model.run import Event, Plan, Registration
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class Registry:
    """The registrations in order. Immutable: changes make a new registry."""

    generation: int = 0
    registrations: tuple[Registration, ...] = ()
    by_key: Mapping[str, tuple[Registration, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index: dict[str, list[Registration]] = {}
        for registration in self.registrations:
            index.setdefault(registration.key, []).append(registration)
        object.__setattr__(self, "by_key", {key: tuple(calls) for key, calls in index.items()})

    def keys(self) -> tuple[str, ...]:
        """Return the event keys with a handler, in order of first registration."""
        return tuple(self.by_key)

    def listeners(self, keys: Sequence[str]) -> tuple[Registration, ...]:
        """Return the registrations of these keys, key after key, each in order of registration."""
        return tuple(call for key in keys for call in self.by_key.get(key, ()))

    def with_call(self, call: Registration) -> Registry:
        """Return a registry with this registration appended."""
        return self.with_registrations((*self.registrations, call))

    def without(self, call: Registration) -> Registry:
        """Return a registry without this registration; if it is not registered, return this registry."""
        kept = [other for other in self.registrations if other is not call]
        return self if len(kept) == len(self.registrations) else self.with_registrations(kept)

    def with_registrations(self, registrations: Sequence[Registration]) -> Registry:
        """Return a registry of only these registrations, of the next generation. Runs keep their registry."""
        return Registry(self.generation + 1, tuple(registrations))


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The report of a load. Source: guide 000, "LoadHooksResult"."""

    discovered: int = 0  # hooks found in all folders, winners only
    eligible: int = 0
    registered: int = 0  # hooks and legacy handlers that were loaded
    skipped: tuple[str, ...] = ()  # "name: reason, reason"
    failed: tuple[str, ...] = ()  # names
    log: tuple[LogLine, ...] = ()
    told: tuple[LogLine, ...] = ()  # of those: messages of loaded modules
    failures: Mapping[str, Failure] = field(default_factory=dict)  # by name, with file and line
    committed: bool = True  # False: a failed strict load; nothing changed
    refusal: str = ""  # if so: the host's message for the first failure
    stopped: str = ""  # what stopped the load; earlier hooks are registered


MOST_PLANS = 512  # cached plans; event keys may come from outside


class PlanCache:
    """The plans of a registry, made on first use. `HookSystem.plan_key` decides which events share a plan."""

    def __init__(self) -> None:
        self._registry: Registry | None = None
        self._host: Host | None = None
        self._plans: dict[Hashable, Plan] = {}

    def plan_for(
        self, event: Event, variant: Hashable, registry: Registry, host: Host, make: Callable[[], Plan]
    ) -> Plan:
        """Return the plan, possibly one made for an equivalent event.

        `variant` is the variant of the request; `make` is called if there is no plan yet.
        """
        plan_key = host.dialect.system_of(event.kind).plan_key(event)
        if plan_key is None:
            return make()
        if self._registry is not registry or self._host is not host or len(self._plans) > MOST_PLANS:
            self._registry, self._host, self._plans = registry, host, {}
        cache_key = (event.kind, plan_key, variant)
        plan = self._plans.get(cache_key)
        if plan is None:
            plan = self._plans[cache_key] = make()
        return plan

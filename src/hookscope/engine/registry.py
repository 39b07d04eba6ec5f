"""What is registered for which event, the report of a load, and the plans cached for a registry."""

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
    """Who listens to what, in order of registration. Replaced, never edited."""

    generation: int = 0
    registrations: tuple[Registration, ...] = ()
    by_key: Mapping[str, tuple[Registration, ...]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        index: dict[str, list[Registration]] = {}
        for registration in self.registrations:
            index.setdefault(registration.key, []).append(registration)
        object.__setattr__(self, "by_key", {key: tuple(calls) for key, calls in index.items()})

    def keys(self) -> tuple[str, ...]:
        """The event keys that somebody listens to, in order of first registration."""
        return tuple(self.by_key)

    def listeners(self, keys: Sequence[str]) -> tuple[Registration, ...]:
        """All registrations of these keys: key after key, each in order of registration."""
        return tuple(call for key in keys for call in self.by_key.get(key, ()))

    def with_call(self, call: Registration) -> Registry:
        """With this one behind all others."""
        return self.with_registrations((*self.registrations, call))

    def without(self, call: Registration) -> Registry:
        """Without this very one; this registry itself where it has none such."""
        kept = [other for other in self.registrations if other is not call]
        return self if len(kept) == len(self.registrations) else self.with_registrations(kept)

    def with_registrations(self, registrations: Sequence[Registration]) -> Registry:
        """Another registry that holds these alone, numbered one higher: a run keeps the one it began with."""
        return Registry(self.generation + 1, tuple(registrations))


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did. Source: guide 000, "LoadHooksResult"."""

    discovered: int = 0  # hooks found in all folders, winners only
    eligible: int = 0
    registered: int = 0  # hooks and legacy handlers that were loaded
    skipped: tuple[str, ...] = ()  # "name: reason, reason"
    failed: tuple[str, ...] = ()  # names
    log: tuple[LogLine, ...] = ()
    told: tuple[LogLine, ...] = ()  # of those: what modules brought, asked for and printed
    failures: Mapping[str, Failure] = field(default_factory=dict)  # by name, with file and line
    committed: bool = True  # False: a strict load met a failure and left everything as it was
    refusal: str = ""  # then: the host's own sentence of the first failure
    stopped: str = ""  # what ended the load before its end; hooks before it are registered, later ones not


MOST_PLANS = 512  # plans kept at a time: event keys may come from outside


class PlanCache:
    """The plans of one registry under one host, each made when it is asked for first.

    Which of them is an event's own, its system says: see System.decisive.
    """

    def __init__(self) -> None:
        self._registry: Registry | None = None
        self._host: Host | None = None
        self._plans: dict[Hashable, Plan] = {}

    def of(
        self, event: Event, how: Hashable, registry: Registry, host: Host, make: Callable[[], Plan]
    ) -> Plan:
        """The plan, perhaps of another event that is planned alike. `how` is what else was asked for;
        `make` is called where there is none yet.
        """
        decisive = host.dialect.system_of(event.kind).decisive(event)
        if decisive is None:
            return make()
        if self._registry is not registry or self._host is not host or len(self._plans) > MOST_PLANS:
            self._registry, self._host, self._plans = registry, host, {}
        asked = (event.kind, decisive, how)
        plan = self._plans.get(asked)
        if plan is None:
            plan = self._plans[asked] = make()
        return plan

"""Plans that are made once, for as long as nothing that they depend on has changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from hookscope.core.dialect import Host
from hookscope.core.registry import Registry
from hookscope.core.runs import Event, Plan

MOST = 512  # plans kept at a time: event keys may come from outside


class Plans:
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
        if self._registry is not registry or self._host is not host or len(self._plans) > MOST:
            self._registry, self._host, self._plans = registry, host, {}
        asked = (event.kind, decisive, how)
        plan = self._plans.get(asked)
        if plan is None:
            plan = self._plans[asked] = make()
        return plan

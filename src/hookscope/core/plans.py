"""Plans that are made once, for as long as nothing that they depend on has changed."""

from __future__ import annotations

from collections.abc import Callable

from hookscope.core.registry import Registry
from hookscope.core.runs import Event, Plan

MOST = 512  # plans kept at a time: event keys may come from outside


class Plans:
    """The plans of one registry, each made when it is asked for first.

    Of folder hooks a plan depends on type, action and `only` alone. Not on its key: `command` with the action
    `new:x` and `command:new` with `x` have the same. Plans of other kinds depend on all of the event.
    """

    def __init__(self) -> None:
        self._registry: Registry | None = None
        self._plans: dict[tuple[str, str, str | None], Plan] = {}

    def of(self, event: Event, only: str | None, registry: Registry, make: Callable[[], Plan]) -> Plan:
        """The plan, perhaps with another event of the same type and action; `make` is asked where there is
        none yet."""
        if event.kind != "folder":
            return make()
        if self._registry is not registry or len(self._plans) > MOST:
            self._registry, self._plans = registry, {}
        asked = (event.type, event.action, only)
        plan = self._plans.get(asked)
        if plan is None:
            plan = self._plans[asked] = make()
        return plan

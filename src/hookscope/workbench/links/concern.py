"""Whether what another program did changes what has come of a hook. Reads nothing, needs no database."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hookscope.core.event_types import EVERY
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.core.standing import Standing
    from hookscope.workbench.view import PastRun, View


@dataclass(frozen=True, slots=True)
class Happened:
    """Events that came, as their host spells them, and the hooks by name that answered one."""

    events: frozenset[str] = frozenset()
    hooks: frozenset[str] = frozenset()

    def is_about(self, row: Standing, view: View) -> bool:
        """Did an event come that this hook listens to, or did it answer one."""
        if row.hook.name in self.hooks:
            return True
        canonical = view.host.dialect.catalogue().canonical
        came = {*self.events, *(key.partition(":")[0] for key in self.events), EVERY}
        return bool(self.events) and any(canonical(key) in came for key in row.events or ())


def of_runs(runs: Iterable[PastRun]) -> Happened:
    """What runs that have ended tell."""
    told = tuple(runs)
    answered = (call.name for past in told for call in past.plan.calls)
    return Happened(frozenset(past.plan.event.key for past in told), frozenset(answered))

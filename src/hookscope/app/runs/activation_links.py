"""Links of a hook's activation chain (loaded, registered, event arrived, ran). Needs no database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from hookscope.hosts.gates.export import KNOWN_AFTER_LOAD
from hookscope.model.event_catalogue import ALL_EVENTS
from hookscope.model.hook_status import Gate
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import PastRun, Snapshot
    from hookscope.model.hook_status import HookStatus


LinkName = Literal["loads", "export", "registered", "arrived", "ran"]
LINK_TITLES: Mapping[LinkName, str] = {
    "loads": "its module loads",
    "export": "its export is a function",
    "registered": "it is registered",
    "arrived": "an event has come",
    "ran": "it ran",
}


@dataclass(frozen=True, slots=True)
class ActivationLink:
    """One link of the activation chain. `passed` is None if nothing is known."""

    name: LinkName
    passed: bool | None
    found: str
    next_step: str = ""  # the next step, where there is one
    at: datetime | None = None
    run: int | None = None  # of the journal

    @property
    def title(self) -> str:
        """The link's name for people."""
        return LINK_TITLES[self.name]


def chain_summary(links: tuple[ActivationLink, ...]) -> tuple[bool | None, str]:
    """Return the chain in one line: the last thing that is known to have happened."""
    named = {link.name: link for link in links}
    loads, arrived, ran = named["loads"], named["arrived"], named["ran"]
    if loads.passed is False:
        return False, f"does not load: {loads.found}"
    if ran.passed is not None:
        return ran.passed, f"ran: {ran.found}"
    if arrived.passed:
        return None, f"no run of it is on record, though an event has come: {arrived.found}"
    return None, "no event that it listens to has come so far"


def gates_with_links(gates: tuple[Gate, ...], links: Sequence[ActivationLink]) -> tuple[Gate, ...]:
    """Return the gates with the results that only a load can provide.

    A failed load does not fail a gate here: `chain_problem` reports it.
    """
    named = {link.name: link for link in links}
    if "export" not in named or named["export"].passed is None:
        return gates
    passed = named["export"].passed or None
    found = f"a function ({named['loads'].found})" if passed else named["export"].found
    return tuple(
        replace(gate, passed=passed, found=found)
        if gate.name == "export" and gate.passed is None and KNOWN_AFTER_LOAD in gate.found
        else gate
        for gate in gates
    )


def chain_problem(links: tuple[ActivationLink, ...]) -> str:
    """Return why the hook cannot run although its gates pass; empty if nothing is known."""
    words: Mapping[str, str] = {"loads": "does not load", "export": "has nothing to call"}
    failed = (link for link in links if link.name in words and link.passed is False)
    return next((f"{words[link.name]}: {link.found}" for link in failed), "")


@dataclass(frozen=True, slots=True)
class Activity:
    """Events that arrived, in the host's spelling, and the hooks by name that handled one."""

    events: frozenset[str] = frozenset()
    hooks: frozenset[str] = frozenset()

    def concerns(self, row: HookStatus, view: Snapshot) -> bool:
        """Return whether an event arrived that this hook subscribes to, or the hook handled one."""
        if row.hook.name in self.hooks:
            return True
        canonical = view.host.dialect.catalogue().canonical
        received = {*self.events, *(key.partition(":")[0] for key in self.events), ALL_EVENTS}
        return bool(self.events) and any(canonical(key) in received for key in row.events or ())


def activity_of_runs(runs: Iterable[PastRun]) -> Activity:
    """Return the activity of finished runs."""
    past_runs = tuple(runs)
    answered = (call.name for past in past_runs for call in past.plan.calls)
    return Activity(frozenset(past.plan.event.key for past in past_runs), frozenset(answered))

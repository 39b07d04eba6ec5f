"""Hosts side by side: how each treats a hook, what one event did at each, and what differs. Frozen data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from hookscope.model.failure import outcome_text
from hookscope.model.hook_status import HookStatus, Inventory, RejectedHook, State
from hookscope.model.host import Dialect, Host
from hookscope.model.run import Plan, Run
from hookscope.model.run_comparison import RunDifference, run_differences
from hookscope.model.text import duration
from hookscope.values import dataclass

# What hosts may do differently, most significant first.
Facet = Literal[
    "found", "handler", "metadata", "state", "why", "winner", "events", "messages", "order", "name", "env",
    "program", "variable",
]  # fmt: skip
EventDelivery = Literal["sent", "never", "unknown"]  # never: documented but not sent
MetadataReading = Literal["read", "elsewhere", "unread", "none", ""]
"""elsewhere: it is under another host's name; unread: under this host's name, in an unreadable form;
empty: the hook is not a folder."""
NO_HOOK, ABSENT = "no hook", "absent"  # besides the values of State: rejected, and not scanned


@dataclass(frozen=True, slots=True)
class FolderRules:
    """What a host looks for in a hook's folder."""

    namespace: str  # metadata.<namespace>
    handlers: tuple[str, ...]  # the host's own names; earlier ones take precedence
    json_only: bool = False  # metadata must be JSON that begins on its line


@dataclass(frozen=True, slots=True)
class ComparedHost:
    """A host, its inventory with every folder trusted, and which hook files it reads."""

    host: Host
    inventory: Inventory
    folder_rules: FolderRules | None  # None: the host has no HOOK.md folders
    label: str = ""  # of a compared machine: "here", "unit gateway"; empty for hosts

    @property
    def dialect(self) -> Dialect:
        """The host's dialect."""
        return self.host.dialect

    @property
    def name(self) -> str:
        """The name that distinguishes this side of the comparison from the others."""
        return self.label or self.dialect.name

    @property
    def title(self) -> str:
        """The host in a sentence: `Milady`, `Milady 2.0.0-alpha.76`; for a machine its name."""
        return self.label or f"{self.dialect.product} {self.dialect.version}".rstrip()


@dataclass(frozen=True, slots=True)
class EventAtHost:
    """An event that a hook subscribes to, at one host."""

    key: str
    delivery: EventDelivery
    delivers: bool = False  # pushed messages reach the user
    near: str = ""  # the closest match of this host


@dataclass(frozen=True, slots=True)
class HookAtHost:
    """One hook at one host. Trust is ignored: it is Hookscope's own check, not a host's."""

    side: ComparedHost
    state: str  # of State; NO_HOOK, ABSENT
    why: str = ""  # why it is stopped; empty if it is not
    gate: str = ""  # the first failed gate
    row: HookStatus | None = None
    rejected: RejectedHook | None = None
    events: tuple[EventAtHost, ...] = ()
    metadata: MetadataReading = ""
    load_position: int | None = None  # position in registration order, from 1; None: not registered

    @property
    def is_hook(self) -> bool:
        """True if this host accepts it as a hook."""
        return self.row is not None

    @property
    def is_registered(self) -> bool:
        """True if the host registers the hook."""
        return self.state in (State.READY, State.SILENT) and self.host_runs

    @property
    def is_called(self) -> bool:
        """True if the host would call the hook as soon as one of the hook's events arrives."""
        return self.state == State.READY and self.host_runs

    @property
    def host_runs(self) -> bool:
        """False if only Hookscope would run this handler."""
        return self.row is None or not self.row.hook.beyond_host

    @property
    def source(self) -> str:
        """Where this side found it: workspace, bundled, …; empty: nowhere."""
        if self.row is not None:
            return self.row.hook.folder.source
        return self.rejected.source if self.rejected is not None else ""

    @property
    def path(self) -> Path | None:
        """Its folder or file; None if not found or not on disk."""
        if self.row is not None:
            return self.row.hook.path
        return self.rejected.path if self.rejected is not None else None

    @property
    def handler(self) -> Path | None:
        """Its handler's file; None if there is none."""
        return self.row.hook.handler if self.row is not None else None


@dataclass(frozen=True, slots=True)
class HostDifference:
    """One difference between hosts, as a sentence that names them."""

    facet: Facet
    text: str


@dataclass(frozen=True, slots=True)
class ComparedHook:
    """One hook, with one cell per side."""

    name: str
    path: Path | None  # path at the first host that has it
    cells: tuple[HookAtHost, ...]
    differs: tuple[HostDifference, ...] = ()  # empty: no difference
    suggestions: tuple[str, ...] = ()  # suggested changes so that every host calls it; empty: none known

    @property
    def events(self) -> tuple[str, ...]:
        """The events it subscribes to, at any host."""
        return tuple(dict.fromkeys(event.key for cell in self.cells for event in cell.events))

    @property
    def called_everywhere(self) -> bool:
        """True if every host would call it."""
        return all(cell.is_called for cell in self.cells)


@dataclass(frozen=True, slots=True)
class HostTally:
    """The number of hooks that reach each stage at one host."""

    found: int  # hooks it finds
    metadata: int  # hooks whose metadata it reads
    registered: int
    called: int  # registered hooks with an event that is sent


CauseKind: TypeAlias = Literal["host", "platform", "home", "settings", "workspace", "path", "variable"]


@dataclass(frozen=True, slots=True)
class DifferenceCause:
    """One difference between machines, and the hooks that it stops on one of them."""

    what: CauseKind
    text: str
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to change on one machine so that hooks run there as on the others."""

    side: str  # its name
    where: str  # where to change it
    lines: tuple[str, ...]  # lines to write there; "…" replaces a hidden value
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class HostComparison:
    """All hooks of some folders, under several dialects, or under one on several machines."""

    sides: tuple[ComparedHost, ...]
    lines: tuple[ComparedHook, ...]
    causes: tuple[DifferenceCause, ...] = ()  # of compared machines
    remedies: tuple[Remedy, ...] = ()  # of compared machines

    @property
    def compares_machines(self) -> bool:
        """True if machines are compared, not hosts."""
        return any(side.label for side in self.sides)

    @property
    def differing(self) -> tuple[ComparedHook, ...]:
        """The hooks that the sides treat differently."""
        return tuple(line for line in self.lines if line.differs)

    @property
    def alike(self) -> int:
        """The number of hooks that all sides treat alike."""
        return len(self.lines) - len(self.differing)

    def grouped(self, *, different: bool) -> tuple[ComparedHook, ...]:
        """Return the hooks, or the `different` ones; those with equal differences are one after another."""
        groups: dict[tuple[HostDifference, ...], list[ComparedHook]] = {}
        for line in self.differing if different else self.lines:
            groups.setdefault(line.differs, []).append(line)
        return tuple(line for group in groups.values() for line in group)

    def tallies(self) -> Mapping[str, HostTally]:
        """Return the tally of each side by name."""
        return {
            side.name: HostTally(
                found=sum(line.cells[at].is_hook for line in self.lines),
                metadata=sum(line.cells[at].metadata == "read" for line in self.lines),
                registered=sum(line.cells[at].is_registered for line in self.lines),
                called=sum(line.cells[at].is_called for line in self.lines),
            )
            for at, side in enumerate(self.sides)
        }


NO_VALUE = "–"


@dataclass(frozen=True, slots=True)
class RunAtHost:
    """One event at one host."""

    dialect: Dialect
    plan: Plan | None = None
    run: Run | None = None
    problem: str = ""  # why it was not fired there; empty if it was
    could_not_run: tuple[str, ...] = ()  # a sentence for each handler that could not run


@dataclass(frozen=True, slots=True)
class ComparedOutcome:
    """One aspect of the runs, with one value per host."""

    what: str
    values: tuple[str, ...]
    is_compared: bool = True  # False: shown but not compared, such as a time

    @property
    def differs(self) -> bool:
        """True if the hosts' values differ."""
        return self.is_compared and len(set(self.values)) > 1


def handler_differences(one: Run, other: Run) -> tuple[RunDifference, ...]:
    """Return the differences that handlers caused, without those between the fired events."""
    input_differences = run_differences(*(replace(run, context=run.event.context) for run in (one, other)))
    known = {found.subject for found in input_differences if found.kind == "context"}
    found = run_differences(one, other)
    return tuple(one for one in found if one.kind != "context" or one.subject not in known)


def outcomes_differ(runs: Sequence[RunAtHost]) -> bool:
    """Return whether any host's outcome differs from another's."""
    return any(line.differs for line in compared_outcomes(runs))


def compared_outcomes(runs: Sequence[RunAtHost]) -> tuple[ComparedOutcome, ...]:
    """Return outcome, order, each handler, messages and their delivery, context, and time."""
    return (
        ComparedOutcome("outcome", tuple(map(_outcome, runs))),
        ComparedOutcome("order", tuple(_order(one.run) for one in runs)),
        *_handlers(runs),
        *_messages(runs),
        ComparedOutcome("input context", tuple(_given(one.run) for one in runs), is_compared=False),
        *_context(runs),
        ComparedOutcome("time", tuple(_time(one.run) for one in runs), is_compared=False),
    )


def _outcome(host_run: RunAtHost) -> str:
    run = host_run.run
    if run is None:
        return f"not fired: {host_run.problem}"
    if run.cancelled:
        return "cancelled"
    if run.ending.verdict or run.ending.failure:
        return run.ending.verdict or run.ending.failure or ""
    failed = f", {len(run.failed)} failed" if run.failed else ""
    return f"{len(run.results)} ran{failed}"


def _order(run: Run | None) -> str:
    return " → ".join(result.call.name for result in run.results) if run and run.results else NO_VALUE


def _handlers(runs: Sequence[RunAtHost]) -> Iterator[ComparedOutcome]:
    names = dict.fromkeys(result.call.name for one in runs if one.run for result in one.run.results)
    for name in names:
        yield ComparedOutcome(name, tuple(_ended(one, name) for one in runs))


def _ended(host_run: RunAtHost, name: str) -> str:
    if host_run.run is None:
        return NO_VALUE
    results = [result for result in host_run.run.results if result.call.name == name]
    if results:
        return ", ".join(outcome_text(result.status, result.error) for result in results)
    reason = next((item.reason for item in host_run.run.not_run if item.name == name), "is not a hook there")
    return f"not run: {reason}"


def _messages(runs: Sequence[RunAtHost]) -> Iterator[ComparedOutcome]:
    if not any(one.run and one.run.messages for one in runs):
        return
    texts = (json.dumps(list(one.run.messages), ensure_ascii=False) if one.run else NO_VALUE for one in runs)
    yield ComparedOutcome("messages", tuple(texts))
    yield ComparedOutcome("delivery", tuple(_fate(one.run) for one in runs))


def _fate(run: Run | None) -> str:
    if run is None or not run.messages:
        return NO_VALUE
    return "delivered" if run.delivers else "ignored"


def _given(run: Run | None) -> str:
    return ", ".join(map(str, run.event.context)) or NO_VALUE if run is not None else NO_VALUE


def _context(runs: Sequence[RunAtHost]) -> Iterator[ComparedOutcome]:
    """Yield a line for each part of the context that handlers changed differently."""
    fired = [one.run for one in runs if one.run is not None]
    found = [one for run in fired[1:] for one in handler_differences(fired[0], run) if one.kind == "context"]
    for path in dict.fromkeys(one.subject for one in found):
        values = {id(fired[0]): next(one.before for one in found if one.subject == path)}
        for run in fired[1:]:
            same = next(
                (one.after for one in handler_differences(fired[0], run) if one.subject == path),
                values[id(fired[0])],
            )
            values[id(run)] = same
        yield ComparedOutcome(
            f"context.{path}",
            tuple(_value(values[id(one.run)]) if one.run is not None else NO_VALUE for one in runs),
        )


def _value(value: object) -> str:
    return NO_VALUE if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _time(run: Run | None) -> str:
    return duration(sum(result.took for result in run.results)) if run is not None else NO_VALUE

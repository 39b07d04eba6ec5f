"""Hooks of several hosts side by side: what each host makes of a hook, and what differs. Frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from hookscope.model.hook_status import HookStatus, State
from hookscope.model.host import Dialect, Host
from hookscope.model.inventory import Inventory, RejectedHook
from hookscope.values import dataclass

# One thing that hosts may do otherwise, the most telling first.
Facet = Literal[
    "found", "handler", "metadata", "state", "why", "winner", "events", "messages", "order", "name", "env",
    "program", "variable",
]  # fmt: skip
EventDelivery = Literal[
    "sent", "never", "unknown"
]  # never: the host documents the event and does not send it
MetadataReading = Literal["read", "elsewhere", "unread", "none", ""]
"""elsewhere: it stands under another host's name; unread: under this one's, in a spelling it does not read;
empty: the hook is none of a folder."""
NO_HOOK, ABSENT = "no hook", "absent"  # beside the states: rejected, and not even looked at


@dataclass(frozen=True, slots=True)
class FolderRules:
    """What a host looks for in a hook's folder."""

    namespace: str  # metadata.<namespace>
    handlers: tuple[str, ...]  # the host's own names, first wins
    json_only: bool = False  # metadata counts only as JSON that begins on its line


@dataclass(frozen=True, slots=True)
class ComparedHost:
    """A host, what a look at it found with every folder trusted, and what it reads of a hook."""

    host: Host
    inventory: Inventory
    reads: FolderRules | None  # None: it has no HOOK.md folders
    label: str = ""  # of surroundings, where not hosts but those are compared: "here", "unit gateway"

    @property
    def dialect(self) -> Dialect:
        """Its host's rules."""
        return self.host.dialect

    @property
    def name(self) -> str:
        """What tells it from the other sides."""
        return self.label or self.dialect.name

    @property
    def called(self) -> str:
        """The host in a sentence: `Milady`, `Milady 2.0.0-alpha.76`; of surroundings their name."""
        return self.label or f"{self.dialect.product} {self.dialect.version}".rstrip()


@dataclass(frozen=True, slots=True)
class EventAtHost:
    """An event that a hook listens to, at one host."""

    key: str
    there: EventDelivery
    delivers: bool = False  # do messages that are pushed on it reach the user
    near: str = ""  # the event of this host that was perhaps meant


@dataclass(frozen=True, slots=True)
class HookAtHost:
    """One hook at one host. Trust is left out: it is asked before code runs, and no host's rule."""

    side: ComparedHost
    state: str  # of State; NO_HOOK, ABSENT
    why: str = ""  # the sentence of what stops it; empty where nothing does
    gate: str = ""  # the first check that is shut
    row: HookStatus | None = None
    rejected: RejectedHook | None = None
    events: tuple[EventAtHost, ...] = ()
    metadata: MetadataReading = ""
    place: int | None = None  # in the order of registering, from 1; None: it does not register

    @property
    def there(self) -> bool:
        """Is it a hook to this host."""
        return self.row is not None

    @property
    def registers(self) -> bool:
        """Does nothing of this host keep it from being registered."""
        return self.state in (State.READY, State.SILENT) and self.host_runs

    @property
    def called(self) -> bool:
        """Would this host call it, as soon as one of its events comes."""
        return self.state == State.READY and self.host_runs

    @property
    def host_runs(self) -> bool:
        """False where only Hookscope would run this handler."""
        return self.row is None or not self.row.hook.beyond_host

    @property
    def source(self) -> str:
        """Where this side found it: workspace, bundled, …; empty: nowhere."""
        if self.row is not None:
            return self.row.hook.folder.source
        return self.rejected.source if self.rejected is not None else ""

    @property
    def path(self) -> Path | None:
        """Its folder or file; None: not found, or not on disk."""
        if self.row is not None:
            return self.row.hook.path
        return self.rejected.path if self.rejected is not None else None

    @property
    def handler(self) -> Path | None:
        """Its handler's file; None: not found, or none."""
        return self.row.hook.handler if self.row is not None else None


@dataclass(frozen=True, slots=True)
class HostDifference:
    """One thing that the hosts do otherwise, as a sentence that names them."""

    facet: Facet
    text: str


@dataclass(frozen=True, slots=True)
class ComparedHook:
    """One hook, cell by cell in the order of the sides."""

    name: str
    path: Path | None  # where the first host that has it finds it
    cells: tuple[HookAtHost, ...]
    differs: tuple[HostDifference, ...] = ()  # empty: all hosts do the same
    change: tuple[str, ...] = ()  # what to do so that every host calls it; empty: nothing is known to help

    @property
    def events(self) -> tuple[str, ...]:
        """What it listens to, at any host."""
        return tuple(dict.fromkeys(event.key for cell in self.cells for event in cell.events))

    @property
    def everywhere(self) -> bool:
        """Would every host call it."""
        return all(cell.called for cell in self.cells)


@dataclass(frozen=True, slots=True)
class HostTally:
    """How many hooks get how far at one host."""

    found: int  # are hooks to it
    metadata: int  # have metadata that it reads
    registered: int
    called: int  # of these, one of their events is sent at least


CauseKind: TypeAlias = Literal["host", "platform", "home", "settings", "workspace", "path", "variable"]


@dataclass(frozen=True, slots=True)
class DifferenceCause:
    """One thing that surroundings have otherwise, and the hooks that it stops somewhere."""

    what: CauseKind
    text: str
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remedy:
    """What to change in one of the surroundings, so that hooks run there that run in the others."""

    side: str  # its name
    where: str  # how to get at it
    lines: tuple[str, ...]  # to be written there; "…" stands for a value that is not shown
    then: str = ""


@dataclass(frozen=True, slots=True)
class HostComparison:
    """All hooks of some folders, under several dialects; or under one in several surroundings."""

    sides: tuple[ComparedHost, ...]
    lines: tuple[ComparedHook, ...]
    causes: tuple[DifferenceCause, ...] = ()  # of surroundings
    remedies: tuple[Remedy, ...] = ()  # of surroundings

    @property
    def of_surroundings(self) -> bool:
        """Are these not hosts, but surroundings."""
        return any(side.label for side in self.sides)

    @property
    def differing(self) -> tuple[ComparedHook, ...]:
        """The hooks that the sides differ on."""
        return tuple(line for line in self.lines if line.differs)

    @property
    def alike(self) -> int:
        """How many hooks stand alike on all sides."""
        return len(self.lines) - len(self.differing)

    def tallies(self) -> Mapping[str, HostTally]:
        """By the name of the side."""
        return {
            side.name: HostTally(
                found=sum(line.cells[at].there for line in self.lines),
                metadata=sum(line.cells[at].metadata == "read" for line in self.lines),
                registered=sum(line.cells[at].registers for line in self.lines),
                called=sum(line.cells[at].called for line in self.lines),
            )
            for at, side in enumerate(self.sides)
        }

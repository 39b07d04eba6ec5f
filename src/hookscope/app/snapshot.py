"""A snapshot: what one scan of a host found, and the files that it depends on. Frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.event_templates import event_keys
from hookscope.app.project_config import NamedProgram, waiting_programs
from hookscope.app.runs.worker_pools import PYTHON_ONLY
from hookscope.engine.planning import limits_from
from hookscope.engine.registry import Registry
from hookscope.model.hook import Folder, Hook, Language
from hookscope.model.hook_status import HookStatus, Inventory, RejectedHook, State
from hookscope.model.host import Host
from hookscope.model.machine import TrackedFiles
from hookscope.model.run import Plan, Registration, Run
from hookscope.model.trust import TrustTarget, trust_target
from hookscope.model.uncalled_hooks import UncalledHook, uncalled_hooks_of
from hookscope.runtime.limits import Limits
from hookscope.values import dataclass

if TYPE_CHECKING:  # a scan needs no database
    from hookscope.app.load_record import FailedLoad
    from hookscope.storage.journal.run_environment import HandlerFile


class InventoryIndex:
    """Lookups computed from an inventory on first use. Scans with the same result share one."""

    def __init__(self, host: Host, inventory: Inventory) -> None:
        self.host, self.inventory = host, inventory

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The event keys that can be fired here."""
        return event_keys(self.host, self.inventory)

    @cached_property
    def uncalled_hooks(self) -> tuple[UncalledHook, ...]:
        """Every hook, with the facts that plans need if they do not call it."""
        return uncalled_hooks_of(self.inventory, self.host)

    @cached_property
    def awaiting_trust(self) -> tuple[tuple[Hook, TrustTarget], ...]:
        """The untrusted hooks, whatever else stops them, each with the folder to trust."""
        hooks = [row.hook for row in self.inventory.hooks if row.awaits_trust]
        return tuple((hook, trust_target(hook, self.host)) for hook in hooks)

    @cached_property
    def statuses(self) -> Mapping[Hook, HookStatus]:
        return {row.hook: row for row in self.inventory.hooks}

    @cached_property
    def hook_counts(self) -> Mapping[Folder, int]:
        """The number of hooks in each folder that has any."""
        shared = {id(row.hook.folder): row.hook.folder for row in self.inventory.hooks}
        counted = Counter([id(row.hook.folder) for row in self.inventory.hooks])
        found: Counter[Folder] = Counter()
        for number, folder in shared.items():  # thousands of hooks share one folder
            found[folder] += counted[number]
        return found

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[HookStatus | RejectedHook]]:
        """The hooks and then the rejected folders of each name."""
        named: dict[str, list[HookStatus | RejectedHook]] = {}
        for row in self.inventory.hooks:
            named.setdefault(row.hook.name, []).append(row)
        for item in self.inventory.rejected:
            if item.name:
                named.setdefault(item.name, []).append(item)
        return named


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The frozen result of one scan: the host, its inventory, and the registry of subscriptions.

    Equal to itself only: comparing thousands of hooks takes too long.
    """

    host: Host
    inventory: Inventory
    registry: Registry
    dialect_reason: str  # why this dialect
    notice: str = ""  # about other hosts that were found; mostly empty
    unknown_version: str = ""  # the host's detected version, if the dialect does not cover it
    shipped_summary: str = ""  # which hooks the shipped program would run, if not those of the guide
    languages: frozenset[Language] = PYTHON_ONLY  # those that can be run here
    # language → why it cannot run here
    unavailable_languages: Mapping[Language, str] = field(default_factory=dict)
    programs: tuple[NamedProgram, ...] = ()  # named by the workspace
    limits: Limits = Limits()  # default limits of handlers
    quarantined: frozenset[Path] = frozenset()  # handlers that automatic fires skip
    # of ready hooks, in their current version
    failed_loads: Mapping[Hook, FailedLoad] = field(default_factory=dict)
    failed_loads_stamp: tuple[int, ...] = ()  # stamp of the failed loads' file
    # replaced if it belongs to another inventory
    index: InventoryIndex | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        known = self.index
        if known is None or known.inventory is not self.inventory or known.host is not self.host:
            object.__setattr__(self, "index", InventoryIndex(self.host, self.inventory))

    @property
    def _current_index(self) -> InventoryIndex:
        assert self.index is not None
        return self.index

    @property
    def keys(self) -> tuple[str, ...]:
        """The event keys that can be fired here."""
        return self._current_index.keys

    def failed_load(self, call: Registration) -> FailedLoad | None:
        """Return the failed load of a call's handler; None if its file is not known to fail."""
        return self.failed_loads.get(call.hook) if call.hook is not None else None

    def precompute(self) -> None:
        """Compute the lookups over all hooks now, in the thread that scans."""
        for part in ("keys", "uncalled_hooks", "statuses", "awaiting_trust"):
            getattr(self._current_index, part)

    @property
    def uncalled_hooks(self) -> tuple[UncalledHook, ...]:
        """Every hook, with the facts that plans need if they do not call it."""
        return self._current_index.uncalled_hooks

    @property
    def awaiting_trust(self) -> tuple[tuple[Hook, TrustTarget], ...]:
        """The untrusted hooks, whatever else stops them, each with the folder to trust."""
        return self._current_index.awaiting_trust

    @property
    def untrusted_programs(self) -> Mapping[Language, NamedProgram]:
        """The untrusted programs that the workspace names, by the languages that they run."""
        return waiting_programs(self.programs, self.host)

    def display_state(self, row: HookStatus) -> State:
        """Return the state to show: the hook's state, or broken if its file is known not to load."""
        return State.BROKEN if row.hook in self.failed_loads else row.state

    def status_of(self, hook: Hook) -> HookStatus | None:
        """Return the status of a hook, perhaps of another scan; None if the hook no longer exists."""
        return self._current_index.statuses.get(hook) or self.inventory.find_again(hook)

    @property
    def hook_counts(self) -> Mapping[Folder, int]:
        """The number of hooks in each folder that has any."""
        return self._current_index.hook_counts

    @property
    def by_name(self) -> Mapping[str, Sequence[HookStatus | RejectedHook]]:
        """The hooks and then the rejected folders of each name."""
        return self._current_index.by_name

    @property
    def folders(self) -> tuple[Folder, ...]:
        """The scanned folders; those that mainly serve another purpose only if they hold a hook."""
        return tuple(
            folder for folder in self.host.folders if not folder.incidental or folder in self.hook_counts
        )

    def limits_of(self, hook: Hook) -> Limits:
        """Return the limits of this hook's handler, each with its origin."""
        return self.limits.with_hook_limits(hook.meta.limits, limits_from(hook))


Differences = Mapping[Hook, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ScanResult:
    """The result of a scan, and the facts and files that it depends on."""

    host: Host
    inventory: Inventory
    index: InventoryIndex  # valid until a load declares other events
    registrations: tuple[Registration, ...]  # valid if no worker has an older version
    differences: Differences
    shipped_summary: str  # see `Snapshot`
    files: TrackedFiles

    def matches(self, host: Host) -> bool:
        """Return whether a new scan of `host`, which was just opened, would have this result."""
        return _host_facts(self.host) == _host_facts(host) and self.files.unchanged()


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run of the journal that can be shown again. `run` is None if its program ended before the run."""

    id: int
    at: datetime
    plan: Plan
    run: Run | None
    handlers: tuple[HandlerFile, ...] = ()  # the planned handlers, with their files' digests


def _host_facts(host: Host) -> tuple[object, ...]:
    """Return the facts of a host that, besides the files, decide what a scan finds."""
    settings, machine = host.settings, host.machine
    return (
        *(host.dialect.name, host.workspace, host.overrides, host.trust, host.env, host.problems),
        *(settings.value, settings.exists, settings.problems),
        *(machine.platform, machine.cwd, machine.home, machine.assumed, machine.search_path()),
    )

"""The result of a scan: hooks in their orders, and rejected candidates with reasons.

Frozen data.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from hookscope.model.hook import FilePosition, Hook, LogLine, Problem
from hookscope.model.hook_status import HookStatus
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class RejectedHook:
    """A folder or setting that looks like a hook but is not one, and why."""

    path: Path
    source: str
    reason: str
    place: FilePosition | None = None
    name: str = ""  # the hook's name, if known
    ignored: bool = False  # plainly not meant as a hook
    unread_rank: int | None = None  # its folder's rank if unreadable; it may replace a hook


@dataclass(frozen=True, slots=True)
class FoundHooks:
    """What a hook system found on disk, in order, before ranking and gates."""

    hooks: tuple[Hook, ...] = ()
    rejected: tuple[RejectedHook, ...] = ()
    problems: tuple[Problem, ...] = ()
    log: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class StrictLoadState:
    """State kept for a later strict reload: which hook took a name, and hooks named in settings."""

    hooks: tuple[Hook, ...] = ()
    named: frozenset[str] = frozenset()

    def in_order(self, load_order: Sequence[Hook]) -> tuple[Hook, ...]:
        """Return the load order of a strict load.

        A hook without a handler takes part in it, so it takes a name and a position.
        """
        positions = {hook.manifest: position for position, hook in enumerate(self.hooks)}
        folders = [hook for hook in load_order if hook.manifest in positions]
        rest = [hook for hook in load_order if not positions or hook.kind != "folder"]
        return (*sorted(folders, key=lambda hook: positions[hook.manifest]), *rest)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The winner of each name, and the host's two orders, which may differ (disc-03)."""

    load_order: tuple[Hook, ...] = ()
    report_order: tuple[Hook, ...] = ()
    shadowed_by: Mapping[Hook, Hook] = field(default_factory=dict)
    log: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """The result of a scan: every hook with its status, and the rejected candidates with reasons.

    `hooks` lists the winners in report order, then the shadowed hooks. `load_order` is the order in
    which winners register, which decides the calling order.
    """

    hooks: tuple[HookStatus, ...] = ()
    rejected: tuple[RejectedHook, ...] = ()
    problems: tuple[Problem, ...] = ()
    log: tuple[LogLine, ...] = ()
    load_order: tuple[Hook, ...] = ()
    report_order: tuple[Hook, ...] = ()

    def find(self, name: str) -> HookStatus | None:
        """Return the winning hook of that name, else of that settings key, else None."""
        rows = [*self.hooks]
        rows.sort(key=lambda row: row.verdict.shadowed_by is not None)
        by_name = (row for row in rows if row.hook.name == name)
        by_key = (row for row in rows if row.hook.key == name)
        return next(by_name, None) or next(by_key, None)

    def status_of(self, hook: Hook) -> HookStatus:
        """Return the status of this hook. Raises KeyError if it is not in the inventory."""
        for row in self.hooks:
            if row.hook is hook:
                return row
        raise KeyError(hook.name)

    def find_again(self, hook: Hook) -> HookStatus | None:
        """Return the status of a hook from another scan, or None if it is gone."""
        identity = (hook.name, hook.kind, hook.path, hook.handler)
        rows = [
            row
            for row in self.hooks
            if (row.hook.name, row.hook.kind, row.hook.path, row.hook.handler) == identity
        ]
        return next((row for row in rows if row.hook is hook), rows[0] if rows else None)

"""What a look has found: hooks in their orders, and what was no hook and why. Frozen data."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path

from hookscope.model.hook import FilePosition, Hook, LogLine, Problem
from hookscope.model.hook_status import HookStatus
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class RejectedHook:
    """A folder or setting that looks like a hook and is none, and why."""

    path: Path
    source: str
    reason: str
    place: FilePosition | None = None
    name: str = ""  # what the hook would be called, as far as that is known
    ignored: bool = False  # it is plainly something else: nobody expects it to run
    unseen: int | None = None  # of what cannot be read: its folder's rank. It may replace a hook of its name


@dataclass(frozen=True, slots=True)
class FoundHooks:
    """What a hook system saw on disk, before anybody wins or is judged. `hooks` in order of finding."""

    hooks: tuple[Hook, ...] = ()
    rejected: tuple[RejectedHook, ...] = ()
    problems: tuple[Problem, ...] = ()
    log: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class StrictLoadState:
    """What a load leaves behind for a later strict one: who took a name, and whom the settings named."""

    hooks: tuple[Hook, ...] = ()
    named: frozenset[str] = frozenset()

    def in_order(self, load_order: Sequence[Hook]) -> tuple[Hook, ...]:
        """The load order of a strict look: who has no handler takes part there, and so a name and a place."""
        places = {hook.manifest: place for place, hook in enumerate(self.hooks)}
        folders = [hook for hook in load_order if hook.manifest in places]
        rest = [hook for hook in load_order if not places or hook.kind != "folder"]
        return (*sorted(folders, key=lambda hook: places[hook.manifest]), *rest)


@dataclass(frozen=True, slots=True)
class Ranking:
    """Who wins where names collide, and the host's two orders, which need not agree (disc-03)."""

    load_order: tuple[Hook, ...] = ()
    report_order: tuple[Hook, ...] = ()
    shadowed_by: Mapping[Hook, Hook] = field(default_factory=dict)
    log: tuple[LogLine, ...] = ()


@dataclass(frozen=True, slots=True)
class Inventory:
    """What `look` found: every hook with its verdict, and what was no hook and why.

    `hooks` lists winners in report order, then the shadowed. `load_order` is the order in which
    winners register, which decides the order of calls.
    """

    hooks: tuple[HookStatus, ...] = ()
    rejected: tuple[RejectedHook, ...] = ()
    problems: tuple[Problem, ...] = ()
    log: tuple[LogLine, ...] = ()
    load_order: tuple[Hook, ...] = ()
    report_order: tuple[Hook, ...] = ()

    def find(self, name: str) -> HookStatus | None:
        """The hook of that name that wins, else of that settings key; None where there is none."""
        rows = [*self.hooks]
        rows.sort(key=lambda row: row.verdict.shadowed_by is not None)
        by_name = (row for row in rows if row.hook.name == name)
        by_key = (row for row in rows if row.hook.key == name)
        return next(by_name, None) or next(by_key, None)

    def standing(self, hook: Hook) -> HookStatus:
        """The row of this very hook. Raises KeyError where the inventory has none."""
        for row in self.hooks:
            if row.hook is hook:
                return row
        raise KeyError(hook.name)

    def again(self, hook: Hook) -> HookStatus | None:
        """The row of a hook that perhaps another look found; None where it is gone since."""
        known = (hook.name, hook.kind, hook.path, hook.handler)
        rows = [
            row
            for row in self.hooks
            if (row.hook.name, row.hook.kind, row.hook.path, row.hook.handler) == known
        ]
        return next((row for row in rows if row.hook is hook), rows[0] if rows else None)

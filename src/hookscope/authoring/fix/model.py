"""Fixes and repairs of a hook: an edit, a value to enter first, or an instruction. Frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.snapshot import Snapshot
from hookscope.model.hook_status import Effect, Gate, HookStatus, State
from hookscope.storage.edits.change import Change, combined_changes
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.authoring.lint.model import LintFinding


@dataclass(frozen=True, slots=True)
class Fix:
    """A fix for one failed gate. Creating a Fix writes nothing.

    With `changes`, it can be written; with `required_values`, it needs values first. Otherwise `hint` is a
    command for the user to copy, or `why_not` is the reason why nothing can be written. With `is_manual`,
    `why_not` is an instruction for the user.
    """

    gate: str
    title: str
    changes: tuple[Change, ...] = ()
    required_values: tuple[str, ...] = ()  # names of the values it needs
    hint: str = ""
    why_not: str = ""
    is_manual: bool = False
    failed_gate: Gate | None = None  # None for a rejected folder and for lint


@dataclass(frozen=True, slots=True)
class Repair:
    """All fixes for one hook, and the hook's status after them. Creating a Repair writes nothing."""

    name: str
    before: HookStatus | None  # None: it was a rejected folder
    after: HookStatus | None
    fixes: tuple[Fix, ...] = ()
    others: tuple[Effect, ...] = ()  # other hooks whose state it changes
    notices: str = ""  # when the host notices the changes
    remarks: tuple[LintFinding, ...] = ()  # lint findings that no fix here covers

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes to write, one per file."""
        return combined_changes(change for fix in self.fixes for change in fix.changes)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that it changes, creates or renames."""
        return tuple(path for change in self.changes for path in change.paths)

    @property
    def required_values(self) -> tuple[str, ...]:
        """The values that are still missing."""
        return tuple(dict.fromkeys(name for fix in self.fixes for name in fix.required_values))

    @property
    def fixed_gates(self) -> tuple[str, ...]:
        """The gates that its changes fix completely."""
        failed = {gate.name for gate in self.remaining_gates}
        named = (fix.gate for fix in self.fixes if fix.changes and fix.failed_gate is not None)
        return tuple(dict.fromkeys(name for name in named if name not in failed))

    @property
    def ready(self) -> bool:
        """True if the hook would be ready afterwards."""
        return self.after is not None and self.after.state is State.READY

    @property
    def remaining_gates(self) -> tuple[Gate, ...]:
        """The gates that would still fail."""
        return self.after.verdict.failed() if self.after is not None else ()


@dataclass(frozen=True, slots=True)
class WorkspaceRepair:
    """The edits of all hooks' own files that fix the hooks. Creating a WorkspaceRepair writes nothing."""

    repairs: tuple[Repair, ...]  # those with edits
    left: tuple[Repair, ...]  # hooks that need a value, trust or a manual fix

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes to write, one per file."""
        return combined_changes(change for repair in self.repairs for change in repair.changes)

    @property
    def choices(self) -> tuple[tuple[Repair, ...], ...]:
        """The repairs that can be written on their own; those that edit the same file belong together."""
        groups: dict[Path, tuple[Repair, ...]] = {}
        for repair in self.repairs:
            joined = {id(one): one for path in repair.paths for one in groups.get(path, ())}
            group = (*joined.values(), repair)
            groups |= dict.fromkeys((path for one in group for path in one.paths), group)
        return tuple({id(group): group for group in groups.values()}.values())

    @property
    def steps(self) -> tuple[Change, ...]:
        """The changes as undoable steps: one for all files, and one for each change of a renamed file."""
        changes = self.changes
        uses = Counter(path for change in changes for path in change.paths)
        together = [change for change in changes if all(uses[path] == 1 for path in change.paths)]
        apart = [change for change in changes if any(uses[path] > 1 for path in change.paths)]
        if not together:
            return tuple(apart)
        meaning = "; ".join(change.meaning for change in together)
        return (replace(together[0], meaning=meaning, other_changes=tuple(together[1:])), *apart)

    @property
    def ready_count(self) -> int:
        """How many hooks would be ready afterwards."""
        return sum(repair.ready for repair in self.repairs)


@dataclass(frozen=True, slots=True)
class FixValues:
    """Values that the user entered, by name; a single one may have no name."""

    named: Mapping[str, str] = field(default_factory=dict)
    unnamed: str | None = None

    def values_for(self, names: tuple[str, ...]) -> dict[str, str] | None:
        """Return a value for each name; None if one is missing."""
        if self.unnamed is not None and len(names) == 1 and names[0] not in self.named:
            return {names[0]: self.unnamed}
        if any(name not in self.named for name in names):
            return None
        return {name: self.named[name] for name in names}


NO_VALUES = FixValues()


def status_after_repair(repair: Repair, view: Snapshot) -> HookStatus | None:
    """Return the status of a repaired hook in a later snapshot."""
    sought = repair.after or repair.before
    if sought is None:
        return view.inventory.find(repair.name)
    hook = sought.hook
    rows = (row for row in view.inventory.hooks if row.hook.kind == hook.kind)
    return next((row for row in rows if (row.hook.path, row.hook.name) == (hook.path, hook.name)), None)

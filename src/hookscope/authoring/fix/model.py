"""Fixes and repairs of a hook: an edit, a value to enter first, or an instruction. Frozen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from hookscope.app.snapshot import Snapshot
from hookscope.model.hook_status import Effect, Gate, HookStatus, State
from hookscope.storage.edits.change import Change, combined_changes
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.authoring.lint.model import LintFinding


@dataclass(frozen=True, slots=True)
class Fix:
    """What can be done about one shut gate. Making one writes nothing.

    With `changes` it can be written; with `asks` it wants values first; else `hint` is shown and copied,
    and never run, and `why_not` says why nothing is written; with `by_hand` it says what to do instead.
    """

    gate: str
    title: str
    changes: tuple[Change, ...] = ()
    asks: tuple[str, ...] = ()  # the names of the values that it wants
    hint: str = ""
    why_not: str = ""
    by_hand: bool = False
    shut: Gate | None = None  # the gate itself; None where the hook was none, and for lint


@dataclass(frozen=True, slots=True)
class Repair:
    """All that can be done for one hook, and how it would stand then. Making it writes nothing."""

    name: str
    before: HookStatus | None  # None: it was no hook at all
    after: HookStatus | None
    fixes: tuple[Fix, ...] = ()
    others: tuple[Effect, ...] = ()  # other hooks whose state it changes
    notices: str = ""  # when the host notices
    remarks: tuple[LintFinding, ...] = ()  # of lint, that none of these fixes is about

    @property
    def changes(self) -> tuple[Change, ...]:
        """What is written, one change a file."""
        return combined_changes(change for fix in self.fixes for change in fix.changes)

    @property
    def asks(self) -> tuple[str, ...]:
        """The values that are still wanted."""
        return tuple(dict.fromkeys(name for fix in self.fixes for name in fix.asks))

    @property
    def opened(self) -> tuple[str, ...]:
        """The checks that its changes open, all of each."""
        shut = {gate.name for gate in self.still}
        named = (fix.gate for fix in self.fixes if fix.changes and fix.shut is not None)
        return tuple(dict.fromkeys(name for name in named if name not in shut))

    @property
    def ready(self) -> bool:
        """Would it run then."""
        return self.after is not None and self.after.state is State.READY

    @property
    def still(self) -> tuple[Gate, ...]:
        """The gates that would stay shut."""
        return self.after.verdict.shut() if self.after is not None else ()


@dataclass(frozen=True, slots=True)
class FixValues:
    """The values that the user has given, by name; one alone may go without its name."""

    named: Mapping[str, str] = field(default_factory=dict)
    plain: str | None = None

    def of(self, names: tuple[str, ...]) -> dict[str, str] | None:
        """A value for each of these names; None where one is missing."""
        if self.plain is not None and len(names) == 1 and names[0] not in self.named:
            return {names[0]: self.plain}
        if any(name not in self.named for name in names):
            return None
        return {name: self.named[name] for name in names}


NO_VALUES = FixValues()


def status_after_repair(repair: Repair, view: Snapshot) -> HookStatus | None:
    """The hook of a repair as a later look has it."""
    sought = repair.after or repair.before
    if sought is None:
        return view.inventory.find(repair.name)
    mine = sought.hook
    rows = (row for row in view.inventory.hooks if row.hook.kind == mine.kind)
    return next((row for row in rows if (row.hook.path, row.hook.name) == (mine.path, mine.name)), None)

"""What a look answers, and what that rests on. Frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.dialect import Host
from hookscope.core.hooks import Folder, Hook, Inventory, Language, Rejected, Standing
from hookscope.core.noted import NotedFiles
from hookscope.core.runs import Plan, Registration, Registry, Run
from hookscope.runtime import Limits
from hookscope.values import dataclass
from hookscope.workbench.crew import PYTHON

if TYPE_CHECKING:  # a look needs no database
    from hookscope.journal.circumstances import HandlerFile


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One look, frozen: the host as it was opened, what was found, who listens to what.

    Equal to itself only: among thousands of hooks it takes long to find that two looks found the same.
    """

    host: Host
    inventory: Inventory
    registry: Registry
    because: str  # why this dialect
    keys: tuple[str, ...]  # the event keys that can be fired here
    languages: frozenset[Language] = PYTHON  # those that can be run here
    without: str = ""  # what keeps the others from running
    limits: Limits = Limits()  # of every handler, unless it says otherwise
    quarantined: frozenset[Path] = frozenset()  # handlers that no automatic fire runs

    # How many hooks lie in each folder that has some.
    hooks_in: Mapping[Folder, int] = field(init=False, compare=False, repr=False)
    # All of one name: hooks first, then what is none.
    named: Mapping[str, Sequence[Standing | Rejected]] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        shared = {id(row.hook.folder): row.hook.folder for row in self.inventory.hooks}
        counted = Counter([id(row.hook.folder) for row in self.inventory.hooks])
        found: Counter[Folder] = Counter()
        for number, folder in shared.items():  # thousands of hooks share one folder
            found[folder] += counted[number]
        object.__setattr__(self, "hooks_in", found)
        named: dict[str, list[Standing | Rejected]] = {}
        for row in self.inventory.hooks:
            named.setdefault(row.hook.name, []).append(row)
        for item in self.inventory.rejected:
            if item.name:
                named.setdefault(item.name, []).append(item)
        object.__setattr__(self, "named", named)

    @property
    def folders(self) -> tuple[Folder, ...]:
        """The folders that were looked in, but for those that are for other things and hold no hook."""
        return tuple(folder for folder in self.host.folders if not folder.aside or folder in self.hooks_in)

    def limits_of(self, hook: Hook) -> Limits:
        """What holds for this hook's handler, each limit with its origin."""
        return self.limits.of_hook(hook.meta.limits)


Differences = Mapping[Hook, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Looked:
    """The answer of a look, and what it rests on."""

    host: Host
    inventory: Inventory
    registrations: tuple[Registration, ...]  # where no worker holds an older version
    differences: Differences
    keys: tuple[str, ...]  # the event keys, as long as no load declares others
    files: NotedFiles

    def holds(self, host: Host) -> bool:
        """Would a look at this host, opened just now, find the same."""
        mine = self.host
        same = (mine.dialect.name, mine.workspace, mine.choices, mine.trust, mine.env, mine.problems) == (
            host.dialect.name, host.workspace, host.choices, host.trust, host.env, host.problems,
        )  # fmt: skip
        settings = (mine.settings.value, mine.settings.exists, mine.settings.problems)
        then = (host.settings.value, host.settings.exists, host.settings.problems)
        there, here = mine.surroundings, host.surroundings
        around = (there.platform, there.cwd, there.home, there.assumed, there.search_path())
        now = (here.platform, here.cwd, here.home, here.assumed, here.search_path())
        return same and settings == then and around == now and self.files.unchanged()


@dataclass(frozen=True, slots=True)
class PastRun:
    """A run from the journal, as it can be shown again. No `run`: its program ended before it did."""

    id: int
    at: datetime
    plan: Plan
    run: Run | None
    handlers: tuple[HandlerFile, ...] = ()  # those that were planned, as their files were then

"""An install, update or uninstall as it would be. Frozen; making it writes nothing of the host's."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from hookscope.changes import Change, read_now
from hookscope.core.standing import Standing
from hookscope.lint.reading import Uses
from hookscope.packs.edits import Setting, Wanted
from hookscope.packs.fetched import Fetched
from hookscope.packs.limits import size_in_words
from hookscope.packs.progress import Progress
from hookscope.packs.record import Record
from hookscope.packs.standing import OnDisk
from hookscope.packs.tree import PackFile
from hookscope.values import dataclass
from hookscope.workbench.toggle import Effect

__all__ = [
    "Action",
    "Done",
    "FileAction",
    "FilePlan",
    "HookPlan",
    "OnDisk",
    "Planned",
    "Progress",
    "Record",
    "UpToDate",
    "Uses",
    "size_in_words",
]

Action = Literal["install", "update", "uninstall"]
FileAction = Literal["add", "replace", "remove", "same"]

NO_USES = Uses()
AS_INSTALLED = OnDisk()


@dataclass(frozen=True, slots=True)
class HookPlan:
    """One hook of the pack, as it would stand."""

    name: str
    path: Path  # its folder then
    row: Standing
    uses: Uses


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file of the pack."""

    path: Path
    action: FileAction
    size: int
    runnable: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """What would be written, and what that means."""

    action: Action
    id: str
    before: Record | None  # what is installed now
    after: Record | None  # what would be, but for the digests of dependencies; None: nothing
    fetched: Fetched | None
    trees: Mapping[Path, Mapping[str, PackFile]]  # by where it goes
    change: Change  # of the settings
    unset: tuple[Setting, ...] = ()
    wanted: tuple[Wanted, ...] = ()
    handed: tuple[Record, ...] = ()  # other packs, with what they take over
    hooks: tuple[HookPlan, ...] = ()
    shared: Uses = NO_USES  # what sources use that belong to no hook alone
    files: tuple[FilePlan, ...] = ()
    others: tuple[Effect, ...] = ()
    on_disk: OnDisk = AS_INSTALLED  # of what is installed now
    needs: tuple[str, ...] = ()  # packages that it depends on
    apart: bool = False  # each hook goes by itself, without the rest of its package
    left_out: tuple[str, ...] = ()
    drift: str = ""  # a sentence where the source gives something else than it gave under the same name
    notes: tuple[str, ...] = ()

    @property
    def dependencies(self) -> bool:
        """Is npm to install what it depends on?"""
        return self.after is not None and self.after.dependencies

    @property
    def unaccepted(self) -> str:
        """Return what fails its integrity check and would be installed over, as a sentence; else "".

        That is the source, which gives other bytes for the same version, or a pack with files that have
        changed on disk. Nothing is installed over either unless somebody accepts just that.
        """
        if self.after is None or self.before is None:
            return ""
        if self.drift:
            return f"{self.drift}."
        if self.on_disk.word != "changed":
            return ""
        disk = self.on_disk
        first = (*disk.changed, *disk.missing, *disk.added)
        more = f" and {len(first) - 1} more" if len(first) > 1 else ""
        return f"{self.id} has changed on disk since it was installed: {first[0]}{more}."

    @property
    def comes(self) -> str:
        """What becomes of what it depends on, for people."""
        if self.dependencies:
            return "installed too, scripts off"
        if self.apart:
            return "not installed: beside each hook by itself there is no room for it"
        return "not installed: --dependencies does that"

    def file_change(self, file: FilePlan) -> Change:
        """One file against what stands there now: its `preview` is a diff. Raises CannotWrite."""
        old = read_now(file.path)
        new = next(
            (
                files[file.path.relative_to(folder).as_posix()].content
                for folder, files in self.trees.items()
                if file.action != "remove" and file.path.is_relative_to(folder)
            ),
            None,
        )
        return Change(file.path, f"{self.action} {self.id}", old, new)


@dataclass(frozen=True, slots=True)
class UpToDate:
    """Nothing to update, and why."""

    record: Record
    why: str
    on_disk: OnDisk = AS_INSTALLED


@dataclass(frozen=True, slots=True)
class Done:
    """It is on disk."""

    planned: Planned
    record: Record | None
    kept: Path | None  # where files are that had been changed

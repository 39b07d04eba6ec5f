"""PackPlan: what an install, update or uninstall would write, and what that changes.

Making one writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from hookscope.engine.settings_entries import HostInstall
from hookscope.hosts.source.facts import HandlerUses
from hookscope.model.hook_status import Effect, HookStatus
from hookscope.model.host import Host
from hookscope.model.inventory import Inventory
from hookscope.model.refusal import Refusal
from hookscope.model.text import shell_path
from hookscope.packs.errors import PackError, Progress, pack_error_reason
from hookscope.packs.fetch.specs import FetchedPackage
from hookscope.packs.file_tree import PackFile
from hookscope.packs.index import AppliedSetting, InstalledPack, PackIntegrity, PackSetting
from hookscope.packs.package_checks import size_in_words
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import Change, read_current
from hookscope.values import dataclass

__all__ = [
    "HandlerUses",
    "InstalledPack",
    "PackAction",
    "PackChanged",
    "PackFileAction",
    "PackFilePlan",
    "PackHookPlan",
    "PackIntegrity",
    "PackPlan",
    "PackUpToDate",
    "Progress",
    "size_in_words",
]

PackAction = Literal["install", "update", "uninstall"]
PackFileAction = Literal["add", "replace", "remove", "same"]

NO_USES = HandlerUses()
AS_INSTALLED = PackIntegrity()


@dataclass(frozen=True, slots=True)
class PackHookPlan:
    """One hook of the pack, as it would stand."""

    name: str
    path: Path  # its folder then
    row: HookStatus
    uses: HandlerUses


@dataclass(frozen=True, slots=True)
class PackFilePlan:
    """One file of the pack."""

    path: Path
    action: PackFileAction
    size: int
    runnable: bool = False


@dataclass(frozen=True, slots=True)
class PackPlan:
    """What would be written, and what that means."""

    action: PackAction
    id: str
    before: InstalledPack | None  # what is installed now
    after: InstalledPack | None  # what would be, but for the digests of dependencies; None: nothing
    fetched: FetchedPackage | None
    trees: Mapping[Path, Mapping[str, PackFile]]  # by where it goes
    change: Change  # of the settings
    removed_settings: tuple[AppliedSetting, ...] = ()
    required_settings: tuple[PackSetting, ...] = ()
    handed_over: tuple[InstalledPack, ...] = ()  # other packs, with what they take over
    hooks: tuple[PackHookPlan, ...] = ()
    shared_uses: HandlerUses = NO_USES  # what sources use that belong to no hook alone
    files: tuple[PackFilePlan, ...] = ()
    other_effects: tuple[Effect, ...] = ()
    on_disk: PackIntegrity = AS_INSTALLED  # of what is installed now
    dependency_ranges: tuple[str, ...] = ()  # packages that it depends on
    is_split: bool = False  # each hook goes by itself, without the rest of its package
    excluded: tuple[str, ...] = ()
    drift: str = ""  # a sentence where the source gives something else than it gave under the same name
    notes: tuple[str, ...] = ()

    @property
    def dependencies(self) -> bool:
        """Is npm to install what it depends on?"""
        return self.after is not None and self.after.dependencies

    @property
    def integrity_problem(self) -> str:
        """Return what fails its integrity check and would be installed over, as a sentence; else "".

        That is the source, which gives other bytes for the same version, or a pack with files that have
        changed on disk. Nothing is installed over either unless somebody accepts just that.
        """
        if self.after is None or self.before is None:
            return ""
        if self.drift:
            return f"{self.drift}."
        if self.on_disk.state != "changed":
            return ""
        disk = self.on_disk
        first = (*disk.changed, *disk.missing, *disk.added)
        more = f" and {len(first) - 1} more" if len(first) > 1 else ""
        return f"{self.id} has changed on disk since it was installed: {first[0]}{more}."

    @property
    def dependency_note(self) -> str:
        """What becomes of what it depends on, for people."""
        if self.dependencies:
            return "installed too, scripts off"
        if self.is_split:
            return "not installed: beside each hook by itself there is no room for it"
        return "not installed: --dependencies does that"

    def file_change(self, file: PackFilePlan) -> Change:
        """One file against what stands there now: its `preview` is a diff. Raises CannotWrite."""
        old = read_current(file.path)
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
class PackUpToDate:
    """Nothing to update, and why."""

    record: InstalledPack
    reason: str
    on_disk: PackIntegrity = AS_INSTALLED


@dataclass(frozen=True, slots=True)
class PackChanged:
    """It is on disk."""

    plan: PackPlan
    record: InstalledPack | None
    kept_folder: Path | None  # where files are that had been changed


def effects_on_other_hooks(
    inventory: Inventory, inventory_after: Inventory, own_paths: set[Path], removed: Iterable[Path]
) -> Iterator[Effect]:
    """Hooks that are none of the pack, and stand otherwise then."""
    removed_folders = tuple(removed)
    for row in inventory.hooks:
        hook = row.hook
        if hook.path is not None and (
            hook.path in own_paths or any(hook.path.is_relative_to(one) for one in removed_folders)
        ):
            continue
        row_after = next(
            (
                other
                for other in inventory_after.hooks
                if (other.hook.path, other.hook.name, other.hook.kind) == (hook.path, hook.name, hook.kind)
            ),
            None,
        )
        if row_after is not None and row_after.state is not row.state:
            yield Effect(hook.name, hook.folder.source, row.state, row_after.state)


def host_install_refusal(install: HostInstall, host: Host) -> Refusal:
    """The host keeps its own record of it, and Hookscope has not the bytes that it put in place."""
    product, program, place = host.dialect.product, host.dialect.layout.program, install.place
    where = f" ({host.machine.short(place.file)}:{place.line})" if place else ""
    hint = (
        f"Ask {product}" + (f": `{program} hooks update {shell_path(install.id)}`" if program else "") + "."
    )
    return Refusal(f"{install.id} was installed by {product} itself{where}, not by Hookscope.", hint)


def check_integrity_accepted(plan: PackPlan, *, accepted: bool) -> None:
    """Raise Refusal for a plan that installs over a failed integrity check, unless that was accepted."""
    if plan.integrity_problem and not accepted:
        raise Refusal(
            f"{plan.integrity_problem} Nothing was written.",
            "--dry-run --diff shows it; --accept-changed installs it and keeps copies of changed files.",
        )


@contextmanager
def errors_as_refusals() -> Iterator[None]:
    """What the rooms below refuse, as a Refusal."""
    try:
        yield
    except PackError as error:
        raise Refusal(error.problem, error.hint) from None
    except ChangeError as error:
        raise Refusal(str(error)) from None
    except OSError as error:
        raise Refusal(f"It cannot be written: {pack_error_reason(error)}.") from None

"""PackPlan: what an install, update or uninstall would write, and its effects. Nothing is written here."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from hookscope.engine.discovery import discover, discover_system
from hookscope.engine.examination import examine
from hookscope.engine.settings_entries import HostInstall
from hookscope.hosts.dialects import GUIDES
from hookscope.hosts.folders import folder_system_of
from hookscope.hosts.folders.search_paths import MANAGED, hooks_folder
from hookscope.hosts.settings.host_opener import open_host
from hookscope.hosts.source.facts import HandlerUses
from hookscope.model.failure import Refusal
from hookscope.model.hook import Hook
from hookscope.model.hook_status import Effect, HookStatus, Inventory, effects_of_change
from hookscope.model.host import Host, PackRules
from hookscope.model.machine import Files, FolderItem, FoundProgram, PathFacts, RealFiles
from hookscope.model.text import shell_path
from hookscope.packs.errors import PackError, pack_error_reason
from hookscope.packs.file_tree import PackFile
from hookscope.packs.index import AppliedSetting, InstalledPack, PackIntegrity, PackSetting
from hookscope.packs.package import HookPackage, check_hook_names, check_settings_keys
from hookscope.packs.specs import FetchedPackage
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import Change, read_current
from hookscope.values import dataclass


class PackDisk:
    """A view of a disk with added files and removed folders. Implements `Files`."""

    def __init__(
        self, files: Files, added: Mapping[Path, bytes | None], removed: Collection[Path] = ()
    ) -> None:
        """`added`: bytes by path; None: the file is gone."""
        self._files = files
        self._added = added
        self._removed = frozenset(removed)
        self._folders: dict[Path, dict[str, Path]] = {}
        for path, content in added.items():
            child = path
            while content is not None and child != child.parent:
                if child.name in self._folders.setdefault(child.parent, {}):
                    break
                self._folders[child.parent][child.name] = child
                child = child.parent

    def children(self, folder: Path) -> list[FolderItem]:
        found = {child.name: child for child in self._real_children(folder)}
        for name, path in self._folders.get(folder, {}).items():
            found[name] = FolderItem(name, path, linked=False, folder=path in self._folders)
        return sorted(found.values(), key=lambda child: os.fsencode(child.name))

    def names(self, folder: Path) -> list[str]:
        return [child.name for child in self.children(folder)]

    def _real_children(self, folder: Path) -> list[FolderItem]:
        try:
            found = [] if self._is_removed(folder) else self._files.children(folder)
        except FileNotFoundError:
            if folder not in self._folders:
                raise
            found = []
        return [child for child in found if not self._is_removed(child.path)]

    def facts(self, path: Path) -> PathFacts | None:
        content = self._added.get(path)
        if content is not None or path in self._folders:
            size = len(content) if content is not None else 0
            return PathFacts(content is None, content is not None, size, 1, linked=False, foreign=False)
        return None if self._is_removed(path) else self._files.facts(path)

    def access_error(self, path: Path) -> OSError | None:
        known = path in self._added or path in self._folders or self._is_removed(path)
        return None if known else self._files.access_error(path)

    def read(self, path: Path, limit: int = -1) -> bytes:
        content = self._added.get(path)
        if content is not None:
            return content if limit < 0 else content[:limit]
        if self._is_removed(path):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return self._files.read(path, limit)

    def real(self, path: Path) -> Path:
        return self._files.real(path)

    def program(self, name: str, folders: tuple[str, ...], *, folders_too: bool = False) -> FoundProgram:
        return self._files.program(name, folders, folders_too=folders_too)

    def _is_removed(self, path: Path) -> bool:
        if path in self._added:
            return self._added[path] is None
        return path in self._removed or any(folder in self._removed for folder in path.parents)


HOOKSCOPE_KEY = "hookscope"
# a folder that is never created: hooks are read there before their place is known
UNPLACED_FOLDER = ".hookscope-look"
FilesByFolder = Mapping[Path, Mapping[str, PackFile]]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a package is placed in a host's folders."""

    trees: FilesByFolder  # by folder
    hooks: tuple[Path, ...]  # the folder of each hook, in the order of the package
    left_behind: tuple[str, ...] = ()  # files of the package that are not installed


def pack_rules_of(host: Host) -> PackRules:
    """Return the host's rules. Raises Refusal if hooks cannot be installed there."""
    rules = host.dialect.pack_rules
    if rules is None:
        raise Refusal(
            f"{host.dialect.product} has no folder that hooks are installed into.",
            "Its hooks are modules of the project: copy them there, or name another --dialect.",
        )
    return rules


def managed_folder(host: Host) -> Path:
    """Return the host's folder for installed hooks."""
    return next(folder.path for folder in host.folders_of("folder") if folder.source == MANAGED)


def hook_list_keys_of(host: Host) -> tuple[str, ...]:
    """Return the keys of package.json that list hooks, the host's own first."""
    others = (dialect.pack_rules.key for dialect in GUIDES if dialect.pack_rules is not None)
    return tuple(dict.fromkeys([pack_rules_of(host).key, HOOKSCOPE_KEY, *others]))


def handler_names_of(host: Host, *, own_only: bool = False) -> tuple[str, ...]:
    """Return the allowed file names of handlers, or only the host's own."""
    shape = folder_system_of(host.dialect).shape
    return shape.handlers if own_only else shape.candidates


def read_package_hooks(package: HookPackage, host: Host, name: str) -> tuple[Hook, ...]:
    """Return the package's hooks as this host reads them, in order. `name`: the name of its folder.

    Raises Refusal for an invalid hook, PackError for an invalid name.
    """
    system = folder_system_of(host.dialect)
    unplaced = managed_folder(host) / UNPLACED_FOLDER
    places = [
        unplaced / str(number) / (hook.rpartition("/")[2] or name)
        for number, hook in enumerate(package.hooks)
    ]
    added = {
        place / path: file.content
        for place, hook in zip(places, package.hooks, strict=True)
        for path, file in package.tree.below(hook).files.items()
    }
    files = PackDisk(RealFiles(), added)
    hypothetical = replace(host, machine=replace(host.machine, files=files))
    folders = tuple(hooks_folder(hypothetical, MANAGED, place.parent, 30) for place in places)
    found = discover_system(system, replace(hypothetical, folders=folders))
    hooks = []
    for place, hook in zip(places, package.hooks, strict=True):
        row = next((row for row in found.hooks if row.hook.path == place), None)
        if row is None:
            reason = next((item.reason for item in found.rejected if item.path == place), "it is not a hook")
            raise Refusal(f"{hook or name} is not a hook: {reason}.", "Nothing was written.")
        hooks.append(row.hook)
    check_hook_names([hook.name for hook in hooks])
    check_settings_keys([hook.key for hook in hooks])
    return tuple(hooks)


def place_package(package: HookPackage, hooks: Sequence[Hook], host: Host) -> Placement:
    """Return one folder if the host finds all listed hooks in it; else a folder for each hook."""
    rules, managed = pack_rules_of(host), managed_folder(host)
    if package.kind == "hook":
        target = managed / hooks[0].name
        return Placement({target: package.tree.files}, (target,))
    if rules.installs_whole_package and package.key == rules.key:
        target = managed / package.name
        return Placement({target: package.tree.files}, tuple(target / path for path in package.hooks))
    targets = tuple(managed / hook.name for hook in hooks)
    trees = {
        target: package.tree.below(path).files for target, path in zip(targets, package.hooks, strict=True)
    }
    inside = {f"{path}/" if path else "" for path in package.hooks}
    left = tuple(path for path in package.tree.files if not path.startswith(tuple(inside)))
    return Placement(trees, targets, left)


def settings_for(host: Host, keys: Iterable[str]) -> tuple[PackSetting, ...]:
    """Return the settings that switch these hooks on, with those that the host's own command also sets."""
    entries = [PackSetting((*host.hooks_setting("entries", key)[1], "enabled"), True) for key in keys]
    return (*entries, *(PackSetting(path, True) for path in host.dialect.switch_rules.also_true))


def link_setting(host: Host, folder: Path) -> PackSetting:
    """Return the setting that adds an extra folder."""
    return PackSetting(host.hooks_setting("load", "extraDirs")[1], str(folder), is_list_item=True)


def linked_folders(package: HookPackage, folder: Path, host: Host) -> tuple[Path, ...]:
    """Return the folders to add so that this host finds the package's hooks. Raises Refusal."""
    if pack_rules_of(host).installs_whole_package or package.kind == "folder":
        return (folder,)
    if "" in package.hooks:
        raise Refusal(
            f"{host.dialect.product} looks for hooks below an extra folder, but {folder} is a hook itself.",
            f"Link {folder.parent} with everything in it, or install a copy.",
        )
    return tuple(dict.fromkeys((folder / path).parent for path in package.hooks))


def inventory_after(
    host: Host, trees: FilesByFolder, removed: Iterable[Path], change: Change
) -> tuple[Host, Inventory]:
    """Return the host and its inventory with these folders added or removed, and these settings.

    Trust in a missing folder does not count: a new folder there is a different one.
    """
    added: dict[Path, bytes | None] = {
        folder / path: file.content for folder, files in trees.items() for path, file in files.items()
    }
    added[change.path] = change.new
    files = PackDisk(RealFiles(), added, frozenset(removed))
    machine = replace(host.machine, files=files)
    existing = frozenset(filter(os.path.lexists, host.trust.folders))
    trust = replace(host.trust, folders=existing)
    host_after = open_host(host.dialect, machine, host.overrides, trust=trust)
    return host_after, examine(discover(host_after), host_after)


PackAction = Literal["install", "update", "uninstall"]
PackFileAction = Literal["add", "replace", "remove", "same"]

NO_USES = HandlerUses()
AS_INSTALLED = PackIntegrity()


@dataclass(frozen=True, slots=True)
class PackHookPlan:
    """One hook of the pack after the change."""

    name: str
    path: Path  # its folder after the change
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
    """The planned change, and its effects."""

    action: PackAction
    id: str
    before: InstalledPack | None  # what is installed now
    after: InstalledPack | None  # what would be installed, without digests of dependencies; None: nothing
    fetched: FetchedPackage | None
    trees: Mapping[Path, Mapping[str, PackFile]]  # by target folder
    change: Change  # of the settings
    removed_settings: tuple[AppliedSetting, ...] = ()
    required_settings: tuple[PackSetting, ...] = ()
    handed_over: tuple[InstalledPack, ...] = ()  # other packs, with the settings that they take over
    hooks: tuple[PackHookPlan, ...] = ()
    shared_uses: HandlerUses = NO_USES  # what sources use that belong to no hook alone
    files: tuple[PackFilePlan, ...] = ()
    other_effects: tuple[Effect, ...] = ()
    on_disk: PackIntegrity = AS_INSTALLED  # of what is installed now
    dependency_ranges: tuple[str, ...] = ()  # packages that it depends on
    is_split: bool = False  # each hook is installed separately, without the rest of its package
    excluded: tuple[str, ...] = ()
    drift: str = ""  # a sentence if the source now has other bytes for the same version
    notes: tuple[str, ...] = ()

    @property
    def dependencies(self) -> bool:
        """True if npm will install dependencies."""
        return self.after is not None and self.after.dependencies

    @property
    def integrity_problem(self) -> str:
        """A sentence about a failed integrity check that the plan would overwrite; else "".

        Either the source has other bytes for the same version, or the pack's files have changed on disk. Both
        need explicit consent.
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
        """What happens to the dependencies, for display."""
        if self.dependencies:
            return "installed too, without scripts"
        if self.is_split:
            return "not installed: hooks in separate folders cannot share it"
        return "not installed: use --dependencies"

    def file_change(self, file: PackFilePlan) -> Change:
        """Return one file's change against the disk, for a diff. Raises CannotWrite."""
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
    """There is nothing to update, and why."""

    record: InstalledPack
    reason: str
    on_disk: PackIntegrity = AS_INSTALLED


@dataclass(frozen=True, slots=True)
class PackChanged:
    """The change is on disk."""

    plan: PackPlan
    record: InstalledPack | None
    kept_folder: Path | None  # the folder with copies of changed files


def effects_on_other_hooks(
    before: Inventory, after: Inventory, own_paths: set[Path], removed: Iterable[Path]
) -> tuple[Effect, ...]:
    """Return the hooks outside the pack whose state changes."""
    removed_folders = tuple(removed)

    def is_own(hook: Hook) -> bool:
        path = hook.path
        return path is not None and (
            path in own_paths or any(path.is_relative_to(one) for one in removed_folders)
        )

    return effects_of_change(before, after, is_own)


def host_install_refusal(install: HostInstall, host: Host) -> Refusal:
    """Return the refusal for a pack that the host installed: Hookscope does not have its bytes."""
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
            "--dry-run --diff shows the changes; --accept-changed installs the pack and keeps copies of "
            "changed files.",
        )


@contextmanager
def errors_as_refusals() -> Iterator[None]:
    """Turn errors of lower layers into Refusals."""
    try:
        yield
    except PackError as error:
        raise Refusal(error.problem, error.hint) from None
    except ChangeError as error:
        raise Refusal(str(error)) from None
    except OSError as error:
        raise Refusal(f"The files cannot be written: {pack_error_reason(error)}.") from None

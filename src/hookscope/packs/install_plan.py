"""Plan an install, update or link: from a fetched package to its folders, settings and hooks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from hookscope.hosts.source.facts import HandlerUses
from hookscope.model.failure import Refusal
from hookscope.model.hook import Hook
from hookscope.model.hook_event import iso
from hookscope.model.hook_status import HookStatus, Inventory
from hookscope.model.host import Host
from hookscope.packs.capabilities import SHARED_BY_ALL, Capabilities, capabilities_of, imports_left_behind
from hookscope.packs.file_tree import DEPENDENCIES_FOLDER, PackFile
from hookscope.packs.index import (
    AppliedSetting,
    FileDigestsByPath,
    InstalledPack,
    PackIntegrity,
    PackSetting,
    SettingsSnapshot,
    apply_settings,
    integrity_of_pack,
    revert_settings,
)
from hookscope.packs.npm import ignored_by_npm, registry_dependencies
from hookscope.packs.package import HookPackage, check_pack_name, package_from_tree, package_json_of
from hookscope.packs.plan import (
    FilesByFolder,
    PackAction,
    PackFileAction,
    PackFilePlan,
    PackHookPlan,
    PackPlan,
    Placement,
    effects_on_other_hooks,
    handler_names_of,
    hook_list_keys_of,
    inventory_after,
    link_setting,
    linked_folders,
    pack_rules_of,
    place_package,
    read_package_hooks,
    settings_for,
)
from hookscope.packs.specs import FetchedPackage, is_older, without_login
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import Change, missing_folders
from hookscope.storage.edits.pending_writes import read_settled
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class SettingsPlan:
    """The planned settings, and their record."""

    change: Change
    settings: tuple[AppliedSetting, ...]
    snapshot: SettingsSnapshot | None
    removed: tuple[AppliedSetting, ...] = ()

    @staticmethod
    def for_pack(host: Host, before: InstalledPack | None, required: Sequence[PackSetting]) -> SettingsPlan:
        """Return the plan that sets all `required` and reverts others that `before` set. Raises Refusal."""
        file = host.settings.file.absolute()
        if host.settings.refusal:
            reason = " ".join(host.settings.refusal.split())
            raise Refusal(f"{host.dialect.product} rejects its settings: {reason}.", "Fix them first.")
        previous = before.settings if before is not None else ()
        removed = tuple(setting for setting in previous if setting.setting not in required)
        try:
            now = read_settled(file)
            source, _ = revert_settings(now, removed)
            source, fresh = apply_settings(source, required)
        except ChangeError as error:
            raise Refusal(f"{file} cannot be edited: {error}") from None
        settings = (*(setting for setting in previous if setting not in removed), *fresh)
        change = Change(file, ", ".join(item.meaning for item in required), now, source)
        snapshot: SettingsSnapshot | None = SettingsSnapshot(now, source)
        if before is not None:
            known = before.snapshot
            snapshot = (
                SettingsSnapshot(known.before, source) if known is not None and known.after == now else None
            )
        return SettingsPlan(change, settings, snapshot, removed)


def created_folders(before: InstalledPack | None, paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the folders above these that an install creates, or an earlier one has created."""
    known = before.created_folders if before is not None else ()
    return tuple(dict.fromkeys([*known, *missing_folders(paths)]))


NOTHING_WAS_WRITTEN = "Nothing was written."
LINK_HINT = "--link uses a folder as a whole"


class IncomingPackage:
    """A fetched package with its hooks as the host reads them, and the pack that it replaces."""

    def __init__(
        self,
        fetched: FetchedPackage,
        package: HookPackage,
        hooks: Sequence[Hook],
        name: str,
        installed: InstalledPack | None,
    ) -> None:
        self.fetched = fetched
        self.package = package
        self.hooks = hooks
        self.name = name
        self.installed = installed  # what is installed under that name now

    @property
    def action(self) -> PackAction:
        """The kind of change for the user."""
        return "install" if self.installed is None else "update"

    @cached_property
    def capabilities(self) -> Capabilities:
        """What its sources use. Blocks while they are parsed."""
        return capabilities_of(self.package.tree, self.package.hooks)

    @property
    def shared_uses(self) -> HandlerUses:
        """What the sources that belong to no single hook use."""
        return self.capabilities.uses.get(SHARED_BY_ALL, HandlerUses())

    def hook_plans(
        self,
        places: Sequence[Path],
        rows: Mapping[Path | None, HookStatus],
        host: Host,
        place_text: str,
        left_behind: Sequence[str] = (),
    ) -> tuple[PackHookPlan, ...]:
        """Return the package's hooks as installed; `rows` by folder. Raises Refusal if the host misses one.

        `left_behind`: files of the package that would not be installed.
        """
        placed = list(zip(self.hooks, places, self.package.hooks, strict=True))
        if lost := [hook.name for hook, path, _ in placed if path not in rows]:
            raise Refusal(
                f"{host.dialect.product} would not find {', '.join(lost)} {place_text}.", NOTHING_WAS_WRITTEN
            )
        return tuple(
            PackHookPlan(
                hook.name,
                path,
                self._with_notes(rows[path], where, left_behind),
                self.capabilities.uses.get(where, HandlerUses()),
            )
            for hook, path, where in placed
        )

    def _with_notes(self, row: HookStatus, folder: str, left_behind: Sequence[str]) -> HookStatus:
        lost = (
            imports_left_behind(self.capabilities.imports, frozenset(left_behind), folder)
            if left_behind
            else ()
        )
        notes = (f"{source} imports {name}, which is not installed: {LINK_HINT}" for source, name in lost)
        return replace(row, notes=(*row.notes, *notes))

    def record(
        self, host: Host, settings: SettingsPlan, folders: Mapping[Path, FileDigestsByPath]
    ) -> InstalledPack:
        """Return the record of the pack, as installed into these folders."""
        return InstalledPack(
            id=self.name,
            source=self.fetched.spec.source,
            spec=self.fetched.spec.text,
            resolved=self.fetched.resolved,
            version=self.package.version or self.fetched.version,
            integrity=self.fetched.integrity,
            at=datetime.now(UTC),
            dialect=host.dialect.name,
            hooks=tuple(hook.name for hook in self.hooks),
            folders=folders,
            settings_file=settings.change.path,
            settings=settings.settings,
            snapshot=settings.snapshot,
            created_folders=created_folders(self.installed, (*folders, settings.change.path)),
            package=self.package.full_name,
        )

    def settings(self, host: Host, folders: Iterable[Path]) -> tuple[PackSetting, ...]:
        """Return the settings that its hooks in these folders need, and the host's own record of it."""
        needed = settings_for(host, [hook.key for hook in self.hooks])
        if not pack_rules_of(host).records_installs:
            return needed
        spec, version = self.fetched.spec, self.package.version or self.fetched.version
        source = {"npm": "npm", "archive": "archive"}.get(spec.source, "path")
        record = {
            "source": source,
            "spec" if source == "npm" else "sourcePath": without_login(spec.text),
            "installPath": str(next(iter(folders))),
            **({"version": version} if version else {}),
            **(
                {"resolvedSpec": self.fetched.resolved, "integrity": self.fetched.integrity}
                if source == "npm"
                else {}
            ),
            "hooks": [hook.name for hook in self.hooks],
            "installedAt": iso(datetime.now(UTC)),
        }
        return (*needed, PackSetting(host.hooks_setting("installs", self.name)[1], record))


def plan_link(incoming: IncomingPackage, host: Host, inventory: Inventory) -> PackPlan:
    """Plan a link: nothing is copied, and the folder becomes an extra folder. Raises Refusal."""
    fetched, package = incoming.fetched, incoming.package
    folder = fetched.spec.path
    assert folder is not None
    folders = linked_folders(package, folder, host)
    required = (*(link_setting(host, one) for one in folders), *incoming.settings(host, folders))
    settings = SettingsPlan.for_pack(host, incoming.installed, required)
    host_after, inventory_then = inventory_after(host, {}, (), settings.change)
    if problems := [problem.text for problem in host_after.problems if problem not in host.problems]:
        raise Refusal(f"{host.dialect.product} would not scan it: {problems[0]}", NOTHING_WAS_WRITTEN)
    real = Path(os.path.realpath(folder))
    places = [real / hook for hook in package.hooks]
    plans = incoming.hook_plans(
        places, {row.hook.real: row for row in inventory_then.hooks}, host, f"in {folder}"
    )
    own_paths = {plan.row.hook.path for plan in plans if plan.row.hook.path is not None}
    return PackPlan(
        action=incoming.action,
        id=incoming.name,
        before=incoming.installed,
        after=replace(incoming.record(host, settings, {}), linked=folder),
        fetched=fetched,
        trees={},
        change=settings.change,
        removed_settings=settings.removed,
        required_settings=required,
        hooks=plans,
        shared_uses=incoming.shared_uses,
        other_effects=effects_on_other_hooks(inventory, inventory_then, own_paths, ()),
        dependency_ranges=package.dependency_ranges,
        excluded=fetched.tree.excluded,
        notes=incoming.capabilities.unread,
    )


ARCHIVE_STEMS = (".tar.gz", ".tgz", ".tar", ".zip")


@dataclass(frozen=True, slots=True)
class InstallOptions:
    """Options of an install."""

    link: bool = False
    pin: bool = False
    force: bool = False  # replace what is installed
    dependencies: bool = False
    own_handlers: bool = False  # only handlers that the host itself runs


def read_package(fetched: FetchedPackage, host: Host, options: InstallOptions) -> HookPackage:
    """Return the hooks of a fetched package. Raises PackError."""
    spec = fetched.spec
    where = spec.text if spec.source in ("folder", "archive") else fetched.resolved
    return package_from_tree(
        fetched.tree,
        hook_list_keys_of(host),
        handler_names_of(host, own_only=options.own_handlers),
        where=where,
        allow_hook_folder=fetched.may_be_hook_folder or options.link,
    )


def package_name_of(fetched: FetchedPackage) -> str:
    """Return the package's folder name, for a hook without a name."""
    spec = fetched.spec
    if spec.path is not None:
        name = spec.path.name
        return next((name[: -len(end)] for end in ARCHIVE_STEMS if name.endswith(end)), name)
    if spec.source == "git":
        return spec.url.rstrip("/").rpartition("/")[2].removesuffix(".git")
    return spec.name.rpartition("/")[2]


def _folder_name_of(fetched: FetchedPackage) -> str:
    """Return a name for hooks side by side: that of a Python package, or of the linked folder."""
    path = fetched.spec.path
    return fetched.spec.name if path is None else path.name


def pack_id_of(fetched: FetchedPackage, package: HookPackage, hooks: Sequence[Hook]) -> str:
    """Return the id under which the package is installed. Raises PackError for a forbidden id."""
    name = package.name or (_folder_name_of(fetched) if package.kind == "folder" else hooks[0].name)
    check_pack_name(name, package.full_name)
    return name


def plan_install(
    fetched: FetchedPackage,
    host: Host,
    inventory: Inventory,
    known: Mapping[str, InstalledPack],
    options: InstallOptions,
) -> PackPlan:
    """Plan an install. Raises Refusal, PackError."""
    package = read_package(fetched, host, options)
    hooks = read_package_hooks(package, host, package_name_of(fetched))
    name = pack_id_of(fetched, package, hooks)
    before = known.get(name)
    if before is not None and not options.force:
        raise Refusal(
            f"{name} is already installed, from {before.origin}.",
            f"Use `hookscope update {name}` to update it, or --force to replace it.",
        )
    incoming = IncomingPackage(fetched, package, hooks, name, before)
    if options.link:
        if before is not None and before.linked is None:
            raise Refusal(
                f"{name} is installed as a copy.", f"`hookscope uninstall {name}` first, then link."
            )
        return plan_link(incoming, host, inventory)
    return plan_copy(incoming, host, inventory, known, options)


def plan_copy(
    incoming: IncomingPackage,
    host: Host,
    inventory: Inventory,
    known: Mapping[str, InstalledPack],
    options: InstallOptions,
) -> PackPlan:
    """Plan a copy into the managed folder, replacing an older one. Raises Refusal, PackError."""
    fetched, package, before = incoming.fetched, incoming.package, incoming.installed
    ignored: tuple[str, ...] = ()
    if options.dependencies:
        package, ignored = _package_for_npm(package)
    place = _place_for_copy(package, incoming, host, known, options)
    on_disk = integrity_of_pack(before) if before is not None else PackIntegrity()
    required = incoming.settings(host, place.trees)
    settings = SettingsPlan.for_pack(host, before, required)
    removed = tuple(before.folders) if before is not None else ()
    _, inventory_then = inventory_after(host, place.trees, removed, settings.change)
    plans = incoming.hook_plans(
        place.hooks, {row.hook.path: row for row in inventory_then.hooks}, host, "there", place.left_behind
    )
    folders = {
        folder: {path: file.digest for path, file in files.items()} for folder, files in place.trees.items()
    }
    after = replace(
        incoming.record(host, settings, folders),
        spec=fetched.resolved if options.pin else fetched.spec.text,
        pinned=options.pin or (before is not None and before.pinned and fetched.spec.is_exact),
        dependencies=options.dependencies,
    )
    return PackPlan(
        action=incoming.action,
        id=incoming.name,
        before=before,
        after=after,
        fetched=fetched,
        trees=place.trees,
        change=settings.change,
        removed_settings=settings.removed,
        required_settings=required,
        hooks=plans,
        shared_uses=incoming.shared_uses,
        files=tuple(_file_plans(place.trees, before, on_disk)),
        other_effects=effects_on_other_hooks(inventory, inventory_then, {*place.hooks}, removed),
        on_disk=on_disk,
        dependency_ranges=package.dependency_ranges,
        excluded=fetched.tree.excluded,
        drift=source_drift(fetched, before),
        is_split=bool(place.left_behind),
        notes=(
            *ignored,
            *_downgrade_notes(after, before),
            *_left_behind_notes(place.left_behind, host),
            *incoming.capabilities.unread,
        ),
    )


def _place_for_copy(
    package: HookPackage,
    incoming: IncomingPackage,
    host: Host,
    known: Mapping[str, InstalledPack],
    options: InstallOptions,
) -> Placement:
    """Return the place of the package. Raises Refusal if the place is in use, or if
    dependencies are requested and cannot be installed there."""
    place = place_package(package, incoming.hooks, host)
    _check_target_free(place, known, incoming.name)
    if options.dependencies and place.left_behind:
        raise Refusal(
            f"{host.dialect.product} needs each hook in a folder of its own, so the package cannot "
            "have dependencies.",
            "Install without --dependencies, or link the folder with --link.",
        )
    return place


def _package_for_npm(package: HookPackage) -> tuple[HookPackage, tuple[str, ...]]:
    """Return the package without bundled dependencies, and a sentence about what npm does not receive.

    Raises PackError for refused dependencies.
    """
    package_json = package_json_of(package.tree)
    registry_dependencies(package_json)
    ignored = ignored_by_npm(package.tree, package_json)
    files = {
        path: file
        for path, file in package.tree.files.items()
        if not path.startswith(f"{DEPENDENCIES_FOLDER}/")
    }
    notes = (f"npm receives only its dependencies; ignored: {', '.join(ignored)}",) if ignored else ()
    return replace(package, tree=replace(package.tree, files=files)), notes


def _downgrade_notes(after: InstalledPack, before: InstalledPack | None) -> Iterator[str]:
    if before is not None and is_older(after.version, before.version):
        yield f"{after.version} is older than {before.version}, which is installed now"


def _left_behind_notes(paths: Sequence[str], host: Host) -> Iterator[str]:
    """Yield a sentence for each file that is not installed, with a summary for many."""
    for path in paths[:3]:
        yield f"{path} is not installed: {host.dialect.product} needs each hook in a folder of its own"
    if len(paths) > 3:
        yield f"and {len(paths) - 3} more files"


def source_drift(fetched: FetchedPackage, before: InstalledPack | None) -> str:
    """Return a sentence if the same name and version has other bytes than when it was installed."""
    if before is None or before.source != "npm" or before.resolved != fetched.resolved:
        return ""
    if before.integrity == fetched.integrity:
        return ""
    return (
        f"{fetched.resolved} has changed: its integrity was {before.integrity}, "
        f"and the registry now has {fetched.integrity}"
    )


def _check_target_free(place: Placement, known: Mapping[str, InstalledPack], name: str) -> None:
    mine = set(known[name].folders) if name in known else set()
    for target in place.trees:
        owner = next((record.id for record in known.values() if target in record.folders), None)
        if owner is not None and owner != name:
            raise Refusal(
                f"{target} belongs to the pack {owner}.", f"Run `hookscope uninstall {owner}` first."
            )
        if target not in mine and os.path.lexists(target):
            raise Refusal(f"{target} exists, but Hookscope has not installed it.", "Move it away first.")


def _file_plans(
    trees: FilesByFolder, before: InstalledPack | None, on_disk: PackIntegrity
) -> Iterator[PackFilePlan]:
    known = before.folders if before is not None else {}
    for folder, files in trees.items():
        old = known.get(folder, {})
        for path, file in files.items():
            yield PackFilePlan(
                folder / path,
                _file_action(folder / path, old.get(path), file, on_disk),
                len(file.content),
                file.runnable,
            )
    for folder, old in known.items():
        yield from (
            PackFilePlan(folder / path, "remove", 0) for path in old if path not in trees.get(folder, {})
        )


def _file_action(path: Path, known: str | None, file: PackFile, on_disk: PackIntegrity) -> PackFileAction:
    """Return what happens to an existing file."""
    if (known is None and path not in on_disk.added) or path in on_disk.missing:
        return "add"
    return "same" if known == file.digest and path not in on_disk.changed else "replace"

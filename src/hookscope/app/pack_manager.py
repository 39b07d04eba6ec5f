"""PackManager lists installed packs, and plans and applies installs, updates and uninstalls."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Literal

from hookscope.app.workbench import Workbench
from hookscope.engine.settings_entries import HostInstall, host_installs
from hookscope.helpers import user_environment
from hookscope.hosts.source.facts import HandlerUses
from hookscope.model.failure import Refusal
from hookscope.model.host import Host
from hookscope.model.regular_file import read_regular
from hookscope.model.text import did_you_mean, error_reason, nearest_word, shell_path
from hookscope.packs.capabilities import SHARED_BY_ALL, capabilities_of
from hookscope.packs.errors import NO_PROGRESS, PackCancelled, PackError, Progress
from hookscope.packs.file_tree import DEPENDENCIES_FOLDER, FileTree, PackFile, read_folder_tree, remove_tree
from hookscope.packs.index import InstalledPack, PackIntegrity, digests_below, integrity_of_pack
from hookscope.packs.install_plan import (
    IncomingPackage,
    InstallOptions,
    pack_id_of,
    package_name_of,
    plan_copy,
    plan_install,
    read_package,
)
from hookscope.packs.npm import install_dependencies
from hookscope.packs.package import package_json_of
from hookscope.packs.plan import (
    FilesByFolder,
    PackChanged,
    PackPlan,
    PackUpToDate,
    check_integrity_accepted,
    errors_as_refusals,
    host_install_refusal,
    pack_rules_of,
    place_package,
    read_package_hooks,
)
from hookscope.packs.sources import fetch_package
from hookscope.packs.specs import FetchedPackage, FetchOptions, PackageSpec, parse_spec
from hookscope.packs.transaction import (
    OTHER_TRANSACTION,
    STAGING_FOLDER,
    TRY_LATER,
    FolderSwap,
    PackStore,
    TransactionIntent,
    recover_transaction,
    run_transaction,
)
from hookscope.packs.uninstall_plan import plan_uninstall
from hookscope.storage.edits.atomic_files import WriteStep, no_step
from hookscope.storage.edits.change import Change, check_links, missing_folders, read_current, remove_empty
from hookscope.storage.state_files import state_folder
from hookscope.values import dataclass

MOST_DIFFS = 50  # files of an update that are compared
LARGEST_DIFF = 262_144  # bytes of a file that is compared line by line
LOST_NOTE = (
    "its source no longer has the installed version: `hookscope update NAME --force --accept-changed` "
    "reinstalls it"
)

PackFileState = Literal["changed", "missing", "added"]


@dataclass(frozen=True, slots=True)
class PackFileChange:
    """One file that differs from the installed one."""

    path: Path
    state: PackFileState
    change: Change | None = None  # from the installed to the current content
    why: str = ""  # why there is no diff


@dataclass(frozen=True, slots=True)
class PackChanges:
    """All files of a pack that differ from the installed ones."""

    record: InstalledPack
    files: tuple[PackFileChange, ...]
    problem: str = ""  # why the source could not be read


def pack_changes(manager: PackManager, name: str, progress: Progress = NO_PROGRESS) -> PackChanges:
    """Return the files that differ from the installed version, which is fetched. Blocks; raises Refusal."""
    record = manager.record(name)
    integrity = integrity_of_pack(record)
    originals: Mapping[Path, bytes] = {}
    problem = ""
    if integrity.changed or integrity.missing:
        try:
            trees = manager.fetch_installed_files(name, progress)
            originals = {
                root / path: one.content for root, tree in trees.items() for path, one in tree.items()
            }
        except Refusal as refused:
            problem = refused.problem
        with errors_as_refusals():
            _check_cancelled(progress)
    known = {root / path: digest for root, tree in record.folders.items() for path, digest in tree.items()}
    verified = {path: one for path, one in originals.items() if sha256(one).hexdigest() == known.get(path)}
    files = [_file_change(path, "changed", verified) for path in integrity.changed]
    files += [_file_change(path, "missing", verified) for path in integrity.missing]
    files += [_file_change(path, "added", verified) for path in integrity.added]
    return PackChanges(record, tuple(files), problem)


def _check_cancelled(progress: Progress) -> None:
    if progress.is_cancelled():
        raise PackCancelled("The comparison was cancelled.")


def _file_change(
    path: Path, state: PackFileState, originals: Mapping[Path, bytes], planned: bytes | None = None
) -> PackFileChange:
    """Return the change of a file from its installed content, or to its `planned` content if passed."""
    old = originals.get(path)
    if old is None and state != "added" and planned is None:
        return PackFileChange(path, state, why=LOST_NOTE)
    now = _read_or_reason(path) if state != "missing" else None
    if isinstance(now, str):
        return PackFileChange(path, state, why=now)
    before, after = (old, now) if planned is None else (now, planned)
    sides = [side for side in (before, after) if side is not None]
    if any(len(side) > LARGEST_DIFF for side in sides):
        return PackFileChange(path, state, why=f"it is larger than {LARGEST_DIFF:,} bytes")
    if any(b"\0" in side for side in sides):
        return PackFileChange(path, state, why="it is not text")
    return PackFileChange(path, state, Change(path, f"{state} since it was installed", before, after))


def _read_or_reason(path: Path) -> bytes | str:
    """Return the file's bytes, or why it cannot be read. Opens regular files only."""
    if os.path.islink(path) or not os.path.isfile(path):
        return "it is no longer a regular file"
    try:
        return read_regular(path, LARGEST_DIFF + 1)
    except OSError as error:
        return f"it cannot be read: {error_reason(error)}"


def replaced_files(planned: PackPlan | PackUpToDate) -> Mapping[Path, str]:
    """Return a diff from the current content for each file that an update would replace."""
    if isinstance(planned, PackUpToDate):
        return {}
    known = {root / path: one.content for root, tree in planned.trees.items() for path, one in tree.items()}
    named = [file.path for file in planned.files if file.action == "replace"][:MOST_DIFFS]
    found = (_file_change(path, "changed", {}, known[path]) for path in named if path in known)
    return {one.path: one.change.preview() for one in found if one.change is not None}


def newer_source_hint(record: InstalledPack) -> str:
    """Return whether the local folder or archive of a pack has changed since its install. Uses no network.

    Empty for other sources: a registry, a repository or an interpreter.
    """
    if record.linked is not None:
        return "linked: always current"
    if record.source not in ("folder", "archive"):
        return ""
    try:
        fetched = fetch_package(parse_spec(record.spec, Path), FetchOptions(Path(os.devnull), {}, ""))
    except PackError:
        return "source is gone"
    return "newest" if fetched.integrity == record.integrity else "newer"


def uses_on_disk(
    record: InstalledPack, hooks: Sequence[Path]
) -> tuple[Mapping[Path, HandlerUses], tuple[str, ...]]:
    """Return the capabilities that an installed pack's sources use, by hook folder, and its unreadable files.

    Code shared by all hooks is listed under the pack's own folder. Runs no code. Blocks while it reads.
    """
    found: dict[Path, HandlerUses] = {}
    unread: list[str] = []
    for root in (record.linked,) if record.linked is not None else tuple(record.folders):
        within = [hook for hook in hooks if hook.is_relative_to(root)]
        inside = {"" if hook == root else hook.relative_to(root).as_posix(): hook for hook in within}
        try:
            tree: FileTree = read_folder_tree(root)
        except PackError as error:
            unread.append(str(error))
            continue
        able = capabilities_of(tree, tuple(inside))
        for where, uses in able.uses.items():
            found[root if where == SHARED_BY_ALL else inside[where]] = uses
        unread += able.unread
    return found, tuple(unread)


def intent_of(
    planned: PackPlan, state: Path, kept: Path
) -> tuple[TransactionIntent, dict[Path, Mapping[str, PackFile]]]:
    """Return the transaction, and the files of each staged folder. `kept`: where changed files are moved."""
    token, old = secrets.token_hex(4), planned.before.folders if planned.before is not None else {}
    swaps: list[FolderSwap] = []
    trees: dict[Path, Mapping[str, PackFile]] = {}
    for target in dict.fromkeys([*planned.trees, *old]):
        staging = target.parent / f"{STAGING_FOLDER}-{token}"
        fresh = staging / f"new-{len(swaps)}" if target in planned.trees else None
        if fresh is not None:
            trees[fresh] = planned.trees[target]
        swaps.append(FolderSwap(target, fresh, staging / f"old-{len(swaps)}"))
    keep = [
        (swap.aside / path.relative_to(swap.target), kept / swap.target.name / path.relative_to(swap.target))
        for path in planned.on_disk.files_to_keep
        for swap in swaps
        if path.is_relative_to(swap.target)
    ]
    after = planned.after
    records = {record.id: record.document() for record in planned.handed_over}
    intent = TransactionIntent(
        title=f"{planned.action} of {planned.id}",
        host=state,
        phase="staging",
        swaps=tuple(swaps),
        created_folders=missing_folders([*(swap.target for swap in swaps), planned.change.path]),
        settings_file=planned.change.path,
        old=planned.change.old,
        new=planned.change.new,
        removed_settings=planned.removed_settings,
        required_settings=planned.required_settings,
        records={planned.id: after.document() if after is not None else None, **records},
        files_to_keep=tuple(keep),
        removable_folders=planned.before.created_folders
        if after is None and planned.before is not None
        else (),
    )
    return intent, trees


PIN_ONLY_NPM = "--pin is only supported with npm registry installs."


@dataclass(frozen=True, slots=True)
class PackStatus:
    """One installed pack and its integrity on disk."""

    record: InstalledPack
    integrity: PackIntegrity


class PackManager:
    """Installs, updates and removes packs of the workbench's host."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self.store = PackStore(state_folder() / "packs")

    def installed_by_host(self) -> tuple[HostInstall, ...]:
        """Return what the host installed itself, according to its settings."""
        ours = self.installed()
        return tuple(one for one in host_installs(self._bench.open()) if one.id not in ours)

    def installed(self) -> Mapping[str, InstalledPack]:
        """Return this host's packs, oldest first. Raises Refusal if the index cannot be read."""
        with errors_as_refusals():
            return self.store.index.all(self._bench.open().state)

    def recover(self) -> str:
        """Finish an interrupted transaction; return a sentence if there was one. Raises Refusal."""
        with errors_as_refusals():
            self._remove_stale_work()
            return recover_transaction(self.store)

    def statuses(self) -> tuple[PackStatus, ...]:
        """Return every pack with its integrity. Reads all their files."""
        return tuple(PackStatus(record, integrity_of_pack(record)) for record in self.installed().values())

    def record(self, name: str) -> InstalledPack:
        """Return the pack with this id, of this package, or installed by this name. Raises Refusal."""
        known = self.installed()
        if name not in known:
            same = [
                one
                for one in known.values()
                if name in (one.package, one.origin) or one.origin.startswith(f"{name}@")
            ]
            if len(same) == 1:
                return same[0]
            owner = next((one for one in known.values() if name in one.hooks), None)
            if owner is not None:
                raise Refusal(
                    f"{name!r} is a hook of the pack {owner.id}.", f"Name the whole pack, {owner.id}."
                )
            host_install = next(
                (one for one in self.installed_by_host() if name in (one.id, one.spec, *one.hooks)), None
            )
            if host_install is not None:
                raise host_install_refusal(host_install, self._bench.open())
            next_step = did_you_mean(nearest_word(name, known), "`hookscope packs` lists all.")
            raise Refusal(f"No pack {name!r} is installed here.", next_step)
        return known[name]

    # Planning

    def spec(self, text: str) -> PackageSpec:
        """Return the package spec in a text. Raises Refusal."""
        with errors_as_refusals():
            return parse_spec(text, self._bench.setup.machine.absolute)

    def plan_install(
        self, text: str, install_options: InstallOptions = InstallOptions(), progress: Progress = NO_PROGRESS
    ) -> PackPlan:
        """Fetch and check a package, and return the plan of its install. Raises Refusal."""
        with errors_as_refusals():
            host = self._host()
            spec = self.spec(text)
            if install_options.pin and spec.source != "npm":
                raise Refusal(PIN_ONLY_NPM, f"{spec.text} does not come from a registry.")
            if install_options.link and install_options.dependencies:
                raise Refusal(
                    "A linked folder is used as it is: nothing is installed into it.",
                    "Leave out --link or --dependencies.",
                )
            if install_options.link and spec.source != "folder":
                raise Refusal("Only folders can be linked.", "Leave out --link to install a copy.")
            fetched = self._fetch(spec, progress)
            progress.step("reading its hooks")
            known = self.installed()
            try:
                return plan_install(fetched, host, self._bench.scan().inventory, known, install_options)
            except Refusal:
                self._check_no_other_transaction(known)
                raise

    def plan_update(
        self, name: str, *, force: bool = False, progress: Progress = NO_PROGRESS
    ) -> PackPlan | PackUpToDate:
        """Return the plan of an update. `force`: reinstall even if there is nothing newer."""
        with errors_as_refusals():
            host, record = self._host(), self.record(name)
            spec = self._source_spec(record)
            if record.linked is not None:
                return PackUpToDate(record, "it is linked: its folder is used as it is")
            fetched = self._fetch(spec, progress)
            on_disk = integrity_of_pack(record)
            if fetched.integrity == record.integrity and not force:
                return PackUpToDate(record, "nothing newer", on_disk)
            install_options = InstallOptions(force=True, pin=record.pinned, dependencies=record.dependencies)
            package = read_package(fetched, host, install_options)
            hooks = read_package_hooks(package, host, package_name_of(fetched))
            now = pack_id_of(fetched, package, hooks)
            if now != record.id:
                raise Refusal(
                    f"{record.origin} is now called {now}.",
                    f"`hookscope uninstall {record.id}`, then install it under its new name.",
                )
            progress.step("comparing")
            view = self._bench.scan()
            incoming = IncomingPackage(fetched, package, hooks, now, record)
            return plan_copy(incoming, host, view.inventory, self.installed(), install_options)

    def _source_spec(self, record: InstalledPack) -> PackageSpec:
        """Return the spec that the pack was installed from. Raises Refusal if its path is gone."""
        if record.source in ("folder", "archive") and not os.path.lexists(record.spec):
            raise Refusal(
                f"{record.id} was installed from {record.origin}, which no longer exists.",
                f"Restore it, or `hookscope uninstall {shell_path(record.id)}`.",
            )
        return parse_spec(record.spec, self._bench.setup.machine.absolute)

    def plan_uninstall(self, name: str) -> PackPlan:
        """Return the plan of an uninstall. Raises Refusal."""
        with errors_as_refusals():
            record = self.record(name)
            view = self._bench.scan()
            return plan_uninstall(record, view.host, view.inventory, self.installed())

    def fetch_installed_files(self, name: str, progress: Progress) -> FilesByFolder:
        """Fetch the installed version again; return its files by target folder. Raises Refusal."""
        with errors_as_refusals():
            host, record = self._host(), self.record(name)
            text = record.spec
            if record.source == "npm":
                text = record.resolved
            elif record.source == "git":
                text = f"{text.partition('#')[0]}#{record.resolved}"
            fetched = self._fetch(parse_spec(text, self._bench.setup.machine.absolute), progress)
            package = read_package(fetched, host, InstallOptions())
            return place_package(
                package, read_package_hooks(package, host, package_name_of(fetched)), host
            ).trees

    def _check_no_other_transaction(self, known: Mapping[str, InstalledPack]) -> None:
        """Raise Refusal if another process is changing packs: what was read may be incomplete."""
        if self.store.intent_file.exists() or self.installed().keys() != known.keys():
            raise Refusal(OTHER_TRANSACTION, TRY_LATER)

    def _host(self) -> Host:
        host = self._bench.open()
        pack_rules_of(host)
        return host

    def _fetch(self, spec: PackageSpec, progress: Progress) -> FetchedPackage:
        with self._work_folder() as work:
            return fetch_package(spec, self._fetch_options(work, progress, spec))

    def _fetch_options(self, work: Path, progress: Progress, spec: PackageSpec | None) -> FetchOptions:
        """Return the options for a fetch in the folder `work`, without programs of the workspace or pack."""
        host = self._bench.open()
        pack = spec.path if spec is not None else None
        project = tuple(filter(None, (host.workspace, host.machine.cwd, pack)))
        python = self._python() if spec is not None and spec.source == "python" else sys.executable
        return FetchOptions(work, user_environment(project), python, progress, project_folders=project)

    def _python(self) -> str:
        """Return the interpreter to search for packages. Raises Refusal if its workspace is untrusted."""
        host = self._bench.open()
        python = self._bench.worker_pools.python(host)
        named = self._bench.setup.python
        if python is None and named is not None:
            raise Refusal(f"{named.untrusted_reason}.", f"{named.trust_hint}.")
        return python or sys.executable

    @contextmanager
    def _work_folder(self) -> Iterator[Path]:
        """Yield a folder for fetched files. Its name begins with the id of this process."""
        self._remove_stale_work()
        folder = self.store.folder / "work" / f"{os.getpid()}-{secrets.token_hex(6)}"
        folder.mkdir(mode=0o700, parents=True)
        try:
            yield folder
        finally:
            remove_tree(folder)
            remove_empty([folder.parent, self.store.folder, state_folder()])

    def _remove_stale_work(self) -> None:
        with suppress(OSError):
            for folder in (self.store.folder / "work").iterdir():
                if not _is_alive(folder.name.partition("-")[0]):
                    remove_tree(folder)

    # Doing

    def apply(
        self,
        planned: PackPlan,
        progress: Progress = NO_PROGRESS,
        step: WriteStep = no_step,
        *,
        accept_changed: bool = False,
    ) -> PackChanged:
        """Write everything that was planned, or raise Refusal and write nothing.

        Args:
            step: called before each step of the transaction; for tests.
            accept_changed: continue although `planned.unaccepted` reports a failed integrity check.
        """
        check_integrity_accepted(planned, accepted=accept_changed)
        host = self._bench.open()
        folders = (Change(folder, "", None, None) for folder in planned.trees)
        check_links([planned.change, *folders], host)
        stamp = f"{planned.id}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        kept = self.store.kept_folder / stamp
        intent, trees = intent_of(planned, host.state, kept)
        self._distrust(planned)
        progress.step(f"{planned.action} {planned.id}")
        with errors_as_refusals():
            run_transaction(
                self.store,
                intent,
                trees,
                check=lambda: self._check(planned, host.state),
                on_staged=lambda intent: self._with_dependencies(planned, intent, progress),
                step=step,
            )
        self._bench.edits.record(planned.id, Change(planned.change.path, intent.title, None, None))
        with suppress(Refusal):  # before anything else can appear there
            self._distrust(planned)
        record = self.store.index.all(host.state).get(planned.id)
        return PackChanged(planned, record, kept if planned.on_disk.files_to_keep else None)

    def _distrust(self, planned: PackPlan) -> None:
        """Remove the trust in folders of the pack that do not exist now. Raises Refusal."""
        records = [record for record in (planned.before, planned.after) if record is not None]
        self._bench.forget_missing_trusted(
            folder for record in records for folder in (*record.folders, *record.created_folders)
        )

    def _check(self, planned: PackPlan, state: Path) -> None:
        """Raise Refusal if anything has changed since this was planned."""
        now = self.store.index.all(state).get(planned.id)
        same = _document_of(now) == _document_of(planned.before)
        if same and planned.before is not None:
            same = integrity_of_pack(planned.before) == planned.on_disk
        own_folders = planned.before.folders if planned.before is not None else {}
        taken = [target for target in planned.trees if target not in own_folders and os.path.lexists(target)]
        if not same or taken or read_current(planned.change.path) != planned.change.old:
            what = taken[0] if taken else planned.change.path if same else planned.id
            raise Refusal(f"{what} has changed since this was planned; nothing was written.", "Try again.")

    def _with_dependencies(
        self, planned: PackPlan, intent: TransactionIntent, progress: Progress
    ) -> TransactionIntent:
        """Install the dependencies into the staged folders, and add their digests to the record."""
        if planned.after is None or not planned.dependencies or not planned.dependency_ranges:
            progress.check()
            return intent
        folders = {}
        spec = planned.fetched.spec if planned.fetched is not None else None
        for swap in intent.swaps:
            package_json = package_json_of(FileTree(planned.trees.get(swap.target, {})))
            if swap.fresh is not None and package_json:
                with self._work_folder() as work:
                    target = swap.fresh / DEPENDENCIES_FOLDER
                    install_dependencies(package_json, target, self._fetch_options(work, progress, spec))
            if swap.fresh is not None:
                folders[swap.target] = dict(digests_below(swap.fresh))
        document = replace(planned.after, folders=folders).document()
        return replace(intent, records={**intent.records, planned.id: document})


def _document_of(record: InstalledPack | None) -> object:
    return None if record is None else record.document()


def _is_alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True

"""Changes folders, settings and the index in one transaction: all or nothing, also after a crash."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Literal

from hookscope.model.host import Host
from hookscope.model.machine import RealFiles
from hookscope.packs.errors import PackError, pack_error_reason
from hookscope.packs.file_tree import PackFile, remove_tree
from hookscope.packs.index import (
    AppliedSetting,
    InstalledPack,
    PackIndex,
    PackSetting,
    applied_setting_from,
    apply_settings,
    bytes_from_json,
    bytes_to_json,
    revert_settings,
)
from hookscope.packs.plan import errors_as_refusals
from hookscope.storage.edits.atomic_files import ChangeError, WriteStep, no_step, replace_file, sync_folder
from hookscope.storage.edits.change import Change, apply_change, remove_empty
from hookscope.storage.edits.pending_writes import read_settled
from hookscope.storage.state_files import state_folder
from hookscope.values import dataclass

TransactionPhase = Literal["staging", "commit", "back", "clean"]
PHASES: tuple[TransactionPhase, ...] = ("staging", "commit", "back", "clean")
STAGING_FOLDER = ".hookscope-staging"


@dataclass(frozen=True, slots=True)
class FolderSwap:
    """A host's folder that is replaced: the new one, and where the old one is kept."""

    target: Path
    fresh: Path | None  # None: the folder is removed
    aside: Path


@dataclass(frozen=True, slots=True)
class TransactionIntent:
    """All steps of one install, update or uninstall, as stored on disk."""

    title: str  # for people
    host: Path  # its state folder
    phase: TransactionPhase
    swaps: tuple[FolderSwap, ...] = ()
    created_folders: tuple[Path, ...] = ()  # folders that the transaction creates
    settings_file: Path | None = None  # the settings
    old: bytes | None = None
    new: bytes | None = None
    # the edits of `new`, for a file that is neither `old` nor `new`
    removed_settings: tuple[AppliedSetting, ...] = ()
    required_settings: tuple[PackSetting, ...] = ()
    records: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    files_to_keep: tuple[tuple[Path, Path], ...] = ()  # changed files, and where they are kept
    removable_folders: tuple[Path, ...] = ()  # folders to remove if they are empty

    @property
    def staging(self) -> tuple[Path, ...]:
        """The folders that only this transaction uses."""
        return tuple(dict.fromkeys(swap.aside.parent for swap in self.swaps))


def write_intent(file: Path, intent: TransactionIntent) -> None:
    """Write the intent durably. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "what": intent.title,
        "host": str(intent.host),
        "phase": intent.phase,
        "swaps": [
            [str(swap.target), swap.fresh and str(swap.fresh), str(swap.aside)] for swap in intent.swaps
        ],
        "made": [str(folder) for folder in intent.created_folders],
        "file": intent.settings_file and str(intent.settings_file),
        "old": bytes_to_json(intent.old),
        "new": bytes_to_json(intent.new),
        "unset": [setting.document() for setting in intent.removed_settings],
        "wanted": [[list(want.path), want.value, want.is_list_item] for want in intent.required_settings],
        "records": {name: record and dict(record) for name, record in intent.records.items()},
        "keep": [[str(one), str(to)] for one, to in intent.files_to_keep],
        "empty": [str(folder) for folder in intent.removable_folders],
    }
    replace_file(file, json.dumps(document, indent=2).encode() + b"\n")


def read_intent(file: Path) -> TransactionIntent | None:
    """Return an interrupted intent, or None. Raises ValueError for an invalid file."""
    try:
        document = json.loads(RealFiles().read(file))
        return TransactionIntent(
            title=str(document["what"]),
            host=Path(document["host"]),
            phase=PHASES[PHASES.index(document["phase"])],
            swaps=tuple(
                FolderSwap(Path(target), Path(fresh) if fresh else None, Path(aside))
                for target, fresh, aside in document["swaps"]
            ),
            created_folders=tuple(map(Path, document["made"])),
            settings_file=Path(document["file"]) if document["file"] else None,
            old=bytes_from_json(document["old"]),
            new=bytes_from_json(document["new"]),
            removed_settings=tuple(map(applied_setting_from, document["unset"])),
            required_settings=tuple(
                PackSetting(tuple(path), value, bool(item)) for path, value, item in document["wanted"]
            ),
            records=dict(document["records"]),
            files_to_keep=tuple((Path(one), Path(to)) for one, to in document["keep"]),
            removable_folders=tuple(map(Path, document["empty"])),
        )
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from None


OTHER_TRANSACTION, TRY_LATER = (
    "Another install, update or uninstall is running.",
    "Wait until it ends, then try again.",
)
PATIENCE = 10.0  # seconds to wait for another of our processes


@dataclass(frozen=True, slots=True)
class PackStore:
    """Hookscope's own folder for packs: the index, and the running transaction."""

    folder: Path

    @property
    def index(self) -> PackIndex:
        """The index of installed packs."""
        return PackIndex(self.folder / "installed.json")

    @property
    def intent_file(self) -> Path:
        """The file with the running transaction."""
        return self.folder / "journal.json"

    @property
    def kept_folder(self) -> Path:
        """The folder for changed files that an update or uninstall has moved."""
        return self.folder / "kept"

    @contextmanager
    def locked(self, timeout: float = PATIENCE) -> Iterator[None]:
        """Hold the lock of transactions. Raises PackError while another one runs."""
        from filelock import FileLock  # loads asyncio; a scan locks nothing

        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = FileLock(self.folder / "lock")
        try:
            lock.acquire(timeout=timeout, poll_interval=0.02)
        except TimeoutError:
            raise PackError(OTHER_TRANSACTION, TRY_LATER) from None
        try:
            yield
        finally:
            lock.release()


CompleteIntent = Callable[[TransactionIntent], TransactionIntent]
"""Called when all is staged; returns the intent with records that have all digests."""


def run_transaction(
    store: PackStore,
    intent: TransactionIntent,
    trees: Mapping[Path, Mapping[str, PackFile]],
    *,
    check: Callable[[], None],
    on_staged: CompleteIntent,
    step: WriteStep,
) -> None:
    """Run a transaction. Raises PackError, ChangeError or OSError, with nothing changed.

    Args:
        trees: the files of each new folder, by the `fresh` path of its swap.
        check: raises if something has changed since the plan; called under the lock.
        on_staged: may change the staged folders, and complete the intent.
    """
    with store.locked():
        finish_interrupted(store)
        check()
        step("intend")
        write_intent(store.intent_file, intent)
        try:
            step("stage")
            _stage_folders(intent, trees)
            step("staged")
            intent = replace(on_staged(intent), phase="commit")
            step("commit")
            write_intent(store.intent_file, intent)
        except BaseException:
            _clean(store, intent, intent.created_folders, no_step)
            raise
        _finish_or_revert(store, intent, step)


def recover_transaction(store: PackStore) -> str:
    """Finish an interrupted transaction, unless another process does. Return the outcome, usually "".

    Raises PackError if it can neither be finished nor reverted.
    """
    if not store.intent_file.exists():
        return ""
    with ExitStack() as stack:
        try:
            stack.enter_context(store.locked(0))
        except PackError:
            return ""  # another process runs it
        return finish_interrupted(store)


def finish_interrupted(store: PackStore) -> str:
    """Finish an interrupted transaction under the lock; return a sentence about it. Raises PackError."""
    try:
        intent = read_intent(store.intent_file)
    except ValueError:
        raise PackError(
            f"{store.intent_file} records an interrupted install but cannot be read.",
            "Move it away, and check the hooks folder.",
        ) from None
    if intent is None:
        return ""
    try:
        if intent.phase == "commit":
            return _finish_logged(store, intent)
        if intent.phase == "back":
            _revert(store, intent)
        else:
            _clean(
                store,
                intent,
                intent.created_folders if intent.phase == "staging" else intent.removable_folders,
                no_step,
            )
    except (ChangeError, OSError) as error:
        raise PackError(
            f"An interrupted {intent.title} cannot be finished: {pack_error_reason(error)}.",
            "The next install, update or uninstall tries again.",
        ) from None
    done = "was finished" if intent.phase == "clean" else "was undone"
    return f"An interrupted {intent.title} {done} first."


def _finish_logged(store: PackStore, intent: TransactionIntent) -> str:
    try:
        _finish_or_revert(store, intent, no_step)
    except ChangeError as error:
        return f"An interrupted {intent.title} was undone: {error}"
    return f"An interrupted {intent.title} was finished first."


# Staging


def _stage_folders(intent: TransactionIntent, trees: Mapping[Path, Mapping[str, PackFile]]) -> None:
    for folder in intent.staging:
        folder.mkdir(parents=True)
    for root, files in trees.items():
        root.mkdir()
        for path, file in files.items():
            _write_files(root / path, file)


def _write_files(path: Path, file: PackFile) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file.mode)
    with os.fdopen(handle, "wb") as opened:
        opened.write(file.content)
        opened.flush()
        os.fsync(opened.fileno())


# Finishing


def _finish_or_revert(store: PackStore, intent: TransactionIntent, step: WriteStep) -> None:
    try:
        _finish(store, intent, step)
    except (ChangeError, OSError):
        _revert(store, intent)
        raise
    try:
        _keep_changed_files(intent, step)
    except OSError as error:
        raise PackError(
            f"The {intent.title} is done, but copies of changed files cannot be stored: "
            f"{pack_error_reason(error)}.",
            "The next install, update or uninstall tries again.",
        ) from None
    noted = _record_phase(store, replace(intent, phase="clean"))
    _clean(store, intent, intent.removable_folders, step, is_noted=noted)


def _record_phase(store: PackStore, intent: TransactionIntent) -> bool:
    """Record the phase, unless the disk is full: a later process then repeats the same steps."""
    try:
        write_intent(store.intent_file, intent)
    except OSError:
        return False
    return True


def _finish(store: PackStore, intent: TransactionIntent, step: WriteStep) -> None:
    """Finish the transaction. Each step may be done already, by a killed process."""
    for swap in intent.swaps:
        step("aside")
        is_waiting = swap.fresh is None or os.path.lexists(swap.fresh)
        if is_waiting and os.path.lexists(swap.target) and not os.path.lexists(swap.aside):
            os.rename(swap.target, swap.aside)
        step("place")
        if swap.fresh is not None and os.path.lexists(swap.fresh):
            os.rename(swap.fresh, swap.target)
        sync_folder(swap.target.parent)
    step("settings")
    is_exact = _write_settings(intent)
    step("records")
    unknown = {} if is_exact else {"snapshot": None}  # it counts only if no other program changed the file
    records = {name: record and {**record, **unknown} for name, record in intent.records.items()}
    store.index.put(intent.host, records)


def _write_settings(intent: TransactionIntent) -> bool:
    """Write the settings; return False if the file has other changes beside our edits."""
    if intent.settings_file is None or intent.old == intent.new:
        return True
    now = read_settled(intent.settings_file)
    if now == intent.new:
        return True
    if now == intent.old:
        apply_change(Change(intent.settings_file, intent.title, now, intent.new))
        return True
    source, _ = revert_settings(now, intent.removed_settings)
    source, _ = apply_settings(source, intent.required_settings)
    apply_change(Change(intent.settings_file, intent.title, now, source))
    return False


def _keep_changed_files(intent: TransactionIntent, step: WriteStep) -> None:
    step("keep")
    for one, to in intent.files_to_keep:
        if os.path.lexists(one) and not os.path.islink(to):  # a link was kept by a killed process
            to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            shutil.copy2(one, to, follow_symlinks=False)


def _clean(
    store: PackStore,
    intent: TransactionIntent,
    removable_folders: Iterable[Path],
    step: WriteStep,
    *,
    is_noted: bool = True,
) -> None:
    """Remove the staging folders and the intent. `is_noted`: the stored intent has the phase `clean`."""
    step("clean")
    if not is_noted:
        store.intent_file.unlink(missing_ok=True)
    for folder in intent.staging:
        remove_tree(folder)
    remove_empty(removable_folders)
    step("forget")
    store.intent_file.unlink(missing_ok=True)
    sync_folder(store.folder)
    step("done")


def _revert(store: PackStore, intent: TransactionIntent) -> None:
    """Undo the transaction. Some of its steps may not have run."""
    _record_phase(store, replace(intent, phase="back"))
    for swap in reversed(intent.swaps):
        if swap.fresh is not None and not os.path.lexists(swap.fresh) and os.path.lexists(swap.target):
            os.rename(swap.target, swap.fresh)
        if os.path.lexists(swap.aside):
            os.rename(swap.aside, swap.target)
    if intent.settings_file is not None and intent.old != intent.new:
        with suppress(ChangeError):
            if read_settled(intent.settings_file) == intent.new:
                apply_change(Change(intent.settings_file, f"undo: {intent.title}", intent.new, intent.old))
    noted = _record_phase(store, replace(intent, phase="clean", removable_folders=intent.created_folders))
    _clean(store, intent, intent.created_folders, no_step, is_noted=noted)


def installed_packs(host: Host) -> tuple[InstalledPack, ...]:
    """Return the packs of this host, oldest first. Reads one file; raises Refusal if it is unreadable."""
    with errors_as_refusals():
        return tuple(PackStore(state_folder() / "packs").index.all(host.state).values())

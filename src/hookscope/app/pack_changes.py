"""What changed on disk since a pack was installed, as diffs, and whether its source has a newer version."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal

from hookscope.app.pack_manager import PackManager
from hookscope.hosts.source.facts import HandlerUses
from hookscope.model.refusal import Refusal
from hookscope.model.regular_file import read_regular
from hookscope.model.text import error_reason
from hookscope.packs.capabilities import SHARED_BY_ALL, capabilities_of
from hookscope.packs.errors import NO_PROGRESS, PackCancelled, PackError, Progress
from hookscope.packs.fetch.sources import fetch_package
from hookscope.packs.fetch.specs import FetchOptions, parse_spec
from hookscope.packs.file_tree import FileTree, read_folder_tree
from hookscope.packs.index import InstalledPack
from hookscope.packs.integrity import integrity_of_pack
from hookscope.packs.plan import PackPlan, PackUpToDate, errors_as_refusals
from hookscope.storage.edits.change import Change
from hookscope.values import dataclass

MOST_DIFFS = 50  # files of an update that are compared
LARGEST_DIFF = 262_144  # bytes of a file that is compared line by line
LOST_NOTE = (
    "its source no longer has the bytes that were installed: an update --force --accept-changed puts it in "
    "place again"
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
    """Return the changed files against the installed version, fetched again. Blocks; raises Refusal."""
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
        raise PackCancelled("It was stopped; nothing is compared.")


def _file_change(
    path: Path, state: PackFileState, originals: Mapping[Path, bytes], planned: bytes | None = None
) -> PackFileChange:
    """Return one file against what was installed, or against its `planned` content if given."""
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
        return PackFileChange(path, state, why="it is no text")
    return PackFileChange(path, state, Change(path, f"{state} since it was installed", before, after))


def _read_or_reason(path: Path) -> bytes | str:
    """Return the file's bytes, or why it cannot be read. Only plain files are opened."""
    if path.is_symlink() or not path.is_file():
        return "it is no plain file now"
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
    """Return whether the pack's folder or archive on this disk has changed since. Asks no one.

    Empty if only a registry, a repository or an interpreter knows.
    """
    if record.linked is not None:
        return "used as it is"
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
    """Return what an installed pack's sources use now, by hook folder, and the unreadable files.

    Code shared by all hooks is listed under the pack's own folder. Runs nothing; blocks.
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

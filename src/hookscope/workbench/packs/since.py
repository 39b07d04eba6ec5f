"""What has changed on disk since a pack was installed, as diffs; and whether its source has gone on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal

from hookscope.changes import Change
from hookscope.core.regular_file import read_regular
from hookscope.core.text import why_of
from hookscope.lint.reading import Uses
from hookscope.packs.errors import Cancelled, PackError
from hookscope.packs.fetched import Fetching
from hookscope.packs.folders import read_folder
from hookscope.packs.progress import QUIETLY, Progress
from hookscope.packs.record import Record
from hookscope.packs.sources import fetch
from hookscope.packs.specs import spec_of
from hookscope.packs.standing import standing_of
from hookscope.packs.tree import Tree
from hookscope.values import dataclass
from hookscope.workbench.packs.desk import PackDesk
from hookscope.workbench.packs.planned import Planned, UpToDate
from hookscope.workbench.packs.refusals import refusing
from hookscope.workbench.packs.uses import SHARED, capabilities_of
from hookscope.workbench.refusal import Refusal

MOST = 50  # files of an update that are compared
LARGEST = 262_144  # bytes of a file that is compared line by line
LOST = (
    "its source no longer has the bytes that were installed: an update --force --accept-changed puts it in "
    "place again"
)


Word = Literal["changed", "missing", "added"]


@dataclass(frozen=True, slots=True)
class Since:
    """One file that is not as it was installed."""

    path: Path
    word: Word
    change: Change | None = None  # from what was installed to what stands there
    why: str = ""  # there is no diff


@dataclass(frozen=True, slots=True)
class Compared:
    """All files of a pack that are not as they were installed."""

    record: Record
    files: tuple[Since, ...]
    problem: str = ""  # the source could not be asked


def changed_since(desk: PackDesk, name: str, progress: Progress = QUIETLY) -> Compared:
    """Each such file against what was installed, which is fetched again. Blocks; raises Refusal."""
    record = desk.record(name)
    standing = standing_of(record)
    originals: Mapping[Path, bytes] = {}
    problem = ""
    if standing.changed or standing.missing:
        try:
            trees = desk.as_installed(name, progress)
            originals = {
                root / path: one.content for root, tree in trees.items() for path, one in tree.items()
            }
        except Refusal as refused:
            problem = refused.what
        with refusing():
            _go_on(progress)
    known = {root / path: digest for root, tree in record.folders.items() for path, digest in tree.items()}
    true = {path: one for path, one in originals.items() if sha256(one).hexdigest() == known.get(path)}
    files = [_since(path, "changed", true) for path in standing.changed]
    files += [_since(path, "missing", true) for path in standing.missing]
    files += [_since(path, "added", true) for path in standing.added]
    return Compared(record, tuple(files), problem)


def _go_on(progress: Progress) -> None:
    if progress.cancelled():
        raise Cancelled("It was stopped; nothing is compared.")


def _since(path: Path, word: Word, originals: Mapping[Path, bytes], becomes: bytes | None = None) -> Since:
    """One file against what was installed; `becomes`: against what it is to be, where that is given."""
    old = originals.get(path)
    if old is None and word != "added" and becomes is None:
        return Since(path, word, why=LOST)
    now = _read(path) if word != "missing" else None
    if isinstance(now, str):
        return Since(path, word, why=now)
    before, after = (old, now) if becomes is None else (now, becomes)
    sides = [side for side in (before, after) if side is not None]
    if any(len(side) > LARGEST for side in sides):
        return Since(path, word, why=f"it is larger than {LARGEST:,} bytes")
    if any(b"\0" in side for side in sides):
        return Since(path, word, why="it is no text")
    return Since(path, word, Change(path, f"{word} since it was installed", before, after))


def _read(path: Path) -> bytes | str:
    """What stands there, or why it cannot be read: only plain files are opened."""
    if path.is_symlink() or not path.is_file():
        return "it is no plain file now"
    try:
        return read_regular(path, LARGEST + 1)
    except OSError as error:
        return f"it cannot be read: {why_of(error)}"


def replaced(planned: Planned | UpToDate) -> Mapping[Path, str]:
    """A diff for each file that an update would put in another's place, from what stands there now."""
    if isinstance(planned, UpToDate):
        return {}
    known = {root / path: one.content for root, tree in planned.trees.items() for path, one in tree.items()}
    named = [file.path for file in planned.files if file.action == "replace"][:MOST]
    found = (_since(path, "changed", {}, known[path]) for path in named if path in known)
    return {one.path: one.change.preview() for one in found if one.change is not None}


def newer_here(record: Record) -> str:
    """What can be said without asking anybody: has the folder or archive on this disk gone on since.

    Empty where only a registry, a repository or an interpreter knows.
    """
    if record.linked is not None:
        return "used as it is"
    if record.source not in ("folder", "archive"):
        return ""
    try:
        fetched = fetch(spec_of(record.spec, Path), Fetching(Path(os.devnull), {}, ""))
    except PackError:
        return "source is gone"
    return "newest" if fetched.integrity == record.integrity else "newer"


def uses_on_disk(record: Record, hooks: Sequence[Path]) -> tuple[Mapping[Path, Uses], tuple[str, ...]]:
    """What the sources of an installed pack use now, by the folder of a hook; and what cannot be read.

    What belongs to no hook alone stands by the pack's own folder. Nothing is run; blocks.
    """
    found: dict[Path, Uses] = {}
    unread: list[str] = []
    for root in (record.linked,) if record.linked is not None else tuple(record.folders):
        within = [hook for hook in hooks if hook.is_relative_to(root)]
        inside = {"" if hook == root else hook.relative_to(root).as_posix(): hook for hook in within}
        try:
            tree: Tree = read_folder(root)
        except PackError as error:
            unread.append(str(error))
            continue
        able = capabilities_of(tree, tuple(inside))
        for where, uses in able.uses.items():
            found[root if where == SHARED else inside[where]] = uses
        unread += able.unread
    return found, tuple(unread)

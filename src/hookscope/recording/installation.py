"""Installs taps into a host's folders and removes them. Other files are never touched."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from hookscope.model.failure import Refusal
from hookscope.model.host import Host
from hookscope.model.text import error_reason
from hookscope.recording.spool import SPOOL_FILES
from hookscope.recording.taps import (
    TAP_KINDS,
    TAP_SUFFIX,
    InstalledTap,
    InstalledTaps,
    Tap,
    TapLanguage,
    installed_taps_record,
    spool_folder,
    spool_path,
    tap_roots_of,
    taps_for,
)
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import (
    Change,
    apply_change,
    check_links,
    missing_folders,
    read_current,
    remove_empty,
)
from hookscope.values import dataclass

PYTHON_CACHE = "__pycache__"
MOVE_AWAY = "Move it away first."


@dataclass(frozen=True, slots=True)
class TapStep:
    """One planned install or removal of a tap."""

    root: Path
    tap: Tap | None  # None: it is removed
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class TapPlan:
    """What an install or a removal would write. Creating one writes nothing."""

    spool: Path
    steps: tuple[TapStep, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """Return every file that is written or removed, in order."""
        return tuple(change for step in self.steps for change in step.changes)

    @property
    def notes(self) -> tuple[Change, ...]:
        """Return one change per tap for the journal."""
        changed = (step for step in self.steps if step.changes)
        return tuple(Change(step.root, step.changes[0].meaning, None, None) for step in changed)


def installed_taps_of(host: Host) -> Mapping[Path, InstalledTap]:
    """Return the taps installed for this host, by root."""
    known = installed_taps_record().all()
    return {root: known[root] for root in _possible_tap_roots(host) if root in known}


def _possible_tap_roots(host: Host) -> Iterator[Path]:
    """Yield the paths where taps may be installed. For a stream, the path is that of the tap's module, with
    the suffix of each language."""
    for kind in TAP_KINDS:
        for root in tap_roots_of(host, kind):
            if kind == "stream":
                yield from (root.with_name(root.name + suffix) for suffix in TAP_SUFFIX.values())
            else:
                yield root


def plan_tap_install(host: Host, language: TapLanguage, *, plugin_hooks: bool = False) -> TapPlan:
    """Plan an install of the current taps in that language.

    A tap in the other language is removed; an installed tap for plugin hooks stays. Raises Refusal if foreign
    files are in the way, or the host is not installed.
    """
    spool, known = spool_folder(host), installed_taps_of(host)
    again = any(root in known for root in tap_roots_of(host, "plugin"))
    taps = taps_for(host, language, plugin_hooks=plugin_hooks or again)
    steps = [TapStep(tap.root, tap, tuple(_changes_to_install(tap, known.get(tap.root)))) for tap in taps]
    other = [root for root in known if root not in {tap.root for tap in taps}]
    steps += [TapStep(root, None, tuple(_changes_to_remove(known[root]))) for root in other]
    plan = TapPlan(spool, tuple(steps))
    check_links(plan.changes, host)
    return plan


def _changes_to_install(tap: Tap, known: InstalledTap | None) -> Iterator[Change]:
    before = known.files if known is not None else {}
    if strangers := _foreign_files(tap, before):
        raise Refusal(f"{strangers[0]} is a file of another program; nothing was written.", MOVE_AWAY)
    for path, content in tap.files.items():
        now = _read_or_refuse(path)
        if now not in (None, content) and content_digest(now) != before.get(path):
            raise Refusal(f"{path} differs from what Hookscope wrote; nothing was written.", MOVE_AWAY)
        if now != content:
            yield Change(path, f"install {tap.name}", now, content)
    for path in before:
        if path not in tap.files:
            yield from _removal_of(path, before[path])


def _foreign_files(tap: Tap, before: Mapping[Path, str]) -> list[Path]:
    """Return the files in the tap's folder that Hookscope does not write."""
    if tap.kind == "stream" or not os.path.isdir(tap.root):
        return []
    known = {*tap.files, *before, tap.root / PYTHON_CACHE}
    try:
        return sorted(path for path in tap.root.iterdir() if path not in known)
    except OSError as error:
        raise Refusal(f"Cannot read {tap.root}: {error_reason(error)}.", "Make it readable first.") from None


def plan_tap_removal(host: Host) -> TapPlan:
    """Plan the removal of this host's taps: all written files that are unchanged.

    Raises Refusal if a file has changed since, or no tap is installed.
    """
    known = installed_taps_of(host)
    if not known:
        raise Refusal(
            f"No tap is installed for {host.dialect.product} here.", "`hookscope tap install` installs one."
        )
    steps = tuple(TapStep(root, None, tuple(_changes_to_remove(entry))) for root, entry in known.items())
    return TapPlan(spool_path(host), steps)


def _changes_to_remove(entry: InstalledTap) -> Iterator[Change]:
    for path, written in entry.files.items():
        yield from _removal_of(path, written)


def _removal_of(path: Path, written: str) -> Iterator[Change]:
    now = _read_or_refuse(path)
    if now is None:
        return
    if content_digest(now) != written:
        raise Refusal(
            f"{path} has changed since it was installed; nothing was removed.",
            "Remove it by hand, or restore it.",
        )
    yield Change(path, "remove event-tap", now, None)


def _read_or_refuse(path: Path) -> bytes | None:
    try:
        return read_current(path)
    except ChangeError as error:
        raise Refusal(str(error)) from None


def content_digest(content: bytes | None) -> str:
    """Return the digest of a content, for the record."""
    return sha256(content or b"").hexdigest()


def apply_tap_plan(plan: TapPlan) -> None:
    """Write the plan, tap after tap. Raises Refusal if a tap cannot be written; that tap is kept."""
    record = installed_taps_record()
    known = record.all()
    spool = _create_spool(plan)
    for step in plan.steps:
        before = known.get(step.root)
        created = missing_folders(change.path for change in step.changes if change.new is not None)
        other = (
            known[root].created_folders for root in known if root.with_suffix("") == step.root.with_suffix("")
        )
        folders = (*(folder for folders in other for folder in folders), *created)
        entry = _installed_tap(step.tap, before, folders, plan.spool) if step.tap is not None else None
        try:
            _apply_step(step, entry, record)
        except Refusal:
            remove_empty((*created, *spool))
            raise
        _clear_compiled(change.path for change in step.changes if change.new is None)
        if step.tap is None and before is not None:
            remove_empty(before.created_folders)
    remove_empty([plan.spool] if not any(step.tap for step in plan.steps) else [])


def _installed_tap(
    tap: Tap, before: InstalledTap | None, created_folders: Sequence[Path], spool: Path
) -> InstalledTap:
    return InstalledTap(
        at=before.at if before is not None else datetime.now(UTC),
        kind=tap.kind,
        language=tap.language,
        name=tap.name,
        events=tap.events,
        files={path: content_digest(content) for path, content in tap.files.items()},
        created_folders=tuple(dict.fromkeys(created_folders)),
        spool=spool,
    )


def _create_spool(plan: TapPlan) -> tuple[Path, ...]:
    """Create the spool; return it if it was missing. A tap creates none: it may run on another machine."""
    if os.path.isdir(plan.spool) or not any(step.tap is not None for step in plan.steps):
        return ()
    try:
        plan.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"Cannot make {plan.spool}: {error_reason(error)}.", "Nothing was written.") from None
    return (plan.spool,)


def _apply_step(step: TapStep, entry: InstalledTap | None, record: InstalledTaps) -> None:
    """Write the files and their record: only recorded files can be removed later."""
    done: list[Change] = []
    try:
        record.file.parent.mkdir(parents=True, exist_ok=True)
        for change in step.changes:
            apply_change(change)
            done.append(change)
        record.put(step.root, entry)
    except (ChangeError, Refusal, OSError) as error:
        for change in reversed(done):
            with suppress(ChangeError):
                apply_change(change.undo())
        raise Refusal(str(error)) from None


def _clear_compiled(paths: Iterable[Path]) -> None:
    """Remove compiled files of a removed Python tap."""
    for path in paths:
        for compiled in (path.parent / PYTHON_CACHE).glob(f"{path.stem}.*.pyc"):
            with suppress(OSError):
                compiled.unlink()
        remove_empty([path.parent / PYTHON_CACHE])


def remove_spool(spool: Path) -> None:
    """Remove the recorded events, and the folder if it is empty then. Raises Refusal."""
    try:
        for name in SPOOL_FILES:
            (spool / name).unlink(missing_ok=True)
    except OSError as error:
        raise Refusal(
            f"Cannot remove {error.filename}: {error_reason(error)}.", "Remove it by hand."
        ) from None
    remove_empty([spool])

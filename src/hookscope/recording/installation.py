"""Install taps into a host's folders and remove them. Files of anybody else are never touched."""

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
from hookscope.recording.installed_taps import (
    TAP_KINDS,
    InstalledTap,
    InstalledTaps,
    installed_taps_record,
)
from hookscope.recording.spool import SPOOL_FILES
from hookscope.recording.tap_files import (
    TAP_SUFFIX,
    Tap,
    TapLanguage,
    spool_folder,
    spool_path,
    tap_roots_of,
    taps_for,
)
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import (
    Change,
    apply_change,
    missing_folders,
    read_current,
    remove_empty,
)
from hookscope.values import dataclass

PYTHON_CACHE = "__pycache__"
MOVE_AWAY = "Move it away first."


@dataclass(frozen=True, slots=True)
class TapStep:
    """One tap that is put in place, or taken away, as it would be."""

    root: Path
    tap: Tap | None  # None: it is taken away
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class TapPlan:
    """What an install or a removal would write. Making it writes nothing."""

    spool: Path
    steps: tuple[TapStep, ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """Every file that is written or removed, in order."""
        return tuple(change for step in self.steps for change in step.changes)

    @property
    def notes(self) -> tuple[Change, ...]:
        """What goes on record of it: one line a tap, however many files it has."""
        changed = (step for step in self.steps if step.changes)
        return tuple(Change(step.root, step.changes[0].meaning, None, None) for step in changed)


def installed_taps_of(host: Host) -> Mapping[Path, InstalledTap]:
    """What was installed for this host, by root."""
    known = installed_taps_record().all()
    return {root: known[root] for root in _possible_tap_roots(host) if root in known}


def _possible_tap_roots(host: Host) -> Iterator[Path]:
    """Where taps may stand: a stream's root is its module, whose name ends in its language."""
    for kind in TAP_KINDS:
        for root in tap_roots_of(host, kind):
            if kind == "stream":
                yield from (root.with_name(root.name + suffix) for suffix in TAP_SUFFIX.values())
            else:
                yield root


def plan_tap_install(host: Host, language: TapLanguage, *, plugin_hooks: bool = False) -> TapPlan:
    """What an install would write: each tap as it is now made, in that language.

    One in the other language goes; that of the plugin hooks stays where it was asked for once. Raises
    Refusal where something of somebody else's stands there, or the host is not here.
    """
    spool, known = spool_folder(host), installed_taps_of(host)
    again = any(root in known for root in tap_roots_of(host, "plugin"))
    taps = taps_for(host, language, plugin_hooks=plugin_hooks or again)
    steps = [TapStep(tap.root, tap, tuple(_changes_to_install(tap, known.get(tap.root)))) for tap in taps]
    other = [root for root in known if root not in {tap.root for tap in taps}]
    steps += [TapStep(root, None, tuple(_changes_to_remove(known[root]))) for root in other]
    return TapPlan(spool, tuple(steps))


def _changes_to_install(tap: Tap, known: InstalledTap | None) -> Iterator[Change]:
    before = known.files if known is not None else {}
    if strangers := _foreign_files(tap, before):
        raise Refusal(f"{strangers[0]} is not Hookscope's; nothing was written.", MOVE_AWAY)
    for path, content in tap.files.items():
        now = _read_or_refuse(path)
        if now not in (None, content) and content_digest(now) != before.get(path):
            raise Refusal(
                f"{path} is there, and not as Hookscope has written it; nothing was written.", MOVE_AWAY
            )
        if now != content:
            yield Change(path, f"install {tap.name}", now, content)
    for path in before:
        if path not in tap.files:
            yield from _removal_of(path, before[path])


def _foreign_files(tap: Tap, before: Mapping[Path, str]) -> list[Path]:
    """What else lies in the folder that is to be the tap's own."""
    if tap.kind == "stream" or not os.path.isdir(tap.root):
        return []
    known = {*tap.files, *before, tap.root / PYTHON_CACHE}
    try:
        return sorted(path for path in tap.root.iterdir() if path not in known)
    except OSError as error:
        raise Refusal(f"Cannot read {tap.root}: {error_reason(error)}.", "Make it readable first.") from None


def plan_tap_removal(host: Host) -> TapPlan:
    """What taking the taps of this host away would remove: what was written, where it is still that.

    Raises Refusal where a file of them has been changed since, or none is installed.
    """
    known = installed_taps_of(host)
    if not known:
        raise Refusal(
            f"No tap is installed for {host.dialect.product} here.", "`hookscope tap install` does that."
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
            f"{path} was changed since it was installed; nothing was removed.",
            "Remove it by hand, or put it back as it was.",
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
    """Write it, tap after tap. Raises Refusal; then nothing of that tap was written."""
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
    """The folder, if it was made. A tap makes none: where it finds none, it stands on another machine."""
    if os.path.isdir(plan.spool) or not any(step.tap is not None for step in plan.steps):
        return ()
    try:
        plan.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"Cannot make {plan.spool}: {error_reason(error)}.", "Nothing was written.") from None
    return (plan.spool,)


def _apply_step(step: TapStep, entry: InstalledTap | None, record: InstalledTaps) -> None:
    """Write the files, and that they were written: what is not on record could not be removed again."""
    done: list[Change] = []
    try:
        record.file.parent.mkdir(parents=True, exist_ok=True)
        for change in step.changes:
            apply_change(change, lock=record.lock)
            done.append(change)
        record.put(step.root, entry)
    except (ChangeError, Refusal, OSError) as error:
        for change in reversed(done):
            with suppress(ChangeError):
                apply_change(change.undo(), lock=record.lock)
        raise Refusal(str(error)) from None


def _clear_compiled(paths: Iterable[Path]) -> None:
    """What an interpreter left beside a Python tap that has gone."""
    for path in paths:
        for compiled in (path.parent / PYTHON_CACHE).glob(f"{path.stem}.*.pyc"):
            with suppress(OSError):
                compiled.unlink()
        remove_empty([path.parent / PYTHON_CACHE])


def remove_spool(spool: Path) -> None:
    """Remove what was recorded, and the folder if nothing else is in it. Raises Refusal."""
    try:
        for name in SPOOL_FILES:
            (spool / name).unlink(missing_ok=True)
    except OSError as error:
        raise Refusal(
            f"Cannot remove {error.filename}: {error_reason(error)}.", "Remove it by hand."
        ) from None
    remove_empty([spool])

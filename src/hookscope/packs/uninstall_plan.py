"""Plans an uninstall: removed files, reverted settings, and what other packs take over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from hookscope.formats.positions import KeyPath
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import Inventory
from hookscope.model.host import Host
from hookscope.packs.index import (
    AppliedSetting,
    InstalledPack,
    SettingsSnapshot,
    integrity_of_pack,
    revert_settings,
)
from hookscope.packs.plan import PackFilePlan, PackPlan, effects_on_other_hooks, inventory_after, settings_for
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import Change
from hookscope.storage.edits.document_values import MISSING
from hookscope.storage.edits.json5_edit import dotted_path, parse_settings
from hookscope.storage.edits.pending_writes import read_settled


def plan_uninstall(
    record: InstalledPack, host: Host, inventory: Inventory, known: Mapping[str, InstalledPack]
) -> PackPlan:
    """Plan to revert the install. Settings that have changed since stay as they are.

    Raises Refusal if the settings cannot be edited safely.
    """
    others = [other for name, other in known.items() if name != record.id]
    later = [other for other in others if other.at > record.at]
    file = record.settings_file
    try:
        now = read_settled(file)
        needed = [_needed_settings(other, host, inventory) for other in later]
        reverted, handed_over = _split_settings(record, needed)
        changed_since: tuple[AppliedSetting, ...] = ()
        exact = record.snapshot is not None and record.snapshot.after == now and not later
        if exact and record.snapshot is not None:
            source = record.snapshot.before
        else:
            source, changed_since = revert_settings(now, reverted)
            source = _without_empty_document(source, record, others)
    except ChangeError as error:
        raise Refusal(f"{file} cannot be edited: {error}") from None
    change = Change(file, f"uninstall {record.id}", now, source)
    removed = tuple(record.folders)
    _, inventory_then = inventory_after(host, {}, removed, change)
    notes = [
        f"{dotted_path(setting.setting.path)} has changed since the install, so it is not reverted"
        for setting in changed_since
    ]
    return PackPlan(
        action="uninstall",
        id=record.id,
        before=record,
        after=None,
        fetched=None,
        trees={},
        change=change,
        removed_settings=reverted,
        handed_over=tuple(_handed_over(later, needed, record, reverted, handed_over, now, source)),
        files=tuple(
            PackFilePlan(folder / path, "remove", 0)
            for folder, files in record.folders.items()
            for path in files
        ),
        other_effects=effects_on_other_hooks(
            inventory, inventory_then, _linked_rows(record, inventory), removed
        ),
        on_disk=integrity_of_pack(record),
        notes=tuple(notes),
    )


def _linked_rows(record: InstalledPack, inventory: Inventory) -> set[Path]:
    """Return the paths of the hooks in a linked pack's folder; empty if the pack is not linked."""
    if record.linked is None:
        return set()
    real = record.linked
    paths = [row.hook.path for row in inventory.hooks if row.hook.path is not None]
    return {path for path in paths if path.is_relative_to(real)}


def _needed_settings(other: InstalledPack, host: Host, inventory: Inventory) -> frozenset[KeyPath]:
    """Return the settings that a pack needs, no matter who set them."""
    folders = (*other.folders, *filter(None, [other.linked]))
    placed = ((row.hook.key, row.hook.path) for row in inventory.hooks)
    found = {key for key, path in placed if path and any(path.is_relative_to(one) for one in folders)}
    return frozenset(setting.path for setting in settings_for(host, sorted(found | {*other.hooks})))


def _split_settings(
    record: InstalledPack, needed: Sequence[frozenset[KeyPath]]
) -> tuple[tuple[AppliedSetting, ...], tuple[AppliedSetting, ...]]:
    """Return the settings to revert, and those that a later pack relies on and reverts itself."""
    relied_on = frozenset[KeyPath]().union(*needed)
    kept = tuple(setting for setting in record.settings if setting.setting.path in relied_on)
    return tuple(setting for setting in record.settings if setting not in kept), kept


def _without_empty_document(
    source: bytes | None, record: InstalledPack, others: Sequence[InstalledPack]
) -> bytes | None:
    """Return None, to remove the file, if the install created it and only `{}` is left; else `source`.

    Other installed packs keep the file.
    """
    before = record.snapshot
    if source is None or others or before is None or before.before is not None:
        return source
    return None if parse_settings(source, "") == {} and source.strip() == b"{}" else source


def _handed_over(
    later: Sequence[InstalledPack],
    needed: Sequence[frozenset[KeyPath]],
    record: InstalledPack,
    reverted: Sequence[AppliedSetting],
    settings: tuple[AppliedSetting, ...],
    now: bytes | None,
    source: bytes | None,
) -> list[InstalledPack]:
    """Return later packs, changed so that uninstalling the last one reverts this pack's settings too."""
    changed = []
    remaining = settings
    for number, other in enumerate(later):
        mine = tuple(_setting_without(setting, record.settings) for setting in other.settings)
        theirs = tuple(setting for setting in remaining if setting.setting.path in needed[number])
        remaining = tuple(setting for setting in remaining if setting not in theirs)
        snapshot = _snapshot_after(other, record, reverted, now, source)
        then = replace(other, settings=(*theirs, *mine), snapshot=snapshot)
        if number == 0:
            then = replace(
                then, created_folders=tuple(dict.fromkeys([*then.created_folders, *record.created_folders]))
            )
        if then != other:
            changed.append(then)
    return changed


def _setting_without(setting: AppliedSetting, removed: Sequence[AppliedSetting]) -> AppliedSetting:
    """Return the setting, changed so that its revert also removes objects created by `removed` settings."""
    existing_depth = setting.existing_depth
    for other in removed:
        steps = zip(setting.setting.path, other.setting.path, strict=False)
        shared = len([*takewhile(lambda pair: pair[0] == pair[1], steps)])
        if other.previous is MISSING and other.existing_depth < shared:
            existing_depth = min(existing_depth, max(other.existing_depth, 0))
    return replace(setting, existing_depth=existing_depth)


def _snapshot_after(
    other: InstalledPack,
    removed: InstalledPack,
    reverted: Sequence[AppliedSetting],
    now: bytes | None,
    source: bytes | None,
) -> SettingsSnapshot | None:
    """Return the file before and after the other pack, without the removed pack."""
    mine, theirs = removed.snapshot, other.snapshot
    if mine is None or theirs is None:
        return None
    try:
        before = mine.before if theirs.before == mine.after else revert_settings(theirs.before, reverted)[0]
        after = source if theirs.after == now else revert_settings(theirs.after, reverted)[0]
    except ChangeError:
        return None
    return SettingsSnapshot(before, after)

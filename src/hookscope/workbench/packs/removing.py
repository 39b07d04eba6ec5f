"""Taking a pack away: what goes, what the settings say then, and what other packs take over of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hookscope.changes import Change, ChangeError, read_settled
from hookscope.changes.meanings import MISSING
from hookscope.changes.settings_edit import dotted, meaning_of
from hookscope.core.dialect import Host
from hookscope.core.inventory import Inventory
from hookscope.formats import KeyPath
from hookscope.packs.edits import Setting, unmade
from hookscope.packs.record import Record, Snapshot
from hookscope.packs.standing import standing_of
from hookscope.workbench.packs.effects import effects
from hookscope.workbench.packs.placing import seen_then, wanted_for
from hookscope.workbench.packs.planned import FilePlan, Planned
from hookscope.workbench.refusal import Refusal


def plan_uninstall(record: Record, host: Host, inventory: Inventory, known: Mapping[str, Record]) -> Planned:
    """Exactly what its install did, taken back; where somebody has been at the settings since, what fits.

    Raises Refusal where the settings cannot be edited with certainty.
    """
    others = [other for name, other in known.items() if name != record.id]
    later = [other for other in others if other.at > record.at]
    file = record.settings_file
    try:
        now = read_settled(file)
        wants = [_wants(other, host, inventory) for other in later]
        taken, handed_over = _split(record, wants)
        left: tuple[Setting, ...] = ()
        exact = record.snapshot is not None and record.snapshot.after == now and not later
        if exact and record.snapshot is not None:
            source = record.snapshot.before
        else:
            source, left = unmade(now, taken)
            source = _nothing_left(source, record, others)
    except ChangeError as error:
        raise Refusal(f"{file} cannot be edited: {error}") from None
    change = Change(file, f"uninstall {record.id}", now, source)
    gone = tuple(record.folders)
    _, seen = seen_then(host, {}, gone, change)
    notes = [f"{dotted(setting.wanted.path)} was changed since; it stays as it is" for setting in left]
    return Planned(
        action="uninstall",
        id=record.id,
        before=record,
        after=None,
        fetched=None,
        trees={},
        change=change,
        unset=taken,
        handed=tuple(_handed(later, wants, record, taken, handed_over, now, source)),
        files=tuple(
            FilePlan(folder / path, "remove", 0) for folder, files in record.folders.items() for path in files
        ),
        others=tuple(effects(inventory, seen, _linked_rows(record, inventory), gone)),
        on_disk=standing_of(record),
        notes=tuple(notes),
    )


def _linked_rows(record: Record, inventory: Inventory) -> set[Path]:
    """The hooks of a linked folder are its own affair."""
    if record.linked is None:
        return set()
    real = record.linked
    paths = [row.hook.path for row in inventory.hooks if row.hook.path is not None]
    return {path for path in paths if path.is_relative_to(real)}


def _wants(other: Record, host: Host, inventory: Inventory) -> frozenset[KeyPath]:
    """The settings that a pack relies on, whoever has made them."""
    folders = (*other.folders, *filter(None, [other.linked]))
    placed = ((row.hook.key, row.hook.path) for row in inventory.hooks)
    found = {key for key, path in placed if path and any(path.is_relative_to(one) for one in folders)}
    return frozenset(want.path for want in wanted_for(host, sorted(found | {*other.hooks})))


def _split(
    record: Record, wants: Sequence[frozenset[KeyPath]]
) -> tuple[tuple[Setting, ...], tuple[Setting, ...]]:
    """What is taken back, and what a later pack relies on: it takes it back with itself."""
    relied_on = frozenset[KeyPath]().union(*wants)
    kept = tuple(setting for setting in record.settings if setting.wanted.path in relied_on)
    return tuple(setting for setting in record.settings if setting not in kept), kept


def _nothing_left(source: bytes | None, record: Record, others: Sequence[Record]) -> bytes | None:
    """A file that an install has made goes when nothing is in it any more."""
    before = record.snapshot
    if source is None or others or before is None or before.before is not None:
        return source
    return None if meaning_of(source, "") == {} and source.strip() == b"{}" else source


def _handed(
    later: Sequence[Record],
    wants: Sequence[frozenset[KeyPath]],
    record: Record,
    taken: Sequence[Setting],
    settings: tuple[Setting, ...],
    now: bytes | None,
    source: bytes | None,
) -> list[Record]:
    """Later packs, so that taking the last of them back leaves nothing of this one either."""
    handed = []
    left = settings
    for number, other in enumerate(later):
        mine = tuple(_lowered(setting, record.settings) for setting in other.settings)
        theirs = tuple(setting for setting in left if setting.wanted.path in wants[number])
        left = tuple(setting for setting in left if setting not in theirs)
        snapshot = _snapshot(other, record, taken, now, source)
        then = replace(other, settings=(*theirs, *mine), snapshot=snapshot)
        if number == 0:
            then = replace(then, made=tuple(dict.fromkeys([*then.made, *record.made])))
        if then != other:
            handed.append(then)
    return handed


def _lowered(setting: Setting, gone: Sequence[Setting]) -> Setting:
    """Objects that the other one has made on the way are now this one's to take away."""
    stood = setting.stood
    for other in gone:
        shared = _shared(setting.wanted.path, other.wanted.path)
        if other.before is MISSING and other.stood < shared:
            stood = min(stood, max(other.stood, 0))
    return replace(setting, stood=stood)


def _shared(one: KeyPath, other: KeyPath) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def _snapshot(
    other: Record, gone: Record, taken: Sequence[Setting], now: bytes | None, source: bytes | None
) -> Snapshot | None:
    """What the file was before the other one, and would be after it, without the one that is gone."""
    mine, theirs = gone.snapshot, other.snapshot
    if mine is None or theirs is None:
        return None
    try:
        before = mine.before if theirs.before == mine.after else unmade(theirs.before, taken)[0]
        after = source if theirs.after == now else unmade(theirs.after, taken)[0]
    except ChangeError:
        return None
    return Snapshot(before, after)

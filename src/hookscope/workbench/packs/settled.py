"""The settings as an install is to leave them, and what a record says of that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from hookscope.changes import Change, ChangeError, missing_folders, read_settled
from hookscope.core.dialect import Host
from hookscope.packs.edits import Setting, Wanted, made, unmade
from hookscope.packs.record import Record, Snapshot
from hookscope.values import dataclass
from hookscope.workbench.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Settled:
    """The settings as they are to be, and what a record says of them."""

    change: Change
    settings: tuple[Setting, ...]
    snapshot: Snapshot | None
    unset: tuple[Setting, ...] = ()

    @staticmethod
    def of(host: Host, before: Record | None, wanted: Sequence[Wanted]) -> Settled:
        """With all that is wanted, and without what an earlier version wanted. Raises Refusal."""
        file = host.settings.file.absolute()
        if host.settings.refusal:
            said = " ".join(host.settings.refusal.split())
            raise Refusal(f"{host.dialect.product} refuses its settings: {said}.", "Mend them first.")
        had = before.settings if before is not None else ()
        unset = tuple(setting for setting in had if setting.wanted not in wanted)
        try:
            now = read_settled(file)
            source, _ = unmade(now, unset)
            source, fresh = made(source, wanted)
        except ChangeError as error:
            raise Refusal(f"{file} cannot be edited: {error}") from None
        settings = (*(setting for setting in had if setting not in unset), *fresh)
        change = Change(file, ", ".join(want.meaning for want in wanted), now, source)
        snapshot: Snapshot | None = Snapshot(now, source)
        if before is not None:
            known = before.snapshot
            snapshot = Snapshot(known.before, source) if known is not None and known.after == now else None
        return Settled(change, settings, snapshot, unset)


def made_for(before: Record | None, paths: Iterable[Path]) -> tuple[Path, ...]:
    """The folders above these that an install makes, and those that an earlier one has made."""
    known = before.made if before is not None else ()
    return tuple(dict.fromkeys([*known, *missing_folders(paths)]))

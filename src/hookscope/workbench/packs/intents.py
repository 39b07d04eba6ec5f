"""From a plan to what is written down before it is done: folders to swap, files to keep, records to write."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from hookscope.changes import missing_folders
from hookscope.packs.journal import STAGING, Intent, Swap
from hookscope.packs.tree import PackFile
from hookscope.workbench.packs.planned import Planned


def intent_of(planned: Planned, state: Path, kept: Path) -> tuple[Intent, dict[Path, Mapping[str, PackFile]]]:
    """All that is to be done, and the files of each folder that is staged. `kept`: where changed files go."""
    token, old = secrets.token_hex(4), planned.before.folders if planned.before is not None else {}
    swaps: list[Swap] = []
    trees: dict[Path, Mapping[str, PackFile]] = {}
    for target in dict.fromkeys([*planned.trees, *old]):
        staging = target.parent / f"{STAGING}-{token}"
        fresh = staging / f"new-{len(swaps)}" if target in planned.trees else None
        if fresh is not None:
            trees[fresh] = planned.trees[target]
        swaps.append(Swap(target, fresh, staging / f"old-{len(swaps)}"))
    keep = [
        (swap.aside / path.relative_to(swap.target), kept / swap.target.name / path.relative_to(swap.target))
        for path in planned.on_disk.to_keep
        for swap in swaps
        if path.is_relative_to(swap.target)
    ]
    after = planned.after
    records = {record.id: record.document() for record in planned.handed}
    intent = Intent(
        what=f"{planned.action} of {planned.id}",
        host=state,
        phase="staging",
        swaps=tuple(swaps),
        made=missing_folders([*(swap.target for swap in swaps), planned.change.path]),
        file=planned.change.path,
        old=planned.change.old,
        new=planned.change.new,
        unset=planned.unset,
        wanted=planned.wanted,
        records={planned.id: after.document() if after is not None else None, **records},
        keep=tuple(keep),
        empty=planned.before.made if after is None and planned.before is not None else (),
    )
    return intent, trees

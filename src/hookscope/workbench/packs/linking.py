"""Linking a folder: nothing is copied, the host is told to look into it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.hooks import Hook
from hookscope.core.inventory import Inventory
from hookscope.lint.reading import Uses
from hookscope.packs.fetched import Fetched
from hookscope.packs.package import Package
from hookscope.packs.record import Record
from hookscope.workbench.packs.effects import effects
from hookscope.workbench.packs.placing import link_wanted, linked_folders, seen_then, wanted_for
from hookscope.workbench.packs.planned import HookPlan, Planned
from hookscope.workbench.packs.settled import Settled, made_for
from hookscope.workbench.packs.uses import SHARED, capabilities_of
from hookscope.workbench.refusal import Refusal

NEXT = "Nothing was written."


def plan_link(
    fetched: Fetched,
    package: Package,
    hooks: Sequence[Hook],
    host: Host,
    inventory: Inventory,
    before: Record | None,
    name: str,
) -> Planned:
    """Nothing is copied: the folder becomes an extra folder. Raises Refusal."""
    folder = fetched.spec.path
    assert folder is not None
    into = linked_folders(package, folder, host)
    wanted = (*(link_wanted(host, one) for one in into), *wanted_for(host, [hook.key for hook in hooks]))
    settings = Settled.of(host, before, wanted)
    then, seen = seen_then(host, {}, (), settings.change)
    if problems := [problem.text for problem in then.problems if problem not in host.problems]:
        raise Refusal(f"{host.dialect.product} would not look there: {problems[0]}", NEXT)
    real = Path(os.path.realpath(folder))
    places = [real.joinpath(*filter(None, hook.split("/"))) for hook in package.hooks]
    rows = {row.hook.real: row for row in seen.hooks if row.hook.real is not None}
    able = capabilities_of(package.tree, package.hooks)
    if lost := [hook.name for hook, path in zip(hooks, places, strict=True) if path not in rows]:
        raise Refusal(f"{host.dialect.product} would not find {', '.join(lost)} in {folder}.", NEXT)
    plans = tuple(
        HookPlan(hook.name, path, rows[path], able.uses.get(where, Uses()))
        for hook, path, where in zip(hooks, places, package.hooks, strict=True)
    )
    mine = {plan.row.hook.path for plan in plans if plan.row.hook.path is not None}
    after = Record(
        id=name or folder.name,
        source="folder",
        spec=fetched.spec.text,
        resolved=fetched.resolved,
        version=package.version,
        integrity=fetched.integrity,
        at=datetime.now(UTC),
        dialect=host.dialect.name,
        hooks=tuple(hook.name for hook in hooks),
        folders={},
        settings_file=settings.change.path,
        settings=settings.settings,
        snapshot=settings.snapshot,
        made=made_for(before, (settings.change.path,)),
        linked=folder,
    )
    return Planned(
        action="install" if before is None else "update",
        id=after.id,
        before=before,
        after=after,
        fetched=fetched,
        trees={},
        change=settings.change,
        unset=settings.unset,
        wanted=wanted,
        hooks=plans,
        shared=able.uses.get(SHARED, Uses()),
        others=tuple(effects(inventory, seen, mine, ())),
        needs=package.needs,
        left_out=fetched.tree.left_out,
        notes=able.unread,
    )

"""Linking a folder: nothing is copied, the host is told to look into it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from hookscope.core.dialect import Host
from hookscope.core.inventory import Inventory
from hookscope.workbench.packs.effects import effects
from hookscope.workbench.packs.incoming import NEXT, Incoming
from hookscope.workbench.packs.placing import link_wanted, linked_folders, seen_then, wanted_for
from hookscope.workbench.packs.planned import Planned
from hookscope.workbench.packs.settled import Settled
from hookscope.workbench.refusal import Refusal


def plan_link(incoming: Incoming, host: Host, inventory: Inventory) -> Planned:
    """Nothing is copied: the folder becomes an extra folder. Raises Refusal."""
    fetched, package = incoming.fetched, incoming.package
    folder = fetched.spec.path
    assert folder is not None
    into = linked_folders(package, folder, host)
    keys = [hook.key for hook in incoming.hooks]
    wanted = (*(link_wanted(host, one) for one in into), *wanted_for(host, keys))
    settings = Settled.of(host, incoming.before, wanted)
    then, seen = seen_then(host, {}, (), settings.change)
    if problems := [problem.text for problem in then.problems if problem not in host.problems]:
        raise Refusal(f"{host.dialect.product} would not look there: {problems[0]}", NEXT)
    real = Path(os.path.realpath(folder))
    places = [real.joinpath(*filter(None, hook.split("/"))) for hook in package.hooks]
    plans = incoming.plans(places, {row.hook.real: row for row in seen.hooks}, host, f"in {folder}")
    mine = {plan.row.hook.path for plan in plans if plan.row.hook.path is not None}
    return Planned(
        action=incoming.action,
        id=incoming.name,
        before=incoming.before,
        after=replace(incoming.record(host, settings, {}), linked=folder),
        fetched=fetched,
        trees={},
        change=settings.change,
        unset=settings.unset,
        wanted=wanted,
        hooks=plans,
        shared=incoming.shared,
        others=tuple(effects(inventory, seen, mine, ())),
        needs=package.needs,
        left_out=fetched.tree.left_out,
        notes=incoming.able.unread,
    )

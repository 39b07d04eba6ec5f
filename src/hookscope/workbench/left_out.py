"""Who ought to run and does not: for want of trust, or since it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.look import PRECEDENCE
from hookscope.core.runs import Plan
from hookscope.core.standing import Standing, State
from hookscope.core.trust import TrustTarget, folder_target, trust_target
from hookscope.workbench.tap.plans import HEARS_ITS_HOST

if TYPE_CHECKING:
    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench.view import View


def waiting_for_trust(view: View, plan: Plan) -> tuple[TrustTarget, ...]:
    """The folders that would have to be trusted for all listeners of this plan to run."""
    left = (item for item in plan.not_run if item.listens and not item.left_out)
    heard = (item.hook for item in left if item.reason != HEARS_ITS_HOST)
    rows = [view.standing(hook) for hook in heard if hook is not None]
    return _targets_of(view, [row for row in rows if row is not None])


def _targets_of(view: View, rows: Iterable[Standing]) -> tuple[TrustTarget, ...]:
    """The folders of untrusted hooks, and the workspace whose interpreter they and ready hooks wait for."""
    programs, found = view.waiting_programs, dict[TrustTarget, None]()
    for row in rows:
        waits = row.state is State.UNTRUSTED
        if waits:
            found[trust_target(row.hook, view.host)] = None
        if row.hook.language in programs and (waits or row.state is State.READY):
            found[folder_target(programs[row.hook.language].workspace, view.host)] = None
    return topmost(tuple(found)) if programs else tuple(found)


def targets_of(row: Standing, view: View) -> tuple[TrustTarget, ...]:
    """Return what would have to be trusted for one hook to run; empty where it waits for nothing."""
    own = (trust_target(row.hook, view.host),) if row.waits else ()
    return topmost((*own, *_targets_of(view, [row])))


def not_trusted_programs(view: View) -> tuple[str, ...]:
    """Return a sentence for each program that the workspace names and that is not trusted yet."""
    waiting = dict.fromkeys(view.waiting_programs.values())
    return tuple(f"{one.not_trusted}; {one.way_out}." for one in waiting)


def topmost(targets: Sequence[TrustTarget]) -> tuple[TrustTarget, ...]:
    """Without those that lie in another of them: to trust that one covers them."""
    folders = [target.folder for target in targets]
    return tuple(
        target
        for target in dict.fromkeys(targets)
        if not any(folder in target.folder.parents for folder in folders)
    )


def not_yet_trusted(view: View, plan: Plan) -> tuple[str, ...]:
    """What to do about each of those folders, for people; without a full stop."""
    short = view.host.surroundings.short
    return tuple(
        target.offer(short)
        if target.refused
        else f"{short(target.folder)} is not trusted: {target.offer(short)}"
        for target in waiting_for_trust(view, plan)
    )


def not_allowed(targets: Iterable[TrustTarget], here: Surroundings, *, besides: str = "") -> list[str]:
    """A sentence for each folder whose handlers did not run, with the next step; `besides`: another one.

    `besides` does not help where a folder is too wide to be trusted.
    """
    return [
        f"Handlers in {target.shown(here.short)} did not run: "
        f"the folder is {f'too wide to trust, since {target.refused}' if target.refused else 'not trusted'}. "
        f"`{target.command(here.short)}` allows it from now on{'' if target.refused else besides}."
        for target in targets
    ]


def untrusted_folders(view: View) -> tuple[TrustTarget, ...]:
    """All folders with hooks that wait for trust alone."""
    return _targets_of(view, view.inventory.hooks)


def waiting_below(view: View, folder: Path) -> tuple[tuple[Path, TrustTarget], ...]:
    """What still waits for trust in a folder that was trusted, and the folder to trust: links lead out."""
    here = view.host.surroundings.absolute(folder)
    found = {
        row.hook.path: trust_target(row.hook, view.host)
        for row in view.inventory.hooks
        if row.waits and row.hook.path is not None and row.hook.path.is_relative_to(here)
    }
    return tuple(found.items())


def could_not(view: View, plan: Plan, *, only: str | None = None) -> tuple[str, ...]:
    """A sentence for each handler that ought to run and cannot: broken ones, those in no lane, and those that
    something unread may switch off or replace.

    What is blocked, off or shadowed ought not to run, unless it is the one hook that was asked for.
    """
    unread = view.host.settings.unread
    keys = view.host.dialect.system_of(plan.event.kind).keys(plan.event)
    sentences = []
    for item in plan.not_run:
        row = view.standing(item.hook) if item.hook is not None else None
        hears = row is not None and (row.events is None or any(key in keys for key in row.events))
        if row is None or not hears or item.left_out:
            continue
        state = row.state
        if unread and state is State.BLOCKED:
            sentences.append(f"{unread}; it may switch hooks off, so none ran. Mend it, or move it away.")
            continue
        waits = state is State.UNTRUSTED  # `waiting_for_trust` tells of its folder
        asked_for = only is not None and item.name == only and state is not State.SHADOWED and not waits
        replaced = any(gate.name == PRECEDENCE for gate in row.verdict.shut())
        lacks = view.without.get(row.hook.language, "")
        without = bool(lacks) and item.reason.endswith(lacks)
        if state is State.BROKEN or replaced or without or asked_for:
            sentences.append(
                f"{item.name} did not run: {item.reason.rstrip('.')}" + "." * (item.reason[-1:] != "?")
            )
    return tuple(dict.fromkeys(sentences))

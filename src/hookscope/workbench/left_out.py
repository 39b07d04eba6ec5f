"""Who ought to run and does not: for want of trust, or since it cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.core.runs import Plan
from hookscope.core.standing import Standing, State
from hookscope.core.text import as_typed
from hookscope.workbench.tap.plans import HEARS_ITS_HOST

if TYPE_CHECKING:
    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench.view import View


def waiting_for_trust(view: View, plan: Plan) -> tuple[Path, ...]:
    """The folders that would have to be trusted for all listeners of this plan to run."""
    left = (item for item in plan.not_run if item.listens and not item.left_out)
    heard = (item.hook for item in left if item.reason != HEARS_ITS_HOST)
    rows = [view.standing(hook) for hook in heard if hook is not None]
    return _folders_to_trust(view, [row for row in rows if row is not None])


def _folders_to_trust(view: View, rows: Iterable[Standing]) -> tuple[Path, ...]:
    """The folders of untrusted hooks, and the workspace whose interpreter they and ready hooks wait for."""
    programs, found = view.waiting_programs, dict[Path, None]()
    for row in rows:
        waits = row.state is State.UNTRUSTED
        if waits:
            found[row.hook.trust_root] = None
        if row.hook.language in programs and (waits or row.state is State.READY):
            found[view.host.surroundings.files.real(programs[row.hook.language].workspace)] = None
    return topmost(tuple(found)) if programs else tuple(found)


def folders_of(row: Standing, view: View) -> tuple[Path, ...]:
    """Return the folders that would have to be trusted for one hook to run; empty where it waits for none."""
    own = (row.hook.trust_root,) if row.waits else ()
    return topmost((*own, *(folder for folder in _folders_to_trust(view, [row]) if folder not in own)))


def not_trusted_programs(view: View) -> tuple[str, ...]:
    """Return a sentence for each program that the workspace names and that is not trusted yet."""
    waiting = dict.fromkeys(view.waiting_programs.values())
    return tuple(f"{one.not_trusted}; {one.way_out}." for one in waiting)


def topmost(folders: Sequence[Path]) -> tuple[Path, ...]:
    """Without those that lie in another of them: to trust that one covers them."""
    return tuple(one for one in folders if not any(other in one.parents for other in folders))


def not_yet_trusted(view: View, plan: Plan) -> tuple[str, ...]:
    """What to do about each of those folders, for people; without a full stop."""
    folders = map(view.host.surroundings.short, waiting_for_trust(view, plan))
    return tuple(f"{at} is not trusted: `hookscope trust {as_typed(at)}` allows it to run" for at in folders)


def not_allowed(folders: Iterable[Path], here: Surroundings, *, besides: str = "") -> list[str]:
    """A sentence for each folder whose handlers did not run, with the next step; `besides`: another one."""
    return [
        f"Handlers in {at} did not run: the folder is not trusted. "
        f"`hookscope trust {as_typed(at)}` allows it from now on{besides}."
        for at in map(here.short, folders)
    ]


def untrusted_folders(view: View) -> tuple[Path, ...]:
    """All folders with hooks that wait for trust alone."""
    return _folders_to_trust(view, view.inventory.hooks)


def waiting_below(view: View, folder: Path) -> tuple[tuple[Path, Path], ...]:
    """What still waits for trust in a folder that was trusted, and the folder to trust: links lead out."""
    here = view.host.surroundings.absolute(folder)
    found = {
        row.hook.path: row.hook.trust_root
        for row in view.inventory.hooks
        if row.waits and row.hook.path is not None and row.hook.path.is_relative_to(here)
    }
    return tuple(found.items())


def could_not(view: View, plan: Plan, *, only: str | None = None) -> tuple[str, ...]:
    """A sentence for each handler that ought to run and cannot: broken ones, and those in no lane.

    What is blocked, off or shadowed ought not to run, unless it is the one hook that was asked for.
    """
    keys = view.host.dialect.system_of(plan.event.kind).keys(plan.event)
    sentences = []
    for item in plan.not_run:
        row = view.standing(item.hook) if item.hook is not None else None
        hears = row is not None and (row.events is None or any(key in keys for key in row.events))
        if row is None or not hears or item.left_out:
            continue
        state = row.state
        waits = state is State.UNTRUSTED  # `waiting_for_trust` tells of its folder
        asked_for = only is not None and item.name == only and state is not State.SHADOWED and not waits
        lacks = view.without.get(row.hook.language, "")
        if state is State.BROKEN or (lacks and item.reason.endswith(lacks)) or asked_for:
            sentences.append(
                f"{item.name} did not run: {item.reason.rstrip('.')}" + "." * (item.reason[-1:] != "?")
            )
    return tuple(dict.fromkeys(sentences))

"""The JSON documents of what a look found. Their shapes are contracts: scripts rest on them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from hookscope.core.event import iso
from hookscope.core.hooks import Edit, Hook, Place, Problem
from hookscope.core.inventory import Inventory, Rejected
from hookscope.core.orphans import Orphan, orphans_of
from hookscope.core.standing import Gate, Standing, State
from hookscope.workbench import LimitName, Limits, View

if TYPE_CHECKING:
    from hookscope.workbench.failed_loads import FailedLoad
    from hookscope.workbench.links.link import Link
    from hookscope.workbench.toggle import Effect

Document = dict[str, Any]


def inventory(view: View, found: Inventory | None = None) -> Document:
    """`list --json`. `found`: all that the look found, where the view has less of it."""
    return {
        "dialect": view.host.dialect.name,
        "workspace": str(view.host.workspace),
        "problems": [problem(item) for item in view.inventory.problems],
        "hooks": [hook(row, view) for row in view.inventory.hooks],
        "rejected": [rejected(item) for item in view.inventory.rejected],
        "folders": folders(view),
        "orphans": [orphan(item) for item in orphans_of(found or view.inventory, view.host)],
    }


def folders(view: View) -> list[Document]:
    """The folders that were looked in, in the order of looking."""
    hooks = Counter(id(row.hook.folder) for row in view.inventory.hooks)
    rejected = Counter(item.path.parent for item in view.inventory.rejected)
    return [
        {
            "source": item.source,
            "path": str(item.path),
            "declared": item.declared or None,
            "exists": item.real is not None,
            "hooks": hooks[id(item)],
            "rejected": rejected[item.path],
        }
        for item in view.folders
    ]


def orphan(item: Orphan) -> Document:
    """A settings entry without a hook."""
    return {
        "entry": item.key,
        "setting": item.setting,
        "file": str(item.place.file) if item.place else None,
        "line": item.place.line if item.place else None,
        "near": list(item.near),
    }


def problem(item: Problem) -> str:
    """A problem as one sentence; the place is part of it unless the sentence has it already."""
    place = item.place
    if place is None or _tells(item.text, place):
        return item.text
    return f"{place.file.name}, line {place.line}, column {place.column}: {item.text}"


def _tells(text: str, place: Place) -> bool:
    """Does a sentence name the line, or the file that it is about as a whole."""
    whole = place.line == place.column == 1 and place.file.name in text
    return whole or re.search(rf"\bline {place.line}\b", text) is not None


def rejected(item: Rejected) -> Document:
    """What is no hook, and why."""
    return {
        "path": str(item.path),
        "source": item.source,
        "reason": item.reason,
        "file": str(item.place.file) if item.place else None,
        "line": item.place.line if item.place else None,
    }


def hook(row: Standing, view: View) -> Document:
    """One hook of `list --json`, and `info --json`. Its state is what its checks come to."""
    it = row.hook
    return {
        "name": it.name,
        "description": it.description,
        "emoji": it.meta.emoji,
        "kind": it.kind,
        "source": it.folder.source,
        "path": str(it.path) if it.path else None,
        "handler": str(it.handler) if it.handler else None,
        "language": it.language,
        "events": list(row.events) if row.events is not None else None,
        "state": row.state.value,
        "eligible": row.verdict.eligible,
        "enabled": row.verdict.enabled,
        "gates": [gate(item) for item in row.verdict.gates],
        "notes": [*row.notes, *row.differs],
        "shadows": [str(other.path) for other in row.shadows],
        "shadowed_by": _path_of(row.verdict.shadowed_by),
        "failed_load": failed_load(view.failed_loads.get(it)),
    }


def failed_load(item: FailedLoad | None) -> Document | None:
    """Why its file, as it stands, did not load when somebody last tried; null: nobody knows of that."""
    return None if item is None else {"error": item.error, "at": iso(item.at), "run": item.run}


def declared(it: Hook) -> Document:
    """What else its HOOK.md says of it: `info --json` alone has these."""
    from hookscope.workbench.run_documents import plain  # here: lists need none of it

    return {
        "export": it.meta.export,
        "key": it.key,
        "always": it.meta.always,
        "homepage": it.meta.homepage,
        "install": [plain(way) for way in it.meta.install],
    }


def limits(item: Limits) -> Document:
    """What a handler may take, in seconds and bytes, and where each limit comes from."""
    values = {"load": item.load, "run": item.run, "memory": item.memory}
    names: tuple[LimitName, ...] = ("load", "run", "memory")
    return {name: {"limit": values[name], "origin": item.origin(name)} for name in names}


def _path_of(other: Hook | None) -> str | None:
    return None if other is None else str(other.path)


def gate(item: Gate) -> Document:
    """One check."""
    return {
        "gate": item.name,
        "passed": item.passed,
        "needed": list(item.needed),
        "missing": list(item.missing),
        "found": item.found,
        "reason": item.reason,
        "reported": item.reported,
        "fix": edit(item.fix),
        "looked": list(item.looked),
        "near": list(item.near),
    }


def effect(item: Effect) -> Document:
    """Another hook whose state an edit changes: one of `others`."""
    return {"hook": item.name, "source": item.source, "from": item.before, "to": item.after}


def link(item: Link) -> Document:
    """One of the links behind the gates, in `info --json`; null: not looked at, or nothing is known."""
    return {
        "link": item.name,
        "passed": item.passed,
        "found": item.found,
        "then": item.then,
        "at": iso(item.at) if item.at is not None else None,
        "run": item.run,
    }


def edit(item: Edit | None) -> Document | None:
    """What a fix would write."""
    if item is None:
        return None
    return {"file": str(item.file), "path": list(item.path), "value": item.value, "meaning": item.meaning}


def check(view: View) -> Document:
    """`check --json`: counts by state, names by state."""
    rows = view.inventory.hooks
    by_state = {state.value: [row.hook.name for row in rows if row.state is state] for state in State}
    return {
        "dialect": view.host.dialect.name,
        "workspace": str(view.host.workspace),
        "total": len(rows),
        "eligible": sum(row.verdict.eligible for row in rows if row.verdict.shadowed_by is None),
        "counts": {state: len(names) for state, names in by_state.items()},
        "hooks": by_state,
        "problems": [problem(item) for item in view.inventory.problems],
        "rejected": [rejected(item) for item in view.inventory.rejected],
        "failed_load": [row.hook.name for row in rows if row.hook in view.failed_loads],
    }

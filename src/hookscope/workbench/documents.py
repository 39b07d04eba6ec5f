"""The JSON documents of the command line. Their shapes are contracts: scripts rest on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hookscope.core.event import iso
from hookscope.core.failure_document import failure_document
from hookscope.core.hooks import Edit, Folder, Gate, Hook, LogLine, Problem, Rejected, Standing, State
from hookscope.core.orphans import Orphan, orphans_of
from hookscope.core.runs import (
    Code,
    Event,
    Guarded,
    LoadReport,
    NotRun,
    Plan,
    Registration,
    Result,
    Run,
    Slow,
    Started,
    Step,
)
from hookscope.workbench import LimitName, Limits, View

if TYPE_CHECKING:
    from hookscope.workbench.links import Link

Document = dict[str, Any]


def inventory(view: View) -> Document:
    """`list --json`."""
    return {
        "dialect": view.host.dialect.name,
        "workspace": str(view.host.workspace),
        "problems": [problem(item) for item in view.inventory.problems],
        "hooks": [hook(row) for row in view.inventory.hooks],
        "rejected": [rejected(item) for item in view.inventory.rejected],
        "folders": [folder(item, view) for item in view.folders],
        "orphans": [orphan(item) for item in orphans_of(view.inventory, view.host)],
    }


def folder(item: Folder, view: View) -> Document:
    """A folder that was looked in, in the order of looking."""
    rejects = [other for other in view.inventory.rejected if other.path.parent == item.path]
    return {
        "source": item.source,
        "path": str(item.path),
        "declared": item.declared or None,
        "exists": item.real is not None,
        "hooks": sum(row.hook.folder is item for row in view.inventory.hooks),
        "rejected": len(rejects),
    }


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
    if item.place is None or str(item.place.line) in item.text:
        return item.text
    return f"{item.place.file.name}, line {item.place.line}, column {item.place.column}: {item.text}"


def rejected(item: Rejected) -> Document:
    """What is no hook, and why."""
    return {
        "path": str(item.path),
        "source": item.source,
        "reason": item.reason,
        "file": str(item.place.file) if item.place else None,
        "line": item.place.line if item.place else None,
    }


def hook(row: Standing) -> Document:
    """One hook of `list --json`, and `info --json`."""
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
    }


def event(item: Event, messages: Iterable[str] | None = None) -> Document:
    """An event with the seeds' camelCase keys and ISO time. Stream and plugin events have more."""
    more = (
        {} if item.kind == "folder" else {"kind": item.kind, "meta": plain(item.meta), "ctx": plain(item.ctx)}
    )
    return {
        "type": item.type,
        "action": item.action,
        "sessionKey": item.session_key,
        "timestamp": iso(item.timestamp),
        "messages": list(item.messages if messages is None else messages),
        "context": plain(item.context),
        **more,
    }


def plan(item: Plan) -> Document:
    """`plan --json`."""
    return {
        "event": event(item.event),
        "groups": [
            {
                "label": group.label,
                "together": group.together,
                "calls": [call(entry) for entry in group.calls],
            }
            for group in item.groups
        ],
        "not_run": [not_run(entry) for entry in item.not_run],
    }


def call(item: Registration) -> Document:
    """One handler of a plan."""
    return {"hook": item.name, "key": item.key, "handler": handler_of(item)}


def handler_of(item: Registration) -> str | None:
    """The file of a handler; None: it is a function of a program."""
    return str(item.target.path) if isinstance(item.target, Code) else None


def not_run(item: NotRun) -> Document:
    """`near` only of a near miss: what it would take."""
    return {"hook": item.name, "reason": item.reason, **({"near": item.near} if item.near else {})}


def run(item: Run, dialect: str) -> Document:
    """`fire --json`. `delivered`: does the host hand pushed messages to the user."""
    return {
        "event": event(item.event),
        "dialect": dialect,
        "results": [result(entry, item.delivers) for entry in item.results],
        "not_run": [not_run(entry) for entry in item.not_run],
        "messages": list(item.messages),
        "delivered": item.delivers,
        "context": plain(item.context),
        "result": plain(item.ending.answer),
        "failure": item.ending.failure,
        "verdict": item.ending.verdict,
        "log": log(item.ending.log),
        "caused": [run(entry, dialect) for entry in item.caused],
        "ms": ms(item.took),
        "notes": list(item.notes),
        "assumed": sorted(item.assumed),
        "sandbox": sandbox(item.guarded),
    }


def sandbox(item: Guarded | None) -> Document | None:
    """What a run with --sandbox did to its copies, and which walls stood."""
    if item is None:
        return None
    return {
        "walls": item.walls,
        "network": item.network,
        "disk": item.disk,
        "changes": [
            {
                "path": str(change.path),
                "kind": change.kind,
                "before": change.before,
                "after": change.after,
                "diff": change.diff,
            }
            for change in item.changes
        ],
        "more": item.more,
        "notes": list(item.notes),
    }


def result(item: Result, delivers: bool) -> Document:
    """One handler's result. `delivered`: does the host hand its pushed messages to the user."""
    return {
        "hook": item.call.name,
        "key": item.call.key,
        "handler": handler_of(item.call),
        "status": item.status,
        "started_ms": ms(item.started),
        "ms": ms(item.took),
        "load_ms": ms(item.loaded),
        "messages": list(item.messages),
        "delivered": delivers,
        "returned": plain(item.returned),
        "stdout": item.stdout,
        "stderr": item.stderr,
        "error": failure_document(item.error),
        "patch": plain(list(item.patch)),
        "notes": list(item.notes),
        "forced": item.forced,
        "broken": None if item.call.breakage is None else item.call.breakage.text,
        "stale": failure_document(item.stale),
        "asked": list(item.asked),
    }


def step(item: Step, delivers: bool) -> Document:
    """One line of `fire --json-lines`."""
    if isinstance(item, Slow):
        return {"step": "slow", **call(item.call), "after_ms": ms(item.after), "limit": item.limit}
    if isinstance(item, Started):
        return {"step": "started", **call(item.call), "started_ms": ms(item.at)}
    return {"step": "result", **result(item, delivers)}


def load(item: LoadReport) -> Document:
    """`load --json`."""
    return {
        "discovered": item.discovered,
        "eligible": item.eligible,
        "registered": item.registered,
        "skipped": list(item.skipped),
        "failed": list(item.failed),
        "log": log(item.log),
        "failures": {name: failure_document(fault) for name, fault in item.failures.items()},
        "stopped": item.stopped or None,
    }


def log(lines: Iterable[LogLine]) -> list[Document]:
    """Lines as the host would log them."""
    return [{"level": item.level, "text": item.text} for item in lines]


def ms(seconds: float) -> float:
    """Seconds as milliseconds, to the microsecond."""
    return round(seconds * 1000, 3)


def plain(value: object) -> Any:
    """A value as JSON can hold it: what it cannot is shown as text."""
    match value:
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)

"""The JSON documents of events, plans and runs. Their shapes are contracts: scripts rest on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hookscope.core.copies import Guarded, Originals
from hookscope.core.event import iso
from hookscope.core.failure import failure_document
from hookscope.core.hooks import LogLine
from hookscope.core.registry import LoadReport
from hookscope.core.runs import (
    Code,
    Event,
    NotRun,
    Paused,
    Plan,
    Registration,
    Result,
    Run,
    Slow,
    Started,
    Step,
)
from hookscope.workbench.documents import Document


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


def of_record(document: Mapping[str, Any]) -> Document:
    """A run of the journal, which has names of its own, with those of `fire --json` beside them."""
    guarded = document.get("guarded")
    return {
        **document,
        "delivered": document["delivers"],
        "sandbox": None if guarded is None else {**guarded, "changes": [*map(_change, guarded["changes"])]},
        "caused": [of_record(caused) for caused in document["caused"]],
    }


def _change(told: Sequence[Any]) -> Document:
    """A file's change as the journal lists it: path, kind, bytes before and after, diff, more."""
    return dict(zip(("path", "kind", "before", "after", "diff"), told, strict=False))


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
        "sockets": item.sockets,
        "complete": item.complete,
        "originals": _originals(item.originals),
    }


def _originals(found: Originals | None) -> Document | None:
    """The originals that were compared with what they were before the run."""
    if found is None:
        return None
    changed = [{"path": str(one.path), "kind": one.kind} for one in found.changed]
    return {"compared": found.compared, "changed": changed, "more": found.more}


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
    if isinstance(item, Result):
        return {"step": "result", **result(item, delivers)}
    return {"step": "paused" if isinstance(item, Paused) else "skipped", **call(item.call)}


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

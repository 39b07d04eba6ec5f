"""JSON documents of hooks, events, plans and runs. Their shapes are contracts for scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from hookscope.app.snapshot import Snapshot
from hookscope.engine.registry import LoadReport
from hookscope.engine.settings_entries import OrphanedEntry, orphaned_entries
from hookscope.model.failure import failure_document
from hookscope.model.hook import Edit, Hook, LogLine
from hookscope.model.hook_event import iso
from hookscope.model.hook_status import Gate, HookStatus, Inventory, RejectedHook, State
from hookscope.model.run import (
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
from hookscope.runtime.limits import LimitName, Limits
from hookscope.storage.journal import records
from hookscope.storage.journal.records import milliseconds, plain_json

if TYPE_CHECKING:
    from hookscope.app.load_record import FailedLoad
    from hookscope.app.runs.activation_chain import ActivationLink
    from hookscope.model.hook_status import Effect

Document = dict[str, Any]


def inventory_document(view: Snapshot, found: Inventory | None = None) -> Document:
    """Return `list --json`. `found`: the full inventory, if the snapshot shows only a part."""
    return {
        "dialect": view.host.dialect.name,
        "workspace": str(view.host.workspace),
        "problems": [item.sentence for item in view.inventory.problems],
        "hooks": [hook_document(row, view) for row in view.inventory.hooks],
        "rejected": [rejected_document(item) for item in view.inventory.rejected],
        "folders": folder_documents(view),
        "orphans": [orphan_document(item) for item in orphaned_entries(found or view.inventory, view.host)],
    }


def folder_documents(view: Snapshot) -> list[Document]:
    """Return the scanned folders, in scan order."""
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


def orphan_document(item: OrphanedEntry) -> Document:
    """Return a settings entry without a hook."""
    return {
        "entry": item.key,
        "setting": item.setting,
        "file": str(item.place.file) if item.place else None,
        "line": item.place.line if item.place else None,
        "near": list(item.closest_keys),
    }


def rejected_document(item: RejectedHook) -> Document:
    """Return a folder that is not a hook, with the reason."""
    return {
        "path": str(item.path),
        "source": item.source,
        "reason": item.reason,
        "file": str(item.place.file) if item.place else None,
        "line": item.place.line if item.place else None,
    }


def hook_document(row: HookStatus, view: Snapshot) -> Document:
    """Return one hook of `list --json` and `info --json`. Its state is the result of its gates."""
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
        **({"unreadRegistrations": row.unread_registrations} if row.unread_registrations else {}),
        "state": row.state.value,
        "eligible": row.verdict.eligible,
        "enabled": row.verdict.enabled,
        "gates": [gate_document(item) for item in row.verdict.gates],
        "notes": [*row.notes, *row.dialect_differences],
        "shadows": [str(other.path) for other in row.shadows],
        "shadowed_by": _hook_path(row.verdict.shadowed_by),
        "failed_load": failed_load_document(view.failed_loads.get(it)),
    }


def failed_load_document(item: FailedLoad | None) -> Document | None:
    """Return why the current file last failed to load; null if it is not known to fail."""
    return None if item is None else {"error": item.error, "at": iso(item.at), "run": item.run}


def declared_document(it: Hook) -> Document:
    """Return the declarations of a HOOK.md that only `info --json` shows."""
    return {
        "export": it.meta.export,
        "key": it.key,
        "always": it.meta.always,
        "homepage": it.meta.homepage,
        "install": [plain_json(install_hint) for install_hint in it.meta.install],
    }


def limits_document(item: Limits) -> Document:
    """Return a handler's limits, in seconds and bytes, each with its origin."""
    values = {"load": item.load, "run": item.run, "memory": item.memory}
    names: tuple[LimitName, ...] = ("load", "run", "memory")
    return {name: {"limit": values[name], "origin": item.origin(name)} for name in names}


def _hook_path(other: Hook | None) -> str | None:
    return None if other is None else str(other.path)


def gate_document(item: Gate) -> Document:
    return {
        "gate": item.name,
        "passed": item.passed,
        "needed": list(item.needed),
        "missing": list(item.missing),
        "found": item.found,
        "reason": item.reason,
        "reported": item.reported,
        "fix": edit_document(item.fix),
        "looked": list(item.looked),
        "near": list(item.near),
    }


def effect_document(item: Effect) -> Document:
    """Return an item of `others`: another hook whose state an edit changes."""
    return {"hook": item.name, "source": item.source, "from": item.before, "to": item.after}


def link_document(item: ActivationLink) -> Document:
    """Return one activation link of `info --json`; `passed` is null if nothing is known."""
    return {
        "link": item.name,
        "passed": item.passed,
        "found": item.found,
        "then": item.next_step,
        "at": iso(item.at) if item.at is not None else None,
        "run": item.run,
    }


def edit_document(item: Edit | None) -> Document | None:
    """Return the edit of a fix."""
    if item is None:
        return None
    return {"file": str(item.file), "path": list(item.path), "value": item.value, "meaning": item.meaning}


def check_document(view: Snapshot) -> Document:
    """Return `check --json`: counts and names by state."""
    rows = view.inventory.hooks
    by_state = {state.value: [row.hook.name for row in rows if row.state is state] for state in State}
    return {
        "dialect": view.host.dialect.name,
        "workspace": str(view.host.workspace),
        "total": len(rows),
        "eligible": sum(row.verdict.eligible for row in rows if row.verdict.shadowed_by is None),
        "counts": {state: len(names) for state, names in by_state.items()},
        "hooks": by_state,
        "problems": [item.sentence for item in view.inventory.problems],
        "rejected": [rejected_document(item) for item in view.inventory.rejected],
        "failed_load": [row.hook.name for row in rows if row.hook in view.failed_loads],
    }


def event_document(item: Event) -> Document:
    """Return an event with camelCase keys and ISO time. Stream and plugin events have more members."""
    whole = records.event_document(item)
    left_out = ("kind", "meta", "ctx") if item.kind == "folder" else ()
    return {name: value for name, value in whole.items() if name not in left_out}


def plan_document(item: Plan) -> Document:
    """Return `plan --json`."""
    return {
        "event": event_document(item.event),
        "groups": [
            {
                "label": group.label,
                "together": group.concurrent,
                "calls": [call_document(entry) for entry in group.calls],
            }
            for group in item.groups
        ],
        "not_run": [not_run_document(entry) for entry in item.not_run],
    }


def call_document(item: Registration) -> Document:
    """Return one handler of a plan."""
    return {
        "hook": item.name,
        "key": item.key,
        "handler": str(item.target.path) if isinstance(item.target, Code) else None,
    }


def not_run_document(item: NotRun) -> Document:
    """Return a hook that is not called; a near miss has `near`, with what is missing."""
    return {"hook": item.name, "reason": item.reason, **({"near": item.near_miss} if item.near_miss else {})}


def run_document(item: Run, dialect: str) -> Document:
    """Return `fire --json`. `delivered`: whether the host shows pushed messages to the user."""
    return {
        "event": event_document(item.event),
        "dialect": dialect,
        "results": [result_document(entry, item.delivers) for entry in item.results],
        "not_run": [not_run_document(entry) for entry in item.not_run],
        "messages": list(item.messages),
        "delivered": item.delivers,
        "context": plain_json(item.context),
        "result": plain_json(item.ending.answer),
        "failure": item.ending.failure,
        "verdict": item.ending.verdict,
        "log": log_documents(item.ending.log),
        "caused": [run_document(entry, dialect) for entry in item.caused],
        "ms": milliseconds(item.took),
        "notes": list(item.notes),
        "assumed": sorted(item.assumed),
        "sandbox": _with_named_changes(records.sandbox_document(item.guarded)),
    }


def stored_run_document(document: Mapping[str, Any]) -> Document:
    """Return a run of the journal, with the keys of `fire --json` added to its own."""
    return {
        **document,
        "delivered": document["delivers"],
        "sandbox": _with_named_changes(document.get("guarded")),
        "caused": [stored_run_document(caused) for caused in document["caused"]],
    }


def _with_named_changes(sandbox: Mapping[str, Any] | None) -> Document | None:
    """Return a sandbox's document of the journal with names for the parts of each file change."""
    if sandbox is None:
        return None
    names = ("path", "kind", "before", "after", "diff")
    return {**sandbox, "changes": [dict(zip(names, one, strict=False)) for one in sandbox["changes"]]}


def result_document(item: Result, delivers: bool) -> Document:
    """Return one handler's result. `delivers`: whether the host shows its messages to the user."""
    whole = records.result_document(item, delivers)
    return {name: value for name, value in whole.items() if name != "code"}


def step_document(item: Step, delivers: bool) -> Document:
    """Return one line of `fire --json-lines`."""
    if isinstance(item, Slow):
        return {
            "step": "slow",
            **call_document(item.call),
            "after_ms": milliseconds(item.after),
            "limit": item.limit,
        }
    if isinstance(item, Started):
        return {"step": "started", **call_document(item.call), "started_ms": milliseconds(item.at)}
    if isinstance(item, Result):
        return {"step": "result", **result_document(item, delivers)}
    return {"step": "paused" if isinstance(item, Paused) else "skipped", **call_document(item.call)}


def load_document(item: LoadReport) -> Document:
    """Return `load --json`."""
    return {
        "discovered": item.discovered,
        "eligible": item.eligible,
        "registered": item.registered,
        "skipped": list(item.skipped),
        "failed": list(item.failed),
        "log": log_documents(item.log),
        "failures": {name: failure_document(fault) for name, fault in item.failures.items()},
        "stopped": item.stopped or None,
    }


def log_documents(lines: Iterable[LogLine]) -> list[Document]:
    """Return log lines as the host would write them."""
    return [{"level": item.level, "text": item.text} for item in lines]

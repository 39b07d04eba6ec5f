"""`install --json`, `update --json`, `uninstall --json`, `packs --json`. Their shapes are contracts."""

from __future__ import annotations

from hookscope.core.event import iso
from hookscope.core.installs import HostInstall
from hookscope.workbench import documents
from hookscope.workbench.documents import Document
from hookscope.workbench.packs.desk import PackStatus
from hookscope.workbench.packs.planned import Done, HookPlan, OnDisk, Planned, Record, UpToDate, Uses
from hookscope.workbench.shown import preview_of


def written(document: Document, done: Done) -> Document:
    """The document of a plan that was carried out."""
    return {**document, "written": True, "kept": str(done.kept) if done.kept is not None else None}


def planned(item: Planned, *, diff: bool = False) -> Document:
    """What would be written."""
    after = item.after or item.before
    assert after is not None  # a plan has one of them
    return {
        "action": item.action,
        **_of_record(after),
        "from": _of_record(item.before) if item.action == "update" and item.before is not None else None,
        "written": False,
        "hooks": [_hook(hook) for hook in item.hooks] or [{"name": name} for name in after.hooks],
        "shared": _uses(item.shared),
        "files": [
            {
                "path": str(file.path),
                "action": file.action,
                "size": file.size,
                "runnable": file.runnable,
                **({"diff": item.file_change(file).preview()} if diff else {}),
            }
            for file in item.files
        ],
        "settings": {"file": str(item.change.path), "diff": preview_of(item.change)},
        "others": [documents.effect(other) for other in item.others],
        "needs": list(item.needs),
        "left_out": list(item.left_out),
        "drift": item.drift or None,
        "unaccepted": item.unaccepted or None,
        "notes": list(item.notes),
        "on_disk": _on_disk(item.on_disk) if item.before is not None else None,
        "kept": None,
    }


def up_to_date(item: UpToDate) -> Document:
    """An update with nothing to do."""
    return {
        "action": "none",
        **_of_record(item.record),
        "written": False,
        "why": item.why,
        "on_disk": _on_disk(item.on_disk),
    }


def status(item: PackStatus) -> Document:
    """One pack of `packs --json`."""
    record = item.record
    return {
        **_of_record(record),
        "hooks": list(record.hooks),
        "folders": [str(folder) for folder in record.folders] or [str(record.linked)],
        "settings": [list(setting.wanted.path) for setting in record.settings],
        "on_disk": _on_disk(item.on_disk),
    }


def of_host(item: HostInstall) -> Document:
    """One pack of `packs --json` that the host itself has installed."""
    return {
        "id": item.id,
        "source": item.source or None,
        "spec": item.spec or None,
        "version": item.version or None,
        "hooks": list(item.hooks),
        "folder": str(item.folder) if item.folder is not None else None,
        "file": str(item.place.file) if item.place else None,
        "line": item.place.line if item.place else None,
    }


def _of_record(record: Record) -> Document:
    return {
        "id": record.id,
        "source": record.source,
        "spec": record.origin,
        "resolved": record.resolved,
        "version": record.version or None,
        "integrity": record.integrity,
        "pinned": record.pinned,
        "linked": record.linked is not None,
        "dialect": record.dialect,
        "at": iso(record.at),
    }


def _on_disk(item: OnDisk) -> Document:
    return {
        "state": item.word,
        "changed": [str(path) for path in item.changed],
        "missing": [str(path) for path in item.missing],
        "added": [str(path) for path in item.added],
    }


def _hook(item: HookPlan) -> Document:
    row = item.row
    return {
        "name": item.name,
        "path": str(item.path),
        "description": row.hook.description,
        "events": None if row.events is None else list(row.events),
        "state": row.state.value,
        "trusted": row.hook.folder.trusted,
        "why": row.verdict.why() or None,
        "gates": [documents.gate(gate) for gate in row.verdict.gates],
        "install": [dict(spec) for spec in row.hook.meta.install],
        "uses": _uses(item.uses),
        "notes": list(row.notes),
    }


def _uses(item: Uses) -> Document:
    return {
        "env": list(item.env),
        "optional_env": list(item.optional_env),
        "programs": list(item.bins),
        "network": list(item.network),
        "writes": list(item.writes),
    }

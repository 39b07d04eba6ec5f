"""The JSON document of hooks compared across hosts or machines."""

from __future__ import annotations

from collections.abc import Sequence

from hookscope.analysis.host_comparison import (
    ComparedHook,
    HookAtHost,
    HostComparison,
    HostTally,
)
from hookscope.analysis.host_runs import RunAtHost, handler_differences
from hookscope.app import json_documents
from hookscope.app.json_documents import Document
from hookscope.model.run import Run


def comparison_document(item: HostComparison, *, different: bool) -> Document:
    """Return `compare --json`, without the runs of --fire."""
    sides = [side.dialect.name for side in item.sides]
    return {
        **(
            {"dialect": sides[0], **machine_document(item)} if item.compares_machines else {"dialects": sides}
        ),
        "workspaces": [str(side.host.workspace) for side in item.sides],
        "hooks": [_hook_document(line) for line in (item.differing if different else item.lines)],
        "summary": {
            "alike": item.alike,
            "differ": len(item.differing),
            "by": {name: _tally_document(tally) for name, tally in item.tallies().items()},
        },
    }


def run_documents(host_runs: Sequence[RunAtHost]) -> list[Document]:
    """Return `runs` of `compare --fire --json`; `different`: differences from the first run."""
    first = next((one.run for one in host_runs if one.run is not None), None)
    return [
        {
            "dialect": one.dialect.name,
            "problem": one.problem or None,
            "could_not_run": list(one.could_not_run),
            "different": _differences(first, one.run),
            "run": json_documents.run_document(one.run, one.dialect.name) if one.run is not None else None,
        }
        for one in host_runs
    ]


def _differences(first: Run | None, run: Run | None) -> list[Document]:
    if first is None or run is None or run is first:
        return []
    return [
        {
            "kind": one.kind,
            "what": one.subject,
            "first": json_documents.plain_value(one.before),
            "here": json_documents.plain_value(one.after),
        }
        for one in handler_differences(first, run)
    ]


def machine_document(item: HostComparison) -> Document:
    """Return what only machines have: search paths, causes of differences, and remedies."""
    sides = [
        {
            "name": side.name,
            "platform": side.host.machine.platform,
            "home": str(side.host.machine.home),
            "settings": str(side.host.settings.file),
            "path": list(side.host.machine.search_path()),
            "assumed": sorted(side.host.machine.assumed),
        }
        for side in item.sides
    ]
    causes = [{"what": one.what, "text": one.text, "hooks": list(one.hooks)} for one in item.causes]
    remedies = [
        {
            "surroundings": one.side,
            "where": one.where,
            "lines": list(one.lines),
            "then": one.next_step or None,
        }
        for one in item.remedies
    ]
    return {"surroundings": sides, "causes": causes, "remedies": remedies}


def _hook_document(line: ComparedHook) -> Document:
    return {
        "name": line.name,
        "path": str(line.path) if line.path else None,
        "events": list(line.events),
        "differs": [{"what": one.facet, "text": one.text} for one in line.differs],
        "by": {cell.side.name: _cell_document(cell) for cell in line.cells},
        "change": list(line.suggestions),
    }


def _cell_document(cell: HookAtHost) -> Document:
    """Return one hook at one host. `state` may also be "no hook" or "absent"."""
    return {
        "state": cell.state,
        "why": cell.why or None,
        "gate": cell.gate or None,
        "name": cell.row.hook.name if cell.row is not None else None,
        "source": cell.source or None,
        "path": str(cell.path) if cell.path else None,
        "handler": str(cell.handler) if cell.handler else None,
        "host_runs": cell.host_runs,
        "metadata": cell.metadata or None,
        "namespace": cell.side.folder_rules.namespace if cell.side.folder_rules is not None else None,
        "order": cell.load_position,
        "events": [
            {
                "key": event.key,
                "there": event.delivery,
                "delivered": event.delivers if event.delivery == "sent" else None,
                "near": event.near or None,
            }
            for event in cell.events
        ],
    }


def _tally_document(tally: HostTally) -> Document:
    return {
        "found": tally.found,
        "metadata": tally.metadata,
        "registered": tally.registered,
        "called": tally.called,
    }

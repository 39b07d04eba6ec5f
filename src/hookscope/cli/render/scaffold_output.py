"""Scaffolded files as text and JSON (`new`)."""

from __future__ import annotations

from collections.abc import Iterator

from hookscope.app.json_documents import Document, gate_document
from hookscope.authoring.scaffold.scaffold_plan import ScaffoldPlan
from hookscope.authoring.scaffold.scaffold_writer import ScaffoldResult, ScaffoldStatus
from hookscope.cli.render.layout import state_word
from hookscope.model.machine import Machine
from hookscope.model.text import one_line, printable


def _common_members(plan: ScaffoldPlan) -> Document:
    return {
        "name": plan.request.name,
        "kind": plan.kind,
        "language": plan.language,
        "dialects": [dialect.name for dialect in plan.targets.chosen],
        "events": [event.key for event in plan.events],
        "folder": str(plan.root),
        "handler": str(plan.main_file),
        "saved": None if plan.saved_event is None else str(plan.saved_event),
    }


def planned_files_document(plan: ScaffoldPlan) -> Document:
    """Return the document of `new --dry-run --json`."""
    files = [{"file": str(path), "text": content.decode()} for path, content in plan.files]
    return {**_common_members(plan), "written": False, "files": files, "notes": list(plan.notes)}


def planned_files_text(plan: ScaffoldPlan, machine: Machine) -> str:
    """Return each planned file with its text."""
    lines: list[str] = []
    for path, content in plan.files:
        lines += [one_line(machine.short(path), 300)]
        lines += [f"    {line}".rstrip() for line in printable(content.decode()).splitlines()] + [""]
    notes = (f"note: {one_line(note, 300)}" for note in plan.notes)
    return "\n".join([*lines, *notes, "Nothing was written."])


def written_files_document(result: ScaffoldResult) -> Document:
    """Return the document of `new --json`."""
    return {
        **_common_members(result.plan),
        "written": True,
        "files": [{"file": str(path), "text": content.decode()} for path, content in result.plan.files],
        "trusted": None if result.trusted is None else str(result.trusted),
        "stands": [
            {
                "dialect": status.dialect,
                "state": None if status.row is None else status.row.state.value,
                "shut": [gate_document(gate) for gate in status.failed_gates],
            }
            for status in result.statuses
        ],
        "notes": list(result.notes),
        "next": list(result.next_commands),
    }


def written_files_text(result: ScaffoldResult, machine: Machine) -> str:
    """Return what was written, the hook's status, and the next steps."""
    return "\n".join(_written_lines(result, machine))


def _written_lines(result: ScaffoldResult, machine: Machine) -> Iterator[str]:
    for path, _ in result.plan.files:
        yield f"wrote  {one_line(machine.short(path), 300)}"
    yield ""
    for status in result.statuses:
        yield from _status_lines(status, result)
    for note in result.notes:
        yield f"note: {one_line(note, 300)}"
    yield ""
    yield "Next:"
    for line in result.next_commands:
        yield f"    {one_line(line, 400)}"
    yield "`hookscope undo` takes all of it back."


def _status_lines(status: ScaffoldStatus, result: ScaffoldResult) -> Iterator[str]:
    name = result.plan.request.name
    if status.row is None:
        yield f"{status.dialect} does not find {name} there."
        return
    yield f"{state_word(status.row.state).rstrip()}  {name}   under {status.dialect}"
    for gate in status.failed_gates:
        yield f"    {gate.name}: {one_line(gate.reason, 300)}"

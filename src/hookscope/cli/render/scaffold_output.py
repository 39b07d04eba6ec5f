"""Scaffolded files as text and JSON (`new`)."""

from __future__ import annotations

from collections.abc import Iterator

from hookscope.app.json_documents import Document, gate_document
from hookscope.authoring.scaffold.scaffold_plan import ScaffoldPlan
from hookscope.authoring.scaffold.scaffold_writer import ScaffoldResult, ScaffoldStatus
from hookscope.cli.render.layout import state_word
from hookscope.model.machine import Machine
from hookscope.model.text import one_line, printable


def _common_members(sketch: ScaffoldPlan) -> Document:
    return {
        "name": sketch.wish.name,
        "kind": sketch.kind,
        "language": sketch.language,
        "dialects": [one.name for one in sketch.readers.chosen],
        "events": [event.key for event in sketch.events],
        "folder": str(sketch.root),
        "handler": str(sketch.main),
        "saved": None if sketch.saved is None else str(sketch.saved),
    }


def planned_files_document(sketch: ScaffoldPlan) -> Document:
    """Return the document of `new --dry-run --json`."""
    files = [{"file": str(path), "text": content.decode()} for path, content in sketch.files]
    return {**_common_members(sketch), "written": False, "files": files, "notes": list(sketch.notes)}


def planned_files_text(sketch: ScaffoldPlan, surroundings: Machine) -> str:
    """Return each planned file with its text."""
    lines: list[str] = []
    for path, content in sketch.files:
        lines += [one_line(surroundings.short(path), 300)]
        lines += [f"    {line}".rstrip() for line in printable(content.decode()).splitlines()] + [""]
    notes = (f"note: {one_line(note, 300)}" for note in sketch.notes)
    return "\n".join([*lines, *notes, "Nothing was written."])


def written_files_document(made: ScaffoldResult) -> Document:
    """Return the document of `new --json`."""
    return {
        **_common_members(made.sketched),
        "written": True,
        "files": [{"file": str(path), "text": content.decode()} for path, content in made.sketched.files],
        "trusted": None if made.trusted is None else str(made.trusted),
        "stands": [
            {
                "dialect": one.dialect,
                "state": None if one.row is None else one.row.state.value,
                "shut": [gate_document(item) for item in one.shut],
            }
            for one in made.stands
        ],
        "notes": list(made.notes),
        "next": list(made.next),
    }


def written_files_text(made: ScaffoldResult, surroundings: Machine) -> str:
    """Return what was written, the hook's status, and the next steps."""
    return "\n".join(_written_lines(made, surroundings))


def _written_lines(made: ScaffoldResult, surroundings: Machine) -> Iterator[str]:
    for path, _ in made.sketched.files:
        yield f"wrote  {one_line(surroundings.short(path), 300)}"
    yield ""
    for one in made.stands:
        yield from _status_lines(one, made)
    for note in made.notes:
        yield f"note: {one_line(note, 300)}"
    yield ""
    yield "Next:"
    for line in made.next:
        yield f"    {one_line(line, 400)}"
    yield "`hookscope undo` takes all of it back."


def _status_lines(one: ScaffoldStatus, made: ScaffoldResult) -> Iterator[str]:
    name = made.sketched.wish.name
    if one.row is None:
        yield f"{one.dialect} does not find {name} there."
        return
    yield f"{state_word(one.row.state).rstrip()}  {name}   under {one.dialect}"
    for item in one.shut:
        yield f"    {item.name}: {one_line(item.reason, 300)}"

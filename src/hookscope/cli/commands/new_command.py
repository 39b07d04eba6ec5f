"""`hookscope new NAME`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from hookscope.app.json_documents import Document, gate_document
from hookscope.app.options import Options
from hookscope.app.preferences import editor_command, editor_of, run_editor
from hookscope.authoring.scaffold.request import (
    LANGUAGES,
    ScaffoldKind,
    ScaffoldRequest,
    ScriptLanguage,
    kind_named,
)
from hookscope.authoring.scaffold.scaffold_plan import ScaffoldPlan
from hookscope.authoring.scaffold.scaffold_writer import (
    ScaffoldResult,
    ScaffoldStatus,
    plan_new,
    write_scaffold,
)
from hookscope.cli import answers
from hookscope.cli.answers import Answer
from hookscope.cli.render.layout import state_word
from hookscope.model.failure import Refusal
from hookscope.model.hook import FilePosition
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


def _written_lines(result: ScaffoldResult, machine: Machine) -> Iterator[str]:
    """Yield what was written, the hook's status, and the next steps."""
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
    yield "`hookscope undo` removes all of it."


def _status_lines(status: ScaffoldStatus, result: ScaffoldResult) -> Iterator[str]:
    name = result.plan.request.name
    if status.row is None:
        yield f"{status.dialect} does not find {name} there."
        return
    yield f"{state_word(status.row.state).rstrip()}  {name}   under {status.dialect}"
    for gate in status.failed_gates:
        yield f"    {gate.name}: {one_line(gate.reason, 300)}"


@answers.command(
    "new",
    click.Argument(["name"]),
    click.Option(
        ["--event", "events"], metavar="KEY", multiple=True, help="An event to subscribe to. Repeatable."
    ),
    click.Option(
        ["--language"],
        type=click.Choice(LANGUAGES),
        help="The language; by default that of the workspace's other hooks.",
    ),
    click.Option(["--dialects"], metavar="A,B", help="The hosts to support; default: the current one."),
    click.Option(["--in", "where"], metavar="workspace|managed|DIR", default="", help="Where to create it."),
    click.Option(["--description"], metavar="TEXT", default="", help="The hook's description, on one line."),
    click.Option(["--kind"], metavar="KIND", help="hook, pack, plugin or stream; default: the host's kind."),
    click.Option(["--pack"], is_flag=True, help="Create a pack with a first hook, below this folder."),
    click.Option(["--plugin"], is_flag=True, help="Create a plugin that guards tools."),
    click.Option(["--dry-run"], is_flag=True, help="Show the files and write nothing."),
    click.Option(["--trust/--no-trust"], default=None, help="Trust its folder; default: only if it is new."),
    click.Option(["--edit"], is_flag=True, help="Open the handler in $EDITOR."),
)
def new_command(
    options: Options,
    name: str,
    events: tuple[str, ...],
    language: ScriptLanguage | None,
    dialects: str | None,
    where: str,
    description: str,
    kind: str | None,
    pack: bool,
    plugin: bool,
    dry_run: bool,
    trust: bool | None,
    edit: bool,
) -> Answer:
    """Create a working hook: HOOK.md, a handler, and a saved event with its expected result.

    Nothing is overwritten, and `hookscope undo` removes everything. The new folder is trusted, because
    Hookscope has just created it.
    """
    request = ScaffoldRequest(
        name,
        _hook_kind(kind, pack, plugin),
        tuple(key.strip() for text in events for key in text.split(",") if key.strip()),
        language,
        tuple(part.strip() for part in (dialects or "").split(",") if part.strip()),
        where,
        description,
    )
    bench = answers.workbench_for(options)
    plan = plan_new(bench, bench.scan(), request)
    if dry_run:
        return Answer(planned_files_document(plan), planned_files_text(plan, bench.setup.machine))
    result = write_scaffold(bench, plan, trust=trust)
    bench.close_now()
    if edit:
        result = replace(result, notes=(*result.notes, *_open_editor(plan.main_file, bench.open().workspace)))
    notes = answers.written_despite_what_if(options, plan.main_file)
    return Answer(
        written_files_document(result), "\n".join(_written_lines(result, bench.setup.machine)), notes=notes
    )


def _hook_kind(kind: str | None, pack: bool, plugin: bool) -> ScaffoldKind | None:
    """Return the kind to create. Raises Refusal if several are named."""
    named: list[ScaffoldKind] = [kind_named(kind)] if kind is not None else []
    named += ["pack"] if pack else []
    named += ["plugin"] if plugin else []
    if len(set(named)) > 1:
        raise Refusal(f"{named[0]} and {named[1]} are different kinds.", "Name one kind.", code=2)
    return named[0] if named else None


def _open_editor(file: Path, workspace: Path) -> tuple[str, ...]:
    """Run the user's editor until it ends; return a note if it could not be opened."""
    editor = editor_of(os.environ)  # a what-if environment must not choose a program
    if not editor:
        return (f"No editor is set: define VISUAL or EDITOR. The handler is {file}",)
    if not sys.stdin.isatty():
        return (f"There is no terminal for an editor. The handler is {file}",)
    try:
        problem = run_editor(editor_command(editor, FilePosition(file)), workspace)
    except ValueError as error:
        problem = f"VISUAL or EDITOR is not a command: {error}."
    return (f"{problem} The handler is {file}",) if problem else ()

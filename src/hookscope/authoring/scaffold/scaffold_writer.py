"""Writes a planned scaffold, all of it or nothing, and reports the status of the new hook."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from hookscope.authoring.scaffold.request import ScaffoldRequest
from hookscope.authoring.scaffold.scaffold_plan import ScaffoldPlan, plan_scaffold
from hookscope.authoring.scaffold.target_hosts import checked_dialect
from hookscope.model.hook_status import Gate, HookStatus
from hookscope.model.refusal import Refusal
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

OWN_SWITCHES = ("enabled", "selected")
SWITCH = "switch"  # the switch of all hooks


@dataclass(frozen=True, slots=True)
class ScaffoldStatus:
    """The new hook under one dialect."""

    dialect: str
    row: HookStatus | None  # None: this host does not find it
    shut: tuple[Gate, ...] = ()


@dataclass(frozen=True, slots=True)
class ScaffoldResult:
    """What was written, and the next steps."""

    sketched: ScaffoldPlan
    trusted: Path | None  # the folder that is trusted now
    stands: tuple[ScaffoldStatus, ...]
    next: tuple[str, ...]  # commands, in order
    notes: tuple[str, ...]


def plan_new(bench: Workbench, view: Snapshot, wish: ScaffoldRequest) -> ScaffoldPlan:
    """Return the plan of a request. Writes nothing; raises Refusal."""
    return plan_scaffold(wish, view.host, view.inventory)


def write_scaffold(bench: Workbench, sketch: ScaffoldPlan, *, trust: bool | None = None) -> ScaffoldResult:
    """Write a plan as one undoable change, and scan again. Raises Refusal; nothing is written then.

    `trust`: whether it may run from now on. None: only if its folder is new, since everything in it is
    then Hookscope's own.
    """
    folder = _to_trust(sketch)
    trust = not os.path.lexists(folder) if trust is None else trust
    bench.edits.write(sketch.wish.name, sketch.change)
    trusted, notes = None, sketch.notes
    if trust:
        try:
            trusted = _workbench_of(bench, sketch, sketch.readers.first.name).trust(folder)
        except Refusal as refused:
            notes = (*notes, str(refused))
    stands = tuple(_status_of(bench, sketch, one.name) for one in sketch.readers.chosen)
    return ScaffoldResult(sketch, trusted, stands, tuple(_next_commands(bench, sketch, stands)), notes)


def _to_trust(sketch: ScaffoldPlan) -> Path:
    """Return its own folder; for a module, the folder that contains it."""
    return sketch.root.parent if sketch.kind == "stream" else sketch.root


def _workbench_of(bench: Workbench, sketch: ScaffoldPlan, dialect: str) -> Workbench:
    """Return a workbench under that dialect, at the workspace of the new hook."""
    from hookscope.app.workbench import Workbench

    options = replace(bench.options, dialect=dialect)
    if os.path.isdir(sketch.where.workspace):
        options = replace(options, workspace=sketch.where.workspace)
    return Workbench(options)


def _status_of(bench: Workbench, sketch: ScaffoldPlan, dialect: str) -> ScaffoldStatus:
    view = _workbench_of(bench, sketch, dialect).look()
    folder = sketch.main.parent if sketch.kind in ("hook", "pack") else sketch.root
    row = next((row for row in view.inventory.hooks if row.hook.path == folder), None)
    shut = tuple(row.verdict.shut()) if row is not None else ()
    return ScaffoldStatus(dialect, row, shut)


def _next_commands(
    bench: Workbench, sketch: ScaffoldPlan, stands: tuple[ScaffoldStatus, ...]
) -> Iterator[str]:
    """Yield the commands that fix failed gates, then the one that tries the hook."""
    first = next((one for one in stands if one.row is not None), None)
    if sketch.saved is None or first is None or first.row is None:
        yield f"hookscope lint {_shell_path(bench, sketch.root)}"
        return
    if any(gate.name == "trusted" for one in stands for gate in one.shut):
        yield f"hookscope trust {_shell_path(bench, _to_trust(sketch))}"
    for one in stands:
        yield from _gate_commands(one, bench, sketch)
    yield f"hookscope{_options(bench, sketch, first.dialect)} test {_shell_path(bench, sketch.saved)}"


def _gate_commands(one: ScaffoldStatus, bench: Workbench, sketch: ScaffoldPlan) -> Iterator[str]:
    """Yield the commands that fix the other gates of one host."""
    more, name = _options(bench, sketch, one.dialect), sketch.wish.name
    shut = {gate.name for gate in one.shut} - {"trusted", "sent"}  # unsent events are in the notes
    switched = set(OWN_SWITCHES)
    if checked_dialect(one.dialect).switching.also_true:
        switched.add(SWITCH)
    if shut & switched:
        yield f"hookscope{more} enable {name}"
    if shut - switched:
        yield f"hookscope{more} fix {name}"


def _options(bench: Workbench, sketch: ScaffoldPlan, dialect: str) -> str:
    """Return the options that make a command use the same host and workspace."""
    given = bench.options
    said = ""
    if given.dialect is not None or dialect != bench.dialect.name:
        said += f" --dialect {dialect}"
    if given.workspace is not None or sketch.kind == "pack":
        said += f" --workspace {_shell_path(bench, sketch.where.workspace)}"
    return said


def _shell_path(bench: Workbench, path: Path) -> str:
    """Return a path as typed in the current folder."""
    here = bench.setup.surroundings.cwd
    return quote(str(path.relative_to(here) if path.is_relative_to(here) else path))

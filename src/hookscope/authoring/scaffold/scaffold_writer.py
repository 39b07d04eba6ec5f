"""Writes a planned scaffold, all of it or nothing, and reports the status of the new hook."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from hookscope.authoring.scaffold.request import ScaffoldRequest, checked_dialect
from hookscope.authoring.scaffold.scaffold_plan import ScaffoldPlan, plan_scaffold
from hookscope.model.failure import Refusal
from hookscope.model.hook_status import Gate, HookStatus
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.workbench import Workbench

OWN_SWITCHES = ("enabled", "selected")
SWITCH = "switch"  # the switch of all hooks


@dataclass(frozen=True, slots=True)
class ScaffoldStatus:
    """The status of the new hook under one dialect."""

    dialect: str
    row: HookStatus | None  # None: this host does not find it
    failed_gates: tuple[Gate, ...] = ()


@dataclass(frozen=True, slots=True)
class ScaffoldResult:
    """What was written, and the next steps."""

    plan: ScaffoldPlan
    trusted: Path | None  # the folder that is trusted now
    statuses: tuple[ScaffoldStatus, ...]
    next_commands: tuple[str, ...]  # in this order
    notes: tuple[str, ...]


def plan_new(bench: Workbench, view: Snapshot, request: ScaffoldRequest) -> ScaffoldPlan:
    """Return the plan of a request. Writes nothing; raises Refusal."""
    return plan_scaffold(request, view.host, view.inventory)


def write_scaffold(bench: Workbench, plan: ScaffoldPlan, *, trust: bool | None = None) -> ScaffoldResult:
    """Write a plan as one undoable change, and scan again. Raises Refusal if nothing was written.

    `trust`: whether to trust the hook's folder. None: only if the folder is new, because then Hookscope wrote
    everything in it.
    """
    folder = _to_trust(plan)
    trust = not os.path.lexists(folder) if trust is None else trust
    bench.edits.write(plan.request.name, plan.change)
    trusted, notes = None, plan.notes
    if trust:
        try:
            trusted = _workbench_of(bench, plan, plan.targets.first.name).trust(folder)
        except Refusal as refused:
            notes = (*notes, str(refused))
    statuses = tuple(_status_of(bench, plan, one.name) for one in plan.targets.chosen)
    return ScaffoldResult(plan, trusted, statuses, tuple(_next_commands(bench, plan, statuses)), notes)


def _to_trust(plan: ScaffoldPlan) -> Path:
    """Return the hook's own folder; for a module, the folder that contains it."""
    return plan.root.parent if plan.kind == "stream" else plan.root


def _workbench_of(bench: Workbench, plan: ScaffoldPlan, dialect: str) -> Workbench:
    """Return a workbench under that dialect, at the workspace of the new hook."""
    from hookscope.app.workbench import Workbench

    options = replace(bench.options, dialect=dialect)
    if os.path.isdir(plan.place.workspace):
        options = replace(options, workspace=plan.place.workspace)
    return Workbench(options)


def _status_of(bench: Workbench, plan: ScaffoldPlan, dialect: str) -> ScaffoldStatus:
    view = _workbench_of(bench, plan, dialect).scan()
    folder = plan.main_file.parent if plan.kind in ("hook", "pack") else plan.root
    row = next((row for row in view.inventory.hooks if row.hook.path == folder), None)
    failed = tuple(row.verdict.failed()) if row is not None else ()
    return ScaffoldStatus(dialect, row, failed)


def _next_commands(
    bench: Workbench, plan: ScaffoldPlan, statuses: tuple[ScaffoldStatus, ...]
) -> Iterator[str]:
    """Yield the commands that fix failed gates, then the one that tries the hook."""
    first = next((one for one in statuses if one.row is not None), None)
    if plan.saved_event is None or first is None or first.row is None:
        yield f"hookscope lint {_shell_path(bench, plan.root)}"
        return
    if any(gate.name == "trusted" for one in statuses for gate in one.failed_gates):
        yield f"hookscope trust {_shell_path(bench, _to_trust(plan))}"
    for one in statuses:
        yield from _gate_commands(one, bench, plan)
    yield f"hookscope{_options(bench, plan, first.dialect)} test {_shell_path(bench, plan.saved_event)}"


def _gate_commands(status: ScaffoldStatus, bench: Workbench, plan: ScaffoldPlan) -> Iterator[str]:
    more, name = _options(bench, plan, status.dialect), plan.request.name
    # unsent events are in the notes
    failed = {gate.name for gate in status.failed_gates} - {"trusted", "sent"}
    switched = set(OWN_SWITCHES)
    if checked_dialect(status.dialect).switch_rules.also_true:
        switched.add(SWITCH)
    if failed & switched:
        yield f"hookscope{more} enable {name}"
    if failed - switched:
        yield f"hookscope{more} fix {name}"


def _options(bench: Workbench, plan: ScaffoldPlan, dialect: str) -> str:
    """Return the options that a suggested command needs for this dialect and the plan's workspace."""
    options = bench.options
    text = ""
    if options.dialect is not None or dialect != bench.dialect.name:
        text += f" --dialect {dialect}"
    if options.workspace is not None or plan.kind == "pack":
        text += f" --workspace {_shell_path(bench, plan.place.workspace)}"
    return text


def _shell_path(bench: Workbench, path: Path) -> str:
    """Return a path as typed in the current folder."""
    cwd = bench.setup.machine.cwd
    return quote(str(path.relative_to(cwd) if path.is_relative_to(cwd) else path))

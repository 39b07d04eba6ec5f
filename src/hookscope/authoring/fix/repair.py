"""The repair of one hook: gate by gate, each fix based on the changes before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from hookscope.app.snapshot import Snapshot
from hookscope.authoring.fix import source_fixes
from hookscope.authoring.fix.gate_fixes import GATE_RECIPES, Recipe, fix_entry, is_entry_gate
from hookscope.authoring.fix.header_fixes import HEADER_RECIPES, REPAIRED_HEADERS
from hookscope.authoring.fix.model import (
    NO_VALUES,
    Fix,
    FixValues,
    Repair,
    WorkspaceRepair,
    status_after_repair,
)
from hookscope.authoring.fix.simulation import SimulatedHost
from hookscope.hosts.folders import FolderSystem
from hookscope.hosts.folders.hook_discovery import MANIFEST, PYTHON_HANDLERS
from hookscope.hosts.folders.search_paths import BUNDLED
from hookscope.model.hook import LANGUAGE_OF
from hookscope.model.hook_status import (
    Effect,
    FixKind,
    Gate,
    HookStatus,
    Inventory,
    RejectedHook,
    State,
    effects_of_change,
    hook_identity,
)
from hookscope.storage.edits.atomic_files import ChangeError
from hookscope.storage.edits.change import Change
from hookscope.storage.edits.header_edit import parse_header_text, with_header_first, with_header_value
from hookscope.storage.edits.masked_preview import masked_error

if TYPE_CHECKING:
    from hookscope.app.runs.activation_chain import ActivationLink
    from hookscope.app.workbench import Workbench
    from hookscope.authoring.lint.model import LintFinding


def reject_fixes(item: RejectedHook, simulated: SimulatedHost) -> Iterator[Fix]:
    """Yield fixes that may turn the folder into a hook, most likely first."""
    folder = item.path
    try:
        names = sorted(simulated.host.machine.files.names(folder))
    except OSError:
        return
    if MANIFEST not in names:
        yield from (
            _renamed("manifest", folder / name, MANIFEST, simulated)
            for name in names
            if name.lower() == MANIFEST.lower()
        )
        return
    yield from _headers(folder / MANIFEST, folder.name, simulated)
    yield from _handlers(folder, names, simulated)


def _renamed(gate: str, path: Path, name: str, simulated: SimulatedHost) -> Fix:
    content, title = simulated.read(path), f"Rename {path.name} to {name}"
    meaning = f"{path.parent.name}: {path.name} → {name}"
    return Fix(gate, title, (Change(path, meaning, content, content, renamed_to=path.with_name(name)),))


def _headers(file: Path, name: str, simulated: SimulatedHost) -> Iterator[Fix]:
    source = simulated.read(file)
    if source is None:
        return
    first = with_header_first(source)
    for title, make in REPAIRED_HEADERS:
        try:
            made = make(source)
        except ChangeError:
            continue
        if made != source:
            yield Fix("manifest", title, (Change(file, f"{name}: {title}", source, made),))
    try:
        if parse_header_text(first).get("name"):
            return
        named = with_header_value(first, ("name",), name)
    except ChangeError:
        return
    if named != first:
        yield Fix("manifest", f"Name it {name}", (Change(file, f"{name}: name corrected", source, named),))


def _handlers(folder: Path, names: list[str], simulated: SimulatedHost) -> Iterator[Fix]:
    """Yield renames of a file that is clearly the handler to names that the host looks for."""
    systems = (system for system in simulated.host.dialect.systems if isinstance(system, FolderSystem))
    shape = next(systems, None)
    handler_names = (*shape.shape.handlers, *PYTHON_HANDLERS) if shape is not None else PYTHON_HANDLERS
    scripts = [name for name in names if Path(name).suffix.lower() in (*LANGUAGE_OF, ".tsx", ".jsx")]
    likely = [name for name in scripts if Path(name).stem.lower() in ("handler", "index", "hook")]
    for name in likely or (scripts if len(scripts) == 1 else []):
        for other in sorted(
            handler_names, key=lambda other: (_language(name) != _language(other), handler_names.index(other))
        ):
            if other not in names and _fits(name, other):
                yield _renamed("handler", folder / name, other, simulated)


def _fits(name: str, new_name: str) -> bool:
    """Return whether the new name keeps the language. JavaScript is also valid TypeScript."""
    language, other = _language(name), _language(new_name)
    return language == other or (language, other) == ("javascript", "typescript")


def _language(name: str) -> str:
    ending = Path(name).suffix.lower()
    return {".tsx": "typescript", ".jsx": "javascript"}.get(ending) or str(LANGUAGE_OF.get(ending, ""))


RECIPES: Mapping[FixKind, Recipe] = {
    **GATE_RECIPES,
    **HEADER_RECIPES,
    FixKind.BY_HAND_HANDLER: source_fixes.advise_syntax,
    FixKind.BY_HAND_BUILD: source_fixes.advise_build,
    FixKind.BY_HAND_LOAD: source_fixes.advise_load,
    FixKind.BY_HAND_PATH: source_fixes.advise_path,
    FixKind.BY_HAND_SETTINGS: source_fixes.advise_settings,
}
OF_THE_USER = frozenset(
    {
        FixKind.TOGGLE,
        FixKind.SET_VARIABLES,
        FixKind.SET_VALUES,
        FixKind.PROGRAMS,
        FixKind.PACKAGES,
        FixKind.ADD_TO_LIST,
        FixKind.TAKE_FROM_LIST,
    }
)
"""Fixes that need a value or a decision."""
FIRST = FixKind.MOVE_EVENTS  # moving metadata may fix other gates too
PROGRAM_GATES = "the file belongs to the program that ships it: fix a copy in the workspace"
MOST = 16  # gates fixed one after another
GateId = tuple[str, bool]  # name, reported: the host's list and its loader may share a gate's name


def make_repair(
    view: Snapshot,
    sought: HookStatus | RejectedHook,
    user_values: FixValues = NO_VALUES,
    *,
    only: str | None = None,
    first: bool = False,
    rules: Collection[str] | None = None,
    start: SimulatedHost | None = None,
    without: frozenset[FixKind] = frozenset(),
) -> Repair:
    """Return fixes for all failed gates, in order. Reads files; writes nothing.

    Args:
        start: the host after earlier fixes; None: the host as it is now.
        without: kinds of fixes to skip.
        only: fix only this gate.
        first: stop after the first gate that can be fixed or needs a value.
        rules: also apply the safe fixes of these lint rules; empty: of all rules. Findings without a
            safe fix become remarks, as do all findings of a hook without failed gates.
    """
    simulated = start or SimulatedHost(view.host, view.inventory)
    fixes: list[Fix] = []
    if isinstance(sought, RejectedHook):
        fix, simulated = _rejected_fix(sought, simulated)
        fixes.append(fix)
    elif sought.verdict.shadowed_by is not None:
        fix = Fix("shadowed", sought.verdict.why(), why_not="two hooks have this name: rename one of them")
        return Repair(sought.hook.name, sought, sought, (fix,))
    row = simulated.find(sought)
    seen: set[GateId] = set()
    while isinstance(row, HookStatus) and not (
        first and any(fix.changes or fix.required_values for fix in fixes)
    ):
        gate = _next(row, seen, only, without)
        if gate is None or len(seen) > MOST:
            break
        seen.add(_id(gate))
        fix, simulated = _gate_fix(gate, row, simulated, user_values)
        fixes.append(replace(fix, failed_gate=gate))
        row = simulated.find(sought)
    remarks: tuple[LintFinding, ...] = ()
    open_before = not fixes and isinstance(row, HookStatus) and not row.verdict.failed()
    if (
        isinstance(row, HookStatus)
        and row.hook.folder.source != BUNDLED
        and (rules is not None or open_before)
    ):
        # most repairs parse no scripts
        from hookscope.authoring.fix.source_fixes import lint_fixes, lint_remarks

        if rules is not None:
            more, simulated = lint_fixes(row, simulated, rules)
            fixes += more
        row_after = simulated.find(sought)
        remarks = lint_remarks(row_after, simulated, rules) if isinstance(row_after, HookStatus) else ()
    return replace(_repair(view, sought, simulated, fixes), remarks=remarks)


def repair_workspace(view: Snapshot) -> WorkspaceRepair:
    """Return the edits of hooks' own files that fix the hooks. Reads files; writes nothing.

    The settings are not edited: whether a hook is off, denied or without a value is the user's decision.
    Hooks shipped with the host and shadowed hooks are skipped.
    """
    repairs: list[Repair] = []
    left: list[Repair] = []
    changes: dict[Path, tuple[Change, ...]] = {}  # by folder: a plugin may have several hooks
    for sought, start in _single_items(view):
        folder = start.only
        assert folder is not None
        simulated = start.with_changes(*changes.get(folder, ()))
        repair = make_repair(view, sought, start=simulated, without=OF_THE_USER)
        if repair.changes and all(change.path.is_relative_to(folder) for change in repair.changes):
            changes[folder] = (*changes.get(folder, ()), *repair.changes)
            repairs.append(repair)
        elif isinstance(sought, HookStatus):
            left.append(repair)
    whole = SimulatedHost(view.host, view.inventory).with_changes(*chain.from_iterable(changes.values()))
    after = {hook_identity(row.hook): row for row in reversed(whole.inventory.hooks)}
    repairs = [
        replace(one, after=after.get(hook_identity(one.after.hook), one.after)) if one.after else one
        for one in repairs
    ]
    return WorkspaceRepair(tuple(repairs), tuple(left))


def _single_items(view: Snapshot) -> Iterator[tuple[HookStatus | RejectedHook, SimulatedHost]]:
    """Yield each item to repair, and a simulated host that scans only the item's folder."""
    stops = tuple(row for row in view.inventory.hooks if row.verdict.stops_load is not None)
    for row in filter(_may_be_repaired, view.inventory.hooks):
        folder = row.hook.path or row.hook.folder.path
        yield row, SimulatedHost(view.host, Inventory(hooks=(row, *stops)), only=folder)
    for item in view.inventory.rejected:
        yield item, SimulatedHost(view.host, Inventory(rejected=(item,)), only=item.path)


def _may_be_repaired(row: HookStatus) -> bool:
    is_kept = row.state is State.OFF or row.verdict.shadowed_by is not None
    return bool(row.verdict.failed()) and not is_kept and row.hook.folder.source != BUNDLED


def find_repair(
    bench: Workbench,
    view: Snapshot,
    what: str | HookStatus | RejectedHook,
    user_values: FixValues = NO_VALUES,
    *,
    gate: str | None = None,
    first: bool = False,
    rules: Collection[str] | None = None,
) -> Repair:
    """Return the changes that make a hook run, and its status after them. Writes nothing.

    Args:
        what: a hook, a rejected folder, or the name of one.
        gate, first, rules: see `make_repair`.

    Raises Refusal for a name that no hook has.
    """
    if isinstance(what, str):
        rejected = (item for item in view.inventory.rejected if what in (item.name, item.path.name))
        what = view.inventory.find(what) or next(rejected, None) or bench.hook(view, what)
    return make_repair(view, what, user_values, only=gate, first=first, rules=rules)


def last_failed_run(bench: Workbench, view: Snapshot, repair: Repair) -> ActivationLink | None:
    """Return the hook's last run if it failed; None also if the journal cannot be read. Blocks."""
    if repair.before is None:
        return None
    from hookscope.app.runs.activation_chain import activation_chain  # a repair rarely needs the database

    try:
        links = activation_chain(bench, view, repair.before)
    except OSError:
        return None
    return next((link for link in links if link.name == "ran" and link.passed is False), None)


def apply_repair(bench: Workbench, repair: Repair) -> None:
    """Write all changes of a repair, or none; each is one undoable step. Raises Refusal."""
    bench.edits.write_all(repair.name, repair.changes)


def apply_workspace_repair(bench: Workbench, repair: WorkspaceRepair) -> None:
    """Write all changes, or none, in as few undoable steps as possible. Raises Refusal."""
    bench.edits.write_all("all hooks", repair.steps)


def with_status_now(bench: Workbench, repair: Repair) -> Repair:
    """Return a written repair with the hook's status after a new scan."""
    return replace(repair, after=status_after_repair(repair, bench.scan()))


def _next(row: HookStatus, seen: set[GateId], only: str | None, without: frozenset[FixKind]) -> Gate | None:
    failed = [gate for gate in row.verdict.failed() if only is None or gate.name == only]
    failed.sort(key=lambda gate: gate.kind.fix is not FIRST)
    partly = [gate for gate in row.verdict.passed_in_part() if only is None or gate.name == only]
    gates = (gate for gate in (*failed, *partly) if gate.kind.fix not in without)
    return next((gate for gate in gates if _id(gate) not in seen), None)


def _id(gate: Gate) -> GateId:
    return gate.name, gate.reported


def _gate_fix(
    gate: Gate, row: HookStatus, simulated: SimulatedHost, user_values: FixValues
) -> tuple[Fix, SimulatedHost]:
    """Return the first candidate that fixes the gate or part of it; else an instruction."""
    if gate.kind.fix in HEADER_RECIPES and row.hook.folder.source == BUNDLED:
        return Fix(gate.name, gate.reason or gate.name, why_not=PROGRAM_GATES), simulated
    recipe = fix_entry if is_entry_gate(gate, row) else RECIPES[gate.kind.fix]
    problem = ""
    try:
        for fix in recipe(gate, row, simulated, user_values):
            if not fix.changes:
                return fix, simulated
            after_fix = simulated.with_changes(*fix.changes)
            if _improves(gate, after_fix.find(row)):
                return fix, after_fix
            problem = f"{fix.title} would not fix it"
    except (ChangeError, OSError) as error:
        problem = masked_error(error) if isinstance(error, ChangeError) else str(error)
    return Fix(gate.name, gate.reason or gate.name, why_not=problem or _why_not(gate)), simulated


def _why_not(gate: Gate) -> str:
    at = f" ({gate.place.file.name}:{gate.place.line})" if gate.place is not None else ""
    return gate.kind.why_no_fix + at


def _improves(gate: Gate, after_fix: HookStatus | RejectedHook | None) -> bool:
    if not isinstance(after_fix, HookStatus):
        return False
    now = next((one for one in after_fix.verdict.gates if _id(one) == _id(gate)), None)
    if now is None or (now.passed is not False and not (gate.passed and now.missing)):
        return True
    return set(now.missing) < set(gate.missing)


def _rejected_fix(item: RejectedHook, simulated: SimulatedHost, steps: int = 3) -> tuple[Fix, SimulatedHost]:
    """Return the first fix, or combination of up to `steps`, after which the host finds a hook."""
    if item.source == BUNDLED:
        return Fix("found", item.reason, why_not=PROGRAM_GATES), simulated
    problem = ""
    try:
        for fix in reject_fixes(item, simulated):
            after_fix = simulated.with_changes(*fix.changes)
            found = after_fix.find(item)
            if isinstance(found, HookStatus):
                return fix, after_fix
            if steps > 1 and isinstance(found, RejectedHook) and found.reason != item.reason:
                more, last = _rejected_fix(found, after_fix, steps - 1)
                if more.changes:
                    both = f"{fix.title}; {more.title[:1].lower()}{more.title[1:]}"
                    return replace(more, title=both, changes=(*fix.changes, *more.changes)), last
    except (ChangeError, OSError) as error:
        problem = str(error)
    at = f" ({item.place.file.name}:{item.place.line})" if item.place is not None else ""
    why = problem or f"only its author knows what belongs there{at}"
    return Fix("found", item.reason, why_not=why), simulated


def _repair(
    view: Snapshot, sought: HookStatus | RejectedHook, simulated: SimulatedHost, fixes: list[Fix]
) -> Repair:
    found = simulated.find(sought)
    after = found if isinstance(found, HookStatus) else None
    before = sought if isinstance(sought, HookStatus) else None
    failed = {gate.name for gate in after.verdict.failed()} if after is not None else None
    kept = (fix for fix in fixes if fix.changes or failed is None or fix.gate in failed or " " in fix.gate)
    own = hook_identity(after.hook) if after is not None else None
    others: tuple[Effect, ...] = ()
    if simulated.changes and simulated.only is None:
        others = effects_of_change(
            view.inventory, simulated.inventory, lambda hook: hook_identity(hook) == own
        )
    notices = view.host.dialect.switch_rules.when_noticed
    return Repair(repaired_name(before or sought), before, after, tuple(kept), others, notices)


def repaired_name(sought: HookStatus | RejectedHook) -> str:
    """Return the name of the hook, or the name it would have."""
    return sought.hook.name if isinstance(sought, HookStatus) else sought.name or sought.path.name

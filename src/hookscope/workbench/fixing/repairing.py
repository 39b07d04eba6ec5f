"""From a hook to its repair: gate after gate, each fix made on what the ones before it have left."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hookscope.changes import ChangeError
from hookscope.core.inventory import Rejected
from hookscope.core.standing import Gate, Standing
from hookscope.systems.folders.places import BUNDLED
from hookscope.workbench.fixing import in_source
from hookscope.workbench.fixing.fix import NOTHING, Fix, Given, Repair
from hookscope.workbench.fixing.headers import IN_HEADER
from hookscope.workbench.fixing.listed import is_listed, of_entry
from hookscope.workbench.fixing.recipes import WHY_NOT, WORLD, Recipe
from hookscope.workbench.fixing.rejects import reject_fixes
from hookscope.workbench.fixing.sketch import Sketch
from hookscope.workbench.shown import told
from hookscope.workbench.toggle import Effect
from hookscope.workbench.view import View

if TYPE_CHECKING:
    from hookscope.lint.model import Finding

IN_SOURCE: Mapping[str, Recipe] = {
    "handler": in_source.broken,
    "build": in_source.build,
    "load": in_source.load,
    "path": in_source.path,
    "settings": in_source.settings,
}
RECIPES: Mapping[str, Recipe] = {**WORLD, **IN_HEADER, **IN_SOURCE}
FIRST = ("events",)  # moved metadata brings along what other gates ask about
OF_ITS_PROGRAM = "the file belongs to the program that brings it: mend a copy in the workspace"
MOST = 16  # gates that are opened one after another
GateId = tuple[str, bool]  # a gate of the host's list and one of its loader may have one name


def repair_of(
    view: View,
    sought: Standing | Rejected,
    given: Given = NOTHING,
    *,
    only: str | None = None,
    first: bool = False,
    rules: Collection[str] | None = None,
) -> Repair:
    """What can be done about every shut gate, in their order. Reads files; writes nothing.

    Args:
        only: this gate alone.
        first: no further than the first gate that can be opened, or that wants a value.
        rules: mend too what these rules of lint have a safe fix for; with none of them, what any has. What
            they have none for is remarked; so is all that lint finds where no check is shut.
    """
    sketch = Sketch(view.host, view.inventory)
    fixes: list[Fix] = []
    if isinstance(sought, Rejected):
        fix, sketch = _of_reject(sought, sketch)
        fixes.append(fix)
    elif sought.verdict.shadowed_by is not None:
        fix = Fix("shadowed", sought.verdict.why(), why_not="one name has one hook: rename one of the two")
        return Repair(sought.hook.name, sought, sought, (fix,))
    row = sketch.find(sought)
    seen: set[GateId] = set()
    while isinstance(row, Standing) and not (first and any(fix.changes or fix.asks for fix in fixes)):
        gate = _next(row, seen, only)
        if gate is None or len(seen) > MOST:
            break
        seen.add(_id(gate))
        fix, sketch = _of_gate(gate, row, sketch, given)
        fixes.append(replace(fix, shut=gate))
        row = sketch.find(sought)
    remarks: tuple[Finding, ...] = ()
    open_before = not fixes and isinstance(row, Standing) and not row.verdict.shut()
    if isinstance(row, Standing) and row.hook.folder.source != BUNDLED and (rules is not None or open_before):
        from hookscope.workbench.fixing.linted import lint_fixes, remarks_on  # here: most parse no scripts

        if rules is not None:
            more, sketch = lint_fixes(row, sketch, rules)
            fixes += more
        then = sketch.find(sought)
        remarks = remarks_on(then, sketch, rules) if isinstance(then, Standing) else ()
    return replace(_answer(view, sought, sketch, fixes), remarks=remarks)


def _next(row: Standing, seen: set[GateId], only: str | None) -> Gate | None:
    shut = [gate for gate in row.verdict.shut() if only is None or gate.name == only]
    shut.sort(key=lambda gate: gate.name not in FIRST)
    return next((gate for gate in shut if _id(gate) not in seen), None)


def _id(gate: Gate) -> GateId:
    return gate.name, gate.reported


def _of_gate(gate: Gate, row: Standing, sketch: Sketch, given: Given) -> tuple[Fix, Sketch]:
    """The first candidate that opens the gate, or leaves less of it; else words."""
    if gate.name in IN_HEADER and row.hook.folder.source == BUNDLED:
        return Fix(gate.name, gate.reason or gate.name, why_not=OF_ITS_PROGRAM), sketch
    recipe = of_entry if is_listed(gate, row) else RECIPES.get(gate.name)
    problem = ""
    try:
        for fix in recipe(gate, row, sketch, given) if recipe is not None else ():
            if not fix.changes:
                return fix, sketch
            then = sketch.after(*fix.changes)
            if _opens(gate, then.find(row)):
                return fix, then
            problem = f"{fix.title} would not open it"
    except (ChangeError, OSError) as error:
        problem = told(error) if isinstance(error, ChangeError) else str(error)
    return Fix(gate.name, gate.reason or gate.name, why_not=problem or _why_not(gate)), sketch


def _why_not(gate: Gate) -> str:
    at = f" ({gate.place.file.name}:{gate.place.line})" if gate.place is not None else ""
    return WHY_NOT.get(gate.name, "nothing here opens it") + at


def _opens(gate: Gate, then: Standing | Rejected | None) -> bool:
    if not isinstance(then, Standing):
        return False
    now = next((one for one in then.verdict.gates if _id(one) == _id(gate)), None)
    if now is None or now.passed is not False:
        return True
    return set(now.missing) < set(gate.missing)


def _of_reject(item: Rejected, sketch: Sketch, steps: int = 3) -> tuple[Fix, Sketch]:
    """The first candidate after which the host finds a hook there; or two of them together."""
    if item.source == BUNDLED:
        return Fix("found", item.reason, why_not=OF_ITS_PROGRAM), sketch
    problem = ""
    try:
        for fix in reject_fixes(item, sketch):
            then = sketch.after(*fix.changes)
            found = then.find(item)
            if isinstance(found, Standing):
                return fix, then
            if steps > 1 and isinstance(found, Rejected) and found.reason != item.reason:
                more, last = _of_reject(found, then, steps - 1)
                if more.changes:
                    both = f"{fix.title}; {more.title[:1].lower()}{more.title[1:]}"
                    return replace(more, title=both, changes=(*fix.changes, *more.changes)), last
    except (ChangeError, OSError) as error:
        problem = str(error)
    at = f" ({item.place.file.name}:{item.place.line})" if item.place is not None else ""
    why = problem or f"only its author can write what belongs there{at}"
    return Fix("found", item.reason, why_not=why), sketch


def _answer(view: View, sought: Standing | Rejected, sketch: Sketch, fixes: list[Fix]) -> Repair:
    found = sketch.find(sought)
    after = found if isinstance(found, Standing) else None
    before = sought if isinstance(sought, Standing) else None
    shut = {gate.name for gate in after.verdict.shut()} if after is not None else None
    kept = (fix for fix in fixes if fix.changes or shut is None or fix.gate in shut or " " in fix.gate)
    others = tuple(_effects(view, sketch, sought)) if sketch.changes else ()
    notices = view.host.dialect.switching.notices
    return Repair(name_of(before or sought), before, after, tuple(kept), others, notices)


def name_of(sought: Standing | Rejected) -> str:
    """What it is called, or would be."""
    return sought.hook.name if isinstance(sought, Standing) else sought.name or sought.path.name


def _effects(view: View, sketch: Sketch, sought: Standing | Rejected) -> Iterator[Effect]:
    mine = sketch.find(sought)
    for row in view.inventory.hooks:
        then = sketch.find(row)
        if isinstance(then, Standing) and then is not mine and then.state is not row.state:
            yield Effect(row.hook.name, row.hook.folder.source, row.state, then.state)

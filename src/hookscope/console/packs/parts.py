"""What a hook of a pack needs and does, and an edit as a diff: lines that several sheets share. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.edits import STYLES
from hookscope.console.sheet import Sheet, foreign, literal
from hookscope.console.text import line
from hookscope.console.theme import LOOKS, MUTED
from hookscope.core.standing import Gate, State, gate_state

if TYPE_CHECKING:
    from hookscope.core.standing import Standing
    from hookscope.workbench.packs.planned import Uses

REQUIREMENTS = ("os", "bins", "anyBins", "env", "config")
PROGRAMS = ("bins", "anyBins")
DEEP = 4  # cells that what belongs to a hook stands further right
LABEL = 11  # cells of a label
MOST_LINES = 400  # of one diff


def fact(sheet: Sheet, label: str, text: str) -> None:
    """`label  value`, the value in its column."""
    sheet.put([(Content.styled(label, MUTED), LABEL)], foreign(text))


def hook_part(sheet: Sheet, row: Standing, uses: Uses | None) -> None:
    """How it stands, what it hears, what it needs, how to get that, what its source does."""
    look = LOOKS[row.state]
    events = "known after a load" if row.events is None else ", ".join(row.events) or "no events"
    head = Content.assemble((f"{look.glyph} {look.word}", look.style), "  ", line(row.hook.name, 60))
    sheet.say(Content.assemble(head, ("  hears ", MUTED), foreign(events)), 2)
    if row.hook.description:
        sheet.say(foreign(row.hook.description).stylize(MUTED), 2 + DEEP)
    for gate in row.verdict.gates:
        _gate(sheet, gate)
    for spec in row.hook.meta.install:
        sheet.say(Content.assemble(("→ ", MUTED), remedy(spec, row)), 2 + DEEP)
    if uses is not None:
        uses_part(sheet, uses, 2 + DEEP)


def _gate(sheet: Sheet, gate: Gate) -> None:
    """A requirement, met or not; of all other checks those that are shut."""
    if gate.passed is False and gate_state(gate) is not State.UNTRUSTED:
        text = foreign(gate.reason or f"{gate.name} is shut")
        sheet.say(Content.assemble(("✗ ", "$text-error"), f"{gate.name}: ", text), 2 + DEEP)
    elif gate.needed and gate.name in REQUIREMENTS:
        sign, style = ("✓ ", "$text-success") if gate.passed else ("– ", MUTED)
        needed = foreign(", ".join(gate.needed))
        sheet.say(Content.assemble((sign, style), f"needs {gate.name}: ", needed), 2 + DEEP)


def remedy(spec: Mapping[str, object], row: Standing) -> Content:
    """One way that the author names to get what is needed, and what it would satisfy."""
    gates = [gate for gate in row.verdict.gates if gate.name in PROGRAMS]
    missing = {name for gate in gates for name in gate.missing}
    bins = spec.get("bins")
    names = [str(name) for name in bins] if isinstance(bins, list) else []
    what = spec.get("package") or spec.get("repository") or spec.get("url") or spec.get("id") or ""
    label = spec.get("label")
    lacking = [name for name in names if name in missing]
    gives = f" gives {', '.join(names)}" if names else ""
    if lacking:
        gives += f": opens the check of {', '.join(lacking)}"
    elif names:
        gives += ": nothing of that is missing"
    said = f" ({label})" if label else ""
    named = " ".join(filter(None, (str(spec.get("kind", "?")), str(what))))
    return Content.assemble(foreign(f"{named}{gives}{said}"), ("; never run from here", MUTED))


def uses_part(sheet: Sheet, uses: Uses, indent: int) -> None:
    """What the sources say that they do."""
    for what, names in uses.told:
        sheet.say(Content.assemble((f"{what}: ", "$text-warning"), foreign(", ".join(names))), indent)


def diff_part(sheet: Sheet, preview: str) -> None:
    """The lines of a unified diff, without its first two."""
    lines = preview.splitlines()[2:]
    for text in _first(lines):
        shown = literal(text)
        sheet.say(shown.stylize(STYLES.get(text[:1], MUTED)) if shown else shown, 2)
    if len(lines) > MOST_LINES:
        sheet.say(Content.styled(f"and {len(lines) - MOST_LINES:,} more lines", MUTED), 2)


def _first(lines: list[str]) -> Iterator[str]:
    yield from lines[:MOST_LINES]

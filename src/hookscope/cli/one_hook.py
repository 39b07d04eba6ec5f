"""One hook for people: every check, what has come of it, which copy wins.

Everything foreign passes `one_line` or `printable`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookscope.cli.cells import fitted, spot, state_word
from hookscope.cli.folding import folded
from hookscope.core.standing import Gate, Standing, State
from hookscope.core.text import as_typed, one_line, printable
from hookscope.workbench import View

if TYPE_CHECKING:
    from hookscope.workbench.links.link import Link

MARKS = {True: "✓", False: "✗", None: "–"}


def info(
    view: View, row: Standing, links: Sequence[Link] = (), unfit: str = "", *, places: bool = False
) -> str:
    """`info`: everything that is known of one hook; with `places` where each missing thing was looked for.

    `unfit` is what its links say against it.
    """
    hook = row.hook
    state = State.BROKEN if row.state is State.READY and unfit else row.state
    lines = [f"{state_word(state).rstrip()}  {one_line(hook.name)}"]
    if row.state is not State.READY:
        lines[0] += f"  – {one_line(row.verdict.why(), 300)}"
    elif unfit:
        lines[0] += f"  – its checks are open, but it {one_line(unfit, 300)}"
    if hook.description:
        lines.append(f"  {one_line(hook.description)}")
    lines.append("")
    for gate in ordered(row.verdict.gates):
        lines += [gate_line(gate, view), *near_lines(gate, places)]
    lines += (
        [f"  `hookscope fix {one_line(as_typed(hook.name))}` shows what would open it."]
        if _may_open(row)
        else []
    )
    lines += ["", "So far", *map(link_line, links)] if links else []
    lines += ["", "Which file wins", *_copies(view, row)]
    lines += ["", *_facts(view, row)]
    told = {near for gate in row.verdict.shut() for near in gate.near}
    notes = (note for note in (*row.notes, *row.differs) if note not in told)
    lines += [f"note: {one_line(note, 400)}" for note in notes]
    return folded(lines)


def _may_open(row: Standing) -> bool:
    """Is there a shut check whose next step is not told beside it."""
    return any(gate.name != "trusted" for gate in row.verdict.shut())


def ordered(gates: Sequence[Gate]) -> list[Gate]:
    """What stops the hook first, then what passed, then what nobody looked at."""
    return sorted(gates, key=lambda gate: {False: 0, True: 1, None: 2}[gate.passed])


def shut_lines(row: Standing, view: View) -> list[str]:
    """Each check that is shut: what it needs, what was found, and what nearly was it."""
    lines: list[str] = []
    for gate in row.verdict.gates:
        if gate.passed is False:
            lines += [f"    {line}" for line in (gate_line(gate, view), *near_lines(gate, places=False))]
    return lines


def gate_line(gate: Gate, view: View) -> str:
    """One check: needed, found, and the reason where it is shut."""
    needed = fitted(one_line(", ".join(gate.needed)), 26)
    found = one_line(gate.found, 120)
    where = settings_place(gate, view)
    at = f"  ({where})" if where else ""
    reason = f"  – {one_line(gate.reason, 300)}" if gate.passed is False else ""
    return f"  {MARKS[gate.passed]} {gate.name:<8}  {needed}  {found}{at}{reason}"


def near_lines(gate: Gate, places: bool) -> list[str]:
    """What nearly opened a check, and where it was looked for."""
    lines = [f"      near: {one_line(near)}" for near in gate.near]
    if places:
        lines += [f"      looked in: {one_line(looked)}" for looked in gate.looked]
    return lines


def settings_place(gate: Gate, view: View) -> str:
    """`openclaw.json:14`, where a setting decided."""
    place = view.host.settings.locate(gate.setting) if gate.setting else None
    return spot(place) if place else ""


def link_line(item: Link) -> str:
    """One link behind the gates, with its next step."""
    then = f"; {one_line(item.then)}" if item.then else ""
    return f"  {MARKS[item.passed]} {fitted(item.title, 24)}  {one_line(item.found, 400)}{then}"


def _copies(view: View, row: Standing) -> list[str]:
    copies = [other for other in view.inventory.hooks if other.hook.name == row.hook.name]
    short = view.host.surroundings.short
    lines = []
    for other in sorted(copies, key=lambda other: -other.hook.folder.rank):
        sign = "▸" if other.hook is row.hook else " "
        outcome = "wins" if other.verdict.shadowed_by is None else "shadowed"
        where = printable(short(other.hook.path or other.hook.folder.path))
        lines.append(f"  {sign} {other.hook.folder.source:<9}  {where}  {outcome}")
    return lines


def _facts(view: View, row: Standing) -> list[str]:
    hook = row.hook
    short = view.host.surroundings.short
    facts = [
        ("handler", f"{printable(short(hook.handler))} ({hook.language})" if hook.handler else "–"),
        ("kind", " ".join(filter(None, (hook.role, hook.kind))) if hook.kind != "folder" else ""),
        ("events", events_of(row)),
        ("export", one_line(hook.meta.export)),
        ("limits", view.limits_of(hook).in_words() if hook.handler else ""),
        ("settings", f"entries.{one_line(hook.key)}" if hook.kind == "folder" else ""),
        ("homepage", one_line(hook.meta.homepage or "")),
        (
            "install",
            "; ".join(one_line(str(item.get("label") or item.get("kind"))) for item in hook.meta.install),
        ),
    ]
    return [f"{name:<9} {value}" for name, value in facts if value]


def events_of(row: Standing) -> str:
    """The events that it hears, in one line."""
    if row.events is None:
        return "known after a load"
    return one_line(", ".join(row.events), 60) if row.events else "–"

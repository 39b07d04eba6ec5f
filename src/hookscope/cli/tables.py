"""Answers for people: aligned plain text. Everything foreign passes `one_line` or `printable`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.cli.cells import coloured, column, fitted, spot, state_word
from hookscope.cli.folding import beside, folded
from hookscope.cli.orphan_lines import left_over
from hookscope.core.compare import READS
from hookscope.core.hooks import Folder
from hookscope.core.inventory import Rejected
from hookscope.core.missed import not_asked, told_and_counted, why_not
from hookscope.core.runs import NotRun, Plan, Registration
from hookscope.core.standing import Gate, Standing, State
from hookscope.core.text import as_typed, one_line, printable
from hookscope.workbench import View
from hookscope.workbench.documents import problem
from hookscope.workbench.failed_loads import tries_again
from hookscope.workbench.slips import hint_of

if TYPE_CHECKING:
    from hookscope.workbench.links.link import Link

MARKS = {True: "✓", False: "✗", None: "–"}


def inventory(view: View, *, verbose: bool = False) -> str:
    """`list`: hooks grouped by the folder that they come from, highest first; `verbose`: with shut checks."""
    rows = view.inventory.hooks
    names = column((one_line(row.hook.name) for row in rows), 32)
    events = column((_events(row) for row in rows), 30)
    lines = [headline(view), *problems(view)]
    for source, folder, group, rejects in groups(view):
        lines += ["", _folder_line(source, folder, view, bool(group or rejects))]
        for row in group:
            lines += [*_row(row, names, events, view), *(shut_lines(row, view) if verbose else ())]
        lines += [
            f"  {_rejected_word(item)}  {one_line(item.path.name)}: {one_line(item.reason)}"
            for item in rejects
        ]
    lines += left_over(view)
    return folded(lines)


def headline(view: View) -> str:
    """Whose rules, where, on which settings."""
    host = view.host
    short = host.surroundings.short
    settings = printable(short(host.settings.file)) if host.settings.exists else "none yet"
    settings = f" · settings {settings}" if host.dialect.layout.settings else ""
    workspace = printable(short(host.workspace))
    return f"{host.dialect.name} ({printable(view.because)}) · workspace {workspace}{settings}"


def problems(view: View) -> list[str]:
    """A line for each file or folder that could not be read."""
    return [f"! {one_line(problem(item), 400)}" for item in view.inventory.problems]


def groups(view: View) -> Iterator[tuple[str, Folder | None, list[Standing], list[Rejected]]]:
    """The host's folders, highest rank first, each with its hooks and its rejected; legacy last."""
    homes = [(item, _home_of(item, view.folders)) for item in view.inventory.rejected]
    for folder in sorted(view.folders, key=lambda folder: -folder.rank):
        hooks = [row for row in view.inventory.hooks if row.hook.folder is folder]
        yield folder.source, folder, hooks, [item for item, home in homes if home is folder]
    rest = [row for row in view.inventory.hooks if row.hook.folder not in view.host.folders]
    homeless = [item for item, home in homes if home is None]
    for source in dict.fromkeys([*(row.hook.folder.source for row in rest), *(i.source for i in homeless)]):
        rows = [row for row in rest if row.hook.folder.source == source]
        yield source, None, rows, [item for item in homeless if item.source == source]


def _home_of(item: Rejected, folders: Sequence[Folder]) -> Folder | None:
    """The innermost folder that it lies in, were it several levels down; None for what only settings name."""
    around = [folder for folder in folders if item.path.is_relative_to(folder.path)]
    return max(around, key=lambda at: (len(at.path.parts), at.source == item.source), default=None)


def _folder_line(source: str, folder: Folder | None, view: View, filled: bool) -> str:
    if folder is None:
        return source
    note = "" if filled else "  (no hooks)" if folder.real is not None else "  (absent)"
    return f"{source}  {printable(view.host.surroundings.short(folder.path))}{note}"


def _events(row: Standing) -> str:
    if row.events is None:
        return "known after a load"
    return one_line(", ".join(row.events), 60) if row.events else "–"


def _row(row: Standing, names: int, events: int, view: View) -> list[str]:
    name = fitted(one_line(row.hook.name), names)
    why = one_line(_why(row, view.host.surroundings.short) or _failed(row, view) or hint_of(row, view), 300)
    return beside(f"  {state_word(view.stands(row))}  {name}  {fitted(_events(row), events)}", why)


def _why(row: Standing, shown: Callable[[Path], str] = str) -> str:
    """Why it would not run; and of one without events, that its program finds some all the same."""
    why = row.verdict.why(shown)
    read = next((one for one in row.differs if f": {READS}" in one), "")
    return f"{why}; {read}" if why and read else why


def _failed(row: Standing, view: View) -> str:
    """Of a hook whose checks are open: that its file did not load, and what tries again."""
    failed = view.failed_loads.get(row.hook)
    return "" if failed is None else f"{failed.why}; {tries_again(row.hook.name)}"


def _rejected_word(item: Rejected) -> str:
    return fitted("– ignored", 11) if item.ignored else _broken_word()


def _broken_word() -> str:
    text = fitted("✗ no hook", 11)
    return click.style(text, fg="red") if coloured() else text


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


def gate_line(gate: Gate, view: View) -> str:
    """One check: needed, found, and the reason where it is shut."""
    needed = fitted(one_line(", ".join(gate.needed)), 26)
    found = one_line(gate.found, 120)
    where = settings_place(gate, view)
    at = f"  ({where})" if where else ""
    reason = f"  – {one_line(gate.reason, 300)}" if gate.passed is False else ""
    return f"  {MARKS[gate.passed]} {gate.name:<8}  {needed}  {found}{at}{reason}"


def link_line(item: Link) -> str:
    """One link behind the gates, with its next step."""
    then = f"; {one_line(item.then)}" if item.then else ""
    return f"  {MARKS[item.passed]} {fitted(item.title, 24)}  {one_line(item.found, 400)}{then}"


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


def _copies(view: View, row: Standing) -> list[str]:
    copies = [other for other in view.inventory.hooks if other.hook.name == row.hook.name]
    short = view.host.surroundings.short
    lines = []
    for other in sorted(copies, key=lambda other: -other.hook.folder.rank):
        sign = "▸" if other is row else " "
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
        ("events", _events(row)),
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


def shut_lines(row: Standing, view: View) -> list[str]:
    """Each check that is shut: what it needs, what was found, and what nearly was it."""
    lines: list[str] = []
    for gate in row.verdict.gates:
        if gate.passed is False:
            lines += [f"    {line}" for line in (gate_line(gate, view), *near_lines(gate, places=False))]
    return lines


def check(view: View, *, verbose: bool = False) -> str:
    """`check`: how many in each state, and every reason; `verbose`: each shut check."""
    rows = view.inventory.hooks
    counts = [(state, [row for row in rows if view.stands(row) is state]) for state in reversed(State)]
    lines = [headline(view), *problems(view), ""]
    lines += [f"  {state_word(state)} {len(group):>4}" for state, group in counts if group]
    rejects = [item for item in view.inventory.rejected if not item.ignored]
    lines += [f"  {_broken_word()} {len(rejects):>4}"] if rejects else []
    stopped = [row for row in rows if row.state not in (State.READY, State.SHADOWED)]
    ready = [row for row in rows if row.state is State.READY]
    hints = [(row, hint) for row in ready if (hint := _failed(row, view) or hint_of(row, view))]
    if stopped or rejects or hints:
        lines.append("")
    for row in stopped:
        lines.append(f"  {one_line(row.hook.name)}: {one_line(_why(row), 300)}")
        lines += shut_lines(row, view) if verbose else []
    lines += [f"  {one_line(row.hook.name)}: {one_line(hint, 300)}" for row, hint in hints]
    lines += [f"  {one_line(item.path.name)}: {one_line(item.reason, 300)}" for item in rejects]
    lines += left_over(view)
    return folded(lines)


def plan(item: Plan, view: View | None = None) -> str:
    """`plan`: who would run in order, who not; with a view, whose file is known not to load."""
    lines = [f"{one_line(item.event.key)}  {_would_run(len(item.calls))}", ""]
    width = column((one_line(entry.name) for entry in item.calls), 32)
    number, digits = 0, len(str(len(item.calls)))
    for group in item.groups:
        lines += [f"  {one_line(group.label)}"] if group.label else []
        for entry in group.calls:
            number += 1
            together = "  at once" if group.together and len(group.calls) > 1 else ""
            name = fitted(one_line(entry.name), width)
            failed = view.failed_load(entry) if view is not None else None
            but = f"  but it {one_line(failed.why, 300)}" if failed is not None else ""
            lines.append(
                f"  {number:>{digits}}  {name}  as {one_line(entry.key)}{_priority(entry)}{together}{but}"
            )
    lines += not_run_lines(item.not_run)
    return folded(lines)


def _priority(entry: Registration) -> str:
    return f"  priority {entry.priority}" if entry.priority else ""


def _would_run(count: int) -> str:
    return "nothing would run" if not count else f"{count} handler{'s' * (count != 1)} would run"


def not_run_lines(left: Sequence[NotRun]) -> list[str]:
    """Those who listen and do not run, and who nearly listens, one by one; the rest counted."""
    aside, left = not_asked(left)
    told, counted = told_and_counted(left)
    others = len(counted)
    lines = [f"  –  {one_line(item.name)}  not run: {one_line(why_not(item), 300)}" for item in told]
    if aside:
        why = f"{len(aside)} other{'s' * (len(aside) != 1)} {aside[0].reason}"
        lines.append(f"  –  {one_line(why, 300)}")
    if others:
        lines.append(
            f"  –  {others} other hook{'s' * (others != 1)} listen{'s' * (others == 1)} to other events"
        )
    return lines

"""Text of `list`, `check` and `info`: hooks by folder, each hook's gates, unused settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.app.failed_loads import retry_hint
from hookscope.app.json_documents import problem_text
from hookscope.app.near_misses import unsent_event_hint
from hookscope.app.snapshot import Snapshot
from hookscope.cli.render.layout import (
    colours_allowed,
    column_width,
    fit_to_width,
    fold_text,
    place_text,
    row_with_text,
    state_word,
)
from hookscope.engine.dialect_differences import READS_PREFIX
from hookscope.engine.settings_entries import orphaned_entries
from hookscope.model.hook import Folder
from hookscope.model.hook_status import Gate, HookStatus, State, gate_state
from hookscope.model.inventory import Inventory, RejectedHook
from hookscope.model.text import one_line, printable, shell_path

if TYPE_CHECKING:
    from hookscope.app.runs.activation_links import ActivationLink


GATE_MARKS = {True: "✓", False: "✗", None: "–"}


def hook_info_text(
    view: Snapshot,
    row: HookStatus,
    links: Sequence[ActivationLink] = (),
    unfit: str = "",
    *,
    places: bool = False,
) -> str:
    """Return the text of `info`: all facts about one hook; `places` adds where each missing thing was sought.

    `chain_problem` is the problem that its activation links show.
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
    for gate in gates_for_display(row.verdict.gates):
        lines += [gate_line(gate, view), *near_miss_lines(gate, places)]
    lines += (
        [f"  `hookscope fix {one_line(shell_path(hook.name))}` shows what would open it."]
        if _has_unlisted_step(row)
        else []
    )
    lines += ["", "So far", *map(link_line, links)] if links else []
    lines += ["", "Which file wins", *_copy_lines(view, row)]
    lines += ["", *_hook_facts(view, row)]
    told = {near for gate in row.verdict.shut() for near in gate.near}
    notes = (note for note in (*row.notes, *row.differs) if note not in told)
    lines += [f"note: {one_line(note, 400)}" for note in notes]
    return fold_text(lines)


def _has_unlisted_step(row: HookStatus) -> bool:
    """Return True if a failed gate has a next step that is not shown beside it."""
    return any(gate_state(gate) is not State.UNTRUSTED for gate in row.verdict.shut())


def gates_for_display(gates: Sequence[Gate]) -> list[Gate]:
    """Return the failed gates first, then the passed, then the unchecked ones."""
    return sorted(gates, key=lambda gate: {False: 0, True: 1, None: 2}[gate.passed])


def failed_gate_lines(row: HookStatus, view: Snapshot) -> list[str]:
    """Return the lines of each failed gate: what it needs, what was found, and near misses."""
    lines: list[str] = []
    for gate in row.verdict.gates:
        if gate.passed is False:
            lines += [f"    {line}" for line in (gate_line(gate, view), *near_miss_lines(gate, places=False))]
    return lines


def gate_line(gate: Gate, view: Snapshot) -> str:
    """Return the line of a gate: needed, found, and the reason if it failed."""
    needed = fit_to_width(one_line(", ".join(gate.needed)), 26)
    found = one_line(gate.found, 120)
    where = deciding_setting(gate, view)
    at = f"  ({where})" if where else ""
    reason = f"  – {one_line(gate.reason, 300)}" if gate.passed is False else ""
    return f"  {GATE_MARKS[gate.passed]} {gate.name:<8}  {needed}  {found}{at}{reason}"


def near_miss_lines(gate: Gate, places: bool) -> list[str]:
    """Return the near misses of a gate, and where it was looked for."""
    lines = [f"      near: {one_line(near)}" for near in gate.near]
    if places:
        lines += [f"      looked in: {one_line(looked)}" for looked in gate.looked]
    return lines


def deciding_setting(gate: Gate, view: Snapshot) -> str:
    """Return the place of the setting that decided, such as `openclaw.json:14`."""
    place = view.host.settings.locate(gate.setting) if gate.setting else None
    return place_text(place) if place else ""


def link_line(item: ActivationLink) -> str:
    """Return the line of an activation link, with its next step."""
    then = f"; {one_line(item.then)}" if item.then else ""
    return f"  {GATE_MARKS[item.passed]} {fit_to_width(item.title, 24)}  {one_line(item.found, 400)}{then}"


def _copy_lines(view: Snapshot, row: HookStatus) -> list[str]:
    copies = [other for other in view.inventory.hooks if other.hook.name == row.hook.name]
    short = view.host.surroundings.short
    lines = []
    for other in sorted(copies, key=lambda other: -other.hook.folder.rank):
        sign = "▸" if other.hook is row.hook else " "
        outcome = "wins" if other.verdict.shadowed_by is None else "shadowed"
        where = printable(short(other.hook.path or other.hook.folder.path))
        lines.append(f"  {sign} {other.hook.folder.source:<9}  {where}  {outcome}")
    return lines


def _hook_facts(view: Snapshot, row: HookStatus) -> list[str]:
    hook = row.hook
    short = view.host.surroundings.short
    facts = [
        ("handler", f"{printable(short(hook.handler))} ({hook.language})" if hook.handler else "–"),
        ("kind", " ".join(filter(None, (hook.role, hook.kind))) if hook.kind != "folder" else ""),
        ("events", subscribed_events_text(row)),
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


def subscribed_events_text(row: HookStatus) -> str:
    """Return the events that the hook is subscribed to, on one line."""
    if row.events is None:
        return "known after a load"
    return one_line(", ".join(row.events), 60) if row.events else "–"


def orphan_setting_lines(view: Snapshot, found: Inventory | None = None) -> list[str]:
    """Return a line for each entry without a hook, with its place; such entries have no effect.

    `full_inventory`: the unfiltered one, if the view is filtered.
    """
    lines = []
    for item in orphaned_entries(found or view.inventory, view.host):
        at = f"  ({place_text(item.place)})" if item.place else ""
        lines.append(f"  ! {one_line(item.key, 60)}{at}  no such hook was found; {one_line(item.then, 300)}")
    return ["", "entries without a hook", *lines] if lines else []


def hook_list_text(view: Snapshot, *, verbose: bool = False, found: Inventory | None = None) -> str:
    """Return the text of `list`: hooks by folder, highest rank first; `verbose` adds failed gates.

    `full_inventory`: the unfiltered one, if the view is filtered.
    """
    rows = view.inventory.hooks
    held = {id(row.hook.folder) for row in (found or view.inventory).hooks}
    names = column_width((one_line(row.hook.name) for row in rows), 32)
    events = column_width((subscribed_events_text(row) for row in rows), 30)
    lines = [host_headline(view), *problem_lines(view)]
    for source, folder, group, rejects in hooks_by_folder(view):
        lines += ["", _folder_line(source, folder, view, bool(group or rejects), id(folder) in held)]
        for row in group:
            lines += [
                *_hook_lines(row, names, events, view),
                *(failed_gate_lines(row, view) if verbose else ()),
            ]
        lines += [
            f"  {_rejected_word(item)}  {one_line(item.path.name)}: {one_line(item.reason)}"
            for item in rejects
        ]
    lines += orphan_setting_lines(view, found)
    return fold_text(lines)


def host_headline(view: Snapshot) -> str:
    """Return the dialect, the workspace and the settings file, on one line."""
    host = view.host
    short = host.surroundings.short
    settings = printable(short(host.settings.file)) if host.settings.exists else "none yet"
    settings = f" · settings {settings}" if host.dialect.layout.settings else ""
    workspace = printable(short(host.workspace))
    return f"{host.dialect.name} ({printable(view.because)}) · workspace {workspace}{settings}"


def problem_lines(view: Snapshot) -> list[str]:
    """Return a line for each file or folder that could not be read."""
    return [f"! {one_line(problem_text(item), 400)}" for item in view.inventory.problems]


def hooks_by_folder(
    view: Snapshot,
) -> Iterator[tuple[str, Folder | None, list[HookStatus], list[RejectedHook]]]:
    """Yield the folders, highest rank first, each with its hooks and rejected hooks; legacy last."""
    at: dict[Path, list[Folder]] = {}
    for folder in view.folders:
        at.setdefault(folder.path, []).append(folder)
    homes = [(item, _innermost_folder(item, at)) for item in view.inventory.rejected]
    known = set(view.host.folders)
    hooks: dict[int, list[HookStatus]] = {}  # by identity of the folder, because two folders can be equal
    at_home: dict[int, list[RejectedHook]] = {}
    for row in view.inventory.hooks:
        hooks.setdefault(id(row.hook.folder), []).append(row)
    for item, home in homes:
        at_home.setdefault(id(home), []).append(item)
    for folder in sorted(view.folders, key=lambda folder: -folder.rank):
        yield folder.source, folder, hooks.get(id(folder), []), at_home.get(id(folder), [])
    rest = [row for row in view.inventory.hooks if row.hook.folder not in known]
    homeless = at_home.get(id(None), [])
    for source in dict.fromkeys([*(row.hook.folder.source for row in rest), *(i.source for i in homeless)]):
        rows = [row for row in rest if row.hook.folder.source == source]
        yield source, None, rows, [item for item in homeless if item.source == source]


def _innermost_folder(item: RejectedHook, folders: Mapping[Path, Sequence[Folder]]) -> Folder | None:
    """Return the innermost folder around a rejected hook, at any depth; None if only settings name it."""
    around = next((folders[path] for path in (item.path, *item.path.parents) if path in folders), ())
    return max(around, key=lambda folder: folder.source == item.source, default=None)


def _folder_line(source: str, folder: Folder | None, view: Snapshot, filled: bool, held: bool) -> str:
    if folder is None:
        return source
    empty = "none eligible" if held else "no hooks"
    note = "" if filled else f"  ({empty})" if folder.real is not None else "  (absent)"
    return f"{source}  {printable(view.host.surroundings.short(folder.path))}{note}"


def _hook_lines(row: HookStatus, names: int, events: int, view: Snapshot) -> list[str]:
    name = fit_to_width(one_line(row.hook.name), names)
    why = one_line(
        _not_ready_reason(row, view.host.surroundings.short)
        or _load_failure_text(row, view)
        or unsent_event_hint(row, view),
        300,
    )
    return row_with_text(
        f"  {state_word(view.stands(row))}  {name}  {fit_to_width(subscribed_events_text(row), events)}", why
    )


def _not_ready_reason(row: HookStatus, shown: Callable[[Path], str] = str) -> str:
    """Return why a hook would not run; without events, also those that its program would find."""
    why = row.verdict.why(shown)
    read = next((one for one in row.differs if f": {READS_PREFIX}" in one), "")
    return f"{why}; {read}" if why and read else why


def _load_failure_text(row: HookStatus, view: Snapshot) -> str:
    """Return that a hook's file did not load, and how to retry; empty if it loads."""
    failed = view.failed_loads.get(row.hook)
    return "" if failed is None else f"{failed.why}; {retry_hint(row.hook.name)}"


def _rejected_word(item: RejectedHook) -> str:
    return fit_to_width("– ignored", 11) if item.ignored else _broken_word()


def _broken_word() -> str:
    text = fit_to_width("✗ no hook", 11)
    return click.style(text, fg="red") if colours_allowed() else text


def check_text(view: Snapshot, *, verbose: bool = False) -> str:
    """Return the text of `check`: the count of each state and every reason; `verbose`: each failed gate."""
    rows = view.inventory.hooks
    counts = [(state, [row for row in rows if view.stands(row) is state]) for state in reversed(State)]
    lines = [host_headline(view), *problem_lines(view), ""]
    lines += [f"  {state_word(state)} {len(group):>4}" for state, group in counts if group]
    rejects = [item for item in view.inventory.rejected if not item.ignored]
    lines += [f"  {_broken_word()} {len(rejects):>4}"] if rejects else []
    stopped = [row for row in rows if row.state not in (State.READY, State.SHADOWED)]
    ready = [row for row in rows if row.state is State.READY]
    hints = [
        (row, hint)
        for row in ready
        if (hint := _load_failure_text(row, view) or unsent_event_hint(row, view))
    ]
    if stopped or rejects or hints:
        lines.append("")
    for row in stopped:
        lines.append(f"  {one_line(row.hook.name)}: {one_line(_not_ready_reason(row), 300)}")
        lines += failed_gate_lines(row, view) if verbose else []
    lines += [f"  {one_line(row.hook.name)}: {one_line(hint, 300)}" for row, hint in hints]
    lines += [f"  {one_line(item.path.name)}: {one_line(item.reason, 300)}" for item in rejects]
    lines += orphan_setting_lines(view)
    return fold_text(lines)

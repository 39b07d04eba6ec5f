"""Text of `list`, `check`, `info` and `why`: hooks by folder, gates, steps, unused settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookscope.app.load_record import retry_hint
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
from hookscope.model.hook_status import Gate, HookStatus, Inventory, RejectedHook, State, gate_state
from hookscope.model.text import one_line, printable, printable_line, shell_path

if TYPE_CHECKING:
    from hookscope.analysis.why_chain import WhyChain, WhyStep
    from hookscope.app.runs.activation_chain import ActivationLink

GATE_MARKS = {True: "✓", False: "✗", None: "–"}


def hook_info_text(
    view: Snapshot, row: HookStatus, links: Sequence[ActivationLink], chain_problem: str, *, places: bool
) -> str:
    """Return the text of `info`: all facts about one hook; `places` adds the places that were searched.

    `chain_problem` is the problem that the hook's activation links show.
    """
    hook = row.hook
    state = State.BROKEN if row.state is State.READY and chain_problem else row.state
    lines = [f"{state_word(state).rstrip()}  {one_line(hook.name)}"]
    if row.state is not State.READY:
        lines[0] += f"  – {one_line(row.verdict.why(), 300)}"
    elif chain_problem:
        lines[0] += f"  – its checks pass, but it {one_line(chain_problem, 300)}"
    if hook.description:
        lines.append(f"  {one_line(hook.description)}")
    lines.append("")
    others = sorted(row.verdict.gates, key=lambda gate: gate.passed is None)
    for gate in dict.fromkeys((*row.verdict.easiest_first(), *others)):
        lines += [gate_line(gate, view), *near_miss_lines(gate, places)]
    lines += (
        [f"  `hookscope fix {one_line(shell_path(hook.name))}` shows how to fix it."]
        if any(gate_state(gate) is not State.UNTRUSTED for gate in row.verdict.failed())
        else []
    )
    lines += ["", "History", *map(link_line, links)] if links else []
    lines += ["", "Precedence", *_copy_lines(view, row)]
    lines += ["", *_hook_facts(view, row)]
    shown_notes = {near for gate in row.verdict.failed() for near in gate.near}
    notes = (note for note in (*row.notes, *row.dialect_differences) if note not in shown_notes)
    lines += [f"note: {one_line(note, 400)}" for note in notes]
    return fold_text(lines)


def failed_gate_lines(row: HookStatus, view: Snapshot) -> list[str]:
    """Return the lines of each failed gate: what it needs, what was found, and near misses."""
    return [
        f"    {line}"
        for gate in row.verdict.easiest_first()
        for line in (gate_line(gate, view), *near_miss_lines(gate, places=False))
    ]


def gate_line(gate: Gate, view: Snapshot) -> str:
    """Return the line of a gate: needed, found, and the reason if it failed."""
    needed = fit_to_width(one_line(", ".join(gate.needed)), 26)
    found = one_line(gate.found, 120)
    where = deciding_setting(gate, view)
    at = f"  ({where})" if where else ""
    reason = f"  – {one_line(gate.reason, 300)}" if gate.passed is False else ""
    return f"  {GATE_MARKS[gate.passed]} {gate.name:<8}  {needed}  {found}{at}{reason}"


def near_miss_lines(gate: Gate, places: bool) -> list[str]:
    """Return the near misses of a gate; with `places`, also where Hookscope searched."""
    lines = [f"      near: {one_line(near)}" for near in gate.near]
    if places:
        lines += [f"      looked in: {one_line(looked)}" for looked in gate.looked]
    return lines


def deciding_setting(gate: Gate, view: Snapshot) -> str:
    """Return the place of the setting that decided the gate, such as `openclaw.json:14`."""
    place = view.host.settings.locate(gate.setting) if gate.setting else None
    return place_text(place) if place else ""


def link_line(link: ActivationLink) -> str:
    """Return the line of an activation link, with its next step."""
    next_step = f"; {one_line(link.next_step)}" if link.next_step else ""
    return (
        f"  {GATE_MARKS[link.passed]} {fit_to_width(link.title, 24)}  {one_line(link.found, 400)}{next_step}"
    )


def _copy_lines(view: Snapshot, row: HookStatus) -> list[str]:
    copies = [other for other in view.inventory.hooks if other.hook.name == row.hook.name]
    shorten = view.host.machine.short
    lines = []
    for other in sorted(copies, key=lambda other: -other.hook.folder.rank):
        sign = "▸" if other.hook is row.hook else " "
        outcome = "wins" if other.verdict.shadowed_by is None else "shadowed"
        where = printable_line(shorten(other.hook.path or other.hook.folder.path))
        lines.append(f"  {sign} {other.hook.folder.source:<9}  {where}  {outcome}")
    return lines


def _hook_facts(view: Snapshot, row: HookStatus) -> list[str]:
    hook = row.hook
    shorten = view.host.machine.short
    facts = [
        ("handler", f"{printable_line(shorten(hook.handler))} ({hook.language})" if hook.handler else "–"),
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
    return one_line(row.events_text, 60) or "–"


def orphan_setting_lines(view: Snapshot, full_inventory: Inventory | None = None) -> list[str]:
    """Return a line for each settings entry without a hook, with its place. Such entries have no effect.

    `full_inventory`: the unfiltered one, if the view is filtered.
    """
    lines = []
    for entry in orphaned_entries(full_inventory or view.inventory, view.host):
        at = f"  ({place_text(entry.place)})" if entry.place else ""
        lines.append(
            f"  ! {one_line(entry.key, 60)}{at}  no such hook was found; {one_line(entry.advice, 300)}"
        )
    return ["", "entries without a hook", *lines] if lines else []


def hook_list_text(view: Snapshot, *, verbose: bool, full_inventory: Inventory | None) -> str:
    """Return the text of `list`: hooks by folder, highest rank first; `verbose` adds failed gates.

    `full_inventory`: the unfiltered one, if the view is filtered.
    """
    rows = view.inventory.hooks
    used_folders = {id(row.hook.folder) for row in (full_inventory or view.inventory).hooks}
    names = column_width((one_line(row.hook.name) for row in rows), 32)
    events = column_width((_read_events_text(row) for row in rows), 30)
    lines = [host_headline(view), *filter(None, [view.shipped_summary]), *problem_lines(view)]
    for source, folder, group, rejects in hooks_by_folder(view):
        lines += ["", _folder_line(source, folder, view, bool(group or rejects), id(folder) in used_folders)]
        for row in group:
            lines += [
                *_hook_lines(row, names, events, view),
                *(failed_gate_lines(row, view) if verbose else ()),
            ]
        lines += [
            f"  {_rejected_word(rejected)}  {one_line(rejected.path.name)}: {one_line(rejected.reason)}"
            for rejected in rejects
        ]
    lines += orphan_setting_lines(view, full_inventory)
    return fold_text(lines)


def host_headline(view: Snapshot) -> str:
    """Return the dialect, the workspace and the settings file, on one line."""
    host = view.host
    shorten = host.machine.short
    settings = printable_line(shorten(host.settings.file)) if host.settings.exists else "none yet"
    settings = f" · settings {settings}" if host.dialect.layout.settings else ""
    workspace = printable_line(shorten(host.workspace))
    return f"{host.dialect.name} ({printable(view.dialect_reason)}) · workspace {workspace}{settings}"


def problem_lines(view: Snapshot) -> list[str]:
    """Return a line for each file or folder that could not be read."""
    return [f"! {one_line(problem.sentence, 400)}" for problem in view.inventory.problems]


def hooks_by_folder(
    view: Snapshot,
) -> Iterator[tuple[str, Folder | None, list[HookStatus], list[RejectedHook]]]:
    """Yield the folders, highest rank first, each with its hooks and rejected hooks; legacy last."""
    by_path: dict[Path, list[Folder]] = {}
    for folder in view.folders:
        by_path.setdefault(folder.path, []).append(folder)
    rejected_folders = [(item, _innermost_folder(item, by_path)) for item in view.inventory.rejected]
    known = set(view.host.folders)
    hooks: dict[int, list[HookStatus]] = {}  # by identity of the folder, because two folders can be equal
    rejected_by_folder: dict[int, list[RejectedHook]] = {}
    for row in view.inventory.hooks:
        hooks.setdefault(id(row.hook.folder), []).append(row)
    for item, enclosing in rejected_folders:
        rejected_by_folder.setdefault(id(enclosing), []).append(item)
    for folder in sorted(view.folders, key=lambda folder: -folder.rank):
        yield folder.source, folder, hooks.get(id(folder), []), rejected_by_folder.get(id(folder), [])
    other_rows = [row for row in view.inventory.hooks if row.hook.folder not in known]
    without_folder = rejected_by_folder.get(id(None), [])
    for source in dict.fromkeys(
        [*(row.hook.folder.source for row in other_rows), *(i.source for i in without_folder)]
    ):
        rows = [row for row in other_rows if row.hook.folder.source == source]
        yield source, None, rows, [item for item in without_folder if item.source == source]


def _innermost_folder(rejected: RejectedHook, folders: Mapping[Path, Sequence[Folder]]) -> Folder | None:
    """Return the innermost folder around a rejected hook, at any depth; None if only settings name it."""
    candidates = next(
        (folders[path] for path in (rejected.path, *rejected.path.parents) if path in folders), ()
    )
    return max(candidates, key=lambda folder: folder.source == rejected.source, default=None)


def _folder_line(source: str, folder: Folder | None, view: Snapshot, has_rows: bool, is_used: bool) -> str:
    if folder is None:
        return source
    empty = "none eligible" if is_used else "no hooks"
    note = "" if has_rows else f"  ({empty})" if folder.real is not None else "  (absent)"
    return f"{source}  {printable_line(view.host.machine.short(folder.path))}{note}"


def _read_events_text(row: HookStatus) -> str:
    """Return the known events on one line. The text about unknown events is in another column."""
    return one_line(", ".join(row.events), 60) if row.events else subscribed_events_text(row)


def _hook_lines(row: HookStatus, name_width: int, event_width: int, view: Snapshot) -> list[str]:
    name = fit_to_width(one_line(row.hook.name), name_width)
    why = one_line(
        _not_ready_reason(row, view.host.machine.short)
        or _load_failure_text(row, view)
        or unsent_event_hint(row, view),
        300,
    )
    return row_with_text(
        f"  {state_word(view.display_state(row))}  {name}  "
        f"{fit_to_width(_read_events_text(row), event_width)}",
        "; ".join(filter(None, (row.denied_text, row.unread_text, why))),
    )


def _not_ready_reason(row: HookStatus, format_path: Callable[[Path], str] = str) -> str:
    """Return why a hook would not run; if it has no events, also those that the other dialect reads."""
    why = row.verdict.why(format_path)
    events_note = next(
        (difference for difference in row.dialect_differences if f": {READS_PREFIX}" in difference), ""
    )
    return f"{why}; {events_note}" if why and events_note else why


def _load_failure_text(row: HookStatus, view: Snapshot) -> str:
    """Return why a hook's file did not load, and how to retry; empty if it loads."""
    failed = view.failed_loads.get(row.hook)
    return "" if failed is None else f"{failed.why}; {retry_hint(row.hook.name)}"


def _rejected_word(rejected: RejectedHook) -> str:
    return fit_to_width("– ignored", 11) if rejected.ignored else _broken_word()


def _broken_word() -> str:
    text = fit_to_width("✗ no hook", 11)
    return click.style(text, fg="red") if colours_allowed() else text


def check_text(view: Snapshot, *, verbose: bool) -> str:
    """Return the text of `check`: the count of each state and every reason; `verbose`: each failed gate."""
    rows = view.inventory.hooks
    counts = [(state, [row for row in rows if view.display_state(row) is state]) for state in reversed(State)]
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
    shorten = view.host.machine.short
    lines += [f"  {printable_line(shorten(item.path))}: {one_line(item.reason, 300)}" for item in rejects]
    lines += orphan_setting_lines(view)
    return fold_text(lines)


STEP_SIGNS = {True: ("✓", "green"), False: ("✗", "red"), None: ("–", "bright_black")}


def why_chains_text(chains: Sequence[WhyChain]) -> str:
    """Return each chain's sentence and its steps, without steps that the first chain has too."""
    lines: list[str] = []
    for chain in chains:
        new = [step for step in chain.steps if chain is chains[0] or step not in chains[0].steps]
        lines += ["", *_chain_lines(chain, new)]
    return fold_text(lines[1:])


def _chain_lines(chain: WhyChain, steps: Sequence[WhyStep]) -> Iterator[str]:
    yield one_line(chain.sentence, 400)
    for step in steps:
        sign, colour = STEP_SIGNS[step.passed]
        sign = click.style(sign, fg=colour) if colours_allowed() else sign
        yield f"  {sign} {fit_to_width(step.title, 14)} {one_line(step.found, 300)}".rstrip()
        if step.fix and step is chain.first_failed and len(chain.next_steps) < 2:
            yield f"    → {one_line(step.fix, 300)}"
    if len(chain.next_steps) > 1:
        yield "Next steps, the easiest first:"
        yield from (f"  → {one_line(step, 300)}" for step in chain.next_steps)

"""The texts of the Packs screen: the list, one pack, a planned change, and changes on disk. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from hookscope.console.dialogs.edit_preview import diff_lines
from hookscope.console.keymap.active_keys import key_of, with_keys
from hookscope.console.theme.text_styles import (
    MUTED,
    STATE_STYLES,
    Sheet,
    keep_ends,
    keep_tail,
    safe_line,
    safe_paragraph,
)
from hookscope.model.hook_status import FixKind, Gate, State, gate_state
from hookscope.model.text import ago, one_line
from hookscope.storage.edits.masked_preview import MASKED_NOTE, hides_secrets, masked_preview
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.app.pack_manager import PackChanges, PackStatus
    from hookscope.app.snapshot import Snapshot
    from hookscope.hosts.source.facts import HandlerUses
    from hookscope.model.hook_status import HookStatus
    from hookscope.model.machine import Machine
    from hookscope.packs.index import InstalledPack
    from hookscope.packs.plan import PackChanged, PackPlan


HOOK_INDENT = 4  # cells that the details of a hook are indented
PACK_LABEL_WIDTH = 11  # cells of a label
MOST_DIFF_LINES = 400  # of one diff


def put_fact(sheet: Sheet, label: str, text: str) -> None:
    """Add `label  value`, with the value in its column."""
    sheet.put([(Content.styled(label, MUTED), PACK_LABEL_WIDTH)], safe_paragraph(text))


def put_hook(sheet: Sheet, row: HookStatus, uses: HandlerUses | None) -> None:
    """Add a hook's status, events, requirements, fixes, and what its source uses."""
    style = STATE_STYLES[row.state]
    events = row.events_text or "no events"
    head = Content.assemble((f"{style.glyph} {style.word}", style.style), "  ", safe_line(row.hook.name, 60))
    sheet.paragraph(Content.assemble(head, ("  receives ", MUTED), safe_paragraph(events)), 2)
    if row.hook.description:
        sheet.paragraph(safe_paragraph(row.hook.description).stylize(MUTED), 2 + HOOK_INDENT)
    for gate in row.verdict.gates:
        _put_gate(sheet, gate)
    for spec in row.hook.meta.install:
        sheet.paragraph(Content.assemble(("→ ", MUTED), remedy(spec, row)), 2 + HOOK_INDENT)
    if uses is not None:
        put_uses(sheet, uses, 2 + HOOK_INDENT)


def _put_gate(sheet: Sheet, gate: Gate) -> None:
    """Add a requirement, passed or failed; of other gates only failed ones."""
    if gate.passed is False and gate_state(gate) is not State.UNTRUSTED:
        text = safe_paragraph(gate.reason or f"{gate.name} failed")
        sheet.paragraph(Content.assemble(("✗ ", "$text-error"), f"{gate.name}: ", text), 2 + HOOK_INDENT)
    elif gate.needed and gate.kind.is_requirement:
        sign, style = ("✓ ", "$text-success") if gate.passed else ("– ", MUTED)
        needed = safe_paragraph(", ".join(gate.needed))
        sheet.paragraph(Content.assemble((sign, style), f"needs {gate.name}: ", needed), 2 + HOOK_INDENT)


def remedy(spec: Mapping[str, object], row: HookStatus) -> Content:
    """Return an installation step that the author names, and the requirements that it satisfies."""
    gates = [gate for gate in row.verdict.gates if gate.kind.fix is FixKind.PROGRAMS]
    missing = {name for gate in gates for name in gate.missing}
    bins = spec.get("bins")
    names = [str(name) for name in bins] if isinstance(bins, list) else []
    what = spec.get("package") or spec.get("repository") or spec.get("url") or spec.get("id") or ""
    label = spec.get("label")
    lacking = [name for name in names if name in missing]
    gives = f" provides {', '.join(names)}" if names else ""
    if lacking:
        gives += f" (missing here: {', '.join(lacking)})"
    elif names:
        gives += " (already present)"
    said = f" ({label})" if label else ""
    named = " ".join(filter(None, (str(spec.get("kind", "?")), str(what))))
    return Content.assemble(safe_paragraph(f"{named}{gives}{said}"), ("; never run automatically", MUTED))


def put_uses(sheet: Sheet, uses: HandlerUses, indent: int) -> None:
    """Add what the sources use."""
    for what, names in uses.descriptions:
        sheet.paragraph(
            Content.assemble((f"{what}: ", "$text-warning"), safe_paragraph(", ".join(names))), indent
        )


def put_diff(sheet: Sheet, preview: str) -> None:
    """Add the lines of a unified diff, except for its two header lines."""
    lines = preview.splitlines()[2:]
    for shown in diff_lines(lines[:MOST_DIFF_LINES]):
        sheet.paragraph(shown, 2)
    if len(lines) > MOST_DIFF_LINES:
        sheet.paragraph(Content.styled(f"and {len(lines) - MOST_DIFF_LINES:,} more lines", MUTED), 2)


MOST_PACK_FILES = 200  # files that are listed
INTEGRITY_WORDS = {
    "as installed": ("✓ as installed", "$text-success"),
    "changed": ("✗ changed", "$text-error"),
    "gone": ("✗ missing", "$text-error"),
}


@dataclass(frozen=True, slots=True)
class PackRow:
    """One pack of the list."""

    status: PackStatus
    newer: str = ""  # update status; empty: unknown

    @property
    def id(self) -> str:
        return self.status.record.id


@dataclass(frozen=True, slots=True)
class PackUses:
    """What the sources of a pack use, by the folder of a hook."""

    uses: Mapping[Path, HandlerUses] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def install_kind(record: InstalledPack) -> str:
    """Return how a pack was installed: copied from where, linked, or pinned."""
    return "linked" if record.linked is not None else "pinned" if record.pinned else record.source


def pack_line(row: PackRow, rows: Sequence[PackRow], width: int) -> Content:
    """Return name, version, source, hooks, integrity, and the known update."""
    record = row.status.record
    told = max((cell_len(_update_cell(one).plain) for one in rows), default=0)
    names = min(max((cell_len(one_line(one.id)) for one in rows), default=0), max(10, width - 52 - told))
    versions = min(max((cell_len(one_line(one.status.record.version)) for one in rows), default=1), 12)
    word, style = INTEGRITY_WORDS[row.status.integrity.state]
    hooks = f"{len(record.hooks)} hook{'s' * (len(record.hooks) != 1)}"
    parts = [
        _fit_cell(Content(keep_ends(one_line(record.id), names)), names),
        _fit_cell(
            Content(keep_ends(one_line(record.version) or "–", versions)).stylize(MUTED), max(1, versions)
        ),
        _fit_cell(Content.styled(install_kind(record), MUTED), 7),
        _fit_cell(Content.styled(hooks, MUTED), 8),
        _fit_cell(Content.styled(word, style), 15),
        _update_cell(row),
    ]
    return Content("  ").join(parts).truncate(width, ellipsis=True)


def _fit_cell(text: Content, width: int) -> Content:
    return text.truncate(width, ellipsis=True, pad=True)


def _update_cell(row: PackRow) -> Content:
    known = row.newer
    if row.status.record.linked is not None:  # the source column already shows it
        return Content()
    if known in ("", "newest"):
        return Content.styled(known, MUTED)
    return Content.styled(f"→ {one_line(known, 30)}", "$text-warning")


def hooks_of_pack(record: InstalledPack, view: Snapshot) -> tuple[HookStatus, ...]:
    """Return the pack's hooks from the last scan."""
    roots = [record.linked] if record.linked is not None else [*record.folders]
    found = [row for row in view.inventory.hooks if row.hook.path is not None]
    return tuple(row for row in found if any(_hook_lies_in(row, root) for root in roots))


def _hook_lies_in(row: HookStatus, root: Path) -> bool:
    places = (row.hook.path, row.hook.real)
    return any(place is not None and place.is_relative_to(root) for place in places)


def pack_sheet(row: PackRow, view: Snapshot, inside: PackUses | None, width: int, now: datetime) -> Content:
    """Return everything that is known of a pack."""
    sheet, record = Sheet(width), row.status.record
    short = view.host.machine.short
    word, style = INTEGRITY_WORDS[row.status.integrity.state]
    named = safe_line(f"{record.id} {record.version}".strip(), 80).stylize("bold")
    sheet.paragraph(Content.assemble(named, "   ", (word, style)))
    _put_changes(sheet, row, view)
    sheet.blank()
    here = record.source in ("folder", "archive")
    put_fact(sheet, "from", f"{install_kind(record)} {short(Path(record.spec)) if here else record.origin}")
    if not here:
        put_fact(sheet, "resolved", record.resolved)
    put_fact(sheet, "integrity", keep_ends(record.integrity, sheet.width - PACK_LABEL_WIDTH - 1))
    put_fact(sheet, "installed", f"{ago(record.at, now)}, for {record.dialect}")
    put_fact(sheet, "update", row.newer or with_keys("unknown: {packs.check} checks the source"))
    sheet.title(f"Hooks {len(record.hooks)}")
    stands = hooks_of_pack(record, view)
    for one in stands:
        put_hook(sheet, one, _uses_of(one, inside))
    listed = {one.hook.name for one in stands}
    for name in record.hooks:
        if name not in listed:
            sheet.paragraph(safe_paragraph(f"{name}: no longer found").stylize("$text-error"), 2)
    if inside is not None:
        for root in [record.linked] if record.linked is not None else record.folders:
            if root in inside.uses and not any(one.hook.path == root for one in stands):
                put_uses(sheet, inside.uses[root], 2)
        for text in inside.unread:
            sheet.paragraph(safe_paragraph(text).stylize(MUTED), 2)
    _put_files(sheet, record, view)
    sheet.title("Settings", short(record.settings_file))
    for setting in record.settings:
        sheet.paragraph(safe_paragraph(setting.setting.meaning), 2)
    if not record.settings:
        sheet.paragraph(Content.styled("none", MUTED), 2)
    return sheet.content()


def _uses_of(row: HookStatus, inside: PackUses | None) -> HandlerUses | None:
    if inside is None:
        return None
    places = (row.hook.path, row.hook.real)
    return next((inside.uses[place] for place in places if place is not None and place in inside.uses), None)


def _put_changes(sheet: Sheet, row: PackRow, view: Snapshot) -> None:
    disk = row.status.integrity
    if disk.state != "changed":
        return
    sheet.title("Changed on disk since the install", with_keys("{packs.diff} shows the diff"))
    for sign, word, paths in (
        ("~", "changed", disk.changed),
        ("-", "missing", disk.missing),
        ("+", "added", disk.added),
    ):
        for path in paths[:20]:
            shown = keep_tail(safe_paragraph(view.host.machine.short(path)), sheet.width - 14)
            sheet.paragraph(Content.assemble((f"{sign} {word}  ", "$text-warning"), shown), 2)
        if len(paths) > 20:
            sheet.paragraph(Content.styled(f"and {len(paths) - 20:,} more {word}", MUTED), 2)


def _put_files(sheet: Sheet, record: InstalledPack, view: Snapshot) -> None:
    count = sum(len(files) for files in record.folders.values())
    if record.linked is not None:
        sheet.title("Linked", "nothing copied")
        sheet.paragraph(keep_tail(safe_paragraph(view.host.machine.short(record.linked)), sheet.width - 2), 2)
        return
    sheet.title(f"Files {count:,}")
    left = MOST_PACK_FILES
    for folder, files in record.folders.items():
        sheet.paragraph(keep_tail(safe_paragraph(view.host.machine.short(folder)), sheet.width - 2), 2)
        for path in list(files)[:left]:
            sheet.paragraph(keep_tail(safe_paragraph(path).stylize(MUTED), sheet.width - 4), 4)
        left = max(0, left - len(files))
    if count > MOST_PACK_FILES:
        sheet.paragraph(Content.styled(f"and {count - MOST_PACK_FILES:,} more", MUTED), 2)


FILE_SIGNS = {
    "add": ("+", "$text-success"),
    "replace": ("~", "$text-warning"),
    "remove": ("-", "$text-error"),
}
MOST_PLANNED_FILES = 200  # files that are listed
NO_DIFFS: Mapping[Path, str] = {}


def plan_title(planned: PackPlan, number: str = "") -> str:
    """Return the question, such as `Install greetings 1.0.0?`."""
    verb = {"install": "Install", "update": "Update", "uninstall": "Remove"}[planned.action]
    record = planned.after or planned.before
    version = record.version if record is not None else ""
    return f"{verb} {one_line(f'{planned.id} {version}'.strip(), 50)}?{number}"


def pack_plan_sheet(
    planned: PackPlan, machine: Machine, width: int, diffs: Mapping[Path, str] = NO_DIFFS
) -> Content:
    """Return the plan as `--dry-run` shows it. `diffs`: the diffs of replaced files, by path."""
    sheet = Sheet(width)
    _put_origin(sheet, planned, machine)
    for path in planned.on_disk.files_to_keep[:MOST_PLANNED_FILES]:
        kept = safe_paragraph(f"! changed since the install, a copy is kept: {machine.short(path)}")
        sheet.paragraph(kept.stylize("$text-warning"))
    if planned.hooks:
        sheet.title("Hooks")
        for hook in planned.hooks:
            put_hook(sheet, hook.row, hook.uses)
            for note in hook.row.notes:
                sheet.paragraph(safe_paragraph(note).stylize(MUTED), 2 + HOOK_INDENT)
            if hook.row.hook.folder.trusted:
                warned = Content.styled("Its folder is trusted, so it may run", "$text-warning")
                sheet.paragraph(warned, 2 + HOOK_INDENT)
        put_uses(sheet, planned.shared_uses, 2)
    if planned.dependency_ranges:
        sheet.paragraph(
            safe_paragraph(f"depends on {', '.join(planned.dependency_ranges)} ({planned.dependency_note})"),
            2,
        )
    for note in planned.notes:
        sheet.paragraph(safe_paragraph(note).stylize(MUTED), 2)
    _put_planned_files(sheet, planned, machine)
    _put_settings(sheet, planned, machine)
    for path, diff in diffs.items():
        sheet.title(path.name, machine.short(path.parent))
        put_diff(sheet, diff)
    return sheet.content()


def failed_integrity_sheet(planned: PackPlan, machine: Machine, width: int) -> Content:
    """Return the files that fail the integrity check and would be overwritten."""
    sheet = Sheet(width)
    if planned.drift:
        sheet.paragraph(Content.assemble(("✗ ", "$text-error"), safe_paragraph(planned.drift)))
    disk = planned.on_disk
    for word, paths in (("changed", disk.changed), ("missing", disk.missing), ("added", disk.added)):
        for path in paths[:MOST_PLANNED_FILES]:
            shown = keep_tail(safe_paragraph(machine.short(path)), sheet.width - 12)
            sheet.paragraph(Content.assemble((f"{word}  ", "$text-warning"), shown))
    if disk.files_to_keep:
        sheet.paragraph(Content.styled("Copies of changed and added files are kept.", MUTED))
    return sheet.content()


def _origin_text(record: InstalledPack, origin: str, machine: Machine) -> str:
    """Return the source of a pack: a short path, or what a registry resolved."""
    is_local = record.source in ("folder", "archive")
    return f"{record.source} {machine.short(Path(record.spec)) if is_local else origin}"


def _put_origin(sheet: Sheet, planned: PackPlan, machine: Machine) -> None:
    before, after = planned.before, planned.after
    if planned.drift:
        sheet.paragraph(Content.assemble(("✗ ", "$text-error"), safe_paragraph(planned.drift)))
    if after is None:
        if before is not None:
            put_fact(sheet, "from", _origin_text(before, before.origin, machine))
        return
    if before is not None:
        put_fact(sheet, "now", before.version or before.resolved)
    how = ", linked: nothing is copied" if after.linked is not None else ", pinned" if after.pinned else ""
    put_fact(sheet, "from", _origin_text(after, after.resolved, machine) + how)
    put_fact(sheet, "integrity", after.integrity)


def _put_planned_files(sheet: Sheet, planned: PackPlan, machine: Machine) -> None:
    from hookscope.packs.package_checks import size_in_words

    if planned.files:
        total = sum(file.size for file in planned.files)
        sheet.title(f"Files {len(planned.files):,}", size_in_words(total) if total else "")
    shown = [file for file in planned.files if file.action != "same"]
    for file in shown[:MOST_PLANNED_FILES]:
        sign, style = FILE_SIGNS[file.action]
        runs = "  executable" if file.runnable else ""
        size = f"  {size_in_words(file.size)}{runs}" if file.action != "remove" else ""
        path = keep_tail(safe_paragraph(machine.short(file.path)), sheet.width - len(size) - 4)
        sheet.paragraph(Content.assemble((f"{sign} ", style), path, (size, MUTED)), 2)
    same = len(planned.files) - len(shown)
    if len(shown) > MOST_PLANNED_FILES:
        sheet.paragraph(Content.styled(f"and {len(shown) - MOST_PLANNED_FILES:,} more", MUTED), 2)
    if same:
        sheet.paragraph(Content.styled(f"{same:,} unchanged", MUTED), 2)
    if planned.excluded:
        sheet.paragraph(safe_paragraph(f"excluded: {', '.join(planned.excluded)}").stylize(MUTED), 2)


def _put_settings(sheet: Sheet, planned: PackPlan, machine: Machine) -> None:
    preview = masked_preview(planned.change)
    sheet.title("Settings", machine.short(planned.change.path))
    if preview:
        put_diff(sheet, preview)
    else:
        sheet.paragraph(Content.styled("no changes", MUTED), 2)
    if hides_secrets(planned.change):
        sheet.paragraph(Content.styled(MASKED_NOTE, MUTED), 2)
    for other in planned.other_effects:
        counts_by_style = (STATE_STYLES[other.before], STATE_STYLES[other.after])
        parts = [Content.styled(f"{style.glyph} {style.word}", style.style) for style in counts_by_style]
        named = Content.assemble("also ", safe_line(other.name, 60), f" ({other.source}): ")
        sheet.paragraph(Content.assemble(named, parts[0], " → ", parts[1]), 2)


def done_text(done: PackChanged) -> str:
    """Return what was written, and the next step."""
    planned = done.plan
    record = done.record or planned.before
    verb = {"install": "installed", "update": "updated", "uninstall": "removed"}[planned.action]
    text = f"{one_line(f'{planned.id} {record.version}'.strip() if record else planned.id)} {verb}."
    if done.kept_folder is not None:
        count = len(planned.on_disk.files_to_keep)
        text += f" {count} changed file{'s were' if count != 1 else ' was'} kept in {done.kept_folder}."
    waiting = [hook.name for hook in planned.hooks if hook.row.state is State.UNTRUSTED]
    if planned.action == "install":
        text += with_keys(" {packs.remove} reverts it.")
    if waiting:
        names, key = one_line(", ".join(waiting), 120), key_of("hooks.trust")
        text += f" {names}: untrusted. Press {key} in the hook list to trust the folder."
    return text


def pack_changes_sheet(compared: PackChanges, machine: Machine, width: int) -> Content:
    """Return a diff for each changed file, or why there is none."""
    sheet = Sheet(width)
    if compared.problem:
        sheet.paragraph(Content.assemble(("✗ ", "$text-error"), safe_paragraph(compared.problem)))
    if not compared.files:
        sheet.paragraph(Content("Nothing has changed since the install."))
    for file in compared.files:
        sheet.blank()
        path = keep_tail(safe_paragraph(machine.short(file.path)), sheet.width - 10)
        sheet.paragraph(Content.assemble((f"{file.state}  ", "$text-warning"), path))
        if file.change is not None:
            put_diff(sheet, file.change.preview())
        else:
            sheet.paragraph(safe_paragraph(file.why).stylize(MUTED), 2)
    return sheet.content()

"""An install, update or removal as it would be: everything that would be written, what it can do. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.cutting import tail
from hookscope.console.keymap.hints import key_of, with_keys
from hookscope.console.packs.parts import DEEP, diff_part, fact, hook_part, uses_part
from hookscope.console.sheet import Sheet, foreign
from hookscope.console.text import line
from hookscope.console.theme import LOOKS, MUTED
from hookscope.core.standing import State
from hookscope.core.text import one_line
from hookscope.workbench.shown import NOTE, masks, preview_of

if TYPE_CHECKING:
    from pathlib import Path

    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench.packs.planned import Done, Planned

SIGNS = {"add": ("+", "$text-success"), "replace": ("~", "$text-warning"), "remove": ("-", "$text-error")}
MOST = 200  # files that are listed
NO_DIFFS: Mapping[Path, str] = {}


def title_of(planned: Planned, number: str = "") -> str:
    """The question: `Install greetings 1.0.0?`."""
    verb = {"install": "Install", "update": "Update", "uninstall": "Remove"}[planned.action]
    record = planned.after or planned.before
    version = record.version if record is not None else ""
    return f"{verb} {one_line(f'{planned.id} {version}'.strip(), 50)}?{number}"


def plan_sheet(
    planned: Planned, surroundings: Surroundings, width: int, diffs: Mapping[Path, str] = NO_DIFFS
) -> Content:
    """As `--dry-run` shows it. `diffs`: of files that are replaced."""
    sheet = Sheet(width)
    _origin(sheet, planned)
    for path in planned.on_disk.to_keep[:MOST]:
        kept = foreign(f"! changed on disk since, a copy is kept: {surroundings.short(path)}")
        sheet.say(kept.stylize("$text-warning"))
    if planned.hooks:
        sheet.title("Hooks")
        for hook in planned.hooks:
            hook_part(sheet, hook.row, hook.uses)
            for note in hook.row.notes:
                sheet.say(foreign(note).stylize(MUTED), 2 + DEEP)
            if hook.row.hook.folder.trusted:
                warned = Content.styled(
                    "Hookscope runs it without asking: its folder is trusted", "$text-warning"
                )
                sheet.say(warned, 2 + DEEP)
        uses_part(sheet, planned.shared, 2)
    if planned.needs:
        sheet.say(foreign(f"depends on {', '.join(planned.needs)} ({planned.comes})"), 2)
    for note in planned.notes:
        sheet.say(foreign(note).stylize(MUTED), 2)
    _files(sheet, planned, surroundings)
    _settings(sheet, planned, surroundings)
    for path, diff in diffs.items():
        sheet.title(path.name, surroundings.short(path.parent))
        diff_part(sheet, diff)
    return sheet.content()


def unaccepted_sheet(planned: Planned, surroundings: Surroundings, width: int) -> Content:
    """Return what fails its integrity check and would be installed over."""
    sheet = Sheet(width)
    if planned.drift:
        sheet.say(Content.assemble(("✗ ", "$text-error"), foreign(planned.drift)))
    disk = planned.on_disk
    for word, paths in (("changed", disk.changed), ("missing", disk.missing), ("added", disk.added)):
        for path in paths[:MOST]:
            shown = tail(foreign(surroundings.short(path)), sheet.width - 12)
            sheet.say(Content.assemble((f"{word}  ", "$text-warning"), shown))
    if disk.to_keep:
        sheet.say(Content.styled("Copies of changed and added files are kept.", MUTED))
    return sheet.content()


def _origin(sheet: Sheet, planned: Planned) -> None:
    before, after = planned.before, planned.after
    if planned.drift:
        sheet.say(Content.assemble(("✗ ", "$text-error"), foreign(planned.drift)))
    if after is None:
        if before is not None:
            fact(sheet, "from", f"{before.source} {before.origin}")
        return
    if before is not None:
        fact(sheet, "now", before.version or before.resolved)
    how = ", linked: nothing is copied" if after.linked is not None else ", pinned" if after.pinned else ""
    fact(sheet, "from", f"{after.source} {after.resolved}{how}")
    fact(sheet, "integrity", after.integrity)


def _files(sheet: Sheet, planned: Planned, surroundings: Surroundings) -> None:
    from hookscope.workbench.packs.planned import size_in_words  # here: the first paint does without

    if planned.files:
        total = sum(file.size for file in planned.files)
        sheet.title(f"Files {len(planned.files):,}", size_in_words(total) if total else "")
    shown = [file for file in planned.files if file.action != "same"]
    for file in shown[:MOST]:
        sign, style = SIGNS[file.action]
        runs = "  may be run" if file.runnable else ""
        size = f"  {size_in_words(file.size)}{runs}" if file.action != "remove" else ""
        path = tail(foreign(surroundings.short(file.path)), sheet.width - len(size) - 4)
        sheet.say(Content.assemble((f"{sign} ", style), path, (size, MUTED)), 2)
    same = len(planned.files) - len(shown)
    if len(shown) > MOST:
        sheet.say(Content.styled(f"and {len(shown) - MOST:,} more", MUTED), 2)
    if same:
        sheet.say(Content.styled(f"{same:,} stay as they are", MUTED), 2)
    if planned.left_out:
        sheet.say(foreign(f"left out: {', '.join(planned.left_out)}").stylize(MUTED), 2)


def _settings(sheet: Sheet, planned: Planned, surroundings: Surroundings) -> None:
    preview = preview_of(planned.change)
    sheet.title("Settings", surroundings.short(planned.change.path))
    if preview:
        diff_part(sheet, preview)
    else:
        sheet.say(Content.styled("nothing changes", MUTED), 2)
    if masks(planned.change):
        sheet.say(Content.styled(NOTE, MUTED), 2)
    for other in planned.others:
        looks = (LOOKS[other.before], LOOKS[other.after])
        parts = [Content.styled(f"{look.glyph} {look.word}", look.style) for look in looks]
        named = Content.assemble("also ", line(other.name, 60), f" ({other.source}): ")
        sheet.say(Content.assemble(named, parts[0], " → ", parts[1]), 2)


def done_text(done: Done) -> str:
    """What was written, and the next step."""
    planned = done.planned
    record = done.record or planned.before
    verb = {"install": "installed", "update": "updated", "uninstall": "removed"}[planned.action]
    text = f"{one_line(f'{planned.id} {record.version}'.strip() if record else planned.id)} {verb}."
    if done.kept is not None:
        count = len(planned.on_disk.to_keep)
        text += f" {count} changed file{'s were' if count != 1 else ' was'} kept in {done.kept}."
    waiting = [hook.name for hook in planned.hooks if hook.row.state is State.UNTRUSTED]
    if planned.action == "install":
        text += with_keys(" {packs.remove} takes exactly that back.")
    if waiting:
        text += f" {one_line(', '.join(waiting), 120)}: untrusted, {key_of('hooks.trust')} in the list asks."
    return text

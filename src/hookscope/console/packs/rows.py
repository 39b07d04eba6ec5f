"""The list of packs and the sheet of one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.content import Content

from hookscope.console.cutting import middle, tail
from hookscope.console.keymap.hints import with_keys
from hookscope.console.packs.parts import LABEL, fact, hook_part, uses_part
from hookscope.console.sheet import Sheet, foreign
from hookscope.console.text import line
from hookscope.console.theme import MUTED
from hookscope.core.text import lasting, one_line
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.core.standing import Standing
    from hookscope.workbench import View
    from hookscope.workbench.packs.desk import PackStatus
    from hookscope.workbench.packs.planned import Record, Uses

LINKED = "used as it is"
MOST = 200  # files that are listed
STANDS = {
    "as installed": ("✓ as installed", "$text-success"),
    "changed": ("✗ changed since", "$text-error"),
    "gone": ("✗ gone", "$text-error"),
}


@dataclass(frozen=True, slots=True)
class PackRow:
    """One pack of the list."""

    status: PackStatus
    newer: str = ""  # what is known of an update; empty: nothing

    @property
    def id(self) -> str:
        return self.status.record.id


@dataclass(frozen=True, slots=True)
class Inside:
    """What the sources of a pack use, by the folder of a hook."""

    uses: Mapping[Path, Uses] = field(default_factory=dict)
    unread: tuple[str, ...] = ()


def how_word(record: Record) -> str:
    """Copied from where, linked, or pinned."""
    return "linked" if record.linked is not None else "pinned" if record.pinned else record.source


def row_line(row: PackRow, rows: Sequence[PackRow], width: int) -> Content:
    """Name, version, source, hooks, how it stands on disk, what is known of an update."""
    record = row.status.record
    told = max((cell_len(_newer(one.newer).plain) for one in rows), default=0)
    names = min(max((cell_len(one_line(one.id)) for one in rows), default=0), max(10, width - 52 - told))
    versions = min(max((cell_len(one_line(one.status.record.version)) for one in rows), default=1), 12)
    word, style = STANDS[row.status.on_disk.word]
    hooks = f"{len(record.hooks)} hook{'s' * (len(record.hooks) != 1)}"
    parts = [
        _fit(Content(middle(one_line(record.id), names)), names),
        _fit(Content(middle(one_line(record.version) or "–", versions)).stylize(MUTED), max(1, versions)),
        _fit(Content.styled(how_word(record), MUTED), 7),
        _fit(Content.styled(hooks, MUTED), 8),
        _fit(Content.styled(word, style), 15),
        _newer(row.newer),
    ]
    return Content("  ").join(parts).truncate(width, ellipsis=True)


def _fit(text: Content, width: int) -> Content:
    return text.truncate(width, ellipsis=True, pad=True)


def _newer(known: str) -> Content:
    if known == LINKED:  # the source says so already
        return Content()
    if known in ("", "newest"):
        return Content.styled(known, MUTED)
    return Content.styled(f"→ {one_line(known, 30)}", "$text-warning")


def rows_of_pack(record: Record, view: View) -> tuple[Standing, ...]:
    """Its hooks as the last look saw them."""
    roots = [record.linked] if record.linked is not None else [*record.folders]
    found = [row for row in view.inventory.hooks if row.hook.path is not None]
    return tuple(row for row in found if any(_lies_in(row, root) for root in roots))


def _lies_in(row: Standing, root: Path) -> bool:
    places = (row.hook.path, row.hook.real)
    return any(place is not None and place.is_relative_to(root) for place in places)


def pack_sheet(row: PackRow, view: View, inside: Inside | None, width: int, now: datetime) -> Content:
    """Everything that is known of one."""
    sheet, record = Sheet(width), row.status.record
    short = view.host.surroundings.short
    word, style = STANDS[row.status.on_disk.word]
    named = line(f"{record.id} {record.version}".strip(), 80).stylize("bold")
    sheet.say(Content.assemble(named, "   ", (word, style)))
    _changed(sheet, row, view)
    sheet.blank()
    age = lasting((now - record.at).total_seconds())
    here = record.source in ("folder", "archive")
    fact(sheet, "from", f"{how_word(record)} {short(Path(record.spec)) if here else record.origin}")
    if not here:
        fact(sheet, "exactly", record.resolved)
    fact(sheet, "integrity", middle(record.integrity, sheet.width - LABEL - 1))
    fact(sheet, "installed", f"{age} ago, for {record.dialect}")
    fact(sheet, "update", row.newer or with_keys("not known: {packs.check} asks the source"))
    sheet.title(f"Hooks {len(record.hooks)}")
    stands = rows_of_pack(record, view)
    for one in stands:
        hook_part(sheet, one, _uses_of(one, inside))
    listed = {one.hook.name for one in stands}
    for name in record.hooks:
        if name not in listed:
            sheet.say(foreign(f"{name}: no look finds it now").stylize("$text-error"), 2)
    if inside is not None:
        for root in [record.linked] if record.linked is not None else record.folders:
            if root in inside.uses and not any(one.hook.path == root for one in stands):
                uses_part(sheet, inside.uses[root], 2)
        for text in inside.unread:
            sheet.say(foreign(text).stylize(MUTED), 2)
    _files(sheet, record, view)
    sheet.title("Settings", short(record.settings_file))
    for setting in record.settings:
        sheet.say(foreign(setting.wanted.meaning), 2)
    if not record.settings:
        sheet.say(Content.styled("nothing was set", MUTED), 2)
    return sheet.content()


def _uses_of(row: Standing, inside: Inside | None) -> Uses | None:
    if inside is None:
        return None
    places = (row.hook.path, row.hook.real)
    return next((inside.uses[place] for place in places if place is not None and place in inside.uses), None)


def _changed(sheet: Sheet, row: PackRow, view: View) -> None:
    disk = row.status.on_disk
    if disk.word != "changed":
        return
    sheet.title("Changed on disk since", with_keys("{packs.diff} shows it"))
    for sign, word, paths in (
        ("~", "changed", disk.changed),
        ("-", "missing", disk.missing),
        ("+", "added", disk.added),
    ):
        for path in paths[:20]:
            shown = tail(foreign(view.host.surroundings.short(path)), sheet.width - 14)
            sheet.say(Content.assemble((f"{sign} {word}  ", "$text-warning"), shown), 2)
        if len(paths) > 20:
            sheet.say(Content.styled(f"and {len(paths) - 20:,} more {word}", MUTED), 2)


def _files(sheet: Sheet, record: Record, view: View) -> None:
    count = sum(len(files) for files in record.folders.values())
    if record.linked is not None:
        sheet.title("Linked", "nothing was copied")
        sheet.say(tail(foreign(view.host.surroundings.short(record.linked)), sheet.width - 2), 2)
        return
    sheet.title(f"Files {count:,}")
    left = MOST
    for folder, files in record.folders.items():
        sheet.say(tail(foreign(view.host.surroundings.short(folder)), sheet.width - 2), 2)
        for path in list(files)[:left]:
            sheet.say(tail(foreign(path).stylize(MUTED), sheet.width - 4), 4)
        left = max(0, left - len(files))
    if count > MOST:
        sheet.say(Content.styled(f"and {count - MOST:,} more", MUTED), 2)

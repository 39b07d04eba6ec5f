"""Which of several files of one name wins. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual.content import Content

from hookscope.console.sheet import Sheet, foreign
from hookscope.console.theme import MUTED
from hookscope.core.inventory import Rejected
from hookscope.core.standing import Standing
from hookscope.values import dataclass

if TYPE_CHECKING:
    from hookscope.workbench import View


@dataclass(frozen=True, slots=True)
class Copy:
    """One of several things of one name."""

    rank: int
    source: str
    path: Path | None
    item: Standing | Rejected


def which_wins(sheet: Sheet, row: Standing | Rejected, view: View) -> None:
    """All of that name in order of precedence, and what becomes of each."""
    name = row.hook.name if isinstance(row, Standing) else row.name
    copies = copies_of(name, view)
    if not copies or (isinstance(row, Rejected) and len(copies) == 1):
        return
    winner = next((n for n, copy in enumerate(copies, 1) if _wins(copy)), None)
    sheet.title("Which file wins")
    for number, copy in enumerate(copies, 1):
        here = copy.item is row
        head = Content.styled(f" {'▸' if here else ' '} {number} {copy.source}", "bold" if here else MUTED)
        path = view.host.surroundings.short(copy.path) if copy.path else "registered by code"
        fate = _fate(copy, winner, len(copies))
        body = Content.assemble(foreign(path), "   ", foreign(fate).stylize(MUTED))
        sheet.put([(head, 16)], body if here else body.stylize(MUTED))


def copies_of(name: str, view: View) -> list[Copy]:
    """All of that name, the winner's folder first."""
    ranks = {folder.source: folder.rank for folder in view.host.folders}
    found = [
        Copy(item.hook.folder.rank, item.hook.folder.source, item.hook.path, item)
        if isinstance(item, Standing)
        else Copy(ranks.get(item.source, -1), item.source, item.path, item)
        for item in view.named.get(name, ())
    ]
    return sorted(found, key=lambda copy: (-copy.rank, not _wins(copy)))


def _wins(copy: Copy) -> bool:
    return isinstance(copy.item, Standing) and copy.item.verdict.shadowed_by is None


def _fate(copy: Copy, winner: int | None, count: int) -> str:
    if isinstance(copy.item, Rejected):
        return f"does not count: {copy.item.reason}"
    if copy.item.verdict.shadowed_by is not None:
        return f"shadowed by {winner}" if winner else "shadowed"
    return "the only one" if count == 1 else "this one wins"

"""The matrix: a row a hook, a column a host, and what differs. Pure."""

from __future__ import annotations

from textual.content import Content

from hookscope.console.cutting import middle
from hookscope.console.marks import cells, fitted, word
from hookscope.console.theme import LOOKS, MUTED, NO_HOOK, Look
from hookscope.core.side.model import ABSENT, Cell, Comparison, Line
from hookscope.core.standing import State
from hookscope.values import dataclass

NOT_LOOKED = Look("–", "absent", MUTED, "is not looked for")
PYTHON = Look("◐", "not run", "$text-secondary", "would be run by Hookscope only")
STATE = 11  # cells of a sign and the longest word
SOURCE = 10
SAID = 20  # cells that are kept for what differs, where there are that many
GAP = 1


@dataclass(frozen=True, slots=True)
class Columns:
    """How wide each column is."""

    name: int
    cell: int
    said: int  # 0: no room to say what differs


def columns_of(comparison: Comparison, width: int) -> Columns:
    """Name, states, sources where there is room, and the rest for what differs."""
    hosts = len(comparison.sides)
    longest = max((cells(line.name) for line in comparison.lines), default=4)
    name = max(8, min(longest, 24, width // 4))
    room = max(width - name - GAP, 0)
    titles = max(len(side.name) for side in comparison.sides)
    for cell in (max(titles, STATE + SOURCE), max(min(titles, 16), STATE), STATE):
        left = room - hosts * (cell + GAP)
        if left >= SAID:
            return Columns(name, cell, left)
    cell = max(min(STATE, room // hosts - GAP), 1)
    left = room - hosts * (cell + GAP)
    return Columns(name, cell, left if left >= SAID // 2 else 0)


def heading(comparison: Comparison, columns: Columns) -> Content:
    """The names of the hosts over their columns."""
    hosts = [fitted(middle(side.name, columns.cell), columns.cell) for side in comparison.sides]
    said = [fitted("what differs", columns.said)] if columns.said else []
    return Content(" " * GAP).join([fitted("hook", columns.name), *hosts, *said]).stylize(MUTED)


def row(line: Line, columns: Columns) -> Content:
    """One hook."""
    states = [_cell(cell, columns.cell) for cell in line.cells]
    said = []
    if columns.said:
        texts = "; ".join(dict.fromkeys(word(one.text, 200) for one in line.differs))
        said = [fitted(texts or "alike", columns.said, MUTED)]
    return Content(" " * GAP).join([fitted(word(line.name), columns.name), *states, *said])


def look_of(cell: Cell) -> Look:
    """How a hook stands at one host, for eyes."""
    if cell.row is None:
        return NOT_LOOKED if cell.state == ABSENT else NO_HOOK
    if cell.state in (State.READY, State.SILENT) and not cell.host_runs:
        return PYTHON
    return LOOKS[State(cell.state)]


def _cell(cell: Cell, width: int) -> Content:
    look = look_of(cell)
    state = fitted(f"{look.glyph} {look.word}", min(STATE, width), look.style)
    if width < STATE + SOURCE - 1:
        return Content.assemble(state, " " * (width - min(STATE, width)))
    return Content.assemble(state, fitted(word(cell.source), width - STATE, MUTED))

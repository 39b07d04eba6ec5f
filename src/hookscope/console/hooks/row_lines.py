"""The lines of the list of hooks: columns, headings, one hook in one line. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from textual.content import Content

from hookscope.console.cutting import cells_of, fit, tail
from hookscope.console.hooks.rows import WORDS, Group, Grouping, Row
from hookscope.console.keymap.hints import with_keys
from hookscope.console.text import line
from hookscope.console.theme import FAINT, MUTED, WORD_WIDTH
from hookscope.core.standing import State
from hookscope.values import dataclass

GAP = "  "
POINTER, NO_POINTER = "▸ ", "  "
COUNT = 3  # cells of a number of reasons
ROOM_FOR_WORDS = 14  # cells; with less, reasons are only counted
TRUSTS = "{hooks.trust} trusts it"  # shorter than its gate says it, which names a command
HEARD = 15  # cells that the events keep where reasons want room: one key


@dataclass(frozen=True, slots=True)
class Columns:
    """The widths of a line's parts in cells. 0: left out."""

    name: int
    events: int
    source: int
    why: int


def columns_for(width: int, rows: Iterable[Row], grouping: Grouping) -> Columns:
    """Widths that fill `width` cells: names first, then events, the rest for the reason."""
    rows = tuple(rows)  # may be thousands: none is asked by a call
    free = max(0, width - len(POINTER) - WORD_WIDTH - len(GAP))
    source = 9 if grouping != "source" and free >= 44 else 0
    if source:
        free -= source + len(GAP)
    names = max(map(attrgetter("name_cells"), rows), default=20)  # the headings of an empty list have room
    heard = max(map(attrgetter("heard_cells"), rows), default=20)
    if free < 26:
        return Columns(free, 0, source, 0)
    room = free - 2 * len(GAP) - COUNT  # for names and events
    events = min(max(6, heard), max(8, room * 48 // 100, room - names), 30)
    name = min(max(4, names), room - events, 34)
    why = free - name - events - 2 * len(GAP)
    wanted = max(map(attrgetter("why_cells"), rows), default=0)
    lent = min(
        max(0, min(WORDS, max(ROOM_FOR_WORDS, wanted)) - why), max(0, events - HEARD)
    )  # a reason says more than a second event
    if why + lent >= ROOM_FOR_WORDS and any(map(attrgetter("why"), rows)):
        events, why = events - lent, why + lent
    return Columns(name, events, source, why)


def heading_line(columns: Columns) -> Content:
    """The names of the columns."""
    parts: list[Content | str] = [NO_POINTER, fit("hook", columns.name)]
    if columns.events:
        parts += [GAP, fit("events", columns.events)]
    if columns.source:
        parts += [GAP, fit("source", columns.source)]
    parts += [GAP, fit("state", WORD_WIDTH)]
    if columns.why:
        parts += [GAP, "why" if columns.why >= 3 else ""]
    return Content.assemble(*parts).stylize(MUTED)


def row_line(row: Row, columns: Columns, pointed: bool = False, *, keys: bool = True) -> Content:
    """One hook in one line. `keys`: it may name some, being on the screen."""
    off = row.state in (State.OFF, State.SHADOWED)
    parts: list[Content | str] = [
        POINTER if pointed else NO_POINTER,
        fit(row.name, columns.name).stylize(MUTED if off else ""),
    ]
    if columns.events:
        parts += [GAP, fit(row.heard or "–", columns.events).stylize(MUTED)]
    if columns.source:
        parts += [GAP, fit(row.source, columns.source).stylize(MUTED)]
    parts += [GAP, fit(Content.styled(f"{row.look.glyph} {row.look.word}", row.look.style), WORD_WIDTH)]
    if columns.why and row.why:
        parts += [GAP, _why(row, columns.why, keys).stylize(MUTED)]
    return Content.assemble(*parts)


def _why(row: Row, width: int, keys: bool) -> Content:
    if width < ROOM_FOR_WORDS:
        return fit(str(row.reasons), width)
    more = f" +{row.reasons - 1}" if row.reasons > 1 else ""
    if keys and row.asks_trust:
        return fit(with_keys(TRUSTS) + more, width)
    return (
        fit(row.why, width - len(more)) + more if more and cells_of(row.why) > width else fit(row.why, width)
    )


def group_line(group: Group, width: int, grouping: Grouping) -> Content:
    """The heading of a group: what it is, where it lies, how many there are."""
    title = group.title.upper() if grouping == "source" else group.title
    note = fit(group.note, min(len(group.note), 8))
    room = max(4, width - len(NO_POINTER) - note.cell_length - len(GAP) - 1)
    named = line(title, 60).stylize("bold")
    if group.place:
        place = tail(line(group.place, 1_000), room - named.cell_length - len(GAP))
        named = Content.assemble(named, GAP, place.stylize(FAINT))
    return Content.assemble(NO_POINTER, fit(named, room), GAP, note.stylize(FAINT))

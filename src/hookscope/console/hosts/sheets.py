"""Below the matrix: one hook at every host, or the runs of one event lined up. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from hookscope.console.cutting import middle
from hookscope.console.hosts.rows import look_of
from hookscope.console.marks import fitted, word
from hookscope.console.sheet import Sheet, foreign
from hookscope.console.theme import FAINT, MUTED
from hookscope.core.side.model import Cell, Comparison, EventThere, Line
from hookscope.core.side.runs import RunLine, RunThere, lines_of

HOST = 24  # cells of a host's name
STATE = 12  # of how a hook stands there


def hook_sheet(line: Line, width: int, comparison: Comparison | None = None) -> Content:
    """What differs, what to change, and how it stands at each host, or in each of the surroundings."""
    sheet = Sheet(width)
    around = comparison is not None and comparison.of_surroundings
    if not line.differs:
        sheet.say(
            Content.styled("It is the same in both." if around else "All of them do the same with it.", MUTED)
        )
    for one in line.differs:
        sheet.put([(Content.styled("≠", "$text-warning"), 2)], foreign(one.text))
    if line.change:
        sheet.title("So that it runs in both" if around else "So that every host calls it")
        for text in line.change:
            sheet.put([(Content.styled("→", "$text-success"), 2)], foreign(text))
    sheet.title("In each" if around else "At each host")
    host = min(HOST, width // 3)
    for cell in line.cells:
        look = look_of(cell)
        state = Content.styled(f"{look.glyph} {look.word}", look.style)
        sheet.put(
            [(Content(word(cell.side.name)), host), (state, STATE)], _facts(cell, sheet.width - host - STATE)
        )
    if comparison is not None:
        _put_causes(sheet, comparison)
    return sheet.content()


def _put_causes(sheet: Sheet, comparison: Comparison) -> None:
    """What surroundings have otherwise, for all hooks, and the lines to be written into one of them."""
    if comparison.causes:
        sheet.title("What they have otherwise")
    for cause in comparison.causes:
        stops = f": stops {', '.join(cause.hooks)}" if cause.hooks else ""
        sheet.put([(Content.styled("≠", "$text-warning"), 2)], foreign(cause.text + stops))
    for remedy in comparison.remedies:
        sheet.title(f"What to change: {word(remedy.side)}")
        sheet.say(foreign(remedy.where).stylize(MUTED))
        for text in remedy.lines:
            sheet.say(foreign(text), 2)
        if remedy.then:
            sheet.say(foreign(remedy.then).stylize(MUTED))


def _facts(cell: Cell, room: int) -> Content:
    """Why it stands so, else where it lies, what it hears and its turn in registering."""
    if cell.why:
        return foreign(cell.why).stylize(MUTED)
    if cell.row is None:
        return Content()
    short = cell.side.host.surroundings.short
    file = short(cell.handler) if cell.handler is not None else ""
    parts = [cell.source, middle(file, room - len(cell.source) - len(" · "))]
    parts += [_event(event, cell.row.hook.kind) for event in cell.events]
    parts += [f"{_ordinal(cell.place)} to register"] if cell.place is not None else []
    return foreign(" · ".join(part for part in parts if part)).stylize(MUTED)


def _event(event: EventThere, kind: str) -> str:
    if event.there != "sent":
        return f"{event.key} {'is never sent' if event.there == 'never' else 'is no event there'}"
    return event.key if event.delivers or kind == "stream" else f"{event.key}, messages ignored"


def _ordinal(number: int) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{last}"


def runs_sheet(runs: Sequence[RunThere], width: int) -> Content:
    """A column a host; what is not alike is marked."""
    lines = lines_of(runs)
    first = max(10, min(22, width // 4))
    cell = max(8, (width - first - 2) // max(len(runs), 1) - 1)
    names = [fitted(middle(one.dialect.name, cell), cell) for one in runs]
    rows = [Content.assemble(" " * (first + 2), Content(" ").join(names)).stylize(MUTED)]
    for line in lines:
        rows += _row(line, first, cell)
    return Content("\n").join(rows)


def _row(line: RunLine, first: int, width: int) -> Iterator[Content]:
    parts = [[part.plain for part in Content(word(text, 400)).wrap(width)] or [""] for text in line.values]
    style = "" if line.tells else FAINT
    for at in range(max(map(len, parts))):
        mark = Content.styled("≠ ", "$text-warning") if line.differs and at == 0 else Content("  ")
        cells = [fitted(part[at] if at < len(part) else "", width, style) for part in parts]
        name = fitted(word(line.what) if at == 0 else "", first, MUTED)
        yield Content.assemble(mark, name, Content(" ").join(cells))

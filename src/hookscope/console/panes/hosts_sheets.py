"""The texts of the Hosts pane: matrix rows, one hook on every host, runs of one event. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.content import Content

from hookscope.analysis.host_comparison import (
    ABSENT,
    ComparedHook,
    EventAtHost,
    HookAtHost,
    HostComparison,
)
from hookscope.analysis.host_runs import ComparedOutcome, RunAtHost, compared_outcomes
from hookscope.console.theme.text_styles import (
    FAINT,
    MUTED,
    NOT_A_HOOK,
    STATE_STYLES,
    Sheet,
    StateStyle,
    fixed_width,
    keep_ends,
    safe_paragraph,
    safe_word,
    word_width,
)
from hookscope.model.hook_status import State
from hookscope.values import dataclass

NOT_SCANNED = StateStyle("–", "absent", MUTED, "is not looked for")
HOOKSCOPE_ONLY = StateStyle("◐", "not run", "$text-secondary", "would be run by Hookscope only")
MATRIX_STATE_WIDTH = 11  # cells of a sign and the longest word
MATRIX_SOURCE_WIDTH = 10
DIFFERENCE_WIDTH = 20  # cells reserved for differences, if there is room
MATRIX_GAP = 1


@dataclass(frozen=True, slots=True)
class MatrixColumns:
    """The widths of the columns."""

    name: int
    cell: int
    said: int  # 0: no room for differences


def matrix_columns(comparison: HostComparison, width: int) -> MatrixColumns:
    """Return widths for name, states, sources if there is room, and the differences."""
    hosts = len(comparison.sides)
    longest = max((word_width(line.name) for line in comparison.lines), default=4)
    name = max(8, min(longest, 24, width // 4))
    room = max(width - name - MATRIX_GAP, 0)
    titles = max(len(side.name) for side in comparison.sides)
    for cell in (
        max(titles, MATRIX_STATE_WIDTH + MATRIX_SOURCE_WIDTH),
        max(min(titles, 16), MATRIX_STATE_WIDTH),
        MATRIX_STATE_WIDTH,
    ):
        available = room - hosts * (cell + MATRIX_GAP)
        if available >= DIFFERENCE_WIDTH:
            return MatrixColumns(name, cell, available)
    cell = max(min(MATRIX_STATE_WIDTH, room // hosts - MATRIX_GAP), 1)
    available = room - hosts * (cell + MATRIX_GAP)
    return MatrixColumns(name, cell, available if available >= DIFFERENCE_WIDTH // 2 else 0)


def matrix_heading(comparison: HostComparison, columns: MatrixColumns) -> Content:
    """Return the hosts' names above their columns."""
    hosts = [fixed_width(keep_ends(side.name, columns.cell), columns.cell) for side in comparison.sides]
    difference_heading = [fixed_width("what differs", columns.said)] if columns.said else []
    return (
        Content(" " * MATRIX_GAP)
        .join([fixed_width("hook", columns.name), *hosts, *difference_heading])
        .stylize(MUTED)
    )


def matrix_row(line: ComparedHook, columns: MatrixColumns) -> Content:
    """Return the row of one hook."""
    states = [_matrix_cell(cell, columns.cell) for cell in line.cells]
    difference_cells = []
    if columns.said:
        texts = "; ".join(dict.fromkeys(safe_word(difference.text, 200) for difference in line.differs))
        difference_cells = [fixed_width(texts or "alike", columns.said, MUTED)]
    return Content(" " * MATRIX_GAP).join(
        [fixed_width(safe_word(line.name), columns.name), *states, *difference_cells]
    )


def cell_style(cell: HookAtHost) -> StateStyle:
    """Return how to show a hook's state at one host."""
    if cell.row is None:
        return NOT_SCANNED if cell.state == ABSENT else NOT_A_HOOK
    if cell.state in (State.READY, State.SILENT) and not cell.host_runs:
        return HOOKSCOPE_ONLY
    return STATE_STYLES[State(cell.state)]


def _matrix_cell(cell: HookAtHost, width: int) -> Content:
    style = cell_style(cell)
    state = fixed_width(f"{style.glyph} {style.word}", min(MATRIX_STATE_WIDTH, width), style.style)
    if width < MATRIX_STATE_WIDTH + MATRIX_SOURCE_WIDTH - 1:
        return Content.assemble(state, " " * (width - min(MATRIX_STATE_WIDTH, width)))
    return Content.assemble(state, fixed_width(safe_word(cell.source), width - MATRIX_STATE_WIDTH, MUTED))


HOST_WIDTH = 24  # cells of a host's name
HOST_STATE_WIDTH = 12  # cells of a hook's state


def compared_hook_sheet(line: ComparedHook, width: int, comparison: HostComparison | None = None) -> Content:
    """Return the differences, what to change, and the hook's status at each host or machine."""
    sheet = Sheet(width)
    around = comparison is not None and comparison.compares_machines
    if not line.differs:
        sheet.say(
            Content.styled("It is the same in both." if around else "All of them do the same with it.", MUTED)
        )
    for difference in line.differs:
        sheet.put([(Content.styled("≠", "$text-warning"), 2)], safe_paragraph(difference.text))
    if line.suggestions:
        sheet.title("So that it runs in both" if around else "So that every host calls it")
        for text in line.suggestions:
            sheet.put([(Content.styled("→", "$text-success"), 2)], safe_paragraph(text))
    sheet.title("In each" if around else "At each host")
    host = min(HOST_WIDTH, width // 3)
    for cell in line.cells:
        style = cell_style(cell)
        state = Content.styled(f"{style.glyph} {style.word}", style.style)
        sheet.put(
            [(Content(safe_word(cell.side.name)), host), (state, HOST_STATE_WIDTH)],
            _cell_facts(cell, sheet.width - host - HOST_STATE_WIDTH),
        )
    if comparison is not None:
        _put_causes(sheet, comparison)
    return sheet.content()


def _put_causes(sheet: Sheet, comparison: HostComparison) -> None:
    """Add the machines' differences for all hooks, and the lines to add to one of them."""
    if comparison.causes:
        sheet.title("What they have otherwise")
    for cause in comparison.causes:
        stops = f": stops {', '.join(cause.hooks)}" if cause.hooks else ""
        sheet.put([(Content.styled("≠", "$text-warning"), 2)], safe_paragraph(cause.text + stops))
    for remedy in comparison.remedies:
        sheet.title(f"What to change: {safe_word(remedy.side)}")
        sheet.say(safe_paragraph(remedy.where).stylize(MUTED))
        for text in remedy.lines:
            sheet.say(safe_paragraph(text), 2)
        if remedy.next_step:
            sheet.say(safe_paragraph(remedy.next_step).stylize(MUTED))


def _cell_facts(cell: HookAtHost, width: int) -> Content:
    """Return the reason for the status, else its path, its events and its place in the order."""
    if cell.why:
        return safe_paragraph(cell.why).stylize(MUTED)
    if cell.row is None:
        return Content()
    short = cell.side.host.machine.short
    file = short(cell.handler) if cell.handler is not None else ""
    parts = [cell.source, keep_ends(file, width - len(cell.source) - len(" · "))]
    parts += [_event(event, cell.row.hook.kind) for event in cell.events]
    parts += [f"{_ordinal(cell.load_position)} to register"] if cell.load_position is not None else []
    return safe_paragraph(" · ".join(part for part in parts if part)).stylize(MUTED)


def _event(event: EventAtHost, kind: str) -> str:
    if event.delivery != "sent":
        return f"{event.key} {'is never sent' if event.delivery == 'never' else 'is no event there'}"
    return event.key if event.delivers or kind == "stream" else f"{event.key}, messages ignored"


def _ordinal(number: int) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number % 100 not in (11, 12, 13) else "th"
    return f"{number}{last}"


def compared_runs_sheet(runs: Sequence[RunAtHost], width: int) -> Content:
    """Return a column for each host; differences are marked."""
    lines = compared_outcomes(runs)
    first = max(10, min(22, width // 4))
    cell = max(8, (width - first - 2) // max(len(runs), 1) - 1)
    names = [fixed_width(keep_ends(run.dialect.name, cell), cell) for run in runs]
    rows = [Content.assemble(" " * (first + 2), Content(" ").join(names)).stylize(MUTED)]
    for line in lines:
        rows += _run_row(line, first, cell)
    return Content("\n").join(rows)


def _run_row(line: ComparedOutcome, first: int, width: int) -> Iterator[Content]:
    parts = [
        [part.plain for part in Content(safe_word(text, 400)).wrap(width)] or [""] for text in line.values
    ]
    style = "" if line.is_compared else FAINT
    for at in range(max(map(len, parts))):
        mark = Content.styled("≠ ", "$text-warning") if line.differs and at == 0 else Content("  ")
        cells = [fixed_width(part[at] if at < len(part) else "", width, style) for part in parts]
        name = fixed_width(safe_word(line.what) if at == 0 else "", first, MUTED)
        yield Content.assemble(mark, name, Content(" ").join(cells))

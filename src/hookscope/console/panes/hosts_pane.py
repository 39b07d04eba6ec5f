"""The Hosts pane: the comparison matrix above; one hook, or the runs of an event, below."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content

from hookscope.analysis.host_comparison import (
    ABSENT,
    ComparedHook,
    ComparedOutcome,
    EventAtHost,
    HookAtHost,
    HostComparison,
    HostDifference,
    RunAtHost,
    compared_outcomes,
    outcomes_differ,
)
from hookscope.console.keymap.active_keys import key_hints, key_of, with_keys
from hookscope.console.keymap.available_actions import bindings_of_scope
from hookscope.console.panes.hooks_pane import SheetPane
from hookscope.console.state.fire_requests import PartsMounted
from hookscope.console.state.messages import CopyRequested, EditorRequested, HostsRequested
from hookscope.console.theme.text_styles import (
    FAINT,
    MARK_MUTED,
    MUTED,
    NOT_A_HOOK,
    STATE_STYLES,
    Sheet,
    StateStyle,
    counted,
    fixed_width,
    keep_ends,
    safe_paragraph,
    safe_word,
    word_width,
)
from hookscope.console.widgets.lines import LineList
from hookscope.console.widgets.painting import RemovableWidget
from hookscope.model.hook import FilePosition
from hookscope.model.hook_status import State
from hookscope.values import dataclass

NOT_SCANNED = StateStyle("–", "absent", MUTED, "not found at this host")
HOOKSCOPE_ONLY = StateStyle("◐", "not run", "$text-secondary", "runs only in Hookscope")
MATRIX_STATE_WIDTH = 11  # cells of a sign and the longest word
MATRIX_SOURCE_WIDTH = 10
DIFFERENCE_WIDTH = 40  # cells that differences need before the sources of hooks are shown
LEAST_DIFFERENCE_WIDTH = 10  # with fewer cells, differences are not shown
MATRIX_GAP = 1
SAME = "same as "  # an earlier hook


@dataclass(frozen=True, slots=True)
class MatrixColumns:
    """The widths of the matrix's columns in cells."""

    name: int
    cell: int
    said: int  # 0: no room for differences


def matrix_columns(comparison: HostComparison, width: int) -> MatrixColumns:
    """Return widths for the name, for each host's state (and source, if it fits), and for differences."""
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
    return MatrixColumns(name, cell, available if available >= LEAST_DIFFERENCE_WIDTH else 0)


def matrix_heading(comparison: HostComparison, columns: MatrixColumns) -> Content:
    """Return the hosts' names above their columns."""
    hosts = [fixed_width(keep_ends(side.name, columns.cell), columns.cell) for side in comparison.sides]
    difference_heading = [fixed_width("differences", columns.said)] if columns.said else []
    return (
        Content(" " * MATRIX_GAP)
        .join([fixed_width("hook", columns.name), *hosts, *difference_heading])
        .stylize(MUTED)
    )


def matrix_row(line: ComparedHook, columns: MatrixColumns, like: ComparedHook | None = None) -> Content:
    """Return the row of one hook; the name of the hook `like` replaces the differences of that hook."""
    states = [_matrix_cell(cell, columns.cell) for cell in line.cells]
    difference_cells = []
    if columns.said:
        name = keep_ends(safe_word(like.name), columns.said - len(SAME)) if like is not None else ""
        texts = [SAME + name] if name else []
        known = like.differs if like is not None else ()
        texts += [safe_word(difference.text, 200) for difference in line.differs if difference not in known]
        difference_cells = [fixed_width("; ".join(dict.fromkeys(texts)) or "equal", columns.said, MUTED)]
    return Content(" " * MATRIX_GAP).join(
        [fixed_width(keep_ends(safe_word(line.name), columns.name), columns.name), *states, *difference_cells]
    )


def earlier_rows(lines: Sequence[ComparedHook]) -> list[ComparedHook | None]:
    """Return for each row the earlier row that shares most differences, all of which the row has too."""
    rows: dict[frozenset[HostDifference], ComparedHook] = {}
    found: list[ComparedHook | None] = []
    for line in lines:
        own = frozenset(line.differs)
        most = max((differs for differs in rows if differs and differs <= own), key=len, default=None)
        found.append(rows[most] if most is not None else None)
        rows.setdefault(own, line)
    return found


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
    machines = comparison is not None and comparison.compares_machines
    sides = "environments" if machines else "hosts"
    if not line.differs:
        sheet.paragraph(Content.styled(f"There are no differences between the {sides}.", MUTED))
    for difference in line.differs:
        sheet.put([(Content.styled("≠", "$text-warning"), 2)], safe_paragraph(difference.text))
    if line.suggestions:
        sheet.title("To run in both environments" if machines else "To run on every host")
        for text in line.suggestions:
            sheet.put([(Content.styled("→", "$text-success"), 2)], safe_paragraph(text))
    sheet.title("In each environment" if machines else "At each host")
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
    """Add the machines' differences that affect any hook, and how to change one machine."""
    if comparison.causes:
        sheet.title("Differences")
    for cause in comparison.causes:
        stops = f": stops {', '.join(cause.hooks)}" if cause.hooks else ""
        sheet.put([(Content.styled("≠", "$text-warning"), 2)], safe_paragraph(cause.text + stops))
    for remedy in comparison.remedies:
        sheet.title(f"What to change: {safe_word(remedy.side)}")
        sheet.paragraph(safe_paragraph(remedy.where).stylize(MUTED))
        for text in remedy.lines:
            sheet.paragraph(safe_paragraph(text), 2)
        if remedy.next_step:
            sheet.paragraph(safe_paragraph(remedy.next_step).stylize(MUTED))


def _cell_facts(cell: HookAtHost, width: int) -> Content:
    """Return the reason for the hook's status; without one, its path, events and place in the order."""
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
        return f"{event.key} {'is never sent' if event.delivery == 'never' else 'is unknown to this host'}"
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


COMPARING = "Each host's rules are read; then this shows how the hosts differ."
MATRIX_FRAME = 3  # lines of the matrix's border and heading


class Matrix(LineList):
    """A row for each hook."""

    def __init__(self) -> None:
        super().__init__(id="hosts-rows")
        self.comparison: HostComparison | None = None
        self.lines: tuple[ComparedHook, ...] = ()
        self._earlier: list[ComparedHook | None] = []
        self._measured: tuple[HostComparison, int, MatrixColumns] | None = (
            None  # the comparison, and the width
        )

    @property
    def line_count(self) -> int:
        return len(self.lines)

    @property
    def line(self) -> ComparedHook | None:
        """The row under the cursor."""
        return self.lines[self.cursor] if 0 <= self.cursor < len(self.lines) else None

    def show(self, comparison: HostComparison, lines: tuple[ComparedHook, ...]) -> None:
        """Show other rows; the cursor stays on its hook if that is still listed."""
        name = self.line.name if self.line is not None else ""
        self.comparison, self.lines, self._earlier = comparison, lines, earlier_rows(lines)
        at = next((at for at, line in enumerate(lines) if line.name == name), self.cursor)
        self.lines_changed()
        self.cursor = at

    @property
    def has_heading(self) -> bool:
        return self.comparison is not None

    def heading(self, width: int) -> Content | None:
        return matrix_heading(self.comparison, self._columns(width)) if self.comparison is not None else None

    def line_at(self, index: int, width: int) -> Content:
        return matrix_row(self.lines[index], self._columns(width), self._earlier[index])

    def _columns(self, width: int) -> MatrixColumns:
        """Return the column widths; measured once over all rows, not for each drawn line."""
        comparison, measured = self.comparison, self._measured
        assert comparison is not None
        if measured is None or measured[0] is not comparison or measured[1] != width:
            self._measured = measured = comparison, width, matrix_columns(comparison, width)
        return measured[2]


class HostDetail(SheetPane, can_focus=True):
    """One hook at every host, or the runs of an event at each."""

    HELP = "How hosts treat the hook differently, and what to change so that every host calls it."


_HOSTS_ACTIONS = (
    ("ctrl+r,f5", "fire", "fire", "Fire at all",
     "Fire the composer's event at every host, and compare the runs"),
    ("equals_sign", "narrow", "narrow", "All or differing", "Show all hooks, or only those with differences"),
    ("v", "choose", "choose", "Hosts", "Choose the hosts to compare"),
    ("d", "runs", "runs", "Runs", "Switch between the last runs and the hook"),
    ("E", "edit_hook", "edit", "Edit", "Open $EDITOR at the hook's HOOK.md"),
    ("y", "copy_hook", "copy", "Copy", "Copy the differences and the advice"),
    ("R", "again", "again", "Compare again", "Compare all hosts again"),
    ("escape", "leave", "leave", "Back", "Cancel, or go back to the matrix"),
)  # fmt: skip


class HostsPane(RemovableWidget, Container):
    """Shows a comparison; posts the user's requests."""

    HELP = (
        "Each row shows how several hosts treat one hook, and the differences. Below the rows: what to "
        "change so that every host calls the hook, and its state at each host. Trust is not compared: only "
        "Hookscope asks for it. {console.what_if}, then {whatif.compare}, compares the real environment with "
        "an assumed one."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of_scope("hosts", _HOSTS_ACTIONS, {"fire", "narrow", "choose", "runs", "edit", "copy"})
    ]
    DEFAULT_CSS = """
    HostsPane {
        layout: vertical;
        & > Matrix { max-height: 55%; min-height: 5; }
        & > HostDetail { height: 1fr; min-height: 5; }
        & > Matrix, & > HostDetail {
            border: round $border-blurred;
            border-title-color: $foreground;
            border-title-style: none;
            border-subtitle-align: left;
            border-subtitle-color: $text-muted;
            padding: 0;
            background: $background;
            scrollbar-size-vertical: 1;
            &:focus { border: heavy $border; }
        }
        & > HostDetail { padding: 0 0 0 1; }
    }
    """

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._there = asyncio.Event()  # set when its parts are mounted
        self.comparison: HostComparison | None = None
        self.runs: tuple[RunAtHost, ...] = ()
        self.firing = ""  # key of the event being fired
        self._fired = ""  # key of the event of `runs`
        self._different = False
        self._runs_shown = False

    def compose(self) -> ComposeResult:
        yield Matrix()
        yield HostDetail(id="hosts-below")

    def on_mount(self) -> None:
        self._there.set()
        self._draw()
        self.post_message(PartsMounted())

    @property
    def parts_mounted(self) -> bool:
        return self._there.is_set()

    async def with_its_parts(self) -> None:
        """Wait until the pane and its parts are mounted."""
        await self._there.wait()

    @property
    def listed(self) -> tuple[HostComparison | None, tuple[ComparedHook, ...], bool]:
        """The comparison, its listed rows, and whether equal rows are hidden."""
        return self.comparison, self.query_one(Matrix).lines, self._different

    @property
    def shown_runs(self) -> tuple[RunAtHost, ...]:
        """The runs of the last event at every host, if they are shown."""
        return self.runs if self._runs_shown else ()

    def show(self, comparison: HostComparison) -> None:
        """Show another comparison; the selected hook stays selected."""
        is_first, self.comparison = self.comparison is None, comparison
        self._draw()
        if is_first:
            self.refresh_bindings()

    def cannot(self, action: str) -> str:
        """Return why an action is unavailable; the key bar then omits it."""
        if self.comparison is None and action in ("fire", "narrow"):
            return "The hosts are still being compared."
        line = self.query_one(Matrix).line if self.parts_mounted else None
        if action == "edit_hook" and line is None:
            return "No hook is selected: there is nothing to open."
        if action == "copy_hook" and line is None and not self.shown_runs:
            return "No hook is selected: there is nothing to copy."
        if action != "runs" or self.runs:
            return ""
        if self.firing:
            return f"{safe_word(self.firing, 40)} is running: its results appear when every host has run it."
        return with_keys("There are no runs to compare yet: {hosts.fire} fires an event at every host.")

    def fire_began(self, key: str) -> None:
        self.firing = key
        self._title()

    def fire_ended(self, runs: tuple[RunAtHost, ...]) -> None:
        """Show the runs side by side. No `runs`: nothing was fired, so the last ones stay."""
        key, self.firing = self.firing, ""
        if runs:
            self.runs, self._fired, self._runs_shown = runs, key, True
            self.refresh_bindings()
        self._title()
        self._draw_below()

    def name_keys(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if self.comparison is not None:
            shown = self.comparison.grouped(different=self._different)
            matrix = self.query_one(Matrix)
            matrix.styles.height = max(len(shown), 1) + MATRIX_FRAME
            matrix.show(self.comparison, shown)
        self._title()
        self._draw_below()

    def _title(self) -> None:
        matrix, comparison = self.query_one(Matrix), self.comparison
        if comparison is None:
            matrix.border_title = Content.styled("Hosts   comparing …", MARK_MUTED)
            return
        title = Content(f"Hosts   {len(comparison.sides)} hosts read the same folders")
        if comparison.compares_machines:
            named = " and ".join(safe_word(side.name, 40) for side in comparison.sides)
            title = Content.assemble(
                f"Environments   {named}", (f"   {key_of('hosts.choose')} hosts", MARK_MUTED)
            )
        if self._different:
            title += Content.styled("   only differences", "$text-warning")
        if self.firing:
            title += Content.styled(
                f"   » firing {safe_word(self.firing, 40)}, {key_of('hosts.leave')} cancels", "$text-accent"
            )
        matrix.border_title = title
        differing = len(comparison.differing)
        alike = counted(len(comparison.lines) - differing, "hook")
        matrix.border_subtitle = Content(f"{alike} equal · {differing} differ · trust is not compared")

    def _draw_below(self) -> None:
        below, line = self.query_one(HostDetail), self.query_one(Matrix).line
        if runs := self.shown_runs:
            words = "results differ" if outcomes_differ(runs) else "equal results"
            title = Content.assemble(
                safe_word(self._fired, 60), (f"   fired at {len(runs)} hosts, {words}", MARK_MUTED)
            )
            below.border_subtitle = key_hints(("hosts.runs", "back to the hook"))
            below.show(f"runs {id(runs)}", [title], lambda width: compared_runs_sheet(runs, width))
            return
        hints = (("hosts.copy", "copy"), ("hosts.edit", "edit")) if line is not None else ()
        below.border_subtitle = key_hints(*hints)
        if line is None:
            hint = (
                with_keys("No differences. Press {hosts.narrow} to show all hooks.")
                if self._different
                else "No hook was found."
            )
            empty = Content.styled(hint if self.comparison is not None else COMPARING, MARK_MUTED)
            below.show("", [Content()], lambda _: empty)
            return
        events = safe_word(", ".join(line.events), 80)
        title = Content.assemble(safe_word(line.name, 60), (f"   {events}", MARK_MUTED))
        comparison = self.comparison
        below.show(line.name, [title], lambda width: compared_hook_sheet(line, width, comparison))

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        if not isinstance(event, LineList.Chosen) and event.lines.has_focus:
            self._runs_shown = False
        self._draw_below()

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        self._runs_shown = False
        self._draw_below()
        self.query_one(HostDetail).focus()

    def action_fire(self) -> None:
        self.post_message(HostsRequested("fire"))

    def action_choose(self) -> None:
        self.post_message(HostsRequested("choose"))

    def action_again(self) -> None:
        self.post_message(HostsRequested("compare"))

    def action_narrow(self) -> None:
        if problem := self.cannot("narrow"):
            self.app.notify(problem, markup=False)
            return
        self._different = not self._different
        self._draw()

    def action_runs(self) -> None:
        if problem := self.cannot("runs"):
            self.app.notify(problem, markup=False)
            return
        self._runs_shown = not self._runs_shown
        self._draw_below()

    async def action_leave(self) -> None:
        if self.firing:
            self.post_message(HostsRequested("cancel"))
        elif self.query_one(HostDetail).has_focus:
            self.query_one(Matrix).focus()
        else:
            await self.run_action("screen.back")

    def action_edit_hook(self) -> None:
        line = self.query_one(Matrix).line
        hooks = [cell.row.hook for cell in line.cells if cell.row is not None] if line is not None else []
        place = (hooks[0].manifest or hooks[0].handler) if hooks else line.path if line is not None else None
        if place is None:
            self.app.notify(self.cannot("edit_hook"), markup=False)
        else:
            self.post_message(EditorRequested(FilePosition(place)))

    def action_copy_hook(self) -> None:
        line = self.query_one(Matrix).line
        if self.shown_runs:
            self.post_message(CopyRequested(compared_runs_sheet(self.shown_runs, 160).plain, "runs"))
        elif line is None:
            self.app.notify(self.cannot("copy_hook"), markup=False)
        else:
            self.post_message(
                CopyRequested(
                    f"{safe_word(line.name)}\n{compared_hook_sheet(line, 120, self.comparison).plain}",
                    "comparison",
                )
            )

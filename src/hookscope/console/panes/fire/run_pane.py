"""The pane of one run: its time line, the tab bar, and the text of the open tab."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.panes.fire import run_lines, run_tabs
from hookscope.console.panes.fire.run_lines import GroupHeading, Remark, ending_text, paused_text, run_title
from hookscope.console.panes.fire.run_sheet import CallRow, RunSheet, stopping_row
from hookscope.console.panes.fire.run_tabs import TAB_TEXTS, Tab, TabInput, first_tab, tab_label, tabs_of_run
from hookscope.console.panes.fire.waterfall import Waterfall
from hookscope.console.state.messages import WhyRequested
from hookscope.console.theme.text_styles import MARK_MUTED, safe_word
from hookscope.console.widgets.focus_targets import JumpTarget
from hookscope.console.widgets.lines import KeyScroll, LineList
from hookscope.console.widgets.painting import RemovableWidget
from hookscope.model.run import Code, NotRun
from hookscope.model.uncalled_hooks import not_called_reason

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot


class TabBar(Widget):
    """The names of the tabs on one line; the open one is in brackets."""

    DEFAULT_CSS = "TabBar { height: 1; padding: 0 1 0 2; }"

    class Picked(Message):
        """A tab was clicked."""

        def __init__(self, tab: Tab) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self) -> None:
        super().__init__()
        self._labels: dict[Tab, str] = {}
        self._open: Tab = "error"

    def show(self, labels: dict[Tab, str], tab: Tab) -> None:
        """Show these names; `tab` is open."""
        if (labels, tab) != (self._labels, self._open):
            self._labels, self._open = labels, tab
            self.refresh()

    def render(self) -> Content:
        return Content("").join(
            Content.styled(f"[{text}]", "bold")
            if tab == self._open
            else Content.styled(f" {text} ", MARK_MUTED)
            for tab, text in self._labels.items()
        )

    def on_click(self, event: events.Click) -> None:
        for tab, _, end in self._places():
            if event.x < end:
                self.post_message(self.Picked(tab))
                return

    def spots(self) -> Iterator[JumpTarget]:
        """Yield the tabs as jump targets."""
        for tab, start, _ in self._places():
            at = Offset(self.region.x + start, self.region.y)
            yield JumpTarget(at, partial(self.post_message, self.Picked(tab)))

    def _places(self) -> Iterator[tuple[Tab, int, int]]:
        """Yield each tab with its first cell and the cell after its last."""
        edge = 2
        for tab, text in self._labels.items():
            yield tab, edge, edge + len(text) + 2
            edge += len(text) + 2


MOST_DRAWN = 20_000  # characters of one text to draw
MOST_COPIED = 2_000_000  # characters of one text to copy
EMPTY = Content()
TERSE_HEIGHT = 8  # lines; in a lower pane the time line has no heading
ROOMY_HEIGHT = 8  # lines; a higher pane shows two source lines around the failed one


class Body(KeyScroll, can_focus=True):
    """The open tab's text."""

    DEFAULT_CSS = """
    Body { height: 1fr; padding: 0 0 0 2; scrollbar-size-vertical: 1; }
    Body > Static { height: auto; padding: 0 1 0 0; }
    """


class RunPane(RemovableWidget, Vertical):
    """Shows the sheet of one run, and opens its tabs."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "turn(-1)", "Tab", show=False, id="run.tab_left", tooltip="Previous tab"),
        Binding("right,l", "turn(1)", "Tab", show=False, id="run.tab_right", tooltip="Next tab"),
        Binding("E", "edit_line", "Edit", id="run.edit", tooltip="Open the editor at the line that failed"),
        Binding(
            "space", "read", "Scroll", show=False, id="run.read", tooltip="Scroll the tab's text by a page"
        ),
    ]
    DEFAULT_CSS = """
    RunPane {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-title-style: none;
        border-subtitle-align: left;
        border-subtitle-color: $text-muted;
        padding: 0 0 0 1;
        &:focus-within { border: heavy $border; }
        & > Waterfall { height: 3; }
        & > TabBar { margin: 1 0 0 0; }
        &.-low > TabBar { margin: 0; }
    }
    """

    class EditorLineRequested(Message):
        """Request to open the editor at a line."""

        def __init__(self, path: Path, line: int) -> None:
            super().__init__()
            self.path, self.line = path, line

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.view: Snapshot | None = None
        self._sheet: RunSheet | None = None
        self._now = 0.0
        self._tab: Tab = "messages"
        self._drawn: object = None
        self._beside = EMPTY

    def compose(self) -> ComposeResult:
        yield Waterfall()
        yield TabBar()
        with Body():
            yield Static(markup=False)

    def on_mount(self) -> None:
        self.show(None, 0.0)

    def on_resize(self) -> None:
        self._share_height()
        self.call_after_refresh(self._draw)

    def show(self, sheet: RunSheet | None, now: float, beside: Content = EMPTY, first: str = "") -> None:
        """Show a run as of `now`; another run opens at the hook `first`. `beside`: keys of other runs."""
        before = self._sheet  # the previous state of this run
        if before is None or sheet is None or before.number != sheet.number:
            before = None
        self._sheet, self._now = sheet, now
        self.border_title = run_title(sheet, now)
        self._beside = beside
        waterfall = self.query_one(Waterfall)
        waterfall.show(sheet, now)
        if sheet is not None and sheet.rows and before is None:
            waterfall.go_to(next((row for row in sheet.rows if row.call.name == first), sheet.rows[0]))
        paused = sheet.paused if sheet is not None else None
        if paused is not None and (before is None or before.paused != paused):
            waterfall.go_to(paused)
        if sheet is not None and not sheet.running and (before is None or before.running):
            self._open_news(sheet, waterfall)
        elif sheet is not None and before is not None and sheet.checked is not before.checked:
            self._open_misses(sheet, waterfall)
        self._share_height()
        self._draw()

    def forget(self) -> None:
        """Draw everything again the next time, even if nothing has changed."""
        self._drawn = None

    def _open_news(self, sheet: RunSheet, waterfall: Waterfall) -> None:
        """Open the tab of an error or of a blocking answer; otherwise keep row and tab if possible."""
        if sheet.first_news is not None:
            row = waterfall.selected
            if not (isinstance(row, CallRow) and (row.failed or row.stale)):
                waterfall.go_to(sheet.rows[sheet.first_news])
            self._tab = "error"
        elif (stopped := stopping_row(sheet)) is not None:
            waterfall.go_to(sheet.rows[stopped])
            self._tab = "answer"
        elif self._tab == "error" or self._tab not in tabs_of_run(sheet):
            self._tab = first_tab(sheet)

    def _open_misses(self, sheet: RunSheet, waterfall: Waterfall) -> None:
        """Select the failed expectations, unless an error already explains them."""
        if sheet.first_news is None and sheet.checked is not None and not sheet.checked.passed:
            waterfall.go_to_expected()

    def _share_height(self) -> None:
        waterfall = self.query_one(Waterfall)
        inner = self.content_size.height
        self.set_class(inner < 14, "-low")
        waterfall.terse = inner < TERSE_HEIGHT
        needed = waterfall.line_count + waterfall.has_heading
        waterfall.styles.height = max(1, min(needed, max(2, inner // 2)))
        self.query_one(TabBar).display = self.row is not None

    def _key_hint(self) -> Content:
        row = self.row
        if row is None or self._sheet is None or self.view is None:
            return Content()
        if self._sheet.paused is not None:
            words = (("fire.step", "run"), ("fire.pass_over", "skip"), ("fire.run_all", "run all"))
            return key_hints(*words)
        frame = run_tabs.failure_frame(TabInput(self._sheet, row, self.view.host))
        return key_hints(("run.edit", f"open line {frame.line}")) if frame else Content()

    @property
    def row(self) -> CallRow | None:
        """The call under the cursor."""
        selected = self.query_one(Waterfall).selected
        return selected if isinstance(selected, CallRow) else None

    def _draw(self) -> None:
        """Draw the tabs, and the open one if its text has changed."""
        row, sheet = self.row, self._sheet
        self.border_subtitle = Content("   ").join(filter(None, (self._key_hint(), self._beside)))
        seen = (
            sheet and (sheet.number, sheet.running, sheet.checked),
            row and (row.number, row.phase),
            self._tab,
            self.query_one(Waterfall).selected if row is None else None,
            self.query_one(Body).size.height >= ROOMY_HEIGHT,
        )
        if seen != self._drawn:
            self._drawn = seen
            if sheet is not None and row is not None:
                labels = {tab: tab_label(tab, sheet, row) for tab in tabs_of_run(sheet)}
                self.query_one(TabBar).show(labels, self._tab)
            self.query_one(Body).query_one(Static).update(self._text())
            self.query_one(Body).scroll_home(animate=False)

    def _text(self, limit: int = MOST_DRAWN) -> Content:
        selected = self.query_one(Waterfall).selected
        match selected:
            case CallRow(phase="paused"):
                return paused_text(selected)
            case CallRow() if self._sheet is not None and self.view is not None:
                around = 2 if self.query_one(Body).size.height >= ROOMY_HEIGHT or limit > MOST_DRAWN else 1
                host = self.view.host
                return TAB_TEXTS[self._tab](TabInput(self._sheet, selected, host, limit, self._now, around))
            case NotRun():
                return Content(
                    f"{safe_word(selected.name)} did not run\n{safe_word(not_called_reason(selected), 2_000)}"
                )
            case Remark(about="copies") if self._sheet is not None and self._sheet.run is not None:
                return run_lines.copied_files_text(self._sheet.run.guarded, self._short)
            case Remark(about="expected") if self._sheet is not None and self._sheet.checked is not None:
                return run_lines.expectation_text(self._sheet.checked)
            case Remark():
                return Content(selected.text)
            case GroupHeading(lane, note):
                return Content(f"{lane}\n{note}")
        return ending_text(self._sheet)

    def _short(self, path: Path) -> str:
        return self.view.host.machine.short(path) if self.view is not None else str(path)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._share_height()
        self._draw()

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        row = self.row
        if row is not None and row.reason and row.call.hook is not None and self._sheet is not None:
            self.post_message(WhyRequested(row.call.hook, self._sheet.plan.event.key))
        else:
            self.action_edit_line()

    @on(TabBar.Picked)
    def _picked(self, event: TabBar.Picked) -> None:
        event.stop()
        self._tab = event.tab
        self._draw()

    def action_turn(self, by: int) -> None:
        if self.row is None:
            self.app.notify("No handler is selected.", markup=False)
            return
        tabs = tabs_of_run(self._sheet)
        self._tab = tabs[(tabs.index(self._tab) + by) % len(tabs)]
        self._draw()

    def action_read(self) -> None:
        body = self.query_one(Body)
        if round(body.scroll_y) >= body.max_scroll_y:
            self.app.notify("This is the end of the text.", markup=False)
        else:
            body.scroll_page_down(animate=False)

    def action_edit_line(self) -> None:
        row = self.row
        if row is None or self._sheet is None or self.view is None:
            self.app.notify("No handler is selected: there is nothing to edit.", markup=False)
            return
        frame = run_tabs.failure_frame(TabInput(self._sheet, row, self.view.host))
        path = Path(frame.file) if frame else handler_file(row)
        if path is None:
            self.app.notify("This handler was registered by code and has no file.", markup=False)
            return
        self.post_message(self.EditorLineRequested(path, frame.line if frame else 1))

    def as_text(self) -> str:
        """Return the whole run as text: title, time line, and the open tab."""
        head = f"{run_title(self._sheet, self._now).plain}\n\n{self.query_one(Waterfall).as_text()}"
        return f"{head}\n{self._tab}\n{self.copied_text()}\n"

    def copied_text(self) -> str:
        """Return the open tab as text; empty without a run."""
        return self._text(MOST_COPIED).plain if self._sheet is not None else ""


def handler_file(row: CallRow) -> Path | None:
    """Return the file of the handler; None if it was registered by code."""
    return row.call.target.path if isinstance(row.call.target, Code) else None

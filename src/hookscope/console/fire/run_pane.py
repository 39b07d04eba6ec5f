"""One run on the screen: its time line, and what the selected handler has to say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from hookscope.console.fire import expected, sandbox
from hookscope.console.fire.entries import Heading, Remark
from hookscope.console.fire.model import CallRow, RunSheet, stopper
from hookscope.console.fire.run_texts import ending_text, paused_text, title
from hookscope.console.fire.tab_bar import TabBar
from hookscope.console.fire.tabs import TEXT, Shown, Tab, error, first_tab, label, tabs_of
from hookscope.console.fire.waterfall import Waterfall
from hookscope.console.keymap.hints import hints
from hookscope.console.leaving import Leaves
from hookscope.console.lines import Lines
from hookscope.console.marks import word
from hookscope.console.reading import Reading
from hookscope.core.missed import why_not
from hookscope.core.runs import Code, NotRun

if TYPE_CHECKING:
    from hookscope.workbench import View

DRAWN = 20_000  # characters of one text that are drawn
WHOLE = 2_000_000  # characters of one text that are copied
NOTHING = Content()
TERSE = 8  # lines of the pane below which its time line goes without a heading
ROOMY = 8  # lines from which source is shown with two lines around the one that failed


class Body(Reading, can_focus=True):
    """The open tab's text."""

    DEFAULT_CSS = """
    Body { height: 1fr; padding: 0 0 0 2; scrollbar-size-vertical: 1; }
    Body > Static { height: auto; padding: 0 1 0 0; }
    """


class RunPane(Leaves, Vertical):
    """Shows a sheet and opens its tabs. Knows nothing of other runs."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "turn(-1)", "Tab", show=False, id="run.tab_left", tooltip="The tab to the left"),
        Binding("right,l", "turn(1)", "Tab", show=False, id="run.tab_right", tooltip="The tab to the right"),
        Binding("E", "edit_line", "Edit", id="run.edit", tooltip="Open the editor at the line that failed"),
        Binding(
            "space", "read", "Read on", show=False, id="run.read", tooltip="Scroll the tab's text by a page"
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

    class EditAsked(Message):
        """The editor is wanted at a line."""

        def __init__(self, path: Path, line: int) -> None:
            super().__init__()
            self.path, self.line = path, line

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.view: View | None = None
        self._sheet: RunSheet | None = None
        self._now = 0.0
        self._tab: Tab = "messages"
        self._drawn: object = None
        self._beside = NOTHING

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

    def show(self, sheet: RunSheet | None, now: float, beside: Content = NOTHING, first: str = "") -> None:
        """Draw a run as it stands at `now`, a new one at hook `first`; `beside` tells of its neighbours."""
        before = self._sheet  # of this very run, as it stood
        if before is None or sheet is None or before.number != sheet.number:
            before = None
        self._sheet, self._now = sheet, now
        self.border_title = title(sheet, now)
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
        """Draw all of it the next time, whatever stands there."""
        self._drawn = None

    def _open_news(self, sheet: RunSheet, waterfall: Waterfall) -> None:
        """An error opens its tab; everything else leaves the reader where he is."""
        if sheet.first_news is not None:
            row = waterfall.selected
            if not (isinstance(row, CallRow) and (row.failed or row.stale)):
                waterfall.go_to(sheet.rows[sheet.first_news])
            self._tab = "error"
        elif (stopped := stopper(sheet)) is not None:
            waterfall.go_to(sheet.rows[stopped])
            self._tab = "answer"
        elif self._tab == "error" or self._tab not in tabs_of(sheet):
            self._tab = first_tab(sheet)

    def _open_misses(self, sheet: RunSheet, waterfall: Waterfall) -> None:
        """What was missed opens by itself, unless an error says why already."""
        if sheet.first_news is None and sheet.checked is not None and not sheet.checked.passed:
            waterfall.go_to_expected()

    def _share_height(self) -> None:
        waterfall = self.query_one(Waterfall)
        inner = self.content_size.height
        self.set_class(inner < 14, "-low")
        waterfall.terse = inner < TERSE
        wanted = waterfall.line_count + waterfall.has_heading
        waterfall.styles.height = max(1, min(wanted, max(2, inner // 2)))
        self.query_one(TabBar).display = self.row is not None

    def _key_hint(self) -> Content:
        row = self.row
        if row is None or self._sheet is None or self.view is None:
            return Content()
        if self._sheet.paused is not None:
            words = (("fire.step", "begins"), ("fire.pass_over", "passes over"), ("fire.run_all", "the rest"))
            return hints(*words)
        frame = error.place(Shown(self._sheet, row, self.view.host))
        return hints(("run.edit", f"opens line {frame.line}")) if frame else Content()

    @property
    def row(self) -> CallRow | None:
        """The call under the cursor."""
        selected = self.query_one(Waterfall).selected
        return selected if isinstance(selected, CallRow) else None

    def _draw(self) -> None:
        """Draw the tabs, and the open one where it says something else than before."""
        row, sheet = self.row, self._sheet
        self.border_subtitle = Content("   ").join(filter(None, (self._key_hint(), self._beside)))
        seen = (
            sheet and (sheet.number, sheet.running, sheet.checked),
            row and (row.number, row.phase),
            self._tab,
            self.query_one(Waterfall).selected if row is None else None,
            self.query_one(Body).size.height >= ROOMY,
        )
        if seen != self._drawn:
            self._drawn = seen
            if sheet is not None and row is not None:
                labels = {tab: label(tab, sheet, row) for tab in tabs_of(sheet)}
                self.query_one(TabBar).show(labels, self._tab)
            self.query_one(Body).query_one(Static).update(self._text())
            self.query_one(Body).scroll_home(animate=False)

    def _text(self, limit: int = DRAWN) -> Content:
        selected = self.query_one(Waterfall).selected
        match selected:
            case CallRow(phase="paused"):
                return paused_text(selected)
            case CallRow() if self._sheet is not None and self.view is not None:
                around = 2 if self.query_one(Body).size.height >= ROOMY or limit > DRAWN else 1
                host = self.view.host
                return TEXT[self._tab](Shown(self._sheet, selected, host, limit, self._now, around))
            case NotRun():
                return Content(f"{word(selected.name)} did not run\n{word(why_not(selected), 2_000)}")
            case Remark(about="copies") if self._sheet is not None and self._sheet.run is not None:
                return sandbox.text(self._sheet.run.guarded, self._short)
            case Remark(about="expected") if self._sheet is not None and self._sheet.checked is not None:
                return expected.text(self._sheet.checked)
            case Remark():
                return Content(selected.text)
            case Heading(lane, note):
                return Content(f"{lane}\n{note}")
        return ending_text(self._sheet)

    def _short(self, path: Path) -> str:
        return self.view.host.surroundings.short(path) if self.view is not None else str(path)

    @on(Lines.Moved)
    def _moved(self, event: Lines.Moved) -> None:
        event.stop()
        self._share_height()
        self._draw()

    @on(Lines.Chosen)
    def _chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        self.action_edit_line()

    @on(TabBar.Picked)
    def _picked(self, event: TabBar.Picked) -> None:
        event.stop()
        self._tab = event.tab
        self._draw()

    def action_turn(self, by: int) -> None:
        if self.row is None:
            self.app.notify("No handler is selected, so there are no tabs to turn.", markup=False)
            return
        tabs = tabs_of(self._sheet)
        self._tab = tabs[(tabs.index(self._tab) + by) % len(tabs)]
        self._draw()

    def action_read(self) -> None:
        body = self.query_one(Body)
        if round(body.scroll_y) >= body.max_scroll_y:
            self.app.notify("That is all of this text.", markup=False)
        else:
            body.scroll_page_down(animate=False)

    def action_edit_line(self) -> None:
        row = self.row
        if row is None or self._sheet is None or self.view is None:
            self.app.notify("No handler is selected: there is nothing to edit.", markup=False)
            return
        frame = error.place(Shown(self._sheet, row, self.view.host))
        path = Path(frame.file) if frame else handler_of(row)
        if path is None:
            self.app.notify("This handler was registered by code: no file of it is known.", markup=False)
            return
        self.post_message(self.EditAsked(path, frame.line if frame else 1))

    def as_text(self) -> str:
        """The whole run: title, time line, and the open tab."""
        head = f"{title(self._sheet, self._now).plain}\n\n{self.query_one(Waterfall).as_text()}"
        return f"{head}\n{self._tab}\n{self.copied_text()}\n"

    def copied_text(self) -> str:
        """The open tab as text, whole; empty where there is nothing."""
        return self._text(WHOLE).plain if self._sheet is not None else ""


def handler_of(row: CallRow) -> Path | None:
    """The file that holds the handler."""
    return row.call.target.path if isinstance(row.call.target, Code) else None

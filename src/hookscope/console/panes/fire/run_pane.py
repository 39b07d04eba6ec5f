"""The pane of one run: its time line, the tab bar, and the text of the open tab."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget

from hookscope.console.keymap.active_keys import key_hints
from hookscope.console.keymap.available_actions import bindings_of_scope
from hookscope.console.panes.fire import run_lines, run_tabs
from hookscope.console.panes.fire.run_lines import GroupHeading, Remark, ending_text, paused_text, run_title
from hookscope.console.panes.fire.run_sheet import CallRow, RunSheet, stopping_row
from hookscope.console.panes.fire.run_source import main_line, source_text
from hookscope.console.panes.fire.run_states import steps_of
from hookscope.console.panes.fire.run_tabs import (
    TAB_TEXTS,
    Tab,
    first_row_with_content,
    has_content,
    tab_label,
    tabs_of_run,
)
from hookscope.console.panes.fire.tab_input import TabInput, join_lines
from hookscope.console.panes.fire.waterfall import Waterfall
from hookscope.console.state.messages import EditorRequested, WhyRequested
from hookscope.console.theme.text_styles import MARK_MUTED, safe_word
from hookscope.console.widgets.focus_targets import JumpTarget
from hookscope.console.widgets.lines import FittedText, KeyScroll, LineList
from hookscope.console.widgets.painting import RemovableWidget
from hookscope.model.hook import FilePosition
from hookscope.model.run import Code, NotRun
from hookscope.model.uncalled_hooks import not_called_reason

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.model.host import Host


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
LINES_ABOVE = 3  # source lines to show above the main one
LEAST_TAB_HEIGHT = 9  # lines that the tabs keep if the time line needs more than half
TITLE_FRAME = 6  # cells of the border around its title
BESIDE_WIDTH = 110  # cells; a wider pane shows the handler's source beside the open tab


class Body(KeyScroll, can_focus=True):
    """The open tab's text, or the source beside it; both are made for their width."""

    DEFAULT_CSS = """
    Body {
        width: 1fr; height: 1fr; padding: 0 0 0 2; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
    }
    Body#fire-source { display: none; border-left: vkey $border-blurred; padding: 0 0 0 1; }
    Body:focus, Body#fire-source:focus { border-left: outer $border; padding: 0 0 0 1; }
    Body > FittedText { height: auto; }
    """

    def scroll_to_source(self, line: int) -> None:
        """Scroll to a line of the handler's source."""
        at = self.query_one(FittedText).find_line(rf"[❱ ]+{line} │")
        self.scroll_to(y=max(0, at - LINES_ABOVE), animate=False)


_RUN_ACTIONS = (
    ("left,h", "turn(-1)", "tab_left", "Tab", "Previous tab"),
    ("right,l", "turn(1)", "tab_right", "Tab", "Next tab"),
    ("left_curly_bracket", "step(-1)", "earlier", "Earlier", "Show the event before this handler"),
    ("right_curly_bracket", "step(1)", "later", "Later", "Show the event after the next handler"),
    ("E", "edit_line", "edit", "Edit", "Open the editor at the line that failed"),
    ("shift+down", "read", "read", "Scroll", "Scroll the tab's text by a page"),
)


class RunPane(RemovableWidget, Vertical):
    """Shows the sheet of one run, and opens its tabs."""

    ALLOW_MAXIMIZE = True
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of_scope("run", _RUN_ACTIONS, {"edit"})]
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
        & > Horizontal { height: 1fr; }
        &.-untabbed > TabBar { display: none; }
        &.-untabbed > Horizontal { margin: 1 0 0 0; }
        &.-beside #fire-source { display: block; }
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.view: Snapshot | None = None
        self._sheet: RunSheet | None = None
        self._now = 0.0
        self._tab: Tab = "messages"
        self._wanted: Tab = "messages"  # the tab opened last; a row with nothing there opens another
        self._drawn: object = None
        self._beside = EMPTY
        self._as_fired = False  # the event before the first handler is selected

    def compose(self) -> ComposeResult:
        yield Waterfall()
        yield TabBar()
        with Horizontal():
            yield Body(FittedText(self._text, id="run-text"), id="fire-tab")
            yield Body(FittedText(self._source, id="source-text"), id="fire-source")

    def on_mount(self) -> None:
        self.show(None, 0.0)

    def on_resize(self) -> None:
        waterfall = self.query_one(Waterfall)
        waterfall.room = self._most_rows()
        waterfall.show(self._sheet, self._now)
        self.border_title = run_title(self._sheet, self._now, self.outer_size.width - TITLE_FRAME)
        self._share_height()
        self.call_after_refresh(self._draw)

    def on_descendant_focus(self) -> None:
        self._draw()  # other keys are named

    def show(self, sheet: RunSheet | None, now: float, beside: Content = EMPTY, first: str = "") -> None:
        """Show a run as of `now`; another run opens at the hook `first`. `beside`: keys of other runs."""
        before = self._sheet  # the previous state of this run
        if before is None or sheet is None or before.number != sheet.number:
            before = None
        if before is None:
            self._as_fired = False
        self._sheet, self._now = sheet, now
        self.border_title = run_title(sheet, now, self.outer_size.width - TITLE_FRAME)
        self._beside = beside
        waterfall = self.query_one(Waterfall)
        waterfall.room = self._most_rows()
        waterfall.show(sheet, now)
        if sheet is not None and sheet.rows and before is None:
            waterfall.go_to(next((row for row in sheet.rows if row.call.name == first), sheet.rows[0]))
        paused = sheet.paused if sheet is not None else None
        if paused is not None and (before is None or before.paused != paused):
            waterfall.go_to(paused)
        if sheet is not None and not sheet.running and (before is None or before.running):
            self._open_news(sheet, waterfall, first)
        elif sheet is not None and before is not None and sheet.checked is not before.checked:
            if sheet.first_news is None and sheet.checked is not None and not sheet.checked.passed:
                waterfall.go_to_expected()  # an error would explain the failed expectations already
        elif before is not None and (row := self.row) and before.rows[row.number - 1].result is None:
            self._follow_row()
        self._share_height()
        self._draw()

    def forget(self) -> None:
        """Draw everything again the next time, even if nothing has changed."""
        self._drawn = None

    def _open_news(self, sheet: RunSheet, waterfall: Waterfall, first: str) -> None:
        """Open the error of a failed row, else a blocking answer, else a tab of the selected row.

        If that is the first row, and not of the hook `first`, select the first row with content instead.
        """
        if sheet.first_news is not None:
            row = waterfall.selected
            if not (isinstance(row, CallRow) and (row.failed or row.stale)):
                waterfall.go_to(sheet.rows[sheet.first_news])
            self._open("error")
        elif (stopped := stopping_row(sheet)) is not None:
            waterfall.go_to(sheet.rows[stopped])
            self._open("answer")
        else:
            if (row := self.row) is not None and row.number == 1 and row.call.name != first:
                waterfall.go_to(first_row_with_content(sheet) or row)
            self._follow_row()

    def _open(self, tab: Tab) -> None:
        self._tab = self._wanted = tab

    def _follow_row(self) -> None:
        """Open the requested tab if it has content; else the error, or the first tab with content."""
        row, sheet, tabs = self.row, self._sheet, self._tabs()
        if sheet is not None and row is not None and row.result is not None:
            wanted: tuple[Tab, ...] = (self._wanted, "error", *tabs[1:])  # times are always there
            self._tab = next(tab for tab in wanted if tab in tabs and has_content(tab, sheet, row))

    def _share_height(self) -> None:
        waterfall = self.query_one(Waterfall)
        inner = self.content_size.height
        self.set_class(inner < 14, "-low")
        waterfall.terse = inner < TERSE_HEIGHT
        needed = waterfall.line_count + waterfall.has_heading
        waterfall.styles.height = max(1, min(needed, self._most_rows() + waterfall.has_heading))
        self.set_class(self.row is not None and self.content_size.width >= BESIDE_WIDTH, "-beside")
        if self.has_class("-untabbed") != (self.row is None):
            self.set_class(self.row is None, "-untabbed")
            self.refresh_bindings()

    def _most_rows(self) -> int:
        """Return how many rows the time line may show, below its heading."""
        inner = self.content_size.height
        return max(1, inner // 2, inner - LEAST_TAB_HEIGHT) - (inner >= TERSE_HEIGHT)

    def _key_hint(self) -> Content:
        if (skipped := self._skipped) is not None and skipped.hook is not None:
            return key_hints(("lines.choose", "why"))
        row = self.row
        if row is None or self._sheet is None or self.view is None:
            return Content()
        if self._sheet.paused is not None:
            words = (("fire.step", "run"), ("fire.pass_over", "skip"), ("fire.run_all", "run all"))
            return key_hints(*words)
        if self._sheet.running:
            return key_hints(("fire.leave", "cancel"))
        frame = run_tabs.failure_frame(TabInput(self._sheet, row, self.view.host))
        edit = (("run.edit", f"open line {frame.line}"),) if frame else ()
        focused = self.query_one(Waterfall).has_focus
        return key_hints(("lines.choose", "read") if focused else ("fire.leave", "back"), *edit)

    @property
    def row(self) -> CallRow | None:
        """The call under the cursor."""
        selected = self.query_one(Waterfall).selected
        return selected if isinstance(selected, CallRow) else None

    @property
    def _skipped(self) -> NotRun | None:
        """The hook under the cursor that did not run."""
        selected = self.query_one(Waterfall).selected
        return selected if isinstance(selected, NotRun) else None

    def _draw(self) -> None:
        """Draw the tabs, and the open one if its text has changed."""
        row, sheet = self.row, self._sheet
        self.border_subtitle = Content("   ").join(filter(None, (self._key_hint(), self._beside)))
        body = self.query_one("#fire-tab", Body)
        beside = self.has_class("-beside")
        if beside and self._tab == "source":
            self._tab = "timing"
        seen = (
            sheet and (sheet.number, sheet.running, sheet.checked),
            row and (row.number, row.phase),
            self._tab,
            self._as_fired,
            self.query_one(Waterfall).selected if row is None else None,
            body.size.height if self._tab == "context" else body.size.height >= ROOMY_HEIGHT,
            beside,
        )
        if seen != self._drawn:
            self._drawn = seen
            if sheet is not None and row is not None:
                labels = {tab: tab_label(tab, sheet, row) for tab in self._tabs()}
                self.query_one(TabBar).show(labels, self._tab)
            source = self.query_one("#fire-source", Body) if beside else body
            for one in {body, source}:
                one.query_one(FittedText).rebuild(layout=True)
            body.scroll_home(animate=False)
            shows_source = beside or self._tab == "source"
            if shows_source and sheet is not None and row is not None and self.view is not None:
                line = main_line(TabInput(sheet, row, self.view.host))
                self.call_after_refresh(source.scroll_to_source, line)

    def _source(self, width: int) -> Content:
        if self.row is None or self._sheet is None or self.view is None:
            return Content()
        return source_text(TabInput(self._sheet, self.row, self.view.host, width=width))

    def _tabs(self) -> tuple[Tab, ...]:
        """Return the tabs; the source is none if it is beside them."""
        tabs = tabs_of_run(self._sheet)
        return tuple(tab for tab in tabs if tab != "source") if self.has_class("-beside") else tabs

    def _text(self, width: int, limit: int = MOST_DRAWN) -> Content:
        selected = self.query_one(Waterfall).selected
        match selected:
            case CallRow(phase="paused"):
                return paused_text(selected)
            case CallRow() if self._sheet is not None and self.view is not None:
                shown = self._tab_input(self._sheet, selected, self.view.host, limit, width)
                return TAB_TEXTS[self._tab](shown)
            case NotRun():
                reason = Content(safe_word(not_called_reason(selected), 2_000))
                return Content.styled(f"{safe_word(selected.name)} did not run\n", "bold") + reason
            case Remark(about="copies") if self._sheet is not None and self._sheet.run is not None:
                return run_lines.copied_files_text(self._sheet.run.guarded, self._short)
            case Remark(about="times") if self._sheet is not None:
                return run_lines.times_text(self._sheet)
            case Remark(about="expected") if self._sheet is not None and self._sheet.checked is not None:
                return join_lines(run_lines.expectation_lines(self._sheet.checked))
            case Remark(folds=True) if self._sheet is not None:
                return run_lines.not_run_text(self._sheet)
            case Remark():
                return Content(selected.text)
            case GroupHeading(name, note):
                return Content(f"{name}\n{note}")
        return ending_text(self._sheet) if self._sheet is not None else Content()

    def _tab_input(self, sheet: RunSheet, row: CallRow, host: Host, limit: int, width: int) -> TabInput:
        height = self.query_one("#fire-tab", Body).size.height
        copied = limit > MOST_DRAWN
        around = 2 if copied or height >= ROOMY_HEIGHT else 1
        if self.has_class("-beside") and not copied:
            around = -1
        room = MOST_COPIED if copied else height
        return TabInput(sheet, row, host, limit, self._now, around, room, self._as_fired, width)

    def _short(self, path: Path) -> str:
        return self.view.host.machine.short(path) if self.view is not None else str(path)

    @on(LineList.Moved)
    def _moved(self, event: LineList.Moved) -> None:
        event.stop()
        self._as_fired = False
        self._follow_row()
        self._share_height()
        self._draw()

    @on(LineList.Chosen)
    def _chosen(self, event: LineList.Chosen) -> None:
        event.stop()
        row, skipped = self.row, self._skipped
        hook = skipped.hook if skipped is not None else None
        if row is not None and row.reason:
            hook = row.call.hook
        if hook is not None and self._sheet is not None:
            self.post_message(WhyRequested(hook, self._sheet.plan.event.key))
        elif self._sheet is not None:
            self.query_one("#fire-tab", Body).focus()

    @on(TabBar.Picked)
    def _picked(self, event: TabBar.Picked) -> None:
        event.stop()
        self._open(event.tab)
        self._draw()

    def action_turn(self, by: int) -> None:
        if self.row is None:
            self.app.notify("No handler is selected.", markup=False)
            return
        tabs = self._tabs()
        self._open(tabs[(tabs.index(self._tab) + by) % len(tabs)])
        self._draw()

    def action_step(self, by: int) -> None:
        """Show the event as it was one handler earlier or later."""
        row, sheet = self.row, self._sheet
        of = row or next(iter(sheet.rows), None) if sheet is not None else None
        steps = steps_of(sheet, of) if sheet is not None and of is not None else ()
        if not steps:
            self.app.notify("No handler has run: there is no event to step through.", markup=False)
            return
        start = 1 if by > 0 or row is not None else len(steps)  # without a row, from the first or the last
        at = 0 if self._as_fired else next((i for i, step in enumerate(steps, 1) if step is row), start)
        to = at + by if self._tab == "context" and row is not None else at
        self._open("context")
        if not 0 <= to <= len(steps):
            text = "This is the event as it was fired." if by < 0 else "This was the last handler."
            self.app.notify(text, markup=False)
        else:
            with self.prevent(LineList.Moved):
                self.query_one(Waterfall).go_to(steps[max(to - 1, 0)])
            self._as_fired = to == 0
        self._share_height()
        self._draw()

    def action_read(self) -> None:
        body = self.query_one("#fire-tab", Body)
        if round(body.scroll_y) >= body.max_scroll_y:
            self.app.notify("This is the end of the text.", markup=False)
        else:
            body.scroll_page_down(animate=False)

    def cannot(self, action: str) -> str:
        """Return why an action would have no effect now; empty if it would have one."""
        selected = self.is_mounted and self.row is not None
        return (
            "" if selected or action != "edit_line" else "No handler is selected: there is nothing to edit."
        )

    def action_edit_line(self) -> None:
        row = self.row
        if row is None or self._sheet is None or self.view is None:
            self.app.notify(self.cannot("edit_line"), markup=False)
            return
        frame = run_tabs.failure_frame(TabInput(self._sheet, row, self.view.host))
        target = row.call.target
        path = Path(frame.file) if frame else target.path if isinstance(target, Code) else None
        if path is None:
            self.app.notify("This handler was registered by code and has no file.", markup=False)
            return
        self.post_message(EditorRequested(FilePosition(path, frame.line if frame else 1)))

    def as_text(self) -> str:
        """Return the whole run as text: title, time line, and the open tab."""
        title = run_title(self._sheet, self._now, MOST_COPIED).plain
        head = f"{title}\n\n{self.query_one(Waterfall).as_text()}"
        return f"{head}\n{self._tab}\n{self.copied_text()}\n"

    def copied_text(self) -> str:
        """Return the open tab as text; empty without a run."""
        return self._text(MOST_COPIED, MOST_COPIED).plain if self._sheet is not None else ""

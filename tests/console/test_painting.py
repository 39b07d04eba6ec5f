"""What is painted, styled and measured piece by piece comes to what all of it, made anew, would."""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import current_thread, main_thread

import pytest
from rich.cells import get_character_cell_size
from rich.segment import Segment
from tests.conftest import MakeHook
from tests.console.conftest import READY, Open, Story
from textual import events
from textual._compositor import ChopsUpdate, Compositor, LayoutUpdate
from textual.css.stylesheet import Stylesheet
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input, Static

from hookscope.app.snapshot import Snapshot
from hookscope.console.app import Console
from hookscope.console.controllers.job_runner import JobRunner
from hookscope.console.panes import view_exports
from hookscope.console.panes.hook_list import HookList
from hookscope.console.state.log_entries import LogEntry
from hookscope.console.widgets.lines import StripCache
from hookscope.console.widgets.painting import LaidOutOnce, PartialCompositor

NOW = datetime(2026, 11, 22)
# Each goes to another pane, opens or shuts something, or moves something.
KEYS = [
    *("down", "enter", "end", "escape", "slash", "h", "escape"),
    *("2", "3", "up", "slash", "x", "escape", "z", "z", "4", "1", "up", "tab"),
]


class Terminal:
    """Keeps each cell as it was painted last."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], tuple[str, object]] = {}

    def take(self, update: object, app: Console) -> None:
        if not isinstance(update, ChopsUpdate | LayoutUpdate):
            return
        x = y = 0
        for segment in app.console.render(update):
            if segment.control:
                (_, *place) = segment.control[0]
                x, y = (int(number) for number in place)
            elif segment.text == "\n":
                x, y = 0, y + 1
            else:
                x = self.put(segment, x, y)

    @property
    def text(self) -> str:
        """All lines."""
        return "".join(self.cells[x, y][0] for y, x in sorted((y, x) for x, y in self.cells))

    def put(self, segment: Segment, x: int, y: int) -> int:
        """Paint a text from a cell on; the cell behind it."""
        style = segment.style.clear_meta_and_links() if segment.style is not None else None
        for letter in segment.text:
            self.cells[x, y] = letter, style
            x += get_character_cell_size(letter)
        return x


def whole(painter: PartialCompositor) -> dict[tuple[int, int], tuple[str, object]]:
    """The same cells, of a paint of everything; they are what Textual by itself would paint."""
    everything = Compositor._render_chops(painter, painter.size.region, lambda _: True)
    cells = _cells(painter.render_strips())
    assert cells == _cells(Strip.join(line.values()) for line in everything), (
        "a part behind shows, or none does"
    )
    return cells


def _cells(lines: Iterable[Strip]) -> dict[tuple[int, int], tuple[str, object]]:
    terminal = Terminal()
    for y, strip in enumerate(lines):
        x = 0
        for segment in strip:
            x = terminal.put(segment, x, y)
    return terminal.cells


async def calm(story: Story) -> None:
    """Wait until all is shown that a thread was asked for: nothing comes between two paints by itself."""

    def still() -> bool:
        row, checked = story.screen.state.row, story.screen.state.checked  # soon after a row is selected
        is_read = row is None or (checked is not None and checked.row == row.id)
        return is_read and all(worker.is_finished for worker in story.app.workers)

    await story.pilot.pause()
    while not still():
        await story.until(still, "all threads have answered")
        await story.pilot.pause()


async def test_partial_paints_equal_a_full_repaint(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        make_hook(
            workspace / "hooks", f"hook-{number:02}", READY if number % 3 else "{openclaw: {events: []}}"
        )
    terminal = Terminal()
    displays = Console._display

    def display(app: Console, screen: object, update: object) -> None:
        terminal.take(update, app)
        displays(app, screen, update)  # type: ignore[arg-type]

    monkeypatch.setattr(Console, "_display", display)
    async with console((200, 50), paints=True) as story:
        screen, painter = story.screen, story.screen._compositor
        assert isinstance(painter, PartialCompositor)
        screen.context.log_entries([LogEntry(NOW, "fire", "hook", f"line {at}") for at in range(99)])
        await story.shows("line 98")
        await calm(story)
        for key in KEYS:
            await story.press(key)
            for field in screen.query(Input):  # a key may have made one
                field.cursor_blink = False
            if key == "4":  # what comes of it comes from a thread
                await story.until(lambda: screen.panes.hosts_pane.comparison, "the hosts are compared")
            await calm(story)
            in_pieces = whole(painter)
            assert terminal.cells == in_pieces, f"{key}: not all that changed was painted"
            for node in screen.walk_children():
                node.notify_style_update()
                for kept in vars(node).values():
                    if isinstance(kept, StripCache):
                        kept.clear()
            story.app.stylesheet.update(screen)
            for node in (screen, *screen.walk_children(Widget)):
                node.refresh(layout=node is screen)
            await calm(story)
            assert whole(painter) == in_pieces, f"{key}: not all that changed was styled or measured"
        for number, key in enumerate(("ctrl+o", "question_mark", "W")):
            await story.press(key)
            await story.until(lambda: story.app.screen is not screen, f"{key} has opened a dialog")
            over = story.app.screen
            for field in over.query(Input):
                field.cursor_blink = False
            screen.context.log_entries([LogEntry(NOW, "fire", f"new {number}", "hook")])
            await story.shows(f"new {number}")  # it shines through
            await calm(story)
            assert isinstance(over._compositor, PartialCompositor)
            in_pieces = whole(over._compositor)
            assert terminal.cells == in_pieces, f"{key}: not all that changed was painted"
            story.app.stylesheet.update(over)
            over.refresh(layout=True)
            await calm(story)
            assert whole(over._compositor) == in_pieces, f"{key}: not all was styled or measured"
            await story.press("escape")
            await calm(story)
            assert terminal.cells == (below := whole(painter)), f"{key}: what lay below was not painted again"
            story.app.stylesheet.update(screen)
            screen.refresh(layout=True)
            await calm(story)
            assert whole(painter) == below, f"{key}: what lay below was not styled as it should"


async def test_text_before_a_partial_paint_is_kept(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):  # more than fit: there are scroll bars
        make_hook(workspace / "hooks", f"hook-{number:02}", READY)
    terminal, displays = Terminal(), Console._display

    def display(app: Console, screen: object, update: object) -> None:
        terminal.take(update, app)
        displays(app, screen, update)  # type: ignore[arg-type]

    monkeypatch.setattr(Console, "_display", display)
    async with console((200, 50), paints=True) as story:
        await calm(story)
        painter = story.screen._compositor
        assert isinstance(painter, PartialCompositor)
        parts = [part for part in painter.visible_widgets if isinstance(part, Widget) and part.size.area]
        for part in parts:
            around = part.outer_size
            half = around.width // 2
            for x, width in ((0, half), (half, 1), (half, around.width - half - 1)):
                part.refresh(Region(x, 0, width, around.height).translate(-part.content_offset))
                await calm(story)
                assert terminal.cells == whole(painter), f"{part} from {x} on, {width} cells"


async def test_lines_are_cut_only_at_visible_neighbours(console: Open) -> None:
    async with console((200, 50), paints=True) as story:
        await calm(story)
        for key in ("2", "question_mark"):
            await story.press(key)
            await calm(story)
            screen = story.app.screen
            for y, pieces in enumerate(screen._compositor._render_chops(screen.size.region, lambda _: True)):
                seen = [screen.get_widget_at(x, y)[0] for x in range(screen.size.width)]
                parts = 1 + sum(one is not other for one, other in pairwise(seen))
                assert len(pieces) == parts, f"{key}: line {y} is painted in {[*pieces]}"


async def test_a_mounted_widget_gets_its_size_even_if_its_place_was_read_first(console: Open) -> None:
    events_text = []

    class Late(Static):
        def on_resize(self, event: events.Resize) -> None:
            events_text.append(event.size)

    async with console((80, 24)) as c:
        late = Late("late")
        await c.screen.query_one("#body").mount(late)
        c.screen._compositor.update_widgets({late})  # as each key does that paints something
        assert late in c.screen._compositor.full_map  # and whoever asks where a part stands
        await c.until(lambda: events_text, "the new part knows its size")
        assert events_text[-1] == late.outer_size


async def test_the_last_text_set_around_a_layout_gets_its_space(console: Open) -> None:
    async with console((80, 24)) as story:
        text = Static("one line")
        await story.screen.mount(text)
        await story.until(lambda: text.size.height == 1, "the first text is laid out")
        text.update("another line")
        story.screen._refresh_layout()  # another part asked for it
        text.update("now\nthree\nlines")
        await story.until(lambda: text.size.height == 3, "the last text has room")


async def test_layouts_run_once_and_closing_dialogs_are_not_styled(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    asked_again, styled, written = [], [], []
    lays_out, styles, writes = LaidOutOnce._refresh_layout, Stylesheet.apply, view_exports._list_text

    def lay_out(screen: LaidOutOnce[object], size: Size | None = None, scroll: bool = False) -> None:
        asked = {part for part in screen.walk_children(Widget) if part._layout_required}
        lays_out(screen, size, scroll)
        for part in (screen, *screen._compositor.visible_widgets):
            if part._repaint_required or (part._layout_required and part not in asked and not scroll):
                asked_again.append((screen, part))

    def apply(sheet: Stylesheet, node: DOMNode, **how: object) -> None:
        styled.append(node)
        styles(sheet, node, **how)  # type: ignore[arg-type]

    def write(*what: object) -> str:
        written.append(current_thread())
        return writes(*what)  # type: ignore[arg-type]

    monkeypatch.setattr(LaidOutOnce, "_refresh_layout", lay_out)
    monkeypatch.setattr(Stylesheet, "apply", apply)
    monkeypatch.setattr(view_exports, "_list_text", write)
    async with console((80, 24), paints=True) as story:
        screen = story.screen
        asked_again.clear()  # of the start: nothing is painted before all is there
        for key in ("3", "1", "enter", "escape"):
            await story.press(key)
        for key in ("W", "n", "question_mark", "x"):
            await story.press(key)
            await story.until(lambda: story.app.screen is not screen, f"{key} has opened a dialog")
            await story.until(
                lambda: story.app.screen.size == story.app.screen._compositor.size, "it is there"
            )
            await story.pilot.pause()
            styled.clear()
            await story.press("escape")
            await story.until(lambda: story.app.screen is screen, f"{key}: the dialog is closed")
            await story.pilot.pause()
            assert len(styled) < 20, f"{key}: all that lay below is styled anew, {len(styled)} parts"
        assert not asked_again, (
            "what a layout has placed and painted asks for no other, for a scroll bar neither"
        )
        assert not written, "thousands of hooks are written out for nobody"
        await story.press("x")
        await story.until(lambda: len(story.app.screen_stack) == 2, "a file is asked for")
        await story.until(lambda: isinstance(story.app.focused, Input), "it can be typed")
        await story.press(*"list.txt", "enter")
        await story.until(lambda: written, "the list is written out")
        assert written[0] is not main_thread(), "keys are answered meanwhile"


async def test_a_dialog_covered_while_opening_stays_below(console: Open) -> None:
    async with console((120, 36), paints=True) as story:
        story.screen.action_workers()
        below = story.app.screen
        story.app.action_help()
        assert story.app.screen is not below
        await story.until(lambda: below._compositor.size == story.app.size, "it stands below the other")
        await story.press("escape")
        await story.shows("Worker processes")


async def test_a_list_is_painted_only_after_its_layout(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    displays, painted = Console._display, []

    def display(app: Console, screen: object, update: object) -> None:
        if app.screen.query("#rows"):
            rows = app.screen.query_one("#rows", HookList)
            painted.append((rows.inner_width, rows._laid_out[0]))
        displays(app, screen, update)  # type: ignore[arg-type]

    async with console((200, 50), paints=True) as story:
        await story.shows("greet")
        monkeypatch.setattr(Console, "_display", display)
        for _ in range(2):
            await story.press("z")
            await story.pilot.pause()
        assert len({width for width, _ in painted}) == 2, "the list was made wide, and narrow again"
        assert [(width, made_for) for width, made_for in painted if width != made_for] == []


async def test_the_first_hooks_are_painted_before_other_files_are_read(
    console: Open, workspace: Path, make_hook: MakeHook, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_hook(workspace / "hooks", "greet", READY)
    terminal, displays, remembers = Terminal(), Console._display, JobRunner.remember
    stood: list[bool] = []

    def display(app: Console, screen: object, update: object) -> None:
        terminal.take(update, app)
        displays(app, screen, update)  # type: ignore[arg-type]

    def remember(runner: JobRunner, view: Snapshot) -> None:
        stood.append("greet" in terminal.text)
        remembers(runner, view)

    monkeypatch.setattr(Console, "_display", display)
    monkeypatch.setattr(JobRunner, "remember", remember)
    async with console((80, 24), paints=True) as story:
        await story.until(lambda: bool(stood), "what was fired before is read")
    assert stood == [True]


async def test_actions_after_a_paint_do_not_wait_for_an_open_dialog(console: Open) -> None:
    done: list[str] = []
    async with console((80, 24), paints=True) as story:
        story.screen.call_after_paint(partial(done.append, "as the dialog came"))
        story.app.action_help()
        await story.until(lambda: bool(done), "it is done below the dialog")
        story.screen.call_after_paint(partial(done.append, "below it"))
        await story.until(lambda: len(done) == 2, "so is this")
    assert done == ["as the dialog came", "below it"]

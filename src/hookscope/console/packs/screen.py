"""The packs of this host: a line each, below or beside them what is known of the chosen one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hookscope.console.dialog import Dialog
from hookscope.console.keymap.hints import with_keys
from hookscope.console.packs.keys import KEYS
from hookscope.console.packs.rows import Inside, PackRow, pack_sheet, row_line
from hookscope.console.reading import BESIDE
from hookscope.console.sheet import Sheet
from hookscope.console.text import plain
from hookscope.console.theme import MUTED

if TYPE_CHECKING:
    from hookscope.console.packs.desk import PacksDesk
    from hookscope.workbench import View

WIDE = 130  # cells from which list and sheet stand side by side
WANT_ONE = frozenset({"update", "update_all", "check", "diff", "remove", "recheck", "copy"})
HOW = (
    "{packs.install} installs one: a folder, an archive, a package of npm, an installed Python package or a "
    "git address. It is checked as a whole, and everything that would be written is shown first."
)


class PacksScreen(Dialog[None]):
    """Shows what it is given; what is asked of packs is for the desk.

    It fills the screen as a pane does: the line of keys stands just below, so the frame names none.
    """

    HELP = (
        "What was installed with Hookscope, from where, and what has changed on disk since. Nothing is "
        "written before it is shown, and {packs.remove} takes back exactly what an install did."
    )
    BINDINGS: ClassVar[list[BindingType]] = KEYS
    DEFAULT_CSS = """
    PacksScreen {
        background: $background;
        & > Vertical { width: 100%; height: 100%; background: transparent; }
        & > Vertical, &.-tall > Vertical { padding: 0 1; }
        & Container { height: 1fr; layout: vertical; }
        & OptionList {
            height: auto; max-height: 8; border: none; padding: 0; background: transparent;
            text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
            &:focus { border: none; }
        }
        & VerticalScroll {
            height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable;
            border-top: solid $border-blurred;
            &:focus { border-top: heavy $border; }
        }
        & #packs-sheet { width: 1fr; height: auto; }
        & #packs-said { height: auto; max-height: 5; display: none; margin: 1 0 0 0; }
        & #packs-said.-said { display: block; }
        &.-beside Container { layout: horizontal; }
        &.-beside OptionList { width: 50%; min-width: 72; max-width: 92; height: 1fr; max-height: 100%; }
        &.-beside VerticalScroll {
            border-top: none; border-left: solid $border-blurred; padding: 0 0 0 1;
            &:focus { border-left: heavy $border; }
        }
        &.-none VerticalScroll, &.-none VerticalScroll:focus { border: none; }
    }
    """

    def __init__(self, desk: PacksDesk) -> None:
        super().__init__()
        self._desk = desk
        self._rows: tuple[PackRow, ...] | None = None
        self._view: View | None = None
        self._inside: Inside | None = None
        self._drawn: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Packs"
            with Container():
                yield OptionList(id="packs-rows", markup=False)
                with VerticalScroll(id="packs-about"):
                    yield Static(id="packs-sheet", markup=False)
            yield Static(id="packs-said", markup=False)

    def on_mount(self) -> None:
        self.query_one(OptionList).focus()
        self._desk.opened(self)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= WIDE, "-beside")
        self.call_after_refresh(self._lay_out)

    # What is shown.

    @property
    def row(self) -> PackRow | None:
        """The chosen one."""
        at = self.query_one(OptionList).highlighted
        rows = self._rows or ()
        return rows[at] if at is not None and at < len(rows) else None

    def show(self, rows: Sequence[PackRow], view: View, fresh: str = "") -> None:
        """These are installed; whoever was chosen stays so, but for one that is `fresh`."""
        chosen = fresh or (self.row.id if self.row is not None else "")
        self._rows, self._view = tuple(rows), view
        listed = self.query_one(OptionList)
        width = listed.scrollable_content_region.width - BESIDE if listed.size.width else 58
        listed.set_options(Option(row_line(row, rows, width)) for row in rows)
        if rows and not listed.display:
            self.call_after_refresh(listed.focus)
        listed.display = bool(rows)
        self.set_class(not rows, "-none")
        ids = [row.id for row in rows]
        listed.highlighted = None if not rows else ids.index(chosen) if chosen in ids else 0
        frame = self.query_one(Vertical)
        frame.border_title = f"Packs {len(rows)}   {view.host.dialect.product}"
        self._draw()
        self.show_keys()

    def cannot(self, action: str) -> str:
        """Why an action would come to nothing now."""
        if action not in WANT_ONE or self._rows:
            return ""
        if self._rows is None:
            return "Still reading the files of the packs."
        return with_keys("No pack is installed here: {packs.install} installs one.")

    def show_inside(self, row: PackRow, inside: Inside) -> None:
        """What its sources use is known now."""
        if self.row is not None and self.row.id == row.id:
            self._inside = inside
            self._draw()

    def say(self, *lines: Content) -> None:
        """What goes on or came of it; nothing: the lines are free."""
        said = self.query_one("#packs-said", Static)
        said.set_class(bool(lines), "-said")
        said.update(Content("\n").join(lines))

    @on(OptionList.OptionHighlighted)
    def _moved(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self._draw()

    @on(OptionList.OptionSelected)
    def _chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.query_one("#packs-about").focus()

    def _lay_out(self) -> None:
        if self.is_attached and self._rows is not None and self._view is not None:
            self.show(self._rows, self._view)

    def _draw(self) -> None:
        """The sheet of the chosen one."""
        row, view = self.row, self._view
        if view is None:
            return
        box = self.query_one("#packs-about", VerticalScroll)
        width = box.scrollable_content_region.width - BESIDE if box.size.width else 60
        if row is None:
            self.query_one("#packs-sheet", Static).update(_none(view, width))
            return
        key = (row.id, row.status.record.at)
        if self._drawn != key:
            self._inside = None
            self._drawn = key
            box.scroll_home(animate=False)
            self._desk.reading.look_inside(row, view)
        sheet = pack_sheet(row, view, self._inside, width, datetime.now(UTC))
        self.query_one("#packs-sheet", Static).update(sheet)

    # What is asked for.

    def action_close(self) -> None:
        if self._desk.busy:
            self._desk.stop()
        elif self._rows and self.query_one("#packs-about").has_focus:
            self.query_one(OptionList).focus()
        else:
            self.dismiss(None)

    def action_install(self) -> None:
        self._desk.ask_spec()

    def action_link(self) -> None:
        self._desk.ask_spec(link=True)

    def action_update(self) -> None:
        if row := self._wanted():
            self._desk.update((row.id,))

    def action_update_all(self) -> None:
        if self._wanted():
            self._desk.update(tuple(row.id for row in self._rows or ()))

    def action_check(self) -> None:
        if self._wanted():
            self._desk.check(tuple(row.id for row in self._rows or ()))

    def action_diff(self) -> None:
        if row := self._wanted():
            self._desk.compare(row)

    def action_remove(self) -> None:
        if row := self._wanted():
            self._desk.remove(row.id)

    def action_recheck(self) -> None:
        if not self._wanted():
            return
        self._desk.reading.refresh()
        self.app.notify("Reading the files of all packs again.", markup=False)

    def action_copy(self) -> None:
        row = self._wanted()
        if row is not None and self._view is not None:
            sheet = pack_sheet(row, self._view, self._inside, 100, datetime.now(UTC))
            self.app.copy_to_clipboard(sheet.plain)
            self.app.notify("Copied what is known of it.", markup=False)

    def action_scroll(self, by: int) -> None:
        box = self.query_one("#packs-about", VerticalScroll)
        box.scroll_relative(y=by * max(1, box.size.height - 1), animate=False)

    def _wanted(self) -> PackRow | None:
        """The chosen one; says so where there is none."""
        if self.row is None:
            self.app.notify(self.cannot("remove"), markup=False)
        return self.row


def _none(view: View, width: int) -> Content:
    sheet = Sheet(width)
    sheet.say(plain(f"No pack is installed for {view.host.dialect.product} here."))
    sheet.blank()
    sheet.say(Content.styled(with_keys(HOW), MUTED))
    return sheet.content()

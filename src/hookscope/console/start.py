""" "Start here": what a first start shows. Nothing was written, nothing has run, and what to press."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from hookscope.console.hooks.rows import by_precedence, tail
from hookscope.console.hooks.sheet import Sheet, foreign
from hookscope.console.keymap.hints import hints, key_of
from hookscope.console.theme import FAINT, MUTED

if TYPE_CHECKING:
    from hookscope.console.hooks.rows import Row
    from hookscope.workbench import View

GAP = 3  # cells behind a key


def start_sheet(view: View, row: Row | None, folders: bool, width: int) -> Content:
    """The strip's text."""
    sheet = Sheet(width)
    host = view.host
    count = len(view.inventory.hooks)
    found = "No hook was found." if not count else f"{count} hook{'s were' if count > 1 else ' was'} found."
    sheet.say(Content(f"Nothing to set up. {found} Nothing was written to disk, and nothing has run."))
    sheet.blank()
    fire = Content("fire a test event at the selected hook")
    if row is not None and row.events:
        fire = Content.assemble(fire, ("   ", ""), foreign(f"({row.events[0]})").stylize(MUTED))
    told = {
        key_of("hooks.fire"): fire,
        key_of("hooks.new"): Content("write your own: a hook that works, opened in $EDITOR"),
        key_of("hooks.folders"): Content("folders looked in, the one that wins first"),
    }
    cells = max(map(len, told)) + GAP
    for key, what in told.items():
        sheet.put([(Content.styled(key, "bold"), cells)], what, 2)
    if folders:
        for number, folder in enumerate(by_precedence(view.folders), 1):
            mine = view.hooks_in.get(folder, 0)
            note = "absent" if folder.real is None else f"{mine} hook{'' if mine == 1 else 's'}"
            heads = [
                (Content.styled(f"{number} {folder.source}", MUTED), 14),
                (Content.styled(note, FAINT), 10),
            ]
            path = tail(foreign(host.surroundings.short(folder.path)), width - 30)
            sheet.put(heads, path, 6)
    return sheet.content()


class StartHere(Widget):
    """The strip of a first start. Its height follows from what it says: no text is put in afterwards."""

    BORDER_TITLE = "Start here"

    view: reactive[View | None] = reactive(None, layout=True)
    row: reactive[Row | None] = reactive(None, layout=True)
    folders: reactive[bool] = reactive(True, layout=True)

    def on_mount(self) -> None:
        self.name_keys()

    def name_keys(self) -> None:
        """Write the keys in force into the frame and the strip."""
        self.border_subtitle = hints(("hooks.folders", "folders"), ("console.back", "hide"))
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return self._said(width).plain.count("\n") + 1

    def render(self) -> Content:
        return self._said(self.content_region.width)

    def _said(self, width: int) -> Content:
        if self.view is None or not width:
            return Content()
        return start_sheet(self.view, self.row, self.folders, width)

"""The pane "Start here" of a first start: the first keys, and a note that nothing was run yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.geometry import Size
from textual.reactive import reactive
from textual.widget import Widget

from hookscope.console.keymap.active_keys import key_hints, key_of, with_keys
from hookscope.console.state.hook_rows import TRUST_HINT, by_precedence
from hookscope.console.theme.text_styles import (
    FAINT,
    MUTED,
    Sheet,
    keep_ends,
    keep_tail,
    safe_line,
    safe_paragraph,
)

if TYPE_CHECKING:
    from hookscope.app.snapshot import Snapshot
    from hookscope.console.state.hook_rows import HookRow

START_INDENT, START_GAP = 2, 3  # cells before and after a key
LEAST_REASON_WIDTH = 16  # cells of a reason


def start_sheet(view: Snapshot, row: HookRow | None, folders: bool, width: int) -> Content:
    """Return the pane's text."""
    sheet = Sheet(width)
    host = view.host
    count = len(view.inventory.hooks)
    count_text = (
        "No hook was found." if not count else f"{count} hook{'s were' if count > 1 else ' was'} found."
    )
    sheet.paragraph(Content(f"{count_text} No set-up is needed. Nothing was written or run."))
    sheet.blank()
    room = width - START_INDENT - len(key_of("list.why")) - START_GAP
    reason_by_key = {key_of("list.why"): _reason(row, room)} if row is not None and row.why else {}
    if row is not None and row.events:
        event = safe_paragraph(f"({row.events[0]})").stylize(MUTED)
        fire = Content.assemble("fire a test event at the selected hook   ", event)
        reason_by_key[key_of("hooks.fire")] = fire
    reason_by_key |= {
        key_of("hooks.new"): Content("create your own hook, opened in $EDITOR"),
        key_of("hooks.folders"): Content("searched folders, highest precedence first"),
    }
    cells = max(map(len, reason_by_key)) + START_GAP
    for key, what in reason_by_key.items():
        sheet.put([(Content.styled(key, "bold"), cells)], what, START_INDENT)
    if folders:
        for number, folder in enumerate(by_precedence(view.folders), 1):
            hook_count = view.hook_counts.get(folder, 0)
            note = "absent" if folder.real is None else f"{hook_count} hook{'' if hook_count == 1 else 's'}"
            heads = [
                (Content.styled(f"{number} {folder.source}", MUTED), 14),
                (Content.styled(note, FAINT), 10),
            ]
            path = keep_tail(safe_paragraph(host.machine.short(folder.path)), width - 30)
            sheet.put(heads, path, 6)
    return sheet.content()


def _reason(row: HookRow, width: int) -> Content:
    """Return what blocks the selected hook, in one line: a small screen shows it nowhere else."""
    more = f", and {row.reasons - 1} more" if row.reasons > 1 else ""
    sign = Content.styled(row.state_style.text, row.state_style.style)
    prefix = Content.assemble("why ", safe_line(row.name, 60), " is ", sign, ": ")
    available = width - prefix.cell_length - len(more)
    reason = safe_paragraph(with_keys(TRUST_HINT) if row.asks_trust else row.why)
    if available >= LEAST_REASON_WIDTH:  # else the reason wraps: a narrow pane has more lines
        reason = safe_paragraph(keep_ends(reason.plain, available))
    return Content.assemble(prefix, reason, more)


class StartHere(Widget):
    """The pane of a first start. Its height is that of its text."""

    BORDER_TITLE = "Start here"

    view: reactive[Snapshot | None] = reactive(None)
    row: reactive[HookRow | None] = reactive(None)
    folders: reactive[bool] = reactive(True)

    def __init__(self, *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self._said: tuple[int, Content] = 0, Content()  # width and text, cached

    def on_mount(self) -> None:
        self.name_keys()

    def name_keys(self) -> None:
        """Show the current keys in the border and the text."""
        self.border_subtitle = key_hints(("hooks.folders", "folders"), ("console.back", "hide"))
        self._said = 0, Content()
        self.refresh(layout=True)

    def watch_view(self) -> None:
        self._update_text()

    def watch_row(self) -> None:
        self._update_text()

    def watch_folders(self) -> None:
        self._update_text()

    def _update_text(self) -> None:
        """Update the text; other panes are laid out again only if its height changes."""
        width, before = self._said
        self._said = 0, Content()
        if _height_of(before) != _height_of(self._text(width)):
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return _height_of(self._text(width))

    def render(self) -> Content:
        return self._text(self.content_region.width)

    def _text(self, width: int) -> Content:
        if self.view is None or not width:
            return Content()
        if self._said[0] != width:
            self._said = width, start_sheet(self.view, self.row, self.folders, width)
        return self._said[1]


def _height_of(text: Content) -> int:
    return text.plain.count("\n") + 1

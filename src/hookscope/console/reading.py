"""A text that is scrolled: its keys have names, as all keys have."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll


class Reading(VerticalScroll):
    """Scrolls by line, by page, to its ends."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_up", "Up", show=False, id="sheet.up", tooltip="A line up"),
        Binding("down", "scroll_down", "Down", show=False, id="sheet.down", tooltip="A line down"),
        Binding("pageup", "page_up", "Page up", show=False, id="sheet.page_up", tooltip="A page up"),
        Binding("pagedown", "page_down", "Page down", show=False, id="sheet.page_down", tooltip="A page on"),
        Binding("home", "scroll_home", "Top", show=False, id="sheet.first", tooltip="To the beginning"),
        Binding("end", "scroll_end", "End", show=False, id="sheet.last", tooltip="To the end"),
    ]

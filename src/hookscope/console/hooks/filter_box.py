"""Where the filter of hooks is typed."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from hookscope.console.narrowing import Narrowing


class FilterBox(Narrowing):
    """One line above the columns."""

    AGAIN = "filter.again"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Keep", id="filter.keep", tooltip="Keep the filter, back to the list"),
        Binding("down", "submit", "To the list", show=False, id="filter.down", tooltip="The same"),
        Binding("up", "again", "Again", show=False, id="filter.again", tooltip="The filter that was cleared"),
        Binding("escape", "screen.back", "Clear", id="filter.clear", tooltip="Show all hooks again"),
    ]

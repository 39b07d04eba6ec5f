"""The pane of the list: its filter above, its columns, and what it says where it is empty."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from hookscope.console.hooks.list import HookList
from hookscope.console.narrowing import Narrowing


class FilterBox(Narrowing):
    """Where the filter is typed."""

    AGAIN = "filter.again"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Keep", id="filter.keep", tooltip="Keep the filter, back to the list"),
        Binding("down", "submit", "To the list", show=False, id="filter.down", tooltip="The same"),
        Binding("up", "again", "Again", show=False, id="filter.again", tooltip="The filter that was cleared"),
        Binding("escape", "screen.back", "Clear", id="filter.clear", tooltip="Show all hooks again"),
    ]


class ListPane(Vertical):
    """The list with its heading and its filter."""

    HELP = (
        "Every hook that was found, under the folder it lies in; the folder that wins comes first.\n"
        "● ready, ○ off, ▲ blocked, ◌ shadowed,\n✗ broken, ◇ untrusted, ◐ silent"
    )

    def compose(self) -> ComposeResult:
        yield Static(id="columns")
        yield Static(id="empty")
        yield HookList(id="rows")

    @cached_property
    def filter_box(self) -> FilterBox:
        """Where the filter is typed, in the tree: made when one is first wanted."""
        box = FilterBox(placeholder="name, event, source or state", id="filter", compact=True)
        self.mount(box, before="#columns")
        return box

    @property
    def has_filter_box(self) -> bool:
        """Was a filter wanted before."""
        return "filter_box" in self.__dict__

"""The pane of the list: its filter above, its columns, and what it says where it is empty."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from hookscope.console.hooks.list import HookList

if TYPE_CHECKING:
    from hookscope.console.hooks.filter_box import FilterBox


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
        from hookscope.console.hooks.filter_box import FilterBox

        box = FilterBox(placeholder="name, event, source or state", id="filter", compact=True)
        self.mount(box, before="#columns")
        return box

    @property
    def has_filter_box(self) -> bool:
        """Was a filter wanted before."""
        return "filter_box" in self.__dict__

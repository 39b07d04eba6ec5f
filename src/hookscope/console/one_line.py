"""A field of one line; and what Textual would style once for each class that it gets as it is made."""

from __future__ import annotations

from textual.geometry import Size
from textual.reactive import Reactive
from textual.widget import Widget
from textual.widgets import Input


class StyledOnce(Widget):
    """Mounting styles it: for each class that it gets as it is made, Textual does so once more before."""

    def update_node_styles(self, animate: bool = True) -> None:
        if self.is_attached:
            super().update_node_styles(animate)


class OneLine(Input, StyledOnce):
    """A field that is as wide as it is, whatever is typed: no letter has the screen laid out anew."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

"""The tabs of a run's handler, on one line."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual import events
from textual.content import Content
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget

from hookscope.console.fire.tabs import Tab
from hookscope.console.jump.spots import Spot
from hookscope.console.marks import MUTED


class TabBar(Widget):
    """The names of the tabs on one line; the open one stands in brackets."""

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
        """Draw these names; `tab` is open."""
        if (labels, tab) != (self._labels, self._open):
            self._labels, self._open = labels, tab
            self.refresh()

    def render(self) -> Content:
        return Content("").join(
            Content.styled(f"[{text}]", "bold") if tab == self._open else Content.styled(f" {text} ", MUTED)
            for tab, text in self._labels.items()
        )

    def on_click(self, event: events.Click) -> None:
        for tab, _, end in self._places():
            if event.x < end:
                self.post_message(self.Picked(tab))
                return

    def spots(self) -> Iterator[Spot]:
        """The tabs."""
        for tab, start, _ in self._places():
            at = Offset(self.region.x + start, self.region.y)
            yield Spot(at, partial(self.post_message, self.Picked(tab)))

    def _places(self) -> Iterator[tuple[Tab, int, int]]:
        """Each tab, where it begins and where the next one does."""
        edge = 2
        for tab, text in self._labels.items():
            yield tab, edge, edge + len(text) + 2
            edge += len(text) + 2

"""Lines of text as they are drawn, and kept for as long as they would look the same."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import TypeVar

import rich.style
from rich.segment import Segment
from textual.cache import LRUCache
from textual.content import Content
from textual.strip import Strip
from textual.style import Style
from textual.widget import Widget

Key = TypeVar("Key", bound=Hashable)
MOST = 1024  # lines of one widget
STYLES = 4096


def one_line(widget: Widget, text: Content, width: int, style: Style) -> Strip:
    """A text that is one line, `width` cells at least.

    Textual takes it for a paragraph, looks where it is to be wrapped, and gives each piece of it a style of
    its own, that says where it stands.
    """
    segments = [
        Segment(piece, drawn + widget.link_style if "@click" in drawn.meta else drawn)
        for piece, of_piece in text.render(style, end="", parse_style=widget._get_style)
        for drawn in (_rich(style, of_piece),)
    ]
    return Strip(segments, text.cell_length).adjust_cell_length(width, style.rich_style)


@lru_cache(STYLES)
def _rich(style: Style, of_piece: Style) -> rich.style.Style:
    return (style + of_piece).rich_style


class Strips(LRUCache[Key, Strip]):
    """The drawn lines of a widget.

    Textual says that a style was updated whenever a widget was styled anew, as when it gets the focus or
    loses it: mostly no line looks otherwise then, but that with the cursor.
    """

    def __init__(self, widget: Widget) -> None:
        super().__init__(MOST)
        self._widget = widget
        self._looks: object = None
        self._in_doubt = True

    def style_updated(self) -> None:
        """Ask, before the next line is drawn, whether what there is still holds."""
        self._in_doubt = True

    def drawn(self, key: Key, draw: Callable[[], Strip]) -> Strip:
        """The line of this key: all that lines differ by, the focus of a cursor too, is in it."""
        if self._in_doubt:
            self._in_doubt = False
            app = self._widget.app
            looks = app.theme, app.theme_variables, self._widget.visual_style
            if looks != self._looks:
                self._looks = looks
                self.clear()
        strip = self.get(key)
        if strip is None:
            strip = self[key] = draw()
        return strip

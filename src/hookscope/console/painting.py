"""Painting what has changed, and nothing beside it.

Textual paints the smallest rectangle around all that has changed. With a cursor that moved at the left, and
keys that changed at the bottom, that is the whole screen: every part of it is asked for all its lines.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from rich.console import RenderableType
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, Compositor
from textual.color import Color
from textual.geometry import Region, Size
from textual.renderables.background_screen import BackgroundScreen
from textual.scroll_view import ScrollView
from textual.strip import Strip


class Painter(Compositor):
    """Asks each part of the screen only for the lines in which something has changed."""

    def __init__(self) -> None:
        super().__init__()
        self._changed: Collection[Region] | None = None  # None: all is painted

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = None

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if self._changed is None:
            yield from super()._get_renders(crop)
            return
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            touched = [part for part in map(seen.intersection, self._changed) if part]
            if touched:
                around = Region.from_union(touched)
                band = Region(seen.x, around.y, seen.width, around.height)
                yield region, band, widget.render_lines(band.translate(-region.offset))


def resized(view: ScrollView, size: Size) -> None:
    """What can be scrolled through has this size now.

    The rest of the screen is laid out anew only if this decides how much room the view takes, or a scroll bar
    comes or goes: Textual would do so each time.
    """
    if view.styles.auto_dimensions:
        view.virtual_size = size
    elif view.virtual_size != size:
        view.set_reactive(ScrollView.virtual_size, size)
        view._scroll_update(size)


class Dimmed(BackgroundScreen):
    """A screen below another one. It has few styles and many pieces of text: each style is dimmed once."""

    @classmethod
    def process_segments(cls, segments: Iterable[Segment], color: Color) -> Iterable[Segment]:
        known: dict[Style | None, Style | None] = {}
        for segment in segments:
            text, style, control = segment
            if control:
                yield segment
                continue
            if style not in known:
                (known[style],) = (piece.style for piece in super().process_segments([segment], color))
            yield Segment(text, known[style])


def dimmed(drawn: RenderableType) -> RenderableType:
    """What a screen draws: where it shines through, what is below is dimmed as fast as can be."""
    return Dimmed(drawn.screen, drawn.color) if isinstance(drawn, BackgroundScreen) else drawn

"""The screen below a dialog, dimmed and drawn once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TypeVar

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.renderables.background_screen import BackgroundScreen
from textual.screen import Screen
from textual.strip import Strip

from hookscope.console.widgets.painting import PartialCompositor

Answer = TypeVar("Answer")
DIM_STYLE = Style(dim=True)


class DimmedBackground(Screen[Answer]):
    """A dialog above a dimmed screen, which is drawn once and not once for each part."""

    _below: tuple[object, list[Strip]] | None = (
        None  # what it was drawn for, and the lines of the whole screen
    )

    def render_lines(self, crop: Region) -> list[Strip]:
        stack, color = self.app.screen_stack, self.styles.background
        if self not in stack[1:] or color.a == 1:
            return super().render_lines(crop)
        below = stack[: stack.index(self)]
        shows = [
            screen._compositor.changes
            for screen in below
            if isinstance(screen._compositor, PartialCompositor)
        ]
        painter = below[-1]._compositor
        drawn_for = below, shows, below[-1].background_colors, self.size, color, self.app.theme
        if self._below is None or self._below[0] != drawn_for or not isinstance(painter, PartialCompositor):
            lines = (
                painter.shining_through()
                if isinstance(painter, PartialCompositor)
                else painter.render_strips()
            )
            dimmed = _DimmedStrips(color, self.app.native_ansi_color, self.get_line_filters())
            strips = [dimmed.strip(strip) for strip in lines]
            self._below = drawn_for, strips
        blank = Strip.blank(crop.width)
        lines = self._below[1][crop.y : crop.bottom]
        lines = [
            line.crop_extend(crop.x, crop.right, None) for line in lines
        ]  # that screen may still be narrower
        return [*lines, *[blank] * (crop.height - len(lines))]


class _DimmedStrips:
    """Dims the lines below a dialog. Each style is dimmed and filtered once.

    A screen has few styles and many pieces of text. The filters are those of the screen above, such
    as the one for no colours.
    """

    def __init__(self, color: Color, native: bool, filters: Sequence[LineFilter]) -> None:
        self._color, self._filters = color, tuple(filters)
        self._faint = DIM_STYLE if native else Style()  # native colours cannot be blended
        self._known: dict[Style | None, Style | None] = {}

    def strip(self, strip: Strip) -> Strip:
        cache = self._known
        segments = []
        for text, style, control in strip:
            seen = cache.get(style)
            if seen is None:
                # Compare looks only: a clickable style is a new object each time it is drawn.
                visible_style = style.clear_meta_and_links() if style is not None else None
                seen = cache[style] = _dimmed_style(visible_style, self._color, self._faint, self._filters)
            segments.append(Segment(text, seen, control))
        return Strip(segments, strip.cell_length)


@lru_cache(maxsize=1024)  # the next dialog is above the same styles
def _dimmed_style(
    style: Style | None, color: Color, faint: Style, filters: tuple[LineFilter, ...]
) -> Style | None:
    ((text, blended, control),) = BackgroundScreen.process_segments([Segment(" ", style)], color)
    seen = [Segment(text, (blended or Style()) + faint, control)]
    for seen_through in filters:
        seen = seen_through.apply(seen, color)
    return seen[0].style

"""Painting what has changed, and nothing beside it.

Textual paints the smallest rectangle around all that has changed. With a cursor that moved at the left, and
keys that changed at the bottom, that is the whole screen: every part of it is asked for all its lines.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import cast

from textual._compositor import ChopsUpdate, Compositor, ReflowResult
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget


class Painter(Compositor):
    """Asks each part of the screen only for the lines in which something has changed.

    Every part hears of its size. Textual tells whose size differs from what it knew, and comes to know sizes
    in between, whenever somebody asks where a part stands: a new one then never heard how large it is.
    """

    def __init__(self) -> None:
        super().__init__()
        self._changed: Collection[Region] | None = None  # None: all is painted
        self._told: dict[Widget, Size] = {}  # who has heard of its size, and which
        self.changes = 0  # of what is shown, so far
        self.drawn = -1  # how many there were when a screen above last drew all of this
        self.anew = False  # has any part heard of another size by the last layout

    def update_widgets(self, widgets: set[Widget]) -> None:
        self.changed(widgets)
        super().update_widgets(widgets)

    def changed(self, widgets: Collection[Widget]) -> None:
        """These are to be painted anew. A screen itself is painted behind its parts, which stay so."""
        self.changes += any(not isinstance(widget, Screen) for widget in widgets)

    def reflow_visible(self, parent: Widget, size: Size) -> set[Widget]:
        self.changes += 1
        self.anew = False
        return super().reflow_visible(parent, size)

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        stood = self._full_map
        hidden = super().reflow(parent, size).hidden
        self.changes += self._full_map != stood
        before, self._told = self._told, {part: at.region.size for part, at in self._full_map.items()}
        resized = {part for part, now in self._told.items() if before.get(part, now) != now}
        shown = self._told.keys() - before.keys()
        self.anew = bool(shown or resized)
        return ReflowResult(hidden, shown, resized)

    def clear(self) -> None:
        super().clear()
        self._told = {}
        self.changes += 1

    def shining_through(self) -> list[Strip]:
        """All lines, for a screen above."""
        strips = self.render_strips()
        self.drawn = self.changes
        return strips

    def render_partial_update(self) -> ChopsUpdate | None:
        self._changed = tuple(self._dirty_regions)
        try:
            return super().render_partial_update()
        finally:
            self._changed = None

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        """From front to back, as Textual does; what stands behind others is not asked for its lines."""
        chops: list[dict[int, Strip | None]] = [dict.fromkeys(cuts[:-1]) for cuts in self.cuts]
        changed = (crop,) if self._changed is None else self._changed
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            touched = [part for part in map(seen.intersection, changed) if part]
            if not touched:
                continue
            lines = filter(is_rendered_line, Region.from_union(touched).line_range)
            cuts_of = {y: _within(self.cuts[y], seen) for y in lines}
            gaps = {y: cuts for y, cuts in cuts_of.items() if None in map(chops[y].get, cuts[:-1])}
            if gaps:
                band = Region(seen.x, min(gaps), seen.width, max(gaps) + 1 - min(gaps))
                strips = widget.render_lines(band.translate(-region.offset))
                for y, strip in zip(band.line_range, strips, strict=False):
                    _fill(chops[y], strip, seen.x, gaps.get(y, ()))
        return cast(Sequence[Mapping[int, Strip]], chops)


def _within(cuts: list[int], region: Region) -> list[int]:
    return cuts[bisect_left(cuts, region.x) : bisect_right(cuts, region.right)]


def _fill(line: dict[int, Strip | None], strip: Strip, x: int, cuts: Sequence[int]) -> None:
    """Put the parts of a strip that begins at `x` where nothing in front of it stands."""
    for cut, part in zip(cuts, strip.divide([cut - x for cut in cuts[1:]]), strict=False):
        if line.get(cut) is None:
            line[cut] = part

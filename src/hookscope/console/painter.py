"""Painting what has changed, and nothing beside it.

Textual paints the smallest rectangle around all that has changed. With a cursor that moved at the left, and
keys that changed at the bottom, that is the whole screen: every part of it is asked for all its lines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

from textual._compositor import ChopsUpdate, Compositor, ReflowResult
from textual.geometry import Region, Size
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

Gap: TypeAlias = tuple[int, int]  # cells of a line in which nothing stands yet: from one to before another


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
            update = super().render_partial_update()
        finally:
            self._changed = None
        if update is not None:
            update.chop_ends = [_ends(line) for line in update.chops]
        return update

    def _render_chops(
        self, crop: Region, is_rendered_line: Callable[[int], bool]
    ) -> Sequence[Mapping[int, Strip]]:
        """From front to back, as Textual does; what stands behind others is not asked for its lines.

        Textual cuts each line wherever any part begins or ends, those that are not seen there too, and makes
        a strip of each piece. Here a line that nothing stands before stays the strip that it is. What has
        not changed is not drawn, and keeps its place: what lies behind it must not be painted there.
        """
        width, height = self.size
        lines: list[dict[int, Strip]] = [{} for _ in range(height)]
        gaps_of: list[list[Gap]] = [[(0, width)] for _ in range(height)]
        changed = (crop,) if self._changed is None else self._changed
        for widget, (region, clip) in self.visible_widgets.items():
            seen = region.intersection(clip)
            x, right = seen.column_span
            shown = [
                y
                for y in filter(is_rendered_line, seen.line_range)
                if any(begin < right and x < end for begin, end in gaps_of[y])
            ]
            touched = [part for part in map(seen.intersection, changed) if part] if shown else []
            strips: dict[int, Strip] = {}
            if touched:
                lines_of = Region.from_union(touched).line_range
                wanted = [y for y in shown if y in lines_of]
                if wanted:
                    band = Region(x, wanted[0], seen.width, wanted[-1] + 1 - wanted[0])
                    drawn = widget.render_lines(band.translate(-region.offset))
                    strips = dict(zip(band.line_range, drawn, strict=False))
            for y in shown:
                gaps_of[y] = _fill(lines[y], gaps_of[y], strips.get(y), x, right)
        return [dict(sorted(line.items())) for line in lines]


def _ends(line: Mapping[int, Strip | None]) -> list[int]:
    """Where each piece of a line ends."""
    return [x + strip.cell_length for x, strip in line.items() if strip is not None]


def _fill(line: dict[int, Strip], gaps: Sequence[Gap], strip: Strip | None, x: int, right: int) -> list[Gap]:
    """Put a part's strip where nothing in front of it stands; the gaps that are left on its line."""
    left = []
    if strip is not None:
        right = min(right, x + strip.cell_length)
    for begin, end in gaps:
        first, last = max(begin, x), min(end, right)
        if first >= last:
            left.append((begin, end))
            continue
        if strip is not None:
            line[first] = strip.crop(first - x, last - x)
        if begin < first:
            left.append((begin, first))
        if last < end:
            left.append((last, end))
    return left

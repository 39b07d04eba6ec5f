"""Where one can jump to: what is on the screen says so itself, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from textual.geometry import Offset
from textual.widget import Widget


class Spot(NamedTuple):
    """A place on the screen, and how to go there."""

    at: Offset  # in cells of the screen; the label covers this one and perhaps the next
    go: Callable[[], object]


def spots_of(screen: Widget) -> tuple[Spot, ...]:
    """Everything on the screen that can be gone to: tabs and panes first, then rows.

    A part with places of its own has a method `spots` for those that are on the screen now. Of two at the
    same place, the row.
    """
    rows: list[Spot] = []
    panes: list[Spot] = []
    for widget in screen.walk_children(Widget):
        if not _visible(widget):
            continue
        spots: Callable[[], Iterable[Spot]] | None = getattr(widget, "spots", None)  # quicker than isinstance
        if spots is not None:
            rows += spots()
        if widget.focusable:
            panes.append(Spot(_corner(widget), widget.focus))
    taken = {(spot.at.x, spot.at.y) for spot in rows}
    panes = [spot for spot in panes if (spot.at.x, spot.at.y) not in taken]
    return (*_ordered(panes), *_ordered(rows))


def rows_on_screen(widget: Widget, count: int, top: int, heading: int = 0) -> Iterator[tuple[int, Offset]]:
    """The index of each visible row of a list of `count` that is scrolled to `top`, and where it begins."""
    region = widget.content_region
    for y in range(heading, region.height):
        index = y - heading + top
        if index < count:
            yield index, Offset(region.x, region.y + y)


def _visible(widget: Widget) -> bool:
    """Has it cells on the screen: a part that is scrolled away, or hidden with its pane, has none."""
    if not all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget)):
        return False
    return bool(widget.region) and widget.screen.region.contains_region(widget.region)


def _corner(widget: Widget) -> Offset:
    """The corner of the border that a widget has, or that stands around it; else the cell before it."""
    for node in (widget, widget.parent):
        if isinstance(node, Widget) and node.styles.border_top[0] and node.region.y >= widget.region.y - 2:
            return node.region.offset
    return Offset(max(widget.region.x - 1, 0), widget.region.y)


def _ordered(spots: Iterable[Spot]) -> list[Spot]:
    """From left to right, each list from top to bottom; of two at one place, the first."""
    first = {spot.at: spot for spot in reversed(list(spots))}
    return sorted(first.values(), key=lambda spot: (spot.at.x, spot.at.y))

"""Finds the pane with the focus, the pane that should have it, and the targets that it can jump to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from textual.dom import DOMNode
from textual.geometry import Offset
from textual.widget import Widget

from hookscope.console.state.console_state import MODE_OF, ConsoleState, Pane


class JumpTarget(NamedTuple):
    """A place on the screen, and how to go there."""

    at: Offset  # in screen cells; the label covers this cell and perhaps the next
    go: Callable[[], object]


def jump_targets_of(screen: Widget) -> tuple[JumpTarget, ...]:
    """Return all jump targets on the screen: tabs and panes first, then rows.

    A widget with targets of its own has a method `spots`, which returns the visible ones. If two
    are at the same place, the row is kept.
    """
    rows: list[JumpTarget] = []
    panes: list[JumpTarget] = []
    for widget in screen.walk_children(Widget):
        if not _is_visible(widget):
            continue
        spots: Callable[[], Iterable[JumpTarget]] | None = getattr(
            widget, "spots", None
        )  # faster than isinstance
        if spots is not None:
            rows += spots()
        if widget.focusable:
            panes.append(JumpTarget(_corner(widget), widget.focus))
    taken = {(target.at.x, target.at.y) for target in rows}
    panes = [target for target in panes if (target.at.x, target.at.y) not in taken]
    return (*_in_reading_order(panes), *_in_reading_order(rows))


def rows_on_screen(widget: Widget, count: int, top: int, heading: int = 0) -> Iterator[tuple[int, Offset]]:
    """Yield the index and place of each visible row of a list of `count` rows, scrolled to `top`."""
    region = widget.content_region
    for y in range(heading, region.height):
        index = y - heading + top
        if index < count:
            yield index, Offset(region.x, region.y + y)


def _is_visible(widget: Widget) -> bool:
    """Return True if the widget has cells on the screen: it is not scrolled away or in a hidden pane."""
    if not all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget)):
        return False
    return bool(widget.region) and widget.screen.region.contains_region(widget.region)


def _corner(widget: Widget) -> Offset:
    """Return the corner of the border of a widget or its parent; without one, the cell before the widget."""
    for node in (widget, widget.parent):
        if isinstance(node, Widget) and node.styles.border_top[0] and node.region.y >= widget.region.y - 2:
            return node.region.offset
    return Offset(max(widget.region.x - 1, 0), widget.region.y)


def _in_reading_order(targets: Iterable[JumpTarget]) -> list[JumpTarget]:
    """Return targets column by column, each from top to bottom; of several at one place, only the first."""
    first = {target.at: target for target in reversed(list(targets))}
    return sorted(first.values(), key=lambda spot: (spot.at.x, spot.at.y))


def pane_of(widget: Widget | None) -> Pane | None:
    """Return the pane that contains this widget."""
    ids = {node.id for node in widget.ancestors_with_self} if widget is not None else set()
    return next((pane for pane in MODE_OF if pane in ids), None)


def pane_to_focus(state: ConsoleState) -> Pane:
    """Return the pane that should have the focus in this state."""
    match state.mode:
        case "hooks":
            return state.side if state.reading else "list"
        case mode:
            return mode


def first_focusable(pane: Widget) -> Widget | None:
    """Return the widget that takes the focus of its pane."""
    nodes = pane.walk_children(Widget, with_self=True)
    return next((node for node in nodes if node.focusable), None)


def styled_by_focus(*widgets: Widget) -> set[DOMNode]:
    """Return the nodes that look different because one of these widgets gains or loses the focus.

    Those are the widget's outermost ancestor with a `:focus-within` rule, and all nodes with one below it.
    """
    affected: set[DOMNode] = set()
    for widget in widgets:
        around = reversed(widget.ancestors_with_self)
        outermost = next((node for node in around if node._has_focus_within), None)
        if outermost is not None:
            nodes = outermost.walk_children(with_self=True)
            affected.update(node for node in nodes if node._has_focus_within)
    return affected


def focus_place(state: ConsoleState) -> tuple[object, ...]:
    """Return a key of the state; when it changes, the focus moves."""
    return state.mode, state.side, state.reading, state.filtering, state.zoom

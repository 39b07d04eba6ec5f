"""Where the focus is, where it belongs, and which places on the screen it can jump to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from textual.dom import DOMNode
from textual.geometry import Offset
from textual.widget import Widget

from hookscope.console.state.console_state import MODE_OF, ConsoleState, Pane


class JumpTarget(NamedTuple):
    """A place on the screen, and how to go there."""

    at: Offset  # in cells of the screen; the label covers this one and perhaps the next
    go: Callable[[], object]


def jump_targets_of(screen: Widget) -> tuple[JumpTarget, ...]:
    """Everything on the screen that can be gone to: tabs and panes first, then rows.

    A part with places of its own has a method `spots` for those that are on the screen now. Of two at the
    same place, the row.
    """
    rows: list[JumpTarget] = []
    panes: list[JumpTarget] = []
    for widget in screen.walk_children(Widget):
        if not _is_visible(widget):
            continue
        spots: Callable[[], Iterable[JumpTarget]] | None = getattr(
            widget, "spots", None
        )  # quicker than isinstance
        if spots is not None:
            rows += spots()
        if widget.focusable:
            panes.append(JumpTarget(_corner(widget), widget.focus))
    taken = {(spot.at.x, spot.at.y) for spot in rows}
    panes = [spot for spot in panes if (spot.at.x, spot.at.y) not in taken]
    return (*_in_reading_order(panes), *_in_reading_order(rows))


def rows_on_screen(widget: Widget, count: int, top: int, heading: int = 0) -> Iterator[tuple[int, Offset]]:
    """The index of each visible row of a list of `count` that is scrolled to `top`, and where it begins."""
    region = widget.content_region
    for y in range(heading, region.height):
        index = y - heading + top
        if index < count:
            yield index, Offset(region.x, region.y + y)


def _is_visible(widget: Widget) -> bool:
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


def _in_reading_order(spots: Iterable[JumpTarget]) -> list[JumpTarget]:
    """From left to right, each list from top to bottom; of two at one place, the first."""
    first = {spot.at: spot for spot in reversed(list(spots))}
    return sorted(first.values(), key=lambda spot: (spot.at.x, spot.at.y))


def pane_of(widget: Widget | None) -> Pane | None:
    """The pane that this widget lies in."""
    ids = {node.id for node in widget.ancestors_with_self} if widget is not None else set()
    return next((pane for pane in MODE_OF if pane in ids), None)


def pane_wanted(state: ConsoleState) -> Pane:
    """The pane that the state is about: its keys are meant."""
    match state.mode:
        case "hooks":
            return state.side if state.reading else "list"
        case mode:
            return mode


def first_focusable(pane: Widget) -> Widget | None:
    """What takes the focus when its pane is gone to."""
    nodes = pane.walk_children(Widget, with_self=True)
    return next((node for node in nodes if node.focusable), None)


def styled_by_focus(*widgets: Widget) -> set[DOMNode]:
    """What looks different because one of these has the focus, or has it no more.

    Below the outermost part with a rule for a focus within: whatever has a rule that speaks of one.
    """
    found: set[DOMNode] = set()
    for widget in widgets:
        around = reversed(widget.ancestors_with_self)
        outermost = next((node for node in around if node._has_focus_within), None)
        if outermost is not None:
            nodes = outermost.walk_children(with_self=True)
            found.update(node for node in nodes if node._has_focus_within)
    return found


def focus_place(state: ConsoleState) -> tuple[object, ...]:
    """When this changes, the focus follows."""
    return state.mode, state.side, state.reading, state.filtering, state.zoom

"""Where the focus is, and where it belongs."""

from __future__ import annotations

from textual.dom import DOMNode
from textual.widget import Widget

from hookscope.console.layout import MODE_OF, Pane
from hookscope.console.state import ConsoleState


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


def touched_by_focus(*widgets: Widget) -> set[DOMNode]:
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


def whereabouts(state: ConsoleState) -> tuple[object, ...]:
    """When this changes, the focus follows."""
    return state.mode, state.side, state.reading, state.filtering, state.zoom

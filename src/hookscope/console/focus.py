"""Where the focus is, and where it belongs."""

from __future__ import annotations

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


def whereabouts(state: ConsoleState) -> tuple[object, ...]:
    """When this changes, the focus follows."""
    return state.mode, state.side, state.reading, state.filtering, state.zoom

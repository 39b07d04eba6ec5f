"""Help for the pane in focus: one paragraph, and every key with what it does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from hookscope.console.hooks.sheet import Sheet, foreign
from hookscope.console.keys import written
from hookscope.console.theme import MUTED


def own_bindings(node: DOMNode) -> list[Binding]:
    """The bindings that this node's class brings, those with an id: they are ours."""
    found: dict[str, Binding] = {}
    for cls in type(node).__mro__:
        for binding in cls.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and binding.id not in found:
                found[binding.id] = binding
    return list(found.values())


def help_sheet(about: str, nodes: Iterable[DOMNode], width: int) -> Content:
    """The paragraph, then keys of the pane, then those that hold everywhere."""
    sheet = Sheet(width)
    if about:
        sheet.say(foreign(about))
    for node in nodes:
        bindings = own_bindings(node)
        if not bindings:
            continue
        sheet.blank()
        for binding in bindings:
            shown = "  ".join(dict.fromkeys(written(key) for key in binding.key.split(",")))
            heads = [(Content.styled(shown, "bold"), 10), (Content(binding.description), 13)]
            sheet.put(heads, Content.styled(binding.tooltip or binding.description, MUTED), 1)
    return sheet.content()


def about_of(widget: Widget | None) -> str:
    """The paragraph of the nearest pane that has one."""
    for node in widget.ancestors_with_self if widget is not None else ():
        text = getattr(node, "HELP", None)
        if text:
            return str(text)
    return ""


class HelpScreen(ModalScreen[None]):
    """Over everything; any of its keys closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,question_mark,q,enter",
            "dismiss",
            "Close",
            id="help.close",
            tooltip="Back to where you were",
        ),
    ]

    def __init__(self, widget: Widget | None, screen: DOMNode) -> None:
        super().__init__()
        self.about = about_of(widget)
        around = widget.ancestors_with_self if widget is not None else []
        self.nodes = [*(node for node in around if isinstance(node, Widget) and node is not screen), screen]

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = "esc close"
            yield Static(id="help-sheet")

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        box = self.query_one("#help", VerticalScroll)
        box.focus()
        width = box.scrollable_content_region.width or 60
        self.query_one("#help-sheet", Static).update(help_sheet(self.about, self.nodes, width))

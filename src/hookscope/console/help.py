"""Help for the pane in focus: one paragraph, and every key with what it does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from hookscope.console.hooks.sheet import Sheet, foreign
from hookscope.console.keymap.commands import command_of
from hookscope.console.keymap.hints import hints, with_keys, with_keys_of
from hookscope.console.keymap.names import all_written
from hookscope.console.keymap.resolve import DEFAULT, Keymap
from hookscope.console.reading import Reading
from hookscope.console.theme import FAINT, MUTED

if TYPE_CHECKING:
    from hookscope.console.app import Console

GAP = 2  # cells between two columns
MOVES = frozenset({"up", "down", "page_up", "page_down", "first", "last"})  # everybody guesses these
LEAST_MEANING = 26  # cells for what a key does; narrower, and it stands below its key


def own_bindings(node: DOMNode, keymap: Keymap = DEFAULT) -> list[Binding]:
    """The bindings that this node's class brings, those with an id: they are ours. With the keys in force."""
    found: dict[str, Binding] = {}
    for cls in type(node).__mro__:
        for binding in cls.__dict__.get("BINDINGS", ()):
            if isinstance(binding, Binding) and binding.id and binding.id not in found:
                keys = keymap.of(binding.id, binding.key)
                found[binding.id] = binding if keys == binding.key else replace(binding, key=keys)
        if not cls.__dict__.get("_inherit_bindings", True):  # what Textual keeps of `inherit_bindings`
            break
    return list(found.values())


def help_sheet(about: str, nodes: Iterable[DOMNode], width: int, keymap: Keymap = DEFAULT) -> Content:
    """The paragraph, keys of the pane, those that hold everywhere, at last those that move. No key is cut."""
    sheet = Sheet(width)
    if about:
        sheet.say(foreign(about))
    groups = [own_bindings(node, keymap) for node in nodes]
    moves = [one for group in groups for one in group if _moves(one)]
    groups = [*([one for one in group if not _moves(one)] for group in groups), moves]
    shown = {id(one): "  ".join(all_written(one.key)) or "no key" for group in groups for one in group}
    if not shown:
        return sheet.content()
    keys = max(Content(text).cell_length for text in shown.values()) + GAP
    names = max(len(one.description) for group in groups for one in group) + GAP
    for group in groups:
        if group:
            sheet.blank()
        for one in group:
            heads = [(Content.styled(shown[id(one)], "bold"), keys), (Content(one.description), names)]
            said = with_keys_of(keymap, one.tooltip or one.description)
            command = command_of(one.id or "")
            meaning = Content.assemble((said, MUTED), (f"   {command}" if command else "", FAINT))
            if sheet.width - 1 - keys - names >= LEAST_MEANING:
                sheet.put(heads, meaning, 1)
            else:
                sheet.put(heads[:1], meaning, 1)
    return sheet.content()


def _moves(binding: Binding) -> bool:
    return (binding.id or "").rpartition(".")[2] in MOVES


def about_of(widget: Widget | None) -> str:
    """The paragraph of the nearest pane that has one."""
    for node in widget.ancestors_with_self if widget is not None else ():
        text = getattr(node, "HELP", None)
        if text:
            return with_keys(str(text))
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
        with Reading(id="help") as box:
            box.border_title = "Help"
            box.border_subtitle = hints(("help.close", "close"))
            yield Static(id="help-sheet")

    def on_resize(self) -> None:
        self.call_after_refresh(self._lay_out)

    def _lay_out(self) -> None:
        box = self.query_one("#help", Reading)
        box.focus()
        width = box.scrollable_content_region.width or 60
        keymap = cast("Console", self.app).keymap
        self.query_one("#help-sheet", Static).update(help_sheet(self.about, self.nodes, width, keymap))

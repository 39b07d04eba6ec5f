"""Help for the focused pane: a paragraph, and every key with its action. A click runs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.message import Message
from textual.reactive import reactive
from textual.screen import Screen
from textual.style import Style
from textual.widget import Widget

from hookscope.console.dialogs.base_dialogs import Overlay
from hookscope.console.keymap.active_keys import (
    DEFAULT_KEYMAP,
    Keymap,
    active_keymap,
    key_hints,
    key_labels,
    with_keys,
    with_keys_of,
)
from hookscope.console.keymap.available_actions import (
    AvailableAction,
    available_actions_of,
    focused_nodes,
    is_move,
    own_bindings,
)
from hookscope.console.keymap.key_listing import command_of
from hookscope.console.theme.text_styles import FAINT, MUTED, Sheet, safe_paragraph
from hookscope.console.widgets.lines import FittedText, KeyScroll

HELP_GAP = 2  # cells between two columns
ACTION_META = "action"  # the action of a line of help, in its style's meta
HOVER_STYLE = "on $panel"  # style under the pointer
LEAST_MEANING_WIDTH = 26  # cells; a narrower meaning is shown below its key


def help_sheet(
    about: str, nodes: Iterable[DOMNode], width: int, keymap: Keymap = DEFAULT_KEYMAP, under: str = ""
) -> Content:
    """Return the paragraph, the pane's keys, the global keys, and the movement keys. No key is truncated.

    Args:
        under: the action whose lines are under the pointer.
    """
    sheet = Sheet(width)
    for paragraph in about.splitlines():
        sheet.say(safe_paragraph(paragraph))
    groups = [own_bindings(node, keymap) for node in nodes]
    last = [binding for group in groups for binding in group if is_move(binding)]
    groups = [*([binding for binding in group if not is_move(binding)] for group in groups), last]
    shown = {
        id(binding): "  ".join(key_labels(binding.key)) or "no key" for group in groups for binding in group
    }
    if not shown:
        return sheet.content()
    keys = max(Content(text).cell_length for text in shown.values()) + HELP_GAP
    names = max(len(binding.description) for group in groups for binding in group) + HELP_GAP
    for group in groups:
        if group:
            sheet.blank()
        above = ""
        for binding in group:
            heads = [
                (Content.styled(shown[id(binding)], "bold"), keys),
                (Content(binding.description), names),
            ]
            tooltip = with_keys_of(keymap, binding.tooltip or binding.description)
            meaning, command_text = Content.styled(tooltip, MUTED), command_of(binding.id or "")
            command = Content.styled(
                "" if command_text == above else command_text, FAINT
            )  # shown once for equal commands in a row
            above = command_text
            clicked = Style.from_meta({ACTION_META: binding.id})
            lines = Sheet(width)
            wide = lines.width - 1 - keys - names >= LEAST_MEANING_WIDTH
            heads = heads if wide else heads[:1]
            room = lines.width - 1 - sum(cells for _, cells in heads)
            fits_beside = meaning.cell_length + HELP_GAP + 1 + command.cell_length <= room
            if command and fits_beside:
                meaning = Content.assemble(meaning, " " * (HELP_GAP + 1), command)
            lines.put(heads, meaning, 1)
            if command and not fits_beside:  # on its own line, so that it can be copied whole
                lines.put([(Content(), cells) for _, cells in heads], command, 1)
            sheet.add(lines, clicked, HOVER_STYLE if binding.id == under else "")
    return sheet.content()


def about_of(widget: Widget) -> str:
    """Return the help paragraph of the nearest pane that has one."""
    for node in widget.ancestors_with_self:
        text = getattr(node, "HELP", None)
        if text:
            return with_keys(str(text))
    return ""


class HelpSheet(FittedText):
    """The lines of help; a click on one runs its action where help was opened."""

    class ActionClicked(Message):
        """An action was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    under: reactive[str] = reactive("", init=False)

    def __init__(self, make: Callable[[str, int], Content]) -> None:
        """`make` returns the lines for the action under the pointer, and a width."""
        super().__init__(lambda width: make(self.under, width), id="help-sheet")

    def watch_under(self) -> None:
        self.made_anew()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.under = event.style.meta.get(ACTION_META, "")

    def on_leave(self) -> None:
        self.under = ""

    def on_click(self, event: events.Click) -> None:
        if action := event.style.meta.get(ACTION_META):
            event.stop()
            self.post_message(self.ActionClicked(action))


class HelpScreen(Overlay[AvailableAction | None]):
    """Help over everything; any of its keys closes it. Answers with the clicked action."""

    HAS_HELP = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,q,enter", "dismiss", "Close", id="help.close", tooltip="Back")
    ]

    def __init__(self, screen: Screen[Any]) -> None:
        """`screen`: the screen where help was opened."""
        super().__init__()
        self.about = about_of(screen.focused or screen)
        self.nodes = focused_nodes(screen)

    def compose(self) -> ComposeResult:
        with KeyScroll(id="help") as box:
            box.border_title = "Help   click to run"
            box.border_subtitle = key_hints(("help.close", "close"))
            yield HelpSheet(self._sheet)

    def _sheet(self, under: str, width: int) -> Content:
        return help_sheet(self.about, self.nodes, width, active_keymap(), under)

    def on_help_sheet_action_clicked(self, event: HelpSheet.ActionClicked) -> None:
        keymap = active_keymap()
        self.dismiss(
            next(action for action in available_actions_of(self.nodes, keymap) if action.id == event.action)
        )

"""Help for where one is: one paragraph, and every key with what it does. A click on a line does it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, cast

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

from hookscope.console.dialog import Over
from hookscope.console.doing import Deed, deeds, here, moves, own_bindings
from hookscope.console.keymap.commands import command_of
from hookscope.console.keymap.hints import hints, with_keys, with_keys_of
from hookscope.console.keymap.names import all_written
from hookscope.console.keymap.resolve import DEFAULT, Keymap
from hookscope.console.reading import Fitted, Reading
from hookscope.console.sheet import Sheet, foreign
from hookscope.console.theme import FAINT, MUTED

if TYPE_CHECKING:
    from hookscope.console.app import Console

GAP = 2  # cells between two columns
CLICKED = "action"  # what a line of help does, in the meta of its text
UNDER = "on $panel"  # the pointer
LEAST_MEANING = 26  # cells for what a key does; narrower, and it stands below its key


def help_sheet(
    about: str, nodes: Iterable[DOMNode], width: int, keymap: Keymap = DEFAULT, under: str = ""
) -> Content:
    """The paragraph, keys of the pane, those that hold everywhere, at last those that move. No key is cut.

    Args:
        under: the action whose lines are under the pointer.
    """
    sheet = Sheet(width)
    for paragraph in about.splitlines():
        sheet.say(foreign(paragraph))
    groups = [own_bindings(node, keymap) for node in nodes]
    last = [one for group in groups for one in group if moves(one)]
    groups = [*([one for one in group if not moves(one)] for group in groups), last]
    shown = {id(one): "  ".join(all_written(one.key)) or "no key" for group in groups for one in group}
    if not shown:
        return sheet.content()
    keys = max(Content(text).cell_length for text in shown.values()) + GAP
    names = max(len(one.description) for group in groups for one in group) + GAP
    for group in groups:
        if group:
            sheet.blank()
        above = ""
        for one in group:
            heads = [(Content.styled(shown[id(one)], "bold"), keys), (Content(one.description), names)]
            said = with_keys_of(keymap, one.tooltip or one.description)
            meaning, told = Content.styled(said, MUTED), command_of(one.id or "")
            command = Content.styled("" if told == above else told, FAINT)  # said once for all in a row
            above = told
            clicked = Style.from_meta({CLICKED: one.id})
            lines = Sheet(width)
            wide = lines.width - 1 - keys - names >= LEAST_MEANING
            heads = heads if wide else heads[:1]
            room = lines.width - 1 - sum(cells for _, cells in heads)
            beside = meaning.cell_length + GAP + 1 + command.cell_length <= room
            if command and beside:
                meaning = Content.assemble(meaning, " " * (GAP + 1), command)
            lines.put(heads, meaning, 1)
            if command and not beside:  # on a line of its own: whoever copies it copies all of it
                lines.put([(Content(), cells) for _, cells in heads], command, 1)
            sheet.add(lines, clicked, UNDER if one.id == under else "")
    return sheet.content()


def about_of(widget: Widget) -> str:
    """The paragraph of the nearest pane that has one."""
    for node in widget.ancestors_with_self:
        text = getattr(node, "HELP", None)
        if text:
            return with_keys(str(text))
    return ""


class HelpSheet(Fitted):
    """The lines of help: each does what it tells, where help was asked for."""

    class Asked(Message):
        """Do this."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    under: reactive[str] = reactive("", init=False)

    def __init__(self, make: Callable[[str, int], Content]) -> None:
        """`make` gives the lines for the action under the pointer, and a width."""
        super().__init__(lambda width: make(self.under, width), id="help-sheet")

    def watch_under(self) -> None:
        self.made_anew()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self.under = event.style.meta.get(CLICKED, "")

    def on_leave(self) -> None:
        self.under = ""

    def on_click(self, event: events.Click) -> None:
        if action := event.style.meta.get(CLICKED):
            event.stop()
            self.post_message(self.Asked(action))


class HelpScreen(Over[Deed | None]):
    """Over everything; any of its keys closes it. Answers with what was clicked."""

    HAS_HELP = False

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,question_mark,q,enter",
            "dismiss",
            "Close",
            id="help.close",
            tooltip="Back to where you were",
        ),
    ]

    def __init__(self, screen: Screen[Any]) -> None:
        """`screen`: where it was asked for."""
        super().__init__()
        self.about = about_of(screen.focused or screen)
        self.nodes = here(screen)

    def compose(self) -> ComposeResult:
        with Reading(id="help") as box:
            box.border_title = "Help   a click does it"
            box.border_subtitle = hints(("help.close", "close"))
            yield HelpSheet(self._sheet)

    def _sheet(self, under: str, width: int) -> Content:
        return help_sheet(self.about, self.nodes, width, cast("Console", self.app).keymap, under)

    def on_help_sheet_asked(self, event: HelpSheet.Asked) -> None:
        keymap = cast("Console", self.app).keymap
        self.dismiss(next(deed for deed in deeds(self.nodes, keymap) if deed.id == event.action))

"""The input of a form: it lies over the value of the row at the cursor."""

from __future__ import annotations

from typing import ClassVar, Literal, Protocol

from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import Input

from hookscope.console.fire.draft import escaped
from hookscope.console.fire.fields import as_shown

Wish = Literal["leave out", "turn", "undo", "redo", "complete"]


class Owner(Protocol):
    """The form. It is told at once, so that no key meets a row that is no longer the one on the screen."""

    def typed(self, value: str) -> None: ...
    def cursor_moved(self) -> None: ...
    def entered(self, value: str) -> None: ...
    def move(self, by: int, pages: bool = False) -> None: ...
    def wish(self, what: Wish) -> None: ...


class ValueInput(Input):
    """The value of one row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "row(-1)", "Up", show=False, id="form.up", tooltip="The field above"),
        Binding("down", "row(1)", "Down", show=False, id="form.down", tooltip="The field below"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="form.page_up", tooltip="A page up"),
        Binding(
            "ctrl+space,ctrl+@",
            "wish('complete')",
            "Values",
            id="form.complete",
            tooltip="What this field can be, as far as is known",
        ),
        Binding("pagedown", "page(1)", "Page down", show=False, id="form.page_down", tooltip="A page down"),
        Binding(
            "ctrl+l", "wish('leave out')", "Leave out", id="form.leave_out", tooltip="Without this field"
        ),
        Binding(
            "ctrl+n",
            "wish('turn')",
            "Text/JSON",
            id="form.turn",
            tooltip="This value as a text, or as number, true/false, null, list or object",
        ),
        Binding(
            "ctrl+z", "wish('undo')", "Undo", show=False, id="form.undo", tooltip="Take the last change back"
        ),
        Binding("ctrl+y", "wish('redo')", "Redo", show=False, id="form.redo", tooltip="Make it again"),
    ]
    DEFAULT_CSS = """
    ValueInput {
        position: absolute; layer: over; height: 1; padding: 0; border: none;
        background: $block-cursor-blurred-background;  /* a part of the line that the cursor is on */
        &:focus { background: $block-cursor-background; border: none; }
    }
    """
    FLIPS: ClassVar[dict[str, str]] = {"true": "false", "false": "true"}

    def __init__(self, owner: Owner) -> None:
        super().__init__(compact=True, select_on_focus=False)
        self._owner = owner
        self._literal = False  # does it hold a text, and no JSON
        self._told = True  # is what it holds the owner's

    def show(self, value: str, literal: bool, placeholder: str) -> None:
        """Take another row's value; the cursor goes to its end."""
        self._literal, self.placeholder = literal, placeholder
        self._told = False
        self.value = value
        self._told = True
        self.cursor_position = len(value)

    def watch_value(self, value: str) -> None:
        if self._told:
            self._owner.typed(value)

    def watch_selection(self) -> None:
        self._owner.cursor_moved()

    def insert(self, text: str, index: int) -> None:
        if text == " " and not self._literal and self.value in self.FLIPS:
            self.value = self.FLIPS[self.value]
        else:
            super().insert(text, index)

    def _on_paste(self, event: events.Paste) -> None:
        """A text is pasted as it is: its line ends and backslashes become escapes."""
        event.stop()
        event.prevent_default()
        text = as_shown(event.text) if self._literal else " ".join(escaped(event.text).split())
        self.replace(text, *self.selection)

    async def action_submit(self) -> None:
        self._owner.entered(self.value)

    def action_row(self, by: int) -> None:
        self._owner.move(by)

    def action_page(self, by: int) -> None:
        self._owner.move(by, pages=True)

    def action_wish(self, what: Wish) -> None:
        self._owner.wish(what)

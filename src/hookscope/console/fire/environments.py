"""A screen that chooses the environment whose variables fill events."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from hookscope.console.dialog import Dialog
from hookscope.console.fire.asked import EnvironmentAsked
from hookscope.console.keymap.hints import ENTER, hints
from hookscope.console.marks import MUTED, word

if TYPE_CHECKING:
    from hookscope.workbench.filling import Filling

NONE = "none"


class EnvironmentScreen(Dialog[EnvironmentAsked | None]):
    """The environments of the workspace; enter takes one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Back", id="environment.cancel", tooltip="Leave it as it is"),
    ]
    DEFAULT_CSS = """
    EnvironmentScreen {
        & > Vertical { width: 48; max-height: 80%; }
        & OptionList {
            height: auto; max-height: 100%; border: none; padding: 0; background: transparent;
            text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        }
    }
    """

    def __init__(self, filling: Filling) -> None:
        super().__init__()
        self._names: tuple[str | None, ...] = (None, *filling.environments)
        self._current = filling.chosen

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = Content("Whose variables?")
            frame.border_subtitle = hints((ENTER, "take"), ("environment.cancel", "back"))
            names = OptionList(*(Option(self._prompt(name)) for name in self._names), compact=True)
            names.highlighted = self._names.index(self._current) if self._current in self._names else 0
            yield names

    def _prompt(self, name: str | None) -> Content:
        mark = Content("● " if name == self._current else "  ")
        return mark + (Content.styled(NONE, MUTED) if name is None else Content(word(name, 40)))

    @on(OptionList.OptionSelected)
    def _taken(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(EnvironmentAsked(self._names[event.option_index]))

    def action_cancel(self) -> None:
        self.dismiss(None)

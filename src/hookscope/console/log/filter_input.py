"""Where the filter of the log is typed."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from hookscope.console.narrowing import Narrowing


class FilterInput(Narrowing):
    """One line that narrows the log down."""

    AGAIN = "log.filter_again"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "Clear", id="log.filter_drop", tooltip="Show all entries again"),
        Binding(
            "down", "submit", "To the log", show=False, id="log.filter_keep", tooltip="Keep it, go to the log"
        ),
        Binding(
            "up", "again", "Again", show=False, id="log.filter_again", tooltip="The filter that was cleared"
        ),
    ]
    DEFAULT_CSS = """
    FilterInput { display: none; background: transparent; color: $text; }
    FilterInput.-open { display: block; }
    """

    class Dropped(Message):
        """The filter is not wanted any more."""

    def action_drop(self) -> None:
        self.post_message(self.Dropped())

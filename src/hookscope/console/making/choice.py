"""One of a few words, gone through with the arrow keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from hookscope.console.theme import MUTED


class Choice(Widget, can_focus=True):
    """All words in one line; the chosen one stands out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "go(1)", "Next", id="choice.next", tooltip="The next word of this line"),
        Binding("left", "go(-1)", "Before", id="choice.before", tooltip="The word before"),
    ]
    chosen: reactive[int] = reactive(0)

    class Changed(Message):
        """Another word was chosen."""

    def __init__(self, words: Sequence[str], *, id: str) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.words = tuple(words)

    @property
    def word(self) -> str:
        return self.words[self.chosen]

    def render(self) -> Content:
        return Content("  ").join(
            [
                Content.styled(f"▸{word}" if self.has_focus else f" {word}", "bold $text-accent")
                if number == self.chosen
                else Content.styled(f" {word}", MUTED)
                for number, word in enumerate(self.words)
            ]
        )

    def action_go(self, by: int) -> None:
        self.chosen = (self.chosen + by) % len(self.words)
        self.post_message(self.Changed())

    def on_click(self, event: events.Click) -> None:
        """A click on a word chooses it; beside all of them, nothing."""
        at = 0
        for number, word in enumerate(self.words):
            at += len(word) + 3
            if event.x < at:
                self.chosen = number
                self.post_message(self.Changed())
                return

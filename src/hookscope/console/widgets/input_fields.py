"""Fields to type or choose in: one-line inputs, filters, word choices, completion, forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input, Label

from hookscope.console.keymap.active_keys import with_keys
from hookscope.console.keymap.available_actions import bindings_of_scope
from hookscope.console.theme.text_styles import MUTED, safe_word


class OneLineInput(Input):
    """An input with a fixed virtual size, so that no typed letter causes a new layout."""

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))


class FilterField(OneLineInput):
    """A filter that remembers its text when it is cleared, so that it can be restored."""

    AGAIN: ClassVar[str]  # the action that restores the text
    _cleared = ""

    def watch_value(self, before: str, after: str) -> None:
        if not after and len(before) > 1:  # a single remaining letter is not worth restoring
            self._cleared = before
            self.placeholder = with_keys(f"{{{self.AGAIN}}} ") + safe_word(before, 60)

    def action_again(self) -> None:
        """Restore the last filter if the field is empty."""
        if not self.value and self._cleared:
            self.value = self._cleared
            self.cursor_position = len(self.value)


class FilterBox(FilterField):
    """The filter of the hook list, above the columns."""

    AGAIN = "filter.again"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "Keep", id="filter.keep", tooltip="Keep the filter and return"),
        Binding("down", "submit", "To the list", show=False, id="filter.down", tooltip="Go to the hooks"),
        Binding("up", "again", "Again", show=False, id="filter.again", tooltip="Restore the cleared filter"),
        Binding("escape", "screen.back", "Clear", id="filter.clear", tooltip="Show all hooks again"),
    ]


_LOG_FILTER_ACTIONS = (
    ("escape", "drop", "filter_drop", "Clear", "Show all entries again"),
    ("down", "submit", "filter_keep", "To the log", "Keep the filter and return"),
    ("up", "again", "filter_again", "Again", "Restore the cleared filter"),
)


class FilterInput(FilterField):
    """The filter of the log."""

    AGAIN = "log.filter_again"

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of_scope("log", _LOG_FILTER_ACTIONS, {"filter_drop"})]
    DEFAULT_CSS = """
    FilterInput { display: none; background: transparent; color: $text; }
    FilterInput.-open { display: block; }
    """

    class Dropped(Message):
        """The filter was cleared."""

    def action_drop(self) -> None:
        self.post_message(self.Dropped())


class WordChoice(Widget, can_focus=True):
    """A choice of words on one line; the chosen one is highlighted."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right,space", "go(1)", "Next", id="choice.next", tooltip="Select the next value"),
        Binding("left", "go(-1)", "Previous", id="choice.before", tooltip="Select the previous value"),
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
        """Choose the clicked word; a click beside the words does nothing."""
        at = 0
        for number, word in enumerate(self.words):
            at += len(word) + 3
            if event.x < at:
                self.chosen = number
                self.post_message(self.Changed())
                return


def last_word_of(typed: str) -> str:
    """Return the word being typed: the text after the last comma."""
    return typed.rpartition(",")[2].strip()


def with_last_word(typed: str, word: str) -> str:
    """Return the list with its last word completed."""
    before = typed.rpartition(",")[0]
    return f"{before.strip()}, {word}" if before.strip() else word


class WordSuggester(Suggester):
    """Completes the word after the last comma; the words are looked up each time."""

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._words = words

    async def get_suggestion(self, value: str) -> str | None:
        prefix = last_word_of(value)
        match = next((word for word in self._words() if prefix and word.startswith(prefix)), None)
        return None if match is None else value + match[len(prefix) :]


class LabeledForm(Horizontal):
    """One-line fields with labels. All labels are one widget, which halves the time to open the form."""

    DEFAULT_CSS = """
    LabeledForm {
        height: auto;
        & > Label { width: auto; padding: 0 1 0 0; color: $text-muted; }
        & > Vertical { height: auto; }
        & Input { width: 1fr; margin: 0 0 0 1; background: transparent; }
        & WordChoice { width: 1fr; height: 1; }
    }
    """

    def __init__(self, fields: Mapping[str, Widget]) -> None:
        super().__init__()
        self._fields = fields

    def compose(self) -> ComposeResult:
        yield Label("\n".join(self._fields), markup=False)
        yield Vertical(*self._fields.values())

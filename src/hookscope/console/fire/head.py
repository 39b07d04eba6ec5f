"""The composer's first line: which event, which of its texts, which session, and how the text is shown."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from hookscope.console.marks import MUTED, word
from hookscope.console.painting import rewritten
from hookscope.core.text import without_controls

PARTS = ("context", "ctx")
FACES = ("JSON", "form")


class KeyField(Static, can_focus=True):
    """The event key; enter opens the list of events."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space,down", "pick", "Events", id="composer.pick", tooltip="Choose another event"),
    ]
    DEFAULT_CSS = """
    KeyField {
        width: auto; max-width: 50%; height: 1; text-style: bold;
        text-wrap: nowrap; text-overflow: ellipsis;
        &:focus { background: $block-cursor-background; }
    }
    """

    class PickAsked(Message):
        """Another event is wanted."""

    def action_pick(self) -> None:
        self.post_message(self.PickAsked())

    def on_click(self) -> None:
        self.action_pick()


class SessionInput(Input):
    """The session key. Characters that nobody sees do not get in."""

    def insert(self, text: str, index: int) -> None:
        super().insert(without_controls(text), index)


def choice(words: tuple[str, str], second: bool) -> Content:
    """Two words, of which one holds; marked as the modes are."""
    shown = (
        Content.styled(f"[{text}]", "bold") if second == bool(index) else Content.styled(f" {text} ", MUTED)
        for index, text in enumerate(words)
    )
    return Content("").join(shown)


class PartChoice(Static):
    """Which of the two texts is meant; a click takes the other."""

    class Turned(Message):
        """The other text is wanted."""

    def on_click(self) -> None:
        self.post_message(self.Turned())


class Head(Horizontal):
    """Ties them together."""

    DEFAULT_CSS = """
    Head {
        height: 1;
        & > #fire-part { width: auto; margin: 0 0 0 2; }
        & > #fire-session-label { width: auto; color: $text-muted; padding: 0 1 0 2; }
        & > SessionInput { width: 1fr; background: transparent; }
        & > SessionInput:focus { background: $boost; }
        &.-narrow > #fire-session-label { display: none; }
        &.-narrow > SessionInput { margin: 0 0 0 2; }
    }
    """

    def compose(self) -> ComposeResult:
        yield KeyField(id="fire-key", markup=False)
        yield PartChoice(id="fire-part", markup=False)
        yield Static("session", id="fire-session-label")
        yield SessionInput(id="fire-session", compact=True, select_on_focus=False)

    def on_resize(self) -> None:
        if not self.size:
            return  # it is not shown, and hears of its size when it is
        self.set_class(self.size.width < (64 if self.query_one(PartChoice).display else 40), "-narrow")

    @property
    def session(self) -> str:
        return self.query_one(SessionInput).value

    @session.setter
    def session(self, text: str) -> None:
        self.query_one(SessionInput).value = without_controls(text)

    def show(self, key: str, ctx: bool | None) -> None:
        """Show the key, and which text is meant; `ctx` None: there is one only."""
        rewritten(self.query_one(KeyField), Content(f"{word(key, 80) or 'choose an event'} ▾"))
        part = self.query_one(PartChoice)
        part.display = ctx is not None
        self.on_resize()
        rewritten(part, choice(PARTS, bool(ctx)))

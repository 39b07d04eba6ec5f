"""What screens share that narrow a list down while one types, and answer with a row of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from textual import events, on
from textual.content import Content
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from hookscope.console.dialog import TALL, Dialog
from hookscope.console.marks import MUTED

Row = TypeVar("Row")
Answer = TypeVar("Answer")


def holds(text: str, typed: str) -> bool:
    """Does every typed word stand in this text."""
    return all(word in text.casefold() for word in typed.casefold().split())


FRAME = 4  # lines of its frame, the field and the blank one below it
MOST = 96  # cells of the frame
AROUND = 8  # of them beside a row: the frame's own, its padding, a bar to scroll and what keeps off that


class Picker(Dialog[Answer | None], Generic[Row, Answer]):
    """A field, a list below it, in a frame over whatever is on the screen."""

    DEFAULT_CSS = """
    Picker {
        & > Vertical { width: 94%; max-width: 96; }
        & Input { background: transparent; margin: 0 0 1 0; }
        & OptionList {
            height: auto; border: none; padding: 0; background: transparent;
            text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
        }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: tuple[Row, ...] = ()

    @property
    def below(self) -> int:
        """Lines that may stand below the list."""
        return 0

    @on(events.Mount)
    @on(events.Resize)
    def leave_room(self) -> None:
        """As many rows as leave the frame whole, and all else that stands in it."""
        height = self.app.size.height
        around = FRAME + (2 if height >= TALL else 0) + self.below
        self.query_one(OptionList).styles.max_height = max(1, height * 88 // 100 - around)

    @property
    def room(self) -> int:
        """Cells of a row."""
        return min(MOST, self.app.size.width * 94 // 100) - AROUND

    @property
    def typed(self) -> str:
        """What stands in the field."""
        return self.query_one(Input).value

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        at = self.query_one(OptionList).highlighted
        return self.found[at] if at is not None and at < len(self.found) else None

    def list_rows(self, rows: Sequence[Row], prompts: Iterable[Content], none: str, at: int = 0) -> None:
        """Show these rows, the cursor on that one; where there are none this sentence."""
        self.found = tuple(rows)
        listed = self.query_one(OptionList)
        listed.set_options(Option(prompt) for prompt in prompts)
        if not rows:
            listed.add_option(Option(Content.styled(none, MUTED), disabled=True))
        listed.highlighted = min(at, len(rows) - 1) if rows else None

    def action_move(self, by: int) -> None:
        """Move the cursor, from the last row to the first."""
        listed = self.query_one(OptionList)
        if self.found:
            listed.highlighted = ((listed.highlighted or 0) + by) % len(self.found)

    def action_cancel(self) -> None:
        """Answer nothing."""
        self.dismiss(None)

"""Which hosts stand side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from hookscope.console.dialog import Dialog
from hookscope.console.keymap.hints import hints, with_keys
from hookscope.console.lines import Lines
from hookscope.console.marks import MUTED, fitted
from hookscope.core.dialect import Dialect

LEAST = 2
NAME = 24


class Choices(Lines):
    """A line a dialect, with a mark where it is chosen."""

    def __init__(self, known: Sequence[Dialect], chosen: Collection[str]) -> None:
        super().__init__()
        self.known = known
        self.chosen = set(chosen)

    @property
    def line_count(self) -> int:
        return len(self.known)

    def line_at(self, index: int, width: int) -> Content:
        one = self.known[index]
        mark = Content.styled("✓ ", "$text-success") if one.name in self.chosen else Content("· ")
        return Content.assemble(mark, fitted(one.name, NAME), (one.title, MUTED))

    def turn(self) -> None:
        """Choose what the cursor is on, or leave it out."""
        self.chosen ^= {self.known[self.cursor].name}
        self.refresh()


class ChooserScreen(Dialog[tuple[str, ...] | None]):
    """All dialects with HOOK.md folders; the chosen ones are marked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", "Choose", id="chooser.turn", tooltip="Choose this host, or leave it out"),
        Binding(
            "enter", "take", "Take", priority=True, id="chooser.take", tooltip="Put these hosts side by side"
        ),
        Binding("escape,h", "leave", "Back", id="chooser.leave", tooltip="Leave the hosts as they are"),
    ]
    DEFAULT_CSS = """
    ChooserScreen {
        & > Vertical { width: 72; max-width: 94%; max-height: 90%; }
    }
    """

    def __init__(self, known: Sequence[Dialect], chosen: Collection[str]) -> None:
        super().__init__()
        self.choices = Choices(known, chosen)

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Hosts side by side"
            frame.border_subtitle = hints(
                ("chooser.turn", "choose"), ("chooser.take", "take"), ("chooser.leave", "back")
            )
            self.choices.styles.height = self.choices.line_count
            yield self.choices

    def on_mount(self) -> None:
        self.choices.lines_changed()
        self.choices.focus()

    def action_turn(self) -> None:
        self.choices.turn()

    def action_take(self) -> None:
        chosen = self.choices.chosen
        if len(chosen) < LEAST:
            told = with_keys("Choose two hosts or more: {chooser.turn} marks one.")
            self.app.notify(told, severity="warning", markup=False)
            return
        self.dismiss(tuple(one.name for one in self.choices.known if one.name in chosen))

    def on_lines_chosen(self, event: Lines.Chosen) -> None:
        event.stop()
        self.choices.turn()  # a click on the line under the cursor

    def action_leave(self) -> None:
        self.dismiss(None)

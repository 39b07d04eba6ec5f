"""The edit that a toggle makes, shown before it is written for the first time."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from hookscope.console.hooks.sheet import foreign
from hookscope.console.text import line, plain
from hookscope.console.theme import FAINT, LOOKS, MUTED

if TYPE_CHECKING:
    from hookscope.core.surroundings import Surroundings
    from hookscope.workbench import Effect, Toggle

AROUND = 8  # lines that the box needs beside its text
STYLES = {"+": "$text-success", "-": "$text-error", "@": FAINT}


def edit_sheet(toggle: Toggle, surroundings: Surroundings) -> Content:
    """The file, the diff, what else it changes, and when the host notices."""
    after = line(toggle.after, 200).stylize("bold")
    return Content("\n").join(
        [
            foreign(surroundings.short(toggle.change.path)).stylize("bold"),
            Content(),
            *(_diff_line(text) for text in toggle.change.preview().splitlines()[2:]),
            Content(),
            Content.assemble(line(toggle.name, 60), " will be ", after, "."),
            *(_effect(other) for other in toggle.others),
            Content.styled(toggle.notices, MUTED),
        ]
    )


def _diff_line(text: str) -> Content:
    shown = plain(text.replace("\t", "    "), 300)
    return shown.stylize(STYLES.get(text[:1], MUTED)) if shown else shown


def _effect(other: Effect) -> Content:
    looks = (LOOKS[other.before], LOOKS[other.after])
    parts = [Content.styled(f"{look.glyph} {look.word}", look.style) for look in looks]
    return Content.assemble("also ", line(other.name, 60), f" ({other.source}): ", parts[0], " → ", parts[1])


class ToggleScreen(ModalScreen[bool]):
    """Asks whether to write; cancel is the default."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "Cancel", id="toggle.cancel", tooltip="Write nothing"),
        Binding("w", "answer(True)", "Write", id="toggle.write", tooltip="Write the edit; u takes it back"),
        Binding(
            "left,right", "other_button", "Choose", show=False, id="toggle.choose", tooltip="Another answer"
        ),
    ]

    def __init__(self, toggle: Toggle, surroundings: Surroundings) -> None:
        super().__init__()
        self.toggle, self.surroundings = toggle, surroundings

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_title = Content(f"Switch {'on' if self.toggle.on else 'off'}?")
            box.border_subtitle = "w write   esc cancel   u undoes it later   shown once"
            with VerticalScroll(id="question-text", can_focus=False):
                yield Static(edit_sheet(self.toggle, self.surroundings), id="question-sheet")
            with Horizontal(id="answers"):
                yield Button("Cancel", id="cancel", compact=True)
                yield Button("w  Write", id="write", compact=True)

    def on_mount(self) -> None:
        self.query_one("#cancel", Button).focus()
        text = self.query_one("#question-text")
        text.styles.height = "auto"
        text.styles.max_height = max(3, self.size.height - AROUND)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "write")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)

    def action_other_button(self) -> None:
        self.focus_next(Button)

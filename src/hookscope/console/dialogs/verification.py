"""Asks before the installed host's program is started, and shows how its answers compare."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from hookscope.analysis.verification_result import Verification, verification_lines
from hookscope.console.dialogs.base_dialogs import AnswerButton, AnswerRow, ButtonDialog, Overlay
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints, key_of
from hookscope.console.theme.text_styles import MUTED, safe_line, safe_paragraph
from hookscope.console.widgets.lines import KeyScroll

WHAT_IT_DOES = (
    "The copy has no credentials and no sessions, and secrets are masked. The program runs without network "
    "if bubblewrap works here. Its answers are compared with ours, hook by hook and check by check."
)
LONGEST_LINE = 600  # characters


class VerifyQuestion(ButtonDialog[bool]):
    """Asks whether the host's program may be started."""

    ON_BUTTONS = frozenset({"verify.yes"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer(False)", "Cancel", id="verify.cancel", tooltip="Start nothing"),
        Binding("ctrl+r,f5", "answer(True)", "Start", id="verify.yes", tooltip="Start it, and compare"),
        Binding(
            "left,right", "other_button", "Choose", show=False, id="verify.choose", tooltip="Next button"
        ),
    ]

    def __init__(self, question: str) -> None:
        """`question`: what is started, as a sentence."""
        super().__init__()
        self._question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_title = "Verify"
            with VerticalScroll(id="question-text"):
                text = Content("\n").join([safe_paragraph(self._question), Content(), Content(WHAT_IT_DOES)])
                yield Static(text, id="question-sheet")
            yield AnswerRow(
                AnswerButton("Cancel", id="cancel"),
                AnswerButton(f"Start {key_of('verify.yes')}", id="yes"),
                hint=f"{ENTER_KEY} cancel",
            )

    def on_button_pressed(self, event: Button.Pressed) -> None:
        event.stop()
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


def verification_sheet(result: Verification) -> Content:
    """Return the lines of a comparison: its outcome, and each difference with both answers."""
    return Content("\n").join(_styled(line) for line in verification_lines(result))


def _styled(line: str) -> Content:
    text = safe_line(line, LONGEST_LINE)
    if line.startswith("✓"):
        return text.stylize("$text-success", 0, 1)
    if line.startswith(("✗", "!")):
        return text.stylize("$text-warning", 0, 1)
    return text.stylize(MUTED) if line.startswith("    ") else text


class VerificationScreen(Overlay[str]):
    """An overlay with the comparison. It returns "report" if the user requests a bundle for a report."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,H,q,enter", "dismiss('')", "Close", id="verification.close", tooltip="Back"),
        Binding("y", "copy", "Copy", id="verification.copy", tooltip="Copy this text"),
        Binding(
            "X",
            "dismiss('report')",
            "Report",
            id="verification.report",
            tooltip="Write a zip file for a report, without secrets",
        ),
    ]

    def __init__(self, result: Verification) -> None:
        super().__init__()
        self._sheet = verification_sheet(result)

    def compose(self) -> ComposeResult:
        with KeyScroll(id="verification") as box:
            box.border_title = "The installed host"
            box.border_subtitle = key_hints(
                ("verification.report", "report"),
                ("verification.copy", "copy"),
                ("verification.close", "close"),
            )
            yield Static(self._sheet, id="verification-sheet")

    def action_copy(self) -> None:
        self.app.copy_to_clipboard(self._sheet.plain)
        self.app.notify("Copied the comparison.", markup=False)

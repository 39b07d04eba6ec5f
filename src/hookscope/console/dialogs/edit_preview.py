"""Previews edits as diffs before they are written, undone or forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from hookscope.console.dialogs.base_dialogs import AnswerButton, AnswerRow, ButtonDialog
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints, key_of
from hookscope.console.theme.text_styles import (
    FAINT,
    MUTED,
    STATE_STYLES,
    safe_line,
    safe_paragraph,
    safe_text,
)
from hookscope.storage.edits.masked_preview import MASKED_NOTE, hides_secrets, masked_preview

if TYPE_CHECKING:
    from hookscope.app.edits import Toggle, Undoing
    from hookscope.model.hook_status import Effect
    from hookscope.model.machine import Machine
    from hookscope.storage.edits.change import Change

DIFF_STYLES = {"+": "$text-success", "-": "$text-error", "@": FAINT}
GIVE_UP_NOTE = "Undo stops at this edit until you forget it. Forgetting it changes no files."
LATER_EDITS_NOTE = "The file has changed since. Only this edit is undone; later changes stay."
OTHER_TERMINAL_NOTE = "It was made in another terminal, or before this console started."


def toggle_sheet(toggle: Toggle, machine: Machine) -> Content:
    """Return the file, the diff, other effects, and when the host notices."""
    after = safe_line(toggle.after, 200).stylize("bold")
    return Content("\n").join(
        [
            *_edit_lines(toggle.change, machine),
            Content.assemble(safe_line(toggle.name, 60), " will be ", after, "."),
            *(_effect_line(other) for other in toggle.others),
            Content.styled(toggle.notices, MUTED),
        ]
    )


def undo_sheet(undoing: Undoing, machine: Machine, *, ours: bool) -> Content:
    """Return what is undone, why the user is asked, the file and the diff.

    The user is asked if the edit is not `ours`, or not the last one.
    """
    meaning = safe_line(undoing.change.meaning, 200).stylize("bold")
    why = [
        Content.styled(text, MUTED)
        for text in [OTHER_TERMINAL_NOTE] * (not ours) + [LATER_EDITS_NOTE] * undoing.file_changed
    ]
    return Content("\n").join([meaning, *why, Content(), *_edit_lines(undoing.inverse, machine)])


def stuck_sheet(problem: str, change: Change, machine: Machine) -> Content:
    """Return why an edit cannot be undone, and what forgetting it means."""
    for part in change.parts:
        problem = problem.replace(str(part.path), machine.short(part.path))
    return Content("\n").join(
        [
            safe_text(problem, 400),
            Content(),
            safe_line(change.meaning, 200).stylize("bold"),
            Content.styled(GIVE_UP_NOTE, MUTED),
        ]
    )


def change_sheet(change: Change, machine: Machine) -> Content:
    """Return the file and the diff of an edit."""
    return Content("\n").join(_edit_lines(change, machine))


def _edit_lines(change: Change, machine: Machine) -> Iterator[Content]:
    yield safe_paragraph(machine.short(change.path)).stylize("bold")
    yield Content()
    for text in masked_preview(change).splitlines()[2:]:
        shown = safe_text(text.replace("\t", "    "), 300)
        yield shown.stylize(DIFF_STYLES.get(text[:1], MUTED)) if shown else shown
    if hides_secrets(change):
        yield Content(MASKED_NOTE).stylize(MUTED)
    yield Content()


def _effect_line(effect: Effect) -> Content:
    styles = (STATE_STYLES[effect.before], STATE_STYLES[effect.after])
    parts = [Content.styled(f"{style.glyph} {style.word}", style.style) for style in styles]
    return Content.assemble(
        "also ", safe_line(effect.name, 60), f" ({effect.source}): ", parts[0], " → ", parts[1]
    )


class EditQuestion(ButtonDialog[bool]):
    """Asks whether to write, undo or forget an edit; Cancel is the default."""

    room: ClassVar[str]
    act: ClassVar[tuple[str, str]]  # the action's id and its label

    def __init__(self, title: str, sheet: Content, hint: str = "") -> None:
        super().__init__()
        self._title, self._sheet, self._hint = title, sheet, hint

    def compose(self) -> ComposeResult:
        action, word = self.act
        with Vertical(id="question") as box:
            box.border_title = Content(self._title)
            keys = key_hints(
                (f"{self.room}.choose", "choose"), (ENTER_KEY, "answer"), (f"{self.room}.cancel", "cancel")
            )
            box.border_subtitle = keys
            with VerticalScroll(id="question-text", can_focus=False):
                yield Static(self._sheet, id="question-sheet")
            yield AnswerRow(
                AnswerButton("Cancel", id="cancel"),
                AnswerButton(f"{key_of(action)}  {word}", id="act"),
                hint=self._hint,
            )

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "act")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)


class EditScreen(EditQuestion):
    """Asks whether to write an edit."""

    room, act = "edit", ("edit.write", "Write")
    ON_BUTTONS = frozenset({"edit.write"})

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "Cancel", id="edit.cancel", tooltip="Write nothing"),
        Binding("w", "answer(True)", "Write", id="edit.write", tooltip="Write it; {hooks.undo} undoes it"),
        Binding("left,right", "other_button", "Choose", show=False, id="edit.choose", tooltip="Next button"),
    ]


class ForgetScreen(EditQuestion):
    """Asks whether to forget an edit that cannot be undone."""

    room, act = "forget", ("forget.forget", "Forget")
    ON_BUTTONS = frozenset({"forget.forget"})

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "Cancel", id="forget.cancel", tooltip="Keep the edit"),
        Binding(
            "g",
            "answer(True)",
            "Forget",
            id="forget.forget",
            tooltip="Keep its files; {hooks.undo} then undoes the previous edit",
        ),
        Binding(
            "left,right", "other_button", "Choose", show=False, id="forget.choose", tooltip="Next button"
        ),
    ]

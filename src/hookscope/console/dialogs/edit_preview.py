"""Edits of settings, shown as a diff before they are written, undone or given up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from hookscope.console.dialogs.base_dialogs import AnswerButton, AnswerRow, ButtonDialog
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints, key_of, with_keys
from hookscope.console.state.messages import (
    NoticeShown,
    SettingsWritten,
    Severity,
    TogglePlanned,
    ToggleRequested,
    UndoPlanned,
)
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
    from hookscope.app.snapshot import Snapshot
    from hookscope.app.toggle import Toggle, Undoing
    from hookscope.console.screens.main_frame import MainFrame
    from hookscope.model.hook_status import Effect
    from hookscope.model.machine import Machine
    from hookscope.storage.edits.change import Change

DIFF_STYLES = {"+": "$text-success", "-": "$text-error", "@": FAINT}
GIVE_UP_NOTE = "It stays the next to be undone, unless it is given up: then its files stay as they are."
LATER_EDITS_NOTE = "It has changed since. This edit alone is taken back; what came later stays."
OTHER_TERMINAL_NOTE = "It was made in another terminal, or before this console began."


def toggle_sheet(toggle: Toggle, surroundings: Machine) -> Content:
    """The file, the diff, what else it changes, and when the host notices."""
    after = safe_line(toggle.after, 200).stylize("bold")
    return Content("\n").join(
        [
            *_edit_lines(toggle.change, surroundings),
            Content.assemble(safe_line(toggle.name, 60), " will be ", after, "."),
            *(_effect_line(other) for other in toggle.others),
            Content.styled(toggle.notices, MUTED),
        ]
    )


def undo_sheet(undoing: Undoing, surroundings: Machine, *, ours: bool) -> Content:
    """What is taken back, why that is asked – it is not `ours`, or not the last –, the file and the diff."""
    meaning = safe_line(undoing.change.meaning, 200).stylize("bold")
    why = [
        Content.styled(text, MUTED)
        for text in [OTHER_TERMINAL_NOTE] * (not ours) + [LATER_EDITS_NOTE] * undoing.alone
    ]
    return Content("\n").join([meaning, *why, Content(), *_edit_lines(undoing.back, surroundings)])


def stuck_sheet(problem: str, change: Change, surroundings: Machine) -> Content:
    """Why an edit cannot be taken back, and what giving it up would mean."""
    for part in change.parts:
        problem = problem.replace(str(part.path), surroundings.short(part.path))
    return Content("\n").join(
        [
            safe_text(problem, 400),
            Content(),
            safe_line(change.meaning, 200).stylize("bold"),
            Content.styled(GIVE_UP_NOTE, MUTED),
        ]
    )


def change_sheet(change: Change, surroundings: Machine) -> Content:
    """The file and the diff of any edit."""
    return Content("\n").join(_edit_lines(change, surroundings))


def _edit_lines(change: Change, surroundings: Machine) -> Iterator[Content]:
    yield safe_paragraph(surroundings.short(change.path)).stylize("bold")
    yield Content()
    for text in masked_preview(change).splitlines()[2:]:
        shown = safe_text(text.replace("\t", "    "), 300)
        yield shown.stylize(DIFF_STYLES.get(text[:1], MUTED)) if shown else shown
    if hides_secrets(change):
        yield Content(MASKED_NOTE).stylize(MUTED)
    yield Content()


def _effect_line(other: Effect) -> Content:
    looks = (STATE_STYLES[other.before], STATE_STYLES[other.after])
    parts = [Content.styled(f"{look.glyph} {look.word}", look.style) for look in looks]
    return Content.assemble(
        "also ", safe_line(other.name, 60), f" ({other.source}): ", parts[0], " → ", parts[1]
    )


class EditQuestion(ButtonDialog[bool]):
    """Asks whether to do something with an edit; cancel is the default."""

    room: ClassVar[str]
    act: ClassVar[tuple[str, str]]  # the action that does it, and its word

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
        Binding(
            "w",
            "answer(True)",
            "Write",
            id="edit.write",
            tooltip="Write it; {hooks.undo} takes it back",
        ),
        Binding(
            "left,right", "other_button", "Choose", show=False, id="edit.choose", tooltip="Another answer"
        ),
    ]


class ForgetScreen(EditQuestion):
    """Asks whether to give up an edit that cannot be taken back."""

    room, act = "forget", ("forget.forget", "Give up")
    ON_BUTTONS = frozenset({"forget.forget"})

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,n", "answer(False)", "Cancel", id="forget.cancel", tooltip="Forget nothing"),
        Binding(
            "g",
            "answer(True)",
            "Give up",
            id="forget.forget",
            tooltip="Its files stay as they are; {hooks.undo} goes on with the one before it",
        ),
        Binding(
            "left,right", "other_button", "Choose", show=False, id="forget.choose", tooltip="Another answer"
        ),
    ]


class EditController:
    """From a wish to an edit on disk. The first toggle of a sitting is shown before it is written."""

    def __init__(self, screen: MainFrame) -> None:
        self.screen = screen
        self._shown = False  # has a toggle's edit been shown in this sitting

    def toggle(self, asked: ToggleRequested) -> None:
        """Find out what it takes."""
        if self.screen.state.view is not None:
            self.screen.bridge.plan_toggle(self.screen.state.view, asked.name, asked.on)

    def toggle_planned(self, planned: TogglePlanned) -> None:
        """Show the edit, or write it."""
        toggle, view, bridge = planned.toggle, self.screen.state.view, self.screen.bridge
        if toggle is None or view is None:
            self._say(planned.problem or "Still looking.")
        elif not toggle.needed:
            self._say(f"{toggle.name} is {toggle.after} already.")
        elif self._shown:
            bridge.apply_toggle(toggle)
        else:
            title = f"Switch {'on' if toggle.on else 'off'}?"
            sheet = toggle_sheet(toggle, view.host.surroundings)
            self._ask(
                EditScreen(title, sheet, with_keys("{hooks.undo} undoes it later   shown once")),
                self._agreed(toggle),
            )

    def _agreed(self, toggle: Toggle) -> Callable[[], None]:
        def write() -> None:
            self._shown = True
            self.screen.bridge.apply_toggle(toggle)

        return write

    def undo_planned(self, planned: UndoPlanned) -> None:
        """Take the last edit back, give it up, or say why neither can be."""
        undoing, view = planned.undoing, self.screen.state.view
        if planned.stuck is not None and view is not None:
            stuck = planned.stuck
            sheet = stuck_sheet(planned.problem, stuck, view.host.surroundings)
            self._ask(ForgetScreen("Give up this undo?", sheet), lambda: self._give_up(stuck))
        elif undoing is None or view is None:
            self._say(planned.problem or "Still looking.")
        else:
            self._take_back(undoing, view)

    def _take_back(self, undoing: Undoing, view: Snapshot) -> None:
        """Ask first where its file has changed since, and where it was not made here."""
        bridge = self.screen.bridge
        ours = bridge.bench.edits.made_here(undoing.change)
        if ours and not undoing.alone:
            bridge.apply_undo(undoing)
            return
        sheet = undo_sheet(undoing, view.host.surroundings, ours=ours)
        self._ask(EditScreen("Take back this edit?", sheet), lambda: bridge.apply_undo(undoing))

    def _give_up(self, change: Change) -> None:
        """Forget an edit that cannot be taken back."""
        edits = self.screen.bridge.bench.edits
        told = SettingsWritten("undo", f"forgotten: {change.meaning}")
        self.screen.bridge.ask("settings", lambda: edits.forget(change), lambda _: self.written(told))

    def written(self, written: SettingsWritten) -> None:
        """An edit is on disk, or could not be: say so, and look."""
        if written.problem:
            self._say(written.problem)
            return
        self.screen.log_line("config", written.text, subject=written.subject)
        if written.text.startswith("on, but") or written.subject == "undo":
            self._say(f"{written.subject}: {written.text}", "information")
        if written.files and self.screen.sits("saved"):
            self.screen.saved.taken_back(written.files)
        self.screen.bridge.look()

    def _ask(self, question: EditQuestion, write: Callable[[], None]) -> None:
        def answered(agreed: bool | None) -> None:
            if agreed:
                write()

        self.screen.app.push_screen(question, answered)

    def _say(self, text: str, severity: Severity = "warning") -> None:
        self.screen.post_message(NoticeShown(text, severity))

"""Previews edits as diffs before they are written, undone or forgotten."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Button, Static

from hookscope.console.dialogs.base_dialogs import LINES_AROUND_TEXT, AnswerButton, AnswerRow, ButtonDialog
from hookscope.console.keymap.active_keys import ENTER_KEY, key_hints, key_of, with_keys
from hookscope.console.theme.text_styles import (
    FAINT,
    MUTED,
    STATE_STYLES,
    counted,
    safe_line,
    safe_paragraph,
    safe_text,
)
from hookscope.console.widgets.lines import KeyScroll, LineList
from hookscope.storage.edits.masked_preview import MASKED_NOTE, hides_secrets, masked_preview

if TYPE_CHECKING:
    from hookscope.app.edits import Toggle, Undoing
    from hookscope.model.hook_status import Effect
    from hookscope.model.machine import Machine
    from hookscope.storage.edits.change import Change

WORD = re.compile(r"\w+|\s+|.")
CHANGED_WORD = "bold reverse"
LEAST_SIMILAR = 0.4  # share of equal words; less similar lines are not compared word by word
DIFF_STYLES = {"+": "$text-success", "-": "$text-error", "@": FAINT}
GIVE_UP_NOTE = "Undo stops at this edit until you forget it. Forgetting it changes no files."
LATER_EDITS_NOTE = "The file has changed since this edit. Only the edit is undone; later changes stay."
OTHER_TERMINAL_NOTE = "This edit was made in another terminal, or before this console started."


def toggle_sheet(toggle: Toggle, machine: Machine) -> Content:
    """Return the file, the diff, the new state, other effects, and when the host notices the change."""
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
    """Return what is undone, why the user must confirm, the file and the diff.

    The user must confirm if the edit is not `ours`, or not the last one.
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
    meaning = [] if change.meaning in problem else [safe_line(change.meaning, 200).stylize("bold")]
    return Content("\n").join(
        [safe_text(problem, 400), Content(), *meaning, Content.styled(GIVE_UP_NOTE, MUTED)]
    )


def change_sheet(change: Change, machine: Machine) -> Content:
    """Return the file and the diff of an edit."""
    return Content("\n").join(_edit_lines(change, machine))


def _edit_lines(change: Change, machine: Machine) -> Iterator[Content]:
    for part in change.parts:
        yield safe_paragraph(machine.short(part.path)).stylize("bold")
        yield Content()
        yield from diff_lines(masked_preview(part).splitlines()[2:])
        if hides_secrets(part):
            yield Content(MASKED_NOTE).stylize(MUTED)
        yield Content()


def diff_lines(lines: Sequence[str]) -> Iterator[Content]:
    """Yield the lines of a diff in colours; words that differ between two versions of a line are marked."""
    removed: list[Content] = []
    added: list[Content] = []
    for text in [*lines, ""]:
        shown = safe_text(text.replace("\t", "    "), 300)
        if text[:1] == "-" and not added:
            removed.append(shown)
        elif text[:1] == "+":
            added.append(shown)
        else:
            yield from _changed_lines(removed, added)
            removed, added = ([shown], []) if text[:1] == "-" else ([], [])
            if text[:1] != "-" and text:
                yield shown.stylize(DIFF_STYLES.get(text[:1], MUTED))


def _changed_lines(removed: list[Content], added: list[Content]) -> Iterator[Content]:
    pairs = [_marked_pair(*pair) for pair in zip_longest(removed, added)]
    for side, style in enumerate((DIFF_STYLES["-"], DIFF_STYLES["+"])):
        for pair in pairs:
            line = pair[side]
            if line is not None:
                yield line.stylize_before(style)


def _marked_pair(old: Content | None, new: Content | None) -> tuple[Content | None, Content | None]:
    """Return both lines with their differing words marked, if the lines are similar."""
    if old is None or new is None:
        return old, new
    words = [WORD.findall(line.plain[1:]) for line in (old, new)]
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    if matcher.ratio() < LEAST_SIMILAR:
        return old, new
    marked = [old, new]
    for change, *ends in matcher.get_opcodes():
        for side, (first, last) in enumerate((ends[:2], ends[2:])):
            if change != "equal" and first < last:
                start = 1 + len("".join(words[side][:first]))
                end = start + len("".join(words[side][first:last]))
                marked[side] = marked[side].stylize(CHANGED_WORD, start, end)
    return marked[0], marked[1]


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
        Binding("escape", "answer(False)", "Cancel", id="edit.cancel", tooltip="Write nothing"),
        Binding("w", "answer(True)", "Write", id="edit.write", tooltip="Write it; {hooks.undo} undoes it"),
        Binding("left,right", "other_button", "Choose", show=False, id="edit.choose", tooltip="Next button"),
    ]


class FixLines(LineList):
    """A line for each fix, with a mark if it is chosen."""

    def __init__(self, fixes: Sequence[Content]) -> None:
        super().__init__()
        self.fixes = fixes
        self.chosen = set(range(len(fixes)))

    @property
    def line_count(self) -> int:
        return len(self.fixes)

    def line_at(self, index: int, width: int) -> Content:
        mark = ("✓ ", "$text-success") if index in self.chosen else ("· ", MUTED)
        return Content.assemble(mark, self.fixes[index])


class FixAllScreen(ButtonDialog[frozenset[int] | None]):
    """Asks which fixes to write. Returns their numbers; None if the user cancels."""

    FIRST = "FixLines"
    ON_BUTTONS = frozenset({"fixes.write"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "turn", "Choose", id="fixes.turn", tooltip="Include or exclude this fix"),
        Binding(
            "w",
            "write",
            "Write",
            id="fixes.write",
            tooltip="Write the chosen fixes; {hooks.undo} undoes them",
        ),
        Binding("escape", "dismiss(None)", "Cancel", id="fixes.cancel", tooltip="Write nothing"),
    ]
    DEFAULT_CSS = """
    FixAllScreen {
        & FixLines { height: auto; max-height: 6; margin: 0 0 1 0; }
    }
    """

    def __init__(
        self, fixes: Sequence[Content], sheets: Sequence[Content], hint: Callable[[frozenset[int]], str]
    ) -> None:
        """`sheets` has the diff of each fix; `hint` returns how to undo the fixes with these numbers."""
        super().__init__()
        self.lines = FixLines(fixes)
        self._sheets, self._hint = sheets, hint

    @property
    def chosen(self) -> frozenset[int]:
        """The numbers of the chosen fixes."""
        return frozenset(self.lines.chosen)

    def _diff(self, end: int | None = None) -> Content:
        """Return the diffs of the chosen fixes, or of those before the fix with the number `end`."""
        chosen = (number for number in sorted(self.chosen) if end is None or number < end)
        return Content("\n").join(self._sheets[number] for number in chosen)

    def compose(self) -> ComposeResult:
        with Vertical(id="question") as box:
            box.border_subtitle = key_hints(
                ("fixes.turn", "choose"), ("fixes.write", "write"), ("fixes.cancel", "cancel")
            )
            yield self.lines
            with KeyScroll(id="question-text"):
                yield Static(self._diff(), id="question-sheet")
            yield AnswerRow(
                AnswerButton("Cancel", id="cancel"),
                AnswerButton(f"{key_of('fixes.write')}  Write", id="act"),
                hint=self._hint(self.chosen),
            )

    def on_mount(self) -> None:
        self._name_choice()
        self.lines.lines_changed()

    def make_room(self) -> None:
        """Limit the diff's height, so that the list and the buttons fit."""
        taken = min(6, self.lines.line_count) + 1
        available = (
            self.size.height - LINES_AROUND_TEXT - max(1, self.query_one(AnswerRow).size.height) - taken
        )
        self.query_one("#question-text").styles.max_height = max(3, available)

    def action_turn(self) -> None:
        self.lines.chosen ^= {self.lines.cursor}
        self.lines.refresh()
        text = self.query_one("#question-text")
        text.styles.min_height = text.outer_size.height  # a shorter diff moves no line of the list
        self.query_one("#question-sheet", Static).update(self._diff())
        self.query_one("#hint", Static).update(self._hint(self.chosen))
        self._name_choice()

    def action_write(self) -> None:
        if self.chosen:
            self.dismiss(self.chosen)
        else:
            self.app.notify(with_keys("Choose at least one fix: {fixes.turn} marks it."), markup=False)

    def _name_choice(self) -> None:
        some, every = len(self.chosen), counted(self.lines.line_count, "hook")
        title = f"Fix {every}?" if some == self.lines.line_count else f"Fix {some} of {every}?"
        self.query_one("#question").border_title = title

    def on_button_pressed(self, event: Button.Pressed) -> None:
        if event.button.id == "act":
            self.action_write()
        else:
            self.dismiss(None)

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self.action_turn()

    @on(LineList.Moved)
    def _show_diff(self, event: LineList.Moved) -> None:
        """Scroll to the diff of the fix under the cursor."""
        event.stop()
        sheet, above = self.query_one("#question-sheet", Static), self._diff(event.index)
        top = above.get_height({}, sheet.content_size.width) if above else 0
        self.query_one("#question-text", KeyScroll).scroll_to(y=top, animate=False)


class ForgetScreen(EditQuestion):
    """Asks whether to forget an edit that cannot be undone."""

    room, act = "forget", ("forget.forget", "Forget")
    ON_BUTTONS = frozenset({"forget.forget"})

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "answer(False)", "Cancel", id="forget.cancel", tooltip="Keep the edit"),
        Binding(
            "delete",
            "answer(True)",
            "Forget",
            id="forget.forget",
            tooltip="Keep its files; {hooks.undo} then undoes the previous edit",
        ),
        Binding(
            "left,right", "other_button", "Choose", show=False, id="forget.choose", tooltip="Next button"
        ),
    ]

"""One JSON object of the draft, as text or as a form. The text is what counts; the form edits it."""

from __future__ import annotations

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea

from hookscope.console.fire.completion import Choice, choices_at, completed, spot_at
from hookscope.console.fire.completion_list import CompletionScreen
from hookscope.console.fire.draft import Checked, Noted, field_at
from hookscope.console.fire.form import FieldForm
from hookscope.console.fire.json_editor import JsonEditor
from hookscope.console.fire.json_places import offset_at
from hookscope.console.fire.offers import Offer
from hookscope.console.leaving import Leaves


class ContextEditor(Leaves, Vertical):
    """Two views of one text, of which one is shown."""

    DEFAULT_CSS = """
    ContextEditor {
        height: 1fr;
        & > JsonEditor { height: 1fr; }
        & > FieldForm { display: none; }
        &.-form > JsonEditor { display: none; }
        &.-form > FieldForm { display: block; }
    }
    """

    class Moved(Message):
        """Another field is at the cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.editor = JsonEditor()
        self.form = FieldForm(self.editor.change_to, self._undo)
        self.known: tuple[Offer, ...] = ()
        self._notes: tuple[Noted, ...] = ()

    def compose(self) -> ComposeResult:
        yield self.editor
        yield self.form

    @property
    def text(self) -> str:
        return self.editor.text

    @property
    def as_form(self) -> bool:
        return self.has_class("-form")

    @property
    def field(self) -> str | None:
        """The name of the field at the cursor."""
        if self.as_form:
            return self.form.row.name or None
        return field_at(self.editor.text, *self.editor.cursor_location)

    @property
    def cursor(self) -> tuple[str, int]:
        """The line that is written, or the value of the form's row, and where in it the cursor stands."""
        if self.as_form:
            return self.form.value_at_cursor
        line, column = self.editor.cursor_location
        return self.editor.document.get_line(line), column

    def rewrite(self, text: str) -> None:
        """Put a whole other text in place."""
        self.editor.rewrite(text)
        self._show_form()

    @property
    def noted(self) -> Noted | None:
        """What is noted on the field at the cursor."""
        name = self.field
        return next((noted for noted in self._notes if name and noted.field == name), None)

    def mark(self, checked: Checked, *, in_ctx: bool) -> None:
        """Show where the mistake and the notes are that belong to this text."""
        mine = checked.line and checked.in_ctx == in_ctx
        self._notes = tuple(noted for noted in checked.notes if noted.in_ctx == in_ctx)
        odd = ((noted.line - 1, noted.column - 1) for noted in self._notes if noted.line)
        self.editor.mark(checked.line - 1 if mine else None, frozenset(odd))
        self._show_form()

    def offer(self, known: tuple[Offer, ...]) -> None:
        """These are the fields that the event may have."""
        if known != self.known:
            self.known = known
            self._show_form()

    def turn(self, form: bool) -> None:
        """Show the form, or the text. The focus stays within."""
        focused = self.has_focus_within
        self.set_class(form, "-form")
        self._show_form()
        if focused:
            self.call_after_refresh(self.take_focus)

    def take_focus(self) -> None:
        """Go to the text, or to the form's row."""
        (self.form.target if self.as_form else self.editor).focus()

    def _show_form(self) -> None:
        if self.as_form and self.form.is_mounted:
            notes = {noted.field: noted.text for noted in reversed(self._notes)}
            self.form.show(self.editor.text, self.known, notes)

    @on(JsonEditor.CompleteAsked)
    def _complete(self, event: JsonEditor.CompleteAsked) -> None:
        event.stop()
        editor = self.editor
        text = editor.text
        row, column = editor.cursor_location
        spot = spot_at(text, offset_at(text, row, column))
        choices = choices_at(spot, self.known) if spot is not None else ()
        if spot is None or not choices:
            self.app.notify("Nothing more is known that could stand here.", markup=False)
            return
        there = spot

        def taken(choice: Choice | None) -> None:
            if choice is not None:
                done = completed(text, there, choice)
                editor.put(done.start, done.end, done.text, done.select)

        title = f"Values of {spot.name}" if spot.slot == "value" else "Fields"
        typed = spot.typed if spot.slot == "name" else ""
        self.app.push_screen(CompletionScreen(title, choices, typed, editor.cursor_screen_offset), taken)

    @on(TextArea.Changed)
    def _text_changed(self) -> None:
        self._show_form()

    @on(TextArea.SelectionChanged)
    @on(FieldForm.Moved)
    def _cursor_moved(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Moved())

    def _undo(self, again: bool) -> None:
        before = self.editor.text
        (self.editor.redo if again else self.editor.undo)()
        if self.editor.text == before:
            told = "No change is left to make again." if again else "No change is left to take back."
            self.app.notify(told, markup=False)

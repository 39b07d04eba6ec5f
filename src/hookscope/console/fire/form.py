"""A JSON object as a form: a row a field, the value of the row at the cursor in an input over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual import on
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from hookscope.console.fire.completion import Choice, values_of
from hookscope.console.fire.completion_list import CompletionScreen
from hookscope.console.fire.draft import escaped
from hookscope.console.fire.field_lines import FieldLines
from hookscope.console.fire.fields import Form, on_one_line, quoted, read_form
from hookscope.console.fire.form_rows import Row, rows_of
from hookscope.console.fire.offers import Offer
from hookscope.console.fire.value_input import ValueInput, Wish
from hookscope.console.keymap.hints import ENTER, with_keys
from hookscope.console.leaving import Leaves
from hookscope.console.lines import GUTTER, Lines
from hookscope.console.marks import MUTED, word
from hookscope.workbench.compose import BadContext

NO_FORM = "The form needs JSON that can be read: {fire.fire} goes to the mistake, {fire.form} to the text."
TOO_LONG = "too long for a form: {fire.form} has it"


class FieldForm(Leaves, Container):
    """Shows a text as its fields, and says at once what becomes of the text when one is edited."""

    DEFAULT_CSS = """
    FieldForm { layers: under over; height: 1fr; overflow: hidden; }
    """

    class Moved(Message):
        """The cursor is on another field, or elsewhere in its value."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, FieldForm.Moved)

    def __init__(self, edited: Callable[[str], None], undo: Callable[[bool], None]) -> None:
        """`edited` gets the new text; `undo` takes its last change back, or (True) makes it again."""
        super().__init__()
        self._edited, self._undo = edited, undo
        self._form = Form("")
        self._known: tuple[Offer, ...] = ()
        self._at = 0  # the row that the input holds
        self._lines, self._input = FieldLines(), ValueInput(self)

    def compose(self) -> ComposeResult:
        yield self._lines
        yield self._input

    def on_mount(self) -> None:
        self._show_rows(self._form)
        self._show_value()

    @property
    def row(self) -> Row:
        """The row at the cursor."""
        rows = self._lines.rows
        return rows[self._at] if rows else Row()

    @property
    def value_at_cursor(self) -> tuple[str, int]:
        """What the input holds, and where in it the cursor stands."""
        return self._input.value, self._input.cursor_position

    @property
    def target(self) -> Lines | Input:
        """What takes the focus."""
        return self._lines if self._lines.said else self._input

    def show(self, text: str, known: tuple[Offer, ...], notes: Mapping[str, str]) -> None:
        """Show this text's fields, with a note on some; of a text that cannot be read, where it cannot."""
        if notes != self._lines.notes:
            self._lines.notes = notes
            self._lines.refresh()
        if text == self._form.text and known == self._known and not self._lines.said:
            return
        self._known = known
        try:
            form = read_form(text)
        except BadContext as error:
            self._show_problem(error)
            return
        had_focus = self._lines.has_focus
        self._lines.said, self._lines.can_focus, self._input.display = (), False, True
        self._show_rows(form)
        self._show_value()
        if had_focus:
            self._input.focus()

    def _show_problem(self, error: BadContext) -> None:
        had_focus = self._input.has_focus
        self._form, self._lines.rows, self._at = Form(""), (), 0
        place = f"line {error.line}, column {error.column}: {word(error.problem, 200)}"
        self._lines.said = (
            Content.styled(f"✗ {place}", "$text-error"),
            Content.styled(with_keys(NO_FORM), MUTED),
        )
        self._lines.can_focus = True
        self._lines.lines_changed()
        if had_focus:
            self._lines.focus()
        self._input.display = False

    def _show_rows(self, form: Form, at: int | None = None) -> None:
        """Draw these fields, with the cursor at that row, else where the name is that it was on."""
        name, rows = self.row.name, rows_of(form, self._known)
        if at is None:
            stays = self._at < len(rows) and rows[self._at].name == name
            same = (index for index, row in enumerate(rows) if row.name == name and name)
            at = self._at if stays else next(same, min(self._at, len(rows) - 1))
        self._form, self._at = form, at
        self._lines.show(rows)
        self._lines.cursor = at
        self._place()

    def _show_value(self) -> None:
        """Let the input hold the value of its row."""
        row = self.row
        literal = row.field.is_text if row.field else row.offer is None or row.offer.is_text
        hint = word(on_one_line(row.offer.example), 100) if row.offer else "" if row.field else "its name"
        if row.field is not None and row.field.too_long:
            self._input.show("", literal, with_keys(TOO_LONG))
        else:
            self._input.show(row.shown, literal, hint)

    def _place(self) -> None:
        """Lay the input over the value at the cursor; out of sight where that is scrolled away."""
        at, lines = self._lines.columns, self._lines
        y = self._at - round(lines.scroll_y)
        self._input.styles.width = at.value
        self._input.styles.offset = (GUTTER + at.before_value, y if 0 <= y < lines.size.height else -1)

    @on(FieldLines.Scrolled)
    def _scrolled(self, event: FieldLines.Scrolled) -> None:
        event.stop()
        self._place()

    def on_resize(self) -> None:
        self.call_after_refresh(self._place)

    @on(Lines.Moved)
    def _clicked(self, event: Lines.Moved) -> None:
        event.stop()
        if self._lines.said:
            return
        if event.index != self._at:
            self._go(event.index)
        self._input.focus()

    def _go(self, index: int) -> None:
        self._at = max(0, min(index, len(self._lines.rows) - 1))
        self._lines.cursor = self._at
        self._place()
        self._show_value()
        self.cursor_moved()

    def go_to_mistake(self) -> bool:
        """Go to the first field whose value is none; False where there is none such."""
        found = next((index for index, field in enumerate(self._form.fields) if field.problem), None)
        if found is None:
            return False
        if found != self._at:
            self._go(found)
        self._input.focus()
        return True

    @on(Input.Changed)
    def _input_changed(self, event: Input.Changed) -> None:
        event.stop()  # it was told at once, and the text that came of it is what counts

    # What is done in the input.

    def typed(self, value: str) -> None:
        """Another value of the row; a field that was absent is there by it."""
        row = self.row
        if row.field is not None:
            self._take(self._form.write(self._at, value))
        elif row.offer is not None and value:
            self._add(row.offer.name, quoted(value) if row.offer.is_text else escaped(value).strip())

    def cursor_moved(self) -> None:
        """Perhaps another part of the value is meant."""
        self.post_message(self.Moved())

    def entered(self, value: str) -> None:
        """Go on; an absent field takes its example, a new name becomes a field."""
        row, name = self.row, value.strip()
        found = self._form.find(name)
        if row.field is not None:
            self._go(self._at + 1)
        elif row.offer is not None:
            self._add(row.offer.name, row.offer.example)
            self._show_value()
        elif name and found is not None:
            self._go(found)
        elif name:
            known = next((offer for offer in self._known if offer.name == name), None)
            self._add(name, known.example if known else '""')
            self._show_value()

    def move(self, by: int, pages: bool = False) -> None:
        """Go to another row."""
        self._go(self._at + by * (max(1, self._lines.size.height - 1) if pages else 1))

    def wish(self, what: Wish) -> None:
        """Change the row as a whole, or take a change back."""
        if what in ("undo", "redo"):
            self._undo(what == "redo")
        elif what == "complete":
            self._complete()
        elif self.row.field is None:
            self._say(f"This field is not there: type its value, or {ENTER} takes the example.")
        elif what == "leave out":
            self._take(self._form.remove(self._at))
            self._show_value()
        elif (turned := self._form.turn(self._at)) is not self._form:
            self._take(turned)
        else:
            self._say("This text is no number, true, false, null, list or object.")

    def _complete(self) -> None:
        row = self.row
        choices = values_of(row.offer)
        if not choices:
            self._say("Nothing is known of what this field can be.")
            return

        def taken(choice: Choice | None) -> None:
            if choice is None or self.row.name != row.name:
                return
            if self.row.field is None:
                self._add(row.name, choice.source)
            else:
                self._take(self._form.put(self._at, choice.source))
            self._show_value()

        cursor = self._input.region.offset
        self.app.push_screen(CompletionScreen(f"Values of {row.name}", choices, "", cursor), taken)

    def _add(self, name: str, source: str) -> None:
        form = self._form.add(name, escaped(source))
        self._show_rows(form, len(form.fields) - 1)
        self._edited(form.text)

    def _take(self, form: Form) -> None:
        """An edit of the row at the cursor; its input is shown anew where it no longer fits."""
        if form is self._form:
            return
        before, many = self.row.field, len(self._form.fields)
        self._show_rows(form)
        after = self.row.field
        same = after is not None and before is not None and after.is_text == before.is_text
        if not same or len(form.fields) != many:
            self._show_value()
        self._edited(form.text)

    def _say(self, text: str) -> None:
        self.app.notify(text, markup=False)

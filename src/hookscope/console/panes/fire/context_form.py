"""The context as a form: one row per field, and an input over the value at the cursor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from hookscope.app.event_templates import BadContext
from hookscope.console.dialogs.completion_list import CompletionScreen
from hookscope.console.keymap.active_keys import ENTER_KEY, with_keys
from hookscope.console.keymap.available_actions import bindings_of_scope
from hookscope.console.panes.fire.context_fields import (
    Completion,
    FormField,
    JsonForm,
    KnownField,
    one_line_json,
    quote_text,
    read_json_form,
    shown_text,
    value_completions,
)
from hookscope.console.panes.fire.event_draft import escape_controls
from hookscope.console.theme.text_styles import FAINT, MARK_MUTED, fixed_width, safe_word
from hookscope.console.widgets.lines import CURSOR_GUTTER, LineList
from hookscope.console.widgets.painting import RemovableWidget
from hookscope.values import dataclass

VALUE_KIND_SIGNS = {
    "text": "Aa",
    "number": "12",
    "true/false": "tf",
    "null": "--",
    "list": "[]",
    "object": "{}",
    "value": "✗ ",
}
REPEATED_NAME_NOTE = "ignored: a later field has this name"
ADD_FIELD = "+ field"


@dataclass(frozen=True, slots=True)
class FormRow:
    """A row: an existing field, a possible field, or (if neither) the row that adds a field."""

    field: FormField | None = None
    offer: KnownField | None = None
    overridden: bool = False

    @property
    def name(self) -> str:
        return self.field.name if self.field else self.offer.name if self.offer else ""

    @property
    def shown(self) -> str:
        """The text in the row's input."""
        return self.field.shown if self.field else ""

    @property
    def help(self) -> str:
        return self.offer.help if self.offer else ""


def form_rows_of(form: JsonForm, known: Sequence[KnownField]) -> tuple[FormRow, ...]:
    """Return rows for the fields in order, then for possible fields, then the row that adds a field."""
    offered = {offer.name: offer for offer in known}
    last = {field.name: index for index, field in enumerate(form.fields)}
    existing = (
        FormRow(field, offered.get(field.name), last[field.name] > index)
        for index, field in enumerate(form.fields)
    )
    return (*existing, *(FormRow(None, offer) for offer in known if offer.name not in last), FormRow())


@dataclass(frozen=True, slots=True)
class FormColumns:
    """The widths of a form's columns in cells. The sign of the value's kind precedes the value."""

    name: int
    value: int
    help: int

    @property
    def before_value(self) -> int:
        return self.name + 4  # a space, the sign, a space


def form_columns(width: int, names: int) -> FormColumns:
    """Return the columns of a row of `width` cells; the longest name has `names` cells."""
    name = max(min(names, 24, width // 3), 4)
    available = max(width - name - 4, 1)
    help_ = available * 45 // 100 if available >= 30 else 0
    return FormColumns(name, max(available - help_ - (2 if help_ else 0), 1), help_)


def form_row_line(row: FormRow, at: FormColumns, noted: str = "") -> Content:
    """Return a drawn row without the input. The note `noted` replaces the field's help."""
    if row.field is None:
        name, example = (row.name, one_line_json(row.offer.example)) if row.offer else (ADD_FIELD, "")
        cells = (
            fixed_width(safe_word(name), at.name),
            "    ",
            fixed_width(safe_word(example), at.value),
            "  ",
        )
        help_part = (
            Content.styled(safe_word(noted), "$text-warning")
            if noted
            else Content.styled(safe_word(row.help), FAINT)
        )
        return Content.assemble(*cells).stylize(FAINT) + help_part
    field = row.field
    wrong = "$text-error" if field.problem else ""
    note, style = row.help, MARK_MUTED
    if field.problem:
        note, style = field.problem, wrong
    elif row.overridden or noted:
        note, style = REPEATED_NAME_NOTE if row.overridden else noted, "$text-warning"
    sign = VALUE_KIND_SIGNS["value" if field.problem else field.kind]
    value = fixed_width(safe_word(field.shown, 2 * at.value), at.value, wrong)
    help_part = Content.styled(f"  {safe_word(note)}", style) if at.help or field.problem else Content()
    name_cell = fixed_width(safe_word(field.name), at.name)
    return Content.assemble(name_cell, " ", (sign, wrong or FAINT), " ", value, help_part)


class FieldLines(LineList):
    """The rows of the form, drawn as lines."""

    DEFAULT_CSS = """
    FieldLines { height: 1fr; }
    """

    class Scrolled(Message):
        """Other rows are visible."""

    def __init__(self) -> None:
        super().__init__()
        self.can_focus = False
        self.rows: tuple[FormRow, ...] = ()
        self._longest = 0  # width of the longest name
        self.notes: Mapping[str, str] = {}  # by the field's name
        self.said: tuple[Content, ...] = ()  # shown instead of rows

    @property
    def line_count(self) -> int:
        return len(self.said) or len(self.rows)

    def line_at(self, index: int, width: int) -> Content:
        if self.said:
            return self.said[index]
        row = self.rows[index]
        return form_row_line(row, self.columns, self.notes.get(row.name, ""))

    @property
    def columns(self) -> FormColumns:
        return form_columns(self.inner_width - CURSOR_GUTTER, max(self._longest, len(ADD_FIELD)))

    def show(self, rows: tuple[FormRow, ...]) -> None:
        self.rows, self._longest = rows, max((len(row.name) for row in rows), default=0)
        self.lines_changed()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Scrolled())


FormCommand = Literal["leave out", "turn", "undo", "redo", "complete"]


_FORM_ACTIONS = (
    ("up", "row(-1)", "up", "Up", "The field above"),
    ("down", "row(1)", "down", "Down", "The field below"),
    ("pageup", "page(-1)", "page_up", "Page up", "A page up"),
    ("ctrl+space,ctrl+@", "run_command('complete')", "complete", "Values",
     "Choose from the known values of this field"),
    ("pagedown", "page(1)", "page_down", "Page down", "A page down"),
    ("ctrl+l", "run_command('leave out')", "leave_out", "Remove", "Remove this field"),
    ("ctrl+n", "run_command('turn')", "turn", "Text/JSON", "Switch between text and JSON value"),
    ("ctrl+z", "run_command('undo')", "undo", "Undo", "Undo the last change"),
    ("ctrl+y", "run_command('redo')", "redo", "Redo", "Redo the last undone change"),
)  # fmt: skip


class ValueInput(Input):
    """The input for the value of one row.

    It calls the form directly, so that no key reaches a row that is no longer shown.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of_scope("form", _FORM_ACTIONS, {"complete", "leave_out", "turn"})
    ]
    DEFAULT_CSS = """
    ValueInput {
        position: absolute; layer: over; height: 1; padding: 0; border: none;
        background: $block-cursor-blurred-background;  /* a part of the line that the cursor is on */
        &:focus { background: $block-cursor-background; border: none; }
    }
    """
    FLIPS: ClassVar[dict[str, str]] = {"true": "false", "false": "true"}

    def __init__(self, owner: FieldForm) -> None:
        super().__init__(compact=True, select_on_focus=False)
        self._owner = owner
        self._literal = False  # whether the value is a text, not JSON
        self._reports = True  # whether changes are reported to the owner

    def show(self, value: str, literal: bool, placeholder: str) -> None:
        """Show another row's value, with the cursor at its end."""
        self._literal, self.placeholder = literal, placeholder
        self._reports = False
        self.value = value
        self._reports = True
        self.cursor_position = len(value)

    def watch_value(self, value: str) -> None:
        if self._reports:
            self._owner.typed(value)

    def watch_selection(self) -> None:
        self._owner.cursor_moved()

    def insert(self, text: str, index: int) -> None:
        if text == " " and not self._literal and self.value in self.FLIPS:
            self.value = self.FLIPS[self.value]
        else:
            super().insert(text, index)

    def _on_paste(self, event: events.Paste) -> None:
        """Paste a text with its line ends and backslashes escaped."""
        event.stop()
        event.prevent_default()
        text = shown_text(event.text) if self._literal else " ".join(escape_controls(event.text).split())
        self.replace(text, *self.selection)

    async def action_submit(self) -> None:
        self._owner.entered(self.value)

    def action_row(self, by: int) -> None:
        self._owner.move(by)

    def action_page(self, by: int) -> None:
        self._owner.move(by, pages=True)

    def action_run_command(self, what: FormCommand) -> None:
        self._owner.run_command(what)


FORM_NEEDS_JSON = "The form needs valid JSON. Press {fire.fire} for the error, {fire.form} for the text."
VALUE_TOO_LONG = "too long for the form: press {fire.form} for the text"


class FieldForm(RemovableWidget, Container):
    """Shows a text as its fields, and reports each edit as a new text."""

    DEFAULT_CSS = """
    FieldForm { layers: under over; height: 1fr; overflow: hidden; }
    """

    class Moved(Message):
        """The cursor is in another field, or elsewhere in its value."""

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, FieldForm.Moved)

    def __init__(self, edited: Callable[[str], None], undo: Callable[[bool], None]) -> None:
        """`edited` receives the new text. `undo` undoes the last change; with True it redoes it."""
        super().__init__()
        self._edited, self._undo = edited, undo
        self._form = JsonForm("")
        self._known: tuple[KnownField, ...] = ()
        self._at = 0  # the row whose value is in the input
        self._lines, self._input = FieldLines(), ValueInput(self)

    def compose(self) -> ComposeResult:
        yield self._lines
        yield self._input

    def on_mount(self) -> None:
        self._show_rows(self._form)
        self._show_value()

    @property
    def row(self) -> FormRow:
        """The row at the cursor."""
        rows = self._lines.rows
        return rows[self._at] if rows else FormRow()

    @property
    def value_at_cursor(self) -> tuple[str, int]:
        """The input's text, and the position of the cursor in it."""
        return self._input.value, self._input.cursor_position

    @property
    def target(self) -> LineList | Input:
        """The widget that takes the focus."""
        return self._lines if self._lines.said else self._input

    def show(self, text: str, known: tuple[KnownField, ...], notes: Mapping[str, str]) -> None:
        """Show the text's fields with their notes; if the text is invalid, show where."""
        if notes != self._lines.notes:
            self._lines.notes = notes
            self._lines.refresh()
        if text == self._form.text and known == self._known and not self._lines.said:
            return
        self._known = known
        try:
            form = read_json_form(text)
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
        self._form, self._lines.rows, self._at = JsonForm(""), (), 0
        place = f"line {error.line}, column {error.column}: {safe_word(error.problem, 200)}"
        self._lines.said = (
            Content.styled(f"✗ {place}", "$text-error"),
            Content.styled(with_keys(FORM_NEEDS_JSON), MARK_MUTED),
        )
        self._lines.can_focus = True
        self._lines.lines_changed()
        if had_focus:
            self._lines.focus()
        self._input.display = False

    def _show_rows(self, form: JsonForm, at: int | None = None) -> None:
        """Show these fields, with the cursor at row `at`; None: at the same field as before."""
        name, rows = self.row.name, form_rows_of(form, self._known)
        if at is None:
            stays = self._at < len(rows) and rows[self._at].name == name
            same = (index for index, row in enumerate(rows) if row.name == name and name)
            at = self._at if stays else next(same, min(self._at, len(rows) - 1))
        self._form, self._at = form, at
        self._lines.show(rows)
        self._lines.cursor = at
        self._place()

    def _show_value(self) -> None:
        """Put the row's value into the input."""
        row = self.row
        literal = row.field.is_text if row.field else row.offer is None or row.offer.is_text
        hint = (
            safe_word(one_line_json(row.offer.example), 100) if row.offer else "" if row.field else "its name"
        )
        if row.field is not None and row.field.too_long:
            self._input.show("", literal, with_keys(VALUE_TOO_LONG))
        else:
            self._input.show(row.shown, literal, hint)

    def _place(self) -> None:
        """Place the input over the value at the cursor, or off the screen if the value is scrolled away."""
        at, lines = self._lines.columns, self._lines
        y = self._at - round(lines.scroll_y)
        self._input.styles.width = at.value
        self._input.styles.offset = (CURSOR_GUTTER + at.before_value, y if 0 <= y < lines.size.height else -1)

    @on(FieldLines.Scrolled)
    def _scrolled(self, event: FieldLines.Scrolled) -> None:
        event.stop()
        self._place()

    def on_resize(self) -> None:
        self.call_after_refresh(self._place)

    @on(LineList.Moved)
    def _clicked(self, event: LineList.Moved) -> None:
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
        """Go to the first field with an invalid value; return False if there is none."""
        mistake = next((index for index, field in enumerate(self._form.fields) if field.problem), None)
        if mistake is None:
            return False
        if mistake != self._at:
            self._go(mistake)
        self._input.focus()
        return True

    @on(Input.Changed)
    def _input_changed(self, event: Input.Changed) -> None:
        event.stop()  # already reported through the owner

    # Calls from the input.

    def typed(self, value: str) -> None:
        """Write a new value of the input to the row's field; add the field if it is absent."""
        row = self.row
        if row.field is not None:
            self._take(self._form.write(self._at, value))
        elif row.offer is not None and value:
            self._add(
                row.offer.name, quote_text(value) if row.offer.is_text else escape_controls(value).strip()
            )

    def cursor_moved(self) -> None:
        """Report that the cursor has moved."""
        self.post_message(self.Moved())

    def entered(self, value: str) -> None:
        """Go to the next row.

        An absent field is added first, with its example. In the last row, `value` is the name of a field.
        """
        row, name = self.row, value.strip()
        existing = self._form.find(name)
        if row.field is not None:
            self._go(self._at + 1)
        elif row.offer is not None:
            self._add(row.offer.name, row.offer.example)
            self._show_value()
        elif name and existing is not None:
            self._go(existing)
        elif name:
            known_field = next((offer for offer in self._known if offer.name == name), None)
            self._add(name, known_field.example if known_field else '""')
            self._show_value()

    def move(self, by: int, pages: bool = False) -> None:
        """Go to another row."""
        self._go(self._at + by * (max(1, self._lines.size.height - 1) if pages else 1))

    def run_command(self, what: FormCommand) -> None:
        """Run a command: change the whole row, complete its value, undo, or redo."""
        if what in ("undo", "redo"):
            self._undo(what == "redo")
        elif what == "complete":
            self._complete()
        elif self.row.field is None:
            self._say(f"Type a value, or press {ENTER_KEY} to use the example.")
        elif what == "leave out":
            self._take(self._form.remove(self._at))
            self._show_value()
        elif (turned := self._form.turn(self._at)) is not self._form:
            self._take(turned)
        else:
            self._say("This text is not a JSON value.")

    def _complete(self) -> None:
        row = self.row
        choices = value_completions(row.offer)
        if not choices:
            self._say("No values are known for this field.")
            return

        def taken(choice: Completion | None) -> None:
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
        form = self._form.add(name, escape_controls(source))
        self._show_rows(form, len(form.fields) - 1)
        self._edited(form.text)

    def _take(self, form: JsonForm) -> None:
        """Apply an edit to the current row; show its input again if the new value is invalid."""
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

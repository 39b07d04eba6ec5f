"""The context as highlighted JSON text, or as a form that edits the same text."""

from __future__ import annotations

import re
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.color import Color, ColorParseError
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Selection, TextAreaTheme

from hookscope.console.dialogs.completion_list import CompletionScreen
from hookscope.console.panes.fire import context_fields, event_draft
from hookscope.console.panes.fire.context_form import FieldForm
from hookscope.console.widgets.painting import RemovableWidget

HIGHLIGHTED_TOKENS = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<text>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?P<word>\b(?:true|false|null)\b)|(?P<sign>[{}\[\],:])"
)
TOKEN_COLORS = {
    "key": "text-primary",
    "text": "text-success",
    "number": "text-warning",
    "word": "text-accent",
    "sign": "foreground-muted",
}
MOST_HIGHLIGHTED = 2_000  # characters of a line to highlight


def common_prefix_length(first: str, second: str) -> int:
    least, most = 0, min(len(first), len(second))
    while least < most:
        middle = (least + most + 1) // 2
        if first.startswith(second[least:middle], least):
            least = middle
        else:
            most = middle - 1
    return least


def row_and_column(text: str, at: int) -> tuple[int, int]:
    """Return the row and column of a character, from 0."""
    return text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1


class JsonTheme(TextAreaTheme):
    """The style sheet's theme, but the line of the cursor keeps the colours of its tokens."""

    def apply_css(self, text_area: TextArea) -> None:
        super().apply_css(text_area)
        line = self.cursor_line_style
        self.cursor_line_style = line and Style(bgcolor=line.bgcolor, bold=line.bold)


class JsonEditor(TextArea):
    """A JSON editor that highlights each line on its own, because JSON strings never span lines."""

    DEFAULT_CSS = """
    JsonEditor {
        border: none;
        padding: 0;
        background: transparent;
        scrollbar-size-vertical: 1;
        &:focus { border: none; }
        & .text-area--cursor-line { background: transparent; }
        &:focus .text-area--cursor-line { background: $boost; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+space,ctrl+@",
            "complete",
            "Fields",
            id="editor.complete",
            tooltip="Complete missing fields, or values of this field",
        )
    ]

    class CompletionRequested(Message):
        """Request for completions at the cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id, soft_wrap=True, tab_behavior="focus", compact=True)
        self.register_theme(JsonTheme("hookscope"))
        self.theme = "hookscope"
        self.indent_width = 2
        self.bad_line: int | None = None  # from 0
        self.odd: frozenset[tuple[int, int]] = frozenset()  # line and column of notes, from 0

    def mark(self, line: int | None, odd: frozenset[tuple[int, int]] = frozenset()) -> None:
        """Underline the line with a mistake, and the keys with notes."""
        if (line, odd) != (self.bad_line, self.odd):
            self.bad_line, self.odd = line, odd
            self.notify_style_update()
            self.refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable Textual's F6 and F7: in an editor, these keys act as `w` and `g` of the pane."""
        if action in ("select_line", "select_all"):
            return False
        return super().check_action(action, parameters)

    def edit(self, edit: Edit) -> EditResult:
        edit.text = event_draft.escape_controls(edit.text)
        return super().edit(edit)

    def load_text(self, text: str) -> None:
        super().load_text(event_draft.escape_controls(text))

    def rewrite(self, text: str) -> None:
        """Replace the whole text; undo restores the old one."""
        if text != self.text:
            self.replace(text, (0, 0), self.document.end)
            self.move_cursor((0, 0))

    def action_complete(self) -> None:
        self.post_message(self.CompletionRequested())

    def put(self, start: int, end: int, text: str, select: tuple[int, int]) -> None:
        """Replace these characters, and select a part of the new text, counted from its start."""
        self.replace(text, row_and_column(self.text, start), row_and_column(self.text, end))
        first, last = (row_and_column(self.text, start + at) for at in select)
        self.selection = Selection(first, last)

    def change_to(self, text: str) -> None:
        """Replace the text by `text` in one edit of the part that differs; a cursor outside of it stays."""
        old = self.text
        if old != text:
            start = common_prefix_length(old, text)
            most = min(len(old), len(text)) - start
            end = common_prefix_length(old[::-1][:most], text[::-1][:most])
            self.replace(
                text[start : len(text) - end], row_and_column(old, start), row_and_column(old, len(old) - end)
            )

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for match in HIGHLIGHTED_TOKENS.finditer(line.plain, 0, MOST_HIGHLIGHTED):
            noted = (line_index, match.start()) in self.odd
            colour = self._colour("number" if noted else match.lastgroup or "")
            line.stylize(colour + Style(underline=True) if noted else colour, match.start(), match.end())
        if line_index == self.bad_line:
            line.stylize(Style(underline=True))
        return line

    def _colour(self, token: str) -> Style:
        value = self.app.theme_variables.get(TOKEN_COLORS.get(token, ""), "")
        try:
            colour = Color.parse(value)
        except ColorParseError:  # such as "ansi_default 50%", which only style sheets can parse
            return Style.null()
        if value.startswith("auto"):
            return Style.null()
        if colour.ansi is not None:
            return Style(color=colour.rich_color)
        return Style(color=(self.background_colors[1] + colour).rich_color)


class ContextEditor(RemovableWidget, Vertical):
    """Two views of one text, as JSON or as a form; one is shown."""

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
        """The cursor is in another field."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id)
        self.editor = JsonEditor()
        self.form = FieldForm(self.editor.change_to, self._undo)
        self.known: tuple[context_fields.KnownField, ...] = ()
        self._notes: tuple[event_draft.DraftNote, ...] = ()

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
        return event_draft.field_name_at(self.editor.text, *self.editor.cursor_location)

    @property
    def cursor(self) -> tuple[str, int]:
        """The line or form value that is being edited, and the position of the cursor in it."""
        if self.as_form:
            return self.form.value_at_cursor
        line, column = self.editor.cursor_location
        return self.editor.document.get_line(line), column

    def rewrite(self, text: str) -> None:
        """Replace the whole text."""
        self.editor.rewrite(text)
        self._show_form()

    @property
    def noted(self) -> event_draft.DraftNote | None:
        """The note on the field at the cursor."""
        name = self.field
        return next((noted for noted in self._notes if name and noted.field == name), None)

    def mark(self, checked: event_draft.CheckedDraft, *, in_ctx: bool) -> None:
        """Mark the mistake and the notes in this text."""
        has_mistake = checked.line and checked.in_ctx == in_ctx
        self._notes = tuple(noted for noted in checked.notes if noted.in_ctx == in_ctx)
        odd = ((noted.line - 1, noted.column - 1) for noted in self._notes if noted.line)
        self.editor.mark(checked.line - 1 if has_mistake else None, frozenset(odd))
        self._show_form()

    def offer(self, known: tuple[context_fields.KnownField, ...]) -> None:
        """Set the fields that the event can have."""
        if known != self.known:
            self.known = known
            self._show_form()

    def turn(self, form: bool) -> None:
        """Show the form, or the text. The focus stays inside."""
        focused = self.has_focus_within
        self.set_class(form, "-form")
        self._show_form()
        if focused:
            self.call_after_refresh(self.take_focus)

    def take_focus(self) -> None:
        """Focus the text, or the form's row."""
        (self.form.target if self.as_form else self.editor).focus()

    def _show_form(self) -> None:
        if self.as_form and self.form.is_mounted:
            notes = {noted.field: noted.text for noted in reversed(self._notes)}
            self.form.show(self.editor.text, self.known, notes)

    @on(JsonEditor.CompletionRequested)
    def _complete(self, event: JsonEditor.CompletionRequested) -> None:
        event.stop()
        editor = self.editor
        text = editor.text
        row, column = editor.cursor_location
        place = context_fields.completion_place_at(text, event_draft.offset_at(text, row, column))
        choices = context_fields.completions_at(place, self.known) if place is not None else ()
        if place is None or not choices:
            self.app.notify("There are no completions here.", markup=False)
            return
        found_place = place

        def taken(choice: context_fields.Completion | None) -> None:
            if choice is not None:
                done = context_fields.complete_text(text, found_place, choice)
                # A message that this widget sends for its editor would not bubble past this widget.
                editor.call_next(editor.put, done.start, done.end, done.text, done.select)

        title = f"Values of {place.name}" if place.slot == "value" else "Fields"
        typed = place.typed if place.slot == "name" else ""
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
            message = "There is nothing to redo." if again else "There is nothing to undo."
            self.app.notify(message, markup=False)

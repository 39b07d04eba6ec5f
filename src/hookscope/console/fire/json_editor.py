"""An editor for the JSON of a context: plain, coloured, and deaf to characters that nobody sees."""

import re
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.color import Color, ColorParseError
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Selection, TextAreaTheme

from hookscope.console.fire.draft import escaped

TOKENS = re.compile(
    r'(?P<key>"(?:[^"\\]|\\.)*"(?=\s*:))|(?P<text>"(?:[^"\\]|\\.)*"?)'
    r"|(?P<number>-?\b\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|(?P<word>\b(?:true|false|null)\b)|(?P<sign>[{}\[\],:])"
)
COLOURS = {
    "key": "text-primary",
    "text": "text-success",
    "number": "text-warning",
    "word": "text-accent",
    "sign": "foreground-muted",
}
LONGEST = 2_000  # characters of a line that are coloured


def alike(first: str, second: str) -> int:
    """How many characters both begin with."""
    least, most = 0, min(len(first), len(second))
    while least < most:
        middle = (least + most + 1) // 2
        if first.startswith(second[least:middle], least):
            least = middle
        else:
            most = middle - 1
    return least


def place(text: str, at: int) -> tuple[int, int]:
    """The line and column of a character, from 0."""
    return text.count("\n", 0, at), at - text.rfind("\n", 0, at) - 1


class Colours(TextAreaTheme):
    """The style sheet's own. The line under the cursor keeps the colours of its tokens."""

    def apply_css(self, text_area: TextArea) -> None:
        super().apply_css(text_area)
        line = self.cursor_line_style
        self.cursor_line_style = line and Style(bgcolor=line.bgcolor, bold=line.bold)


class JsonEditor(TextArea):
    """Colours line by line, which JSON allows: none of its texts reaches over a line's end."""

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
            tooltip="What could stand at the cursor: fields that are not there, values of this one",
        ),
    ]

    class CompleteAsked(Message):
        """What could stand at the cursor is wanted."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id, soft_wrap=True, tab_behavior="focus", compact=True)
        self.register_theme(Colours("hookscope"))
        self.theme = "hookscope"
        self.indent_width = 2
        self.bad_line: int | None = None  # from 0
        self.odd: frozenset[tuple[int, int]] = frozenset()  # line and column, from 0, of what is noted

    def mark(self, line: int | None, odd: frozenset[tuple[int, int]] = frozenset()) -> None:
        """Underline the line that holds a mistake, and the keys that something is noted on."""
        if (line, odd) != (self.bad_line, self.odd):
            self.bad_line, self.odd = line, odd
            self.notify_style_update()
            self.refresh()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """F6 and F7 are the pane's: inside an editor they are the only way to what `w` and `g` do outside."""
        if action in ("select_line", "select_all"):
            return False
        return super().check_action(action, parameters)

    def edit(self, edit: Edit) -> EditResult:
        edit.text = escaped(edit.text)
        return super().edit(edit)

    def load_text(self, text: str) -> None:
        super().load_text(escaped(text))

    def rewrite(self, text: str) -> None:
        """Put a whole other text in place; undo brings the old one back."""
        if text != self.text:
            self.replace(text, (0, 0), self.document.end)
            self.move_cursor((0, 0))

    def action_complete(self) -> None:
        self.post_message(self.CompleteAsked())

    def put(self, start: int, end: int, text: str, select: tuple[int, int]) -> None:
        """Replace these characters, and select a part of what is there then, from its beginning."""
        self.replace(text, place(self.text, start), place(self.text, end))
        first, last = (place(self.text, start + at) for at in select)
        self.selection = Selection(first, last)

    def change_to(self, text: str) -> None:
        """Change what is different, as one edit; the rest, and the cursor in it, stay."""
        old = self.text
        if old != text:
            start = alike(old, text)
            most = min(len(old), len(text)) - start
            end = alike(old[::-1][:most], text[::-1][:most])
            self.replace(text[start : len(text) - end], place(old, start), place(old, len(old) - end))

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for match in TOKENS.finditer(line.plain, 0, LONGEST):
            noted = (line_index, match.start()) in self.odd
            colour = self._colour("number" if noted else match.lastgroup or "")
            line.stylize(colour + Style(underline=True) if noted else colour, match.start(), match.end())
        if line_index == self.bad_line:
            line.stylize(Style(underline=True))
        return line

    def _colour(self, token: str) -> Style:
        value = self.app.theme_variables.get(COLOURS.get(token, ""), "")
        try:
            colour = Color.parse(value)
        except ColorParseError:  # "ansi_default 50%", which only style sheets understand
            return Style.null()
        if value.startswith("auto"):
            return Style.null()
        if colour.ansi is not None:
            return Style(color=colour.rich_color)
        return Style(color=(self.background_colors[1] + colour).rich_color)

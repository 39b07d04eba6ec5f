"""An editor for the JSON of a context: plain, coloured, and deaf to characters that nobody sees."""

import re

from rich.style import Style
from rich.text import Text
from textual.color import Color
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult

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

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  (Textual's name)
        super().__init__(id=id, theme="css", soft_wrap=True, tab_behavior="focus", compact=True)
        self.indent_width = 2
        self.bad_line: int | None = None  # from 0

    def mark(self, line: int | None) -> None:
        """Underline the line that holds a mistake."""
        if line != self.bad_line:
            self.bad_line = line
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

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        for match in TOKENS.finditer(line.plain, 0, LONGEST):
            line.stylize(self._colour(match.lastgroup or ""), match.start(), match.end())
        if line_index == self.bad_line:
            line.stylize(Style(underline=True))
        return line

    def _colour(self, token: str) -> Style:
        value = self.app.theme_variables.get(COLOURS.get(token, ""), "")
        try:
            colour = Color.parse(value)
        except ValueError:
            return Style.null()
        if colour.ansi is not None or value.startswith("auto"):
            return Style.null()
        return Style(color=(self.background_colors[1] + colour).rich_color)

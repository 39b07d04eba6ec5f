"""What there is to see of a handler that stands: its lines, its variables."""

from __future__ import annotations

from pathlib import Path

from textual.content import Content

from hookscope.console.lines import GUTTER, Lines
from hookscope.console.marks import MUTED, fitted, word
from hookscope.console.text import line
from hookscope.core.text import printable
from hookscope.workbench import Stop

LANGUAGES = {
    ".py": "python",
    ".ts": "typescript",
    ".mts": "typescript",
    ".js": "javascript",
    ".mjs": "javascript",
}
HERE, NAMED = "→", "●"
WIDEST = 20  # cells of a variable's name
CUT = "…"


class SourceLines(Lines):
    """The lines around the one where it stands. Enter stops at the one under the cursor, or no longer."""

    def __init__(self) -> None:
        super().__init__(id="debug-source")
        self._stop: Stop | None = None
        self._text: list[Content] = []
        self._left = 0  # characters of each line that stand beyond the left edge

    @property
    def line_count(self) -> int:
        return len(self._text)

    @property
    def empty(self) -> Content:
        return Content.styled("Its file cannot be read.", MUTED)

    @property
    def number(self) -> int | None:
        """Of the line under the cursor, in its file."""
        if self._stop is None or not self._text:
            return None
        return self._stop.lines[self.cursor][0]

    def show(self, stop: Stop) -> None:
        """Draw these; the cursor goes to where it stands, unless it stood there before."""
        before, self._stop = self._stop, stop
        if before is None or before.lines != stop.lines:
            self._text = coloured([text for _, text in stop.lines], stop.frame.file)
        if before is None or (before.frame, before.frames) != (stop.frame, stop.frames):
            self._show_place(stop)
        self.lines_changed()

    def _show_place(self, stop: Stop) -> None:
        """The cursor goes there; lines that were moved aside come back where that one would not be seen."""
        numbers = [number for number, _ in stop.lines]
        if stop.frame.line not in numbers:
            self._left = 0
            return
        at = numbers.index(stop.frame.line)
        if len(self._text[at]) <= self._left:
            self._left = 0
        self.cursor = at
        self._centre()

    def move_aside(self, by: int) -> bool:
        """Show what stands further to the right, by so many halves of a width, or to the left. False where
        that is all of it."""
        width = max(1, self.inner_width - GUTTER - self._margin)
        most = max(max((len(text) for text in self._text), default=0) - width, 0)
        before, self._left = self._left, min(max(self._left + by * max(1, width // 2), 0), most)
        self.refresh()
        return self._left != before

    @property
    def _margin(self) -> int:
        """Cells before the text of each line."""
        return len(str(self._stop.lines[-1][0])) + 4 if self._stop and self._stop.lines else 0

    def _centre(self) -> None:
        self.scroll_to(y=max(0, self.cursor - self.size.height // 2), animate=False, force=True)

    def on_resize(self) -> None:
        self._centre()

    def line_at(self, index: int, width: int) -> Content:
        assert self._stop is not None
        number, _ = self._stop.lines[index]
        here = number == self._stop.frame.line
        mark = HERE if here else NAMED if number in self._stop.named else " "
        style = "$text-accent" if here else "$text-error"
        digits = len(str(self._stop.lines[-1][0]))
        text = self._text[index].stylize("bold") if here else self._text[index]
        if self._left and text.plain.strip():
            text = Content(CUT) + text[self._left + 1 :]
        return Content.assemble((mark, style), " ", (f"{number:>{digits}}", MUTED), "  ", text)


def coloured(lines: list[str], file: str) -> list[Content]:
    """Source as it is coloured, line by line; plain in a language that is none of the handlers'."""
    from textual.highlight import highlight  # here: it loads the colours of all languages

    text = "\n".join(printable(one.expandtabs(4)).replace("\n", " ") for one in lines)
    language = LANGUAGES.get(Path(file).suffix)
    content = highlight(text, language=language) if language is not None else Content(text)
    found = content.split("\n", allow_blank=True)
    return [*found, *[Content()] * (len(lines) - len(found))][: len(lines)]


def _call_of(stop: Stop) -> tuple[object, ...]:
    """The chosen call, as far as it can be told from another: whose, how deep, of which function."""
    return (stop.who, *((frame.file, frame.function) for frame in stop.frames[: stop.at + 1]))


class VariableLines(Lines):
    """Name and value. Enter shows the whole value."""

    def __init__(self) -> None:
        super().__init__(id="debug-variables")
        self._call: tuple[object, ...] = ()  # whose they are
        self._variables: tuple[tuple[str, str], ...] = ()
        self._new: frozenset[tuple[str, str]] = frozenset()

    @property
    def line_count(self) -> int:
        return len(self._variables)

    @property
    def empty(self) -> Content:
        return Content.styled("No variables here.", MUTED)

    @property
    def name_here(self) -> str | None:
        """Of the variable under the cursor."""
        return self._variables[self.cursor][0] if self._variables else None

    def show(self, stop: Stop) -> None:
        """Draw these; those that changed since the last time stand out, as long as it is the same call."""
        before, self._variables = self._variables, stop.variables
        call, self._call = self._call, _call_of(stop)
        same = call == self._call
        self._new = frozenset(self._variables) - frozenset(before) if same else frozenset()
        self.lines_changed()

    def line_at(self, index: int, width: int) -> Content:
        name, text = self._variables[index]
        widest = min(max(len(word(one, WIDEST)) for one, _ in self._variables), WIDEST)
        value = line(text, 300)
        if (name, text) in self._new:
            value = value.stylize("$text-warning")
        return Content.assemble(fitted(word(name, WIDEST), widest, MUTED), "  ", value)

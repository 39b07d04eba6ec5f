"""A sheet: lines of text that keep their columns when they wrap. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from textual.content import Content
from textual.style import Style

from hookscope.console.text import plain
from hookscope.console.theme import FAINT, MUTED

LABEL = 7  # cells of a label: "needs", "found", "next"
LIMIT = 600  # characters of one foreign text in a sheet


class Sheet:
    """Collects lines for one width."""

    def __init__(self, width: int) -> None:
        self.width = max(20, width)
        self._lines: list[Content] = []

    def blank(self) -> None:
        """An empty line, never two in a row and never the first."""
        if self._lines and self._lines[-1].plain:
            self._lines.append(Content())

    def title(self, text: str, note: str = "") -> None:
        """A heading, with room above it."""
        self.blank()
        heading = Content.styled(text, "bold")
        if note:
            heading = Content.assemble(heading, "   ", foreign(note).stylize(FAINT))
        self._lines.append(heading.truncate(self.width, ellipsis=True))

    def say(self, text: Content, indent: int = 0) -> None:
        """A paragraph."""
        self.put((), text, indent)

    def put(self, heads: Iterable[tuple[Content, int]], body: Content, indent: int = 0) -> None:
        """Columns of fixed width, and a last one that wraps below itself."""
        before = Content(" " * indent)
        for head, width in heads:
            before = Content.assemble(before, head.truncate(width - 1, ellipsis=True, pad=True), " ")
            indent += width
        wrapped = body.wrap(max(10, self.width - indent)) if body else [Content()]
        for number, part in enumerate(wrapped):
            self._lines.append(Content.assemble(before if number == 0 else " " * indent, part.rstrip()))

    def add(self, other: Sheet, *styles: Style | str) -> None:
        """The lines of another sheet in whole, in these styles from edge to edge."""
        for one in other._lines:
            padded = one.pad_right(max(0, self.width - one.cell_length))
            for style in styles:
                padded = padded.stylize(style)
            self._lines.append(padded)

    def field(self, label: str, body: Content, indent: int) -> None:
        """`label  value`, the value in its column."""
        self.put([(Content.styled(label, MUTED), LABEL)], body, indent)

    def code(self, number: int, text: str, marked: bool = False) -> None:
        """One line of a file, cut where it is too long."""
        sign, style = ("❱", "bold") if marked else (" ", MUTED)
        head = Content.styled(f" {sign}{number:>4} │ ", "$text-error" if marked else FAINT)
        body = literal(text).stylize(style)
        self._lines.append(Content.assemble(head, body).truncate(self.width, ellipsis=True))

    def content(self) -> Content:
        """The whole sheet."""
        return Content("\n").join(self._lines)


def foreign(text: str) -> Content:
    """Foreign text for a sheet: line ends become spaces, length is bounded."""
    return plain(" ".join(text[: LIMIT * 2].split()), LIMIT)


def literal(text: str, limit: int = 400) -> Content:
    """One line of a file, its indentation kept."""
    return plain(text[:limit].expandtabs(4).replace("\r", ""), limit)

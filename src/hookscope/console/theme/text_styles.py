"""How text and states are shown.

escaped foreign text, column widths, outcome marks, state styles and wrapped sheets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content
from textual.style import Style

from hookscope.model.hook_status import State
from hookscope.model.text import in_local_time, local_now, one_line, printable
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class StateStyle:
    """How something stands, for eyes: sign, word, colour, and what it comes to."""

    glyph: str
    word: str
    style: str
    phrase: str


# Of the foreground, because `$text-muted` is an automatic colour, which only style sheets can resolve.
MUTED = "$foreground 68%"
FAINT = "$foreground 60%"

STATE_STYLES: dict[State, StateStyle] = {
    State.READY: StateStyle("●", "ready", "$text-success", "will run"),
    State.OFF: StateStyle("○", "off", MUTED, "switched off, will not run"),
    State.BLOCKED: StateStyle("▲", "blocked", "$text-warning", "will not run"),
    State.SHADOWED: StateStyle("◌", "shadowed", MUTED, "another of this name wins"),
    State.BROKEN: StateStyle("✗", "broken", "$text-error", "cannot run"),
    State.UNTRUSTED: StateStyle("◇", "untrusted", "$text-secondary", "not allowed to run yet"),
    State.SILENT: StateStyle("◐", "silent", "$text-secondary", "would run, but is never called"),
}
NOT_A_HOOK = StateStyle("✗", "no hook", "$text-error", "does not count as a hook")
IGNORED_FILE = StateStyle("–", "ignored", MUTED, "is plainly something else, and stands among hooks")
WORD_WIDTH = 2 + max(len(look.word) for look in (*STATE_STYLES.values(), NOT_A_HOOK, IGNORED_FILE))


TEXT_LIMIT = 2_000  # characters of one foreign text on a screen; more is cut and said


def safe_text(text: str, limit: int = TEXT_LIMIT) -> Content:
    """Foreign text of several lines: never markup, no control characters, cut at `limit` characters."""
    if len(text) <= limit:
        return Content(printable(text))
    return Content(printable(text[:limit])) + Content.styled(f" … {len(text) - limit:,} more", MUTED)


def safe_line(text: str, limit: int = 200) -> Content:
    """Foreign text where one line is wanted: the first line that says something."""
    return Content(one_line(text, limit))


def safe_markup(template: str, **parts: str) -> Content:
    """Our own markup around their text: `$name` in the template is inserted literally."""
    return Content.from_markup(template, **{name: one_line(part) for name, part in parts.items()})


def line_width(text: str) -> int:
    """The cells that a text takes in one line."""
    return safe_line(text).cell_length


def fit_width(text: Content | str, width: int) -> Content:
    """Exactly `width` cells of one line: cut with an ellipsis, or filled up."""
    content = safe_line(text) if isinstance(text, str) else text
    return _no_tabs(content).truncate(width, ellipsis=True, pad=True)


def _no_tabs(content: Content) -> Content:
    return (
        Content(content.plain.replace("\t", " "), list(content.spans)) if "\t" in content.plain else content
    )


def keep_tail(path: Content, room: int) -> Content:
    """A path that is too long loses its head: what tells folders apart is at the end."""
    if path.cell_length <= room:
        return path
    text = path.plain
    while text and Content("…" + text).cell_length > room:
        text = text[1:]
    return Content("…" + text) if room > 1 else Content()


def keep_ends(text: str, room: int) -> str:
    """A text that is too long loses its middle: what tells such texts apart is at both ends."""
    if cell_len(text) <= room:
        return text
    before, behind = max(0, room - 1) // 2, max(0, room - 1) - max(0, room - 1) // 2
    while cell_len(text[:before]) > before and before:
        before -= 1
    while behind and cell_len(text[-behind:]) > behind:
        behind -= 1
    return f"{text[:before]}…{text[len(text) - behind :]}" if room > 0 else ""


MARK_MUTED = MUTED
NAME_LIMIT = 4_000  # characters of a foreign name that are looked at; names are shown far shorter


class OutcomeMark(NamedTuple):
    """One outcome: always a sign, a word and a colour."""

    glyph: str
    word: str
    style: str

    @property
    def content(self) -> Content:
        """Sign and word, coloured."""
        return Content.styled(f"{self.glyph} {self.word}", self.style)


OUTCOME_MARKS: Mapping[str, OutcomeMark] = {
    "waiting": OutcomeMark("·", "waiting", MARK_MUTED),
    "paused": OutcomeMark("‖", "paused", "$text-accent"),
    "running": OutcomeMark("»", "running", "$foreground"),
    "ok": OutcomeMark("✓", "ok", "$text-success"),
    "error": OutcomeMark("✗", "error", "$text-error"),
    "timeout": OutcomeMark("◷", "timeout", "$text-error"),
    "crashed": OutcomeMark("☠", "crashed", "$text-error"),
    "cancelled": OutcomeMark("⊘", "cancelled", "$text-warning"),
    "not run": OutcomeMark("–", "not run", MARK_MUTED),
}


STALE_STYLE = "$text-warning"  # of an outcome that an older version came to


def outcome_mark(phase: str, stale: bool) -> OutcomeMark:
    """How a phase looks; an outcome of a version that is no longer the saved one says so."""
    mark = OUTCOME_MARKS[phase]
    return OutcomeMark(mark.glyph, f"{mark.word}, old", STALE_STYLE) if stale else mark


def safe_word(text: str, limit: int = 120) -> str:
    """Foreign text as one line that is safe to put into a column: no controls, no tabs."""
    return safe_line(text[:NAME_LIMIT], limit).plain.replace("\t", " ")


def word_width(text: str) -> int:
    """The cells that `word` takes; of plain names it is known at once."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    return min(len(text), 120) if plain else cell_len(safe_word(text))


def fixed_width(text: str, width: int, style: str = "") -> Content:
    """Safe text in a column of exactly `width` cells, cut with an ellipsis."""
    content = Content(text).truncate(width, ellipsis=True, pad=True)
    return content.stylize(style) if style else content


def counted(number: int, thing: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def short_time(at: datetime) -> str:
    """When that was, in eight cells: the time, where that was today; else the day."""
    return short_day(at) or f"{in_local_time(at):%H:%M:%S}"


def short_day(at: datetime) -> str:
    """Which day that was: `21 Nov`; empty where it is today."""
    at = in_local_time(at)
    return "" if at.date() == local_now().date() else f"{at.day} {at:%b}"


LABEL_WIDTH = 7  # cells of a label: "needs", "found", "next"
PARAGRAPH_LIMIT = 600  # characters of one foreign text in a sheet


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
            heading = Content.assemble(heading, "   ", safe_paragraph(note).stylize(FAINT))
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
        self.put([(Content.styled(label, MUTED), LABEL_WIDTH)], body, indent)

    def code(self, number: int, text: str, marked: bool = False) -> None:
        """One line of a file, cut where it is too long."""
        sign, style = ("❱", "bold") if marked else (" ", MUTED)
        head = Content.styled(f" {sign}{number:>4} │ ", "$text-error" if marked else FAINT)
        body = safe_code_line(text).stylize(style)
        self._lines.append(Content.assemble(head, body).truncate(self.width, ellipsis=True))

    def content(self) -> Content:
        """The whole sheet."""
        return Content("\n").join(self._lines)


def safe_paragraph(text: str) -> Content:
    """Foreign text for a sheet: line ends become spaces, length is bounded."""
    return safe_text(" ".join(text[: PARAGRAPH_LIMIT * 2].split()), PARAGRAPH_LIMIT)


def safe_code_line(text: str, limit: int = 400) -> Content:
    """One line of a file, its indentation kept."""
    return safe_text(text[:limit].expandtabs(4).replace("\r", ""), limit)

"""How text and states are shown: escaped foreign text, column widths, marks, wrapped sheets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from textual.content import Content
from textual.style import Style

from hookscope.model.hook_status import State
from hookscope.model.text import in_local_time, local_now, one_line, printable
from hookscope.values import dataclass


@dataclass(frozen=True, slots=True)
class StateStyle:
    """How a state is shown: glyph, word, colour, and its meaning."""

    glyph: str
    word: str
    style: str
    phrase: str

    @property
    def text(self) -> str:
        """The glyph and the word."""
        return f"{self.glyph} {self.word}"


# `$text-muted` would not do: it is an automatic colour, which only style sheets can resolve.
MUTED = "$foreground 68%"
FAINT = "$foreground 60%"

STATE_STYLES: dict[State, StateStyle] = {
    State.READY: StateStyle("●", "ready", "$text-success", "will run"),
    State.OFF: StateStyle("○", "off", MUTED, "switched off, will not run"),
    State.BLOCKED: StateStyle("▲", "blocked", "$text-warning", "will not run"),
    State.SHADOWED: StateStyle("◌", "shadowed", MUTED, "another hook of this name takes precedence"),
    State.BROKEN: StateStyle("✗", "broken", "$text-error", "cannot run"),
    State.UNTRUSTED: StateStyle("◇", "untrusted", "$text-secondary", "not allowed to run yet"),
    State.SILENT: StateStyle("◐", "silent", "$text-secondary", "would run, but is never called"),
}
NOT_A_HOOK = StateStyle("✗", "no hook", "$text-error", "is not a hook")
IGNORED_FILE = StateStyle("–", "ignored", MUTED, "is not a hook")
WORD_WIDTH = 2 + max(len(style.word) for style in (*STATE_STYLES.values(), NOT_A_HOOK, IGNORED_FILE))


TEXT_LIMIT = 2_000  # characters of one foreign text; longer text is truncated, with a note


def safe_text(text: str, limit: int = TEXT_LIMIT) -> Content:
    """Return foreign text of several lines: no markup, no control characters, at most `limit` characters."""
    if len(text) <= limit:
        return Content(printable(text))
    return Content(printable(text[:limit])) + Content.styled(f" … {len(text) - limit:,} more", MUTED)


def safe_line(text: str, limit: int = 200) -> Content:
    """Return foreign text as one line: its first line that is not blank."""
    return Content(one_line(text, limit))


def line_width(text: str) -> int:
    """Return the number of cells of a text on one line."""
    return safe_line(text).cell_length


def fit_width(text: Content | str, width: int) -> Content:
    """Return exactly `width` cells of one line: cut with an ellipsis, or padded."""
    content = safe_line(text) if isinstance(text, str) else text
    return _no_tabs(content).truncate(width, ellipsis=True, pad=True)


# What the further lines of a wrapped line keep free: all up to a bar, a label, or an indent and a sign.
HANGING_INDENT = re.compile(r"[^│]{0,8}│ |\S[^│]{0,11}?\s{2,}(?=\S)|\s*(?:[-+±~✓✗] +)?")
LEAST_WRAPPED_WIDTH = 20  # cells beside an indent; without them the further lines have none


def wrapped_lines(line: Content, width: int) -> list[Content]:
    """Wrap a line into lines of at most `width` cells. The later lines keep its indent and its bar."""
    if line.cell_length <= width:
        return [line]
    found = HANGING_INDENT.match(line.plain)
    head = line[: found.end()] if found is not None else Content()
    if width - head.cell_length < LEAST_WRAPPED_WIDTH:
        return line.wrap(width)
    indent = Content(re.sub("[^│]", " ", head.plain), list(head.spans))
    first, *further = line[len(head) :].wrap(width - head.cell_length)
    return [head + first, *(indent + part for part in further)]


def _no_tabs(content: Content) -> Content:
    return (
        Content(content.plain.replace("\t", " "), list(content.spans)) if "\t" in content.plain else content
    )


def keep_tail(path: Content, room: int) -> Content:
    """Cut the start of a path that is too long: folders differ at the end."""
    if path.cell_length <= room:
        return path
    text = path.plain
    while text and Content("…" + text).cell_length > room:
        text = text[1:]
    return Content("…" + text) if room > 1 else Content()


def keep_ends(text: str, room: int) -> str:
    """Cut the middle of a text that is too long: such texts differ at both ends."""
    if cell_len(text) <= room:
        return text
    before = (room - 1) // 2
    start = set_cell_size(text, before).rstrip()
    end = set_cell_size(text[::-1], room - 1 - before)[::-1].lstrip()
    return f"{start}…{end}" if room > 0 else ""


MARK_MUTED = MUTED
NAME_LIMIT = 4_000  # characters of a foreign name to process; names are shown far shorter


class OutcomeMark(NamedTuple):
    """The mark of an outcome: always a glyph, a word and a colour."""

    glyph: str
    word: str
    style: str

    @property
    def content(self) -> Content:
        """Glyph and word, coloured."""
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


STALE_STYLE = "$text-warning"  # of an outcome of a file's previous version


def outcome_mark(phase: str, stale: bool) -> OutcomeMark:
    """Return the mark of a phase; `stale` marks an outcome of a previous version of the file."""
    mark = OUTCOME_MARKS[phase]
    return OutcomeMark(mark.glyph, f"{mark.word} (previous)", STALE_STYLE) if stale else mark


def safe_word(text: str, limit: int = 120) -> str:
    """Return foreign text as one line for a column: no control characters, no tabs."""
    return safe_line(text[:NAME_LIMIT], limit).plain.replace("\t", " ")


def word_width(text: str) -> int:
    """Return the number of cells of `safe_word`, fast for plain names."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    return min(len(text), 120) if plain else cell_len(safe_word(text))


def fixed_width(text: str, width: int, style: str = "") -> Content:
    """Return safe text in exactly `width` cells, cut with an ellipsis."""
    content = Content(text).truncate(width, ellipsis=True, pad=True)
    return content.stylize(style) if style else content


def counted(number: int, thing: str) -> str:
    """Return a number with its noun: `1 line`, `2 lines`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def short_time(at: datetime) -> str:
    """Return a moment in eight cells: the time if it was today, else the day."""
    return short_day(at) or f"{in_local_time(at):%H:%M:%S}"


def short_day(at: datetime) -> str:
    """Return the day, such as `21 Nov`; empty for today."""
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
        """Add a blank line, never two in a row and never as the first line."""
        if self._lines and self._lines[-1].plain:
            self._lines.append(Content())

    def title(self, text: str, note: str = "") -> None:
        """Add a heading with a blank line above."""
        self.blank()
        heading = Content.styled(text, "bold")
        if note:
            heading = Content.assemble(heading, "   ", safe_paragraph(note).stylize(FAINT))
        self._lines.append(heading.truncate(self.width, ellipsis=True))

    def paragraph(self, text: Content, indent: int = 0) -> None:
        """Add a paragraph."""
        self.put((), text, indent)

    def put(self, heads: Iterable[tuple[Content, int]], body: Content, indent: int = 0) -> None:
        """Add columns of fixed width, and a last one that wraps."""
        before = Content(" " * indent)
        for head, width in heads:
            before = Content.assemble(before, head.truncate(width - 1, ellipsis=True, pad=True), " ")
            indent += width
        wrapped = body.wrap(max(10, self.width - indent)) if body else [Content()]
        for number, part in enumerate(wrapped):
            self._lines.append(Content.assemble(before if number == 0 else " " * indent, part.rstrip()))

    def add(self, other: Sheet, *styles: Style | str) -> None:
        """Add the lines of another sheet, padded to the full width, in these styles."""
        for line in other._lines:
            padded = line.pad_right(max(0, self.width - line.cell_length))
            for style in styles:
                padded = padded.stylize(style)
            self._lines.append(padded)

    def field(self, label: str, body: Content, indent: int) -> None:
        """Add `label  value`, with the value in its column."""
        self.put([(Content.styled(label, MUTED), LABEL_WIDTH)], body, indent)

    def code(self, number: int, text: str, marked: bool = False) -> None:
        """Add a line of a file, cut to the width."""
        sign, style = ("❱", "bold") if marked else (" ", MUTED)
        head = Content.styled(f" {sign}{number:>4} │ ", "$text-error" if marked else FAINT)
        body = safe_code_line(text).stylize(style)
        self._lines.append(Content.assemble(head, body).truncate(self.width, ellipsis=True))

    def content(self) -> Content:
        """Return the whole sheet."""
        return Content("\n").join(self._lines)


def safe_paragraph(text: str) -> Content:
    """Return foreign text for a sheet: line ends become spaces, the length is limited."""
    return safe_text(" ".join(text[: PARAGRAPH_LIMIT * 2].split()), PARAGRAPH_LIMIT)


def safe_code_line(text: str, limit: int = 400) -> Content:
    """Return a line of a file with its indentation."""
    return safe_text(text[:limit].expandtabs(4).replace("\r", ""), limit)

"""Small words of the panes: how an outcome looks, how many there are, text in a column."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len
from textual.content import Content

from hookscope.console import theme
from hookscope.console.text import line
from hookscope.core.local_time import in_local_time, local_now

MUTED = theme.MUTED
FIRST = 4_000  # characters of a foreign name that are looked at; names are shown far shorter


class Mark(NamedTuple):
    """One outcome: always a sign, a word and a colour."""

    glyph: str
    word: str
    style: str

    @property
    def content(self) -> Content:
        """Sign and word, coloured."""
        return Content.styled(f"{self.glyph} {self.word}", self.style)


PHASES: Mapping[str, Mark] = {
    "waiting": Mark("·", "waiting", MUTED),
    "paused": Mark("‖", "paused", "$text-accent"),
    "running": Mark("»", "running", "$foreground"),
    "ok": Mark("✓", "ok", "$text-success"),
    "error": Mark("✗", "error", "$text-error"),
    "timeout": Mark("◷", "timeout", "$text-error"),
    "crashed": Mark("☠", "crashed", "$text-error"),
    "cancelled": Mark("⊘", "cancelled", "$text-warning"),
    "not run": Mark("–", "not run", MUTED),
}


STALE = "$text-warning"  # of an outcome that an older version came to


def mark_of(phase: str, stale: bool) -> Mark:
    """How a phase looks; an outcome of a version that is no longer the saved one says so."""
    mark = PHASES[phase]
    return Mark(mark.glyph, f"{mark.word}, old", STALE) if stale else mark


def word(text: str, limit: int = 120) -> str:
    """Foreign text as one line that is safe to put into a column: no controls, no tabs."""
    return line(text[:FIRST], limit).plain.replace("\t", " ")


def cells(text: str) -> int:
    """The cells that `word` takes; of plain names it is known at once."""
    plain = text.isascii() and text.isprintable() and text == text.strip()
    return min(len(text), 120) if plain else cell_len(word(text))


def fitted(text: str, width: int, style: str = "") -> Content:
    """Safe text in a column of exactly `width` cells, cut with an ellipsis."""
    content = Content(text).truncate(width, ellipsis=True, pad=True)
    return content.stylize(style) if style else content


def count(number: int, thing: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def moment(at: datetime) -> str:
    """When that was, in eight cells: the time, where that was today; else the day."""
    return day(at) or f"{in_local_time(at):%H:%M:%S}"


def day(at: datetime) -> str:
    """Which day that was: `21 Nov`; empty where it is today."""
    at = in_local_time(at)
    return "" if at.date() == local_now().date() else f"{at.day} {at:%b}"

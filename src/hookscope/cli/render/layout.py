"""Layout of terminal text: column widths, state colours, lines folded to the terminal's width."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import click
from rich.cells import cell_len, set_cell_size

from hookscope.model.hook import FilePosition
from hookscope.model.hook_status import State
from hookscope.model.text import printable_line

STATE_GLYPHS = {
    State.READY: "●",
    State.OFF: "○",
    State.BLOCKED: "▲",
    State.SHADOWED: "◌",
    State.BROKEN: "✗",
    State.UNTRUSTED: "◇",
    State.SILENT: "◐",
}

STATE_COLOURS = {
    State.READY: "green",
    State.BLOCKED: "yellow",
    State.BROKEN: "red",
    State.UNTRUSTED: "cyan",
    State.SILENT: "magenta",
}


def colours_allowed() -> bool:
    """Return True if standard output is a terminal and NO_COLOR is not set."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def state_word(state: State) -> str:
    """Return the glyph and the word of a state, 11 cells wide."""
    text = fit_to_width(f"{STATE_GLYPHS[state]} {state.value}", 11)
    colour = STATE_COLOURS.get(state)
    return click.style(text, fg=colour) if colour and colours_allowed() else text


def fit_to_width(text: str, width: int) -> str:
    """Return the text on exactly `width` terminal cells: padded, or cut with `…`."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    cut = set_cell_size(text, width - 1).rstrip()
    return f"{cut}…{' ' * (width - 1 - cell_len(cut))}"


def column_width(texts: Iterable[str], maximum: int) -> int:
    """Return the width of a column for these texts, at most `maximum` cells."""
    return min(max((cell_len(text) for text in texts), default=0), maximum)


def distinct_names(named: Sequence[tuple[str, Path]]) -> list[str]:
    """Return the name of each file; for a repeated name, the path below the files' common folder."""
    times = Counter(name for name, _ in named)
    folders = [os.path.abspath(file.parent) for name, file in named if times[name] > 1]
    above = os.path.commonpath(folders) if folders else ""
    return [name if times[name] == 1 else os.path.relpath(file, above) for name, file in named]


def place_text(place: FilePosition) -> str:
    """Return `name:line` of a place."""
    return printable_line(f"{place.file.name}:{place.line}")


NARROWEST_COLUMN = 30  # cells; in a narrower column the text goes below the row
_WORDS = re.compile(r"( *)([^ `]*`[^`]+`[^ ]*|[^ ]+)")  # keeps a command in backticks whole, for copying
_COLUMNS = re.compile(r" *[^ ]+(?: [^ ]+)* {2,}")


def terminal_width() -> int | None:
    """Return the terminal's width; None without a terminal: lines for other programs stay whole."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def fold_text(lines: Iterable[str]) -> str:
    """Return the lines as one text; long lines continue below their second column, or indented by 4."""
    return "\n".join(fold_lines(lines))


def fold_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines, folded as by `fold_text`."""
    width = terminal_width()
    stripped = (line.rstrip() for line in lines)
    return (
        list(stripped)
        if width is None
        else [part for line in stripped for part in _folded_parts(line, width)]
    )


def row_with_text(row: str, text: str) -> list[str]:
    """Return a row with the text of its last column: beside it, or below it if the column is too narrow."""
    width = terminal_width()
    start = _cell_width(row) + 2
    if width is None or start + _cell_width(text) <= width:
        return [f"{row}  {text}"]
    if width - start >= NARROWEST_COLUMN:
        first, *rest = _folded_parts(" " * start + text, width, start)
        return [row + first[start - 2 :], *rest]
    below = _indent(click.unstyle(row)) + 2
    return [row, *_folded_parts(" " * below + text, width, below)]


def _folded_parts(line: str, width: int, indent: int | None = None) -> Iterator[str]:
    if _cell_width(line) <= width:
        yield line
        return
    indent = min(_indent(click.unstyle(line)) if indent is None else indent, max(2, width - NARROWEST_COLUMN))
    part, used = "", 0
    for blanks, word in _WORDS.findall(line):
        size = len(blanks) + _cell_width(word)
        if part.strip() and used + size > width:
            yield part
            part, used = " " * indent, indent
            size, blanks = _cell_width(word), ""
        part += blanks + word
        used += size
    yield part


def _indent(line: str) -> int:
    first = _COLUMNS.match(line)
    leading = len(line) - len(line.lstrip())
    return cell_len(first[0]) if first and cell_len(first[0]) <= leading + 28 else leading + 4


def _cell_width(text: str) -> int:
    return cell_len(click.unstyle(text))

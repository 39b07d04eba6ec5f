"""Lines that are longer than the terminal is wide, folded between words; a file or a pipe gets them whole."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterable, Iterator

import click
from rich.cells import cell_len

NARROWEST = 30  # cells: a column with less room than this has its text below the row
_WORDS = re.compile(r"( *)([^ `]*`[^`]+`[^ ]*|[^ ]+)")  # a command in backticks stays whole, to be copied
_COLUMNS = re.compile(r" *[^ ]+(?: [^ ]+)* {2,}")


def columns() -> int | None:
    """How wide the terminal is; None where the answer goes elsewhere, to be searched line by line."""
    if sys.stdout is None or not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def folded(lines: Iterable[str]) -> str:
    """The lines as one text; what is too long goes on below its second column, or four cells further in."""
    return "\n".join(folds(lines))


def folds(lines: Iterable[str]) -> list[str]:
    """The same, line by line."""
    wide = columns()
    bare = (line.rstrip() for line in lines)
    return list(bare) if wide is None else [part for line in bare for part in _parts(line, wide)]


def beside(row: str, text: str) -> list[str]:
    """A row and the text of its last column: beside it, or below it where that is too narrow."""
    wide = columns()
    start = _width(row) + 2
    if wide is None or start + _width(text) <= wide:
        return [f"{row}  {text}"]
    if wide - start >= NARROWEST:
        first, *rest = _parts(" " * start + text, wide, start)
        return [row + first[start - 2 :], *rest]
    below = _indent(click.unstyle(row)) + 2
    return [row, *_parts(" " * below + text, wide, below)]


def _parts(line: str, wide: int, indent: int | None = None) -> Iterator[str]:
    if _width(line) <= wide:
        yield line
        return
    indent = min(_indent(click.unstyle(line)) if indent is None else indent, max(2, wide - NARROWEST))
    part, used = "", 0
    for blanks, word in _WORDS.findall(line):
        size = len(blanks) + _width(word)
        if part.strip() and used + size > wide:
            yield part
            part, used = " " * indent, indent
            size, blanks = _width(word), ""
        part += blanks + word
        used += size
    yield part


def _indent(line: str) -> int:
    first = _COLUMNS.match(line)
    begins = len(line) - len(line.lstrip())
    return cell_len(first[0]) if first and cell_len(first[0]) <= begins + 28 else begins + 4


def _width(text: str) -> int:
    return cell_len(click.unstyle(text))

"""Texts on the terminal's cells: how wide, and in which colour a state is told."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from rich.cells import cell_len, set_cell_size

from hookscope.core.hooks import Place
from hookscope.core.standing import State
from hookscope.core.text import printable

GLYPHS = {
    State.READY: "●",
    State.OFF: "○",
    State.BLOCKED: "▲",
    State.SHADOWED: "◌",
    State.BROKEN: "✗",
    State.UNTRUSTED: "◇",
    State.SILENT: "◐",
}


COLOURS = {
    State.READY: "green",
    State.BLOCKED: "yellow",
    State.BROKEN: "red",
    State.UNTRUSTED: "cyan",
    State.SILENT: "magenta",
}


def coloured() -> bool:
    """May colours be used: a terminal, and nobody said NO_COLOR."""
    return sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def state_word(state: State) -> str:
    """Glyph and word, ten cells wide."""
    text = fitted(f"{GLYPHS[state]} {state.value}", 11)
    colour = COLOURS.get(state)
    return click.style(text, fg=colour) if colour and coloured() else text


def fitted(text: str, width: int) -> str:
    """The text on exactly `width` cells of the terminal: padded, or cut with `…`."""
    if cell_len(text) > width:
        return set_cell_size(text, width - 1).rstrip() + "…" + " " * _cut_gap(text, width)
    return set_cell_size(text, width)


def _cut_gap(text: str, width: int) -> int:
    return width - 1 - cell_len(set_cell_size(text, width - 1).rstrip())


def column(texts: Iterable[str], widest: int) -> int:
    """How wide a column of these texts should be."""
    return min(max((cell_len(text) for text in texts), default=0), widest)


def names_apart(named: Sequence[tuple[str, Path]]) -> list[str]:
    """What people call each file: its name; where others have that too, its path below the folder of all."""
    times = Counter(name for name, _ in named)
    alike = [os.path.abspath(file.parent) for name, file in named if times[name] > 1]
    above = os.path.commonpath(alike) if alike else ""
    return [name if times[name] == 1 else os.path.relpath(file, above) for name, file in named]


def spot(place: Place) -> str:
    """`name:line` of a place."""
    return printable(f"{place.file.name}:{place.line}")

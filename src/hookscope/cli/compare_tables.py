"""Hooks under several hosts: rows, what differs, what to change."""

from __future__ import annotations

from collections.abc import Iterator

from hookscope.cli.cells import column, fitted, state_word
from hookscope.cli.folding import columns, folded
from hookscope.core.side.model import ABSENT, Cell, Comparison, Line
from hookscope.core.standing import State
from hookscope.core.text import one_line, printable

STATE_CELLS = 11  # glyph and word


def text(item: Comparison, *, different: bool) -> str:
    """A row a hook, under it what differs and what to change; then how many there are of which."""
    lines = item.differing if different else item.lines
    names = max(column((one_line(line.name) for line in lines), 28), 4)
    named = [one_line(side.name) for side in item.sides]
    widths = [max(len(name), STATE_CELLS + _source_width(lines, at)) for at, name in enumerate(named)]
    wide = columns()
    if wide is not None and names + 2 + sum(width + 2 for width in widths) > wide:
        widths = [max(len(name), STATE_CELLS) for name in named]  # the states alone
    shown = ["  ".join([" " * (names + 2), *map(fitted, named, widths)])] if lines else []
    for line in lines:
        shown += _line(line, names, widths)
    parts = [*shown, *([""] if shown else []), *_around(item), *_summary(item)]
    return folded(parts)


def _around(item: Comparison) -> Iterator[str]:
    """What surroundings have otherwise, and what to change in which of them."""
    for cause in item.causes:
        stops = f": stops {', '.join(map(one_line, cause.hooks))}" if cause.hooks else ""
        yield f"{one_line(cause.text, 400)}{stops}"
    for remedy in item.remedies:
        yield f"\n→ {one_line(remedy.side)}: {one_line(remedy.where, 300)}"
        yield from (f"    {printable(line)}" for line in remedy.lines)
        yield from ([f"  {one_line(remedy.then, 300)}"] if remedy.then else [])
    if item.causes or item.remedies:
        yield ""


def _source_width(lines: tuple[Line, ...], at: int) -> int:
    return max((len(line.cells[at].source) for line in lines), default=0)


def _line(line: Line, names: int, widths: list[int]) -> Iterator[str]:
    cells = (fitted_cell(cell, width) for cell, width in zip(line.cells, widths, strict=True))
    yield "  ".join([f"  {fitted(one_line(line.name), names)}", *cells])
    for one in line.differs:
        yield f"      {one_line(one.text, 300)}"
    for text in line.change:
        yield f"    → {one_line(text, 300)}"


def fitted_cell(cell: Cell, width: int) -> str:
    """State and source on that many cells of the terminal."""
    room = max(width - STATE_CELLS, 0)
    rest = fitted(one_line(cell.source) if room > 3 else "", room)
    if cell.row is not None:
        return state_word(State(cell.state)) + rest
    return fitted(f"{'–' if cell.state == ABSENT else '✗'} {cell.state}", STATE_CELLS) + rest


def _summary(item: Comparison) -> Iterator[str]:
    width = max(len(one_line(side.name)) for side in item.sides)
    has_headers = any("folder" in side.dialect.kinds for side in item.sides)
    for name, tally in item.tallies().items():
        parts = (
            f"{tally.found} found",
            *((f"metadata of {tally.metadata} read",) if has_headers else ()),
            f"{tally.registered} would be registered",
            f"{tally.called} called",
        )
        yield f"{fitted(one_line(name), width)}  {' · '.join(parts)}"
    workspaces = {side.host.surroundings.short(side.host.workspace) for side in item.sides}
    where = f" (workspace {printable(next(iter(workspaces)))})" if len(workspaces) == 1 else ""
    yield f"{item.alike} alike, {len(item.differing)} differ{where}"

"""Bars and axis labels of a time line, computed in terminal cells. Pure."""

from typing import NamedTuple

EIGHTH_BLOCKS = " ▏▎▍▌▋▊▉"
FULL_BLOCK, LIVE_BLOCK, RIGHT_HALF_BLOCK = "█", "▓", "▐"
TICK_STEPS = (1, 2, 5)


class TimeBar(NamedTuple):
    """A bar in its column: `indent` blank cells, then `drawn`."""

    indent: int
    drawn: str


def time_bar(start: float, end: float, total: float, width: int, *, live: bool = False) -> TimeBar:
    """Return the bar from `start` to `end` on a scale that is `total` long and `width` cells wide.

    The bar stays inside its column, and even the shortest duration is visible. A live bar has a lighter
    shade, so that it differs from a finished bar without colour.
    """
    if width <= 0:
        return TimeBar(0, "")
    scale = width / total if total > 0 else 0.0
    first = min(max(start, 0.0) * scale, width - 1 / 8)
    last = min(max(end * scale, first), float(width))
    indent = min(int(first), width - 1)
    if live:
        return TimeBar(indent, LIVE_BLOCK * max(1, min(round(last - indent), width - indent)))
    eighths = max(1, round((last - indent) * 8))
    full, part = divmod(min(eighths, (width - indent) * 8), 8)
    drawn = FULL_BLOCK * full + (EIGHTH_BLOCKS[part] if part else "")
    if full and first - indent >= 0.5:
        drawn = RIGHT_HALF_BLOCK + drawn[1:]
    return TimeBar(indent, drawn)


def tick_step(total_ms: float, most: int) -> float:
    """Return a round distance between ticks, in milliseconds, for at most `most` ticks."""
    size = 10.0**-1
    while True:
        for step in TICK_STEPS:
            if total_ms / (step * size) <= max(most, 1):
                return step * size
        size *= 10


def time_axis(total: float, width: int) -> str:
    """Return the axis labels: exactly `width` cells, round numbers, the unit after the last."""
    if width < 6 or total <= 0:
        return " " * max(width, 0)
    seconds = total >= 2
    unit = " s" if seconds else " ms"
    step = tick_step(total * 1000, max(1, width // 6))
    cells = [" "] * width
    taken = -1
    for number in range(int(total * 1000 / step) + 1):
        text = f"{number * step / (1000 if seconds else 1):g}"
        at = int(number * step / (total * 1000) * width)
        if at > taken and at + len(text) + len(unit) <= width:
            cells[at : at + len(text)] = text
            taken = at + len(text)
    cells[taken : taken + len(unit)] = unit
    return "".join(cells)[:width]

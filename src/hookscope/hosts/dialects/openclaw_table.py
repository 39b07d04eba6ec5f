"""The table that OpenClaw's command prints: as wide as its content, folded to the width of the line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from unicodedata import category, east_asian_width

from hookscope.values import dataclass

LINE_WIDTH = 120  # columns
CELL_PADDING = 2  # spaces of a cell
BREAKS = " /-_."  # a line may break after these
JOINER, AS_EMOJI = "\u200d", "\ufe0f"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """One column. `flexible` columns share the remaining or missing width of the line."""

    title: str
    min_width: int  # columns, padding included; less only if the line is too short
    flexible: bool = True

    @property
    def title_width(self) -> int:
        """Return the width of its title, padding included."""
        return _columns_of(self.title) + CELL_PADDING


def draw_table(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of the table."""
    widths = _widths(columns, rows)
    rule = ["─" * width for width in widths]
    yield f"┌{'┬'.join(rule)}┐"
    yield from _row([column.title for column in columns], widths)
    yield f"├{'┼'.join(rule)}┤"
    for row in rows:
        yield from _row(row, widths)
    yield f"└{'┴'.join(rule)}┘"


def _row(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    folded = [
        wrap_text(cell, max(1, width - CELL_PADDING)) for cell, width in zip(cells, widths, strict=True)
    ]
    for at in range(max(map(len, folded))):
        texts = [lines[at] if at < len(lines) else "" for lines in folded]
        padded = (
            f" {text}{' ' * (width - 1 - _columns_of(text))}"
            for text, width in zip(texts, widths, strict=True)
        )
        yield f"│{'│'.join(padded)}│"


def _widths(columns: Sequence[TableColumn], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the column widths: as wide as the content, then shrunk or grown to fill the line."""
    widths = [
        max(column.min_width, column.title_width, *(_columns_of(row[at]) + CELL_PADDING for row in rows))
        for at, column in enumerate(columns)
    ]
    flexible = [at for at, column in enumerate(columns) if column.flexible]
    others = [at for at, column in enumerate(columns) if not column.flexible]
    min_widths = [max(column.min_width, column.title_width) for column in columns]
    title_widths = [column.title_width for column in columns]
    for indexes, limits in (
        (flexible, min_widths),
        (flexible, title_widths),
        (others, min_widths),
        (others, title_widths),
    ):
        _shrink(widths, indexes, limits)
    at = 0
    while _excess_width(widths) < 0:
        widths[flexible[at % len(flexible)]] += 1
        at += 1
    return widths


def _excess_width(widths: Sequence[int]) -> int:
    return sum(widths) + len(widths) + 1 - LINE_WIDTH


def _shrink(widths: list[int], indexes: Sequence[int], limits: Sequence[int]) -> None:
    while _excess_width(widths) > 0:
        shrinkable = [at for at in indexes if widths[at] > limits[at]]
        if not shrinkable:
            return
        widths[max(shrinkable, key=lambda at: widths[at])] -= 1  # the first of equal ones


def wrap_text(text: str, width: int) -> list[str]:
    """Return lines of at most `width` columns, broken after a space or punctuation, else anywhere."""
    parts = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").split("\n")
    lines = [line for part in parts for line in _wrap_line(part, width)]
    return lines[:-1] if len(parts) > 1 and not parts[-1] else lines


def _wrap_line(text: str, width: int) -> Iterator[str]:
    line: list[tuple[str, int]] = []
    break_at = 0  # the number of clusters before the last possible break
    empty = True
    for cluster, columns in _clusters(text):
        while line and sum(size for _, size in line) + columns > width:
            at = break_at or len(line)
            yield _joined(line[:at])
            line, break_at, empty = line[at:], 0, False
        if not line and cluster == " ":
            continue
        line.append((cluster, columns))
        if cluster in BREAKS:
            break_at = len(line)
    if line or empty:
        yield _joined(line)


def _joined(clusters: Iterable[tuple[str, int]]) -> str:
    return "".join(cluster for cluster, _ in clusters).rstrip()


def _columns_of(text: str) -> int:
    return sum(columns for _, columns in _clusters(text))


def _clusters(text: str) -> Iterator[tuple[str, int]]:
    """Yield each group of characters that share a position, and its width in columns."""
    cluster, columns = "", 0
    for sign in text:
        if cluster and (cluster[-1] == JOINER or sign == JOINER or category(sign) in ("Mn", "Me")):
            cluster += sign
            columns = 2 if sign == AS_EMOJI else columns
            continue
        if cluster:
            yield cluster, columns
        cluster = sign
        columns = _size(sign)
    if cluster:
        yield cluster, columns


def _size(sign: str) -> int:
    if sign != "\t" and category(sign) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if east_asian_width(sign) in "WF" else 1

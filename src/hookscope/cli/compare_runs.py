"""One event at several hosts: what came of it, lined up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hookscope.cli.cells import column, fitted
from hookscope.core.side.runs import RunLine, RunThere, differ, lines_of
from hookscope.core.text import one_line

WIDEST = 34  # cells of one host's column; what is longer goes below


def text(key: str, runs: Sequence[RunThere]) -> str:
    """A table: one column a host. What is not alike is marked."""
    lines = lines_of(runs)
    words = "differ" if differ(runs) else "did the same"
    names = max(column((one_line(line.what) for line in lines), 28), 8)
    widths = [_width(one, lines, at) for at, one in enumerate(runs)]
    head = [fitted(one.dialect.name, width) for one, width in zip(runs, widths, strict=True)]
    shown = [f"{one_line(key)}  fired at {len(runs)}: they {words}", ""]
    shown.append("  ".join([" " * (names + 4), *head]))
    for line in lines:
        shown += _line(line, names, widths)
    return "\n".join(part.rstrip() for part in shown)


def _width(one: RunThere, lines: Sequence[RunLine], at: int) -> int:
    return max(len(one.dialect.name), column((one_line(line.values[at], 400) for line in lines), WIDEST))


def _line(line: RunLine, names: int, widths: Sequence[int]) -> Iterator[str]:
    mark = "≠" if line.differs else " "
    parts = [_folded(one_line(text, 400), width) for text, width in zip(line.values, widths, strict=True)]
    for at in range(max(map(len, parts))):
        cells = (
            fitted(part[at] if at < len(part) else "", width)
            for part, width in zip(parts, widths, strict=True)
        )
        name = fitted(one_line(line.what), names) if at == 0 else " " * names
        yield "  ".join([f"{mark if at == 0 else ' '} {name}  ", *cells])


def _folded(text: str, width: int) -> list[str]:
    from textwrap import wrap  # here: most commands fold nothing

    return wrap(text, width) or [""]
